"""Where a replacement was forgotten."""

from __future__ import annotations

import pytest

from heal_bot.source.lost_code import FileVersions
from heal_bot.source.missed_places import find_missed_places

PORTS = """
def check(self, scheme):
    return self.port and self.port != PORTS.get(scheme)


def show(self):
    if self.port != PORTS.get(self.scheme):
        return str(self.port)
    return ""
"""


def _restore(before: str, now: str) -> list[str]:
    data = now.encode()
    return [
        (data[: part.start] + part.before + data[part.end :]).decode()
        for _, part in find_missed_places([FileVersions("m.py", before, now, now)])
    ]


def test_what_was_replaced_in_one_function_is_replaced_in_the_other() -> None:
    now = PORTS.replace("PORTS.get(scheme)", "default_port(scheme)")
    now += "\n\ndef default_port(scheme):\n    return PORTS.get(scheme)\n"
    wanted = now.replace("PORTS.get(self.scheme)", "default_port(self.scheme)")
    assert wanted in _restore(PORTS, now)


@pytest.mark.parametrize(
    ("before", "now", "wanted"),
    [
        ("def a(b):\n    return b.x + 1\n\n\ndef c(b):\n    return b.x\n",
         "def a(b):\n    n = b.get()\n    return n._x + 1\n\n\ndef c(b):\n    return b.x\n", []),
        ("def a(b):\n    go(b.x)\n    return b.x\n", "def a(b):\n    go(b._x)\n    return b.x\n",
         ["def a(b):\n    go(b._x)\n    return b._x\n"]),
        ("def a(b):\n    go(key)\n    return key\n",
         "def a(b):\n    go(key.lower())\n    return key\n",
         ["def a(b):\n    go(key.lower())\n    return key.lower()\n"]),
        ("def a(b):\n    return b + 1\n\n\ndef c(b):\n    return b - 1\n",
         "def a(b):\n    return b + 2\n\n\ndef c(b):\n    return b - 1\n", []),
        ("def a(b):\n    return b\n", "def a(b):\n    return (b\n", []),
        ("def a(b):\n    go(b)\n    return b * 2\n",
         "def a(b):\n    go(b - 1)\n    return b * 2\n",
         ["def a(b):\n    go(b - 1)\n    return (b - 1) * 2\n"]),
        ("def a(b):\n    go(b)\n    return b * 2\n",
         "def a(b):\n    go((b, 1))\n    return b * 2\n",
         ["def a(b):\n    go((b, 1))\n    return (b, 1) * 2\n"]),
        ("def a(b):\n    go(b)\n\n\ndef go(b):\n    return b\n",
         "def a(b):\n    go(b - 1)\n\n\ndef go(b):\n    return b\n", []),
        ("def a():\n    go(X.p)\n\n\ndef b():\n    go(X.p)\n\n\ndef c():\n    go(X.p)\n",
         "def a():\n    go(X.q)\n\n\ndef b():\n    go(X.r)\n\n\ndef c():\n    go(X.p)\n", []),
        ("def a(b):\n    go(k=b)\n    return b\n", "def a(b):\n    go(l=1)\n    return b\n", []),
        ("def a(b):\n    go(b + 1 < c)\n    return b + 1 < c\n",
         "def a(b):\n    go(b + 1 <= b)\n    return b + 1 < c\n",
         ["def a(b):\n    go(b + 1 <= b)\n    return (b + 1 <= b)\n"]),
        (f"def a(b):\n    return b.x\n\n\ndef d(b):\n    return {'+'.join('b' * 1200)}\n",
         f"def a(b):\n    return b.y\n\n\ndef d(b):\n    return {'+'.join('b' * 1200)}\n", []),
    ],
    ids=["two changes", "an attribute", "a call around it", "a number", "no code", "brackets",
         "brackets of its own", "a variable of another function", "two replacements",
         "another argument", "an operator", "code too deep to read"],
)  # fmt: skip
def test_only_the_same_replacement_is_made(before: str, now: str, wanted: list[str]) -> None:
    assert _restore(before, now) == wanted
