"""What the text of a collection error tells: the source, the line, the message, the files."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from heal_bot.core.model import Removal
from heal_bot.verification import collection_failures
from heal_bot.verification.baseline import reproduce
from tests.fakes import FolderTree, ScriptedRunner, context_of, quiet_run, suite

FILES = {
    "src/shop/__init__.py": "",
    "src/shop/a.py": "from shop.b import one\n",
    "src/shop/b.py": "from shop.a import two\n",
    "tests/test_a.py": "from shop.a import x\n",
    "tests/test_b.py": "from shop.b import x\n",
    "tests/data.py": "",
    "check.py": "def test_it():\n    pass\n",
}
TOP = "tests/test_a.py:1: in <module>\n    from shop.a import x\n"
LIBRARY = "/usr/lib/python3.11/site-packages/x/a.py:9: in <module>\n    import y\n"
A = "src/shop/a.py:1: in <module>\n    from shop.b import one\n"
B = "src/shop/b.py:1: in <module>\n    from shop.a import two\n"
CIRCLE = (
    "ImportError: cannot import name 'two' from partially initialized module 'shop.a'"
    " (most likely due to a circular import) (src/shop/a.py)"
)


@dataclass(frozen=True)
class Tree(FolderTree):
    """One whose lines are all from one commit, and where another took `one` out of b.py."""

    def blamed(self, path: str, line: int) -> tuple[str, str]:
        return "b" * 40, "Bring it"

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return {"src/shop/a.py": frozenset({7})}

    def removal(self, path: str, name: str) -> Removal | None:
        known = {("src/shop/b.py", "one"): b"def one():\n    pass\n", ("shop/c.py", ""): b""}
        before = known.get((path, name))
        return None if before is None else Removal("d" * 40, "Drop it", path, before)


def _tree(tmp_path: Path) -> Tree:
    return Tree(FolderTree.of(tmp_path, FILES).root)


@pytest.mark.parametrize(
    ("said", "place", "message", "title"),
    [
        pytest.param(
            f"{TOP}{A}E   ImportError: cannot import name 'one' from 'shop.b' (src/shop/b.py)\n",
            "src/shop/a.py:1",
            "ImportError: cannot import name 'one' from 'shop.b' (src/shop/b.py)",
            "Drop it",
            id="a name that a commit took away",
        ),
        pytest.param(
            f"{TOP}{A}E   ModuleNotFoundError: No module named 'shop.c'\n",
            "src/shop/a.py:1",
            "ModuleNotFoundError: No module named 'shop.c'",
            "Drop it",
            id="a module that a commit took away",
        ),
        pytest.param(
            f'{TOP}E     File "src/shop/a.py", line 7\nE       def f(\nE            ^\n'
            "E   SyntaxError: '(' was never closed\n",
            "src/shop/a.py:7",
            "SyntaxError: '(' was never closed",
            "Bring it",
            id="the line of the parser",
        ),
        pytest.param(
            f"{TOP}{A}{LIBRARY}E   ValueError: no\nE   more of it\n",
            "src/shop/a.py:1",
            "ValueError: no",
            "Bring it",
            id="the innermost line of the project",
        ),
        pytest.param(
            f"{TOP}{A}{B}E   {CIRCLE}\n",
            "src/shop/b.py:1",
            f"{CIRCLE}: shop.a -> shop.b -> shop.a",
            "Bring it",
            id="a circle",
        ),
    ],
)
def test_the_text_of_a_collection_error_names_the_source_and_since_when(
    said: str, place: str, message: str, title: str, tmp_path: Path
) -> None:
    broken = replace(suite(), errors=(("tests/test_a.py", said), ("tests/test_b.py", said)))
    found = collection_failures.find_uncollected(broken, _tree(tmp_path))
    assert list(found) == ["tests/test_a.py", "tests/test_b.py"]
    for failure in found.values():
        assert failure.broken is not None
        assert f"{failure.broken.path}:{failure.broken.line}" == place
        assert (failure.broken.message, failure.broken.title) == (message, title)
        assert failure.message == message.partition(": ")[2].partition(": shop.a ->")[0]


@pytest.mark.parametrize(("before", "title"), [("x = 1\n", "Bring it"), ("x = (\n", "")])
def test_no_commit_is_named_for_a_file_that_did_not_parse_before(
    before: str, title: str, tmp_path: Path
) -> None:
    class Former(Tree):
        def former(self, path: str) -> bytes | None:
            return before.encode()

    said = f'{TOP}E     File "src/shop/a.py", line 7\nE   SyntaxError: invalid syntax\n'
    broken = replace(suite(), errors=(("tests/test_a.py", said),))
    found = collection_failures.find_uncollected(broken, Former(_tree(tmp_path).root))
    assert found["tests/test_a.py"].broken is not None
    assert found["tests/test_a.py"].broken.title == title


def test_a_conftest_that_cannot_be_loaded_stands_for_the_test_files_of_its_folder(
    tmp_path: Path,
) -> None:
    said = f"ImportError while loading conftest 'tests/conftest.py'.\n{A}E   NameError: no\n"
    broken = replace(suite(), errors=(("tests/conftest.py", said),))
    found = collection_failures.find_uncollected(broken, _tree(tmp_path))
    assert list(found) == ["tests/test_a.py", "tests/test_b.py"]


@pytest.mark.parametrize(
    ("file", "said", "status"),
    [
        ("tests/test_a.py", f"{TOP}{A}E   NameError: name 'x' is not defined\n", "confirmed"),
        ("tests/test_a.py", f"{TOP}E   ImportError: cannot import name 'x'\n", "stale_test"),
        ("check.py", "check.py:1: in <module>\nE   NameError: name 'x'\n", "stale_test"),
        ("src/shop/a.py", f"{A}E   NameError: name 'x' is not defined\n", "confirmed"),
        (
            "tests/test_a.py",
            f"{TOP}{A}E   ModuleNotFoundError: No module named 'numpy'\n",
            "explained",
        ),
    ],
)
def test_source_that_is_broken_is_the_code_s_fault_and_a_test_that_is_the_test_s(
    file: str, said: str, status: str, tmp_path: Path
) -> None:
    run, _ = quiet_run()
    runner = ScriptedRunner([replace(suite(), errors=((file, said),))])
    baseline = reproduce(context_of(run, runner, _tree(tmp_path)), None)
    (item,) = baseline.reproduced
    assert item.status == status
    assert (item.failure.broken is not None) == (status == "confirmed")
