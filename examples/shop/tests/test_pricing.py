import pytest

from shop.money import Money
from shop.pricing import Tier, line_price, tier_for, unit_price

TIERS = (Tier(50, Money(400)), Tier(10, Money(450)))


@pytest.mark.parametrize("quantity", [1, 5, 9])
def test_small_orders_have_no_tier(quantity):
    assert tier_for(TIERS, quantity) is None


@pytest.mark.parametrize(("quantity", "tier"), [(11, 10), (49, 10), (51, 50), (500, 50)])
def test_tiers_of_larger_orders(quantity, tier):
    assert tier_for(TIERS, quantity).quantity == tier


def test_no_tiers():
    assert tier_for((), 1000) is None


def test_a_tier_never_makes_it_dearer(catalog):
    mug = catalog.find("MUG")
    assert unit_price(mug, 1000) == Money(899)


def test_line_price(catalog):
    assert line_price(catalog.find("TEA"), 3) == Money(1500)
