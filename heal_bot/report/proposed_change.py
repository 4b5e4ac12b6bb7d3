"""A proposed change: how it is known again (by digests, blobs and places), and how it is shown."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from heal_bot.core.model import PatchedFile

if TYPE_CHECKING:
    from heal_bot.core.outcome import OutcomeRecord

Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
Short = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{16}$")]
Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Name = Annotated[str, StringConstraints(max_length=1_000)]
MOST_TESTS = 500


class Closed(BaseModel):
    """What is read from where others may write: a closed schema."""

    model_config = ConfigDict(defer_build=True, extra="forbid", frozen=True, strict=True)


class Place(Closed):
    """What a change replaces: where it is, and a digest of its syntax tree before."""

    path: Name
    qualname: Name
    kind: Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,20}$")]
    nth: Annotated[int, Field(ge=0, le=10**6)]
    before: Short


class FileChange(Closed):
    """The git blobs of a changed file."""

    path: Name
    before: Sha
    after: Sha


class Rating(Closed):
    """What `ConfidenceRecord` says of a patch, read without the rest of that schema."""

    level: Literal["high", "medium", "low"]
    p: Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
    ground: Name


class ProposedChange(Closed):
    """A change that was proposed for what `reported` names, as it was at commit `sha`.

    `parts` are the digests of its edits one by one, `fixed` those of the tests that it fixes.
    """

    sha: Sha
    change: Digest
    reported: Annotated[tuple[Short, ...], Field(max_length=MOST_TESTS)] = ()
    parts: Annotated[tuple[Digest, ...], Field(max_length=50)] = ()
    fixed: Annotated[tuple[Short, ...], Field(max_length=MOST_TESTS)] = ()
    files: Annotated[tuple[FileChange, ...], Field(max_length=20)] = ()
    places: Annotated[tuple[Place, ...], Field(max_length=50)] = ()
    confidence: Rating | None = None


@dataclass(frozen=True, slots=True)
class Shown:
    """What publishing recomputed, to be shown in place of what the record says.

    `functions` are `path::qualname`; `remarks` are our own sentences in Markdown; `claimed` says
    that only an unprivileged run stands behind the record; `waiting` that GitHub starts no checks
    on what this token pushes; `change` is how it is known again.
    `run_url` is the failing run, `commands` what can be asked where the text stands; `by_hand` says
    that no branch has the change.
    """

    diff: str
    functions: tuple[str, ...]
    branch: str
    digest: str
    remarks: tuple[str, ...] = ()
    claimed: bool = False
    waiting: bool = False
    change: ProposedChange | None = None
    run_url: str = ""
    commands: tuple[str, ...] = ()
    by_hand: bool = False


def render_claimed(record: OutcomeRecord) -> Shown:
    """What the record itself says of its patch, for the copy in the bundle."""
    patch = record.patch
    if patch is None:
        return Shown("", (), f"heal-bot/{record.fingerprint}", "")
    files = (PatchedFile(f.path, f.base_blob, f.content) for f in patch.files)
    names = tuple(f"{f.path}::{f.qualname}" for f in patch.functions)
    branch = f"heal-bot/{record.fingerprint}"
    return Shown(patch.diff, names, branch, digest_patch(files))


def digest_patch(files: Iterable[PatchedFile]) -> str:
    """Sixteen hex digits that name a patch, on whatever commit: the old blobs, the new texts."""
    state = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.path):
        content = file.content.encode("utf-8", "surrogatepass")
        state.update(f"\0{file.path}\0{file.base_blob}\0{len(content)}\0".encode() + content)
    return state.hexdigest()[:16]
