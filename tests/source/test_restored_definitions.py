"""Functions that come back as they were in the history, and nothing else with them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heal_bot.core.model import Candidate, Edit, Removal
from heal_bot.source import functions, line_targets, patch_policy
from tests.source.conftest import MemoryTree

RUN = "def run(cmd):\n    return subprocess.run(cmd, shell=True)\n"
NOW = """import os
import subprocess


def f(a):
    return a


class Kept:
    def __init__(self):
        self.size = 1


def g(a):
    return f(a) + 1


HERE = os.getcwd() + "x"
MADE = f("touch me")
"""
LAST = NOW.count("\n")
AGAIN = "run uses subprocess.run again"


def _tree(now: str = NOW, former: str | None = None) -> MemoryTree:
    before = f"{now}\n\n{RUN}" if former is None else former
    return MemoryTree({"m.py": now.encode()}, earlier={"m.py": before.encode()})


def _lines(number: int, new: str, text: str = NOW) -> Edit:
    target = line_targets.make_target("m.py", text, number, number)
    assert target is not None
    return Edit(target, new)


def _beside(number: int, code: str = RUN, text: str = NOW) -> Edit:
    """An edit that puts code below a line."""
    line = text.splitlines(keepends=True)[number - 1]
    return _lines(number, f"{line}\n\n{code}", text)


def _function(name: str, new: str) -> Edit:
    target = functions.find_target(functions.index_targets("m.py", NOW), name)
    assert target is not None
    return Edit(target, new)


def _judge(*edits: Edit, undoes: str | None = "", tree: MemoryTree | None = None) -> list[str]:
    """Why edits are refused or left to a person; the doubts about them where they are neither."""
    candidate, tree = Candidate(edits, "history", "x", undoes=undoes), tree or _tree()
    if refused := patch_policy.check_candidate(candidate, tree):
        return [refused]
    decisions = patch_policy.list_decisions(candidate, tree)
    return [*(decisions or patch_policy.list_doubts(candidate, tree))]


@pytest.mark.parametrize("line", [6, 15], ids=["below the first", "below the last"])
def test_a_function_comes_back_as_it_was(line: int) -> None:
    assert _judge(_beside(line)) == [AGAIN]


@pytest.mark.parametrize(
    "code",
    [
        RUN.replace("shell=True", "shell=False"),
        RUN.replace("(cmd)", "(cmd=os.system('x'))", 1),
        f"@os.system\n{RUN}",
        f"{RUN.rstrip()}; os.system('x')\n",
        f"{RUN}\n\nrun('id')\n",
        RUN.replace("run(cmd)", "ruп(cmd)", 1),
    ],
    ids=["other body", "other default", "decorator", "same line", "call", "look-alike"],
)
def test_what_was_never_there_does_not_come_with_it(code: str) -> None:
    assert _judge(_beside(6, code)) not in ([], [AGAIN])


def test_nothing_comes_back_that_was_not_there_or_is_not_of_the_history() -> None:
    assert _judge(_beside(6), tree=_tree(former=NOW)) != [AGAIN]
    assert _judge(_beside(6), undoes=None) != [AGAIN]


@pytest.mark.parametrize(
    "use",
    [
        _function("g", "def g(a):\n    run('id')\n    return f(a) + 1\n"),
        _lines(LAST, 'MADE = run("touch me")\n'),
    ],
    ids=["in a function", "at import"],
)
def test_to_call_what_comes_back_is_to_reach_for_it(use: Edit) -> None:
    (said,) = _judge(_beside(6), use)
    assert "newly uses run" in said


def test_a_call_that_comes_back_with_its_function_is_a_doubt() -> None:
    was = "def g(a):\n    run('id')\n    return f(a) + 1\n"
    former = NOW.replace("def g(a):\n", "def g(a):\n    run('id')\n")
    said = _judge(_beside(6), _function("g", was), tree=_tree(former=f"{former}\n\n{RUN}"))
    assert said == [AGAIN, "g uses run again"]


def test_what_stands_below_is_not_new() -> None:
    inner = "    def measure(self):\n        return self.size\n"
    former = NOW.replace("        self.size = 1\n", f"        self.size = 1\n\n{inner}")
    line = NOW.splitlines().index("        self.size = 1") + 1
    edit = _lines(line, f"        self.size = 1\n\n{inner}")
    assert _judge(edit, tree=_tree(former=former)) == []


def test_what_its_imports_mean_now_is_not_what_it_did() -> None:
    code = "def load(data):\n    return codec.loads(data)\n"
    former, now = (f"import {name} as codec\n\n\nLIMIT = 3\n" for name in ("json", "pickle"))
    edit = _beside(4, code, now)
    (said,) = _judge(edit, tree=_tree(now, f"{former}\n\n{code}"))
    assert said != "load uses pickle.loads again"
    assert _judge(_beside(4, code, former), tree=_tree(former, f"{former}\n\n{code}")) == []


SETTER = "    @size.setter\n    def size(self, new):\n        self.new = new\n"
GETTER = "class A:\n    @property\n    def size(self):\n        return 1\n"


@pytest.mark.parametrize(
    ("now", "code"), [(GETTER, SETTER), ("LIMIT = 3\n", "def f(a):\n    return a\n")],
    ids=["a setter beside its getter", "the only function of a module"],
)  # fmt: skip
def test_what_has_a_namesake_or_nothing_beside_it_comes_back(now: str, code: str) -> None:
    tree = _tree(now, f"{now}\n{code}")
    assert _judge(_beside(now.count("\n"), code, now), tree=tree) == []


def test_the_version_before_it_went_counts_where_an_older_one_differs() -> None:
    older = f"{NOW}\n\n{RUN.replace('True', 'False')}"
    gone = Removal("b" * 40, "Drop it", "m.py", f"{NOW}\n\n{RUN}".encode())
    tree = replace(_tree(former=older), removals={"run": gone})
    assert _judge(_beside(6), tree=tree) == [AGAIN]
