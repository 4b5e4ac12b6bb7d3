"""Fit how likely a patch that passes is to be right, and measure it on projects it has not seen."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from benchmarks.fit.features import with_rivals

# What the ablation left, each worth its place: see README.md.
FEATURES = (
    "tests", "inputs", "uncallable", "spoiled", "any_spoiled", "varied_other", "rivals", "share",
    "behind", "members", "prior", "removed", "added", "only_constants", "only_added", "fitted",
    "copied", "crash", "passing", "rank", "contradicted", "lost_names",
)  # fmt: skip
_FOLDS = 10
_STRENGTH = 0.3
_BINS = 10


@dataclass(frozen=True, slots=True)
class Sample:
    """The groups of patches of some pools: features, whether right, and the project of each."""

    x: np.ndarray
    y: np.ndarray
    projects: np.ndarray
    weights: np.ndarray
    tests: np.ndarray
    tops: np.ndarray
    origins: np.ndarray


def gather(pools: Sequence[dict[str, Any]], features: Sequence[str] = FEATURES) -> Sample:
    """Each labelled group of each pool; of half the pools once more, without what is right.

    In most searches for a real bug the right patch is not among the candidates.
    """
    rows: list[tuple[dict[str, float], bool, str, float, bool, str]] = []
    for pool in pools:
        groups = pool["groups"]
        wrong = [group for group in groups if not group["right"]]
        versions = [groups]
        if len(wrong) < len(groups) and wrong and _is_chosen(pool):
            versions.append(wrong)
        for version in versions:
            measured = with_rivals([_numbers(group) for group in version])
            share = 1.0 / len(versions)
            known = [
                (row, bool(group["right"]), pool["project"], share, at, pool["origin"])
                for at, (row, group) in enumerate(zip(measured, version, strict=True))
                if group["right"] is not None
            ]
            rows += known
    x = np.array([[row[name] for name in features] for row, *_ in rows])
    columns = list(zip(*rows, strict=True))
    return Sample(
        x, np.array(columns[1], dtype=float), np.array(columns[2]), np.array(columns[3]),
        np.array([row["tests"] for row in columns[0]]), np.array(columns[4]), np.array(columns[5]),
    )  # fmt: skip


def _numbers(group: dict[str, Any]) -> dict[str, float]:
    return {k: v for k, v in group.items() if isinstance(v, int | float) and k != "right"}


def _is_chosen(pool: dict[str, Any]) -> bool:
    name = f"{pool['project']} {pool['case']}".encode()
    return hashlib.sha256(name).digest()[0] % 2 == 0


@dataclass(frozen=True, slots=True)
class Fitted:
    """A logistic regression on standardized features, then a monotone calibration."""

    scaler: StandardScaler
    logistic: LogisticRegression
    isotonic: IsotonicRegression

    def predict(self, x: np.ndarray) -> np.ndarray:
        raw = self.logistic.predict_proba(self.scaler.transform(x))[:, 1]
        return np.asarray(self.isotonic.predict(raw))


def fit(sample: Sample) -> Fitted:
    """Fitted on all of a sample; the calibration on folds of projects left out in turn."""
    scaler, logistic = _regress(sample.x, sample.y, sample.weights)
    raw = np.zeros(len(sample.y))
    for inside, outside in folds(sample.projects):
        part_scaler, part = _regress(sample.x[inside], sample.y[inside], sample.weights[inside])
        raw[outside] = part.predict_proba(part_scaler.transform(sample.x[outside]))[:, 1]
    isotonic = IsotonicRegression(y_min=0.01, y_max=0.99, out_of_bounds="clip")
    isotonic.fit(raw, sample.y, sample_weight=sample.weights)
    return Fitted(scaler, logistic, isotonic)


def _regress(
    x: np.ndarray, y: np.ndarray, weights: np.ndarray
) -> tuple[StandardScaler, LogisticRegression]:
    scaler = StandardScaler().fit(x)
    logistic = LogisticRegression(C=_STRENGTH, max_iter=2_000)
    logistic.fit(scaler.transform(x), y, sample_weight=weights)
    return scaler, logistic


def folds(projects: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
    """Projects dealt to folds by a seed: the places inside and outside of each."""
    names = sorted(set(projects))
    random.Random(1).shuffle(names)
    fold = {name: at % _FOLDS for at, name in enumerate(names)}
    numbers = np.array([fold[name] for name in projects])
    found = [(np.where(numbers != n)[0], np.where(numbers == n)[0]) for n in range(_FOLDS)]
    return [(inside, outside) for inside, outside in found if len(outside)]


def predict_unseen(sample: Sample) -> np.ndarray:
    """The probability of each group by what was fitted and calibrated on other projects."""
    told = np.zeros(len(sample.y))
    for inside, outside in folds(sample.projects):
        part = Sample(*(getattr(sample, name)[inside] for name in Sample.__slots__))
        told[outside] = fit(part).predict(sample.x[outside])
    return told


def score(sample: Sample, told: np.ndarray) -> dict[str, float]:
    """Brier skill over two baselines, and the expected calibration error in ten bins."""
    y, w = sample.y, sample.weights
    base = np.zeros(len(y))
    alone = np.zeros(len(y))
    for inside, outside in folds(sample.projects):
        base[outside] = np.average(y[inside], weights=w[inside])
        one = LogisticRegression().fit(
            sample.tests[inside, None], y[inside], sample_weight=w[inside]
        )
        alone[outside] = one.predict_proba(sample.tests[outside, None])[:, 1]

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
