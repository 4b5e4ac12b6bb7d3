"""The first thing that a run starts: the supervisor of its sandbox, while the rest is loaded."""

from __future__ import annotations

from pathlib import Path

from heal_bot.sandbox.run import Launch
from heal_bot.settings import Settings

__all__ = ["Launch", "launched"]

# A warm session keeps a slot per core while the confirmation of its winner needs its own.
_SLOTS = 4


def launched(settings: Settings) -> Launch:
    """The sandbox that the settings ask for, starting."""
    place = settings.scratch_dir or None
    return Launch(settings.sandbox, _SLOTS, Path(place) if place else None)
