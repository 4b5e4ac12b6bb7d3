"""What a run remembers of earlier ones: digests of changes and their verdict, no free text."""

from __future__ import annotations

import ast
import hashlib
import json
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from heal_bot.core.errors import UsageError
from heal_bot.core.model import Attempt, Candidate, Memory
from heal_bot.core.outcome import MemoryRecord
from heal_bot.core.statuses import LASTING, VerdictStatus
from heal_bot.repair.llm.attempt_feedback import select_lasting

_MAX_BYTES = 4 << 20
_KEPT = 10_000
_ANSWERS = 50
# Two hundred times any letter would take longer to compile than the module to load.
_LESSON = r"^[a-z_]{1,40}(:[\w.<>]+)?$"

_Digest = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]


class _Tried(BaseModel):
    model_config = ConfigDict(extra="forbid")
    digest: _Digest
    verdict: VerdictStatus


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")
    tried: Annotated[tuple[_Tried, ...], Field(max_length=_KEPT)] = ()
    lessons: Annotated[
        tuple[Annotated[str, StringConstraints(pattern=_LESSON, max_length=241)], ...],
        Field(max_length=5),
    ] = ()
    answers: Annotated[tuple[_Digest, ...], Field(max_length=_ANSWERS)] = ()


def digest_answer(call: str, result: str) -> str:
    """Names what a call should give, without its text."""
    return hashlib.sha256(json.dumps([call, result]).encode()).hexdigest()


def digest(candidate: Candidate) -> str:
    """Names a change by where it is and what it parses to, whatever its layout and comments."""
    parts = [
        [
            *(edit.target.path, edit.target.qualname, edit.target.kind, edit.target.nth),
            *(normalise_source(edit.new_source), *sorted(edit.imports)),
        ]
        for edit in candidate.edits
    ]
    return hashlib.sha256(json.dumps(sorted(parts, key=str)).encode()).hexdigest()


def normalise_source(source: str) -> str:
    """The syntax tree as text; the stripped text where it does not parse."""
    lines = source.expandtabs().splitlines()
    margin = len(lines[0]) - len(lines[0].lstrip()) if lines else 0
    text = "\n".join(line[margin:] if not line[:margin].strip() else line for line in lines)
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return source.strip()


def load(path: Path | None) -> Memory:
    """The memory in a file; empty when there is none.

    Raises UsageError when it is no memory, or could not be written in its place later.
    """
    if path is None:
        return Memory()
    if not path.parent.is_dir():
        raise UsageError(f"--memory {path}: there is no folder {path.parent}; make it first")
    if not path.exists():
        return Memory()
    try:
        data = path.read_bytes()[: _MAX_BYTES + 1]
    except OSError as error:
        raise UsageError(f"--memory {path}: {error.strerror}; name another file") from error
    if len(data) > _MAX_BYTES:
        raise UsageError(f"{path} is larger than {_MAX_BYTES} bytes; delete it to start afresh")
    try:
        file = _File.model_validate_json(data)
    except ValidationError as error:
        raise UsageError(
            f"{path} is not a memory of heal-bot; delete it to start afresh"
        ) from error
    return Memory(tuple((t.digest, t.verdict) for t in file.tried), file.lessons, file.answers)


def save(path: Path, memory: Memory) -> None:
    """Write the file anew; UsageError when that fails."""
    try:
        path.write_text(dump(memory), encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--memory {path}: {error.strerror}; name another file") from error


def dump(memory: Memory) -> str:
    """The text of a memory file."""
    tried = [{"digest": digest, "verdict": verdict} for digest, verdict in memory.tried[-_KEPT:]]
    answers = list(memory.answers[-_ANSWERS:])
    return json.dumps(
        {"tried": tried, "lessons": list(memory.lessons), "answers": answers}, indent=1
    )


def load_record(record: MemoryRecord) -> Memory:
    """What a bundle remembers, as far as it holds in another run."""
    tried = tuple((one.digest, one.verdict) for one in record.tried if one.verdict in LASTING)
    return Memory(tried, record.lessons)


def join_memories(memory: Memory, other: Memory) -> Memory:
    """Both memories as one; what the second says of a change counts."""
    tried = tuple({**dict(memory.tried), **dict(other.tried)}.items())
    answers = (*memory.answers, *other.answers)
    return Memory(tried[-_KEPT:], other.lessons or memory.lessons, answers)


def extend_memory(memory: Memory, attempts: tuple[Attempt, ...]) -> Memory:
    """The memory with this run's attempts and lessons; the newest verdict of a change counts.

    What was not measured is left out, and what passed and lacked evidence: with one more test it
    may be the one to take.
    """
    tried = dict(memory.tried)
    for attempt in attempts:
        if attempt.candidate.edits and attempt.verdict.measured and not attempt.lacks:
            key = digest(attempt.candidate)
            tried.pop(key, None)
            tried[key] = attempt.verdict.status
    lessons = select_lasting(attempts, memory.lessons)
    return replace(memory, tried=tuple(tried.items())[-_KEPT:], lessons=lessons)
