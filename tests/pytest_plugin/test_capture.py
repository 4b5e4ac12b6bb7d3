from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import pytest

from heal_bot.pytest_plugin.capture import _Source, literal

MODULE = """
from heal_bot.pytest_plugin.capture import capture

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

class Claims(type):
    def __eq__(self, other):
        return True
    def __hash__(self):
        return hash(int)

class Equal(metaclass=Claims):
    def __repr__(self):
        open("pwned", "w")
        return "1"

@capture(into="captured")
def options(**given):
    raise ValueError(repr(given))

def named(name, module="shop"):
    def inner(text):
        raise ValueError(text)
    inner.__name__ = inner.__qualname__ = name
    inner.__module__ = module
    return capture(into="captured")(inner)
"""


class Colour(IntEnum):
    RED = 1


class Point(NamedTuple):
    x: int
    y: int


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """The module in this process, its folder `captured` below `tmp_path`."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.py").write_text(MODULE)
    spec = importlib.util.spec_from_file_location("shop", tmp_path / "shop.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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


def test_a_class_that_claims_to_be_a_number_is_not_written(shop: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="could not convert"):
        shop.price("x", unit=shop.Equal())
    assert not (tmp_path / "pwned").exists()
    assert _captured(tmp_path) == []


def test_names_of_keywords_stay_data(shop: Any, tmp_path: Path) -> None:
    given = {"a b": 1, "'); import os #": 2, "x\ny": 3}
    with pytest.raises(ValueError, match="a b"):
        shop.options(**given)
    (test,) = _captured(tmp_path)
    (call,) = [n for n in ast.walk(ast.parse(test.read_text())) if isinstance(n, ast.Call)]
    assert [word.arg for word in call.keywords] == [None]
    assert ast.literal_eval(call.keywords[0].value) == given


@pytest.mark.parametrize(
    "given",
    [
        {"password": "hunter2hunter2"},
        {"form": {"user": {"api_key": "hunter2hunter2"}}},
        {"text": "ghp_hunter2hunter2hunter2hunter2"},
        {"url": "https://me:hunter2hunter2@example.invalid/"},
        {"header": b"Bearer hunter2hunter2"},
    ],
)
def test_no_credential_is_written_anywhere(
    shop: Any, tmp_path: Path, given: dict[str, object]
) -> None:
    with pytest.raises(ValueError, match="hunter2"):
        shop.options(**given)
    (test,) = _captured(tmp_path)
    assert "'***'" in test.read_text()
    assert "hunter2" not in test.read_text() + test.with_suffix(".xml").read_text()


@pytest.mark.parametrize(
    "made",
    [
        ("f\nimport os",), ("f; import os",), ("class",), ("<lambda>",), ("f", "os\nimport sys"),
        ("f", "__main__"), ("f", ""),
    ],
)  # fmt: skip
def test_a_function_that_no_test_can_import_writes_nothing(
    shop: Any, tmp_path: Path, made: tuple[str, ...]
) -> None:
    with pytest.raises(ValueError, match=r"^x$"):
        shop.named(*made)("x")
    assert _captured(tmp_path) == []


def test_lists_that_share_each_other_are_given_up_early() -> None:
    class Counted(_Source):
        boxes = 0

        def _box(self, value: object, depth: int) -> str:
            self.boxes += 1
            return super()._box(value, depth)

    shared: list[object] = [0]
    for _ in range(19):
        shared = [shared, shared]
    source = Counted()
    assert literal(shared, source) is None
    assert source.boxes < 20_000


def test_a_call_is_capped_as_a_whole(shop: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="xxx"):
        shop.options(a="x" * 12_000, b="y" * 12_000)
    assert _captured(tmp_path) == []


@pytest.mark.parametrize(
    "value",
    [1, -2.5, True, None, "a'b\n", b"\x00", [1, [2]], (1,), (), {"a": {1: (2, 3)}}, {1, 2}, 3 + 4j],
)
def test_plain_values_survive(value: object) -> None:
    text = literal(value)
    assert text is not None
    assert eval(text) == value


@pytest.mark.parametrize(
    "value", [object(), float("nan"), float("inf"), set(), [object()], {"a": print}, "x" * 30_000,
              [10**5_000], [float("nan")], complex("inf"), frozenset({1}), bytearray(b"x"),
              {1: {2: {3: float("-inf")}}}, [1] * 30_000, Colour.RED, Point(1, 2)]
)  # fmt: skip
def test_other_values_do_not(value: object) -> None:
    assert literal(value) is None


def test_a_list_that_holds_itself_is_no_literal() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert literal(loop) is None


def test_it_needs_the_standard_library_alone() -> None:
    code = (
        "import sys; before = set(sys.modules)\n"
        "import heal_bot.pytest_plugin.capture, heal_bot.pytest_plugin.plugin\n"
        "new = {m.partition('.')[0] for m in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names) - {'heal_bot', 'pytest', '_pytest',"
        " 'pluggy', 'iniconfig', 'packaging', 'pygments', 'py', '__editable___'}))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stdout + done.stderr
