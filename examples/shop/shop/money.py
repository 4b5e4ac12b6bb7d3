"""Amounts of money, exact to the cent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Money:
    """An amount in cents; negative amounts are debts."""

    cents: int

    @classmethod
    def parse(cls, text: str) -> Money:
        """Read "12.34", "12" or "-0.05"."""
        sign = -1 if text.startswith("-") else 1
        whole, _, part = text.lstrip("-").partition(".")
        return cls(sign * (int(whole) * 100 + int(part.ljust(2, "0"))))

    def __add__(self, other: Money) -> Money:
        return Money(self.cents + other.cents)

    def __sub__(self, other: Money) -> Money:
        return Money(self.cents - other.cents)

    def times(self, count: int) -> Money:
        """The amount, `count` times."""
        return Money(self.cents * count)

    def percent(self, rate: int) -> Money:
        """`rate` percent of the amount, half a cent rounded up."""
        return Money((self.cents * rate + 50) // 100)

    def __str__(self) -> str:
        sign = "-" if self.cents < 0 else ""
        whole, part = divmod(abs(self.cents), 100)
        return f"{sign}{whole}.{part:02d}"


NOTHING = Money(0)


def total(amounts) -> Money:
    """The sum of amounts; nothing when there are none."""
    result = NOTHING
    for amount in amounts:
        result = result + amount
    return result
