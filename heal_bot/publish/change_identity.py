"""Which change a proposal is, whatever the commit, the layout of the code and the comments."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from heal_bot.core.events import Run
from heal_bot.core.model import Candidate, Edit, Target
from heal_bot.junit.failure_signature import shorten
from heal_bot.ports.code_host import Forge
from heal_bot.repair.search.attempt_history import digest, normalise_source
from heal_bot.report.proposed_change import MOST_TESTS, FileChange, Place, ProposedChange, Rating
from heal_bot.source import functions, guard, line_targets

if TYPE_CHECKING:
    from heal_bot.core.outcome import PatchRecord

_COMPARED = 50


def identify(
    sha: str, edits: Sequence[Edit], files: Iterable[FileChange], patch: PatchRecord, project: str
) -> ProposedChange:
    """The edits of a patch, of commit `sha`, as they are known again."""
    rated = patch.confidence
    return ProposedChange(
        sha=sha,
        change=name_change(edits),
        parts=name_parts(edits)[:50],
        fixed=name_tests(patch.fixed, project),
        files=tuple(files)[:20],
        places=place_edits(edits)[:50],
        confidence=Rating(**rated.model_dump()) if rated else None,
    )


def name_change(edits: Sequence[Edit]) -> str:
    """The digest of edits as one change: what they replace, and by what."""
    known = [
        f"{place.before} {part}"
        for place, part in zip(place_edits(edits), name_parts(edits), strict=True)
    ]
    return hashlib.sha256("\n".join(sorted(known)).encode()).hexdigest()


def name_parts(edits: Sequence[Edit]) -> tuple[str, ...]:
    """The digests of edits one by one, by which the search knows what it tried."""
    return tuple(digest(Candidate((edit,), "bundle", "bundle")) for edit in edits)


def name_tests(tests: Iterable[str], project: str) -> tuple[str, ...]:
    """Short digests of the tests of a project."""
    return tuple(sorted({shorten(project, test) for test in tests}))[:MOST_TESTS]


def place_edits(edits: Sequence[Edit]) -> tuple[Place, ...]:
    """What the edits replace."""
    return tuple(
        Place(
            path=edit.target.path,
            qualname=edit.target.qualname,
            kind=edit.target.kind,
            nth=edit.target.nth,
            before=_former(edit.target.source),
        )
        for edit in edits
    )


def still_applies(run: Run, forge: Forge, sha: str, places: Sequence[Place]) -> bool:
    """Whether a commit has, in other layout at most, what a change replaces."""
    return bool(places) and all(_is_there(run, forge, sha, place) for place in places)


def is_formatting_only(run: Run, forge: Forge, old: str, new: str) -> bool:
    """Whether two commits differ in the layout and the comments of Python files at most."""
    if old == new:
        return True
    before, after = forge.objects.blobs(run, old), forge.objects.blobs(run, new)
    changed = [path for path in {*before, *after} if before.get(path) != after.get(path)]
    if not before or not after or len(changed) > _COMPARED:
        return False
    return all(
        path.endswith(".py")
        and path in before
        and path in after
        and _same_syntax(run, forge, before[path], after[path])
        for path in changed
    )


def _same_syntax(run: Run, forge: Forge, old: str, new: str) -> bool:
    texts = [forge.objects.text(run, blob) for blob in (old, new)]
    try:
        one, other = (guard.check_text(text or b"\0") for text in texts)
        guard.parse(one)
        guard.parse(other)
    except guard.SourceRejected:
        return False
    return normalise_source(one) == normalise_source(other)


def _is_there(run: Run, forge: Forge, sha: str, place: Place) -> bool:
    file = forge.objects.file(run, sha, place.path)
    if file is None:
        return False
    try:
        text = guard.check_text(file.data)
    except guard.SourceRejected:
        return False
    found = find_place(place, text)
    return found is not None and _former(found.source) == place.before


def find_place(place: Place, text: str) -> Target | None:
    """What a change replaces, in a text within the caps."""
    if place.kind == line_targets.KIND:
        return line_targets.find_lines(place.path, text, place.qualname)
    try:
        targets = functions.index_targets(place.path, text)
    except guard.SourceRejected:
        return None
    return functions.find_target(targets, place.qualname, place.kind, place.nth)


def is_same_source(one: Target, other: Target) -> bool:
    """Whether two targets differ in layout and comments at most."""
    return _former(one.source) == _former(other.source)


def _former(source: str) -> str:
    return shorten(normalise_source(source))
