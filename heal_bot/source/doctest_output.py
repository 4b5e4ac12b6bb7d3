"""Output of doctests that is the same and only written otherwise."""

from __future__ import annotations

import re

_NOISE = re.compile(r"(?<= at )0x[0-9a-fA-F]+|\x1b\[[\d;]*m")
_SCALAR = re.compile(r"\b(?:np|numpy)\.(?:u?int|float|complex|bool|str|bytes)\d{0,3}_?\(([^()]*)\)")
_NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d+(?:e[-+]?\d+)?(?![\w.])")
_QUOTED = re.compile(r"\"([^\"']*)\"")
_END = re.compile(r"^\S", re.M)
_MAX = 20_000
_BRACES = re.compile(r"\{([^{}]*)\}")


def find_output(said: str) -> tuple[str, str]:
    """What a failing example expects and what it got; two empty texts where nothing tells."""
    _, _, rest = f"\n{said[:_MAX]}".partition("\nExpected:\n")
    want, found, got = rest.partition("\nGot:\n")
    end = _END.search(got)
    return (f"{want}\n", got[: end.start()] if end else got) if found else ("", "")


def is_alike(want: str, got: str) -> bool:
    """Whether both are the same but for layout, quotes, addresses and how values are written."""
    return bool(want.strip()) and _plain(want) == _plain(got)


def _plain(text: str) -> str:
    text = _NUMBER.sub(lambda m: f"{float(m[0]):#.12g}", _SCALAR.sub(r"\1", text))
    text = " ".join(_NOISE.sub("", text).split())
    text = _QUOTED.sub(r"'\1'", text)
    return _BRACES.sub(lambda m: f"{{{', '.join(sorted(m[1].split(', ')))}}}", text)
