"""Small projects with several bugs at once, or one bug that shows itself in several ways."""

from __future__ import annotations

import pytest

from heal_bot.fault_localization import ranking

HELPER = """\
def norm(x):
    return str(x).strip()

def parse(x):
    x = norm(x)
    if x.startswith("-"):
        return int(x[1:])
    return int(x)

def render(n):
    text = norm(n)
    if n > 999:
        return text[:1] + "," + text[2:]
    return text

def total(xs):
    return sum(parse(x) for x in xs)
"""
SHAPES = """\
class Shape:
    def __init__(self, name):
        self.name = name
    def describe(self):
        return f"{self.name.upper()} of {self.area()}"

class Square(Shape):
    def __init__(self, a):
        super().__init__("square")
        self.a = a
    def area(self):
        return self.a * self.a

class Circle(Shape):
    def __init__(self, r):
        super().__init__("circle")
        self.r = r
    def area(self):
        return 3 * self.r
"""
WAYS = """\
def load(text):
    out = {}
    for line in text.splitlines():
        key, _, value = line.partition(":")
        out[key] = value
    return out

def port(text):
    return int(load(text)["port"])

def flags(text):
    return load(text).get("flags", "").split(",")
"""
COROUTINES = """\
import asyncio

async def fetch(n):
    await asyncio.sleep(0)
    return n + 2

async def gather(ns):
    return [n for n in await asyncio.gather(*map(fetch, ns))]

def chunks(xs, n):
    for at in range(0, len(xs) - 1, n):
        yield xs[at:at + n]
"""
MEMO = """\
def cached(f):
    memo = {}
    def inner(*given):
        if given[0] not in memo:
            memo[given[0]] = f(*given)
        return memo[given[0]]
    return inner

@cached
def power(a, b):
    return a ** b

def plain(a):
    return a + "x"
"""
UNITS = """\
UNITS = {"km": 1000, "mi": 1690, "m": 1}

def metres(n, unit):
    return n * UNITS[unit]

def text(n):
    return f"{n} meter"
"""
SAME = """\
def slug(text):
    return "-".join(text.lower().split(" "))

def words(text):
    return [word for word in text.split() if len(word) > 1]

def clip(text, n):
    return text[:n] if len(text) >= n else text + " "
"""
LAZY = """\
def ready(name):
    tables = {"a": 1}
    return tables[name + "x"]

def last(xs):
    return xs[-2]
"""
CASES = {
    "helper": (
        HELPER,
        ["parse('1') == 1", "parse('-3') == -3", "parse('-4') == -4", "total(['1', '-2']) == -1",
         "render(1) == '1'", "render(1000) == '1,000'", "render(2500) == '2,500'",
         "total(['1']) == 1"],
        {"parse": 3, "render": 2},
    ),
    "hierarchy": (
        SHAPES,
        ["Square(3).area() == 9", "Circle(1).area() == 3", "Circle(2).area() == 12",
         "Circle(3).area() == 27", "Circle(5).r == 5", "Square(2).describe() == 'square of 4'",
         "'square' in Square(1).describe()", "Square(4).area() == 16"],
        {"Circle.area": 2, "Shape.describe": 2},
    ),
    "ways": (
        WAYS,
        ["load('a=1') == {'a': '1'}", "load('') == {}", "port('port=1') == 1",
         "flags('flags=a,b') == ['a', 'b']", "flags('') == ['']"],
        {"load": 3},
    ),
    "coroutines": (
        COROUTINES,
        ["asyncio.run(fetch(1)) == 2", "asyncio.run(gather([1, 2])) == [2, 3]",
         "list(chunks([1, 2, 3], 2)) == [[1, 2], [3]]", "list(chunks([1], 2)) == [[1]]",
         "list(chunks([1, 2], 2)) == [[1, 2]]"],
        {"fetch": 2, "chunks": 2},
    ),
    "wrapper": (
        MEMO,
        ["power(2, 3) == 8", "power(2, 4) == 16", "power(2, 5) == 32", "plain('a') == 'a'",
         "plain('') == ''", "power(5, 1) == 5"],
        {"cached.<locals>.inner": 2, "plain": 2},
    ),
    "table": (
        UNITS,
        ["metres(1, 'km') == 1000", "metres(1, 'mi') == 1609", "metres(2, 'mi') == 3218",
         "text(1) == '1 m'", "text(2) == '2 m'", "metres(2, 'm') == 2"],
        {"metres": 2, "text": 2},
    ),
    "module": (
        SAME,
        ["slug('A B') == 'a-b'", "slug('A  B') == 'a-b'", "slug(' A') == 'a'",
         "words('ab cd') == ['ab', 'cd']", "words('a bc') == ['a', 'bc']",
         "words('I am') == ['I', 'am']", "clip('abc', 2) == 'ab'", "clip('ab', 3) == 'ab'",
         "clip('', 1) == ''"],
        {"slug": 2, "words": 2, "clip": 2},
    ),
    "raised": (
        LAZY,
        ["ready('a') == 1", "ready('a') > 0", "last([1, 2, 3]) == 3", "last([4, 5]) == 5",
         "last([7, 7]) == 7"],
        {"ready": 2, "last": 2},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_each_bug_is_one_cluster_with_the_guilty_function_first(ran, name):
    source, claims, expected = CASES[name]
    tests = "from m import *\n" + "".join(
        f"def test_{at}():\n    assert {claim}\n" for at, claim in enumerate(claims)
    )
    got = ran({"m.py": source, "tests/test_m.py": tests})
    clusters = ranking.locate(got.run, got.baseline, got.tree)
    found = {one.suspects[0].target.qualname: len(one.failures) for one in clusters}
    assert found == expected
