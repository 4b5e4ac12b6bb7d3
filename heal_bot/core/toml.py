"""TOML of other people: read by the standard library, unless that would take it long."""

from __future__ import annotations

import re
import tomllib
from typing import Any

_MOST = 4 << 20
# tomllib walks every key from its beginning for each of its parts, and for each line below it.
_PARTS = 10
_WORD = r"""(?:[A-Za-z0-9_-]++|"(?:[^"\\\n]|\\.)*+"|'[^'\n]*+')"""
_LONG_KEY = re.compile(rf"(?<![^\s{{,\[])(?:{_WORD}[ \t]*+\.[ \t]*+){{{_PARTS}}}")


def read_toml(text: str) -> dict[str, Any]:
    """The table of a file; ValueError for what is no TOML, too long or has too long a key."""
    if len(text) > _MOST:
        raise ValueError(f"it is longer than {_MOST >> 20} MiB")
    if _LONG_KEY.search(text):
        raise ValueError(f"a key has more than {_PARTS} parts")
    try:
        return tomllib.loads(text)
    except RecursionError as error:
        raise ValueError("it is nested too deep") from error
