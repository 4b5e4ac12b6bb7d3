"""The user's repository as files: where its objects lie and what HEAD names, no git run."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from heal_bot.core import safe_open
from heal_bot.core.errors import UsageError

_SHA = re.compile(r"(?:[0-9a-f]{40}|[0-9a-f]{64})\Z")
_REF = re.compile(r"refs/(?!.*(?:\.\.|//|@\{|\.lock\Z))[^\x00-\x20~^:?*\[\\\x7f]{1,250}\Z")
_SMALL = 4096
_PACKED = 64 << 20


@dataclass(frozen=True, slots=True)
class UserRepository:
    """A repository of someone else: `work` holds the files, `git` HEAD, `common` the objects."""

    work: Path
    git: Path
    common: Path

    @classmethod
    def at(cls, folder: Path) -> UserRepository:
        """Find the parts of the repository at `folder`: a checkout, a worktree, or a bare one.

        Raises UsageError with the remedy when there is none, or one we cannot read.
        """
        work = folder.resolve()
        if not work.is_dir():
            raise UsageError(f"{folder} is not a folder: give the repository's folder with --repo")
        git = _git_folder(work)
        common = git
        if (git / "commondir").is_file():
            common = (git / _read(git, "commondir")).resolve()
        if not (common / "objects").is_dir():
            raise UsageError(f"{folder} is not a git repository: {common}/objects is missing")
        if (common / "objects/info/alternates").exists():
            raise UsageError(
                f"{work} is a clone that borrows objects from another repository (`git clone "
                "--shared` or --reference), where heal-bot reads nothing: run `git repack -a -d && "
                "rm .git/objects/info/alternates` in it first"
            )
        if (common / "reftable").exists():
            raise UsageError(
                f"{folder} keeps its refs as reftable, which heal-bot does not read: run "
                "`git refs migrate --ref-format=files` in it first"
            )
        return cls(work, git, common)

    def head(self) -> tuple[str, str]:
        """The commit HEAD names, and its branch ("" when detached)."""
        text = _read(self.git, "HEAD")
        if _SHA.match(text):
            return text, ""
        name = text.removeprefix("ref:").strip()
        sha = self.ref(name)
        if sha is None:
            raise UsageError(f"{self.work} has no commit on {name}: commit something first")
        return sha, name.removeprefix("refs/heads/")

    def ref(self, name: str, depth: int = 5) -> str | None:
        """The commit of a full ref name, None when there is no such ref."""
        if not _REF.match(name) or depth == 0:
            return None
        for folder in dict.fromkeys((self.git, self.common)):
            try:
                text = safe_open.read(folder, name, _SMALL).decode(errors="replace").strip()
            except OSError:
                continue
            if _SHA.match(text):
                return text
            return self.ref(text.removeprefix("ref:").strip(), depth - 1)
        return self._packed().get(name)

    def resolve(self, name: str) -> str:
        """The commit or tag id that HEAD, a full SHA, a branch, a tag or a remote branch names."""
        if name in {"", "HEAD"}:
            return self.head()[0]
        if _SHA.match(name):
            return name
        for prefix in ("", "refs/heads/", "refs/tags/", "refs/remotes/", "refs/remotes/origin/"):
            if (sha := self.ref(prefix + name)) is not None:
                return sha
        raise UsageError(f"{name!r} is not a commit of {self.work}: give a full SHA or a branch")

    def shallow(self) -> bytes:
        """The commits whose parents are absent, one per line; empty for a whole history."""
        try:
            return safe_open.read(self.common, "shallow", _PACKED)
        except FileNotFoundError:
            return b""

    def _packed(self) -> dict[str, str]:
        try:
            text = safe_open.read(self.common, "packed-refs", _PACKED).decode(errors="replace")
        except FileNotFoundError:
            return {}
        pairs = (line.split(" ") for line in text.splitlines() if line[:1] not in {"#", "^"})
        return {pair[1]: pair[0] for pair in pairs if len(pair) == 2 and _SHA.match(pair[0])}


def _git_folder(work: Path) -> Path:
    """The folder with HEAD: .git, what a .git file points to, or the folder itself when bare."""
    inner = work / ".git"
    if inner.is_file() and not inner.is_symlink():
        pointer = _read(work, ".git")
        inner = (work / pointer.removeprefix("gitdir:").strip()).resolve()
    elif not inner.exists() and (work / "HEAD").is_file() and (work / "objects").is_dir():
        inner = work
    if not (inner / "HEAD").is_file():
        raise UsageError(f"{work} is not a git repository: give the folder that holds .git")
    return inner


def _read(folder: Path, name: str) -> str:
    try:
        return safe_open.read(folder, name, _SMALL).decode(errors="replace").strip()
    except OSError as error:
        raise UsageError(f"{folder / name} cannot be read: {error.strerror}") from error
