"""Receipts as text."""

from __future__ import annotations

from shop.orders import Order

WIDTH = 32


def row(left: str, right: str, width: int = WIDTH) -> str:
    """Two texts at the ends of a line; the left one is cut when both do not fit."""
    room = width - len(right) - 1
    return f"{left[:room]:<{room}} {right}"


def render(order: Order) -> str:
    """The receipt of an order."""
    rows = [row(f"{line.quantity} x {line.name}", str(line.net)) for line in order.lines]
    rows.append("-" * WIDTH)
    rows.append(row("tax", str(order.tax)))
    rows.append(row("total", str(order.gross)))
    return "\n".join(rows)
