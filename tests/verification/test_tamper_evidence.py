from __future__ import annotations

import asyncio
from typing import Any

import pytest

from heal_bot.core.model import Edit, Target
from heal_bot.source import functions
from heal_bot.verification.tamper_evidence import not_outside, poison_change


def _edit(source: str, name: str = "f", new: str = "", kind: str = "function") -> Edit:
    target = functions.find_target(functions.index_targets("m.py", source), name, kind)
    assert target is not None
    return Edit(target, new or target.source)


def _run(source: str, call: str) -> list[Any]:
    """What the poisoned function has seen when it raised."""
    (poisoned,) = poison_change((_edit(source),))
    names: dict[str, Any] = {"seen": [], "asyncio": asyncio}
    exec(poisoned.new_source, names)
    with pytest.raises(BaseException, match="poisoned by heal-bot"):
        eval(call, names)
    seen: list[Any] = names["seen"]
    return seen


SILENT = "def f(x):\n    try:\n        seen.append(x)\n    except BaseException:\n        pass\n"


@pytest.mark.parametrize(
    ("source", "call", "seen"),
    [
        ("def f(x):\n    seen.append(x)\n    return x\n", "f(1)", [1]),
        ("def f(x):\n    seen.append(x)\n    raise KeyError(x)\n", "f(1)", [1]),
        ("def f(x):\n    global late\n    late = x\n    seen.append(late)\n", "f(1)", [1]),
        ('def f(x):\n    """Said\n  askew."""\n', "f(1)", []),
        ("def f(x):\n    yield seen.append(x)\n", "next(f(1))", []),
        ("def f(x):\n    seen.append(x)\n    return lambda: (yield)\n", "f(1)", [1]),
        ("async def f(x):\n    seen.append(x)\n", "asyncio.run(f(1))", [1]),
        (SILENT, "f(1)", [1]),
    ],
)  # fmt: skip
def test_a_poisoned_function_runs_its_body_and_raises_whatever_the_body_does(
    source: str, call: str, seen: list[Any]
) -> None:
    assert _run(source, call) == seen


def test_a_poisoned_method_keeps_its_place_and_other_targets_stay() -> None:
    source = "class C:\n    n = 1\n\n    def f(self):\n        return super().__str__()\n"
    edits = (_edit(source, "C.f"), _edit(source, "C.n", "    n = 2\n", "class_attribute"))
    poisoned, kept = poison_change(edits)
    assert poisoned.new_source.startswith("    def f(self):\n        try:\n")
    assert kept == edits[1]
    assert poison_change(edits[1:]) == ()


@pytest.mark.parametrize(
    ("source", "name", "reason"),
    [
        ("def f(x):\n    return x\n", "f", ""),
        ("def f(x):\n    return [y for y in x]\n", "f", ""),
        ("class C:\n    def f(self):\n        return 1\n", "C.f", "no module-level function"),
        ("def f(x):\n    yield x\n", "f", "generator or coroutine"),
        ("async def f(x):\n    return x\n", "f", "generator or coroutine"),
        ("@cache\ndef f(x):\n    return x\n", "f", "decorated"),
        ("if 1:\n    def f(x):\n        return x\n", "f", "no module-level function"),
    ],
)
def test_only_plain_module_level_functions_can_be_called_from_outside(
    source: str, name: str, reason: str
) -> None:
    said = not_outside((_edit(source, name),))
    assert said == "" if not reason else reason in said


def test_one_target_that_is_no_function_keeps_all_inside() -> None:
    target = Target("m.py", "RATE", 0, "assignment", 1, 1, "RATE = 1\n")
    plain = _edit("def f(x):\n    return x\n")
    assert "RATE is no function" in not_outside((plain, Edit(target, "RATE = 2\n")))
