"""What is remembered of a repository from run to run: digests, verdicts, names; no source text.

It lies in the repository, where whoever may push can write it: it is read against a closed schema
under caps. A forged one can at worst keep heal-bot silent, or have a change tried or left out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, ValidationError

from heal_bot.report.proposed_change import Closed, Digest, Name, ProposedChange, Sha

SCHEMA = 1
LIMIT = 256_000
DAYS = 30
_ENTRIES = 500
_SETTLED = 8
ANSWERS = 8

Day = Annotated[int, Field(ge=0, le=10**6)]
Number = Annotated[int, Field(ge=1, le=10**12)]
Verdict = Literal["regression", "rejected", "unconfirmed", "unchanged"]
Lesson = Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,40}(:[\w.<>]+)?$", max_length=241)]
# How a proposal ended: a person closed it, it was merged, we took it back, a person asked again.
Ending = Literal["refused", "merged", "withdrawn", "lifted"]


class Proposal(Closed):
    """A change and the pull request that proposes it."""

    pull: Number
    change: ProposedChange


class Settled(Closed):
    """A proposal that is closed: how that came, and which account did it."""

    proposal: Proposal
    how: Ending
    by: Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9\[\]_-]{0,60}$")] = ""


class Entry(Closed):
    """What is known of one set of failures on one branch.

    `question` has the digests of the answers A and B that decide, where its last run asked.
    """

    base: Name
    day: Day
    sha: Sha
    status: Annotated[str, StringConstraints(pattern=r"^[a-z_]{1,30}$")]
    tried: Annotated[dict[Verdict, tuple[Digest, ...]], Field(max_length=4)] = Field(
        default_factory=dict
    )
    lessons: Annotated[tuple[Lesson, ...], Field(max_length=5)] = ()
    question: Annotated[tuple[Digest, ...], Field(max_length=2)] = ()
    answers: Annotated[tuple[Digest, ...], Field(max_length=ANSWERS)] = ()
    proposal: Proposal | None = None
    settled: Annotated[tuple[Settled, ...], Field(max_length=_SETTLED)] = ()

    @property
    def verdicts(self) -> tuple[tuple[str, str], ...]:
        """The changes that were tried, each with its verdict."""
        return tuple((digest, name) for name, listed in self.tried.items() for digest in listed)

    def add_settled(self, found: Settled) -> Entry:
        """The same with one more ending, the newest last."""
        kept = [one for one in self.settled if one.proposal.pull != found.proposal.pull]
        return self.model_copy(update={"settled": (*kept, found)[-_SETTLED:]})


class State(Closed):
    """All that is remembered: entries by fingerprint, and what days cost in dollars."""

    schema_version: Annotated[Literal[1], Field(alias="schema")] = 1
    entries: Annotated[
        dict[Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{12}$")], Entry],
        Field(max_length=_ENTRIES),
    ] = Field(default_factory=dict)
    spent: Annotated[
        dict[Annotated[str, StringConstraints(pattern=r"^[0-9]{1,6}$")],
             Annotated[float, Field(ge=0, le=1e9, allow_inf_nan=False)]],
        Field(max_length=_ENTRIES),
    ] = Field(default_factory=dict)  # fmt: skip

    def of_base(self, base: str) -> dict[str, Entry]:
        """The entries of one branch, the newest first."""
        found = [(key, entry) for key, entry in self.entries.items() if entry.base == base]
        return dict(sorted(found, key=lambda item: -item[1].day))

    def list_settled(self) -> tuple[Settled, ...]:
        """All endings that are known, whatever the branch."""
        return tuple(one for entry in self.entries.values() for one in entry.settled)

    def knows(self, pull: int) -> bool:
        """Whether a pull request is among the proposals, open or ended."""
        opened = (entry.proposal for entry in self.entries.values())
        ended = (one.proposal for one in self.list_settled())
        return any(one is not None and one.pull == pull for one in (*opened, *ended))

    def spent_on(self, day: int) -> float:
        """What the runs of a day cost in dollars."""
        return self.spent.get(str(day), 0.0)

    def with_entries(self, changed: Mapping[str, Entry]) -> State:
        """The same with these entries in place of those of their fingerprints."""
        return self.model_copy(update={"entries": {**self.entries, **changed}})


def parse(text: str) -> State | None:
    """The state in a text; None for whatever was not written like this."""
    if len(text) > LIMIT:
        return None
    try:
        state = State.model_validate_json(text)
    except ValidationError:
        return None
    return state if "schema_version" in state.model_fields_set else None


def drop_old(state: State, today: int) -> State:
    """The state without what is older than 30 days."""
    entries = {key: one for key, one in state.entries.items() if today - one.day <= DAYS}
    spent = {day: usd for day, usd in state.spent.items() if 0 <= today - int(day) <= DAYS}
    return state.model_copy(update={"entries": entries, "spent": spent})


def dump(state: State, today: int) -> str:
    """The text of a state without what is old, and within the limit.

    Where it is too long the oldest entries first lose what was tried, then go whole: what people
    refused is kept longest.
    """
    state = drop_old(state, today)
    newest = sorted(state.entries.items(), key=lambda item: (-item[1].day, item[0]))
    kept = dict(newest[:_ENTRIES])
    while len(text := _written(kept, state.spent)) > LIMIT:
        full = [key for key, entry in kept.items() if entry.tried or entry.lessons]
        if full:
            kept[full[-1]] = kept[full[-1]].model_copy(update={"tried": {}, "lessons": ()})
        else:
            kept.popitem()
    return text


def _written(entries: Mapping[str, Entry], spent: Mapping[str, float]) -> str:
    """As JSON with a line per entry, for people and for git."""
    import json

    said = State(entries=dict(entries), spent=dict(spent)).model_dump(
        mode="json", by_alias=True, exclude_defaults=True
    )
    lines = [
        f"{json.dumps(key)}: {json.dumps(said.get('entries', {})[key], separators=(',', ':'))}"
        for key in sorted(entries)
    ]
    inner = ",\n".join(lines)
    days = json.dumps(said.get("spent", {}), sort_keys=True)
    return f'{{"schema": {SCHEMA}, "spent": {days}, "entries": {{\n{inner}\n}}}}\n'
