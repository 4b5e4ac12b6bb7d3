"""Red before the first test: broken source is named once, and mended where that is plain."""

from __future__ import annotations

from benchmarks._harm import Case

_INI = "[pytest]\npythonpath = .\n"
_MONEY = """def price_text(value):
    return f"{value:.2f} EUR"


def total(values):
    return sum(values)
"""
_STOCK = """from shop.money import price_text, total

LIMIT = max(3, 4)


def show(value):
    return price_text(value)


def worth(values):
    return total(values)
"""
_TESTS = """from shop.stock import show, worth


def test_show():
    assert show(1) == "1.00 EUR"


def test_worth():
    assert worth([1, 2]) == 3
"""
_MORE = "from shop.stock import LIMIT\n\n\ndef test_limit():\n    assert LIMIT == 4\n"
_FILES = {
    "pytest.ini": _INI,
    "shop/__init__.py": "",
    "shop/money.py": _MONEY,
    "shop/stock.py": _STOCK,
    "tests/test_stock.py": _TESTS,
    "tests/test_limit.py": _MORE,
}
_NAMED = "shop/stock.py:{}"


def _case(name: str, old: str, new: str, status: str, *says: str, **more: str) -> Case:
    """The project with one thing changed in its stock."""
    files = {**_FILES, "shop/stock.py": _STOCK.replace(old, new, 1), **more}
    return Case(f"import: {name}", files, status, says=says, never=("stale_test",))


CASES = (
    _case("a colon", "show(value):", "show(value)", "healed"),
    _case("a bracket", "max(3, 4)", "max(3, 4", "healed"),
    _case("a comma", "price_text, total", "price_text total", "healed"),
    _case("a bracket too many", "max(3, 4)", "max(3, 4))", "healed"),
    _case("a name like another", "price_text, total", "price_test, total", "healed"),
    _case("a module like another", "shop.money", "shop.mony", "healed"),
    _case("a name of Python's own", "max(3, 4)", "mx(3, 4)", "healed"),
    _case(
        "a circle",
        "LIMIT",
        "from shop.money import ROOF\n\nLIMIT",
        "not_healed",
        "shop.stock -> shop.money -> shop.stock",
        **{"shop/money.py": f"from shop.stock import LIMIT\n\n\n{_MONEY}ROOF = LIMIT\n"},
    ),
    _case("a name like no other", "max(3, 4)", "undefined_zz", "not_healed", _NAMED.format(3)),
    _case("an exception", "max(3, 4)", "int('x')", "not_healed", _NAMED.format(3)),
    _case("a package that is missing", "LIMIT", "import numpyzz\n\nLIMIT", "explained", "numpyzz"),
    Case(
        "import: a test's own file",
        {**_FILES, "tests/test_limit.py": _MORE.replace("limit():", "limit()")},
        "explained",
        says=("tests/test_limit.py:4",),
    ),
)
