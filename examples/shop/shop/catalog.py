"""What the shop sells, and how much of it lies on the shelves."""

from __future__ import annotations

from dataclasses import dataclass, field

from shop.money import Money


class OutOfStock(Exception):
    """Fewer pieces on the shelf than asked for."""


@dataclass(frozen=True)
class Product:
    """Something for sale; `tiers` are lower prices for larger quantities."""

    code: str
    name: str
    price: Money
    category: str = "standard"
    tiers: tuple = ()


@dataclass
class Shelf:
    """The pieces of one product that can be sold."""

    code: str
    pieces: int


class Catalog:
    """Products by their code, as customers type it."""

    def __init__(self, products):
        self._products = {product.code: product for product in products}

    def find(self, code: str) -> Product | None:
        """The product with this code, None when the shop does not sell it."""
        return self._products.get(code.strip().upper())

    def codes(self, category: str) -> list[str]:
        """Codes of one category in alphabetical order."""
        return sorted(p.code for p in self._products.values() if p.category == category)


@dataclass
class Stock:
    """Shelves by code."""

    shelves: dict[str, Shelf] = field(default_factory=dict)

    def store(self, code: str, pieces: int) -> None:
        """Put pieces on the shelf of a product."""
        shelf = self.shelves.setdefault(code, Shelf(code, 0))
        shelf.pieces += pieces

    def find(self, code: str) -> Shelf:
        """The shelf of a product."""
        return self.shelves[code.upper()]

    def take(self, code: str, pieces: int) -> int:
        """Take pieces from the shelf; how many are left."""
        shelf = self.find(code)
        if shelf.pieces < pieces:
            raise OutOfStock(f"{shelf.code}: {pieces} asked, {shelf.pieces} left")
        shelf.pieces -= pieces
        return shelf.pieces
