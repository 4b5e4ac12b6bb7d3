from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from benchmarks.fit.features import (
    Scene,
    compute_rivalry,
    count_covering,
    diff_tokens,
    measure_edit,
    with_rivals,
)
from heal_bot.core.model import Candidate, Cluster, Edit, Failure, Spectrum, Suspect, Target

SOURCE = "def total(prices, rate):\n    first = prices[0]\n    return first * rate\n"
TARGET = Target("shop.py", "total", 0, "function", 3, 5, SOURCE)


@dataclass(frozen=True)
class Files:
    """A tree of texts."""

    texts: Mapping[str, str] = field(default_factory=dict)

    def read(self, path: str) -> bytes:
        return self.texts[path].encode()


def _scene(message: str = "", spectrum: Spectrum | None = None, text: str = SOURCE) -> Scene:
    failure = Failure("tests/test_shop.py::test_total", "AssertionError", message)
    cluster = Cluster("1", (failure,), (Suspect(TARGET, 1.0, ()),), "")
    return Scene(cluster, (failure,), Files({"shop.py": text}), spectrum)  # type: ignore[arg-type]


def _measure(new: str, old: str = "first * rate", message: str = "", **more: str) -> dict:
    candidate = Candidate((Edit(TARGET, SOURCE.replace(old, new)),), "rules", "any")
    return measure_edit(candidate, _scene(message, **more))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("after", "removed", "added"),
    [
        ("a = b - c  # why\n", ("+",), ("-",)),
        ("a   =   b + c\n", (), ()),
        ("a = b + c\nd = 1\n", (), ("d", "=", "1")),
        ("a = (b +\n     c)\n", (), ("(", ")")),
    ],
    ids=["an operator", "layout", "a statement", "brackets"],
)
def test_an_edit_is_what_it_takes_and_puts_in_tokens(
    after: str, removed: tuple[str, ...], added: tuple[str, ...]
) -> None:
    found = diff_tokens("a = b + c\n", after)
    assert (found.removed, found.added) == (removed, added)


def test_what_cannot_be_read_as_python_is_compared_by_words() -> None:
    assert diff_tokens("return (a", "return (b").added == ("(b",)


@pytest.mark.parametrize(
    ("old", "new", "feature"),
    [
        ("first * rate", "first + rate", "only_operators"),
        ("prices[0]", "prices[1]", "only_constants"),
        ("first * rate", "rate * rate", "only_names"),
        ("first * rate", "first * rate * rate", "only_added"),
        ("first * rate", "first", "only_removed"),
    ],
)
def test_the_kind_of_an_edit_is_the_kind_of_its_tokens(old: str, new: str, feature: str) -> None:
    kinds = ("only_operators", "only_constants", "only_names", "only_added", "only_removed")
    found = _measure(new, old)
    assert [kind for kind in kinds if found[kind]] == [feature]


@pytest.mark.parametrize(
    ("message", "new", "fitted"),
    [("assert 3 == 42", "42", 1.0), ("assert 3 == 42", "41", 0.0), ("assert 0 == 1", "1", 0.0)],
    ids=["what the test expects", "another value", "a common value"],
)
def test_a_value_that_the_test_expects_is_told(message: str, new: str, fitted: float) -> None:
    assert _measure(new, "0", message)["fitted"] == fitted


def test_what_stands_elsewhere_in_the_file_is_copied() -> None:
    other = f"{SOURCE}\n\ndef last(prices, rate):\n    return prices[-1] * rate\n"
    assert _measure("prices[-1] * rate", text=other)["copied"] == 1.0
    assert _measure("prices[-2] * rate", text=other)["copied"] == 0.0


def test_names_that_are_used_no_more_are_counted() -> None:
    assert _measure("rate")["lost_names"] == 0.0
    assert _measure("first")["lost_names"] == 0.0
    assert _measure("prices", "first * rate")["lost_names"] == 0.0
    assert _measure("len(rate)", "prices[0]")["new_names"] == 1.0


def test_the_tests_that_execute_a_change_are_those_that_touch_its_lines() -> None:
    lines = (("shop.py", 4), ("shop.py", 9), ("other.py", 4))
    spectrum = Spectrum(lines, {"one": 0b001, "two": 0b010, "three": 0b100, "all": 0b111})
    edits = (Edit(TARGET, SOURCE),)
    assert count_covering(edits, _scene(spectrum=spectrum)) == {"one", "all"}
    assert count_covering(edits, _scene()) == set()


def test_a_group_stands_among_its_rivals_by_what_each_costs() -> None:
    alone = compute_rivalry([2.0], 0)
    assert alone == {"rivals": 0.0, "share": 1.0, "behind": 0.0}
    first, second = (compute_rivalry([1.0, 3.0], at) for at in (0, 1))
    assert first["share"] > 0.8 > second["share"]
    assert first["share"] + second["share"] == pytest.approx(1.0)
    assert (first["behind"], second["behind"]) == (0.0, 2.0)
    told = with_rivals([{"prior": 1.0}, {"prior": 3.0}])
    assert told == [{"prior": 1.0, **first}, {"prior": 3.0, **second}]
