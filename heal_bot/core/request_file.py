"""A heal request as a file: what `action` hands to the process that heals, data only."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from heal_bot.core.errors import UsageError
from heal_bot.core.model import HealRequest, Trust
from heal_bot.core.text import describe_fault

_MAX_BYTES = 1 << 20
_Line = Annotated[str, StringConstraints(max_length=1_000)]
_Lines = Annotated[tuple[_Line, ...], Field(max_length=10_000)]
_Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}([0-9a-f]{24})?$")]
_Text = Annotated[str, StringConstraints(max_length=100_000)]


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")
    repo: _Line
    base_sha: _Sha
    base_ref: _Line = ""
    tested_sha: _Sha | Annotated[str, StringConstraints(max_length=0)] = ""
    head_repo: _Line = ""
    trigger: _Line = "command"
    actor: _Line = ""
    trust: Trust
    reports: _Lines = ()
    run_id: Annotated[int, Field(ge=0)] | None = None
    pull_number: Annotated[int, Field(ge=1)] | None = None
    reply_to: Annotated[int, Field(ge=1)] | None = None
    thread: Annotated[int, Field(ge=1)] | None = None
    verb: _Line = "heal"
    choice: _Line = ""
    only: _Lines = ()
    targets: _Lines = ()
    instruction: _Text = ""
    error_log: _Text = ""
    callback: _Line = ""
    paths: _Lines = ()
    verify_command: _Line = ""
    test_command: _Line = ""
    job: _Line = ""
    python: _Line = ""
    good: _Sha | Annotated[str, StringConstraints(max_length=0)] = ""
    green: Annotated[float, Field(ge=0, lt=1e11)] = 0.0


def dump(request: HealRequest) -> str:
    """The text of a request file."""
    return json.dumps(asdict(request), indent=1)


def load(path: Path) -> HealRequest:
    """The request in a file. Raises UsageError when it is none."""
    try:
        data = path.read_bytes()[:_MAX_BYTES]
        parsed = _Request.model_validate_json(data)
    except OSError as error:
        raise UsageError(f"cannot read the request {path}: {error.strerror}") from error
    except ValidationError as error:
        raise UsageError(f"{path} is not a heal request: {describe_fault(error)}") from error
    return HealRequest(**parsed.model_dump())
