"""What tox's [testenv] installs beside the project; nothing is run."""

from __future__ import annotations

import configparser
import re
from collections.abc import Callable, Iterator

from heal_bot.core.text import one_line
from heal_bot.environments.requirements import Lines

FILE = "tox.ini"
_DEEPEST = 8
# What holds for some environments only.
_FACTOR = re.compile(r"[\w{},!.-]+:\s")
_HERE = re.compile(r"\{(?:toxinidir|tox_root)\}/")
_OTHER = re.compile(r"\{\[([^\]{}]+)\]([\w-]+)\}")


def read(open_text: Callable[[str], str], lines: Lines, notes: list[str]) -> None:
    """Add deps, extras and dependency groups."""
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(open_text(FILE))
    except configparser.Error:
        notes.append(f"{FILE} cannot be read")
        return
    kept = []
    for line in _lines(parser, "testenv", "deps"):
        if "{" in line:
            lines.refused.append(f"{FILE}: {one_line(line, 80)} is known to tox alone")
        else:
            kept.append(line)
    text = "\n".join(kept)
    lines.read(FILE, lambda path: text if path == FILE else open_text(path))
    for key, names in (("extras", lines.extras), ("dependency_groups", lines.groups)):
        for line in _lines(parser, "testenv", key):
            names.update(re.findall(r"[\w.-]+", "" if "{" in line else line))


def _lines(
    parser: configparser.RawConfigParser, section: str, key: str, depth: int = 0
) -> Iterator[str]:
    """The lines of a list that hold everywhere, with those of the lists it names."""
    for line in parser.get(section, key, fallback="").splitlines():
        bare = _HERE.sub("", line).partition(" #")[0].strip()
        if (other := _OTHER.fullmatch(bare)) and depth < _DEEPEST:
            yield from _lines(parser, other[1], other[2], depth + 1)
        elif bare and not bare.startswith("#") and not _FACTOR.match(bare):
            yield bare
