"""A diagnosis where a model is stuck: what it asks to look at, and what the sandbox showed."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from heal_bot.errors import HealBotError
from heal_bot.events import Run
from heal_bot.ports import Brief, Lab
from heal_bot.repair.llm.values import watching
from heal_bot.source import functions, guard
from heal_bot.text import clip, one_line

_LOOKS = 4
_CODE = 4_000
_SHOWN = 3_000
Text = Annotated[str, Field(max_length=_CODE)]


class Look(BaseModel):
    """One thing to look at; which fields count depends on the tool."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    tool: Literal["run", "show", "values", "compare"]
    code: Text = ""
    path: Text = ""
    name: Text = ""
    test: Text = ""
    line: Annotated[int, Field(ge=0, le=1_000_000)] = 0
    attempts: tuple[int, ...] = ()


class Diagnosis(BaseModel):
    """What a model takes for the cause, and what would make it surer."""

    model_config = ConfigDict(extra="ignore", frozen=True)
    cause: Text
    confidence: Annotated[float, Field(ge=0, le=1)]
    suspects: tuple[int, ...] = ()
    looks: tuple[Look, ...] = ()


def findings(run: Run, diagnosis: Diagnosis, brief: Brief) -> tuple[str, ...]:
    """The diagnosis and what each of its looks showed, as text for the next prompt."""
    said = f"diagnosis (confidence {diagnosis.confidence:.1f}): {one_line(diagnosis.cause, 800)}"
    seen = [_seen(look, brief) for look in diagnosis.looks[:_LOOKS] if not run.over()]
    return (said, *seen)


def _seen(look: Look, brief: Brief) -> str:
    if look.tool == "show":
        return f"{look.path}::{look.name}\n{clip(_source(look, brief), _SHOWN)}"
    if look.tool == "compare":
        return f"attempts {look.attempts}\n{clip(_difference(look.attempts, brief), _SHOWN)}"
    if brief.lab is None:
        return f"{look.tool}: there is no sandbox to run anything in"
    if look.tool == "run":
        return f"{look.code}\nprinted:\n{_ran(look.code, brief, brief.lab)}"
    known = [failure.test for failure in brief.cluster.failures]
    test = look.test if look.test in known else known[0]
    code = watching(look.path, look.line, test)
    return f"values at {look.path}:{look.line} in {test}\n{_ran(code, brief, brief.lab)}"


def _ran(code: str, brief: Brief, lab: Lab) -> str:
    try:
        seen = lab.snippet(code, brief.base)
    except HealBotError as error:
        return f"(could not be run: {error})"
    end = "" if (seen.how, seen.code) == ("exited", 0) else f"\n({seen.how}, code {seen.code})"
    return clip(seen.output.strip(), _SHOWN) + end or "nothing"


def _source(look: Look, brief: Brief) -> str:
    try:
        targets = functions.index(look.path, guard.check(brief.tree.read(look.path)))
    except (KeyError, guard.SourceRejected):
        return "no such file in the project"
    found = functions.find(targets, look.name.replace("::", "."))
    return found.source if found else "no such function in the file"


def _difference(numbers: Sequence[int], brief: Brief) -> str:
    diffs = {attempt.number: attempt.diff for attempt in brief.attempts}
    if len(numbers) != 2 or not all(number in diffs for number in numbers):
        return "two numbers of attempts are needed"
    one, other = (diffs[number].splitlines() for number in numbers)
    return "\n".join(difflib.unified_diff(one, other, lineterm="", n=1))
