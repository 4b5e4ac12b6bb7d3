import pytest

from shop.cart import Cart
from shop.catalog import Catalog, Product, Stock
from shop.money import Money
from shop.pricing import Tier

TEA_TIERS = (Tier(10, Money(450)), Tier(50, Money(400)))


@pytest.fixture
def catalog():
    return Catalog(
        [
            Product("TEA", "Green tea", Money(500), "food", TEA_TIERS),
            Product("MUG", "Blue mug", Money(899)),
            Product("BOOK", "Tea for two", Money(1999), "book"),
            Product("TEA SET", "Tea set", Money(4950)),
        ]
    )


@pytest.fixture
def stock():
    stock = Stock()
    for code in ("TEA", "MUG", "BOOK", "TEA SET"):
        stock.store(code, 100)
    return stock


@pytest.fixture
def cart(catalog):
    return Cart(catalog)
