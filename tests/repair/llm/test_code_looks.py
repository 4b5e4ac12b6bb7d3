"""What a look shows, in the real sandbox; and what is refused, cut or hidden."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from benchmarks._scripts import PATH
from benchmarks.loop import staged
from heal_bot.core.events import Run
from heal_bot.core.model import (
    Attempt,
    Candidate,
    Cluster,
    Edit,
    Failure,
    Frame,
    Origin,
    Suspect,
    Verdict,
)
from heal_bot.ports import Brief
from heal_bot.repair.llm.code_looks import (
    CodeLook,
    SeenCode,
    find_implicated,
    show_code,
    take_looks,
)
from heal_bot.source import functions
from heal_bot.verification.snippet_lab import SandboxLab
from tests.fakes import FolderTree, quiet_run

TEST = "tests/test_money.py::test_round[1.239-1.24]"


@pytest.fixture(scope="module")
def brief() -> Iterator[Brief]:
    with staged() as stage:
        run = Run(lambda event: None)
        lab = SandboxLab(stage.context(run))
        spectrum = stage.baseline.suite.spectrum
        assert spectrum is not None
        yield Brief(stage._cluster("test_round"), stage.tree, lab=lab, spectrum=spectrum)


def seen(brief: Brief, tool: str, edits: tuple[Edit, ...] = (), **fields: object) -> SeenCode:
    run, _ = quiet_run()
    (one,) = take_looks(run, [CodeLook.model_validate({"tool": tool, **fields})], brief, edits)
    return one


@pytest.mark.slow
@pytest.mark.parametrize(
    ("tool", "fields", "shown"),
    [
        ("search", {"text": "sum(self.prices[1:])"}, f"{PATH}:20:> "),
        ("search", {"regex": r"def (test|total)"}, "tests/test_money.py:7:> def test_round"),
        ("search", {"regex": "def t", "path": PATH}, f"{PATH}:17:>     def total(self):\n"),
        ("search", {"text": "nowhere at all"}, "0 lines match"),
        ("search", {"regex": "(("}, "missing ), unterminated subpattern"),
        ("run", {"code": "from shop.money import Cart\nprint(Cart([1, 2]).total())"}, "2.0"),
        ("run", {"code": "1 / 0"}, "ZeroDivisionError: division by zero\n(exited with code 1)"),
        ("values", {"path": PATH, "line": 8, "test": TEST}, "time 1 : value = 1.239"),
        ("values", {"path": PATH, "line": 8, "test": "made up"}, "time 1 : value = "),
        ("tests", {"tests": [TEST]}, "1 failed"),
        ("tests", {}, "assert 1.23 == 1.24"),
        ("shell", {"code": "rm -rf /"}, "there is no such tool: search, show"),
        ("search", {"text": "root", "path": "/etc"}, "outside of the project"),
        ("show", {"path": "../../etc/passwd"}, "outside of the project"),
        ("show", {"path": "shop/nowhere.py"}, "no such file"),
        ("show", {"path": PATH, "name": "round_cent"}, "what comes near: round_cents"),
        ("run", {"code": "print(1)", "attempt": 7}, "attempt 7 is none that can be made"),
    ],
)
def test_a_look_shows_what_it_is_for(brief: Brief, tool: str, fields, shown: str) -> None:
    assert shown in seen(brief, tool, **fields).shown


@pytest.mark.slow
def test_what_runs_stands_on_the_attempt_that_is_named(brief: Brief) -> None:
    target = next(s.target for s in brief.cluster.suspects if s.target.qualname == "round_cents")
    right = Edit(target, target.source.replace("* 100)", "* 100 + 0.5)"))
    attempt = Attempt(1, "c1", Candidate((right,), "claude", "model"), Verdict("fixed"))
    assert (
        "1 passed"
        in seen(replace(brief, attempts=(attempt,)), "tests", tests=[TEST], attempt=1).shown
    )
    assert "1 passed" in seen(brief, "tests", (right,), tests=[TEST]).shown


@pytest.mark.slow
def test_a_look_that_prints_much_is_cut_at_its_end_and_one_without_end_is_ended(
    brief: Brief,
) -> None:
    loud = seen(brief, "run", code="for n in range(10**6): print(n, 'x' * 9)").shown
    assert len(loud) < 4_200
    assert "100 xxxxxxxxx\n101 xxxxxxxxx\n102 xxxxxxxxx" in loud
    assert "[cut here: what follows is not shown" in loud
    assert "(output" in loud
    assert isinstance(brief.lab, SandboxLab)
    context = brief.lab.context
    short = Run(lambda event: None, deadline=context.run.clock() + 1.5)
    lab = SandboxLab(replace(context, run=short))
    assert "(timeout" in seen(replace(brief, lab=lab), "run", code="while True: pass").shown


@pytest.mark.slow
def test_what_the_failing_tests_execute_may_change_and_nothing_else(brief: Brief) -> None:
    names = [target.qualname for target in show_code(PATH, brief).targets]
    assert names == ["round_cents"]
    assert show_code("tests/test_money.py", brief).targets == ()
    assert show_code(PATH, replace(brief, paths=("!shop",))).targets == ()
    whole = show_code(PATH, brief, "Cart")
    assert whole.shown.startswith("class Cart:")
    assert (whole.asked, whole.targets) == (f"show {PATH}::Cart, lines 11-20 of 20", ())


LONG = "".join(f"def f{n}():\n    return {n}  # {'x' * 60}\n\n\n" for n in range(300))
FILES = {"m.py": LONG, "notes.txt": "a\nb\nc\n", "tests/test_m.py": "def test_f():\n    pass\n"}
FAILURE = Failure("tests/test_m.py::test_f", "E", "", (Frame("m.py", 2, "f0", Origin.PROJECT),))


@pytest.fixture
def plain(tmp_path) -> Brief:
    return Brief(Cluster("c", (FAILURE,), ()), FolderTree.of(tmp_path, FILES))


def test_a_long_file_is_cut_at_its_end_and_says_so(plain: Brief) -> None:
    shown = show_code("m.py", plain).shown
    assert shown.startswith("def f0():")
    assert shown.endswith(
        "[cut here: what follows is not shown; ask for less, or for a part of it]"
    )
    assert "def f299" not in shown


def test_lines_of_any_file_can_be_shown(plain: Brief) -> None:
    one = show_code("notes.txt", plain, first=2, last=3)
    assert (one.asked, one.shown) == ("show notes.txt, lines 2-3 of 3", "b\nc")


def test_a_look_says_why_nothing_of_it_may_change(plain: Brief, tmp_path) -> None:
    def closed(brief: Brief, path: str) -> str:
        return seen(brief, "show", path=path, first=9, last=10).closed

    assert closed(plain, "m.py") == "no failing test executes it, no suspect calls it"
    assert "configuration cannot be changed" in closed(plain, "tests/test_m.py")
    assert "no repair change this file" in closed(replace(plain, paths=("!m.py",)), "m.py")
    assert seen(plain, "show", path="m.py", name="f0").closed == ""
    assert seen(plain, "show", path="nowhere.py").closed == ""
    tree = FolderTree.of(tmp_path, {**FILES, "conftest.py": 'pytest_plugins = ["m"]\n'})
    assert "as part of itself" in closed(replace(plain, tree=tree), "m.py")


def test_a_pattern_may_stand_where_the_text_does() -> None:
    look = CodeLook.model_validate({"tool": "search", "text": {"regex": "a+"}, "path": "m.py"})
    assert (look.text, look.regex, look.path) == ("", "a+", "m.py")


@pytest.mark.slow
def test_few_lines_are_found_with_those_around_them(brief: Brief) -> None:
    shown = seen(brief, "search", text="def round_cents", path=PATH).shown
    assert "def round_cents" in shown
    assert shown.count(PATH) > 1


def test_a_function_with_a_frame_in_it_was_executed(plain: Brief) -> None:
    assert [t.qualname for t in show_code("m.py", plain, first=1, last=9).targets] == ["f0"]


def test_without_a_sandbox_code_is_shown_and_nothing_is_run(plain: Brief) -> None:
    assert seen(plain, "run", code="print(1)").shown == "there is no sandbox to run anything in"


def test_of_many_looks_the_first_are_taken(plain: Brief) -> None:
    run, _ = quiet_run()
    found = list(take_looks(run, [CodeLook(tool="show", path="notes.txt")] * 9, plain))
    assert len(found) == 7
    assert found[-1].asked == "3 more looks"


def test_what_a_verdict_newly_names_is_shown_and_opened(plain: Brief) -> None:
    target = functions.index_targets("m.py", LONG)[7]
    frames = (Frame("tests/test_m.py", 2, "test_g", Origin.TEST),
              Frame("m.py", 33, "f7", Origin.PROJECT), Frame("m.py", 2, "f0", Origin.PROJECT),
              Frame("/lib/x.py", 1, "x", Origin.LIBRARY))  # fmt: skip
    newly = Failure("tests/test_m.py::test_g", "E", "", frames)
    (one,) = find_implicated([newly], plain, [])
    assert (one.asked, one.targets) == ("show m.py::f7, lines 29-30 of 1200", (target,))
    assert find_implicated([newly], plain, [target]) == []


def test_a_plugin_of_pytest_may_be_seen_and_not_changed(tmp_path) -> None:
    files = {**FILES, "conftest.py": 'pytest_plugins = ["m"]\n'}
    brief = Brief(Cluster("c", (FAILURE,), ()), FolderTree.of(tmp_path, files))
    shown = show_code("m.py", brief, first=1, last=9)
    assert shown.shown.startswith("def f0():")
    assert shown.targets == ()


def test_what_a_suspect_calls_may_change_though_no_test_comes_there(plain: Brief, tmp_path) -> None:
    text = "def f0():\n    g()\n\n\ndef g():\n    pass\n\n\ndef h():\n    pass\n"
    tree = FolderTree.of(tmp_path, {"m.py": text})
    suspect = Suspect(functions.index_targets("m.py", text)[0], 1.0)
    brief = replace(plain, tree=tree, cluster=Cluster("c", (FAILURE,), (suspect,)))
    assert [target.qualname for target in show_code("m.py", brief).targets] == ["f0", "g"]


def test_a_class_is_shown_with_its_decorators(plain: Brief, tmp_path) -> None:
    text = "@dataclass\nclass Cart:\n    total: int = 0"
    tree = FolderTree.of(tmp_path, {"cart.py": f"from dataclasses import dataclass\n\n{text}\n"})
    assert show_code("cart.py", replace(plain, tree=tree), "Cart").shown == text
