"""Each family proposes the repair of its example early, and nothing where it has no business."""

from __future__ import annotations

import re

import pytest

from heal_bot.core.model import Failure, Target
from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.failure_hints import gather
from heal_bot.repair.templates.module_context import ModuleContext, explore
from heal_bot.repair.templates.mutation_context import look
from heal_bot.repair.templates.target_ast import survey
from heal_bot.repair.templates.template_table import FAMILIES
from heal_bot.repair.templates.text_edits import applied

# family, the function, the text that is wrong in it, the text that is right, (kind, message)
EXAMPLES = [
    ("comparison", "def f(a, b):\n    return a < b\n", "a < b", "a <= b", ""),
    ("boolean constant", "def f(a):\n    a.done = True\n", "True", "False", ""),
    ("number", "def f(a):\n    return a * 60\n", "60", "61", ""),
    ("number", "def f(a):\n    return a * 1.5\n", "1.5", "0.5", ""),
    ("number", "def f(a):\n    return a * 3\n", "3", "24", "assert 3 == 24"),
    ("arithmetic operator", "def f(a, b):\n    return a + b\n", "a + b", "a - b", ""),
    ("arithmetic operator", "def f(a, b):\n    return a * 2 + b\n", "2 + b", "2 - b", ""),
    ("arithmetic operator", 'def f(a):\n    return "%s!" * a\n', '" * a', '" % a', ""),
    ("augmented assignment", "def f(a):\n    a -= 1\n    return a\n", "-=", "+=", ""),
    ("boolean operator", "def f(a, b):\n    return a and b\n", "and", "or", ""),
    ("off by one", "def f(n):\n    return list(range(n))\n", "range(n)", "range(n + 1)", ""),
    ("off by one", "def f(n):\n    return [n][n - 1]\n", "n - 1]", "n]", ""),
    ("negation", "def f(a):\n    if a:\n        return 1\n", "if a", "if not a", ""),
    ("negation", "def f(a):\n    if not a:\n        return 1\n", "if not a", "if a", ""),
    ("argument order", "def f(a, b):\n    return pow(b, a)\n", "b, a", "a, b", ""),
    ("function", "def f(a):\n    return min(a)\n", "min", "max", ""),
    ("method", "def f(a, b):\n    a.append(b)\n    return a\n", "append", "extend", ""),
    ("method", "def f(a):\n    return a.left\n", ".left", ".right", ""),
    ("method", "def f(a):\n    a.prev.next = a.prev\n", "= a.prev", "= a.next", ""),
    ("branch order", "def f(a):\n    return 1 if a else 2\n", "1 if a else 2", "2 if a else 1", ""),
    ("operand", "def f(a, b):\n    return a - b\n", "a - b", "b - a", ""),
    ("operand", "def f(a, b):\n    return a + b\n", "a + b", "a", ""),
    ("variable", "def f(low, high):\n    return low\n", "return low", "return high", ""),
    ("presence", "def f(a, n=None):\n    return a[:n] if n else a\n", "if n else",
     "if n is not None else", ""),
    ("presence", "def f(n=None):\n    return n or 10\n", "n or 10",
     "n if n is not None else 10", ""),
    ("presence", "def f(n=None):\n    if not n:\n        return 1\n", "not n", "n is None", ""),
    ("presence", "def f(d, k):\n    if d.get(k):\n        return None\n", "d.get(k)",
     "d.get(k) is not None", ""),
    (
        "missing condition",
        "def f(a, n):\n    for i in range(1, n + 1):\n        a.pause()\n    return a\n",
        "        a.pause()\n",
        "        if i < n:\n            a.pause()\n",
        "",
    ),
    (
        "missing condition",
        "def f(a, b):\n    for i, x in enumerate(a):\n        b.append(x)\n    return b\n",
        "        b.append(x)\n",
        "        if i > 0:\n            b.append(x)\n",
        "",
    ),
    (
        "late binding",
        "def f(a):\n    out = []\n    for k in a:\n        n = k + 1\n"
        "        out.append(lambda: k)\n"
        "        out.append(lambda x: n + x)\n    return out\n",
        "lambda: k)\n        out.append(lambda x: n + x)",
        "lambda k=k: k)\n        out.append(lambda x, n=n: n + x)",
        "",
    ),
    (
        "order of branches",
        "def f(n):\n    if n > 1:\n        return 1\n    elif n > 5:\n        return 5\n"
        "    return 0\n",
        "n > 1:\n        return 1\n    elif n > 5:\n        return 5",
        "n > 5:\n        return 5\n    elif n > 1:\n        return 1",
        "",
    ),
    (
        "missing argument",
        "def f(a):\n    return re.sub('b', '', a)\n",
        "'', a)",
        "'', a, flags=re.IGNORECASE)",
        "",
    ),
    ("text", "def f(a):\n    return '%d:%d' % a\n", "'%d:%d'", '"%d:%02d"', ""),
    (
        "accumulation",
        "def f(d, k, v):\n    d[k] = v\n",
        "d[k] = v",
        "d.setdefault(k, []).append(v)",
        "",
    ),
    (
        "accumulation",
        "def f(a, k):\n    a.new = k not in a\n    return a\n",
        "= k not in a",
        "= a.new or k not in a",
        "",
    ),
    (
        "missing call",
        "def f(a, b, up):\n    def top(x):\n        return up[x]\n    up[a] = top(b)\n",
        "up[a]",
        "up[top(a)]",
        "",
    ),
    (
        "return value",
        "def f(a):\n    n = 0\n    for x in a:\n        n += x\n        if n < 0:\n"
        "            return False\n    return True\n",
        "return True",
        "return n == 0",
        "",
    ),
    ("missing call", "def f(name):\n    return name\n", "return name", "return name.strip()", ""),
    ("missing call", "def f(n):\n    return n - 2\n", "n - 2", "abs(n - 2)", ""),
    ("missing call", "def f(a):\n    return (b for b in a)\n", "(b for b", "list(b for b", ""),
    ("shared default", "def f(a, b=[]):\n    b.append(a)\n    return b\n",
     "b=[]):\n", "b=None):\n    if b is None:\n        b = []\n", ""),
    ("shared default", 'def f(a, *, b={}):\n    """Doc."""\n    b[a] = 1\n    return b\n',
     'b={}):\n    """Doc."""\n',
     'b=None):\n    """Doc."""\n    if b is None:\n        b = {}\n', ""),
    ("late binding", "def f(a):\n    return [lambda x: x + i for i in a]\n", "lambda x:",
     "lambda x, i=i:", ""),
    ("late binding", "def f(a):\n    for i in a:\n        def g():\n            return i\n",
     "def g():", "def g(i=i):", ""),
    ("condition operand", "def f(a, b):\n    return a or b\n", "a or b", "a", ""),
    ("await", "async def f(g):\n    return g()\n", "g()\n", "await g()\n", ""),
    ("text", 'def f(a):\n    return ",".join(a)\n', '","', '", "', ""),
    ("bytes", 'def f(a):\n    return a.encode() + "\\n"\n', '"\\n"', 'b"\\n"', ""),
    ("bytes", 'def f(a):\n    return b" ".join(a)\n', 'b" "', '" "', ""),
    ("bytes", 'def f(a, v):\n    return b"k" + a + ": " + v + "; "\n',
     '": " + v + "; "', 'b": " + v + b"; "', ""),
    ("bytes", 'def f(a):\n    a = a.encode()\n    return a.replace(" ", "_")\n',
     '" ", "_"', 'b" ", b"_"', ""),
    ("text", 'def f():\n    return "no"\n', '"no"', '"yes"', "assert 'no' == 'yes'"),
    ("argument drop", "def f(a):\n    return round(a, 2)\n", "a, 2", "a", ""),
    ("return value", "def f(a):\n    total = a\n    return None\n", "None", "total", ""),
    ("accumulation", "def f(a):\n    t = 0\n    t = a\n    return t\n", "t = a", "t += a", ""),
    ("missing argument", "def f(a):\n    return sorted(a)\n", "(a)\n", "(a, reverse=True)\n", ""),
    ("superfluous call", "def f(a):\n    return str(a)\n", "str(a)", "a", ""),
    ("constant for name", "def f(a):\n    return 0\n", "0", "a", ""),
    ("normalisation", "def f(a=None):\n    return a\n", "    return a",
     "    if a is None:\n        a = []\n    return a", ""),
    ("name for expression", "def f(a):\n    return len(a[1:])\n", "a[1:]", "a", ""),
    ("jump", "def f(a):\n    for x in a:\n        break\n", "break", "continue", ""),
    ("lookup", "def f(a, k):\n    return a[k]\n", "a[k]", "a.get(k, 0)", "KeyError: 1"),
    ("statement out", "def f(a):\n    for x in a:\n        g(x)\n        return a\n",
     "        return", "    return", ""),
    ("iteration", "def f(d):\n    for k, v in d:\n        print(k, v)\n", "in d:", "in d.items():",
     ""),
    ("term", "def f(n, k):\n    return g(n)\n", "g(n)", "g(n - k)", ""),
    ("predicate", "def f(a, n):\n    if n > 2:\n        return a\n", "n > 2", "n > 2 or a", ""),
    ("ingredient", "def f(a, b):\n    c = a[b]\n    return b + 1\n", "b + 1", "a[b]", ""),
    ("deletion", "def f(a):\n    a.pop()\n    return a\n", "    a.pop()\n", "", ""),
    ("crash", "def f(total):\n    return totl\n", "totl", "total", "name 'totl' is not defined"),
    ("crash", "def f(a, b):\n    return a / b\n", "a / b", "a / b if b else 0",
     "ZeroDivisionError"),
    ("crash", 'def f(n):\n    return "n: " + n\n', "+ n", "+ str(n)", "TypeError: can only"),
    ("crash", "def f(d):\n    for k in d.keys():\n        d.pop(k)\n", "d.keys()", "list(d.keys())",
     "RuntimeError: dictionary changed size during iteration"),
    ("crash", "def f(s):\n    for k in s:\n        s.add(-k)\n", "in s", "in list(s)",
     "RuntimeError: Set changed size during iteration"),
    ("handler", "def f(a):\n    try:\n        g(a)\n    except KeyError:\n        h()\n",
     "KeyError", "IndexError", "IndexError: list index out of range"),
    ("handler", "def f(a):\n    try:\n        g(a)\n    except KeyError:\n        h()\n",
     "KeyError", "(KeyError, IndexError)", "IndexError: list index out of range"),
    ("handler", "def f(a):\n    if a:\n        raise TypeError(a)\n", "TypeError", "ValueError",
     "TypeError: a must be none"),
    ("handler", "def f(a):\n    if a:\n        raise KeyError\n", "KeyError", "IndexError",
     "KeyError"),
    ("guard", "def f(a):\n    return a[0]\n", "    return a",
     "    if not a:\n        return None\n    return a", "IndexError: out of range"),
    ("store", "def f(d, k):\n    d[k] = 1\n    k = 2\n", "    k = 2", "    d[k] = 2", ""),
    ("statement order", "def f(a):\n    a.sort()\n    b = a[0]\n    return b\n",
     "    a.sort()\n    b = a[0]\n", "    b = a[0]\n    a.sort()\n", ""),
    ("last round", "def f(a):\n    r = []\n    for x in a:\n        r.append(x)\n    return r\n",
     "    return", "    r.append(x)\n    return", ""),
    ("last round", "def f(a):\n    r = []\n    while len(a) > 2:\n        a, b = a[2:], a[:2]\n"
     "        r.append(b)\n    return r\n", "    return", "    r.append(a)\n    return", ""),
    ("never filled", "def f(a):\n    seen = set()\n    for x in a:\n        if x in seen:\n"
     "            return x\n", "return x\n", "return x\n        seen.add(x)\n", ""),
    ("never filled", "def f(a):\n    seen = set()\n    add = seen.add\n    for x in a:\n"
     "        if x in seen:\n            return x\n        pass\n", "pass", "add(x)", ""),
    ("never filled", "def f(a):\n    last = None\n    for x in a:\n        g(last, x)\n",
     "x)\n", "x)\n        last = x\n", ""),
    ("last round", "def f(a):\n    r = None\n    for x in a:\n        if x:\n            yield r\n"
     "        r = x\n", "        r = x\n",
     "        r = x\n    if r is not None:\n        yield r\n", ""),
    ("guard", "def f(a):\n    for x in a:\n        g(x[0])\n", "        g(",
     "        if not x:\n            continue\n        g(", "IndexError: out of range"),
    ("missing argument", "def f(*args, **named):\n    return g(*args)\n", "g(*args)",
     "g(*args, **named)", ""),
    ("statement copy", "def f(a, b):\n    a.pop()\n    g(b)\n",
     "g(b)\n", "g(b)\n    a.pop()\n", ""),
    ("placeholder", "def f(a, k):\n    for x in a:\n        g(x)\n    if k:\n        pass\n",
     "pass", "g(k)", ""),
    ("placeholder", "def f(n):\n    if n:\n        pass\n    return n\n", "pass", "n += 1", ""),
    ("missing condition",
     "def f(a):\n    r = []\n    for x in a:\n        r.append(x)\n    return r\n",
     "        r.append(x)", "        if x not in r:\n            r.append(x)", ""),
    ("missing condition", "def f(a):\n    a.n += 1\n    a.done = True\n", "    a.n += 1",
     "    if not a.done:\n        a.n += 1", ""),
    ("accumulation", "def f(d, k, n):\n    d[k] = n\n    return d\n", "= n",
     "= d.get(k, 0) + n", ""),
    ("accumulation", "def f(d, k, n):\n    d[k] = [n]\n", "= [n]", "= d.get(k, []) + [n]", ""),
    ("missing call", 'def f(a):\n    return "-".join(a)\n', 'join(a)', 'join(a).strip("-")', ""),
    ("missing argument", "def f(a, size):\n    return deque(a), size\n", "deque(a)",
     "deque(a, maxlen=size)", ""),
    ("name for expression", "def f(a, b):\n    for x in b:\n        g(a.day.name)\n", "a.day.name",
     "x.name", ""),
]  # fmt: skip
NOTHING = "def f():\n    pass\n"
IDLE = {
    "comparison": "def f(a):\n    return a + 1\n",
    "arithmetic operator": 'def f(a):\n    return "%s" % a\n',
    "number": "def f(a):\n    return True\n",
    "boolean operator": "def f(a):\n    return not a\n",
    "off by one": "def f():\n    return [[], {}]\n",
    "variable": "def f(a):\n    return a\n",
    "argument order": "def f(a):\n    return g(a)\n",
    "negation": "def f(a):\n    return a\n",
    "missing call": 'def f(a):\n    a = ""\n',
    "crash": "def f(a, b):\n    return a / b\n",
    "never filled": "def f(a):\n    r = []\n    for x in a:\n        r.append(x)\n    return r\n",
    "import": "def f(a):\n    return deque(a)\n",
    "handler": "def f(a):\n    try:\n        g(a)\n    except KeyError:\n        pass\n",
    "await": "def f(g):\n    return g()\n",
    "statement order": "def f(a):\n    return a\n",
    "missing condition": "def f(a):\n    return a\n",
}


def _texts(family: str, source: str, kind: str = "", message: str = "") -> list[tuple[Tier, str]]:
    target = Target("shop.py", "f", 0, "function", 1, source.count("\n"), source)

    class Tree:
        def read(self, path: str) -> bytes:
            return source.encode()

    scope = look(
        survey(target, source, None),
        explore(Tree(), target),  # type: ignore[arg-type]
        gather([Failure("t::t", kind, message)]),
    )
    (found,) = [f for f in FAMILIES if f.name == family]
    return [(c.tier, applied(scope.site.source, c.cuts).decode()) for c in found.changes(scope)]


def _kind(message: str) -> str:
    named = re.match(r"[A-Z]\w+Error", message)
    return named[0] if named else "NameError" if "not defined" in message else "AssertionError"


@pytest.mark.parametrize(("family", "source", "wrong", "right", "message"), EXAMPLES)
def test_the_family_turns_its_example_right(
    family: str, source: str, wrong: str, right: str, message: str
) -> None:
    fixed = source.replace(wrong, right, 1)
    assert fixed != source
    found = _texts(family, source, _kind(message), message)
    texts = [text for _, text in sorted(found, key=lambda one: one[0])]
    assert fixed in texts
    assert texts.index(fixed) < 150


@pytest.mark.parametrize("family", [f.name for f in FAMILIES])
def test_no_family_changes_a_function_that_does_nothing(family: str) -> None:
    changed = _texts(family, NOTHING)
    assert [text for _, text in changed if family not in {"jump", "guard"}] == []


@pytest.mark.parametrize(("family", "source"), IDLE.items())
def test_a_family_without_its_material_is_idle(family: str, source: str) -> None:
    assert _texts(family, source) == []


@pytest.mark.parametrize(
    "source",
    [
        "def f(a):\n    a.remove(1)\n",
        "def f(a):\n    a[0] = 1\n",
        "def f(a):\n    a.b = 1\n",
    ],
)
def test_what_a_statement_changes_is_not_replaced_by_a_copy(source: str) -> None:
    assert [text for _, text in _texts("missing call", source) if "copy()" in text] == []


def test_a_value_that_is_overwritten_before_it_is_read_is_read_first_more_often() -> None:
    lost = "def f(self, now):\n    self.since = now\n    lasted = now - self.since\n"
    kept = "def f(self, now):\n    self.since = now\n    lasted = now - self.begun\n"
    fresh = "def f(now):\n    since = now\n    lasted = now - since\n    return lasted\n"
    tiers = [min(tier for tier, _ in _texts("statement order", s)) for s in (lost, kept, fresh)]
    assert tiers == [Tier.USUAL, Tier.SELDOM, Tier.SELDOM]


def test_what_is_awaited_round_by_round_is_not_copied() -> None:
    source = "async def f(d):\n    async for k in d:\n        d.pop(k)\n"
    message = "RuntimeError: dictionary changed size during iteration"
    assert "list(d)" not in "".join(t for _, t in _texts("crash", source, "RuntimeError", message))


def test_every_family_has_its_own_name() -> None:
    names = [f.name for f in FAMILIES]
    assert len(names) == len(set(names))


def test_every_family_but_those_that_need_a_module_around_has_an_example() -> None:
    untested = {f.name for f in FAMILIES} - {name for name, *_ in EXAMPLES}
    assert untested == {"sibling", "attribute for name", "import"}


def test_a_missing_module_leaves_the_surroundings_empty() -> None:
    class Tree:
        def read(self, path: str) -> bytes:
            raise KeyError(path)

    target = Target("gone.py", "f", 0, "function", 1, 2, NOTHING)
    assert explore(Tree(), target) == ModuleContext()  # type: ignore[arg-type]
