"""A process that judges candidates by forking: once with the project imported, once without.

The first process (the root) has pytest loaded and nothing of the project. It forks the warm
server, which collects the tests and forks a child for each candidate whose functions can be
swapped; other candidates get a fork of the root, which collects everything afresh from changed
files. Orders are JSON lines on descriptor 4, records go out over 3.
"""

from __future__ import annotations

import os
import sys


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    import _heal_failure  # noqa: F401
    import _heal_guise
    import _heal_record_writer

    report, source = _heal_record_writer.move_away(3), _heal_record_writer.move_away(4)
    # What every run needs anyway is loaded before the first fork, and before it is known which
    # tests it is for.
    import _pytest.config
    import pytest  # noqa: F401

    import _heal_assertion_rewrite
    import _heal_forkserver_loops
    import _heal_loopback

    _heal_assertion_rewrite.install(here)
    _heal_loopback.install()
    for name in _pytest.config.default_plugins:
        if name not in ("pytester", "pytester_assertions"):
            __import__("_pytest." + name)
    _heal_guise.wear(here)
    buffer = bytearray()
    order = _heal_record_writer.read_line(source, buffer)
    if order is None:
        return
    records = _heal_record_writer.Records(report, order["nonce"])
    _heal_forkserver_loops.Root(order, records, source, buffer).serve()


if __name__ == "__main__":
    main()
