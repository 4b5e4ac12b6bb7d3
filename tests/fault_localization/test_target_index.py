"""Lines to functions, for suspects."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from heal_bot.fault_localization.target_index import Places

TEXT = """\
LIMIT = 3

def deco(f):
    kept = f
    @kept
    def wrapper(
        a,
    ):
        return a
    return wrapper

class K:
    size = (
        1
    )
    def one(self, n=2): return n
"""


def _tree(files):
    name = "locate_conftest"
    spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / "conftest.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.MemoryTree(files)


def test_each_line_belongs_to_the_function_that_runs_it() -> None:
    places = Places(_tree({"m.py": TEXT}))
    owners = [places.running("m.py", line) for line in range(1, 17)]
    assert [owner and owner.qualname for owner in owners] == [
        None, None, None, "deco", None, None, None, None, "deco.<locals>.wrapper", "deco",
        None, None, None, None, None, "K.one",
    ]  # fmt: skip


def test_import_time_lines_belong_to_their_statement() -> None:
    places = Places(_tree({"m.py": TEXT}))
    found = [places.statement("m.py", line) for line in (1, 2, 14, 16)]
    assert [one and one.qualname for one in found] == ["LIMIT", None, "K.size", "K.one.n"]


def test_an_assertion_of_a_test_case_is_no_target_wherever_it_lies() -> None:
    source = (
        "class Asserts:\n"
        "    def assertParses(self, text):\n"
        "        self.assertEqual(parse(text), text)\n"
        "    def assert_valid(self, text):\n"
        "        if not text:\n"
        "            raise ValueError(text)\n"
    )
    places = Places(_tree({"testing.py": source}))
    assert [e.target.qualname for e in places.entries("testing.py")] == ["Asserts.assert_valid"]


def test_files_are_told_apart_and_unreadable_ones_are_named() -> None:
    files = {"m.py": "def (", "checks.py": "", "tests/h.py": "", "setup.py": "", "a.txt": ""}
    places = Places(_tree(files), ("checks.py::test_a",))
    assert places.project() == ("m.py",)
    assert [p for p in files if places.is_test(p)] == ["checks.py", "tests/h.py"]
    assert places.entries("m.py") == ()
    assert "does not parse" in places.unread["m.py"]
