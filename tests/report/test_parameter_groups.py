"""Parameters in bulk are one line; a single one keeps its name."""

from __future__ import annotations

from heal_bot.report.parameter_groups import group_tests

MANY = [f"tests/t.py::test_split[{n}]" for n in range(300)]


def told(tests: list[str], failing: list[str] | None = None) -> list[str]:
    return [group.said for group in group_tests(tests, failing or [])]


def test_the_parameters_of_a_function_are_counted_beside_those_that_fail_at_all() -> None:
    assert told(MANY[:293], MANY) == ["tests/t.py::test_split: 293 of 300 failing parameters"]
    assert told(MANY, MANY) == ["tests/t.py::test_split: 300 parameters"]


def test_a_single_parameter_and_a_plain_test_keep_their_names() -> None:
    assert told([MANY[7], "tests/t.py::test_x"], MANY) == [MANY[7], "tests/t.py::test_x"]


def test_groups_stand_in_the_order_of_their_first_and_hold_all_of_theirs() -> None:
    tests = [MANY[0], "tests/u.py::test_y", MANY[1], MANY[1]]
    first, second = group_tests(tests)
    assert (first.tests, second.tests) == ((MANY[0], MANY[1]), ("tests/u.py::test_y",))


def test_a_bracket_in_a_path_makes_no_parameter() -> None:
    tests = ["tests/a[b]/t.py::test_x", "tests/a[b]/t.py::test_y"]
    assert told(tests) == tests
