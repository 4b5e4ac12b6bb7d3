"""Which test executed which line, on every Python at hand."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import Environment
from heal_bot.testrun.coverage_spectrum import Collector
from heal_bot.testrun.driver_protocol import Untrusted
from heal_bot.testrun.runner import SuiteRunner

INSIDE = Path(__file__).parents[2] / "heal_bot" / "testrun" / "agent"
CODE = """\
import functools, threading
LIMIT = 3
def once(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)
    return wrapper
@once
def choose(n):
    if n > LIMIT:
        return "big"
    return "small"
def spread(n):
    thread = threading.Thread(target=choose, args=(n,))
    thread.start()
    thread.join()
class Box:
    @property
    def size(self):
        return [i for i in
                range(3)]
"""
TESTS = """\
import sys, m
def test_small(): assert m.choose(1) == "small"
def test_big(): assert m.choose(9) == "big"
def test_small_again(): assert m.choose(1) == "small"
def test_thread(): m.spread(9)
def test_box(): assert m.Box().size == [0, 1, 2]
def test_import():
    import late
    assert late.f() == 1
def test_child():
    import subprocess
    subprocess.run(["true"])
"""
LATE = "A = 1\ndef f():\n    return A\n"
FILES = {"m.py": CODE, "test_m.py": TESTS, "late.py": LATE}
EXPECTED = {
    "test_small": [6, 9, 10, 12],
    "test_big": [6, 9, 10, 11],
    "test_small_again": [6, 9, 10, 12],
    "test_thread": [6, 9, 10, 11, 13, 14, 15, 16],
    "test_box": [19, 20, 21],
}


def _pythons() -> list[str]:
    """Those with sys.monitoring; the installed pytest needs more packages before 3.11."""
    found: dict[int, str] = {}
    for minor in (12, 13, 14):
        name = f"python3.{minor}"
        versions = Path.home() / ".pyenv" / "versions"
        for python in (shutil.which(name), *map(str, versions.glob(f"3.{minor}.*/bin/{name}"))):
            if python and subprocess.run([python, "-c", ""], capture_output=True).returncode == 0:
                found[minor] = python
    return [found[minor] for minor in sorted(found)]


def _check(lines: Callable[[str], list[tuple[str, int]]]) -> None:
    for name, expected in EXPECTED.items():
        seen = {line for path, line in lines(f"test_m.py::{name}") if path == "m.py"}
        # A function's first line may be that of its decorator.
        assert seen - {5, 4, 8, 18} == set(expected) - {5, 4, 8, 18, 9, 19} | (seen & {9, 19}), name
    late = [(path, line) for path, line in lines("test_m.py::test_import") if path == "late.py"]
    assert late == [("late.py", 1), ("late.py", 2), ("late.py", 3)]


def test_lines_are_those_of_the_test_with_its_threads_and_imports(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable, lines_of: Callable
) -> None:
    done = runner.run(run, project(FILES), env, spectrum=True)
    spectrum = done.spectrum
    assert spectrum is not None
    _check(lambda test: lines_of(spectrum, test))
    assert [gap.partition(" (")[0] for gap in spectrum.gaps] == ["child processes"]


@pytest.mark.long
@pytest.mark.parametrize("python", _pythons())
def test_other_pythons_observe_the_same(
    python: str, bare: Callable[..., list[dict[str, Any]]], project: Callable
) -> None:
    tree = project(FILES)
    collector, names = Collector(), []
    for record in bare(python, tree.root):
        if record["t"] == "tests":
            names += record["v"]
        elif record["t"] == "lines":
            collector.lines(record)
        elif record["t"] == "hits":
            collector.bitmaps(record, len(names))
        elif record["t"] == "gap":
            collector.gap(record)
    spectrum = collector.spectrum(names)
    _check(lambda t: [p for i, p in enumerate(spectrum.locations) if spectrum.hits[t] >> i & 1])
    assert [gap.partition(" (")[0] for gap in spectrum.gaps] == ["child processes"]


def test_a_tracer_of_the_suite_works_and_is_named_as_a_gap(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    tests = (
        "import sys, m\ndef test_own():\n  seen = []\n"
        "  sys.settrace(lambda frame, event, arg: seen.append(frame.f_code.co_name))\n"
        "  m.choose(1)\n  sys.settrace(None)\n  assert 'choose' in seen\n"
        "def test_next(): m.choose(1)\n"
    )
    done = runner.run(run, project({**FILES, "test_m.py": tests}), env, spectrum=True)
    assert [result.outcome for result in done.results] == ["passed", "passed"]
    assert done.spectrum is not None
    assert done.spectrum.hits["test_m.py::test_next"]
    if tuple(map(int, env.version.split(".")[:2])) < (3, 12):
        assert done.spectrum.gaps == ("foreign tracer (1 test, test_m.py::test_own)",)


def test_hot_functions_do_not_stop_the_run_and_still_show_their_lines(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable, lines_of: Callable
) -> None:
    code = (
        "def f(n):\n    t = 0\n    for i in range(n):\n        if i < 0:\n"
        "            t = 9\n        t += i\n    return t\n"
    )
    tree = project({"m.py": code, "test_m.py": "import m\ndef test_f(): m.f(300_000)\n"})
    done = runner.run(run, tree, env, spectrum=True)
    seen = {line for path, line in lines_of(done.spectrum, "test_m.py::test_f") if path == "m.py"}
    assert {1, 2, 3, 4, 6} <= seen
    assert 5 not in seen


def test_what_was_seen_before_a_crash_of_the_interpreter_is_kept_and_the_rest_a_gap(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable, lines_of: Callable
) -> None:
    tests = (
        "import m, os\ndef test_before(): assert m.choose(9) == 3\n"
        "def test_crash(): os.abort()\ndef test_after(): m.choose(1)\n"
    )
    done = runner.run(run, project({**FILES, "test_m.py": tests}), env, spectrum=True)
    assert (done.ended, [result.test for result in done.results]) == (
        "crashed", ["test_m.py::test_before"],
    )  # fmt: skip
    assert ("m.py", 11) in lines_of(done.spectrum, "test_m.py::test_before")
    assert done.spectrum.gaps == ("the run ended early: executions of 1 of 3 tests",)


RENDERED = {
    "m.py": "class P:\n    def __repr__(self):\n        return 'P'\n",
    "test_m.py": (
        "import m, unittest\ndef test_shown(): assert m.P() == 3\n"
        "class T(unittest.TestCase):\n    def test_equal(self): self.assertEqual(m.P(), 3)\n"
        "def test_asked(): assert repr(m.P()) == 'P'\n"
    ),
}


@pytest.mark.long
@pytest.mark.parametrize("python", [sys.executable, *_pythons()])
def test_rendering_a_failed_assertion_is_no_execution_of_the_test(
    python: str, bare: Callable[..., list[dict[str, Any]]], project: Callable
) -> None:
    hits: dict[str, int] = {}
    names, lines = [], []
    for record in bare(python, project(RENDERED).root):
        if record["t"] == "tests":
            names += record["v"]
        elif record["t"] == "lines":
            lines += [(path, line) for path, numbers in record["v"] for line in numbers]
        elif record["t"] == "hits":
            hits |= {names[at].rpartition("::")[2]: int(bits, 16) for at, bits in record["v"]}
    rendering = 1 << lines.index(("m.py", 3))
    assert {name: bool(bits & rendering) for name, bits in hits.items()} == {
        "test_shown": False, "test_equal": False, "test_asked": True,
    }  # fmt: skip


SAME = "def same():\n    return 1\n"
ODD = {
    "m.py": (
        "import asyncio, json\nasync def wait():\n    await asyncio.sleep(0)\n    return 1\n"
        "def made():\n    space = {}\n"
        "    exec(compile('def f():\\n  return 1', '<made>', 'exec'), space)\n"
        "    return space['f']()\n"
        "def native():\n    return json.loads('1', object_hook=lambda d: d)\n"
    ),
    "a/util.py": SAME,
    "b/util.py": SAME,
    "a/__init__.py": "",
    "b/__init__.py": "",
    "test_odd.py": (
        "import asyncio, os, sys, threading, m\nfrom a import util as one\n"
        "from b import util as other\n"
        "def test_asyncio(): assert asyncio.run(m.wait()) == 1\n"
        "def test_made(): assert m.made() == 1\n"
        "def test_native(): assert m.native() == 1\n"
        "def test_one(): assert one.same() == 1\n"
        "def test_other(): assert other.same() == 1\n"
        "def test_fork():\n    child = os.fork()\n    if not child:\n        m.made()\n"
        "        os._exit(0)\n    os.waitpid(child, 0)\n"
        "def test_exec():\n    child = os.fork()\n    if not child:\n"
        "        os.execv(sys.executable, [sys.executable, '-c', ''])\n    os.waitpid(child, 0)\n"
        "def test_tracer():\n    sys.settrace(lambda *a: None)\n    m.native()\n"
        "    sys.settrace(None)\n"
        "def test_monitor():\n    if hasattr(sys, 'monitoring'):\n"
        "        sys.monitoring.use_tool_id(1, 'mine')\n        m.native()\n"
        "        sys.monitoring.free_tool_id(1)\n"
        "def test_last(): assert other.same() == m.made()\n"
    ),
}
SEEN = {
    "test_asyncio": {("m.py", 3), ("m.py", 4)},
    "test_made": {("m.py", 6), ("m.py", 7), ("m.py", 8)},
    "test_native": {("m.py", 10)},
    "test_one": {("a/util.py", 2)},
    "test_other": {("b/util.py", 2)},
    "test_last": {("b/util.py", 2), ("m.py", 6), ("m.py", 7), ("m.py", 8)},
}


@pytest.mark.parametrize(
    "python",
    [sys.executable, *(pytest.param(one, marks=pytest.mark.slow) for one in _pythons())],
)
def test_forks_tracers_made_code_and_files_of_one_name_end_in_lines_or_a_gap(
    python: str, bare: Callable[..., list[dict[str, Any]]], project: Callable
) -> None:
    collector, names, phases = Collector(), [], []
    for record in bare(python, project(ODD).root):
        if record["t"] == "tests":
            names += record["v"]
        elif record["t"] == "lines":
            collector.lines(record)
        elif record["t"] == "hits":
            collector.bitmaps(record, len(names))
        elif record["t"] == "gap":
            collector.gap(record)
        elif record["t"] == "phase" and record["w"] == "call":
            phases.append(record["o"])
    assert phases == ["passed"] * len(names)
    spectrum = collector.spectrum(names)
    for name, lines in SEEN.items():
        hits = spectrum.hits[f"test_odd.py::{name}"]
        seen = {place for at, place in enumerate(spectrum.locations) if hits >> at & 1}
        bodies = {(path, line) for path, line in seen if "test" not in path and line > 1}
        assert lines <= bodies, name
        assert {path for path, _ in bodies} == {path for path, _ in lines}, name
    assert "child processes (2 tests, first test_odd.py::test_fork)" in spectrum.gaps
    if python == sys.executable and sys.version_info < (3, 12):
        assert "foreign tracer (1 test, test_odd.py::test_tracer)" in spectrum.gaps


def test_a_test_of_very_many_calls_is_observed_in_part_and_the_gap_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(INSIDE)
    tracing = import_module("_heal_tracing")
    monkeypatch.setattr(tracing, "CALLS", 40)
    spectrum = import_module("_heal_spectrum").Spectrum(str(tmp_path))
    spectrum.probe = tracing.Tracing(spectrum)
    before = sys.gettrace()
    sys.settrace(None)
    try:
        for number, calls in enumerate((100, 2)):
            spectrum.begin(f"test_{number}")
            spectrum.resume()
            for _ in range(calls):
                Path("a")
            spectrum.pause()
            spectrum.end(number)
    finally:
        sys.settrace(before)
    assert spectrum.gaps == {"long tests observed in part": ["test_0"]}


@pytest.mark.parametrize(
    ("kind", "record"),
    [
        ("lines", {"v": [["/etc/passwd", [1]]]}),
        ("lines", {"v": [["../x.py", [1]]]}),
        ("lines", {"v": [["x.py", [-1]]]}),
        ("lines", {"v": 3}),
        ("bitmaps", {"v": [[0, "ff"]]}),
        ("bitmaps", {"v": [[0, "-1"]]}),
        ("bitmaps", {"v": [[7, "0"]]}),
        ("bitmaps", {"v": [[0, "zz"]]}),
    ],
)
def test_a_forged_spectrum_is_refused(kind: str, record: dict[str, object]) -> None:
    collector = Collector()
    take = collector.lines if kind == "lines" else lambda given: collector.bitmaps(given, 1)
    with pytest.raises(Untrusted):
        take(record)


FILES_INSIDE: Sequence[Path] = sorted(INSIDE.glob("*.py"))


@pytest.mark.parametrize("path", FILES_INSIDE, ids=lambda path: path.name)
def test_code_inside_is_python_3_9(path: Path) -> None:
    ast.parse(path.read_text(), feature_version=(3, 9))
