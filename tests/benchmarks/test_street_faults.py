"""Faults that come out the same each time, and their replay in a small history."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.street import planted
from benchmarks.street.faults import KINDS, faulty, mutant, targets
from benchmarks.street.planted import ConflictError
from benchmarks.street.recipes import Planted, Recipe
from tests.github_server.repository import GitRepository

BODY = '''\
def mean(values, start=0, *, name="mean"):
    """The mean."""
    total, count = start, 0
    for value in values:
        if value is None or value < 0:
            continue
        total = total + value
        count += 1
        print(name, value, sep=" ")
    if not count:
        return None
    else:
        return round(max(total, 0) / count, 2)
'''
FIRST = f'"""A module."""\n\n\n{BODY}\n\ndef low(values):\n    return min(values)\n'
HONEST = FIRST.replace("min(values)", "min(values, default=None)")
LATER = f"{HONEST}\n\ndef high(values):\n    return max(values)\n"
FAULT = Planted(path="stats.py", qualname="mean", nth=0, kind="negation", seed=3, depth=1,
                inside=False)  # fmt: skip


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_seed_gives_the_same_fault_each_time(kind: str) -> None:
    (target,) = targets("stats.py", BODY)
    made = [faulty(target, kind, seed) for seed in range(20)]
    assert made == [faulty(target, kind, seed) for seed in range(20)]
    assert all(source and source != BODY for source in made)
    for source in made:
        compile(source, "stats.py", "exec")
        assert '"""The mean."""' in source


@pytest.mark.parametrize(
    ("kind", "before", "after"),
    [
        ("term", "return a + b", {"return a", "return b"}),
        ("term", "return (a * 2) - (b + 1)",
         {"return (a * 2)", "return (b + 1)", "return (a) - (b + 1)", "return (2) - (b + 1)",
          "return (a * 2) - (b)", "return (a * 2) - (1)"}),
        ("term", 'return a in ("x", "y")', {'return a in ("y")', 'return a in ("x")'}),
        ("argument", "return f(a, b)", {"return f(a)"}),
        ("argument", "return f(a, key=b)", {"return f(a)"}),
        ("argument", "return f(key=a, **b)", {"return f(**b)", "return f(key=a)"}),
        ("comparison", "return a < b", {"return a <= b", "return a > b"}),
        ("comparison", "return a is not b", {"return a is b"}),
        ("off-by-one", "return a[:b]", {"return a[:b + 1]", "return a[:b - 1]"}),
        ("off-by-one", "return len(a)", {"return len(a) + 1", "return len(a) - 1"}),
        ("name", "return a", {"return b"}),
        ("branch", "return a and b", {"return a", "return b"}),
        ("branch", "if a:\n        b = 1\n    else:\n        b = 2\n    return b",
         {"if a:\n        b = 1\n    return b"}),
        ("constant", "return a == 'on' or b == 'off'",
         {"return a == 'off' or b == 'off'", "return a == 'on' or b == 'on'"}),
        ("call", "return a.strip()", {"return a"}),
        ("call", "return str(a)", {"return a"}),
        ("swapped", "return f(a, b)", {"return f(b, a)"}),
        ("junction", "return a or b", {"return a and b"}),
        ("negation", "return not a", {"return a"}),
        ("early", "for b in a:\n        f(b)\n    return b",
         {"for b in a:\n        f(b)\n        return b\n    return b"}),
        ("default", "return a.get(b, 0)", {"return a.get(b)"}),
        ("operator", "return a - b", {"return a + b"}),
        ("operator", "return a * b", {"return a / b", "return a + b"}),
        ("operator", "a += b\n    return a", {"a -= b\n    return a", "a = b\n    return a"}),
        ("lost", "a.sort()\n    b = a[0]\n    return b",
         {"b = a[0]\n    return b", "a.sort()\n    return b"}),
    ],
)  # fmt: skip
def test_each_kind_makes_one_slip(kind: str, before: str, after: set[str]) -> None:
    head = "def g(a, b):\n    "
    (target,) = targets("g.py", f"{head}{before}\n")
    assert {faulty(target, kind, seed) for seed in range(60)} == {f"{head}{a}\n" for a in after}


def test_a_method_is_changed_where_it_stands() -> None:
    text = (
        "class A:\n    def one(self):\n        return 0\n\n    def two(self):\n        return 1\n"
    )
    fault = FAULT.model_copy(update={"qualname": "A.two", "kind": "off-by-one"})
    found = planted.with_mutant(text, mutant(text, fault))
    assert found in {text.replace("return 1", f"return {n}") for n in (0, 2)}


@pytest.mark.parametrize(
    "changed", [{"qualname": "median"}, {"nth": 1}, {"qualname": "low", "kind": "junction"}]
)
def test_a_fault_without_a_place_is_a_conflict(changed: dict[str, object]) -> None:
    with pytest.raises(ConflictError, match="no such fault"):
        mutant(FIRST, FAULT.model_copy(update=changed))


def history(folder: Path, *texts: str) -> GitRepository:
    """A repository with one commit for each text of its module."""
    git = GitRepository(folder / "git")
    git.init()
    work = folder / "work"
    work.mkdir()
    for number, text in enumerate(texts):
        (work / "stats.py").write_text(text)
        (work / f"note{number}.txt").write_text("a note\n")
        git.import_folder(work, f"Commit {number}")
    return git


def recipe(git: GitRepository, fault: Planted) -> Recipe:
    """The recipe of a fault in the whole history."""
    head = git.refs()["refs/heads/main"]
    return Recipe(
        id="regressions/stats", part="regressions", repository="ada/stats", base=head, fix=head,
        python="3.11", red=("test_stats.py::test_mean",), passed=1, seconds=0.1, planted=fault,
    )  # fmt: skip


def test_a_fault_is_a_commit_of_its_own_below_the_later_ones(tmp_path: Path) -> None:
    git = history(tmp_path, FIRST, HONEST, LATER)
    shas = git.log("main")
    before, head, culprit = planted.grow(git, recipe(git, FAULT))
    assert before == shas[1]
    assert git.log(f"{before}..{head}")[0] == culprit
    log = [git.commit(sha).message for sha in git.log(f"{before}..{head}")]
    assert log == ["Simplify mean", "Commit 2"]
    assert git.log(f"{shas[0]}..{before}") == (shas[1],)
    wrong = planted.with_mutant(LATER, mutant(LATER, FAULT))
    assert planted.text_of(git, head, "stats.py") == wrong != LATER
    assert planted.text_of(git, head, "note2.txt") == "a note\n"


def test_a_fault_inside_an_honest_commit_leaves_its_change(tmp_path: Path) -> None:
    git = history(tmp_path, FIRST, HONEST, LATER)
    shas = git.log("main")
    inside = FAULT.model_copy(update={"inside": True})
    before, head, culprit = planted.grow(git, recipe(git, inside))
    assert before == shas[0]
    honest, last = git.log(f"{before}..{head}")
    assert culprit == honest
    assert [git.commit(sha).message for sha in (honest, last)] == ["Commit 1", "Commit 2"]
    for sha, right in ((honest, HONEST), (last, LATER)):
        text = planted.text_of(git, sha, "stats.py")
        assert text == planted.with_mutant(right, mutant(right, FAULT))
        assert "min(values, default=None)" in text
    assert planted.text_of(git, honest, "note1.txt") == "a note\n"


def test_a_later_change_of_the_same_lines_is_a_conflict(tmp_path: Path) -> None:
    wrong = mutant(HONEST, FAULT).source.splitlines()
    (line,) = [old for old, new in zip(BODY.splitlines(), wrong, strict=True) if old != new]
    git = history(tmp_path, FIRST, HONEST, LATER.replace(line, f"{line}  # said otherwise"))
    with pytest.raises(ConflictError, match="later commits change"):
        planted.grow(git, recipe(git, FAULT))


def test_the_fault_is_read_from_the_depth_where_it_is_planted(tmp_path: Path) -> None:
    moved = LATER.replace('"""A module."""\n', '"""A module."""\n\nimport math\n')
    git = history(tmp_path, FIRST, HONEST, moved)
    head = planted.grow(git, recipe(git, FAULT)).head
    text = planted.text_of(git, head, "stats.py")
    assert text == planted.with_mutant(moved, mutant(moved, FAULT))
