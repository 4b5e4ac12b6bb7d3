"""Where a name of the standard library is imported from."""

from __future__ import annotations

import pytest

from heal_bot.core.model import Failure
from heal_bot.repair.templates.failure_hints import gather
from heal_bot.repair.templates.missing_import import lines
from tests.repair.conftest import Files


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("replace", ["from dataclasses import replace"]),
        ("Counter", ["from collections import Counter"]),
        ("count", ["from itertools import count"]),
        ("reduce", ["from functools import reduce"]),
        ("floor", ["from math import floor"]),
        ("insort", ["from bisect import insort"]),
        ("suppress", ["from contextlib import suppress"]),
        ("deepcopy", ["from copy import deepcopy"]),
        ("datetime", ["import datetime", "from datetime import datetime"]),
        ("Path", ["from pathlib import Path"]),
        ("digits", ["from string import digits"]),
        ("itemgetter", ["from operator import itemgetter"]),
        ("json", ["import json"]),
        ("total", []),
    ],
)
def test_a_name_has_one_home(name: str, found: list[str]) -> None:
    evidence = gather([Failure("t::t", "NameError", f"name '{name}' is not defined")])
    assert lines(Files({}), "m.py", evidence) == tuple((name, line) for line in found)
