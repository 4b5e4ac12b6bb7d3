"""A proposed change as it is known again: by digests, blobs and places; no source text."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

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
