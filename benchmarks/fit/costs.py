"""Fit what each family of candidates costs: a conditional logit over those of mined fixes."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.optimize import minimize

_FOLDS = 5
_FIRST = 300
# Strength of the pull of each family's offset to nothing, in fixes.
_RIDGE = 0.5


@dataclass(frozen=True, slots=True)
class Choices:
    """The candidates of one fix: family, cost, how many; the place of what is the fix."""

    project: str
    families: np.ndarray
    costs: np.ndarray
    counts: np.ndarray
    chosen: int


def read(rows: Sequence[dict[str, Any]]) -> tuple[list[Choices], list[str]]:
    """The fixes that one candidate equals, and the names of the families."""
    names = sorted({name for row in rows for name, _, _ in row["candidates"]})
    number = {name: at for at, name in enumerate(names)}
    found = []
    for row in rows:
        if not row["family"]:
            continue
        table = row["candidates"]
        chosen = next(
            at for at, (name, cost, _) in enumerate(table)
            if name == row["family"] and cost == row["cost"]
        )  # fmt: skip
        found.append(
            Choices(
                row["project"],
                np.array([number[name] for name, _, _ in table]),
                np.array([cost for _, cost, _ in table]),
                np.array([count for _, _, count in table], dtype=float),
                chosen,
            )
        )
    return found, names


def fit(choices: Sequence[Choices], families: int) -> np.ndarray:
    """The scale of the costs, then each family's offset, by maximum likelihood."""

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        total = 0.5 * _RIDGE * float(theta[1:] @ theta[1:])
        slope = np.concatenate([[0.0], _RIDGE * theta[1:]])
        for one in choices:
            score = -theta[0] * one.costs - theta[1 + one.families] + np.log(one.counts)
            top = score.max()
            weights = np.exp(score - top)
            share = weights / weights.sum()
            mine = -theta[0] * one.costs[one.chosen] - theta[1 + one.families[one.chosen]]
            total -= mine - top - np.log(weights.sum())
            slope[0] -= -one.costs[one.chosen] + share @ one.costs
            np.add.at(slope, 1 + one.families, -share)
            slope[1 + one.families[one.chosen]] += 1
        return total, slope

    start = np.concatenate([[1.0], np.zeros(families)])
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B").x)


def rank(one: Choices, theta: np.ndarray) -> float:
    """The expected place of the fix among its candidates, from 0, ties drawn."""
    cost = theta[0] * one.costs + theta[1 + one.families]
    mine = cost[one.chosen]
    return float(
        one.counts[cost < mine - 1e-9].sum() + (one.counts[abs(cost - mine) < 1e-9].sum() - 1) / 2
    )


def cross_validate(choices: Sequence[Choices], families: int) -> list[tuple[float, float]]:
    """For each fix its place as the engine is, and by what was fitted on other projects."""
    names = sorted({one.project for one in choices})
    random.Random(1).shuffle(names)
    fold = {name: at % _FOLDS for at, name in enumerate(names)}
    plain = np.concatenate([[1.0], np.zeros(families)])
    found = []
    for number in range(_FOLDS):
        theta = fit([one for one in choices if fold[one.project] != number], families)
        found += [
            (rank(one, plain), rank(one, theta)) for one in choices if fold[one.project] == number
        ]
    return found


def measure_order(rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Fixes that one of the first 300 candidates equals, priced as today and as fitted."""
    choices, names = read(rows)
    found = cross_validate(choices, len(names))
    return {
        "fixes": len(rows),
        "projects": len({row["project"] for row in rows}),
        "equalled": len(choices),
        "covered_300_today": sum(today < _FIRST for today, _ in found),
        "covered_300": sum(fitted < _FIRST for _, fitted in found),
        "families_that_equal_none": len(names) - len({row["family"] for row in rows} - {""}),
    }
