"""Fit what each family of candidates costs: a conditional logit over mined fixes and searches.

Each mined fix is a choice among the candidates of its function and "none of these", each search
that found the right patch a choice among what passed its tests. A family costs what its mean number
of candidates says, as if all families were right equally often, plus an offset that the choices
have to pay for (L2); what a tier adds is the same in all families.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.template_table import FAMILIES

Row = dict[str, Any]
_FOLDS = 5
_FIRST = 300
# Strength of the pull of each family's offset to nothing, in fixes.
_RIDGE = 0.5
# What a search counts for, in fixes: on projects left out 4 and 8 are no better.
_SEARCH = 2
_NAMES = tuple(family.name for family in FAMILIES)
# Of what is fitted what belongs to no family: the outside option, two steps.
_FREE = 3


@dataclass(frozen=True, slots=True)
class Choices:
    """The candidates of one choice: family, tier, how many; the places where one is right, if any.

    `rest` is what a candidate costs beside its family (tier, suspect, line), None where "none of
    these" was a choice too.
    """

    project: str
    families: np.ndarray
    tiers: np.ndarray
    counts: np.ndarray
    chosen: np.ndarray
    rest: np.ndarray | None = None


@dataclass(frozen=True, slots=True)
class Costs:
    """The cost of each family's usual changes, and what each tier adds."""

    families: np.ndarray
    steps: np.ndarray

    def of(self, one: Choices) -> np.ndarray:
        """The cost of each group of candidates of a choice."""
        rest = 0.0 if one.rest is None else one.rest
        return np.asarray(self.families[one.families] + self.steps[one.tiers] + rest)


def read(rows: Sequence[Row]) -> list[Choices]:
    """The fixes of functions that have candidates."""
    number = {name: at for at, name in enumerate(_NAMES)}
    found = []
    for row in rows:
        table = [entry for entry in row["candidates"] if entry[0] in number]
        if not table:
            continue
        equal = [at for at, entry in enumerate(table) if entry[:2] in row["equal"]]
        families, tiers, counts = zip(*table, strict=True)
        found.append(
            Choices(
                row["project"],
                np.array([number[name] for name in families]),
                np.array(tiers),
                np.array(counts, dtype=float),
                np.array(equal, dtype=int),
            )
        )
    return found


def read_searches(pools: Sequence[Row]) -> list[Choices]:
    """The searches after which a right patch and others passed, those of one edit."""
    number = {name: at for at, name in enumerate(_NAMES)}
    found = []
    for pool in pools:
        groups = [group for group in pool["groups"] if group["family"] in number]
        groups = [group for group in groups if group["right"] is not None]
        right = [at for at, group in enumerate(groups) if group["right"]]
        if len(right) == 1 and len(groups) > 1:
            found.append(
                Choices(
                    pool["project"],
                    np.array([number[group["family"]] for group in groups]),
                    np.zeros(len(groups), dtype=int),
                    np.ones(len(groups)),
                    np.array(right),
                    np.array([group["rest"] for group in groups]),
                )
            )
    return found


def fit(choices: Sequence[Choices]) -> Costs:
    """The costs under which the choices are likeliest, beside the pull to equal families."""
    mined = [one for one in choices if one.rest is None]
    sizes = np.zeros(len(_NAMES))
    for one in mined:
        np.add.at(sizes, one.families, one.counts)
    mean = np.log(np.maximum(sizes / len(mined), 1.0))
    # The outside option, two steps between tiers, then the offset of each family.
    start = np.concatenate([[0.0], np.ones(_FREE - 1), np.zeros(len(_NAMES))])
    bounds = [(None, None)] + [(0.0, None)] * (_FREE - 1) + [(None, None)] * len(_NAMES)
    loss = partial(_measure_loss, choices=choices, mean=mean)
    theta = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=bounds).x
    made = _make_costs(theta, mean)
    # The scale begins with the cheapest family that most functions have candidates of.
    return Costs(made.families - made.families[mean > 0].min(), made.steps)


def _make_costs(theta: np.ndarray, mean: np.ndarray) -> Costs:
    return Costs(mean + theta[_FREE:], np.array([0.0, theta[1], theta[1] + theta[2]]))


def _measure_loss(
    theta: np.ndarray, choices: Sequence[Choices], mean: np.ndarray
) -> tuple[float, np.ndarray]:
    """How unlikely the choices are, with the pull, and the slope of that."""
    offsets, costs = theta[_FREE:], _make_costs(theta, mean)
    total = 0.5 * _RIDGE * float(offsets @ offsets)
    slope = np.concatenate([np.zeros(_FREE), _RIDGE * offsets])
    for one in choices:
        cost = costs.of(one)
        outside = theta[0] if one.rest is None else -np.inf
        score = np.append(np.log(one.counts) - cost, outside)
        right = np.full(len(score), -np.inf)
        if len(one.chosen):
            right[one.chosen] = -cost[one.chosen]
        else:
            right[-1] = outside
        weight = 1 if one.rest is None else _SEARCH
        total += weight * float(logsumexp(score) - logsumexp(right))
        rise = weight * (softmax(right) - softmax(score))
        slope[0] -= rise[-1]
        slope[1] += rise[:-1][one.tiers >= Tier.SELDOM].sum()
        slope[2] += rise[:-1][one.tiers == Tier.RARE].sum()
        np.add.at(slope, _FREE + one.families, rise[:-1])
    return total, slope


def rank(one: Choices, costs: Costs) -> float:
    """The expected place of the first right candidate among all, from 0, ties drawn."""
    cost = costs.of(one)
    mine = cost[one.chosen].min()
    beside = one.counts[abs(cost - mine) < 1e-9].sum() - 1
    return float(one.counts[cost < mine - 1e-9].sum() + beside / 2)


def rank_unseen(choices: Sequence[Choices]) -> list[tuple[Choices, float]]:
    """Each choice with a right candidate and its place, by costs fitted on other projects."""
    names = sorted({one.project for one in choices})
    random.Random(1).shuffle(names)
    fold = {name: at % _FOLDS for at, name in enumerate(names)}
    found = []
    for number in range(_FOLDS):
        costs = fit([one for one in choices if fold[one.project] != number])
        found += [
            (one, rank(one, costs)) for one in choices
            if fold[one.project] == number and len(one.chosen)
        ]  # fmt: skip
    return found


def measure_order(rows: Sequence[Row], pools: Sequence[Row]) -> Row:
    """Where fixes are among the candidates, and right patches among what passes."""
    ranked = rank_unseen(_gather(rows, pools))
    places = [place for one, place in ranked if one.rest is None]
    passed = [place for one, place in ranked if one.rest is not None]
    first = sum(place < _FIRST for place in places)
    return {
        "fixes": len(rows),
        "projects": len({row["project"] for row in rows}),
        "equalled": len(places),
        "covered": first,
        "covered_300": round(first / len(rows), 4),
        "searches": len(passed),
        "searches_first": sum(place < 1 for place in passed),
        "families_that_equal_none": sorted(
            {*_NAMES} - {name for row in rows for name, _ in row["equal"]}
        ),
    }


def _gather(rows: Sequence[Row], pools: Sequence[Row]) -> list[Choices]:
    return [*read(rows), *read_searches(pools)]


def price(pools: Sequence[Row], made: Row) -> None:
    """Give the groups of pools the prior that they have with these costs."""
    families = made["families"]
    dearest = max(families.values())
    for pool in pools:
        for group in pool["groups"]:
            names = group["family"].split(" + ")
            group["prior"] = sum(families.get(name, dearest) for name in names) + group["rest"]


def describe(rows: Sequence[Row], pools: Sequence[Row], date: str) -> Row:
    """What ships: the fit on all fixes and searches, as data."""
    choices = _gather(rows, pools)
    mined = [one for one in choices if one.rest is None]
    costs = fit(choices)
    return {
        "provenance": {
            "date": date,
            "fixes": len(rows),
            "equalled": sum(len(one.chosen) > 0 for one in mined),
            "searches": len(read_searches(pools)),
            "projects": len({row["project"] for row in rows}),
        },
        "steps": [round(float(step), 3) for step in costs.steps],
        "families": {
            name: round(float(cost), 3)
            for name, cost in sorted(zip(_NAMES, costs.families, strict=True))
        },
    }
