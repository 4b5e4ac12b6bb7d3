import pytest

from shop.money import NOTHING, Money, total


@pytest.mark.parametrize(
    ("text", "cents"),
    [("12.34", 1234), ("12", 1200), ("0.05", 5), ("-0.05", -5), ("7.5", 750)],
)
def test_parse(text, cents):
    assert Money.parse(text) == Money(cents)


@pytest.mark.parametrize(("cents", "text"), [(1234, "12.34"), (5, "0.05"), (-150, "-1.50")])
def test_str(cents, text):
    assert str(Money(cents)) == text


@pytest.mark.parametrize(("cents", "rate", "part"), [(1000, 20, 200), (5, 10, 1), (4, 10, 0)])
def test_percent_rounds_half_up(cents, rate, part):
    assert Money(cents).percent(rate) == Money(part)


def test_total_of_nothing():
    assert total([]) == NOTHING


def test_total():
    assert total([Money(1), Money(20), Money(300)]) == Money(321)
