"""Git objects and branches of a repository on GitHub, through the Git Data API alone."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from heal_bot.core.errors import ForgeError
from heal_bot.core.events import Run
from heal_bot.github.client import create, find_or_none, reread, translate_errors
from heal_bot.ports.code_host import Blamed, ForgeCommit, ForgeFile

if TYPE_CHECKING:
    from github.GitCommit import GitCommit
    from github.GitTree import GitTree
    from github.Repository import Repository

_MAX_FILE = 2 << 20
_REGULAR = frozenset({"100644", "100755"})
_MAX_COMMITS = 250
_INLINE = 100_000
_SUBJECTS = 30
_BLAME = """query Blame($owner: String!, $name: String!, $sha: GitObjectID!, $path: String!) {
  repository(owner: $owner, name: $name) { object(oid: $sha) { ... on Commit {
    blame(path: $path) { ranges {
      startingLine endingLine commit { author { user { login } } } } } } } } }"""


@dataclass(frozen=True, slots=True)
class GitObjects:
    """The objects and branches; an object once read is kept, since it never changes."""

    repository: Repository
    _commits: dict[str, GitCommit] = field(default_factory=dict)
    _blobs: dict[str, bytes] = field(default_factory=dict)
    _trees: dict[str, GitTree] = field(default_factory=dict)
    _made: dict[str, GitTree] = field(default_factory=dict)
    _tips: dict[str, tuple[str, dict[str, Any]]] = field(default_factory=dict)

    def head(self, run: Run, branch: str) -> str | None:
        """The commit a branch points to, or None; one request for the branch and its commit.

        Read again it is asked for under the condition that it changed.
        """
        from github.GitCommit import GitCommit

        del run

        def look() -> str:
            tip = reread(self.repository, self._place(branch), self._tips)["commit"]
            sha: str = tip["sha"]
            known = tip["commit"] | {"sha": sha, "parents": tip["parents"]}
            requester = self.repository.requester
            self._commits[sha] = GitCommit(requester, {}, known, completed=True)
            return sha

        return find_or_none(f"branch {branch}", look)

    def is_protected(self, run: Run, branch: str) -> bool:
        """Whether rules protect a branch; said in the answer that names its commit."""
        url = self._place(branch)
        if url not in self._tips and self.head(run, branch) is None:
            return False
        return self._tips[url][1].get("protected") is True

    def _place(self, branch: str) -> str:
        return f"{self.repository.url}/branches/{quote(branch)}"

    def commit(self, run: Run, sha: str) -> ForgeCommit | None:
        """A commit by its full id, or None; each is asked for once."""
        del run
        if sha not in self._commits:
            made = find_or_none(
                f"commit {sha}", lambda: _complete(self.repository.get_git_commit(sha))
            )
            if made is None:
                return None
            self._commits[sha] = made
        return _commit(self._commits[sha])

    def ahead(self, run: Run, base: str, tip: str) -> tuple[ForgeCommit, ...] | None:
        """The commits `tip` has and `base` has not; ForgeError when they are too many to read."""
        del run

        def look() -> tuple[ForgeCommit, ...]:
            compared = self.repository.compare(base, tip)
            if compared.ahead_by > _MAX_COMMITS:
                raise ForgeError(f"{tip} is {compared.ahead_by} commits ahead of {base[:12]}")
            return tuple(
                ForgeCommit(
                    c.sha,
                    c.commit.tree.sha,
                    tuple(parent.sha for parent in c.parents),
                    c.commit.message,
                )
                for c in compared.commits
            )

        return find_or_none(f"compare {base}", look)

    def contains(self, run: Run, tip: str, sha: str) -> bool:
        """Whether `sha` is `tip` or an ancestor of it."""
        del run
        status = find_or_none(f"compare {sha}", lambda: self.repository.compare(sha, tip).status)
        return status in {"ahead", "identical"}

    def paths(self, run: Run, sha: str) -> tuple[str, ...]:
        """All file paths of a commit; ForgeError where GitHub does not list them all."""
        return tuple(self.blobs(run, sha))

    def blobs(self, run: Run, sha: str) -> dict[str, str]:
        """The blob ids of all files of a commit, by path; ForgeError as for `paths`."""
        commit = self.commit(run, sha)
        if commit is None:
            return {}
        tree = self._tree(commit.tree)
        if tree.raw_data.get("truncated"):
            raise ForgeError(f"commit {sha[:12]} has more files than GitHub lists in one answer")
        return {entry.path: entry.sha for entry in tree.tree if entry.type == "blob"}

    def text(self, run: Run, blob: str) -> bytes | None:
        """The bytes of a blob by its id, or None without such a blob, or for a larger one."""
        del run
        found = find_or_none(f"blob {blob}", lambda: self._read_blob(blob, blob[:12]))
        return found if found is not None and len(found) <= _MAX_FILE else None

    def blame(self, run: Run, sha: str, path: str) -> tuple[Blamed, ...]:
        """Who last changed the lines of a file of a commit; only GitHub's other API says it."""
        del run
        owner, name = self.repository.url.split("/")[-2:]
        given = {"owner": owner, "name": name, "sha": sha, "path": path}
        with translate_errors(f"blame {path}"):
            _, said = self.repository.requester.graphql_query(_BLAME, given)
        found = ((said.get("data") or {}).get("repository") or {}).get("object") or {}
        ranges = (found.get("blame") or {}).get("ranges") or ()
        return tuple(
            Blamed(part["startingLine"], part["endingLine"], user["login"])
            for part in ranges
            if (user := (part["commit"]["author"] or {}).get("user"))
        )

    def subjects(self, run: Run, sha: str) -> tuple[str, ...]:
        """The first lines of the newest commits up to one, without merges."""
        del run
        with translate_errors(f"commits up to {sha[:12]}"):
            url = f"{self.repository.url}/commits"
            query = {"sha": sha, "per_page": _SUBJECTS}
            _, listed = self.repository.requester.requestJsonAndCheck("GET", url, query)
            return tuple(
                str(one["commit"]["message"]).partition("\n")[0]
                for one in listed or ()
                if len(one["parents"]) < 2
            )

    def file(self, run: Run, sha: str, path: str) -> ForgeFile | None:
        """A regular file of a commit, or None; ForgeError when larger than 2 MiB."""
        commit = self.commit(run, sha)
        if commit is None:
            return None
        entry = next((e for e in self._tree(commit.tree).tree if e.path == path), None)
        if entry is None or entry.type != "blob" or entry.mode not in _REGULAR:
            return None
        if (entry.size or 0) > _MAX_FILE:
            raise ForgeError(f"{path} has {entry.size} bytes; at most {_MAX_FILE} are read")
        with translate_errors(f"blob of {path}"):
            return ForgeFile(path, entry.mode, entry.sha, self._read_blob(entry.sha, path))

    def _tree(self, sha: str) -> GitTree:
        """The whole tree in one request; each is asked for once."""
        if sha not in self._trees:
            with translate_errors(f"tree {sha}"):
                self._trees[sha] = self.repository.get_git_tree(sha, recursive=True)
                _ = self._trees[sha].tree
        return self._trees[sha]

    def _read_blob(self, sha: str, path: str) -> bytes:
        if sha not in self._blobs:
            blob = self.repository.get_git_blob(sha)
            if blob.encoding != "base64":
                raise ForgeError(f"{path}: GitHub sent encoding {blob.encoding!r}, not base64")
            try:
                self._blobs[sha] = base64.b64decode(blob.content)
            except binascii.Error as error:
                raise ForgeError(f"{path}: GitHub sent broken base64") from error
        return self._blobs[sha]

    def save_tree(self, run: Run, base: ForgeCommit, files: Sequence[ForgeFile]) -> str:
        """The id of `base`'s tree with these files replaced.

        Repeated after a lost answer this leaves at worst loose objects.
        """
        from github import InputGitTreeElement

        with translate_errors("write the tree"):
            elements = []
            for file in files:
                text = _inline(file.data)
                if text is None:
                    sha = self._save_blob(run, file)
                    elements.append(InputGitTreeElement(file.path, file.mode, "blob", sha=sha))
                else:
                    element = InputGitTreeElement(file.path, file.mode, "blob", content=text)
                    elements.append(element)
            above = self._tree(base.tree)
            made = create(
                run,
                "tree",
                lambda: None,
                lambda: self.repository.create_git_tree(elements, above),
            )
            # Kept for the commit alone: the answer lists the top folder, not the whole tree.
            self._made[made.sha] = made
            return made.sha

    def save_commit(self, run: Run, message: str, tree: str, parents: Sequence[str]) -> ForgeCommit:
        """A commit; no branch points to it yet.

        Neither author nor committer is given, so that GitHub signs the commit of a bot token.
        """
        with translate_errors("write the commit"):
            whole = self._made.get(tree) or self.repository.get_git_tree(tree)
            above = [
                self._commits.get(parent) or self.repository.get_git_commit(parent)
                for parent in parents
            ]
            return create(
                run,
                "commit",
                lambda: None,
                lambda: _commit(self.repository.create_git_commit(message, whole, above)),
            )

    def _save_blob(self, run: Run, file: ForgeFile) -> str:
        content = base64.b64encode(file.data).decode()
        return create(
            run,
            f"blob of {file.path}",
            lambda: None,
            lambda: self.repository.create_git_blob(content, "base64").sha,
        )

    def create_branch(self, run: Run, branch: str, sha: str) -> bool:
        """Make a branch; False when it exists and points elsewhere."""
        with translate_errors(f"create branch {branch}"):
            made = create(
                run,
                f"branch {branch}",
                lambda: self.head(run, branch),
                lambda: self.repository.create_git_ref(f"refs/heads/{branch}", sha).object.sha,
            )
        return made == sha

    def advance_branch(self, run: Run, branch: str, sha: str) -> bool:
        """Fast-forward a branch; False when that would lose a commit."""
        from github import GithubException

        with translate_errors(f"advance branch {branch}"):
            ref = self.repository.get_git_ref(f"heads/{branch}")
            # Reading it first gives the address that takes the change; the SDK's own lacks an s.
            if ref.object.sha == sha:
                return True
            try:
                ref.edit(sha, force=False)
            except GithubException as error:
                if error.status == 422 and "fast forward" in str(error.data):
                    return False
                raise
        return True

    def delete_branch(self, run: Run, branch: str) -> None:
        """Remove a branch; nothing happens without such a branch."""
        del run

        def remove() -> None:
            ref = self.repository.get_git_ref(f"heads/{branch}")
            _ = ref.object.sha  # as above: read first, for the address
            ref.delete()

        find_or_none(f"delete branch {branch}", remove)


def _inline(data: bytes) -> str | None:
    """A small text that a tree's request can hold, so that it needs no blob of its own."""
    try:
        return data.decode("utf-8") if len(data) <= _INLINE else None
    except UnicodeDecodeError:
        return None


def _commit(commit: GitCommit) -> ForgeCommit:
    return ForgeCommit(
        commit.sha, commit.tree.sha, tuple(parent.sha for parent in commit.parents), commit.message
    )


def _complete(commit: GitCommit) -> GitCommit:
    """The commit once read: the SDK asks GitHub only when something of it is looked at."""
    _ = commit.tree.sha
    return commit
