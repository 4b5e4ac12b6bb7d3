"""Vouchers, and how a discount spreads over the lines of an order."""

from __future__ import annotations

from dataclasses import dataclass

from shop.money import NOTHING, Money


class VoucherRefused(Exception):
    """The voucher does not fit the order."""


@dataclass(frozen=True)
class Voucher:
    """Some percent off, from a minimum value on and up to a limit."""

    code: str
    rate: int
    minimum: Money = NOTHING
    limit: Money | None = None


def discount(voucher: Voucher | None, value: Money) -> Money:
    """What a voucher takes off an order of this value."""
    if voucher is None:
        return NOTHING
    if value < voucher.minimum:
        raise VoucherRefused(f"{voucher.code} needs an order of {voucher.minimum}")
    off = value.percent(voucher.rate)
    if voucher.limit is not None and off > voucher.limit:
        return voucher.limit
    return off


def spread(amount: Money, weights: list[int]) -> list[Money]:
    """Divide an amount into shares in proportion to the weights."""
    whole = sum(weights)
    if whole == 0:
        raise ValueError("nothing to spread over")
    return [Money(amount.cents * weight // whole) for weight in weights]
