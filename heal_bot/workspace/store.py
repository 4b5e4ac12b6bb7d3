"""A folder of finished installations, shared by runs and safe against other users."""

from __future__ import annotations

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heal_bot.errors import ProvisionError
from heal_bot.workspace import beneath

_RECORD = "heal-bot.json"


@dataclass(frozen=True, slots=True)
class Store:
    """Installations by name below `folder`; each is complete once its folder stands."""

    folder: Path

    @classmethod
    def at(cls, folder: Path) -> Store:
        """Open or make the store; ProvisionError when another user could write or hide it.

        As root every user must be able to reach it, because tests run as another user.
        """
        try:
            folder.mkdir(mode=0o755, parents=True, exist_ok=True)
            real = folder.resolve(strict=True)
            if folder.is_symlink():
                raise ProvisionError(f"{folder} is a link: name a folder of your own for the cache")
            _own(real)
            for parent in real.parents:
                _passable(parent, real)
        except OSError as error:
            raise ProvisionError(
                f"the cache folder {folder} cannot be used ({error.strerror}): name a writable one"
            ) from error
        return cls(real)

    def get(self, name: str, build: Callable[[Path, Path], dict[str, Any]]) -> dict[str, Any]:
        """The record of installation `name`, which `build(work, final)` makes when it is new.

        `build` fills the folder `work`, which becomes `final` by renaming, and returns what to
        remember. Of two builds at once the first to finish stays.
        """
        final = self.folder / name
        if not final.is_dir():
            work = Path(tempfile.mkdtemp(prefix=".new-", dir=self.folder))
            try:
                work.chmod(0o755)
                record = build(work, final)
                (work / _RECORD).write_text(json.dumps(record))
                (work / _RECORD).chmod(0o644)
                _move(work, final)
            except OSError as error:
                raise ProvisionError(
                    f"{self.folder} cannot take a copy of the interpreter ({error}): free space "
                    "there or name another cache folder"
                ) from error
            finally:
                shutil.rmtree(work, ignore_errors=True)
        _own(final)
        loaded: dict[str, Any] = json.loads(beneath.read(final, _RECORD, 1 << 20))
        return loaded


def _move(work: Path, final: Path) -> None:
    try:
        work.rename(final)
    except OSError:
        if not final.is_dir():
            raise


def _own(folder: Path) -> None:
    status = folder.lstat()
    if status.st_uid != os.geteuid() or status.st_mode & 0o022 or not stat.S_ISDIR(status.st_mode):
        raise ProvisionError(
            f"{folder} belongs to another user or can be written by one: remove it or name "
            "another cache folder"
        )


def _passable(parent: Path, folder: Path) -> None:
    status = parent.stat()
    if status.st_mode & 0o022 and not status.st_mode & stat.S_ISVTX:
        raise ProvisionError(f"{parent} can be written by others: name another cache folder")
    if os.geteuid() == 0 and not status.st_mode & stat.S_IXOTH:
        raise ProvisionError(
            f"{folder} cannot be reached by the user that tests run as, because {parent} is "
            "private: name a cache folder that others can enter"
        )
