"""What the models of the loop benchmark answer, and how each repair must end."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from benchmarks._cases import read_cases
from heal_bot.core.events import Event
from heal_bot.repair.search.attempt_log import AttemptLog
from tests.llm_clients.server import Answer, Scripted, says

PATH = "shop/money.py"
_TABLE = read_cases("loop")
FILES: dict[str, str] = _TABLE["files"]
_TOTAL = (
    f"```python\n# {PATH}::Cart.total\ndef total(self):\n"
    '    """The sum in cents."""\n    return round_cents(sum(self.prices))\n```\n'
)


@dataclass(frozen=True, slots=True)
class Scenario:
    """What the models answer in order, and the verdicts of the attempts that must follow.

    `prompts` are what a request by its number has to hold, `absent` what it must not; `untrusted`
    is where tags say that it is data, `notes` and `events` are what is told besides.
    """

    name: str
    answers: tuple[Answer, ...]
    statuses: tuple[str, ...]
    requests: int
    tests: str = "test_round"
    chain: tuple[str, ...] = ("claude",)
    calls: int = 60
    timeout: float = 60.0
    lab: bool = False
    candidates: int = 1
    prompts: Mapping[int, list[str]] = field(default_factory=dict)
    absent: Mapping[int, str] = field(default_factory=dict)
    events: tuple[str, ...] = ()
    notes: Mapping[int, str] = field(default_factory=dict)
    untrusted: str = ""

    def holds(self, play: Play) -> bool:
        """Whether prompts, events and notes are as they should be."""
        return (
            all(part in play.prompt(n) for n, parts in self.prompts.items() for part in parts)
            and not any(part in play.prompt(n) for n, part in self.absent.items())
            and set(self.events) <= {event.kind for event in play.events}
            and all(part in play.notes[n] for n, part in self.notes.items())
            and (not self.untrusted or play.is_fenced(self.untrusted))
        )


@dataclass(slots=True)
class Play:
    """One scenario while it is played, and what it left."""

    ledger: AttemptLog
    server: Scripted
    events: list[Event] = field(default_factory=list)
    notes: tuple[str, ...] = ()
    judged: list[float] = field(default_factory=list)

    def prompt(self, number: int) -> str:
        """The body of a request as text."""
        return self.server.bodies[number].decode()

    def is_fenced(self, words: str) -> bool:
        """Whether the second request has the words, and only where tags say that it is data."""
        body = json.loads(self.server.bodies[1])
        asked = [turn for turn in body["messages"] if turn["role"] == "user"]
        blocks = [block["text"] for turn in asked for block in turn["content"]]
        tag = blocks[0].partition("<untrusted-")[2].partition(">")[0]
        outside = "".join(
            part.partition(f"</untrusted-{tag}>")[2] if number else part
            for block in blocks
            for number, part in enumerate(block.split(f"<untrusted-{tag}>"))
        )
        return words in self.prompt(1) and words not in outside


def make_answer(
    addend: str = "", docstring: str = "Round to cents; halves go up.", *, text: str = "",
    times: int = 1, total: bool = False, model: str = "claude", end: str | None = "end_turn",
    **how: float | bool,
) -> Answer:  # fmt: skip
    """What a model says: round_cents with this addend, or a text; and how it is sent."""
    if addend:
        text = (
            "The floor drops what should round up.\n"
            f"```python\n# {PATH}::round_cents\ndef round_cents(value):\n"
            f'    """{docstring}"""\n'
            f"    return math.floor(value * 100 + {addend}) / 100  # cents\n```\n"
        )
    said = text * times + (_TOTAL if total else "")
    ending = [end] if model == "claude" else []
    return says(model, said, *ending, **how)


def _scenario(row: Mapping[str, Any]) -> Scenario:
    answers = tuple(make_answer(**answer) for answer in row["answers"])
    return Scenario(**{**row, "answers": answers, "statuses": tuple(row["statuses"])})


SCENARIOS = tuple(map(_scenario, _TABLE["scenarios"]))
