"""When two sources are the same program: their bytecode, or where that fails their syntax."""

from __future__ import annotations

import ast
import re
import warnings
from types import CodeType

_UGLY = re.compile(
    rb"[-+] 0(?![\w.])|\bnot not\b|- -\d|[*/] 1(?![\w.])|\bnot (?:True|False)\b"
    rb"|\breturn None\.|\[0:|[-+] \d+ [-+] \d+(?![\w.])"
)


def fingerprint(source: str, *, loose: bool = False) -> int | None:
    """A number that equal programs share, positions left out; None when it is no Python.

    `loose` compares syntax trees, for a source that only compiles inside another function.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            if loose:
                return hash(ast.dump(ast.parse(source)))
            return hash(_key(compile(source, "<candidate>", "exec", dont_inherit=True)))
        except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
            return None


def _key(code: CodeType) -> tuple[object, ...]:
    constants = tuple(
        _key(c) if isinstance(c, CodeType) else (type(c).__name__, repr(c)) for c in code.co_consts
    )
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
    return (code.co_code, constants, names, code.co_argcount, code.co_kwonlyargcount, code.co_flags)


def is_ugly(source: bytes, start: int, end: int) -> bool:
    """Whether what stands around a change could be written simpler: `n - 0`, `not not x`."""
    return _UGLY.search(source, max(0, start - 8), min(len(source), end + 4)) is not None
