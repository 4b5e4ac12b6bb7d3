from __future__ import annotations

import pytest
from pydantic import ValidationError

from heal_bot.core.model import Confidence
from heal_bot.core.statuses import ConfidenceLevel
from heal_bot.repair.ranking.patch_probability import (
    Band,
    PatchModel,
    Provenance,
    Reversals,
    Weight,
    load_model,
    measure_features,
)

MODEL = PatchModel(
    intercept=0.0,
    weights={"tests": Weight(mean=1.0, scale=2.0, weight=3.0)},
    bands=(
        Band(above=0.9, patches=50, right=47),
        Band(above=0.5, patches=20, right=14),
        Band(above=0.0, patches=30, right=3),
    ),
    reversals=Reversals(engine="abc", patches=40, right=39),
    provenance=Provenance(date="2026-01-01", patches=100, pools=40, projects=("a/b",)),
)


@pytest.mark.parametrize(
    ("tests", "p"),
    [(1.0, 0.5), (-1.0, 0.047), (3.0, 0.953), (1e9, 1.0)],
    ids=["the mean", "a scale less", "a scale more", "far beyond"],
)
def test_a_probability_is_the_logistic_of_what_the_features_add(tests: float, p: float) -> None:
    assert MODEL.compute_probability({"tests": tests}) == pytest.approx(p, abs=1e-3)


@pytest.mark.parametrize(
    ("tests", "least", "level", "ground"),
    [
        (99.0, 0.9, ConfidenceLevel.HIGH, "of 50 patches with evidence like this"),
        (2.6, 0.96, ConfidenceLevel.MEDIUM, "47 were right"),
        (1.0, 0.9, ConfidenceLevel.LOW, "14 were right"),
        (-99.0, 0.75, ConfidenceLevel.LOW, "of 30 patches"),
    ],
)
def test_the_words_follow_from_the_probability_and_what_is_asked(
    tests: float, least: float, level: ConfidenceLevel, ground: str
) -> None:
    found = MODEL.rate({"tests": tests}, least)
    assert found.level is level
    assert ground in found.ground


def test_a_repair_from_history_is_rated_by_how_often_such_were_right_and_never_high() -> None:
    found = MODEL.rate_reversal()
    assert (found.level, found.p) == (ConfidenceLevel.MEDIUM, 0.952)
    assert "of 40 regressions" in found.ground
    assert "39 were" in found.ground


def test_what_ships_says_what_it_was_fitted_on_and_how_often_it_held() -> None:
    model = load_model()
    bands = model.bands
    assert [band.above for band in bands] == sorted((b.above for b in bands), reverse=True)
    assert bands[-1].above == 0
    assert len(model.provenance.projects) > 20
    assert model.provenance.patches > len(model.provenance.projects)
    assert set(model.weights) == set(measure_features(2, [1.0], 0, strong=True))
    signs = {name: one.weight > 0 for name, one in model.weights.items()}
    assert (signs["strong"], signs["share"], signs["rivals"]) == (True, True, False)


def test_a_patch_is_measured_beside_all_that_pass_with_it() -> None:
    alone = measure_features(3, [1.5], 0, strong=True)
    assert alone == {
        "tests": pytest.approx(1.386, abs=1e-3), "prior": 1.5, "share": 1.0, "rivals": 0.0,
        "strong": 1.0,
    }  # fmt: skip
    beside = [measure_features(1, [1.5, 2.5], at, strong=False) for at in (0, 1)]
    assert sum(one["share"] for one in beside) == pytest.approx(1)
    assert beside[0]["share"] == pytest.approx(0.731, abs=1e-3)
    assert beside[1]["rivals"] == pytest.approx(0.693, abs=1e-3)


def test_data_of_another_shape_is_refused() -> None:
    with pytest.raises(ValidationError):
        PatchModel.model_validate({**MODEL.model_dump(), "prices": {}})


def test_of_ratings_the_word_orders_before_the_number() -> None:
    sure = Confidence(ConfidenceLevel.HIGH, 0.95, "")
    unsure = Confidence(ConfidenceLevel.LOW, 0.99, "")
    ratings = [sure, unsure, MODEL.rate_reversal()]
    assert min(ratings, key=lambda one: one.rank) == unsure
    assert max(ratings, key=lambda one: one.rank) == sure
