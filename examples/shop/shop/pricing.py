"""Prices by quantity."""

from __future__ import annotations

from dataclasses import dataclass

from shop.money import Money


@dataclass(frozen=True)
class Tier:
    """A price per piece for orders of some size."""

    quantity: int
    price: Money


def tier_for(tiers, quantity: int) -> Tier | None:
    """The tier with the largest quantity that an order qualifies for."""
    best = None
    for tier in tiers:
        if quantity > tier.quantity and (best is None or tier.quantity > best.quantity):
            best = tier
    return best


def unit_price(product, quantity: int) -> Money:
    """The price of one piece when `quantity` pieces are bought."""
    tier = tier_for(product.tiers, quantity)
    if tier is None:
        return product.price
    return min(tier.price, product.price)


def line_price(product, quantity: int) -> Money:
    """The price of all pieces."""
    return unit_price(product, quantity).times(quantity)
