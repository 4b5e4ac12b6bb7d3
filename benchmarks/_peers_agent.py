"""mini-swe-agent and heal-bot with the same live model on the street's cases."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from functools import partial
from math import inf
from pathlib import Path
from typing import Any

from benchmarks import street
from benchmarks.street import agent, figures, recipes
from benchmarks.street.agent import Agent, EndpointError
from benchmarks.street.figures import Row
from benchmarks.street.recipes import Part
from benchmarks.street.results import Results

PARTS: tuple[Part, ...] = ("fixes", "regressions")
MINUTES = 20


def compare(
    data: Path, url: str, parts: Sequence[Part], *, only: str, limit: int | None,
    minutes: int, against: str, quiet: bool,
) -> int:  # fmt: skip
    """Run the agent on the cases that have no row yet; the last line is one JSON object."""
    version = agent.NAME if minutes == MINUTES else f"{agent.NAME}-{minutes}-minutes"
    results = Results(data / "results", version)
    player = Agent(agent.installed(data), url, minutes)
    cases = street.chosen(parts, only, limit, partial(_cases, data, player, version))
    code = 0
    try:
        street.fill(results, cases, inf, quiet=quiet)
    except EndpointError as error:
        print(f"the model's endpoint failed: {error}; a later call goes on", file=sys.stderr)
        code = 1
    rows = results.rows([name for name, _ in cases])
    other = Results(data / "results", against).rows([row.id for row in rows]) if against else None
    told = summary(rows, other, parts)
    print(json.dumps({
        "benchmark": "peers", "agent": version, "against": against, **told,
        "complete": len(rows) == len(cases),
    }))  # fmt: skip
    return code


def _cases(data: Path, player: Agent, version: str, part: Part) -> Iterator[street.Case]:
    for recipe in recipes.load("fixes" if part == "fixes" else "regressions"):
        yield recipe.id, partial(agent.run, recipe, data, player, version)


def summary(
    rows: Sequence[Row], other: Sequence[Row] | None, parts: Sequence[Part]
) -> dict[str, Any]:
    """The figures of each part and half, side by side where there are other rows."""
    return {
        part: {
            half: _half([r for r in rows if (r.part, r.split) == (part, half)], other)
            for half in ("held", "tune")
        }
        for part in parts
    }


def _half(rows: Sequence[Row], other: Sequence[Row] | None) -> dict[str, Any]:
    told = {"agent": figures.offers(rows)}
    if other is None:
        return told
    theirs = {row.id: row for row in other if row.counts}
    both = [row for row in rows if row.counts and row.id in theirs]
    side = {
        "agent": figures.offers(both),
        "heal_bot": figures.offers([theirs[row.id] for row in both]),
    }
    return {**told, "side_by_side": side}
