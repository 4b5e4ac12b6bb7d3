"""What a name stands for, and who calls a function, in a tree of several modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.core.model import Target
from heal_bot.source import functions
from heal_bot.source.name_resolution import Symbol
from heal_bot.source.references import References
from tests.fakes import FolderTree

FILES = {
    "shop/__init__.py": "from .money import rounded\n",
    "shop/money.py": """import re
import shop.rates
from shop import rates as table
from shop.base import *
from . import store

CENTS = re.compile(r"[0-9]+")
_HALF, STEP = 0.5, 1


def traced(function):
    return function


@traced
def rounded(value):
    if value > 9:
        return rounded(value - 1)
    return shop.rates.rate(value) + table.rate(value) + store.keep(value) + _HALF


class Cart(Base):
    limit = 3
    lines: "Lines"

    def __init__(self, prices):
        self.prices = Prices(prices)
        self.__seal()

    def __seal(self):
        return CENTS.match("1")

    def total(self):
        super().total()
        found = set(self.prices.all())
        found.extend([self.limit])
        return self.checked(found), self.lines.count()

    @classmethod
    def empty(cls):
        return cls([]).total()

    @staticmethod
    def of(self):
        return self.total

    def walk(self, other: "Lines | None" = None):
        def inner():
            return self.total() + helper()

        def helper():
            return 1

        other.count()
        rounded = 3
        return inner, rounded


class Lines:
    def count(self):
        return 1

    def set(self, value):
        return value

    def extend(self, value):
        return value


class Prices:
    def all(self):
        return []
""",
    "shop/base.py": """class Root:
    def checked(self, found):
        return found


class Base(Root):
    def total(self):
        return 0
""",
    "shop/rates.py": "def rate(value):\n    return value\n",
    "shop/store.py": "def keep(value):\n    return value\n\n\ndef total():\n    return 0\n",
    "shop/till.py": """from shop import rounded
from shop.money import Cart as Basket, Lines
import json


def ring(x):
    set([x])
    [].extend([x])
    return rounded(x), Basket([x]).total()


def made() -> Basket:
    return Basket([])


def pay(lines: Lines, unknown):
    made().total()
    cart = made()
    cart._Cart__seal()
    lines.set(1)
    unknown.all()
    unknown.checked(1)
    json.loads("1").checked()
""",
    "broken.py": "def rounded(",
    "tests/test_money.py": "from shop.money import rounded\n\n\ndef test():\n    rounded(1)\n",
}


@pytest.fixture
def references(tmp_path: Path) -> References:
    return References.of(FolderTree.of(tmp_path, FILES))


def target(name: str, kind: str = "function") -> Target:
    path, _, qualname = name.rpartition("::")
    path = path or "shop/money.py"
    found = functions.find_target(functions.index_targets(path, FILES[path]), qualname, kind)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("name", "uses"),
    [
        pytest.param(
            "rounded",
            ["traced", "rounded", "shop/rates.py::rate", "shop/store.py::keep", "_HALF"],
            id="a decorator, itself, modules under any name, a constant",
        ),
        pytest.param("Cart.__init__", ["Prices", "Cart.__seal"], id="a class, a mangled name"),
        pytest.param("Cart.__seal", ["CENTS"], id="a pattern"),
        pytest.param(
            "Cart.total",
            ["shop/base.py::Base.total", "Prices.all", "Cart.limit",
             "shop/base.py::Root.checked", "Lines.count"],
            id="super, what attributes hold, bases; no method of a set",
        ),
        pytest.param("Cart.empty", ["Cart", "Cart.total"], id="cls and what it makes"),
        pytest.param("Cart.of", [], id="the first parameter of a static method"),
        pytest.param(
            "Cart.walk",
            ["Cart.total", "Cart.walk.<locals>.helper", "Lines.count",
             "Cart.walk.<locals>.inner"],
            id="nested functions, an annotation, a local variable of a function's name",
        ),
        pytest.param(
            "Cart.walk.<locals>.inner", ["Cart.total", "Cart.walk.<locals>.helper"], id="a closure"
        ),
        pytest.param(
            "shop/till.py::pay",
            ["shop/till.py::made", "Cart.total", "Cart.__seal", "Lines.set", "Prices.all",
             "shop/base.py::Root.checked"],
            id="what a function returns, parameters, the only method of a name",
        ),
    ],
)  # fmt: skip
def test_what_the_code_of_a_function_refers_to(
    name: str, uses: list[str], references: References
) -> None:
    found = references.uses(target(name))
    told = [f"{path}::{qualname}".removeprefix("shop/money.py::") for path, qualname in found]
    assert told == uses


@pytest.mark.parametrize(
    ("name", "lines"),
    [
        pytest.param("rounded", ["rounded: return rounded(value - 1)",
                                 "ring: return rounded(x), Basket([x]).total()"], id="itself too"),
        pytest.param("Lines.set", ["pay: lines.set(1)"], id="not the type of that name"),
        pytest.param("Lines.extend", [], id="not the method of a list"),
        pytest.param("Cart.__seal", ["Cart.__init__: self.__seal()", "pay: cart._Cart__seal()"],
                     id="mangled"),
        pytest.param("Cart.__init__", ["Cart.empty: return cls([]).total()",
                                       "ring: return rounded(x), Basket([x]).total()",
                                       "made: return Basket([])"],
                     id="a class is called, not named"),
        pytest.param("Prices.all", ["Cart.total: found = set(self.prices.all())",
                                    "pay: unknown.all()"], id="through an attribute"),
        pytest.param("shop/store.py::total", [], id="a function is no method"),
    ],
)  # fmt: skip
def test_who_calls_a_function(name: str, lines: list[str], references: References) -> None:
    told = [f"{c.around.qualname}: {c.text}" for c in references.calls(target(name)) if c.around]
    assert told == lines


def test_a_call_on_a_base_class_may_reach_the_method_that_replaces_it(tmp_path: Path) -> None:
    files = {
        "a.py": "class A:\n    def run(self):\n        return self.step()\n\n"
        "    def step(self):\n        return 1\n\n\n"
        "class B(A):\n    def step(self):\n        return 2\n"
    }
    references = References.of(FolderTree.of(tmp_path, files))
    step = functions.find_target(functions.index_targets("a.py", files["a.py"]), "B.step")
    assert step is not None
    assert [call.line for call in references.calls(step)] == [3]
    assert references.overridden(step) == Symbol("a.py", "A.step")


def test_the_source_of_a_symbol_begins_with_its_decorators(references: References) -> None:
    (found,) = references.definitions(Symbol("shop/money.py", "rounded"))
    assert found.source.startswith("@traced\ndef rounded(value):")
    (found,) = references.definitions(Symbol("shop/base.py", "Base"))
    assert (found.kind, found.first_line) == ("class", 6)
    (found,) = references.definitions(Symbol("shop/money.py", "STEP"))
    assert found.source == "_HALF, STEP = 0.5, 1\n"
    assert references.definitions(Symbol("broken.py", "rounded")) == ()


@pytest.mark.timeout(20)
def test_names_that_are_bound_to_each_other_are_followed_once(tmp_path: Path) -> None:
    count = 30
    names = [f"v{n}" for n in range(count)]
    lines = [f"    {one} = {other}\n" for one in names for other in names if one != other]
    code = "def f(a):\n" + "".join(lines) + "    return v1.size()\n"
    stars = {
        f"part{n}.py": "".join(f"from part{m} import *\n" for m in range(count))
        for n in range(count)
    }
    tree = FolderTree.of(tmp_path, {"m.py": "from part0 import *\n" + code, **stars})
    references = References.of(tree)
    (target,) = references.targets("m.py")
    assert references.uses(target) == ()
