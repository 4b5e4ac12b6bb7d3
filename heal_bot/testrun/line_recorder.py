"""The lines of the project that a command executed, written down by its own Python processes."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from heal_bot.core import safe_open
from heal_bot.core.model import Spectrum
from heal_bot.sandbox.scratch_slots import Slot

_PREFIX = "heal-lines-"
_FILES = 500
_BYTES = 32 << 20
_LINE = 1 << 24
Place = tuple[str, int]


def add_recorder(driver: Path, slot: Slot, environ: Mapping[str, str]) -> dict[str, str]:
    """The environment in which every Python writes down what it executes."""
    hook = driver / "sitecustomize.py"
    hook.write_text(f"import _heal_command\n_heal_command.main({str(driver)!r})\n")
    hook.chmod(0o644)
    path = environ.get("PYTHONPATH", "")
    return {
        **environ,
        "PYTHONPATH": f"{driver}:{path}" if path else str(driver),
        "HEAL_BOT_REPO": str(slot.repo),
        "HEAL_BOT_LINES": str(slot.home / _PREFIX),
    }


def read_lines(slot: Slot, paths: Iterable[str]) -> frozenset[Place]:
    """What was written down, as far as it names files of the project. Code under test wrote it."""
    known = frozenset(paths)
    found: set[Place] = set()
    with os.scandir(slot.home) as entries:
        names = [entry.name for entry in entries if entry.name.startswith(_PREFIX)]
    for name in sorted(names)[:_FILES]:
        found.update(place for place in _places(slot.home / name) if place[0] in known)
    return frozenset(found)


def _places(path: Path) -> Iterator[Place]:
    try:
        rows = json.loads(safe_open.read(path.parent, path.name, _BYTES))
    except (OSError, ValueError, RecursionError):
        return
    for row in rows if isinstance(rows, list) else ():
        match row:
            case [str(name), int(line)] if 0 < line < _LINE:
                yield name, line
            case _:
                return


def join_spectra(
    recorded: Spectrum | None, places: Iterable[Place], tests: Sequence[str], kept: Iterable[str]
) -> Spectrum:
    """What pytest recorded of the tests `kept`, and the command's lines for each of `tests`.

    A command tells which lines it executed, and not for which test.
    """
    locations = list(recorded.locations) if recorded else []
    index = {place: at for at, place in enumerate(locations)}
    bits = 0
    for place in sorted(places):
        at = index.setdefault(place, len(index))
        if at == len(locations):
            locations.append(place)
        bits |= 1 << at
    wanted = frozenset(kept)
    hits = {t: h for t, h in (recorded.hits if recorded else {}).items() if t in wanted}
    hits.update({test: bits for test in tests if bits})
    return Spectrum(tuple(locations), hits, recorded.gaps if recorded else ())
