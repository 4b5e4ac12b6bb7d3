from __future__ import annotations

from collections.abc import Iterator

import pytest

from heal_bot.core.model import Failure

TOTAL = "def total(prices, rate):\n    return sum(prices[1:]) * rate\n"


def _priors(bench, text: str, message: str = "") -> Iterator[tuple[str, float]]:
    failure = Failure("test_shop.py::test_it", "AssertionError", message)
    for candidate in bench.candidates(text, failures=(failure,)):
        yield candidate.edits[0].new_source, candidate.prior


def _prior(bench, text: str, line: str, message: str = "") -> float:
    wanted = text.splitlines()[0] + f"\n    {line}\n"
    return next(prior for source, prior in _priors(bench, text, message) if source == wanted)


@pytest.mark.parametrize(
    ("likely", "unlikely"),
    [
        ("return sum(prices) * rate", "return sum(prices[1:]) * rate + 1"),
        ("return sum(prices) * rate", "return sum(prices[1:])"),
        ("return sum(prices) * rate", "return 6"),
        ("return sum(prices[1:]) / rate", "return rate"),
    ],
)
def test_what_removes_little_is_believed_before_what_fits_or_forgets(
    bench, likely: str, unlikely: str
) -> None:
    message = "assert 5 == 6\n +  where 5 = total([1, 2, 3], 1)"
    assert _prior(bench, TOTAL, likely, message) < _prior(bench, TOTAL, unlikely, message) - 0.2


def test_a_value_only_the_test_shows_is_doubted_in_place_of_an_expression(bench) -> None:
    shown = _prior(bench, TOTAL, "return 6", "assert 5 == 6")
    other = _prior(bench, TOTAL, "return 0", "assert 5 == 6")
    assert shown > other + 1.0


def test_an_expected_number_is_hardly_doubted_in_place_of_another_number(bench) -> None:
    text = "def hours(days):\n    return days * 25\n"
    assert _prior(bench, text, "return days * 24", "assert 25 == 24") < 2.0


def test_an_expected_number_far_from_the_one_in_the_code_is_doubted_more(bench) -> None:
    text = "def hours(days):\n    return days * 25\n"
    near = _prior(bench, text, "return days * 24", "assert 25 == 24")
    assert _prior(bench, text, "return days * 12", "assert 25 == 12") > near + 1.5


def test_a_change_that_uses_a_parameter_nothing_read_is_believed_more(bench) -> None:
    text = "def total(count, price, rate):\n    return count * price\n"
    used = _prior(bench, text, "return count * rate")
    assert used < _prior(bench, text, "return count * count") - 0.5


def test_a_parameter_that_is_set_to_something_else_is_doubted(bench) -> None:
    text = (
        "def room(busy, length):\n    at = 0\n    for last in busy:\n"
        "        at = max(at, last)\n    return at + length\n"
    )
    own = dict(_priors(bench, text))
    other = own[text.replace("        at = max", "        length = max")]
    assert other > own[text.replace("max(at, last)", "max(last, at)")] + 1.5


def test_a_function_inside_that_nothing_calls_any_more_is_doubted(bench) -> None:
    text = (
        "def once(self, handler):\n    def called(value):\n        self.drop(called)\n"
        "        handler(value)\n    self.connect({})\n"
    )
    lost = text.format("handler")
    other = text.format("called").replace("self.drop(called)", "self.drop(handler)")
    own = dict(_priors(bench, text.format("called")))
    assert own[lost] > own[other] + 1.0


def test_a_change_that_reads_a_name_that_was_only_set_is_believed_more(bench) -> None:
    text = (
        "def total(prices, quoted):\n    on = False\n    for price in prices:\n"
        "        on = not on\n        if price:\n            return price\n    return quoted\n"
    )
    priors = dict(_priors(bench, text))
    used = priors[text.replace("if price:", "if price and on:")]
    assert used < priors[text.replace("if price:", "if price and quoted:")] - 0.3
