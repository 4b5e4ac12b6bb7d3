"""One text behind a ref of our own, which no branch list, clone or checkout shows."""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from heal_bot.core.errors import ForgeError
from heal_bot.core.events import Run
from heal_bot.github.client import create, find_or_none, translate_errors
from heal_bot.ports.code_host import Stored

if TYPE_CHECKING:
    from github.Repository import Repository

REF = "heal-bot/state"
FILE = "state.json"
_MESSAGE = (
    "Remember what was tried\n\n"
    f"heal-bot reads this; `git push origin --delete refs/{REF}` makes it forget.\n"
)
_WHAT = f"ref refs/{REF}"
_MOST = 256_000
# What GitHub says where the ref was made, moved or removed since it was read.
_MOVED = frozenset({404, 409, 422})


@dataclass(frozen=True, slots=True)
class StateRef:
    """Reads and replaces the text; a replacement never forces, so that no other one is lost."""

    repository: Repository
    _kept: list[Stored | None] = field(default_factory=list)

    def read(self, run: Run, *, fresh: bool = False) -> Stored | None:
        """The text and its commit; None where there is no such ref, read once unless `fresh`."""
        del run
        if fresh or not self._kept:
            self._kept[:] = [self._look()]
        return self._kept[0]

    def _look(self) -> Stored | None:
        ref = find_or_none(f"ref refs/{REF}", lambda: self._get(f"git/ref/{REF}"))
        if ref is None:
            return None
        target = ref.get("object") or {}
        sha = str(target.get("sha") or "")
        if not sha or target.get("type") != "commit":
            return Stored(sha, None)
        try:
            with translate_errors(f"ref refs/{REF}"):
                return Stored(sha, self._text(sha))
        except (KeyError, TypeError, AttributeError) as error:
            raise ForgeError(f"{_WHAT}: unexpected answer from GitHub: {error!r}") from error

    def _text(self, sha: str) -> str | None:
        """The file of the commit; None where it has none like ours."""
        tree = self._get(f"git/commits/{sha}")["tree"]["sha"]
        listed = self._get(f"git/trees/{tree}").get("tree") or ()
        entry = next((one for one in listed if one.get("path") == FILE), None)
        if entry is None or entry.get("type") != "blob" or (entry.get("size") or 0) > _MOST:
            return None
        blob = self._get(f"git/blobs/{entry['sha']}")
        if blob.get("encoding") != "base64":
            return None
        try:
            return base64.b64decode(blob.get("content") or "").decode()
        except (binascii.Error, UnicodeDecodeError):
            return None

    def write(self, run: Run, text: str, parent: str) -> bool:
        """Put the text on top of commit `parent`, or make the ref where that is empty.

        False when the ref is not, or no longer, as `parent` says.
        """
        from github import GithubException

        with translate_errors(f"write refs/{REF}"):
            blob = {"path": FILE, "mode": "100644", "type": "blob", "content": text}
            tree = self._post(run, "git/trees", {"tree": [blob]})
            parents = [parent] if parent else []
            given = {"message": _MESSAGE, "tree": tree["sha"], "parents": parents}
            made = str(self._post(run, "git/commits", given)["sha"])
            try:
                if parent:
                    self._ask("PATCH", f"git/refs/{REF}", {"sha": made, "force": False})
                else:
                    self._make(run, made)
            except GithubException as error:
                if error.status not in _MOVED:
                    raise
                return False
        self._kept[:] = [Stored(made, text)]
        return True

    def _make(self, run: Run, sha: str) -> None:
        """Make the ref; after a lost answer the one that is there counts when it is ours."""

        def look() -> object | None:
            stored = self._look()
            return True if stored is not None and stored.commit == sha else None

        given = {"ref": f"refs/{REF}", "sha": sha}
        create(run, f"ref refs/{REF}", look, lambda: self._ask("POST", "git/refs", given))

    def _post(self, run: Run, path: str, given: dict[str, Any]) -> dict[str, Any]:
        """Make an object; two of the same do no harm."""
        made: dict[str, Any] = create(
            run, f"refs/{REF}", lambda: None, lambda: self._ask("POST", path, given)
        )
        return made

    def _get(self, path: str) -> dict[str, Any]:
        return self._ask("GET", path)

    def _ask(self, verb: str, path: str, given: dict[str, Any] | None = None) -> dict[str, Any]:
        ask = self.repository.requester.requestJsonAndCheck
        said = ask(verb, f"{self.repository.url}/{path}", input=given)[1]
        # Of several refs that begin alike some versions of GitHub Enterprise give a list.
        return said if isinstance(said, dict) else {}
