"""Assertions rewritten once: found by later runs for the same bytes, and by no others."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Iterator

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import Environment, SuiteRun
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun.assertion_rewrite_cache import Rewriter
from heal_bot.testrun.runner import SuiteRunner

pytestmark = pytest.mark.long

LONG = "".join(f"def test_{n}(): assert m.add({n}, 1) == {n + 1}\n" for n in range(600))
BROKEN = "import m\n\ndef test_wrong():\n    total = m.add(1, 2)\n    assert total == 4\n"
FILES = {"m.py": "def add(a, b):\n    return a + b\n", "test_m.py": f"import m\n{LONG}",
         "tests/test_n.py": BROKEN, "tests/test_odd.py": "def test_odd(:\n"}  # fmt: skip


@pytest.fixture
def rewriter(sandbox: Sandbox) -> Iterator[Rewriter]:
    made = Rewriter(sandbox)
    yield made
    made.close()


def _made(rewriter: Rewriter, tree: object, env: Environment) -> bytes:
    rewriter.begin(tree, env)  # type: ignore[arg-type]
    until = time.monotonic() + 60
    while not rewriter.files(env) and time.monotonic() < until:
        time.sleep(0.05)
    (made,) = rewriter.files(env).values()
    return made


def test_every_test_file_that_can_be_read_is_rewritten(
    rewriter: Rewriter, env: Environment, project: Callable
) -> None:
    made = _made(rewriter, project(FILES), env)
    digests = [line.split()[0].decode() for line in made.splitlines()]
    texts = (FILES["test_m.py"], FILES["tests/test_n.py"])
    assert digests == [hashlib.sha256(text.encode()).hexdigest() for text in texts]


@pytest.mark.parametrize(
    "line",
    ["import re\nPATTERN = re.compile('\\d')", "def test_pair(): assert (1, 'said')", "x = ("],
    ids=["an escape", "a tuple", "no Python"],
)
def test_what_pytest_or_python_would_warn_of_is_left_to_them(
    rewriter: Rewriter, env: Environment, project: Callable, line: str
) -> None:
    made = _made(rewriter, project({**FILES, "tests/test_n.py": f"{line}\n"}), env)
    (digest,) = [row.split()[0].decode() for row in made.splitlines()]
    assert digest == hashlib.sha256(FILES["test_m.py"].encode()).hexdigest()


def test_a_link_among_the_tests_is_passed_over(
    rewriter: Rewriter, env: Environment, project: Callable
) -> None:
    tree = project(FILES)

    class Linked:
        root = tree.root
        paths = tree.paths

        def read(self, path: str) -> bytes:
            if path == "tests/test_n.py":
                raise KeyError(path)
            return tree.read(path)

    assert len(_made(rewriter, Linked(), env).splitlines()) == 1


def test_a_small_suite_is_left_to_its_runs(
    rewriter: Rewriter, env: Environment, project: Callable
) -> None:
    rewriter.begin(project({**FILES, "test_m.py": BROKEN}), env)
    rewriter.close()
    assert rewriter.files(env) == {}


def test_no_code_of_the_project_runs_while_its_tests_are_rewritten(
    rewriter: Rewriter, env: Environment, project: Callable
) -> None:
    exits = "raise SystemExit('loaded')\n"
    shadows = dict.fromkeys(("ast.py", "zlib.py", "sitecustomize.py", "conftest.py"), exits)
    assert _made(rewriter, project({**FILES, **shadows, "test_m.py": exits + LONG}), env)


def _told(suite: SuiteRun) -> tuple[str, str, tuple]:
    (wrong,) = [result for result in suite.results if result.outcome == "failed"]
    return wrong.test, wrong.message, wrong.frames


def test_a_later_run_says_what_the_first_one_said(
    sandbox: Sandbox, run: Run, env: Environment, project: Callable
) -> None:
    runner = SuiteRunner(sandbox)
    tree = project(FILES)
    first = runner.run(run, tree, env)
    _made(runner._rewriter, tree, env)
    later = runner.run(run, tree, env)
    assert _told(later) == _told(first)
    assert _told(first)[0] == "tests/test_n.py::test_wrong"
    assert "assert 3 == 4" in _told(first)[1]
    assert len(later.results) == 601


def test_what_was_made_is_what_a_later_run_executes(
    sandbox: Sandbox, run: Run, env: Environment, project: Callable
) -> None:
    runner = SuiteRunner(sandbox)
    tree = project(FILES)
    long, broken = (line.split() for line in _made(runner._rewriter, tree, env).splitlines())
    runner._rewriter._made[env.prefix] = b" ".join((broken[0], long[1]))
    tests = ("tests/test_n.py",)
    assert len(runner.run(run, tree, env, tests).results) == 600


def test_a_file_with_other_bytes_is_rewritten_again(
    sandbox: Sandbox, run: Run, env: Environment, project: Callable
) -> None:
    runner = SuiteRunner(sandbox)
    tree = project(FILES)
    _made(runner._rewriter, tree, env)
    (tree.root / "tests/test_n.py").write_text(BROKEN.replace("4", "5"))
    assert "assert 3 == 5" in _told(runner.run(run, tree, env))[1]
