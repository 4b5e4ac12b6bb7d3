"""How likely a patch that passes the failing tests is to be right: fitted weights, read as data.

`patch_probability.json` is made by `python -m benchmarks fit` from labelled patches and the rows of
the street, and says from which projects. Nothing in it is set by hand.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources

from pydantic import BaseModel, ConfigDict

from heal_bot.core.model import Confidence
from heal_bot.core.statuses import LIKELY, ConfidenceLevel

# Beyond it the logistic function is 0 or 1 to the last digit.
_LOGIT = 36.0


def measure_features(
    tests: int, priors: Sequence[float], at: int, *, strong: bool
) -> dict[str, float]:
    """What is known of one group of patches among those that pass as many failing `tests`.

    `priors` has the cost of the cheapest member of each group, `at` is the place of this one in
    it, and `strong` says that its evidence lacks nothing.
    """
    weights = [math.exp(min(priors) - prior) for prior in priors]
    return {
        "tests": math.log1p(tests),
        "prior": priors[at],
        "share": weights[at] / sum(weights),
        "rivals": math.log1p(len(priors) - 1),
        "strong": float(strong),
    }


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Weight(_Data):
    """A feature: its mean and scale where it was fitted, and what one scale more adds."""

    mean: float
    scale: float
    weight: float


class Band(_Data):
    """Patches of projects that were not fitted on, rated at least so: how many, how many right."""

    above: float
    patches: int
    right: int


class Provenance(_Data):
    """What it was fitted on."""

    date: str
    patches: int
    pools: int
    projects: tuple[str, ...]


class Reversals(_Data):
    """Regressions of held projects that an engine repaired from history: how many, how many right.

    Counted by `python -m benchmarks street --part regressions`.
    """

    engine: str
    patches: int
    right: int


class PatchModel(_Data):
    """A logistic regression, and how often its ratings and repairs from history held."""

    intercept: float
    weights: dict[str, Weight]
    bands: tuple[Band, ...]
    reversals: Reversals
    provenance: Provenance

    def compute_probability(self, features: Mapping[str, float]) -> float:
        """The probability that a patch with these features is right, between 0 and 1."""
        score = self.intercept + sum(
            one.weight * (features[name] - one.mean) / one.scale
            for name, one in self.weights.items()
        )
        return 1 / (1 + math.exp(-max(-_LOGIT, min(_LOGIT, score))))

    def rate(self, features: Mapping[str, float], least: float) -> Confidence:
        """The confidence in words, `high` from the probability `least` on, and its ground."""
        p = round(self.compute_probability(features), 3)
        band = next((band for band in self.bands if p >= band.above), self.bands[-1])
        ground = (
            f"of {band.patches} patches with evidence like this, in other projects, "
            f"{band.right} were right"
        )
        level = ConfidenceLevel.LOW
        if p >= LIKELY:
            level = ConfidenceLevel.HIGH if p >= least else ConfidenceLevel.MEDIUM
        return Confidence(level, p, ground)

    def rate_reversal(self) -> Confidence:
        """The confidence in what puts back code of a commit, never `high`: it may be meant."""
        known = self.reversals
        # Of few, all of which were right, the next may be wrong: Laplace's rule of succession.
        p = (known.right + 1) / (known.patches + 2)
        ground = (
            f"of {known.patches} regressions of other projects that were repaired from history, "
            f"{known.right} were repaired rightly"
        )
        return Confidence(ConfidenceLevel.MEDIUM, round(p, 3), ground)


@lru_cache(maxsize=1)
def load_model() -> PatchModel:
    """The weights that ship."""
    text = resources.files(__package__).joinpath("patch_probability.json").read_text("utf-8")
    return PatchModel.model_validate_json(text)
