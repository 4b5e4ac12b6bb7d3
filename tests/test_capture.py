from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from heal_bot.capture import literal

MODULE = """
from heal_bot.capture import capture

class Evil(str):
    def __repr__(self):
        return "__import__('os').system('touch pwned')"

class Loud(Exception):
    def __str__(self):
        raise RuntimeError

@capture(into="captured")
def price(text, password="x", *rest, unit="kg"):
    if text == "loud":
        raise Loud
    return float(text)

@capture()
def off(text):
    return float(text)
"""


def _run(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    (folder / "shop.py").write_text(MODULE)
    argv = [sys.executable, "-c", f"import sys; sys.path.insert(0, '.'); import shop; {code}"]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=60)


def _captured(folder: Path) -> list[Path]:
    return sorted((folder / "captured").glob("*.py")) if (folder / "captured").exists() else []


def test_an_exception_passes_on_and_becomes_a_test_that_fails(tmp_path: Path) -> None:
    done = _run(tmp_path, "shop.price('12,50', 'hunter2', 1, [2, (3,)], unit='g')")
    assert "ValueError: could not convert string to float: '12,50'" in done.stderr
    (test,) = _captured(tmp_path)
    assert "price('12,50', '***', *(1, [2, (3,)]), unit='g')" in test.read_text()
    assert "hunter2" not in test.read_text()
    argv = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir=."]
    ran = subprocess.run(
        [*argv, "-o", "pythonpath=.", str(test)], cwd=tmp_path, capture_output=True, text=True
    )
    assert "1 failed" in ran.stdout
    (case,) = ElementTree.parse(test.with_suffix(".xml")).getroot()
    assert case.get("name") == test.stem
    assert "ValueError" in str(case[0].get("message"))


def test_the_same_failure_is_written_once(tmp_path: Path) -> None:
    code = "[__import__('contextlib').suppress(ValueError).__enter__()]"
    again = "\nfor t in ('a', 'b'):\n  try: shop.price(t)\n  except ValueError: pass"
    _run(tmp_path, code + again)
    assert len(_captured(tmp_path)) == 1


def test_it_is_off_by_default(tmp_path: Path) -> None:
    assert "ValueError" in _run(tmp_path, "shop.off('x')").stderr
    assert _captured(tmp_path) == []


def test_an_object_with_a_repr_of_its_own_is_not_written(tmp_path: Path) -> None:
    assert "ValueError" in _run(tmp_path, "shop.price(shop.Evil('x'))").stderr
    assert _captured(tmp_path) == []


def test_an_exception_that_cannot_be_printed_does_no_harm(tmp_path: Path) -> None:
    assert "Loud" in _run(tmp_path, "shop.price('loud')").stderr
    assert len(_captured(tmp_path)) == 1


@pytest.mark.parametrize(
    "value",
    [1, -2.5, True, None, "a'b\n", b"\x00", [1, [2]], (1,), (), {"a": {1: (2, 3)}}, {1, 2}, 3 + 4j],
)
def test_plain_values_survive(value: object) -> None:
    text = literal(value)
    assert text is not None
    assert eval(text) == value


@pytest.mark.parametrize(
    "value", [object(), float("nan"), float("inf"), set(), [object()], {"a": print}, "x" * 30_000]
)
def test_other_values_do_not(value: object) -> None:
    assert literal(value) is None


def test_a_list_that_holds_itself_is_no_literal() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert literal(loop) is None


def test_it_needs_the_standard_library_alone() -> None:
    code = (
        "import sys; before = set(sys.modules); import heal_bot.capture, heal_bot.plugin\n"
        "new = {m.partition('.')[0] for m in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names) - {'heal_bot', 'pytest', '_pytest',"
        " 'pluggy', 'iniconfig', 'packaging', 'pygments', 'py', '__editable___'}))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
