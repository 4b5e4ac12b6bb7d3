"""Turns a failed CI run into a pull request with a small, verified repair."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heal_bot.core import VERSION

if TYPE_CHECKING:
    from heal_bot.api import aheal as aheal
    from heal_bot.api import heal as heal

__version__ = VERSION


def __getattr__(name: str) -> object:
    """`heal_bot.heal` and `heal_bot.aheal`, loaded when asked for: plugin and capture are cheap."""
    if name in {"heal", "aheal"}:
        from heal_bot import api

        return getattr(api, name)
    raise AttributeError(f"module 'heal_bot' has no attribute {name!r}")
