"""What the evidence for a change lacks that was found among many others.

Of thousands of changes some pass a test by accident. Nothing is lacking where at least two failing
tests of different inputs pass with it, a third test calls what it changes, nothing changes that
worked, and no other change passes that behaves otherwise. How often that is right is one of the
numbers in `patch_probability`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heal_bot.core.text import count

_TESTS = 2
_THIRD = 3


@dataclass(frozen=True, slots=True)
class PatchEvidence:
    """What is known of a change beside that the failing `tests` pass with it.

    `inputs` counts the calls with different arguments that those tests make and that it changes,
    None where no call could be repeated; `working` counts the calls of passing tests that were
    compared, `spoiled` are those of them, in words, that it changes. `rivals` are changes, in
    words, that pass too and behave otherwise.
    """

    tests: int
    inputs: int | None
    working: int = 0
    spoiled: Sequence[str] = ()
    rivals: Sequence[str] = ()
    objections: Sequence[str] = ()


def list_lacks(known: PatchEvidence) -> tuple[str, ...]:
    """What the evidence lacks, in sentences; empty where it is strong."""
    return (*_inputs(known), *known.rivals, *_spoiled(known), *known.objections)


def _inputs(known: PatchEvidence) -> list[str]:
    if known.tests < _TESTS:
        return ["one failing test alone vouches for it"]
    if known.inputs is None:
        return ["no call of what it changes could be repeated: what else it changes is not known"]
    if known.inputs < _TESTS:
        tests = count(known.tests, "failing test")
        return [f"{tests} pass with it, and they do not call what it changes with different inputs"]
    if known.tests < _THIRD and not known.working:
        return ["two failing tests vouch for it, and no passing test calls what it changes"]
    return []


def _spoiled(known: PatchEvidence) -> list[str]:
    if not known.spoiled:
        return []
    calls = count(len(known.spoiled), "call")
    return [f"it changes {calls} that passing tests make: {known.spoiled[0]}"]
