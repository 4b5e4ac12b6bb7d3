"""Cold runs of real suites, honest and hostile."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from heal_bot.checkout.verified_copy import signature
from heal_bot.core.errors import SandboxError
from heal_bot.core.events import Run
from heal_bot.core.model import Environment, Origin
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun.runner import SuiteRunner

pytestmark = pytest.mark.long

MIXED = """
import os, unittest, asyncio, functools, pytest
import m

@pytest.fixture(scope="module")
def shared():
    shared.count = getattr(shared, "count", 0) + 1
    return shared

@pytest.fixture
def broken():
    raise KeyError("gone")

@pytest.fixture
def leaves():
    yield
    raise OSError("left")

def traced(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)
    return wrapper

def test_passes(): pass
def test_deep(): m.outer(0)
def test_assertion(): assert m.add(1, 2) == 3
@pytest.mark.parametrize("text", ["a b", "x::y", "[z]", "\\u00e9\\n"])
def test_text(text): assert text
@traced
def test_decorated(): assert False, "said"
def test_skipped(): pytest.skip("not today")
@pytest.mark.xfail
def test_expected(): assert 0
@pytest.mark.xfail(strict=True)
def test_strict(): pass
@pytest.mark.xfail
def test_lucky(): pass
def test_setup(broken): pass
def test_teardown(leaves): pass
def test_async(): assert asyncio.run(m.later(2)) == 4
class TestGroup:
    def test_once(self, tmp_path): (tmp_path / "f").write_text("x")
    def test_output(self, capsys): print("hi"); assert capsys.readouterr().out == "hi\\n"
class TestCase(unittest.TestCase):
    def setUp(self): self.n = 1
    def test_equal(self): self.assertEqual(self.n, 2)
"""
CODE = """
import asyncio
def add(a, b):
    return a - b
def outer(n):
    try:
        return inner(n)
    except ZeroDivisionError as error:
        raise ValueError("outer") from error
def inner(n):
    return 1 // n
async def later(n):
    await asyncio.sleep(0)
    return n * 2
"""


@pytest.mark.long
def test_every_kind_of_result_is_what_bare_pytest_says(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable, site: object
) -> None:
    tree = project({"test_mixed.py": MIXED, "m.py": CODE})
    done = runner.run(run, tree, env)
    assert (done.ended, done.detail, done.errors) == ("finished", "", ())
    seen = {result.test: result.outcome for result in done.results}
    script = (
        "import pytest, json, sys\n"
        "seen = {}\n"
        "class P:\n"
        "  def pytest_report_teststatus(self, report, config): pass\n"
        "  def pytest_runtest_logreport(self, report):\n"
        "    x = hasattr(report, 'wasxfail')\n"
        "    o = {'passed': 'xpassed' if x else 'passed',\n"
        "         'skipped': 'xfailed' if x else 'skipped',\n"
        "         'failed': 'failed' if report.when == 'call' else 'error'}[report.outcome]\n"
        "    if o != 'passed' or report.nodeid not in seen: seen[report.nodeid] = o\n"
        "pytest.main(['-q', '-p', 'no:cacheprovider'], plugins=[P()])\n"
        "json.dump(seen, open(sys.argv[1], 'w'))\n"
    )
    out = tree.root.parent / "seen.json"
    subprocess.run(
        [env.python, "-c", script, str(out)],
        cwd=tree.root,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{tree.root}:{site}"},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    assert seen == json.loads(out.read_text())
    assert done.collected == tuple(seen)


def test_a_failure_carries_type_message_and_the_frames_down_to_the_root_cause(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    done = runner.run(run, project({"test_mixed.py": MIXED, "m.py": CODE}), env)
    results = {result.test.partition("::")[2]: result for result in done.results}
    deep = results["test_deep"]
    assert (deep.kind, deep.message) == ("ValueError", "outer")
    where = [(frame.path, frame.function) for frame in deep.frames]
    assert where == [
        ("test_mixed.py", "test_deep"), ("m.py", "outer"), ("m.py", "outer"), ("m.py", "inner"),
    ]  # fmt: skip
    assert [frame.origin for frame in deep.frames] == [Origin.TEST, *[Origin.PROJECT] * 3]
    assert deep.frames[-1].line == 11
    assert results["test_assertion"].message.startswith("assert -1 == 3\n +  where -1 = <function")
    assert results["test_strict"].message.startswith("[XPASS(strict)]")
    assert (results["test_setup"].phase, results["test_setup"].kind) == ("setup", "KeyError")
    assert (results["test_teardown"].phase, results["test_teardown"].kind) == (
        "teardown",
        "OSError",
    )
    assert [f.path for f in results["TestCase::test_equal"].frames] == ["test_mixed.py"]


def test_a_module_that_cannot_be_collected_is_an_error_and_the_others_run(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    tree = project({"test_a.py": "import gone\n", "test_b.py": "def test_b(): pass\n"})
    done = runner.run(run, tree, env)
    assert [(path, "No module named 'gone'" in text) for path, text in done.errors] == [
        ("test_a.py", True)
    ]
    assert [result.test for result in done.results] == ["test_b.py::test_b"]
    assert done.ended == "finished"
    collection = runner.collect(run, tree, env)
    assert (collection.tests, len(collection.errors)) == (("test_b.py::test_b",), 1)


@pytest.mark.long
def test_thousands_of_ids_are_selected_and_lost_ones_named(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    long = "x" * 100
    code = (
        f"import pytest\n@pytest.mark.parametrize('n', range(3000), ids=lambda n: f'{long}{{n}}')\n"
    )
    tree = project(
        {"sub/test_many.py": code + "def test_many(n): pass\n", "pytest.ini": "[pytest]\n"}
    )
    asked = [f"sub/test_many.py::test_many[{long}{n}]" for n in range(0, 3000, 2)]
    done = runner.run(run, tree, env, [*asked, "sub/test_many.py::test_gone", "test_lost.py"])
    assert [result.test for result in done.results] == asked
    assert [name for name, _ in done.errors] == ["sub/test_many.py::test_gone", "test_lost.py"]


def test_node_ids_do_not_depend_on_which_tests_are_asked_for(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    tree = project({"sub/pytest.ini": "[pytest]\n", "sub/test_a.py": "def test_a(): pass\n"})
    everything = runner.collect(run, tree, env).tests
    assert everything == ("sub/test_a.py::test_a",)
    assert runner.run(run, tree, env, everything).collected == everything


@pytest.mark.long
def test_shuffled_runs_are_reproducible_and_complete(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    body = "    ran.append({0})\n    assert len(ran) < 9, f'order {{ran}}'\n"
    tests = "".join(f"def test_{n}():\n{body.format(n)}" for n in range(9))
    tree = project({"test_a.py": f"ran = []\n{tests}"})
    runs = [runner.run(run, tree, env, shuffle=seed) for seed in (1, 1, 2)]
    orders = [r.message.partition("\n")[0] for d in runs for r in d.results if r.message]
    assert len(orders) == 3
    assert orders[0] == orders[1] != orders[2]
    assert len({done.collected for done in runs}) == 1


def test_options_that_would_hide_results_are_switched_off(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    ini = "[pytest]\naddopts = -x --lf --ff --junitxml=out.xml -q\n"
    tree = project({"pytest.ini": ini, "test_a.py": "def test_a(): assert 0\ndef test_b(): pass\n"})
    done = runner.run(run, tree, env)
    assert [result.outcome for result in done.results] == ["failed", "passed"]


HOSTILE = {
    "ends the interpreter": (
        "import os\ndef test_bad(): os._exit(0)\n", "crashed", "exit code 0 in test_h.py::test_bad",
    ),
    "pytest.exit": (
        "import pytest\ndef test_bad(): pytest.exit('enough', 0)\n", "crashed", "not run",
    ),
    "a loop without end": ("def test_bad():\n  while 1: pass\n", "timeout", "test_h.py::test_bad"),
    "closes every descriptor": (
        "import os\ndef test_bad(): os.closerange(3, 512)\n", "crashed", "exit code 97",
    ),
    "writes records of its own": (
        "import os\ndef test_bad():\n  for fd in range(3, 400):\n    try: os.write(fd, b'{}\\n')\n"
        "    except OSError: pass\n",
        "untrusted", "nonce",
    ),
    "makes every report a pass": (
        "from _pytest.reports import TestReport\ndef test_bad():\n"
        "  old = TestReport.from_item_and_call.__func__\n"
        "  def new(cls, item, call):\n    call.excinfo = None\n    return old(cls, item, call)\n"
        "  TestReport.from_item_and_call = classmethod(new)\n",
        "untrusted", "canary",
    ),
    "claims another exit code": (
        "import gc, os\ndef test_bad():\n"
        "  records = next(r for r in gc.get_objects() if type(r).__name__ == 'Records')\n"
        "  leave = records._exit\n  records._exit = lambda code: leave(0)\n  assert 0\n",
        "untrusted", "its process with 0",
    ),
    "prints without end": (
        "import os, sys\ndef test_bad(capfd):\n  with capfd.disabled():\n"
        "    while 1: os.write(1, b'x' * 65536)\n",
        "killed", "test_h.py::test_bad",
    ),
}  # fmt: skip


def test_no_failure_is_rendered_since_nobody_reads_that(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    text = (
        "def test_style(request):\n    option = request.config.option\n"
        "    assert (option.tbstyle, option.fulltrace) == ('no', False)\n"
    )
    ini = "[pytest]\naddopts = --tb=long --full-trace\n"
    tree = project({"test_m.py": text, "pytest.ini": ini})
    (result,) = runner.run(run, tree, env).results
    assert (result.outcome, result.message) == ("passed", "")


@pytest.mark.long
@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_suite_ends_with_a_typed_verdict(
    name: str, runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    code, ended, detail = HOSTILE[name]
    tests = f"def test_first(): pass\n{code}\ndef test_last(): pass\n"
    tree = project({"test_h.py": tests})
    done = runner.run(run, tree, env, seconds=3 if ended == "timeout" else 30)
    assert (done.ended, detail in done.detail) == (ended, True), done.detail
    outcomes = {result.test: result.outcome for result in done.results}
    assert ended == "untrusted" or "test_h.py::test_bad" not in outcomes


def test_a_suite_that_deletes_its_files_leaves_the_tree_and_the_next_run_alone(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    code = "import shutil\ndef test_a(): shutil.rmtree('sub')\ndef test_b(): pass\n"
    tree = project({"test_a.py": code, "sub/data.txt": "kept"})
    for _ in range(2):
        done = runner.run(run, tree, env)
        assert (done.ended, [r.outcome for r in done.results]) == ("finished", ["passed"] * 2)
    assert tree.read("sub/data.txt") == b"kept"


def test_a_fork_of_a_test_has_no_voice(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    code = "import os\ndef test_a():\n  pid = os.fork()\n  if pid: os.waitpid(pid, 0)\n"
    tree = project(
        {
            "test_a.py": code + "  else: raise SystemExit(0)\n",
            "test_b.py": "def test_b(): assert 0\n",
        }
    )
    done = runner.run(run, tree, env)
    assert {r.test: r.outcome for r in done.results} == {
        "test_a.py::test_a": "passed", "test_b.py::test_b": "failed",
    }  # fmt: skip
    assert done.ended == "finished"


def test_only_allowed_variables_reach_the_tests(
    sandbox: Sandbox, run: Run, env: Environment, project: Callable,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setenv("SECRET_TOKEN", "x")
    code = "import os\ndef test_a():\n  assert 'SECRET_TOKEN' not in os.environ\n"
    tree = project({"test_a.py": code + "  assert os.environ['GIVEN'] == 'yes'\n"})
    done = SuiteRunner(sandbox, passes={"GIVEN": "yes"}).run(run, tree, env)
    assert [result.outcome for result in done.results] == ["passed"]


def test_the_preflight_refuses_another_interpreter(
    runner: SuiteRunner, run: Run, env: Environment
) -> None:
    isolation = runner.preflight(run, env)
    assert isolation.mode == "strict"
    with pytest.raises(SandboxError, match="version"):
        runner.preflight(run, replace(env, version="3.2.1"))


SERVER = """\
import subprocess, sys, urllib.request

CODE = '''
import http.server
server = http.server.HTTPServer(("127.0.0.1", 0), http.server.SimpleHTTPRequestHandler)
print(server.server_address[1], flush=True)
server.handle_request()
'''

def test_served():
    child = subprocess.Popen([sys.executable, "-c", CODE], stdout=subprocess.PIPE, text=True)
    url = "http://127.0.0.1:%d/" % int(child.stdout.readline())
    assert urllib.request.urlopen(url, timeout=5).status == 200
    child.wait()
"""


@pytest.mark.parametrize("loopback", [False, True])
def test_a_server_in_another_process_needs_the_loopback_and_is_named_reduced(
    loopback: bool, sandbox: Sandbox, run: Run, env: Environment, project: Callable
) -> None:
    runner = SuiteRunner(sandbox, loopback=loopback)
    if loopback and sandbox.layers.no_loopback("strict"):
        pytest.skip(sandbox.layers.no_loopback("strict"))
    done = runner.run(run, project({"test_server.py": SERVER}), env)
    assert [result.outcome for result in done.results] == ["passed" if loopback else "failed"]
    assert done.isolation.mode == ("reduced" if loopback else "strict")
    assert any(gap.startswith("network") for gap in done.isolation.missing) == loopback


def test_no_run_is_made_in_an_environment_that_changed(
    sandbox: Sandbox, run: Run, env: Environment, project: Callable, tmp_path: Path
) -> None:
    place = tmp_path / "installed"
    place.mkdir()
    (place / "a.py").write_text("")
    before = signature(place)
    runner = SuiteRunner(sandbox, changed=lambda env: signature(place) != before)
    tree = project({"test_m.py": "def test_it(): pass\n"})
    assert runner.run(run, tree, env).ended == "finished"
    (place / "a.py").write_text("more")

    def until_refused() -> None:
        for _ in range(5):
            runner.run(run, tree, env)

    with pytest.raises(SandboxError, match="changed while tests ran"):
        until_refused()


EXAMPLES = {
    "pytest.ini": "[pytest]\ntestpaths = tests\n",
    "tests/test_a.py": "def test_a():\n    '''\n    >>> 1\n    1\n    '''\n",
    "shop/__init__.py": "",
    "shop/money.py": "def total(a):\n    '''\n    >>> total(1)\n    1\n    '''\n    return a + 1\n",
    "shop/other.py": "'''\n>>> 1\n2\n'''\n",
    "docs/use.rst": ">>> 1 + 1\n2\n",
    "docs/tour.md": "```\n>>> 1 + 1\n3\n\n```\n",
}
MONEY = "shop/money.py::shop.money.total"


def test_examples_are_collected_where_the_failing_run_collected_them(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    tree = project(EXAMPLES)
    plain = runner.run(run, tree, env)
    assert [result.test for result in plain.results] == ["tests/test_a.py::test_a"]
    with_them = replace(env, doctests=("docs/tour.md", "docs/use.rst", "shop/money.py"))
    seen = runner.run(run, tree, with_them)
    assert {result.test: result.outcome for result in seen.results} == {
        "tests/test_a.py::test_a": "passed",
        "tests/test_a.py::test_a.test_a": "passed",
        "docs/tour.md::tour.md": "failed",
        "docs/use.rst::use.rst": "passed",
        MONEY: "failed",
    }
    alone = runner.run(run, tree, with_them, [MONEY])
    assert [(result.test, result.outcome) for result in alone.results] == [(MONEY, "failed")]
