"""Got and expected, where the message of pytest tells them; else what it says."""

from __future__ import annotations

import pytest

from heal_bot.report.failed_assertion import describe_message, read_assertion


@pytest.mark.parametrize(
    ("message", "call", "got", "expected"),
    [
        ("assert 5 == 9\n +  where 5 = clamp(99, 5, 9)", "clamp(99, 5, 9)", "5", "9"),
        ("assert 9 == 5\n +  where 5 = clamp(99, 5, 9)", "clamp(99, 5, 9)", "5", "9"),
        ("a note\nassert None is 3\n  +  where None = f()", "f()", "None", "3"),
        ("assert 2 == 3", "", "2", "3"),
    ],
)
def test_both_values_are_read(message: str, call: str, got: str, expected: str) -> None:
    found = read_assertion(message)
    assert found is not None
    assert (found.call, found.got, found.expected) == (call, got, expected)


@pytest.mark.parametrize("message", ["", "KeyError", "assert 1 == 2 == 3", "assert x in y"])
def test_what_is_no_comparison_of_two_values_is_not_taken_for_one(message: str) -> None:
    assert read_assertion(message) is None


@pytest.mark.parametrize(
    ("kind", "message", "told"),
    [
        ("AssertionError", "assert 2 == 3", "`assert 2 == 3` fails"),
        ("KeyError", "' MUG'\nmore", "KeyError: ' MUG'"),
        ("Failed", "DID NOT RAISE <class 'ValueError'>", "`ValueError` was not raised"),
        ("", "", ""),
    ],
)
def test_a_message_is_one_line(kind: str, message: str, told: str) -> None:
    assert describe_message(kind, message) == told


def test_long_values_are_cut_in_the_middle() -> None:
    assert len(describe_message("AssertionError", f"assert {'a' * 900} == {'b' * 900}")) < 200
