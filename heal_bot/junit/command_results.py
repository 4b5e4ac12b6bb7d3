"""What a command ran, by the JUnit files it wrote and its exit code, as results of tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from heal_bot.core.errors import UsageError
from heal_bot.core.events import Run
from heal_bot.core.model import (
    COMMAND,
    COVERAGE,
    NO_ENVIRONMENT,
    CaseResult,
    Collection,
    Frame,
    Origin,
    ReportedCase,
)
from heal_bot.core.statuses import RunResult
from heal_bot.core.text import clip, one_line, printable
from heal_bot.junit import traceback
from heal_bot.junit.archive import read_documents
from heal_bot.junit.ast_lookup import Sources
from heal_bot.junit.failure_message import kind_of, message_of
from heal_bot.junit.node_id_resolver import Join
from heal_bot.junit.path_mapping import Layout
from heal_bot.junit.reader import case_of
from heal_bot.junit.report_files import Opened, find, open_report
from heal_bot.junit.xml_reader import parse
from heal_bot.ports import Observed, Tree

# What drives tests and is none of the code under test.
_DRIVERS = frozenset({"noxfile.py"})
# The shell's own words for a command that it cannot start.
_NOT_STARTED = frozenset({126, 127})
_PATTERNS = ("**/*.xml",)
# What installers, and tools that make environments, say where there is no network for it.
_UNMADE = re.compile(
    r"^.{0,300}?(?:No matching distribution found for |the network was disabled"
    r"|does not have a virtual environment, so use of"
    r"|-m (?:virtualenv|venv|pip install)\b.{0,300}? failed with exit code).{0,300}",
    re.M,
)
_MAKER = re.compile(r'File "[^"\n]{0,500}/(?:virtualenv|ensurepip)/[^"\n]{0,200}", line ')
_TRACEBACK = "Traceback (most recent call last):"
# What pytest-cov and coverage say where every test passed and the command failed all the same.
_UNCOVERED = re.compile(
    r"Required test coverage of [\d.]+% not reached.{0,300}|Coverage failure: .{1,300}"
    r"|total of [\d.]+ is less than fail-under=[\d.]+"
)
_RULE = re.compile(r"^[=-]{20,}\s*$", re.M)
_EVIDENCE = 16_000
_WORSE = {RunResult.PASSED: 0, RunResult.SKIPPED: 1, RunResult.FAILED: 2, RunResult.ERROR: 2}


def read_results(
    run: Run, tree: Tree, folder: Path, since: float, known: Sequence[str], done: Observed
) -> tuple[CaseResult, ...]:
    """The tests of a run that ended with `done` in `folder`, which holds a copy of `tree`.

    Cases of reports that were written after `since` are joined with the tests that pytest
    collects (`known`) or that the sources show; the others are called by their own names. The
    last result, `command`, is the exit code: without a report the only one, and with one red
    only where no case accounts for it.
    """
    layout = Layout(tree.paths())
    join = Join(Collection(tuple(known)), layout, Sources(tree.paths(), tree.read))
    seen: dict[str, CaseResult] = {}
    for cases in _written(run, folder, since, frozenset(tree.paths())):
        for result in _last(cases, join, layout):
            before = seen.get(result.test)
            if before is None or _WORSE[result.outcome] > _WORSE[before.outcome]:
                seen[result.test] = result
    told = any(result.red for result in seen.values())
    return (*seen.values(), _exit(done, layout, explained=told))


def _written(
    run: Run, folder: Path, since: float, committed: frozenset[str]
) -> Iterable[list[ReportedCase]]:
    """The cases of each report that the run left, nothing of which is trusted."""
    try:
        places = find(folder, _PATTERNS)
    except UsageError:
        return
    for place in places:
        opened = open_report(place)
        if not isinstance(opened, Opened):
            continue
        with opened.file as stream:
            if place.name in committed and opened.modified <= since:
                continue
            for document in read_documents(stream, one_line(place.name, 300)):
                if not isinstance(document, str):
                    parsed = parse(run, document, case_of, every=True)
                    yield [
                        replace(case, places=parsed.suites.places(key))
                        for key, case in parsed.found
                    ]


def _last(cases: Sequence[ReportedCase], join: Join, layout: Layout) -> Iterable[CaseResult]:
    """One result for each test of a report: of several tries the last decides."""
    found: dict[str, CaseResult] = {}
    for case in cases:
        own = "::".join(part for part in (case.classname, case.name) if part)
        for test in join.find(case).tests or ((one_line(own, 500),) if own else ()):
            found[test] = CaseResult(
                test,
                case.outcome,
                case.phase if case.phase in {"setup", "teardown"} else "call",
                case.seconds,
                case.kind,
                case.message,
                traceback.parse_frames(case.text, layout) if case.text else (),
            )
    return found.values()


def _exit(done: Observed, layout: Layout, *, explained: bool) -> CaseResult:
    """The exit code as a test; its evidence is the first traceback that was printed."""
    if done.code == 0 or explained:
        return CaseResult(COMMAND, RunResult.PASSED)
    shown = _shown(done.output)
    frames = traceback.parse_frames(shown, layout)
    if unmade := _unmade(done.output, shown, frames):
        return CaseResult(COMMAND, RunResult.FAILED, kind=NO_ENVIRONMENT, message=unmade)
    if found := _UNCOVERED.search(done.output) if not frames else None:
        message = one_line(found[0], 300)
        return CaseResult(COMMAND, RunResult.FAILED, kind=COVERAGE, message=message)
    kind = f"exit {done.code}" if done.code in _NOT_STARTED else kind_of("", "", shown)
    said = message_of("", shown) or _last_line(done.output)
    return CaseResult(
        COMMAND,
        RunResult.FAILED,
        kind=kind or f"exit {done.code}",
        message=said or f"exit {done.code}",
        frames=frames,
    )


def _unmade(output: str, shown: str, frames: Sequence[Frame]) -> str:
    """What kept the command from making an environment; '' where the project's code is to blame."""
    if any(frame.origin is not Origin.LIBRARY and frame.path not in _DRIVERS for frame in frames):
        return ""
    if found := _UNMADE.search(output):
        return one_line(found[0], 300)
    return one_line(message_of("", shown), 300) if _MAKER.search(shown) else ""


def _shown(output: str) -> str:
    """The first traceback up to the next ruled line; the end of the output without one."""
    start = output.find(_TRACEBACK)
    if start < 0:
        return output[-_EVIDENCE:]
    text = output[start : start + _EVIDENCE]
    rule = _RULE.search(text)
    return text[: rule.start()] if rule else text


def _last_line(output: str) -> str:
    lines = [line for line in output.splitlines() if line.strip()]
    return clip(printable(lines[-1]), 500) if lines else ""
