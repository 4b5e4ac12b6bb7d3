"""A default for what is missing has the kind that its place uses."""

from __future__ import annotations

import pytest

from heal_bot.core.model import Failure

_MISSING = (Failure("test_shop.py::test_it", "KeyError", "'a'"),)

PLACES = [
    ("handed to a parameter used as a mapping",
     "def merge(base, over):\n    out = dict(base)\n    for k, v in over.items():\n"
     "        out.update({k: merge(out[k], v)})\n    return out\n",
     "out.get(k, {})", 'out.get(k, "")'),
    ("asked for its type above",
     "def f(a, k, v):\n    if isinstance(v, dict):\n        v = g(a[k], v)\n    return v\n",
     "a.get(k, {})", "a.get(k, 0)"),
    ("looped over",
     "def f(a, k):\n    for x in a[k]:\n        print(x)\n", "a.get(k, [])", 'a.get(k, "")'),
    ("counted with",
     "def f(a, k):\n    return a[k] - 1\n", "a.get(k, 0)", "a.get(k, [])"),
    ("joined to text",
     'def f(a, k):\n    return a[k] + "!"\n', 'a.get(k, "")', "a.get(k, 0)"),
    ("a method of text is called",
     "def f(a, k):\n    return a[k].lower()\n", 'a.get(k, "")', "a.get(k, {})"),
    ("handed to another method",
     "class A:\n    def f(self, a, k):\n        return self.g(a[k])\n"
     "    def g(self, rows):\n        rows.append(1)\n", "a.get(k, [])", "a.get(k, 0)"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "text", "fits", "other"), PLACES, ids=[p[0] for p in PLACES])
def test_a_default_of_the_fitting_kind_comes_first(bench, place, text, fits, other) -> None:
    head = fits.partition(".get(")[0]
    subscript = f"{head}[k]"
    name = "A.f" if text.startswith("class") else ""
    places = [
        bench.position(text, text.replace(subscript, code), 600, name, failures=_MISSING)
        for code in (fits, other)
    ]
    assert places[0] is not None
    assert places[1] is None or places[0] < places[1]


def test_without_a_sign_of_the_kind_zero_comes_first(bench) -> None:
    text = "def f(a, k):\n    return g(a[k])\n"
    places = [
        bench.position(text, text.replace("a[k]", f"a.get(k, {code})"), 600, failures=_MISSING)
        for code in ("0", '""', "[]", "{}")
    ]
    assert None not in places
    assert places == sorted(places)


def test_an_expected_value_may_be_the_default(bench) -> None:
    text = 'def port(c):\n    return c["port"]\n'
    failed = (*_MISSING, Failure("test_shop.py::test_port", "AssertionError", "assert 1 == 80"))
    fixed = text.replace('c["port"]', 'c.get("port", 80)')
    assert bench.position(text, fixed, 100, failures=failed) is not None


@pytest.mark.parametrize(
    "where", ["        self.size = 3\n", "        pass\n\n    size: int = 3\n"]
)
def test_a_misspelt_attribute_of_another_class_of_the_module_is_found(bench, where) -> None:
    text = f"class P:\n    def __init__(self):\n{where}\n\ndef area(p):\n    return p.sise ** 2\n"
    absent = "'P' object has no attribute 'sise'"
    failed = (Failure("test_shop.py::test_it", "AttributeError", absent),)
    place = bench.position(text, text.replace("sise", "size"), 20, "area", failures=failed)
    assert place is not None
