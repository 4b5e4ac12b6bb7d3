"""The module that a build writes the version to: declared, imported by the code, not in git."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path

from heal_bot.core import safe_open

# As setuptools-scm, hatch-vcs and pdm-backend name it, in pyproject.toml, setup.cfg or setup.py.
_DECLARING = ("pyproject.toml", "setup.cfg", "setup.py")
_NAMED = re.compile(r"(?:write_to|version[_-]file)[\"']?\s*[:=]\s*[\"']?([\w./-]+\.py)\b")
_CAP = 64 << 10
# Without a build there is no version; what is installed as metadata says the same.
_NONE = b'__version__ = version = "0.0.0"\n__version_tuple__ = version_tuple = (0, 0, 0)\n'


def version_files(
    source: Path, kept: Mapping[str, bytes], there: Iterable[str]
) -> dict[str, bytes]:
    """The modules that a build adds to the checked-out files `kept`, by path.

    A build of the failing run left them in its working folder `source`; without one they say
    0.0.0. Only packages that are `there` get one.
    """
    texts = (kept.get(path, b"").decode(errors="replace") for path in _DECLARING)
    folders = {path.rpartition("/")[0] for path in there if path.endswith(".py")}
    named = {path.removeprefix("./") for text in texts for path in _NAMED.findall(text)}
    return {
        path: _left_behind(source, path)
        for path in sorted(named.difference(there))
        if path.rpartition("/")[0] in folders
    }


def _left_behind(source: Path, path: str) -> bytes:
    try:
        return safe_open.read(source, path, _CAP)
    except OSError:
        return _NONE
