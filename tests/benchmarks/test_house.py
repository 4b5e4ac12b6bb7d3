"""The house in numbers, on a checkout of a few files."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import house

ALIKE = "".join(f"value_{n} = {n}\n" for n in range(7))
TANGLED = "def f(a):\n" + "".join(f"    if a == {n}:\n        return {n}\n" for n in range(11))
FILES = {
    "heal_bot/__init__.py": "",
    "heal_bot/a/__init__.py": "",
    "heal_bot/a/one.py": "from heal_bot.b import two\n" + ALIKE,
    "heal_bot/b/__init__.py": "",
    "heal_bot/b/one.py": ALIKE,
    "heal_bot/b/two.py": "def f():\n    from heal_bot.a.one import value_1\n",
    "heal_bot/repair/__init__.py": "x = 1\n",
    "heal_bot/repair/long.py": TANGLED + "y = 1\n" * 40,
    "heal_bot/repair/templates/tangled.py": TANGLED,
    "benchmarks/one.py": "x = 1\n",
}


@pytest.fixture
def told(tmp_path: Path) -> dict[str, object]:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return house.measure(tmp_path)


def test_what_is_found_twice_or_leads_in_a_circle_is_counted(told: dict[str, object]) -> None:
    assert told["ambiguous_stems"] == ["one"]
    assert (told["circles"], told["duplicates"], told["complex_functions"]) == (1, 2, 1)


def test_lines_and_modules_are_counted(told: dict[str, object]) -> None:
    assert told["lines"] == sum(FILES[name].count("\n") for name in FILES if "heal_bot" in name)
    outside = [name for name in FILES if name.startswith(("heal_bot/a", "heal_bot/b"))]
    assert told["lines_outside_repair"] == sum(FILES[name].count("\n") for name in outside)
    assert (told["top_level_modules"], told["tiny_modules"], told["benchmark_lines"]) == (1, 4, 1)
