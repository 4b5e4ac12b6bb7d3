"""Carts become orders: stock is taken, discounts are spread, tax is added."""

from __future__ import annotations

from dataclasses import dataclass

from shop.cart import Cart
from shop.catalog import Stock
from shop.discounts import Voucher, discount, spread
from shop.money import Money, total
from shop.tax import tax_on


class EmptyCart(Exception):
    """There is nothing to order."""


@dataclass(frozen=True)
class OrderLine:
    """A line as it is charged: net is after the discount."""

    name: str
    quantity: int
    discount: Money
    net: Money
    tax: Money


@dataclass(frozen=True)
class Order:
    """What was ordered, and what it costs."""

    lines: tuple

    @property
    def net(self) -> Money:
        """The price without tax."""
        return total(line.net for line in self.lines)

    @property
    def tax(self) -> Money:
        """The tax on all lines."""
        return total(line.tax for line in self.lines)

    @property
    def gross(self) -> Money:
        """What the customer pays."""
        return self.net + self.tax


def place(cart: Cart, stock: Stock, voucher: Voucher | None = None) -> Order:
    """Order what is in the cart and take it from the stock."""
    if not cart.lines:
        raise EmptyCart
    off = discount(voucher, cart.value())
    shares = spread(off, [line.price.cents for line in cart.lines])
    for line in cart.lines:
        stock.take(line.code, line.quantity)
    return Order(tuple(_charged(line, share) for line, share in zip(cart.lines, shares)))


def _charged(line, share: Money) -> OrderLine:
    net = line.price - share
    tax = tax_on(net, line.product.category)
    return OrderLine(line.product.name, line.quantity, share, net, tax)
