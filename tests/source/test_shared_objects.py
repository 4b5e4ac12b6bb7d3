"""Which expressions may be a module, a class or a function, on code that is parsed."""

from __future__ import annotations

import ast

import pytest

from heal_bot.source.shared_objects import SharedObjects

SHARED = frozenset({"Ledger", "json", "load"})


def _may_be(code: str, *, own: bool = False) -> bool:
    """What is said of the last expression of code."""
    tree = ast.parse(code)
    last = tree.body[-1]
    assert isinstance(last, ast.Expr)
    found = SharedObjects.find([*ast.walk(tree)], SHARED.__contains__)
    return found.may_be(last.value, own=own)


@pytest.mark.parametrize(
    "code",
    [
        "Ledger",
        "json.JSONEncoder",
        "type(prices)",
        "prices.__class__",
        "kept = Ledger\nkept",
        "kept: type = Ledger\nkept",
        "one = two = Ledger\none",
        "kept, rest = Ledger, 1\nkept",
        "(kept := Ledger)\nkept",
        "[Ledger][0]",
        "{'a': Ledger}['a']",
        "[Ledger].pop()",
        "held = [Ledger]\nheld.pop()",
        "next(iter([Ledger]))",
        "prices or Ledger",
        "Ledger if prices else None",
        "[one for one in (Ledger,)]",
        "for kept in [Ledger]:\n    pass\nkept",
        "with held(Ledger) as kept:\n    pass\nkept",
        "match Ledger:\n    case kept:\n        pass\nkept",
        "match [Ledger]:\n    case [*kept]:\n        pass\nkept",
        "def one():\n    return Ledger\none()",
        "def one():\n    yield Ledger\nnext(one())",
        "def change(kept):\n    return kept\nchange(Ledger)",
        "def change(kept):\n    pass\nmap(change, [Ledger])\nkept",
        "def change(kept=Ledger):\n    pass\nkept",
        "def change(*, kept=Ledger):\n    pass\nkept",
        "(lambda: Ledger)()",
        "(lambda kept: kept)(Ledger)\nkept",
        "again = again and Ledger\nagain",
        "def one():\n    return one() or Ledger\none()",
    ],
)
def test_what_may_be_one_or_hold_one(code: str) -> None:
    assert _may_be(code)


@pytest.mark.parametrize(
    "code",
    [
        "prices",
        "self.items",
        "'text'",
        "Ledger()",
        "Ledger(kind=Ledger)",
        "cls(Ledger)",
        "json.loads(prices)",
        "Ledger.make(prices)",
        "made = Ledger(prices)\nmade",
        "made = copy.copy(self)\nmade",
        "prices is Ledger",
        "f'{Ledger}'",
        "[one for one in prices if isinstance(one, Ledger)]",
        "[1] if Ledger else [2]",
        "prices[Ledger]",
        "made = made\nmade",
        "def loads(self):\n    json.loads(Ledger)\nself",
        "def one():\n    return one()\none()",
        "def inner():\n    return 1\ninner",
        "def inner():\n    return 1\ninner()",
        "class Own:\n    pass\nOwn",
        "lambda: 1",
    ],
)
def test_what_is_none(code: str) -> None:
    assert not _may_be(code)


@pytest.mark.parametrize(
    "code", ["def inner():\n    pass\ninner", "class Own:\n    pass\nOwn", "lambda: 1", "cls"]
)
def test_what_the_code_defines_itself_counts_where_it_is_asked_for(code: str) -> None:
    assert _may_be(code, own=True)
    assert not _may_be(code)
