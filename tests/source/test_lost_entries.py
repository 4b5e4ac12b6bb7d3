"""What a table lacks that a commit made of other code."""

from __future__ import annotations

import pytest

from heal_bot.source.lost_code import FileVersions
from heal_bot.source.lost_entries import find_lost_entries


def _complete(before: str, now: str) -> list[str]:
    data = now.encode()
    return [
        (data[: part.start] + part.before + data[part.end :]).decode()
        for _, part in find_lost_entries([FileVersions("m.py", before, now, now)])
    ]


CHAIN = 'def is_link(n):\n    return n == "a" or n == "link" or n == "area"\n'
TEXT = "def find(x):\n    return x.where(\"name = 'a' or name = 'link' or name = 'area'\")\n"
TABLE = 'KINDS = {\n    "get": find,\n    "put": store,\n    "drop": remove,\n}\n'
CODES = "def again(code):\n    return code == 429 or code == 502 or code == 503\n"


@pytest.mark.parametrize(
    ("before", "now", "wanted"),
    [
        (CHAIN, 'LINKS = ("a", "link")\n', 'LINKS = ("a", "link", "area")\n'),
        (CHAIN, "def f(n):\n    return n in {'a', 'link'}\n",
         "def f(n):\n    return n in {'a', 'link', 'area'}\n"),
        (TEXT, 'class A:\n  all = ["a", "link"]\n', 'class A:\n  all = ["a", "link", "area"]\n'),
        (CODES, "CODES = frozenset((429, 503))\n", "CODES = frozenset((429, 503, 502))\n"),
        (TABLE, 'NEW = {\n    "get": find,\n    "put": store,\n}\n',
         'NEW = {\n    "get": find,\n    "put": store,\n    "drop": remove,\n}\n'),
        (TABLE, 'NEW = dict({"get": 1, "put": 2})\n',
         'NEW = dict({"get": 1, "put": 2, "drop": remove})\n'),
    ],
    ids=["conditions", "a set", "words of a text", "numbers", "a table", "another table"],
)  # fmt: skip
def test_an_entry_that_was_lost_comes_back(before: str, now: str, wanted: str) -> None:
    assert wanted in _complete(before, now)[:3]


@pytest.mark.parametrize(
    "now",
    [
        'LINKS = ("a", "link", "area")\n',
        'LINKS = (".a", ".link")\n',
        "LINKS = (1, 2)\n",
        'LINKS = {"x": 1, "y": 2}\n',
        'LINKS = ("a", 1)\n',
        'LINKS = ("a",',
        'LINKS = ("a", ("link"\n "s"))\n',
        f"LINKS = {{'a': {'+'.join('1' * 1200)}, 'link': 2}}\n",
    ],
    ids=[
        "all are there",
        "other texts",
        "numbers",
        "a table",
        "mixed",
        "no code",
        "brackets",
        "code too deep to read",
    ],
)
def test_what_looks_otherwise_gets_no_entry(now: str) -> None:
    assert _complete(CHAIN, now) == []


def test_a_collection_that_the_commit_left_alone_stays() -> None:
    kept = 'KEPT = ("a", "link")\n'
    assert _complete(kept + CHAIN, kept) == []
