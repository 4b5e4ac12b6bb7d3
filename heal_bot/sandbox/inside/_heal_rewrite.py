"""Test files with their assertions rewritten: made once by a process of its own, then found.

As a program this takes the sources of test files and tells their code; it runs none of them, has no
copy of the project, and never imports anything but pytest and the standard library. In the driver
and the zygote `install` has pytest look a file up by what is in it before it rewrites it itself:
that takes most of the start of a run (1.25 of 2.2 s for the tests of toolz 1.0).
"""

from __future__ import annotations

import ast
import base64
import binascii
import hashlib
import inspect
import marshal
import os
import sys
import zlib

KEPT = "rewritten"
_MOST = 900_000
_ODD = (SyntaxError, ValueError, RecursionError, MemoryError)


def main():
    """Rewrite every source of the order."""
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path.insert(0, here)
    from _pytest.assertion import rewrite

    import _heal_record

    report, orders = _heal_record.move_away(3), _heal_record.move_away(4)
    order = _heal_record.read_line(orders, bytearray())
    records = _heal_record.Records(report, order["nonce"])
    named = list(inspect.signature(rewrite.rewrite_asserts).parameters)
    for text in order["sources"] if named == ["mod", "source", "module_path", "config"] else ():
        source = base64.b64decode(text)
        try:
            tree = ast.parse(source)
            rewrite.rewrite_asserts(tree, source)
            code = compile(tree, KEPT, "exec", dont_inherit=True)
            kept = base64.b64encode(zlib.compress(marshal.dumps(code), 1)).decode("ascii")
        except _ODD:
            # pytest will say what is wrong with it.
            continue
        if len(kept) <= _MOST:
            records.send("code", h=hashlib.sha256(source).hexdigest(), v=kept)
    records.send("finish")


def install(here):
    """Have pytest take what is kept beside the driver for a file with the same bytes."""
    from _pytest.assertion import rewrite

    try:
        with open(os.path.join(here, KEPT), "rb") as file:
            known = dict(line.split(b" ") for line in file.read().splitlines())
    except FileNotFoundError:
        return
    plain = rewrite._rewrite_test
    if list(inspect.signature(plain).parameters) != ["fn", "config"]:
        return
    fix, loads, decompress = __import__("_imp")._fix_co_filename, marshal.loads, zlib.decompress
    digest, decode = hashlib.sha256, binascii.a2b_base64

    def rewritten(fn, config):
        # What is written to a cache, or with a hook in each assertion, pytest makes itself.
        if sys.dont_write_bytecode and not config.getini("enable_assertion_pass_hook"):
            with open(fn, "rb") as file:
                kept = known.get(digest(file.read()).hexdigest().encode("ascii"))
            if kept is not None:
                code = loads(decompress(decode(kept)))
                fix(code, str(fn))
                return None, code
        return plain(fn, config)

    rewrite._rewrite_test = rewritten


if __name__ == "__main__":
    main()
