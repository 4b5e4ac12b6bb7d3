"""Grouping by what explains the failures in the fewest words."""

from __future__ import annotations

import pytest

from heal_bot.core.model import Failure
from heal_bot.core.model.execution import bitmap
from heal_bot.fault_localization import clusters, failure_signatures, spectrum


def _group(
    failing: dict[str, set[int]], passing: list[set[int]], kinds=None, width: int = 64, sites=None
):
    hits = {test: bitmap(lines, width) for test, lines in failing.items()}
    passed = spectrum.count_bits([bitmap(lines, width) for lines in passing], width)
    union = 0
    for one in hits.values():
        union |= one
    failures = [Failure(test, (kinds or {}).get(test, "AssertionError"), "") for test in failing]
    found = clusters.group(
        failures,
        hits,
        clusters.count_levels(passed, union, len(passing)),
        50,
        lambda failure: (sites or {}).get(failure.test, ""),
    )
    return sorted(sorted(f.test for f in one.failures) for one in found)


def test_failures_that_share_a_line_only_they_execute_are_one() -> None:
    failing = {"a": {1, 5, 9}, "b": {2, 5, 9}, "c": {3, 5, 9}}
    assert _group(failing, [{1, 9}, {2, 9}, {3, 9}]) == [["a", "b", "c"]]


def test_failures_that_share_only_what_everything_executes_are_two() -> None:
    failing = {"a": {1, 9}, "b": {1, 9}, "c": {2, 9}, "d": {2, 9}}
    assert _group(failing, [{9, 7}] * 60) == [["a", "b"], ["c", "d"]]


def test_a_test_of_both_causes_is_in_both() -> None:
    failing = {"a": {1, 9}, "b": {1, 9}, "c": {2, 9}, "d": {2, 9}, "both": {1, 2, 9}}
    assert _group(failing, [{9, 7}] * 60) == [["a", "b", "both"], ["both", "c", "d"]]


def test_a_test_that_got_past_what_always_raises_fails_for_another_cause() -> None:
    failing = {"a": {1, 9}, "b": {1, 9}, "c": {2, 9}, "d": {2, 9}, "past": {1, 2, 9}}
    sites = {"a": "m.py::one", "b": "m.py::one", "c": "m.py::two", "d": "m.py::two"}
    kinds = dict.fromkeys("ab", "KeyError") | dict.fromkeys(("c", "d", "past"), "TypeError")
    found = _group(failing, [{9, 7}] * 60, kinds, sites=sites | {"past": "m.py::two"})
    assert found == [["a", "b"], ["c", "d", "past"]]


def test_passing_tests_that_execute_the_fault_by_luck_do_not_split_it() -> None:
    failing = {f"t{n}": {n, 40} for n in range(30)}
    assert len(_group(failing, [{40}] * 5 + [{39}] * 40)) == 1


def test_what_is_raised_at_one_place_has_one_cause() -> None:
    failing = {"a": {1, 9}, "b": {1, 9}, "c": {2, 9}, "d": {2, 9}}
    sites = dict.fromkeys(failing, "m.py::parse")
    assert _group(failing, [{9, 7}] * 10, sites=sites) == [["a", "b", "c", "d"]]


def test_what_is_raised_at_two_places_stays_apart_though_a_line_is_shared() -> None:
    failing = {"a": {1, 9}, "b": {1, 9}, "c": {1, 9}, "d": {2, 9}, "e": {2, 9}, "f": {2, 9}}
    sites = {"a": "m.py::find", "b": "m.py::find", "c": "m.py::find"}
    kinds = dict.fromkeys("abc", "KeyError") | dict.fromkeys("def", "AssertionError")
    apart = [["a", "b", "c"], ["d", "e", "f"]]
    assert _group(failing, [{9, 7}] * 12, kinds, sites=sites) == apart


def test_one_cause_is_preferred_to_several_that_explain_little_more() -> None:
    failing = {"a": {1, 9}, "b": {2, 9}}
    assert _group(failing, [{9, 7}] * 2) == [["a", "b"]]


def test_without_executions_the_way_of_failing_decides() -> None:
    kinds = {"a": "TypeError", "b": "TypeError", "c": "KeyError"}
    assert _group({"a": set(), "b": set(), "c": set()}, [], kinds) == [["a", "b"], ["c"]]


def test_a_failure_without_executions_joins_those_that_fail_alike() -> None:
    kinds = dict.fromkeys("abc", "TypeError")
    assert _group({"a": {1}, "b": {1}, "c": set()}, [{2}], kinds) == [["a", "b", "c"]]


def test_thousands_of_distinct_executions_are_grouped() -> None:
    failing = {f"t{n}": {n % 600, 700 + n % 2} for n in range(1500)}
    assert [len(g) for g in _group(failing, [{1, 2}], width=800)] == [750, 750]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("at 0x7f12ab and 3", "at 0x00ff and 12"),
        ("2026-01-02T10:11:12Z took 1.5s", "2025-12-31T23:59:59Z took 20.25s"),
        (
            "/tmp/pytest-of-me/pytest-1/x.txt is missing",
            "/tmp/pytest-of-you/pytest-77/y.txt is missing",
        ),
        ("id 123e4567-e89b-12d3-a456-426614174000", "id 00000000-e89b-12d3-a456-426614174111"),
        ("a  b\n c", "a b c"),
    ],
)
def test_messages_that_differ_in_values_are_equal_when_normalised(one: str, other: str) -> None:
    assert failure_signatures.normalise_message(one) == failure_signatures.normalise_message(other)


def test_messages_that_say_other_things_stay_apart() -> None:
    assert failure_signatures.normalise_message(
        "no key 'a'"
    ) != failure_signatures.normalise_message("no key 'b'")


def test_hostile_messages_are_normalised_in_no_time() -> None:
    for text in ("/" * 100_000, "a1" * 100_000, "1." * 100_000, "0x" * 100_000, "/tmp" * 90_000):
        assert len(failure_signatures.normalise_message(text)) <= 200
