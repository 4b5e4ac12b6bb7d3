"""A dependency's new version broke the engine or the runner; or our own code did."""

from __future__ import annotations

from benchmarks.street.own._files import changed, project
from benchmarks.street.situation import Commit, Situation

_PANTRY = """\
import yaml


def read_pantry(text):
    stock = yaml.safe_load(text) or {}
    return {name: int(count) for name, count in stock.items()}


def missing(stock, recipe):
    wanted = {}
    for name, count in recipe.items():
        have = stock.get(name, 0)
        if have < count:
            wanted[name] = count - have
    return wanted


def write_pantry(stock):
    return yaml.safe_dump(stock, sort_keys=True)
"""

SITUATIONS = (
    Situation(
        name="own/beehive-engine-executes-no-more",
        kind="dependency",
        action="explain",
        says=("sqlalchemy",),
        package=("sqlalchemy", "1.4.46", "2.0.0"),
        dates=("2023-01-20", "2023-02-01"),
        commits=(
            Commit(
                "Count the bees in a database",
                {
                    **project("beehive", "sqlalchemy>=1.3", about="counts of hives"),
                    "src/beehive/store.py": """\
from sqlalchemy import create_engine


class Store:
    def __init__(self, address="sqlite://"):
        self.engine = create_engine(address)
        self.engine.execute("create table hives (name text, bees integer)")

    def add(self, name, bees):
        self.engine.execute("insert into hives values (?, ?)", (name, bees))

    def total(self):
        return self.engine.execute("select sum(bees) from hives").scalar() or 0
""",
                    "src/beehive/honey.py": """\
def jars(grams, size=500):
    return grams // size


def left(grams, size=500):
    return grams % size
""",
                    "tests/test_store.py": """\
from beehive.store import Store


def test_empty():
    assert Store().total() == 0


def test_total():
    store = Store()
    store.add("oak", 300)
    store.add("lime", 200)
    assert store.total() == 500
""",
                    "tests/test_honey.py": """\
import pytest

from beehive.honey import jars, left


@pytest.mark.parametrize(("grams", "wanted"), [(499, 0), (500, 1), (1700, 3)])
def test_jars(grams, wanted):
    assert jars(grams) == wanted


def test_left():
    assert left(1700) == 200
""",
                },
            ),
            Commit(
                "Say how big a jar is",
                {"README.md": "# beehive\n\nA jar holds 500 grams.\n"},
            ),
        ),
    ),
    Situation(
        name="own/orchard-setup-of-nose",
        kind="dependency",
        action="explain",
        says=("pytest", "setup_method", "nose"),
        package=("pytest", "7.4.4", "8.0.0"),
        dates=("2024-01-20", "2024-02-01"),
        commits=(
            Commit(
                "Weigh the apples",
                {
                    **project("orchard", about="apples by tree", flat=True),
                    "orchard/scales.py": """\
class Scales:
    def __init__(self, tare=0):
        self.tare = tare
        self.loads = []

    def put(self, grams):
        if grams <= self.tare:
            raise ValueError("lighter than the basket")
        self.loads.append(grams - self.tare)

    def total(self):
        return sum(self.loads)

    def heaviest(self):
        return max(self.loads, default=0)
""",
                    "tests/test_scales.py": """\
import pytest

from orchard.scales import Scales


class TestScales:
    def setup(self):
        self.scales = Scales(tare=200)

    def test_empty(self):
        assert self.scales.total() == 0

    def test_total(self):
        self.scales.put(700)
        self.scales.put(300)
        assert self.scales.total() == 600

    def test_heaviest(self):
        self.scales.put(700)
        assert self.scales.heaviest() == 500

    def test_too_light(self):
        with pytest.raises(ValueError):
            self.scales.put(150)


def test_without_tare():
    scales = Scales()
    scales.put(5)
    assert scales.total() == 5
""",
                },
            ),
            Commit("Name the sorts", {"README.md": "# orchard\n\nBoskoop and Elstar.\n"}),
        ),
    ),
    Situation(
        name="own/pantry-count-after-a-move",
        kind="dependency",
        action="repair",
        says=("missing",),
        commits=(
            Commit(
                "List what a recipe lacks",
                {
                    **project("pantry", "pyyaml>=5", about="what is in the pantry"),
                    "src/pantry/stock.py": _PANTRY.replace("yaml.safe_load(text)", "yaml.load(text, Loader=yaml.SafeLoader)"),
                    "tests/test_stock.py": """\
import pytest

from pantry.stock import missing, read_pantry, write_pantry


def test_read():
    assert read_pantry("flour: 2\\neggs: '6'\\n") == {"flour": 2, "eggs": 6}


@pytest.mark.parametrize("text", ["", "{}"])
def test_read_nothing(text):
    assert read_pantry(text) == {}


@pytest.mark.parametrize(
    ("stock", "recipe", "wanted"),
    [
        ({"flour": 2}, {"flour": 3}, {"flour": 1}),
        ({}, {"eggs": 6}, {"eggs": 6}),
        ({"milk": 1}, {"milk": 1}, {}),
    ],
)
def test_missing(stock, recipe, wanted):
    assert missing(stock, recipe) == wanted


def test_written_is_read_again():
    assert read_pantry(write_pantry({"b": 1, "a": 2})) == {"a": 2, "b": 1}
""",
                },
            ),
            Commit(
                "Move to PyYAML 6",
                {
                    **project("pantry", "pyyaml>=6", about="what is in the pantry"),
                    "src/pantry/stock.py": changed(
                        _PANTRY, ("yaml.safe_load(text) or {}", "yaml.safe_load(text)")
                    ),
                },
            ),
        ),
        right={"src/pantry/stock.py": _PANTRY},
        hidden={
            "tests/test_hidden_stock.py": """\
from pantry.stock import read_pantry


def test_a_comment_alone():
    assert read_pantry("# nothing yet\\n") == {}


def test_only_a_mark():
    assert read_pantry("---\\n") == {}
"""
        },
    ),
)  # fmt: skip
