"""What is said of an environment to make, apart from what makes it, which loads slowly."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from heal_bot.core.text import Secret

NO_URL = Secret("")
# Without this plugin tox makes environments of its own.
_PROGRAMS = {"tox": ("tox", "tox-current-env"), "nox": ("nox",)}


@dataclass(frozen=True, slots=True)
class Access:
    """How an index is reached.

    `url` (empty for the public one) may hold credentials and is the only address that is asked.
    `until` (a time as RFC 3339 writes it) hides what was uploaded later.
    """

    url: Secret = NO_URL
    ca_file: str = ""
    proxy: str = ""
    until: str = ""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the user says of the environment, and where the failing run may have left traces.

    `setup` are lines as `pip install` takes them, `freeze` the output of `pip freeze`, `folders`
    where the failing run may have left its `.venv`, which is read, `programs` the packages that
    the test command needs itself. `access` must hold no credentials for code of an untrusted head.
    """

    python: str = ""
    setup: str = ""
    freeze: Path | None = None
    folders: tuple[Path, ...] = ()
    programs: tuple[str, ...] = ()
    access: Access = field(default_factory=Access)

    @property
    def explicit(self) -> bool:
        """Whether the user asked for an environment of his own making."""
        return bool(self.python or self.setup or self.freeze)


def find_programs(command: str) -> tuple[str, ...]:
    """The packages without which a test command cannot start."""
    words = frozenset(re.split(r"[^\w.-]+", command))
    return tuple(name for program, names in _PROGRAMS.items() if program in words for name in names)
