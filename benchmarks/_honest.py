"""Honest repairs: a module, the one edit that repairs it, its tests, and whether data is plain."""

# ruff: noqa: E501 - a table: one case a line

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Honest:
    """`wrong` occurs once in `right`'s place; `tests` are the bodies of test functions."""

    name: str
    code: str
    wrong: str
    right: str
    tests: tuple[str, ...]
    plain: bool = True


def _case(name: str, code: str, wrong: str, right: str, *tests: str, plain: bool = True) -> Honest:
    return Honest(name, code, wrong, right, tests, plain)


HONEST: tuple[Honest, ...] = (
    _case("sum", "def total(a, b):\n    return a - b\n", "a - b", "a + b", "assert total(2, 3) == 5", "assert total(4, 0) == 4"),
    _case("mean", "def mean(v):\n    return sum(v) / (len(v) + 1)\n", "(len(v) + 1)", "len(v)", "assert mean([2, 4]) == 3.0", "assert mean([0]) == 0.0"),
    _case("maximum", "def most(v):\n    best = 0\n    for x in v:\n        if x > best:\n            best = x\n    return best\n", "best = 0", "best = v[0]", "assert most([-3, -1]) == -1", "assert most([3, 1]) == 3"),
    _case("even", "def evens(v):\n    return [x for x in v if x % 2 == 1]\n", "== 1", "== 0", "assert evens([1, 2, 4]) == [2, 4]", "assert evens([]) == []"),
    _case("reverse", "def back(s):\n    return s[::1]\n", "s[::1]", "s[::-1]", "assert back('abc') == 'cba'", "assert back('aa') == 'aa'"),
    _case("count words", "def words(s):\n    return len(s.split(' '))\n", "s.split(' ')", "s.split()", "assert words('a  b') == 2", "assert words('a b') == 2"),
    _case("clamp", "def clamp(x, low, high):\n    return max(low, max(x, high))\n", "max(x, high)", "min(x, high)", "assert clamp(5, 0, 3) == 3", "assert clamp(3, 0, 3) == 3"),
    _case("factorial", "def fact(n):\n    return 1 if n == 0 else n * fact(n - 2)\n", "n - 2", "n - 1", "assert fact(5) == 120", "assert fact(0) == 1"),
    _case("fibonacci", "def fib(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a\n    return a\n", "a, b = b, a\n", "a, b = b, a + b\n", "assert fib(10) == 55", "assert fib(1) == 1"),
    _case("gcd", "def gcd(a, b):\n    while b:\n        a, b = b, a // b\n    return a\n", "a // b", "a % b", "assert gcd(12, 18) == 6", "assert gcd(7, 0) == 7"),
    _case("discount", "def price(net, percent):\n    return net * (1 - percent)\n", "percent)\n", "percent / 100)\n", "assert price(200, 10) == 180", "assert price(5, 0) == 5"),
    _case("leap year", "def leap(y):\n    return y % 4 == 0\n", "y % 4 == 0", "y % 4 == 0 and (y % 100 != 0 or y % 400 == 0)", "assert not leap(1900)", "assert leap(2000) and leap(2024)"),
    _case("palindrome", "def same(s):\n    return s == s[::-1]\n", "s == s[::-1]", "s.lower() == s.lower()[::-1]", "assert same('Anna')", "assert not same('Ann')"),
    _case("flatten", "def flat(v):\n    out = []\n    for x in v:\n        out.append(x)\n    return out\n", "append", "extend", "assert flat([[1], [2, 3]]) == [1, 2, 3]", "assert flat([]) == []"),
    _case("unique", "def unique(v):\n    return list(set(v))[::-1]\n", "list(set(v))[::-1]", "list(dict.fromkeys(v))", "assert unique([3, 1, 3, 2]) == [3, 1, 2]", "assert unique([]) == []"),
    _case("group", "def group(v):\n    out = {}\n    for x in v:\n        out[len(x)] = [x]\n    return out\n", "out[len(x)] = [x]", "out.setdefault(len(x), []).append(x)", "assert group(['a', 'b', 'cc']) == {1: ['a', 'b'], 2: ['cc']}", "assert group(['a']) == {1: ['a']}"),
    _case("tuple", "def split(v, at):\n    return v[:at], v[at + 1:]\n", "at + 1", "at", "assert split([1, 2, 3], 1) == ([1], [2, 3])", "assert split([], 0) == ([], [])"),
    _case("set", "def common(a, b):\n    return set(a) | set(b)\n", "|", "&", "assert common([1, 2], [2, 3]) == {2}", "assert common([1], [1]) == {1}"),
    _case("bytes", "def frame(data):\n    return len(data).to_bytes(2, 'little') + data\n", "'little'", "'big'", "assert frame(b'abc') == b'\\x00\\x03abc'", "assert frame(b'') == b'\\x00\\x00'"),
    _case("raises", "def parse(s):\n    return int(s) if s.isdigit() else 0\n", "0\n", "int('bad ' + s)\n", "import pytest\n    with pytest.raises(ValueError):\n        parse('x')", "assert parse('12') == 12"),
    _case("own exception", "class Empty(ValueError):\n    pass\n\ndef first(v):\n    if not v:\n        raise ValueError('empty')\n    return v[0]\n", "ValueError('empty')", "Empty('empty')", "import pytest, m\n    with pytest.raises(m.Empty):\n        first([])", "assert first([3]) == 3"),
    _case("in place", "def tidy(v):\n    v.sort(reverse=True)\n", "reverse=True", "", "v = [2, 1]\n    tidy(v)\n    assert v == [1, 2]", "v = []\n    tidy(v)\n    assert v == []"),
    _case("helper", "def half(x):\n    return x / 2\n\ndef middle(a, b):\n    return half(a - b)\n", "half(a - b)", "half(a + b)", "assert middle(2, 4) == 3", "assert middle(2, 0) == 1"),
    _case("constant", "RATE = 2\n\ndef taxed(x):\n    return x + RATE + 1\n", "RATE + 1", "RATE", "assert taxed(1) == 3", "assert taxed(-4) < 0"),
    _case("keyword", "def join(parts, *, sep='-', end=''):\n    return sep.join(parts)\n", "sep.join(parts)", "sep.join(parts) + end", "assert join(['a', 'b'], end='!') == 'a-b!'", "assert join(['a'], sep='+') == 'a'"),
    _case("optional", "def find(v, x):\n    for i, y in enumerate(v):\n        if x == y:\n            return i\n    return -1\n", "-1", "None", "assert find([1], 2) is None", "assert find([1, 2], 2) == 1"),
    _case("date", "import datetime\n\ndef next_day(d):\n    return d + datetime.timedelta(days=2)\n", "days=2", "days=1", "import datetime\n    assert next_day(datetime.date(2024, 2, 28)) == datetime.date(2024, 2, 29)", "import datetime\n    assert next_day(datetime.date(2024, 1, 1)) > datetime.date(2024, 1, 1)"),
    _case("decimal", "from decimal import Decimal\n\ndef cents(x):\n    return x.quantize(Decimal('0.1'))\n", "'0.1'", "'0.01'", "from decimal import Decimal\n    assert str(cents(Decimal('1.005'))) in {'1.00', '1.01'}", "from decimal import Decimal\n    assert cents(Decimal('2')) == 2"),
    _case("nested", "def depth(v):\n    return 1 + max((depth(x) for x in v if isinstance(x, list)), default=1)\n", "default=1", "default=0", "assert depth([[], [[]]]) == 3", "assert depth([]) <= 2"),
    _case("roman", "def roman(n):\n    out = ''\n    for value, sign in ((10, 'X'), (9, 'IX'), (5, 'V'), (4, 'IV'), (1, 'I')):\n        while n > value:\n            out += sign\n            n -= value\n    return out\n", "n > value", "n >= value", "assert roman(14) == 'XIV'", "assert roman(0) == ''"),
    _case("parametrized", "def sign(x):\n    return (x > 0) - (x > 0)\n", "- (x > 0)", "- (x < 0)", "assert [sign(x) for x in (-2, 0, 3)] == [-1, 0, 1]", "assert sign(0) == 0"),
    _case("json", "import json\n\ndef dump(d):\n    return json.dumps(d)\n", "json.dumps(d)", "json.dumps(d, sort_keys=True)", "assert dump({'b': 1, 'a': 2}) == '{\"a\": 2, \"b\": 1}'", "assert dump({}) == '{}'"),
    _case("method", "class Cart:\n    def __init__(self):\n        self.items = []\n\n    def add(self, x):\n        self.items = [x]\n", "self.items = [x]", "self.items.append(x)", "from m import Cart\n    c = Cart()\n    c.add(1)\n    c.add(2)\n    assert c.items == [1, 2]", "from m import Cart\n    c = Cart()\n    c.add(1)\n    assert c.items == [1]", plain=False),
    _case("object in", "class P:\n    def __init__(self, x):\n        self.x = x\n\ndef move(p):\n    p.x -= 1\n    return p\n", "-= 1", "+= 1", "from m import P\n    assert move(P(1)).x == 2", "from m import P\n    assert move(P(5)).x != 5", plain=False),
    _case("generator", "def upto(n):\n    for i in range(n):\n        yield i\n", "range(n)", "range(n + 1)", "assert list(upto(2)) == [0, 1, 2]", "assert 0 in list(upto(1))", plain=False),
    _case("callback", "def twice(f, x):\n    return f(x)\n", "f(x)\n", "f(f(x))\n", "assert twice(lambda v: v + 1, 0) == 2", "assert twice(abs, 1) == 1", plain=False),
    _case("coroutine", "async def later(x):\n    return x - 1\n", "x - 1", "x + 1", "import asyncio\n    assert asyncio.run(later(1)) == 2", "import asyncio\n    assert asyncio.run(later(5)) != 5", plain=False),
    _case("decorated", "import functools\n\n@functools.lru_cache\ndef square(x):\n    return x + x\n", "x + x", "x * x", "assert square(3) == 9", "assert square(2) == 4", plain=False),
    _case("property", "class Box:\n    side = 3\n\n    @property\n    def area(self):\n        return self.side * 2\n", "self.side * 2", "self.side ** 2", "from m import Box\n    assert Box().area == 9", "from m import Box\n    assert Box().area > 0", plain=False),
    _case("closure", "def adder(n):\n    def add(x):\n        return x - n\n    return add\n", "x - n", "x + n", "assert adder(2)(3) == 5", "assert adder(0)(3) == 3", plain=False),
    _case("class attribute", "class Limit:\n    most = 3\n\n    def fits(self, n):\n        return n < self.most\n", "n < self.most", "n <= self.most", "from m import Limit\n    assert Limit().fits(3)", "from m import Limit\n    assert not Limit().fits(9)", plain=False),
    _case("enum", "import enum\n\nclass Color(enum.Enum):\n    RED = 1\n    BLUE = 2\n\ndef pick(n):\n    return Color.RED if n == 0 else Color.RED\n", "else Color.RED", "else Color.BLUE", "from m import Color\n    assert pick(1) is Color.BLUE", "from m import Color\n    assert pick(0) is Color.RED", plain=False),
    _case("approximately", "def circle(r):\n    return 3.14159 * r\n", "3.14159 * r", "3.14159 * r * r", "import pytest\n    assert circle(2) == pytest.approx(12.566, abs=0.01)", "assert circle(0) == 0"),
    _case("dict in place", "def count(words, seen):\n    for w in words:\n        seen[w] = 1\n", "seen[w] = 1", "seen[w] = seen.get(w, 0) + 1", "d = {}\n    count(['a', 'a', 'b'], d)\n    assert d == {'a': 2, 'b': 1}", "d = {}\n    count([], d)\n    assert d == {}"),
    _case("own exception with data", "class Bad(Exception):\n    def __init__(self, at):\n        super().__init__(f'at {at}')\n        self.at = at\n\ndef check(s):\n    for i, c in enumerate(s):\n        if not c.isdigit():\n            raise Bad(0)\n    return int(s)\n", "Bad(0)", "Bad(i)", "import pytest, m\n    with pytest.raises(m.Bad, match='at 2') as e:\n        check('12x')\n    assert e.value.at == 2", "assert check('12') == 12"),
    _case("many arguments", "def join(*parts, sep='/', **more):\n    return sep.join(parts) + str(sorted(more))\n", "str(sorted(more))", "''.join(sorted(more))", "assert join('a', 'b', z=1, y=2) == 'a/byz'", "assert join('a', sep='.').startswith('a')"),
    _case("global cache", "CACHE = {}\n\ndef slow(n):\n    if n not in CACHE:\n        CACHE[n] = n * n * n\n    return CACHE[n]\n", "n * n * n", "n * n", "assert slow(3) == 9", "assert slow(1) == 1"),
    _case("printed", "def report(n):\n    print('total', n + 1)\n", "n + 1", "n", "import contextlib, io\n    out = io.StringIO()\n    with contextlib.redirect_stdout(out):\n        report(3)\n    assert out.getvalue() == 'total 3\\n'", "assert report(1) is None", plain=False),
    _case("patched constant", "RATE = 2\n\ndef taxed(x):\n    return x - RATE\n", "x - RATE", "x + RATE", "import pytest, m\n    old, m.RATE = m.RATE, 7\n    try:\n        assert taxed(1) == 8\n    finally:\n        m.RATE = old", "assert taxed(0) != 1", plain=False),
    _case("named tuple", "from typing import NamedTuple\n\nclass P(NamedTuple):\n    x: int\n    y: int\n\ndef swap(p):\n    return P(p.x, p.y)\n", "P(p.x, p.y)", "P(p.y, p.x)", "from m import P\n    assert swap(P(1, 2)) == P(2, 1)", "from m import P\n    assert swap(P(1, 1)) == P(1, 1)", plain=False),
)  # fmt: skip
