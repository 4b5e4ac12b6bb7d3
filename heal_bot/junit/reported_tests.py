"""What a report names, as runnable tests of the checkout; or the reason why it names none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from heal_bot.core.events import Run
from heal_bot.core.model import Collection, Failure, Report, ReportedCase
from heal_bot.core.statuses import RunResult
from heal_bot.core.text import one_line
from heal_bot.junit import dialects, traceback
from heal_bot.junit.ast_lookup import Sources
from heal_bot.junit.node_id_resolver import Join
from heal_bot.junit.path_mapping import Layout

_REMARKS = 50
_STALE = "the test is marked to fail strictly and passes: the mark, not the code, is out of date"


@dataclass(frozen=True, slots=True)
class Resolved:
    """The failures to heal, remarks on the rest, and why there is nothing to do, if so.

    `whole` says that the sandboxed baseline has to be the report, because there is none, or it is
    of an older commit, or names no failure and cannot be believed to be all: what it names runs
    first. `partial`: the report stopped early.
    """

    failures: tuple[Failure, ...]
    skipped: tuple[str, ...] = ()
    nothing: str = ""
    whole: bool = False
    partial: bool = False


def resolve(
    run: Run,
    report: Report,
    collection: Collection,
    paths: Sequence[str],
    read: Callable[[str], bytes],
) -> Resolved:
    """Join the report's failing cases with the tests pytest collects in the checkout.

    One failure per test: of several legs the first one on Linux is kept and the others are
    named in its reason. A report of a runner that pytest cannot stand in for gives no failure
    and says so in `nothing`, as does one of whose failing cases none is in the checkout.
    """
    layout = Layout(paths)
    # Workers of xdist report in the order in which tests end.
    ordered = "pytest-xdist" not in report.hints.plugins
    sources = Sources(paths, read)
    join = Join(collection, layout, sources, ordered=ordered)
    cases = _sorted(report, join)
    failures = tuple(_failure(test, named, layout) for test, named in cases.meant.items())
    # Files that cannot be collected say themselves why the tests in them did not run.
    begun = any("::" in test for test in cases.meant)
    stopped = _stopped(report, collection, cases.beyond) if begun else []
    missed = cases.missed
    unknown = [f"{_label(case)}: {why or join.why(case)}" for case, why in missed[:_REMARKS]]
    retried = _capped(cases.retried, len(cases.retried))
    remarks = (*stopped, *_capped(unknown, len(missed)), *retried)
    for remark in remarks:
        run.warn("intake", remark)
    stale = "stale" in report.flags and not _is_foreign(report, sources, layout)
    if failures or not missed or stale:
        whole = stale or (not failures and bool(doubt_green(report)))
        nothing = "" if failures or whole else "the report names no failure"
        return Resolved(failures, remarks, nothing, whole, bool(stopped))
    return Resolved((), remarks, _nothing(missed, collection, join), partial=bool(stopped))


def guess_failures(
    report: Report, paths: Sequence[str], read: Callable[[str], bytes]
) -> tuple[Failure, ...]:
    """The failures of tests that the sources alone show to be meant; pytest may name others."""
    layout = Layout(paths)
    meant = _sorted(report, Join(Collection(()), layout, Sources(paths, read))).meant
    return tuple(_failure(test, named, layout) for test, named in meant.items() if "::" in test)


def find_doctests(report: Report, paths: Sequence[str]) -> tuple[str, ...]:
    """The files whose examples a report names as red: modules, and texts by their whole path."""
    sources = Sources(paths, lambda path: b"")
    texts = {
        path.replace("/", "."): path for path in paths if path.endswith((".md", ".rst", ".txt"))
    }
    named = [name for case in report.cases if case.red
             and dialects.is_doctest(case) for name in dialects.read_names(case)]  # fmt: skip
    found = (path for name in named for path in (
        *sources.modules(name.classname), *filter(None, [texts.get(name.classname)])))  # fmt: skip
    return tuple(sorted(set(found)))


@dataclass(slots=True)
class _Cases:
    """The cases by what they mean: tests, nothing (with the candidates of a tie), a retry.

    `beyond` counts the tests that share a case with another: those of a class that cannot start.
    """

    meant: dict[str, list[ReportedCase]] = field(default_factory=dict)
    missed: list[tuple[ReportedCase, str]] = field(default_factory=list)
    retried: list[str] = field(default_factory=list)
    beyond: int = 0


def _sorted(report: Report, join: Join) -> _Cases:
    """Join each case that failed; one that passed in its last try counts only in a tie."""
    cases = _Cases()
    for case in report.cases:
        if case.outcome == RunResult.SKIPPED or _is_no_test(case):
            continue
        joined = join.find(case)
        if case.outcome == RunResult.PASSED and not joined.reason:
            cases.retried.append(f"{_label(case)} failed and then passed in {case.leg.label}")
            continue
        for test in joined.tests:
            cases.meant.setdefault(test, []).append(case)
        cases.beyond += max(0, len(joined.tests) - 1)
        if not joined.tests:
            cases.missed.append((case, joined.reason))
    return cases


def add_remarks(report: Report, resolved: Resolved) -> Report:
    """The report with what the join found out about it."""
    flags = (*report.flags, "partial") if resolved.partial else report.flags
    skipped = (*report.skipped, *resolved.skipped)
    return replace(report, flags=tuple(dict.fromkeys(flags)), skipped=skipped)


def doubt_green(report: Report) -> str:
    """Why a report without failures is no proof that every test passed; '' when it is one."""
    doubted = " and ".join(f for f in ("empty", "stale", "partial") if f in report.flags)
    broke = any(_is_no_test(case) for case in report.cases)
    return doubted or ("of a run that broke inside the test runner" if broke else "")


def is_red(report: Report) -> bool:
    """Whether a test failed in its last try."""
    return any(case.red for case in report.cases)


def is_green(report: Report) -> bool:
    """Whether a whole report names no test that failed."""
    skipped = all(case.outcome == RunResult.SKIPPED for case in report.cases)
    return skipped and not doubt_green(report)


def _is_foreign(report: Report, sources: Sources, layout: Layout) -> bool:
    """Whether none of the modules that a report names, green ones too, is in the checkout."""
    named = [one for one in report.hints.modules if one]
    parts = {name.rsplit(".", up)[0] for name in named for up in range(name.count(".") + 1)}
    # A package of tests has the same name everywhere.
    found = (path for part in parts for path in (*sources.modules(part), layout.find(part)))
    return bool(named) and not any(path and not path.endswith("__init__.py") for path in found)


def _is_no_test(case: ReportedCase) -> bool:
    """pytest's own record of an internal error, or a case that was never begun."""
    return (case.classname, case.name) in {("pytest", "internal"), ("", "")}


def _nothing(missed: Sequence[tuple[ReportedCase, str]], collection: Collection, join: Join) -> str:
    """Why nothing can be done: another runner's report, or one that does not fit the checkout."""
    runners = {dialects.name_foreign_runner(case) for case, _ in missed[:_REMARKS]}
    if "" not in runners:
        named = ", ".join(sorted(runners))
        remedy = "; test-command may name what runs them"
        return f"the report comes from {named}, whose tests pytest cannot run{remedy}"
    case, ambiguous = missed[0]
    if not collection.tests and not collection.errors:
        return f"the report names {_label(case)}, but pytest collects no test in the repository"
    remedy = "check that the report and the commit belong together"
    if ambiguous:
        remedy = "let pytest write its file (-o junit_family=xunit1), or give --only and no report"
    why = ambiguous or join.why(case)
    return f"the report names {_label(case)}: {why}; {remedy}"


def _label(case: ReportedCase) -> str:
    return one_line("::".join(part for part in (case.classname, case.name) if part), 200)


def _capped(lines: Sequence[str], count: int) -> tuple[str, ...]:
    """The first lines, each once, and how many of the `count` are left out."""
    more = (f"and {count - _REMARKS} more of these",) if count > _REMARKS else ()
    return (*dict.fromkeys(lines[:_REMARKS]), *more)


def _stopped(report: Report, collection: Collection, beyond: int) -> list[str]:
    """That a leg ends with a failure and leaves tests out: `-x` leaves no other mark."""
    named = min(report.stopped, default=len(collection.tests)) + beyond
    if named >= len(collection.tests):
        return []
    return [
        f"the report may have stopped early: it ends with a failure and names {named}"
        f" of {len(collection.tests)} collected tests"
    ]


def _failure(test: str, cases: Sequence[ReportedCase], layout: Layout) -> Failure:
    """One failure from all cases that mean this test."""
    order = {"linux": 0, "": 0, "macos": 1, "windows": 2}
    case = min(cases, key=lambda c: (order.get(c.leg.system, 0), c.phase != "call"))
    return Failure(
        test=test,
        kind=case.kind,
        message=case.message,
        frames=traceback.parse_frames(case.text, layout),
        reason=_reason(cases, case),
        legs=tuple(dict.fromkeys(c.leg for c in cases if c.leg.name)),
    )


def _reason(cases: Sequence[ReportedCase], case: ReportedCase) -> str:
    """Our remark: phase, retries, legs."""
    parts = []
    if case.kind in {"XPASS(strict)", "UnexpectedSuccess"}:
        parts.append(_STALE)
    if case.phase != "call":
        parts.append(
            {"collect": "its file cannot be collected"}.get(case.phase, f"fails in {case.phase}")
        )
    if (tries := max(c.attempts for c in cases)) > 1:
        parts.append(f"the report shows {tries} tries")
    legs = list(dict.fromkeys(c.leg for c in cases))
    named = ", ".join(leg.label for leg in legs[:4])
    systems = {leg.system for leg in legs}
    if systems and systems <= {"windows", "macos"}:
        parts.append(f"reported only on {' and '.join(sorted(systems))}, by {named}")
    elif len(legs) > 1:
        parts.append(f"reported by {len(legs)} legs: {named}")
    return one_line("; ".join(parts), 500)
