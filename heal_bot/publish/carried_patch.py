"""A proposal on a newer commit: the same edits, to be verified before anything is searched."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from heal_bot.core import VERSION
from heal_bot.core.events import Run
from heal_bot.core.model import Edit, HealRequest
from heal_bot.core.outcome import SCHEMA, ConfidenceRecord, FileRecord, OutcomeRecord
from heal_bot.ports.code_host import Forge
from heal_bot.publish import change_identity
from heal_bot.report.proposed_change import ProposedChange
from heal_bot.source import edit, edit_recovery, guard


def carry_proposal(
    run: Run, proposal: ProposedChange, request: HealRequest, fingerprint: str, forge: Forge
) -> OutcomeRecord | None:
    """The proposal as a run that was interrupted at `request.base_sha`.

    None where that commit no longer has what the proposal replaces, in whatever layout.
    """
    now = forge.objects.blobs(run, request.base_sha) if request.base_sha != proposal.sha else {}
    names = {(place.path, place.qualname): None for place in proposal.places}
    files = []
    for changed in proposal.files:
        blob = now.get(changed.path, "") if now else changed.before
        after = _text(run, forge, changed.after)
        if after is not None and blob != changed.before:
            named = {name for path, name in names if path == changed.path}
            after = _moved(run, (changed.path, changed.before, after), blob, named, forge)
        if after is None:
            return None
        files.append(FileRecord(path=changed.path, base_blob=blob, content=after))
    told = proposal.confidence
    said, rated = "it is proposed", ConfidenceRecord(**told.model_dump()) if told else None
    return _interrupted(said, request, fingerprint, files, names, rated) if files else None


def carry_record(
    run: Run, record: OutcomeRecord, request: HealRequest, forge: Forge
) -> OutcomeRecord | None:
    """The patch of a run at the commit of `request`, to which the branch moved meanwhile."""
    if record.patch is None:
        return None
    now = forge.objects.blobs(run, request.base_sha)
    names = {(place.path, place.qualname): None for place in record.patch.functions}
    files = []
    for file in record.patch.files:
        blob, after = now.get(file.path, ""), file.content
        if blob != file.base_blob:
            named = {name for path, name in names if path == file.path}
            carried = _moved(run, (file.path, file.base_blob, after), blob, named, forge)
            if carried is None:
                return None
            after = carried
        files.append(FileRecord(path=file.path, base_blob=blob, content=after))
    said, rated = "the branch moved", record.patch.confidence
    return _interrupted(said, request, record.fingerprint, files, names, rated)


def _moved(
    run: Run, changed: tuple[str, str, str], blob: str, named: set[str], forge: Forge
) -> str | None:
    """The text of a file with the change (path, old blob, new text), where it is `blob` now."""
    path, former, after = changed
    before, current = _text(run, forge, former), _text(run, forge, blob)
    if before is None or current is None:
        return None
    try:
        found = edit_recovery.recover_edits(path, before, after, named)
        moved = []
        for old, place in zip(found, change_identity.place_edits(found), strict=True):
            target = change_identity.find_place(place, current)
            if target is None or not change_identity.is_same_source(old.target, target):
                return None
            moved.append(Edit(target, old.new_source, old.imports))
        return edit.splice(current, moved)
    except (edit_recovery.RecheckError, guard.SourceRejected, edit.EditError):
        return None


def _text(run: Run, forge: Forge, blob: str) -> str | None:
    """A source file by its blob; None where there is none that may be read as one."""
    data = forge.objects.text(run, blob) if blob else None
    try:
        return guard.check_text(data) if data is not None else None
    except guard.SourceRejected:
        return None


def _interrupted(
    reason: str,
    request: HealRequest,
    fingerprint: str,
    files: Sequence[FileRecord],
    names: Iterable[tuple[str, str]],
    confidence: ConfidenceRecord | None,
) -> OutcomeRecord:
    patch: dict[str, Any] = {
        "base_sha": request.base_sha,
        "diff": "",
        "files": tuple(files),
        "functions": tuple({"path": path, "qualname": name} for path, name in names),
        "fixed": (),
        "still_failing": (),
        "confidence": confidence,
    }
    asked = {
        "repo": request.repo, "base_sha": request.base_sha, "base_ref": request.base_ref,
        "tested_sha": request.tested_sha, "head_repo": request.head_repo,
        "trigger": request.trigger, "actor": request.actor, "trust": request.trust.value,
        "run_id": request.run_id, "pull_number": request.pull_number, "verb": request.verb,
        "instruction": "",
    }  # fmt: skip
    return OutcomeRecord.model_validate({
        "schema": SCHEMA, "heal_bot": VERSION, "status": "partly_healed",
        "stopped": "interrupted", "reason": reason,
        "fingerprint": fingerprint, "request": asked, "failures": (), "clusters": (),
        "searches": (), "attempts": (), "patch": patch, "certificate": None,
        "report": {"flags": (), "skipped": ()}, "memory": {"tried": (), "lessons": ()},
        "cost": {"usd": 0.0, "input_tokens": 0, "output_tokens": 0, "seconds": 0.0}, "notes": (),
    })  # fmt: skip
