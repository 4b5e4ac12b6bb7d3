"""Runs pytest inside the sandbox and reports over descriptor 3; the order comes over 4.

Whatever is needed is imported before the project's first line runs.
"""

from __future__ import annotations

import contextlib
import os
import sys


def main():
    """Run one order and end with pytest's own exit code, which the last record also says."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    import _heal_guise
    import _heal_record_writer

    report, source = _heal_record_writer.move_away(3), _heal_record_writer.move_away(4)
    # What every run needs is loaded before it is known what this one is for.
    import pytest

    import _heal_assertion_rewrite
    import _heal_loopback
    import _heal_oracle
    import _heal_pytest_reporter

    _heal_assertion_rewrite.install(here)
    _heal_loopback.install()
    order = _heal_record_writer.read_line(source, bytearray())
    os.close(source)
    records = _heal_record_writer.Records(report, order["nonce"])
    desk = None
    if order.get("oracle") is not None:
        desk = _heal_record_writer.move_away(5), _heal_record_writer.move_away(6)
    spectrum = None
    if order["spectrum"]:
        from _heal_spectrum import Spectrum

        spectrum = Spectrum(order["repo"])
    _heal_guise.wear(here)
    plugin = _heal_pytest_reporter.Plugin(order, records, spectrum)
    plugins = plugin.all()
    if desk is not None:
        plugins.append(_heal_oracle.Oracle(order["oracle"], *desk, order["repo"], records))
    if spectrum is not None:
        spectrum.start()
    streams = sys.stdout, sys.stderr
    code = int(pytest.main(ARGUMENTS, plugins=plugins))
    if spectrum is not None:
        spectrum.stop()
        spectrum.send_gaps(records)
    for stream in streams:
        # A suite may have closed it.
        with contextlib.suppress(Exception):
            stream.flush()
    records.send("finish", rc=code)
    # Threads and exit handlers of the suite must not change what was reported, nor keep us here.
    records._exit(code)


# The project's remaining tests still run when a module cannot be collected; our own plugin, which
# an environment that holds heal-bot registers, must not heal inside of a heal.
ARGUMENTS = ["--continue-on-collection-errors", "-p", "no:heal-bot"]

if __name__ == "__main__":
    main()
