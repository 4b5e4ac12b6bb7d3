"""Test files with their assertions rewritten: made once by a process of its own, then found.

As a program this takes the sources of test files and tells their code; it runs none of them, has no
copy of the project, and never imports anything but pytest and the standard library. In the driver
and the fork server `install` has pytest look a file up by what is in it before it rewrites it
itself, which takes most of the start of a run.
"""

from __future__ import annotations

import ast
import base64
import binascii
import hashlib
import inspect
import marshal
import sys
import warnings
import zlib

from _heal_pristine_stdlib import io, os

KEPT = "rewritten"
_MOST = 900_000


def main():
    """Rewrite every source of the order."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    from _pytest.assertion import rewrite

    import _heal_record_writer

    report, orders = _heal_record_writer.move_away(3), _heal_record_writer.move_away(4)
    order = _heal_record_writer.read_line(orders, bytearray())
    records = _heal_record_writer.Records(report, order["nonce"])
    named = list(inspect.signature(rewrite.rewrite_asserts).parameters)
    for text in order["sources"] if named == ["mod", "source", "module_path", "config"] else ():
        source = base64.b64decode(text)
        kept = _rewritten(source, rewrite.rewrite_asserts)
        if kept is not None and len(kept) <= _MOST:
            records.send("code", h=hashlib.sha256(source).hexdigest(), v=kept)
    records.send("finish")


def _rewritten(source, rewrite_asserts):
    """The code of a test file as text; None where it has none, or pytest would warn of it.

    What a warning means is for the project to say: it may be an error there.
    """
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            tree = ast.parse(source, KEPT)
            rewrite_asserts(tree, source, KEPT)
            code = compile(tree, KEPT, "exec", dont_inherit=True)
    except Exception:
        # pytest will say what is wrong with it.
        return None
    # pytest itself may be warned of for what it does to any file.
    if any(warning.filename == KEPT for warning in told):
        return None
    return base64.b64encode(zlib.compress(marshal.dumps(code), 1)).decode("ascii")


def install(here):
    """Have pytest take what is kept beside the driver for a file with the same bytes."""
    from _pytest.assertion import rewrite

    try:
        with io.open(os.path.join(here, KEPT), "rb") as file:
            known = dict(line.split(b" ") for line in file.read().splitlines())
    except FileNotFoundError:
        return
    plain = rewrite._rewrite_test
    # Without assertions, or with another way to rewrite, pytest does it by itself.
    if sys.flags.optimize or list(inspect.signature(plain).parameters) != ["fn", "config"]:
        return
    fix, loads, decompress = __import__("_imp")._fix_co_filename, marshal.loads, zlib.decompress
    digest, decode = hashlib.sha256, binascii.a2b_base64

    def rewritten(fn, config):
        # What is written to a cache, or with a hook in each assertion, pytest makes itself.
        if sys.dont_write_bytecode and not config.getini("enable_assertion_pass_hook"):
            with io.open(fn, "rb") as file:
                kept = known.get(digest(file.read()).hexdigest().encode("ascii"))
            if kept is not None:
                code = loads(decompress(decode(kept)))
                fix(code, str(fn))
                return None, code
        return plain(fn, config)

    rewrite._rewrite_test = rewritten


if __name__ == "__main__":
    main()
