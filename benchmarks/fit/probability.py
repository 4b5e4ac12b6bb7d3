"""Fit how likely a patch that passes is to be right, and measure it on projects it has not seen."""

from __future__ import annotations

import hashlib
import math
import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from benchmarks.fit.features import Row, is_strong
from benchmarks.street.figures import Row as StreetRow
from benchmarks.street.results import FOLDER
from heal_bot.core.statuses import LIKELY, SURE
from heal_bot.repair.ranking.patch_probability import load_model, measure_features

FEATURES = ("tests", "prior", "share", "rivals", "strong")
# Patches of real fixes weigh together this part of all: they are what is met outside.
_REAL = 0.2
_FOLDS = 10
_STRENGTH = 0.3
_BINS = 10
# The newest engine whose regressions of the street were run as a whole.
_STREET = "aa8bc3dbbd"
# From which ratings on it is told how often patches that were rated so were right.
BANDS = (SURE, LIKELY, 0.5, 0.25, 0.0)


@dataclass(frozen=True, slots=True)
class Sample:
    """The groups of patches of some pools: features, whether right, and the project of each."""

    x: np.ndarray
    y: np.ndarray
    projects: np.ndarray
    weights: np.ndarray
    tests: np.ndarray
    real: np.ndarray
    whole: np.ndarray


def gather(pools: Sequence[Row]) -> Sample:
    """Each labelled group of each pool; of half the pools once more, without what is right.

    In most searches for a real bug the right patch is not among the candidates.
    """
    rows: list[tuple[dict[str, float], bool, str, float, str, bool]] = []
    for pool in pools:
        groups = pool["groups"]
        wrong = [group for group in groups if not group["right"]]
        versions = [groups]
        if len(wrong) < len(groups) and wrong and _is_chosen(pool):
            versions.append(wrong)
        for version in versions:
            measured = _measure(version, pool)
            rows += [
                (
                    row, bool(group["right"]), pool["project"], 1 / len(versions), pool["origin"],
                    version is groups,
                )
                for row, group in zip(measured, version, strict=True)
                if group["right"] is not None
            ]  # fmt: skip
    columns = list(zip(*rows, strict=True))
    weights, real = np.array(columns[3]), np.array(columns[4]) == "fix"
    if real.any():
        share = weights[real].sum() / weights.sum()
        weights = np.where(real, weights * _REAL / share, weights * (1 - _REAL) / (1 - share))
    return Sample(
        np.array([[row[name] for name in FEATURES] for row in columns[0]]),
        np.array(columns[1], dtype=float), np.array(columns[2]), weights,
        np.array([row["tests"] for row in columns[0]]), real, np.array(columns[5]),
    )  # fmt: skip


def _measure(groups: Sequence[Row], pool: Row) -> list[dict[str, float]]:
    """The features of groups of a pool, as they are when these are all."""
    priors = [group["prior"] for group in groups]
    return [
        measure_features(
            round(math.expm1(group["tests"])), priors, at, strong=is_strong(group, groups, pool)
        )
        for at, group in enumerate(groups)
    ]


def _is_chosen(pool: Row) -> bool:
    name = f"{pool['project']} {pool['case']}".encode()
    return hashlib.sha256(name).digest()[0] % 2 == 0


@dataclass(frozen=True, slots=True)
class Fitted:
    """A logistic regression on standardized features."""

    scaler: StandardScaler
    logistic: LogisticRegression

    def predict(self, x: np.ndarray) -> np.ndarray:
        return np.asarray(self.logistic.predict_proba(self.scaler.transform(x))[:, 1])


def fit(sample: Sample) -> Fitted:
    """Fitted on all of a sample."""
    scaler = StandardScaler().fit(sample.x)
    logistic = LogisticRegression(C=_STRENGTH, max_iter=2_000)
    logistic.fit(scaler.transform(sample.x), sample.y, sample_weight=sample.weights)
    return Fitted(scaler, logistic)


def folds(projects: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Projects dealt to folds by a seed: the places inside and outside of each."""
    names = sorted(set(projects))
    random.Random(1).shuffle(names)
    fold = {name: at % _FOLDS for at, name in enumerate(names)}
    numbers = np.array([fold[name] for name in projects])
    found = [(np.where(numbers != n)[0], np.where(numbers == n)[0]) for n in range(_FOLDS)]
    return [(inside, outside) for inside, outside in found if len(outside)]


def predict_unseen(sample: Sample) -> np.ndarray:
    """The probability of each group by what was fitted on other projects."""
    told = np.zeros(len(sample.y))
    for inside, outside in folds(sample.projects):
        part = Sample(*(getattr(sample, name)[inside] for name in Sample.__slots__))
        told[outside] = fit(part).predict(sample.x[outside])
    return told


def predict_shipped(sample: Sample) -> np.ndarray:
    """The probability of each group by what ships."""
    model = load_model()
    rows = (dict(zip(FEATURES, row, strict=True)) for row in sample.x)
    return np.array([model.compute_probability(row) for row in rows])


def score(sample: Sample, told: np.ndarray) -> dict[str, float]:
    """Brier skill over two baselines, and the expected calibration error in ten bins."""
    base, alone = np.zeros(len(sample.y)), np.zeros(len(sample.y))
    for inside, outside in folds(sample.projects):
        part = Sample(*(getattr(sample, name)[inside] for name in Sample.__slots__))
        base[outside], alone[outside] = _predict_plainly(part, sample.tests[outside])
    return _score(sample, told, base, alone)


def score_elsewhere(fitted: Sample, sample: Sample, told: np.ndarray) -> dict[str, float]:
    """The same where the baselines come from another sample, as what is told does."""
    return _score(sample, told, *_predict_plainly(fitted, sample.tests))


def _predict_plainly(fitted: Sample, tests: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """By the share that is right in a sample, and by the number of failing tests alone."""
    y, w = fitted.y, fitted.weights
    one = LogisticRegression().fit(fitted.tests[:, None], y, sample_weight=w)
    base = np.full(len(tests), np.average(y, weights=w))
    return base, one.predict_proba(tests[:, None])[:, 1]


def _score(
    sample: Sample, told: np.ndarray, base: np.ndarray, alone: np.ndarray
) -> dict[str, float]:
    y, w = sample.y, sample.weights

    def brier(p: np.ndarray) -> float:
        return float(np.average((p - y) ** 2, weights=w))

    return {
        "brier": round(brier(told), 4),
        "skill_over_rate": round(1 - brier(told) / brier(base), 3),
        "skill_over_tests": round(1 - brier(told) / brier(alone), 3),
        "ece": round(calibration_error(told, y, w), 4),
    }


def calibration_error(told: np.ndarray, y: np.ndarray, w: np.ndarray) -> float:
    """The mean difference of what is told and what is so, over ten equal bins."""
    bins = np.minimum((told * _BINS).astype(int), _BINS - 1)
    total = 0.0
    for number in range(_BINS):
        chosen = bins == number
        if chosen.any():
            gap = np.average(told[chosen], weights=w[chosen]) - np.average(
                y[chosen], weights=w[chosen]
            )
            total += w[chosen].sum() * abs(gap)
    return float(total / w.sum())


def describe(pools: Sequence[Row], sample: Sample, told: np.ndarray, date: str) -> Row:
    """What ships: the fit on everything, as data, and how often its ratings held elsewhere."""
    fitted = fit(sample)
    edges = zip(BANDS, (np.inf, *BANDS), strict=False)
    bands = [(low, sample.whole & (told >= low) & (told < high)) for low, high in edges]
    numbers = zip(
        FEATURES, fitted.scaler.mean_, fitted.scaler.scale_, fitted.logistic.coef_[0], strict=True
    )
    return {
        "provenance": {
            "date": date,
            "patches": int(sample.whole.sum()),
            "pools": len(pools),
            "projects": sorted(set(sample.projects)),
        },
        "reversals": _count_reversals(),
        "intercept": round(float(fitted.logistic.intercept_[0]), 4),
        "weights": {
            name: {"mean": _round(mean), "scale": _round(scale), "weight": _round(weight)}
            for name, mean, scale, weight in numbers
        },
        "bands": [
            {"above": low, "patches": int(chosen.sum()), "right": int(sample.y[chosen].sum())}
            for low, chosen in bands
        ],
    }


def _count_reversals() -> dict[str, int | str]:
    """How many repairs of regressions of held projects were right, of those that were judged."""
    lines = (FOLDER / f"{_STREET}.jsonl").read_text(encoding="utf-8").splitlines()
    rows = (StreetRow.model_validate_json(line) for line in lines)
    judged = [
        row.judgement
        for row in rows
        if (row.part, row.split, row.offered) == ("regressions", "held", "healed")
        and row.judgement != "unknown"
    ]
    return {"engine": _STREET, "patches": len(judged), "right": judged.count("right")}


def _round(number: float) -> float:
    return round(float(number), 4)
