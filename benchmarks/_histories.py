"""Small histories of two commits: half of them change behaviour on purpose, half break it.

In each the second commit turns a test red that it did not touch. What is right: an intended change
is called a stale test, or its repair is labelled as undoing the commit; a regression is searched.
"""

# ruff: noqa: E501 - a table: one case a line

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class History:
    """`old` and `new` are `m.py` at both commits, `tests` are bodies; `also` joins the second."""

    name: str
    intended: bool
    old: str
    new: str
    tests: tuple[str, ...]
    also: dict[str, str] = field(default_factory=dict)


def _on_purpose(name: str, old: str, new: str, *tests: str, also: str = "") -> History:
    added = (
        {"tests/test_new.py": f"from m import *\n\n\ndef test_new():\n    {also}\n"} if also else {}
    )
    return History(name, True, old, new, tests, added)


def _by_mistake(name: str, old: str, new: str, *tests: str) -> History:
    return History(name, False, old, new, tests)


HISTORIES: tuple[History, ...] = (
    _on_purpose("greeting", "def hello(n):\n    return 'Hello ' + n\n", "def hello(n):\n    return 'Hi ' + n\n", "assert hello('Ann') == 'Hello Ann'", also="assert hello('Bo') == 'Hi Bo'"),
    _on_purpose("rounding", "def price(x):\n    return int(x)\n", "def price(x):\n    return round(x)\n", "assert price(2.7) == 2", also="assert price(3.6) == 4"),
    _on_purpose("default currency", "def money(x, unit='USD'):\n    return f'{x} {unit}'\n", "def money(x, unit='EUR'):\n    return f'{x} {unit}.'\n", "assert money(3, 'CHF') == '3 CHF'", also="assert money(3) == '3 EUR.'"),
    _on_purpose("free shipping", "def shipping(total):\n    return 0 if total >= 50 else 5\n", "def shipping(total):\n    return 0 if total >= 80 else 5\n", "assert shipping(60) == 0", also="assert shipping(90) == 0"),
    _on_purpose("new tax", "def taxed(x):\n    return x * 119 // 100\n", "def taxed(x):\n    return x * 120 // 100\n", "assert taxed(100) == 119", also="assert taxed(200) == 240"),
    _on_purpose("empty is none", "def first(v):\n    return v[0] if v else ''\n", "def first(v):\n    return v[0] if v else None\n", "assert first([]) == ''", also="assert first([]) is None"),
    _on_purpose("sorted names", "def names(v):\n    return list(v)\n", "def names(v):\n    return sorted(v)\n", "assert names(['b', 'a']) == ['b', 'a']", also="assert names(['b', 'a']) == ['a', 'b']"),
    _on_purpose("longer password", "def strong(p):\n    return len(p) >= 6\n", "def strong(p):\n    return len(p) >= 12\n", "assert strong('secret1')"),
    _on_purpose("inclusive end", "def span(a, b):\n    return list(range(a, b))\n", "def span(a, b):\n    return list(range(a, b + 1))\n", "assert span(1, 3) == [1, 2]", also="assert span(1, 1) == [1]"),
    _on_purpose("case kept", "def slug(s):\n    return s.lower().replace(' ', '-')\n", "def slug(s):\n    return s.replace(' ', '-')\n", "assert slug('A b') == 'a-b'", also="assert slug('A b') == 'A-b'"),
    _on_purpose("refuse negative", "def root(x):\n    return abs(x) ** 0.5\n", "def root(x):\n    if x < 0:\n        raise ValueError('negative')\n    return x ** 0.5\n", "assert root(-4) == 2.0", also="assert root(9) == 3.0"),
    _on_purpose("two tests of the old", "def tag(s):\n    return '<b>' + s + '</b>'\n", "def tag(s):\n    return '<i>' + s + '</i>'\n", "assert tag('x') == '<b>x</b>'", "assert tag('') == '<b></b>'"),
    _on_purpose("version format", "def version(a, b):\n    return f'{a}.{b}'\n", "def version(a, b):\n    return f'v{a}.{b}'\n", "assert version(1, 2) == '1.2'", also="assert version(1, 2) == 'v1.2'"),
    _on_purpose("retry count", "def waits(n):\n    return [2 ** i for i in range(n)]\n", "def waits(n):\n    return [3 ** i for i in range(n)]\n", "assert waits(3) == [1, 2, 4]", also="assert waits(2) == [1, 3]"),
    _on_purpose("separator", "def row(v):\n    return ','.join(v)\n", "def row(v):\n    return ';'.join(v)\n", "assert row(['a', 'b']) == 'a,b'", also="assert row(['a', 'b']) == 'a;b'"),
    _on_purpose("no raise any more", "def ratio(a, b):\n    if not b:\n        raise ValueError('zero')\n    return a / b\n", "def ratio(a, b):\n    return a / b if b else 0.0\n", "import pytest\n    with pytest.raises(ValueError):\n        ratio(1, 0)", also="assert ratio(1, 0) == 0.0"),
    _by_mistake("wrong attribute", "class P:\n    def __init__(self):\n        self.size = 3\n\ndef area(p):\n    return p.size ** 2\n", "class P:\n    def __init__(self):\n        self.size = 3\n\ndef area(p):\n    return p.sise ** 2\n", "assert area(P()) == 9"),
    _by_mistake("index off the end", "def last(v):\n    return v[len(v) - 1]\n", "def last(v):\n    return v[len(v)]\n", "assert last([1, 2]) == 2"),
    _by_mistake("none has no length", "def count(v):\n    return len(v or [])\n", "def count(v):\n    return len(v)\n", "assert count(None) == 0"),
    _by_mistake("wrong name", "def total(net, tax):\n    return net + tax\n", "def total(net, tax):\n    return nett + tax\n", "assert total(1, 2) == 3"),
    _by_mistake("text and number", "def label(n):\n    return 'no. ' + str(n)\n", "def label(n):\n    return 'no. ' + n\n", "assert label(3) == 'no. 3'"),
    _by_mistake("key error", "def port(c):\n    return c.get('port', 80)\n", "def port(c):\n    return c['port']\n", "assert port({}) == 80"),
    _by_mistake("divides by zero", "def mean(v):\n    return sum(v) / max(1, len(v))\n", "def mean(v):\n    return sum(v) / len(v)\n", "assert mean([]) == 0"),
    _by_mistake("sign, two tests", "def add(a, b):\n    return a + b\n", "def add(a, b):\n    return a - b\n", "assert add(2, 3) == 5", "assert add(-1, 4) == 3"),
    _by_mistake("bound, two tests", "def fits(n, most):\n    return n <= most\n", "def fits(n, most):\n    return n < most\n", "assert fits(3, 3)", "assert fits(0, 0)"),
    _by_mistake("range, two tests", "def squares(n):\n    return [i * i for i in range(n)]\n", "def squares(n):\n    return [i * i for i in range(n - 1)]\n", "assert squares(3) == [0, 1, 4]", "assert squares(1) == [0]"),
    _by_mistake("swapped, two tests", "def sub(a, b):\n    return a - b\n", "def sub(a, b):\n    return b - a\n", "assert sub(5, 3) == 2", "assert sub(0, 1) == -1"),
    _by_mistake("and for or, two tests", "def either(a, b):\n    return a or b\n", "def either(a, b):\n    return a and b\n", "assert either(True, False)", "assert either(0, 7) == 7"),
    _by_mistake("lost negation, two tests", "def unseen(x, seen):\n    return x not in seen\n", "def unseen(x, seen):\n    return x in seen\n", "assert unseen(1, [])", "assert not unseen(1, [1])"),
    _by_mistake("slice, two tests", "def tail(v):\n    return v[1:]\n", "def tail(v):\n    return v[2:]\n", "assert tail([1, 2, 3]) == [2, 3]", "assert tail('ab') == 'b'"),
    _by_mistake("one assertion alone", "def double(x):\n    return x * 2\n", "def double(x):\n    return x * 3\n", "assert double(4) == 8"),
    _by_mistake("one assertion of two", "def area(a, b):\n    return a * b\n", "def area(a, b):\n    return a + b\n", "assert area(2, 3) == 6", "assert area(2, 2) == 4"),
    _on_purpose("module constant", "RATE = 19\n\ndef taxed(x):\n    return x * (100 + RATE) // 100\n", "RATE = 20\n\ndef taxed(x):\n    return x * (100 + RATE) // 100\n", "assert taxed(100) == 119", also="assert taxed(200) == 240"),
    _on_purpose("class attribute", "class Cart:\n    most = 3\n\n    def room(self, n):\n        return self.most - n\n", "class Cart:\n    most = 5\n\n    def room(self, n):\n        return self.most - n\n", "assert Cart().room(1) == 2", also="assert Cart().room(5) == 0"),
    _on_purpose("another exception", "def need(d, k):\n    if k not in d:\n        raise ValueError(k)\n    return d[k]\n", "def need(d, k):\n    if k not in d:\n        raise LookupError(k)\n    return d[k]\n", "import pytest\n    with pytest.raises(ValueError):\n        need({}, 'a')", also="assert need({1: 2}, 1) == 2"),
    _on_purpose("whole rewrite", "def total(v):\n    s = 0\n    for x in v:\n        s += x\n    return s\n", "def total(v):\n    return sum(x for x in v if x > 0)\n", "assert total([1, -2]) == -1", also="assert total([1, -2]) == 1"),
    _by_mistake("constant, two tests", "DAYS = 7\n\ndef weeks(n):\n    return n // DAYS\n", "DAYS = 8\n\ndef weeks(n):\n    return n // DAYS\n", "assert weeks(7) == 1", "assert weeks(28) == 4"),
    _by_mistake("no raise, two tests", "def root(x):\n    if x < 0:\n        raise ValueError(x)\n    return x ** 0.5\n", "def root(x):\n    if x < -100:\n        raise ValueError(x)\n    return x ** 0.5\n", "import pytest\n    with pytest.raises(ValueError):\n        root(-4)", "import pytest\n    with pytest.raises(ValueError):\n        root(-1)"),
    _by_mistake("an exception beside an assertion", "def avg(v):\n    return sum(v) / len(v) if v else 0\n", "def avg(v):\n    return sum(v) / (len(v) - 1)\n", "assert avg([2, 4]) == 3", "assert avg([5]) == 5"),
)  # fmt: skip
