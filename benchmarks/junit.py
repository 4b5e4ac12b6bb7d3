"""How fast, how small and how exact the report intake is.

`python -m benchmarks junit [--json]`: a report of a million cases (grown from one that pytest
really wrote; 10,000 of them fail) against a bare `lxml.iterparse` of the same file, 200 MB of
output in one case, the corpus of hostile files, and the join of the reports of every runner with
the tests that fail. Seconds and peaks are of processes of their own, the ratio is of wall-clock
seconds, best of three taken in turn; the processor seconds are printed beside it.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks import _hostile
from benchmarks._dialects import Dialect, Suite, dialects
from heal_bot.core.errors import HealBotError
from heal_bot.core.events import Run
from heal_bot.core.model import Collection
from heal_bot.core.process import run as start
from heal_bot.junit import reader, reported_tests
from heal_bot.junit.junit_names import NodeIdIndex, mangle

CASES = 1_000_000
_RUNS = 3
_OURS = """
import sys
from pathlib import Path
from heal_bot.core.events import Run
from heal_bot.junit import reader
path = Path(sys.argv[1])
report = reader.read_reports(Run(sink=lambda event: None), path.parent, [path.name])
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


def main(argv: list[str]) -> int:
    """Run it; the last line is one JSON object."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        result: dict[str, object] = {"cases": CASES, **_speed(folder)}
        _output(folder)
        result["hostile"] = _hostile_files(folder)
        result["join"], unmeasured = _join(folder, dialects())
    if unmeasured:
        result["not_measured"] = unmeasured
    result["complete"] = not unmeasured
    print(json.dumps(result))
    return 0


def _environment() -> dict[str, str]:
    here = str(Path(__file__).parent.parent)
    return {"PATH": os.environ["PATH"], "PYTHONPATH": here, "LC_ALL": "C.UTF-8"}


def _speed(folder: Path) -> dict[str, object]:
    suite = Suite.made(Dialect("speed", {"test_numbers.py": _SUITE}), folder)
    suite.report()
    text = (suite.root / "report.xml").read_text()
    first, last = text.index("<testcase"), text.rindex("</testsuite>")
    big = folder / "big.xml"
    with big.open("w") as file:
        file.write(text[:first])
        for n in range(CASES // 1000):
            part = text[first:last]
            file.write(part.replace('classname="test_numbers', f'classname="tests.part_{n}.test_n'))
        file.write(text[last:])
    megabytes = big.stat().st_size / 1e6
    ours, bare = [], []
    for _ in range(_RUNS):
        ours.append(_measured(_OURS, big, str(CASES)))
        bare.append(_measured(_BARE, big))
    big.unlink()
    wall, cpu = ([min(m[n] for m in runs) for runs in (ours, bare)] for n in (0, 1))
    print(
        f"{megabytes:.0f} MB: {wall[0]:.2f} s (processor {cpu[0]:.2f} s), bare iterparse"
        f" {wall[1]:.2f} s (processor {cpu[1]:.2f} s), processor ratio {cpu[0] / cpu[1]:.2f}"
    )
    return {
        "seconds": round(wall[0], 2),
        "ratio_to_iterparse": round(wall[0] / wall[1], 2),
        "peak_mib": round(max(m[2] for m in ours), 1),
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


def _output(folder: Path) -> None:
    path = folder / "output.xml"
    with path.open("w") as file:
        file.write('<testsuite><testcase classname="a" name="b"><failure>x</failure><system-out>')
        for _ in range(200):
            file.write("a line of output\n" * 61_680)
        file.write("</system-out></testcase></testsuite>")
    wall, _, peak = _measured(_OURS, path, "1")
    print(f"200 MB of output: {wall:.2f} s, peak {peak:.1f} MiB")


def _hostile_files(folder: Path) -> dict[str, object]:
    run = Run(sink=lambda event: None)
    collection = Collection(("tests/test_a.py::test_b",))
    tried, worst, untyped, slowest = 0, 0.0, 0, ""
    for name, data in _hostile.corpus():
        (folder / name).write_bytes(data)
        begun = time.perf_counter()
        try:
            report = reader.read_reports(run, folder, [name])
            reported_tests.resolve(run, report, collection, ["tests/test_a.py"], lambda path: b"")
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
    print(f"{tried} hostile files, the slowest {slowest}")
    return {"tried": tried, "worst_seconds": round(worst, 2), "untyped_errors": untyped}


def _join(folder: Path, chosen: Sequence[Dialect]) -> tuple[dict[str, int], list[str]]:
    """Every collected id through the join, and the real report of each dialect against the truth.

    `ids` counts the tests collected for pytest's own reports and those that fail for every
    runner; `exact` those the join gives back, and nothing else in their place. Beside it the
    dialects whose runner does not run here.
    """
    found: Counter[str] = Counter(ids=0, exact=0, ambiguous=0)
    unmeasured = []
    for dialect in chosen:
        try:
            found.update(_joined(dialect, folder))
        except HealBotError as error:
            print(f"{dialect.name}: not measured: {error}")
            unmeasured.append(dialect.name)
    return dict(found), unmeasured


def _joined(dialect: Dialect, folder: Path) -> dict[str, int]:
    """One dialect's share; HealBotError where it leaves no report."""
    run = Run(sink=lambda event: None)
    suite = Suite.made(dialect, folder / dialect.name)
    seen = suite.report()
    index = NodeIdIndex(seen.collected)
    names = [index.find(*mangle(test)) for test in seen.collected]
    report = reader.read_reports(run, suite.root, [dialect.report])
    collection = Collection(seen.collected)
    resolved = reported_tests.resolve(run, report, collection, suite.paths(), suite.read)
    found = {f.test for f in resolved.failures}
    again = suite.again(sorted(found))
    print(
        f"{dialect.name}: {len(seen.failed)} tests fail, {len(found & seen.failed)} of them"
        f" are found, {len(found - seen.failed)} others, {len(again)} fail again"
    )
    exact = sum(name == (test,) for name, test in zip(names, seen.collected, strict=True))
    ambiguous = sum(len(name) > 1 for name in names)
    return {
        "ids": len(names) + len(seen.failed),
        "exact": exact + len(found & seen.failed & again) - len(found - seen.failed),
        "ambiguous": ambiguous + sum("fits more than one" in remark for remark in resolved.skipped),
    }
