from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.core.model import (
    ChangedFile,
    Cluster,
    Edit,
    Failure,
    Frame,
    Origin,
    Regression,
    Spectrum,
    Suspect,
    Target,
)
from heal_bot.ports import Brief, Observed
from heal_bot.repair.llm.local_variable_trace import SHOWN, WHOLE
from heal_bot.repair.llm.prompt_context import _imports, gather_facts
from heal_bot.repair.llm.suspect_context import write_signature
from heal_bot.source import functions
from tests.fakes import FolderTree

FILES = {
    "shop/money.py": '''import math
from shop.rates import rate


def round_cents(value: float, *, up=True) -> float:
    """Halves go up."""
    return math.floor(rate(value))


class Cart:
    tax = 3

    def __init__(self, prices):
        self.prices = prices

    def total(self):
        return round_cents(sum(self.prices))
''',
    "shop/rates.py": "def rate(value):\n    return value\n",
    "shop/till.py": "from shop.money import *\n\n\ndef ring(x):\n    return round_cents(x)\n",
    "tests/conftest.py": "import pytest\n\n\n@pytest.fixture\ndef cart():\n    return 1\n",
    "tests/shop/test_money.py": """import pytest


@pytest.fixture
def near():
    return 2


class TestCart:
    @pytest.mark.parametrize("n", [1, 2])
    def test_total(self, cart, near, n):
        assert cart == n
""",
    "tests/shop/test_more.py": "def test_more():\n    assert round_cents(1)\n",
    "tests/shop/test_till.py": (
        "def test_ring():\n    assert ring(1) == 1\n\n"
        "class TestUp:\n    def test_up(self, n):\n        assert round_cents(n, up=True) == n\n"
    ),
    "broken.py": "def (",
}


class MemoryTree:
    sha = tree_sha = "0" * 40
    root = Path("/nonexistent")

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(FILES))

    def read(self, path: str) -> bytes:
        return FILES[path].encode()

    def blob(self, path: str) -> str:
        return "0" * 40

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return {}


MONEY = functions.index_targets("shop/money.py", FILES["shop/money.py"])


@pytest.fixture
def facts():
    test = "tests/shop/test_money.py::TestCart::test_total"
    failures = tuple(Failure(f"{test}[{n}]", "AssertionError", f"1 != {n}") for n in range(5))
    lost = Failure("tests/gone.py::test_x", "Error", "boom")
    suspects = tuple(
        Suspect(target, 0.5, ("evidence",))
        for target in MONEY
        if target.qualname in {"round_cents", "round_cents.up", "Cart.total"}
    )
    cluster = Cluster("c1", (*failures, lost), suspects)
    return gather_facts(Brief(cluster, MemoryTree(), lessons=("helped:f",)))


def test_cases_of_one_test_share_its_source_and_fixtures(facts) -> None:
    first, second = facts.failing
    assert ([f.message for f in first.failures], first.hidden) == (
        ["1 != 0", "1 != 1", "1 != 2"],
        2,
    )
    assert "def test_total(self, cart, near, n)" in first.source
    assert "parametrize" in first.source
    assert sorted(fixture.splitlines()[1] for fixture in first.fixtures) == [
        "def cart():",
        "def near():",
    ]
    assert (second.source, second.fixtures) == ("", ())


@pytest.mark.parametrize(
    ("passed", "shown"),
    [
        ((), []),
        (("tests/shop/test_till.py::test_ring", "tests/shop/test_till.py::TestUp::test_up[1]"),
         ["TestUp.test_up"]),
        (("tests/shop/test_till.py::TestUp::test_up[1]", "tests/shop/test_more.py::test_more"),
         ["test_more", "TestUp.test_up"]),
    ],
)  # fmt: skip
def test_tests_that_pass_and_name_the_likeliest_suspect_are_shown(passed, shown) -> None:
    target = next(one for one in MONEY if one.qualname == "round_cents")
    cluster = Cluster("c1", (Failure("tests/gone.py::test_x", "E", ""),), (Suspect(target, 1, ()),))
    facts = gather_facts(Brief(cluster, MemoryTree(), passed=frozenset(passed)))
    assert [one.qualname for one in facts.passing] == shown


def test_of_tests_that_pass_those_that_run_the_likeliest_suspect_come_first() -> None:
    target = next(one for one in MONEY if one.qualname == "round_cents")
    cluster = Cluster("c", (), (Suspect(target, 1.0, ()),))
    ring, more, up = ("tests/shop/test_till.py::test_ring", "tests/shop/test_more.py::test_more",
                      "tests/shop/test_till.py::TestUp::test_up[2]")  # fmt: skip
    spectrum = Spectrum(
        ((target.path, 7), (target.path, 17), (target.path, 5)), {ring: 0b11, more: 0b110, up: 0b01}
    )
    brief = Brief(cluster, MemoryTree(), passed=frozenset({ring, more, up}), spectrum=spectrum)
    assert [one.qualname for one in gather_facts(brief).passing] == ["TestUp.test_up", "test_ring"]


def test_imports_that_depend_on_the_version_are_shown() -> None:
    text = (
        "import os\nif os.sep == '/':\n    from typing import Self\nelse:\n    Self = None\n"
        "try:\n    import yaml\nexcept ImportError:\n    yaml = None\nif os.sep:\n    X = 1\n"
    )
    shown = _imports(text)
    assert "from typing import Self" in shown
    assert "except ImportError:" in shown
    assert "X = 1" not in shown


def test_what_is_no_function_has_no_tests_of_its_own() -> None:
    line = Target("broken.py", "round_cents", 0, "lines", 1, 1, "def (")
    cluster = Cluster("c1", (Failure("tests/gone.py::test_x", "E", ""),), (Suspect(line, 1, ()),))
    passed = frozenset({"tests/shop/test_more.py::test_more"})
    assert gather_facts(Brief(cluster, MemoryTree(), passed=passed)).passing == ()


def test_suspects_come_once_with_the_outline_of_their_class(facts) -> None:
    assert [t.qualname for t in facts.targets] == ["round_cents", "Cart.total"]
    assert facts.suspects[1].outline == (
        "class Cart:",
        "    tax = 3",
        "    def __init__(self, prices)",
    )


def test_what_suspects_call_is_there_whole_and_who_calls_them_too(facts) -> None:
    assert [(one.name, one.source) for one in facts.related] == [
        ("shop/rates.py::rate", "def rate(value):\n    return value\n")
    ]
    (caller,) = facts.neighbours
    assert caller.partition("\n")[::2] == (
        "shop/till.py:5 in ring calls round_cents:",
        "def ring(x):\n    return round_cents(x)",
    )


def test_constants_and_initializers_far_down_are_minor_unless_they_failed_or_changed() -> None:
    more = "".join(f"\n\ndef f{n}():\n    return {n}\n" for n in range(3))
    text = FILES["shop/money.py"] + more + "\n\nA = 1\nB = 2\nC = 3\n"
    targets = functions.index_targets("shop/money.py", text)

    class Tree(MemoryTree):
        def read(self, path: str) -> bytes:
            return text.encode() if path == "shop/money.py" else super().read(path)

        def changed_lines(self) -> dict[str, frozenset[int]]:
            return {"shop/money.py": frozenset({text[: text.index("B = 2")].count("\n") + 1})}

    line = text[: text.index("C = 3")].count("\n") + 1
    failure = Failure(
        "t.py::t", "E", "", (Frame("shop/money.py", line, "<module>", Origin.PROJECT),)
    )
    names = ("f0", "f1", "f2", "A", "B", "C", "Cart.__init__", "Cart.total")
    by_name = {target.qualname: target for target in targets}
    suspects = tuple(Suspect(by_name[name], 1.0) for name in names)
    found = gather_facts(Brief(Cluster("c", (failure,), suspects), Tree())).suspects
    assert [one.target.qualname for one in found if one.minor] == ["A", "Cart.__init__"]
    first = gather_facts(Brief(Cluster("c", (failure,), suspects[3:]), Tree())).suspects
    assert not first[0].minor


def test_the_run_that_shows_values_gives_the_whole_message_too() -> None:
    class Lab:
        def snippet(self, code: str, edits: tuple[Edit, ...] = ()) -> Observed:
            return Observed(
                "exited",
                0,
                f"usage: x\n{SHOWN}\ntime 1 : a = 1\n{WHOLE}\nassert 'long' == 'longer'\n",
            )

    frame = Frame("shop/money.py", 7, "round_cents", Origin.PROJECT)
    failure = Failure("t.py::t", "AssertionError", "assert 'lo...", (frame,))
    cluster = Cluster("c", (failure, Failure("t.py::u", "E", "other")), (Suspect(MONEY[0], 1.0),))
    facts = gather_facts(Brief(cluster, MemoryTree(), lab=Lab(), python="3.11.2"))
    assert facts.values == "shop/money.py:7 in round_cents\ntime 1 : a = 1"
    shown = [failure.message for group in facts.failing for failure in group.failures]
    assert shown == ["assert 'long' == 'longer'", "other"]
    assert facts.python == "3.11.2"


def test_lessons_and_imports_are_told(facts) -> None:
    assert [said.split(" of ")[1] for said in facts.remembered] == ["f fixed a part"]
    assert facts.files == (("shop/money.py", "import math\nfrom shop.rates import rate"),)


def test_a_signature_is_one_line_with_the_first_of_the_docstring() -> None:
    assert write_signature(MONEY[0]) == (
        "def round_cents(value: float, *, up=True) -> float  # Halves go up."
    )


def test_the_commit_that_broke_the_tests_is_told_with_its_part_in_the_suspects_files() -> None:
    files = (
        ChangedFile("shop/money.py", b"a = 1\n", b"a = 2\n"),
        ChangedFile("shop/other.py", b"b = 1\n", b"b = 2\n"),
    )
    test = "tests/shop/test_money.py::TestCart::test_total"
    broke = Regression("a" * 40, "b" * 40, "Simplify", (test,), True, files)
    other = Regression("c" * 40, "d" * 40, "Another", ("tests/gone.py::test_x",), True, files)
    cluster = Cluster("c1", (Failure(test, "E", ""),), (Suspect(MONEY[0], 1.0),))
    told = gather_facts(Brief(cluster, MemoryTree(), regressions=(broke, other))).history
    assert told.startswith(
        "`bbbbbbb` (Simplify) broke this test; it passes at its parent\ndiff --git"
    )
    assert "+a = 2" in told
    assert "other.py" not in told
    assert "Another" not in told


def test_imports_of_another_python_are_told_and_what_runs_as_a_script_is_not(
    tmp_path: Path,
) -> None:
    head = "if sys.version_info >= (3, 11):\n    import tomllib\nelse:\n    import tomli as tomllib"
    script = "if __name__ == '__main__':\n    import argparse\n"
    text = f"import sys\n\n{head}\n\n\ndef f():\n    return 1\n\n\n{script}"
    project = "[project]\nrequires-python = '>=3.8'\n"
    tree = FolderTree.of(tmp_path, {"m.py": text, "pyproject.toml": project})
    suspect = Suspect(functions.index_targets("m.py", text)[0], 1.0)
    cluster = Cluster("c", (Failure("t.py::t", "E", ""),), (suspect,))
    facts = gather_facts(Brief(cluster, tree, python="3.12.1"))
    assert [shown.replace('"', "'") for _, shown in facts.files] == [f"import sys\n{head}"]
    assert facts.python == "3.12.1 (the project admits 3.8)"


def test_an_overload_is_no_suspect_to_show(tmp_path: Path) -> None:
    stub = "@cache\n@typing.overload\ndef f(a: int) -> int: ...\n\n\n"
    text = f"import typing\n\n\n{stub}@overload(clip)\ndef f(a):\n    return a\n"
    tree = FolderTree.of(tmp_path, {"m.py": text})
    suspects = tuple(Suspect(target, 1.0) for target in functions.index_targets("m.py", text))
    cluster = Cluster("c", (Failure("t.py::t", "E", ""),), suspects)
    shown = gather_facts(Brief(cluster, tree)).suspects
    assert [one.minor for one in shown] == [True, False]
