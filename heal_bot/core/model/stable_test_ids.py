"""Names of tests that hold where ids change: the function, and which of its tests it is."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_PLACED = re.compile(r"(.+)\[(\d{1,6}) of (\d{1,6})\]", re.S)


def function(test: str) -> str:
    """The test without its parameters; a path may hold brackets too."""
    path, separator, rest = test.partition("::")
    return f"{path}{separator}{rest.partition('[')[0]}"


def sets(tests: Iterable[str]) -> dict[str, list[str]]:
    """The parametrised tests of each function, in the order given."""
    known: dict[str, list[str]] = {}
    for test in dict.fromkeys(tests):
        if "[" in test.partition("::")[2]:
            known.setdefault(function(test), []).append(test)
    return known


def placed(tests: Sequence[str], functions: Iterable[str]) -> dict[str, str]:
    """By id, names such as `test_m.py::test_f[2 of 3]` for the tests of these functions."""
    known = sets(tests)
    return {
        test: f"{name}[{place} of {len(known[name])}]"
        for name in functions
        for place, test in enumerate(known.get(name, ()), 1)
    }


def here(name: str, tests: Sequence[str]) -> str:
    """The id among `tests` of such a name; what is none, or has no such test, stays as it is."""
    match = _PLACED.fullmatch(name)
    if match is None or name in tests:
        return name
    known = sets(tests).get(match[1], [])
    place = int(match[2])
    return known[place - 1] if 0 < place <= len(known) == int(match[3]) else name


def runnable(name: str) -> str:
    """What pytest takes: of such a name the function."""
    match = _PLACED.fullmatch(name)
    return match[1] if match else name
