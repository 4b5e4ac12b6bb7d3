"""What a customer is about to buy."""

from __future__ import annotations

from dataclasses import dataclass

from shop.catalog import Catalog, Product
from shop.money import Money, total
from shop.pricing import Tier, line_price, tier_for


class UnknownProduct(Exception):
    """The shop does not sell this."""


@dataclass
class Line:
    """A product in the cart; `code` is what the customer typed."""

    code: str
    product: Product
    quantity: int

    @property
    def tier(self) -> Tier | None:
        """The tier that sets the price of a piece."""
        return tier_for(self.product.tiers, self.quantity)

    @property
    def price(self) -> Money:
        """The price of the line before discounts and tax."""
        return line_price(self.product, self.quantity)


class Cart:
    """Lines in the order they were added, one per product."""

    def __init__(self, catalog: Catalog):
        self._catalog = catalog
        self.lines: list[Line] = []

    def add(self, code: str, quantity: int = 1) -> Line:
        """Add pieces of a product, to its line when it has one."""
        if quantity < 1:
            raise ValueError("at least one piece")
        product = self._catalog.find(code)
        if product is None:
            raise UnknownProduct(code)
        for line in self.lines:
            if line.product is product:
                line.quantity += quantity
                return line
        self.lines.append(Line(code, product, quantity))
        return self.lines[-1]

    def pieces(self) -> int:
        """How many pieces are in the cart."""
        return sum(line.quantity for line in self.lines)

    def value(self) -> Money:
        """The price of all lines."""
        return total(line.price for line in self.lines)
