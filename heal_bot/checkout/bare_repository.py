"""Our own bare repository: objects fetched from the user's, checked, under our configuration."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heal_bot.checkout.git import Git, write_configuration
from heal_bot.checkout.user_repository import UserRepository
from heal_bot.core.errors import UsageError, WorkspaceError
from heal_bot.core.events import Run
from heal_bot.core.process import Completed
from heal_bot.core.text import one_line

# Commits of history to bring along: enough for the lines a pull request changed, small enough
# that a long history costs nothing.
DEPTH = 50
_SHORT = re.compile(r"[0-9a-f]{7,39}|(?:HEAD|[0-9a-f]{7,40})(?:[~^][0-9]{0,5}){1,20}")


@dataclass(frozen=True, slots=True)
class Repository:
    """Objects that heal-bot reads: `git` runs in our bare repository, `head` is the source's HEAD.

    Objects travel over two steps so that no git process ever reads the source's configuration:
    `_mirror` is an empty repository of ours that borrows the source's object folder, and `git`
    fetches from it with fsck, which hashes every object anew.
    """

    origin: UserRepository
    head: str
    branch: str
    git: Git
    _mirror: Git

    @classmethod
    def of(cls, run: Run, source: Path, scratch: Path) -> Repository:
        """Make our repository in a new folder below `scratch` and fetch HEAD of `source`.

        UsageError when `source` is no usable git repository or git is missing.
        """
        origin = UserRepository.at(source)
        head, branch = origin.head()
        place = _new_folder(scratch)
        home = place / "home"
        write_configuration(home)
        mirror, git = Git(place / "mirror.git", home), Git(place / "objects.git", home)
        kind = "sha1" if len(head) == 40 else "sha256"
        for bare in (mirror, git):
            bare.run(run, "init", "--quiet", "--bare", f"--object-format={kind}")
        objects = str(origin.common.resolve() / "objects")
        if "\n" in objects:
            raise UsageError(f"{objects!r} has a line break in its name: rename the folder")
        (mirror.folder / "objects/info").mkdir(exist_ok=True)
        (mirror.folder / "objects/info/alternates").write_text(objects + "\n")
        if shallow := origin.shallow():
            (mirror.folder / "shallow").write_bytes(shallow)
        repository = cls(origin, head, branch, git, mirror)
        repository.fetch(run, head)
        return repository

    @property
    def source(self) -> Path:
        """The user's working folder."""
        return self.origin.work

    def fetch(self, run: Run, sha: str) -> None:
        """Bring a commit and up to DEPTH of its ancestors; UsageError when the source lacks it.

        Of a partial clone, which lacks what files were before, it comes alone.
        """
        if self._has(run, sha):
            return
        known = self._mirror.attempt(run, "cat-file", "-e", f"{sha}^{{commit}}")
        if not known.ok:
            raise UsageError(
                f"commit {sha[:12]} is not in {self.source}: run `git fetch origin {sha}` there"
            )
        fetched = self._fetched(run, (sha,), DEPTH)
        self.git.refuse_full(fetched)
        if not fetched.ok:
            fetched = self._fetched(run, (sha,), 1)
        if not fetched.ok or not self._has(run, sha):
            said = one_line(fetched.stderr.decode(errors="replace"))
            raise WorkspaceError(
                f"the objects of {sha[:12]} in {self.source} cannot be read "
                f"({fetched.ended}: {said}): run `git fsck` there, or clone it anew in full"
            )

    def deepen(self, run: Run, shas: Sequence[str], depth: int) -> bool:
        """Bring so many ancestors of commits that are here, as far as the source has them."""
        return self._fetched(run, shas, depth).ok

    def _fetched(self, run: Run, shas: Sequence[str], depth: int) -> Completed:
        return self.git.attempt(
            run, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--update-shallow",
            f"--depth={depth}", "--end-of-options", f"file://{self._mirror.folder}",
            *(f"+{sha}:refs/heal-bot/{sha}" for sha in shas), seconds=600,
        )  # fmt: skip

    def resolve(self, run: Run, name: str) -> str:
        """The commit that HEAD, a full SHA, a branch or a tag names, fetched and ready to read."""
        sha = self._abbreviated(run, name) or self.origin.resolve(name)
        self.fetch(run, sha)
        commit = self.git.run(run, "rev-parse", "--verify", "--end-of-options", f"{sha}^{{commit}}")
        return commit.decode().strip()

    def _abbreviated(self, run: Run, name: str) -> str:
        """The commit of a short SHA or of `HEAD~3`; '' for any other name."""
        if not _SHORT.fullmatch(name):
            return ""
        wanted = name.replace("HEAD", self.head, 1)
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{wanted}^{{commit}}")
        return self._mirror.read(run, *asked).decode().strip()

    def _has(self, run: Run, sha: str) -> bool:
        return self.git.attempt(run, "cat-file", "-e", f"{sha}^{{commit}}").ok


def _new_folder(scratch: Path) -> Path:
    place = scratch / "git"
    number = 0
    while True:
        try:
            place.mkdir(mode=0o700, parents=True)
        except FileExistsError:
            number += 1
            place = scratch / f"git{number}"
        except OSError as error:
            raise UsageError(
                f"{scratch} cannot be written ({error.strerror}): give a writable folder"
            ) from error
        else:
            return place.resolve()
