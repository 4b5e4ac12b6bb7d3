"""How fast, how small and how exact the report intake is.

`python -m benchmarks junit [--json] [--full]`: a report of a million cases (grown from one that
pytest really wrote; 10,000 of them fail) against a bare `lxml.iterparse` of the same file, the
corpus of hostile files, and the join of real reports with collected tests. Seconds and peaks are
of processes of their own; the ratio is of processor seconds, best of two, since both are bound by
one core. `--full` adds a case with 200 MB of output.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from pathlib import Path

from benchmarks import _hostile
from heal_bot.errors import HealBotError
from heal_bot.events import Run
from heal_bot.intake import junit, tests
from heal_bot.intake.mangling import Index, mangled
from heal_bot.model import Collection
from heal_bot.process import run as start

CASES = 1_000_000
_OURS = """
import sys
from pathlib import Path
from heal_bot.events import Run
from heal_bot.intake import junit
path = Path(sys.argv[1])
report = junit.read(Run(sink=lambda event: None), path.parent, [path.name])
assert report.passed + len(report.cases) == int(sys.argv[2]), (report.passed, len(report.cases))
"""
_BARE = """
import sys
from lxml import etree
for _, element in etree.iterparse(sys.argv[1], huge_tree=True):
    element.clear()
"""
_MEASURE = """
import json, time
begun = time.perf_counter(), time.process_time()
{body}
took = time.perf_counter() - begun[0], time.process_time() - begun[1]
peak = next(int(l.split()[1]) for l in open("/proc/self/status") if l.startswith("VmHWM"))
print(json.dumps([*took, peak / 1024]))
"""
_SUITE = """
import pytest

class TestNumbers:
    @pytest.mark.parametrize("number", range(1000))
    def test_number(self, number):
        seen = [number, number % 100, "a value that the report will show"]
        checked = sorted(str(part) for part in seen)
        assert checked
        other = {"first": seen[0], "second": seen[1], "third": seen[2]}
        assert other["second"] != 0
"""
_ODD = """
import unittest
import pytest

@pytest.mark.parametrize("value", ["a::b", "x/y.py", "\\xe9", "q]z", "[", "\\n", "\\x1b", "<&>"])
def test_ids(value):
    assert value is None

@pytest.mark.parametrize("a", range(10))
@pytest.mark.parametrize("b", range(10))
def test_pairs(a, b):
    assert (a + b) % 2

class TestOuter:
    class TestInner:
        def test_nested(self):
            assert 0

@pytest.fixture
def broken():
    raise OSError("early")

def test_setup(broken):
    pass

class Cases(unittest.TestCase):
    def test_part(self):
        for n in range(3):
            with self.subTest(n=n):
                self.assertEqual(n, 0)
"""
_RECORDER = """
import json, os
ids = []

def pytest_collection_modifyitems(items):
    ids.extend(item.nodeid for item in items)

failed = []

def pytest_runtest_logreport(report):
    if report.failed and report.nodeid not in failed:
        failed.append(report.nodeid)

def pytest_sessionfinish():
    with open(os.environ["RECORD"], "w") as file:
        json.dump([ids, failed], file)
"""


def main(argv: list[str]) -> int:
    """Run it; the last line is one JSON object."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result: dict[str, object] = {"cases": CASES, **_speed(folder)}
        if "--full" in argv:
            result["output_200_mb"] = _output(folder)
        result["hostile"] = _hostile_files(folder)
        result["join"] = _join(folder)
    result["complete"] = True
    if "--json" not in argv:
        for key, value in result.items():
            print(f"{key}: {value}")
    print(json.dumps(result))
    return 0


def _environment(**more: str) -> dict[str, str]:
    here = str(Path(__file__).parent.parent)
    return {"PATH": os.environ["PATH"], "PYTHONPATH": here, "LC_ALL": "C.UTF-8", **more}


def _pytest(folder: Path, *argv: str) -> tuple[list[str], list[str]]:
    """(collected, failed) of a real run in a folder, which leaves `report.xml` there."""
    tools = folder.parent / "tools"
    tools.mkdir(exist_ok=True)
    (tools / "bench_recorder.py").write_text(_RECORDER)
    record = tools / "record.json"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "bench_recorder", *argv]
    command += ["-p", "no:cacheprovider", "--junitxml=report.xml"]
    env = _environment(RECORD=str(record), PYTEST_DISABLE_PLUGIN_AUTOLOAD="1")
    env["PYTHONPATH"] = str(tools)
    done = start(command, env=env, cwd=folder, seconds=300)
    if done.code not in {0, 1} or not record.exists():
        raise HealBotError(done.complaint())
    collected, failed = json.loads(record.read_text())
    return collected, failed


def _speed(folder: Path) -> dict[str, object]:
    suite = folder / "speed"
    suite.mkdir()
    (suite / "test_numbers.py").write_text(_SUITE)
    _pytest(suite)
    text = (suite / "report.xml").read_text()
    first, last = text.index("<testcase"), text.rindex("</testsuite>")
    big = folder / "big.xml"
    with big.open("w") as file:
        file.write(text[:first])
        for n in range(CASES // 1000):
            part = text[first:last]
            file.write(part.replace('classname="test_numbers', f'classname="tests.part_{n}.test_n'))
        file.write(text[last:])
    megabytes = big.stat().st_size / 1e6
    runs = [(_measured(_OURS, big, str(CASES)), _measured(_BARE, big)) for _ in range(2)]
    big.unlink()
    ours = min((ours for ours, _ in runs), key=lambda m: m[1])
    bare = min((bare for _, bare in runs), key=lambda m: m[1])
    return {
        "megabytes": round(megabytes, 1),
        "seconds": round(ours[0], 2),
        "cpu_seconds": round(ours[1], 2),
        "iterparse_cpu_seconds": round(bare[1], 2),
        "ratio_to_iterparse": round(ours[1] / bare[1], 2),
        "peak_mib": round(max(ours[2] for ours, _ in runs), 1),
    }


def _measured(body: str, path: Path, *more: str) -> tuple[float, float, float]:
    """(wall seconds, processor seconds, peak MiB) of a program in a process of its own."""
    program = _MEASURE.format(body=body)
    command = [sys.executable, "-c", program, str(path), *more]
    done = start(command, env=_environment(), seconds=300)
    if not done.ok:
        raise HealBotError(done.complaint())
    wall, cpu, peak = json.loads(done.stdout)
    return wall, cpu, peak


def _output(folder: Path) -> dict[str, float]:
    path = folder / "output.xml"
    with path.open("w") as file:
        file.write('<testsuite><testcase classname="a" name="b"><failure>x</failure><system-out>')
        for _ in range(200):
            file.write("a line of output\n" * 61_680)
        file.write("</system-out></testcase></testsuite>")
    wall, _, peak = _measured(_OURS, path, "1")
    return {"seconds": round(wall, 2), "peak_mib": round(peak, 1)}


def _hostile_files(folder: Path) -> dict[str, object]:
    run = Run(sink=lambda event: None)
    collection = Collection(("tests/test_a.py::test_b",))
    tried, worst, untyped, slowest = 0, 0.0, 0, ""
    for name, data in _hostile.corpus():
        (folder / name).write_bytes(data)
        begun = time.perf_counter()
        try:
            report = junit.read(run, folder, [name])
            tests.resolve(run, report, collection, ["tests/test_a.py"], lambda path: b"")
        except HealBotError as error:
            untyped += "\n" in str(error)
        except Exception as error:  # noqa: BLE001 - counting these is the point
            print(f"{name}: {type(error).__name__}: {error}")
            untyped += 1
        took = time.perf_counter() - begun
        tried += 1
        if took > worst:
            worst, slowest = took, name
        (folder / name).unlink()
    return {
        "tried": tried,
        "worst_seconds": round(worst, 2),
        "slowest": slowest,
        "untyped_errors": untyped,
    }


def _join(folder: Path) -> dict[str, int]:
    """Every collected id through the join, and each real report against what failed."""
    suite = folder / "join"
    for path in ("tests/test_odd.py", "tests/deep/test_odd.py", "tests/a-b/v1.2/test_odd.py"):
        (suite / path).parent.mkdir(parents=True, exist_ok=True)
        (suite / path).write_text(_ODD)
    run = Run(sink=lambda event: None)
    ids = exact = ambiguous = 0
    for family in ("xunit1", "xunit2"):
        collected, failed = _pytest(
            suite, "--import-mode=importlib", "-o", f"junit_family={family}"
        )
        index = Index(collected)
        for test in collected:
            found = index.find(*mangled(test))
            ids += 1
            exact += found == (test,)
            ambiguous += len(found) > 1
        report = junit.read(run, suite, ["report.xml"])
        resolved = tests.resolve(run, report, Collection(tuple(collected)), [], {}.__getitem__)
        if {f.test for f in resolved.failures} != set(failed):
            raise HealBotError(f"the {family} report resolves to other tests than failed")
    return {"ids": ids, "exact": exact, "ambiguous": ambiguous}
