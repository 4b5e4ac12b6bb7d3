"""JUnit XML files, from any writer and in any state, to one Report."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from junitparser.xunit2 import TestCase

from heal_bot.core.errors import UsageError
from heal_bot.core.events import Run
from heal_bot.core.model import Leg, Report, ReportedCase
from heal_bot.core.statuses import RunResult
from heal_bot.core.text import count, one_line
from heal_bot.junit.archive import Document, read_documents
from heal_bot.junit.failure_message import kind_of, message_of
from heal_bot.junit.junit_handler import FoundCase, Key, Suites
from heal_bot.junit.matrix_jobs import leg_of
from heal_bot.junit.report_files import ReportPlace, find, open_report
from heal_bot.junit.run_hints import hints_of
from heal_bot.junit.xml_reader import Parsed, parse

_REMARKS = 50
# A time stamp without a zone may be of the westernmost, which is this far behind UTC.
_WEST = timedelta(hours=12)
# The format is of about this time: what is older comes from a clock that nobody set.
_OLDEST = datetime(2000, 1, 1, tzinfo=UTC).timestamp()
_SUBTESTS = re.compile(r"contains \d{1,6} failed subtests?")
_PHASES = (
    ("collection failure", "collect"),
    ("failed on setup", "setup"),
    ("failed on teardown", "teardown"),
)
_UNITTEST_PHASE = re.compile(r"(setUp|tearDown)(?:Class|Module) \(")
_BY_TAG = {"failure": RunResult.FAILED, "error": RunResult.ERROR}


@dataclass(slots=True)
class _Gathered:
    """What the files gave so far."""

    cases: list[ReportedCase] = field(default_factory=list)
    passed: int = 0
    seconds: float = 0.0
    reports: int = 0
    flags: dict[str, None] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    properties: dict[str, str] = field(default_factory=dict)
    legs: list[Leg] = field(default_factory=list)
    modules: set[str] = field(default_factory=set)
    named: Counter[tuple[str, str]] = field(default_factory=Counter)
    stopped: set[tuple[str, str]] = field(default_factory=set)
    not_before: float = 0.0
    started: float = 0.0


def read_reports(
    run: Run,
    root: Path,
    patterns: Sequence[str],
    *,
    absolute: bool = False,
    not_before: float = 0.0,
) -> Report:
    """Read every report that the paths and globs name beneath `root` into one Report.

    Cases are those that failed or were skipped; several tries of one test in a file are merged,
    the last one decides. Every file is a leg. With `absolute`, absolute paths outside of `root`
    are read too (for paths a person typed). A report written before `not_before` (epoch seconds,
    when the commit it is for was made) is flagged `stale`.

    Flags: partial, interrupted, repaired, stale, empty, retried, capped, clipped, legs.
    UsageError when a pattern matches nothing or no file yields a test report.
    """
    gathered = _Gathered(not_before=not_before)
    for place in find(root, patterns, absolute=absolute):
        opened = open_report(place)
        if isinstance(opened, str):
            gathered.remarks.append(f"{one_line(place.name)} {opened}")
            continue
        with opened.file as stream:
            for document in read_documents(stream, one_line(place.name, 300)):
                _add(run, gathered, document)
            if opened.modified < not_before and "stale" not in gathered.flags:
                _stale(gathered, one_line(place.name))
    if not gathered.reports:
        raise UsageError(_nothing(gathered, find(root, patterns, absolute=absolute)))
    return _report(gathered)


def _stale(gathered: _Gathered, name: str) -> None:
    gathered.flags["stale"] = None
    gathered.remarks.append(f"{name} was written before the commit that it is for was made")


def _nothing(gathered: _Gathered, places: Sequence[ReportPlace]) -> str:
    why = gathered.remarks[0] if gathered.remarks else f"{one_line(places[0].name)} is empty"
    return f"{why}; give a JUnit XML report, as pytest --junitxml=report.xml writes it"


def _add(run: Run, gathered: _Gathered, document: Document | str) -> None:
    """Read one document into what was gathered; problems become remarks and flags."""
    if isinstance(document, str):
        gathered.remarks.append(document)
        gathered.flags["partial"] = None
        return
    parsed = parse(run, document, case_of)
    suites = parsed.suites
    known = suites.root in {"", "testsuites", "testsuite", "testcase", "properties"}
    if not suites.cases and (parsed.error or not known):
        other = f"is not a test report (its root is <{one_line(suites.root, 60)}>)"
        why = other if not known else parsed.error
        gathered.remarks.append(f"{document.name} {why}")
        gathered.flags["partial"] = None
        return
    if parsed.error:
        gathered.remarks.append(
            f"{document.name} {parsed.error}; its {suites.cases} complete cases were read"
        )
    gathered.reports += 1
    gathered.passed += suites.passed
    gathered.modules.update(suites.modules)
    gathered.flags.update(dict.fromkeys(parsed.flags))
    if not suites.cases:
        gathered.flags["empty"] = None
        gathered.remarks.append(f"{document.name} holds no test case")
    if unshown := _unshown(suites):
        gathered.flags["partial"] = None
        gathered.remarks.append(f"{document.name} {unshown}")
    written = max(filter(None, map(_epoch, suites.stamps)), default=0.0)
    if written >= gathered.not_before:
        gathered.started = max(gathered.started, written)
    elif written and "stale" not in gathered.flags:
        _stale(gathered, document.name)
    for name, value in suites.properties.items():
        gathered.properties.setdefault(name, value)
    leg = leg_of(document.name, suites.properties)
    gathered.legs.append(leg)
    cases = tuple(_merged(parsed, leg, gathered))
    gathered.cases += cases
    tries = sum(case.attempts - 1 for case in cases)
    kind = (leg.python, leg.system)
    gathered.named[kind] += suites.cases - tries
    if suites.last_failed:
        gathered.stopped.add(kind)


def _merged(parsed: Parsed[ReportedCase], leg: Leg, gathered: _Gathered) -> Iterator[ReportedCase]:
    """The cases of one document, attempts of one test merged: the last decides.

    A failed call and a failed teardown of one test are two cases with one key (pytest); the call
    is kept, the teardown only noted in its text.
    """
    merged: dict[Key, ReportedCase] = {}
    for key, case in parsed.found:
        earlier = merged.pop(key, None)
        if earlier is not None and earlier.red:
            if case.phase == "teardown" and earlier.phase != "teardown":
                merged[key] = replace(earlier, text=f"{earlier.text}\n\n{case.message}")
                continue
            merged[key] = replace(case, attempts=earlier.attempts + case.attempts)
        else:
            merged[key] = case
    passes = parsed.suites.passes()
    told = sum(map(_seconds, parsed.suites.times))
    gathered.seconds += told or sum(case.seconds for case in merged.values())
    for key, case in merged.items():
        tries = case.attempts + passes.get(hash(key[:3]), 0)
        if tries > 1:
            gathered.flags["retried"] = None
        outcome = RunResult.PASSED if parsed.suites.passed_last(key) else case.outcome
        places = parsed.suites.places(key)
        yield replace(case, outcome=outcome, attempts=tries, leg=leg, places=places)


def case_of(found: FoundCase) -> ReportedCase:
    """The pruned element, read by junitparser, as a case of ours; lenient with numbers."""
    case = TestCase.fromelem(found.element)  # type: ignore[no-untyped-call]
    attributes = found.element.attrib
    results = case.result
    classname, name = case.classname or "", case.name or ""
    if not results:
        return ReportedCase(
            classname, name, RunResult.PASSED, attributes.get("file", ""),
            seconds=_seconds(attributes.get("time", "")), place=found.place,
        )  # fmt: skip
    worst = [r for r in results if r._tag != "skipped"] or results
    shown = [r for r in worst if not _SUBTESTS.search(r.message or "")] or worst
    first = shown[0]
    message, text = first.message or "", first.text or ""
    outcome = _BY_TAG.get(first._tag, RunResult.SKIPPED)
    skipped = outcome == RunResult.SKIPPED
    return ReportedCase(
        classname=classname,
        name=name,
        outcome=outcome,
        file=attributes.get("file", ""),
        phase=_phase(classname, name, message),
        kind="" if skipped else kind_of(first.type or "", message, text),
        message=one_line(message, 200) if skipped else message_of(message, text),
        text=text,
        seconds=_seconds(attributes.get("time", "")),
        attempts=1 + found.retries,
        place=found.place,
    )


def _phase(classname: str, name: str, message: str) -> str:
    if match := _UNITTEST_PHASE.match(classname) or _UNITTEST_PHASE.match(name):
        return "setup" if match[1] == "setUp" else "teardown"
    return next((phase for start, phase in _PHASES if message.startswith(start)), "call")


def _seconds(value: str) -> float:
    """A time that may use a decimal or grouping comma; 0 for what is no finite number."""
    plain = value.strip()[:32]
    plain = plain.replace(",", "") if "." in plain else plain.replace(",", ".")
    try:
        seconds = float(plain)
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and 0 <= seconds < 1e9 else 0.0


def _unshown(suites: Suites) -> str:
    """What a document tells to have failed without a case that shows it; '' where nothing is."""
    if suites.broken:
        return f"holds a suite that failed as a whole: {one_line(suites.broken[0], 200)}"
    if suites.told > suites.shown:
        return f"tells of {count(suites.told, 'failure')} and shows {suites.shown} of them"
    return ""


def _epoch(written: str) -> float:
    """The latest second that a suite's time stamp can mean; 0 when it is none."""
    try:
        read = datetime.fromisoformat(written)
        seconds = (read if read.tzinfo else read.replace(tzinfo=UTC) + _WEST).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0
    return seconds if seconds > _OLDEST else 0.0


def _report(gathered: _Gathered) -> Report:
    cases = tuple(gathered.cases)
    flags = dict(gathered.flags)
    if "interrupted" in flags:
        flags["partial"] = None
    if len({case.leg for case in cases}) > 1:
        flags["legs"] = None
    remarks = gathered.remarks[:_REMARKS]
    if len(gathered.remarks) > _REMARKS:
        remarks.append(f"and {len(gathered.remarks) - _REMARKS} more remarks")
    return Report(
        cases=cases,
        passed=gathered.passed,
        flags=tuple(flags),
        hints=replace(
            hints_of(cases, gathered.properties, gathered.seconds),
            started=gathered.started,
            modules=frozenset(gathered.modules),
        ),
        skipped=tuple(remarks),
        stopped=tuple(gathered.named[kind] for kind in sorted(gathered.stopped)),
        legs=tuple(dict.fromkeys(gathered.legs)),
    )
