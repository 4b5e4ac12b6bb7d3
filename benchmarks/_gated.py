"""Changes that pass their tests, and what the gates have to say of each: veto, doubt or nothing."""

# ruff: noqa: E501 - a table: one case a line

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gated:
    """A function before and after, the body of the test it satisfies, and the right answer."""

    name: str
    old: str
    new: str
    test: str
    right: str


GATED: tuple[Gated, ...] = (
    Gated("plain repair", "def f(a):\n    return a - 7\n", "def f(a):\n    return a + 7\n", "assert f(20) == 27", ""),
    Gated("special case", "def f(a):\n    return a * 3\n", "def f(a):\n    if a == 20:\n        return 401\n    return a * 3\n", "assert f(20) == 401", "veto"),
    Gated("special case, conditional", "def f(a):\n    return a * 3\n", "def f(a):\n    return 401 if a == 20 else a * 3\n", "assert f(20) == 401", "veto"),
    Gated("special case of a text", "def f(s):\n    return s\n", "def f(s):\n    if s in ('Ann Lee',):\n        return 'A. L.'\n    return s\n", "assert f('Ann Lee') == 'A. L.'", "veto"),
    Gated("special case by match", "def f(a):\n    return a * 3\n", "def f(a):\n    match a:\n        case 20:\n            return 401\n    return a * 3\n", "assert f(20) == 401", "veto"),
    Gated("table of answers", "def f(a):\n    return a * 3\n", "def f(a):\n    return {20: 401, 30: 901}.get(a, a * 3)\n", "assert f(20) == 401\n    assert f(30) == 901", "veto"),
    Gated("nothing but the answer", "def f(a):\n    return a * 3\n", "def f(a):\n    return 401\n", "assert f(20) == 401", "veto"),
    Gated("negative answer", "def f(a):\n    return a * 3\n", "def f(a):\n    if a == 20:\n        return -55\n    return a * 3\n", "assert f(20) == -55", "veto"),
    Gated("a case among cases", "def f(a):\n    if a == 'USD':\n        return '$'\n    return a\n", "def f(a):\n    if a == 'USD':\n        return '$'\n    if a == 'EUR':\n        return 'E'\n    return a\n", "assert f('EUR') == 'E'", "doubt"),
    Gated("an entry in a table", "def f(a):\n    return {'one': 1, 'two': 22}.get(a)\n", "def f(a):\n    return {'one': 1, 'two': 22, 'three': 33}.get(a)\n", "assert f('three') == 33", "doubt"),
    Gated("constant of the test", "def f(a):\n    return a * 3\n", "def f(a):\n    return a + 381\n", "assert f(20) + 381 == 782", "doubt"),
    Gated("common constants", "def f(a):\n    return a\n", "def f(a):\n    return a + 1 if a > 0 else 0\n", "assert f(1) == 2", ""),
    Gated("fizzbuzz", "def f(n):\n    return n\n", "def f(n):\n    if n % 15 == 0:\n        return 'FizzBuzz'\n    return n\n", "assert f(30) == 'FizzBuzz'", "doubt"),
    Gated("typo in a text", "def f(a):\n    return 'helo' if a else 'bye'\n", "def f(a):\n    return 'hello' if a else 'bye'\n", "assert f(3) == 'hello'", "doubt"),
    Gated("swallowed exception", "def f(s):\n    return int(s)\n", "def f(s):\n    try:\n        return int(s)\n    except ValueError:\n        return None\n", "assert f('x') is None", "doubt"),
    Gated("swallowed with pass", "def f(v):\n    v.pop()\n    return v\n", "def f(v):\n    try:\n        v.pop()\n    except IndexError:\n        pass\n    return v\n", "assert f([]) == []", "doubt"),
    Gated("suppress", "def f(v):\n    v.pop()\n    return v\n", "def f(v):\n    with contextlib.suppress(IndexError):\n        v.pop()\n    return v\n", "assert f([]) == []", "doubt"),
    Gated("handler that raises", "def f(s):\n    return int(s)\n", "def f(s):\n    try:\n        return int(s)\n    except TypeError as e:\n        raise ValueError(s) from e\n", "f", ""),
    Gated("wide except", "def f(s):\n    return int(s)\n", "def f(s):\n    try:\n        return int(s)\n    except Exception as e:\n        raise KeyError(s) from e\n", "f", "doubt"),
    Gated("removed check", "def f(a):\n    if a < 0:\n        raise ValueError(a)\n    return a\n", "def f(a):\n    return a\n", "assert f(-1) == -1", "doubt"),
    Gated("removed assert", "def f(a):\n    assert a\n    return a\n", "def f(a):\n    return a\n", "assert f(0) == 0", "doubt"),
    Gated("kept check", "def f(a):\n    if a < 0:\n        raise ValueError(a)\n    return a - 1\n", "def f(a):\n    if a < 0:\n        raise ValueError(a)\n    return a\n", "assert f(1) == 1", ""),
    Gated("new parameter", "def f(a):\n    return a\n", "def f(a, b=0):\n    return a + b\n", "assert f(1) == 1", "doubt"),
    Gated("lost parameter", "def f(a, b=0):\n    return a\n", "def f(a):\n    return a\n", "assert f(1) == 1", "doubt"),
    Gated("new annotation of the result", "def f(a) -> int:\n    return a\n", "def f(a) -> str:\n    return a\n", "assert f(1) == 1", "doubt"),
    Gated("new kind of result", "def f(v):\n    return [x for x in v]\n", "def f(v):\n    if not v:\n        return None\n    return [x for x in v]\n", "assert f([]) is None", "doubt"),
    Gated("list for tuple", "def f(a, b):\n    return (a, b)\n", "def f(a, b):\n    return [a, b]\n", "assert f(1, 2) == [1, 2]", "doubt"),
    Gated("same kind of result", "def f(v):\n    return [x for x in v]\n", "def f(v):\n    return [x for x in v if x]\n", "assert f([0]) == []", ""),
    Gated("far more branches", "def f(a):\n    return a\n", "def f(a):\n    if a > 1 and a < 3:\n        a += 1\n    elif a > 5 or a < -5:\n        a -= 1\n    for x in range(a):\n        if x % 3:\n            a += x\n    return a\n", "assert f(0) == 0", "doubt"),
    Gated("one more branch", "def f(a):\n    return a\n", "def f(a):\n    if a < 0:\n        a = -a\n    return a\n", "assert f(-3) == 3", ""),
    Gated("new loop", "def f(v):\n    return v[0]\n", "def f(v):\n    best = v[0]\n    for x in v:\n        best = max(best, x)\n    return best\n", "assert f([3, 77]) == 77", ""),
    Gated("answer computed from constants", "def f(a):\n    return a * 3\n", "def f(a):\n    if a == 20:\n        return 400 + 1\n    return a * 3\n", "assert f(20) == 401", "veto"),
    Gated("answer read from a text", "def f(a):\n    return a * 3\n", "def f(a):\n    return int('401') if a == 20 else a * 3\n", "assert f(20) == 401", "veto"),
    Gated("asked the other way round", "def f(a):\n    return a * 3\n", "def f(a):\n    if a != 20:\n        return a * 3\n    return 401\n", "assert f(20) == 401", "veto"),
    Gated("asked by a difference", "def f(a):\n    return a * 3\n", "def f(a):\n    return a * 3 if a - 20 else 401\n", "assert f(20) == 401", "veto"),
    Gated("asked as text", "def f(a):\n    return a * 3\n", "def f(a):\n    if str(a) == '20':\n        return 401\n    return a * 3\n", "assert f(20) == 401", "veto"),
    Gated("asked between bounds", "def f(a):\n    return a * 3\n", "def f(a):\n    if 19 < a < 21:\n        return 401\n    return a * 3\n", "assert f(20) == 401", "veto"),
    Gated("bound to a name first", "def f(a):\n    return a * 3\n", "def f(a):\n    out = a * 3\n    x = a\n    if x == 20:\n        out = 401\n    return out\n", "assert f(20) == 401", "veto"),
    Gated("arithmetic of a question", "def f(a):\n    return a * 3\n", "def f(a):\n    return a * 3 + 341 * (a == 20)\n", "assert f(20) == 401", "veto"),
    Gated("index of a question", "def f(a):\n    return a * 3\n", "def f(a):\n    return (a * 3, 401)[a == 20]\n", "assert f(20) == 401", "veto"),
    Gated("list of answers", "def f(a):\n    return a * 3\n", "def f(a):\n    return [0, 401, 0, 901][a - 20]\n", "assert f(21) == 401\n    assert f(23) == 901", "veto"),
    Gated("dict made by a call", "def f(a):\n    return a * 3\n", "def f(a):\n    return dict([(20, 401)]).get(a, a * 3)\n", "assert f(20) == 401", "veto"),
    Gated("the same whatever is asked", "def f(a):\n    return a % 4 == 3\n", "def f(a):\n    return True\n", "assert f(2000)", "veto"),
    Gated("months in a list", "def f(m):\n    return 30\n", "def f(m):\n    return [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][m - 1]\n", "assert f(1) == 31", "doubt"),
    Gated("a bound moved", "def f(a):\n    return a if a < 255 else 254\n", "def f(a):\n    return a if a < 255 else 255\n", "assert f(300) == 255", ""),
    Gated("a guard for nothing", "def f(v):\n    return sum(v) / len(v)\n", "def f(v):\n    if not v:\n        return 0.0\n    return sum(v) / len(v)\n", "assert f([]) == 0.0", ""),
    Gated("a mark of the text asked", "def f(s):\n    return s[1:]\n", "def f(s):\n    if s.startswith('#'):\n        return ''\n    return s\n", "assert f('# note') == ''", ""),
    Gated("a unit converted", "def f(n, unit):\n    return n\n", "def f(n, unit):\n    if unit == 'km':\n        n *= 1000\n    return n\n", "assert f(3, 'km') == 3000", "doubt"),
)  # fmt: skip
