"""A real bare git repository behind the loopback GitHub's Git Data API."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_ENV = {
    "PATH": os.environ.get("PATH", "/usr/bin:/bin"),
    "HOME": "/nonexistent",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}


class GitRefused(Exception):
    """Git said no; the message is its last line."""


@dataclass(frozen=True)
class GitCommit:
    """A commit, parsed."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    message: str
    author: tuple[str, str, str]
    committer: tuple[str, str, str]


@dataclass(frozen=True)
class GitEntry:
    """One entry of a tree."""

    mode: str
    type: str
    sha: str
    size: int | None
    path: str


@dataclass(frozen=True)
class GitRepository:
    """Operations on one bare repository, each a git process."""

    path: Path

    def git(self, *args: str, stdin: bytes = b"", env: dict[str, str] | None = None) -> bytes:
        """Standard output of a git command on the repository."""
        done = subprocess.run(
            ["git", "--git-dir", str(self.path.absolute()), *args],
            input=stdin,
            capture_output=True,
            timeout=60,
            env={**_ENV, **(env or {})},
        )
        if done.returncode:
            lines = done.stderr.decode(errors="replace").strip().splitlines()
            raise GitRefused(lines[-1] if lines else f"exit {done.returncode}")
        return done.stdout

    def init(self) -> None:
        """Create it, cloneable and pushable over HTTP."""
        self.path.mkdir(parents=True)
        self.git("init", "-q", "--bare", "--initial-branch=main")
        self.git("config", "http.receivepack", "true")

    def kind(self, sha: str) -> str | None:
        """The type of an object, or None when it is not there."""
        try:
            return self.git("cat-file", "-t", "--end-of-options", sha).decode().strip()
        except GitRefused:
            return None

    def blob(self, sha: str) -> bytes:
        """The bytes of a blob."""
        return self.git("cat-file", "blob", sha)

    def save_blob(self, data: bytes) -> str:
        """Store bytes, give the id."""
        return self.git("hash-object", "-w", "--stdin", stdin=data).decode().strip()

    def entries(self, tree: str, *, recursive: bool = False) -> tuple[GitEntry, ...]:
        """What a tree (or a commit's tree) holds."""
        flags = ("-r", "-t") if recursive else ()
        out = self.git("ls-tree", "-z", "--long", *flags, tree)
        found = []
        for line in out.decode(errors="surrogateescape").split("\0")[:-1]:
            meta, _, path = line.partition("\t")
            mode, kind, sha, size = meta.split()
            found.append(GitEntry(mode, kind, sha, None if size == "-" else int(size), path))
        return tuple(found)

    def save_tree(self, base: str | None, changes: Sequence[tuple[str, str, str | None]]) -> str:
        """A tree: `base` with each (mode, path, sha) put in, or taken out where sha is None."""
        index = self.path.absolute() / f"index-{os.urandom(6).hex()}"
        env = {"GIT_INDEX_FILE": str(index)}
        try:
            if base:
                self.git("read-tree", base, env=env)
            for mode, path, sha in changes:
                if sha is None:
                    # Mode 0 takes a path out, without the work tree that --force-remove asks for.
                    gone = f"0 {'0' * 40}\t{path}\0".encode()
                    self.git("update-index", "-z", "--index-info", stdin=gone, env=env)
                else:
                    info = f"{mode},{sha},{path}"
                    self.git("update-index", "--add", "--cacheinfo", info, env=env)
            return self.git("write-tree", env=env).decode().strip()
        finally:
            index.unlink(missing_ok=True)

    def save_commit(
        self,
        message: str,
        tree: str,
        parents: Sequence[str],
        author: tuple[str, str, str],
        committer: tuple[str, str, str],
    ) -> str:
        """A commit; people are (name, email, date)."""
        env = {
            f"GIT_{role}_{field}": value
            for role, who in (("AUTHOR", author), ("COMMITTER", committer))
            for field, value in zip(("NAME", "EMAIL", "DATE"), who, strict=True)
        }
        flags = [part for parent in parents for part in ("-p", parent)]
        made = self.git("commit-tree", tree, *flags, stdin=message.encode(), env=env)
        return made.decode().strip()

    def commit(self, sha: str) -> GitCommit:
        """A commit by its id."""
        form = "%H%x00%T%x00%P%x00%an%x00%ae%x00%aI%x00%cn%x00%ce%x00%cI%x00%B"
        out = self.git("show", "-s", f"--format={form}", "--end-of-options", sha).decode()
        head, tree, parents, an, ae, ad, cn, ce, cd, message = out.split("\0", 9)
        return GitCommit(
            head, tree, tuple(parents.split()), message.rstrip("\n"), (an, ae, ad), (cn, ce, cd)
        )

    def refs(self, prefix: str = "refs/") -> dict[str, str]:
        """All references below a prefix."""
        out = self.git("for-each-ref", "--format=%(refname) %(objectname)").decode()
        pairs = (line.split() for line in out.splitlines())
        return {name: sha for name, sha in pairs if name.startswith(prefix)}

    def set_ref(self, name: str, sha: str, old: str = "") -> None:
        """Create (old = 40 zeros) or move a reference, only from `old` where given."""
        self.git("update-ref", name, sha, *([old] if old else []))

    def delete_ref(self, name: str) -> None:
        """Remove a reference."""
        self.git("update-ref", "-d", name)

    def is_ancestor(self, old: str, new: str) -> bool:
        """Whether `new` holds `old`."""
        try:
            self.git("merge-base", "--is-ancestor", old, new)
        except GitRefused:
            return False
        return True

    def merge_base(self, one: str, two: str) -> str | None:
        """The best common ancestor."""
        try:
            return self.git("merge-base", one, two).decode().strip()
        except GitRefused:
            return None

    def log(self, *revisions: str) -> tuple[str, ...]:
        """Commit ids, oldest first."""
        return tuple(self.git("rev-list", "--reverse", *revisions).decode().split())

    def diff(self, old: str, new: str) -> str:
        """The unified diff between two trees."""
        return self.git("diff", "--no-ext-diff", "--no-textconv", old, new).decode(errors="replace")

    def import_folder(self, folder: Path, message: str, branch: str = "main") -> str:
        """Commit all files of a folder on a branch; the first commit or the next one."""
        folder, index = folder.absolute(), self.path.absolute() / "index-import"
        env = {"GIT_INDEX_FILE": str(index), "GIT_WORK_TREE": str(folder)}
        self.git("-C", str(folder), "add", "-A", "--force", ".", env=env)
        tree = self.git("write-tree", env=env).decode().strip()
        index.unlink()
        who = ("Ada", "ada@example.invalid", "2026-01-01T00:00:00+00:00")
        parent = self.refs().get(f"refs/heads/{branch}")
        sha = self.save_commit(message, tree, [parent] if parent else [], who, who)
        self.set_ref(f"refs/heads/{branch}", sha)
        return sha
