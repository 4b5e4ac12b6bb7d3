"""Small programs with one mistake each: the search finds the repair that also passes unseen checks.

The visible checks steer the search as failing tests would; the unseen ones judge what it found.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import pytest

from heal_bot.core.model import Failure

_MOST = 3000


@dataclass(frozen=True)
class Task:
    name: str
    source: str
    visible: str
    unseen: str
    kind: str = "AssertionError"
    message: str = ""
    within: int = 5


TASKS = [
    Task(
        "overdue",
        "def f(days, limit):\n    return days > limit\n",
        "assert f(3, 3) is True and f(2, 3) is False and f(4, 3) is True",
        "assert [f(n, 5) for n in range(8)] == [n >= 5 for n in range(8)]",
    ),
    Task(
        "last page",
        "def f(total, size):\n    pages = total // size\n    if total % size:\n"
        "        pages += 2\n    return pages\n",
        "assert f(10, 5) == 2 and f(11, 5) == 3",
        "assert [f(n, 4) for n in range(9)] == [0, 1, 1, 1, 1, 2, 2, 2, 2]",
    ),
    Task(
        "triangle",
        "def f(n):\n    total = 0\n    for i in range(n):\n        total += i\n    return total\n",
        "assert f(3) == 6 and f(1) == 1 and f(0) == 0",
        "assert [f(n) for n in range(6)] == [0, 1, 3, 6, 10, 15]",
    ),
    Task(
        "leap year",
        "def f(y):\n    return y % 4 == 0 or y % 100 != 0 or y % 400 == 0\n",
        "assert f(2024) and not f(1900) and f(2000) and not f(2023)",
        "assert [y for y in range(1896, 1912) if f(y)] == [1896, 1904, 1908]",
    ),
    Task(
        "initials",
        'def f(name):\n    return "".join(w[0] for w in name.split(","))\n',
        'assert f("ada lovelace") == "al"',
        'assert f("alan mathison turing") == "amt"',
        message="assert 'a' == 'al'",
    ),
    Task(
        "same word",
        "def f(a, b):\n    return a == b.lower()\n",
        'assert f("Ab", "aB") and not f("ab", "cd")',
        'assert f("XY", "xy") and f("xy", "XY") and not f("x", "y")',
    ),
    Task(
        "trimmed",
        "def f(line):\n    key, value = line.split('=')\n    return key.strip(), value\n",
        "assert f('a = b') == ('a', 'b')",
        "assert f(' x=y ') == ('x', 'y')",
    ),
    Task(
        "width",
        "def f(box):\n    left, right = box\n    return left - right\n",
        "assert f((2, 7)) == 5 and f((0, 1)) == 1",
        "assert f((-3, 3)) == 6",
    ),
    Task(
        "stock",
        "def f(stock, name):\n    return stock[name] > 0\n",
        "assert f({}, 'a') is False and f({'a': 1}, 'a') is True",
        "assert f({'b': 3}, 'a') is False and f({'a': 0}, 'a') is False",
        "KeyError",
        "KeyError: 'a'",
    ),
    Task(
        "average",
        "def f(xs):\n    return sum(xs) / len(xs)\n",
        "assert f([]) == 0 and f([2, 4]) == 3",
        "assert f([1]) == 1 and f([]) == 0",
        "ZeroDivisionError",
        "division by zero",
    ),
    Task(
        "greeting",
        "class User:\n    def __init__(self, name): self.name = name\n\n\n"
        "def f(user):\n    return user.name.title()\n",
        "assert f(None) == '' and f(User('ann')) == 'Ann'",
        "assert f(User('bob b')) == 'Bob B' and f(None) == ''",
        "AttributeError",
        "'NoneType' object has no attribute 'name'",
    ),
    Task(
        "count down",
        "def f(n):\n    out = []\n    while n > 0:\n        out.append(n)\n        n += 1\n"
        "        if len(out) > 9: break\n    return out\n",
        "assert f(3) == [3, 2, 1] and f(0) == []",
        "assert f(1) == [1] and f(5) == [5, 4, 3, 2, 1]",
    ),
    Task(
        "early return",
        "def f(xs):\n    best = 0\n    for x in xs:\n        if x > best:\n"
        "            best = x\n        return best\n",
        "assert f([1, 3, 2]) == 3 and f([5]) == 5",
        "assert f([2, 9, 4, 1]) == 9",
    ),
    Task(
        "undefined",
        "def f(items):\n    count = 0\n    for item in items:\n        count += 1\n"
        "    return conut\n",
        "assert f([1, 2]) == 2",
        "assert f([]) == 0 and f('abc') == 3",
        "NameError",
        "name 'conut' is not defined",
    ),
    Task(
        "unbound",
        "def f(xs):\n    for x in xs:\n        found = x\n    return found\n",
        "assert f([]) is None and f([1, 2]) == 2",
        "assert f('abc') == 'c' and f(()) is None",
        "UnboundLocalError",
        "cannot access local variable 'found' where it is not associated with a value",
    ),
    Task(
        "label",
        'def f(n):\n    return "n=" + n\n',
        'assert f(3) == "n=3"',
        'assert f(-1) == "n=-1"',
        "TypeError",
        'can only concatenate str (not "int") to str',
    ),
    Task(
        "flattened",
        "def f(rows):\n    out = []\n    for row in rows:\n        out.append(row)\n"
        "    return out\n",
        "assert f([[1], [2, 3]]) == [1, 2, 3]",
        "assert f([[], [1, 1]]) == [1, 1]",
    ),
    Task(
        "default list",
        "def f(item, into=None):\n    into.append(item)\n    return into\n",
        "assert f(1) == [1] and f(2, [1]) == [1, 2]",
        "assert f(1) == [1] and f(1) == [1]",
        "AttributeError",
        "'NoneType' object has no attribute 'append'",
        10,
    ),
    Task(
        "merged",
        "def f(old, new):\n    result = old\n    result.update(new)\n    return result\n",
        "a = {1: 1}\nassert f(a, {2: 2}) == {1: 1, 2: 2} and a == {1: 1}",
        "a = {}\nassert f(a, {3: 3}) == {3: 3} and a == {}",
    ),
    Task(
        "ranking",
        "def f(scores):\n    return sorted(scores, key=lambda s: s[1])\n",
        "assert f([('a', 1), ('b', 3), ('c', 2)]) == [('b', 3), ('c', 2), ('a', 1)]",
        "assert f([('x', 9), ('y', 10)]) == [('y', 10), ('x', 9)]",
    ),
    Task(
        "member",
        "class Account:\n    def __init__(self):\n        self.balance = 0\n"
        "        self.limit = 10\n\n    def pay(self, amount):\n"
        "        if amount > self.balance:\n            return False\n"
        "        self.balance -= amount\n        return True\n",
        "a = Account()\nassert a.pay(5) is True and a.pay(11) is False and a.balance == -5",
        "a = Account()\nassert a.pay(10) is True and a.pay(10) is True and a.pay(11) is False",
        within=5,
    ),
    Task(
        "runs",
        "def f(text):\n    runs, current = [], ''\n    for char in text:\n"
        "        if current and char != current[-1]:\n            runs.append(current)\n"
        "            current = ''\n        current += char\n    return runs\n",
        "assert f('aab') == ['aa', 'b'] and f('') == []",
        "assert f('abbc') == ['a', 'bb', 'c'] and f('') == []",
        within=10,
    ),
    Task(
        "palindrome",
        "def f(text):\n    return text == text[::-1]\n",
        "assert f('Anna') and f('abba') and not f('ab')",
        "assert f('Otto') and not f('Otta') and f('')",
        within=10,
    ),
]  # fmt: skip


def _name(task: Task) -> str:
    return "Account.pay" if "Account" in task.source else "f"


@pytest.mark.parametrize("task", TASKS, ids=lambda t: t.name)
def test_the_search_finds_a_repair_that_passes_unseen_checks(bench, holds, task: Task) -> None:
    assert not holds(task.source, task.visible)
    failure = Failure("test_shop.py::test_it", task.kind, task.message)
    plausible = 0
    found = bench.candidates(task.source, _name(task), failures=[failure])
    for candidate in itertools.islice(found, _MOST):
        changed = bench.changed(task.source, candidate)
        if holds(changed, task.visible):
            plausible += 1
            if holds(changed, task.unseen):
                break
            assert plausible < task.within, candidate.rationale
    else:
        pytest.fail(f"no repair within {_MOST} candidates")
