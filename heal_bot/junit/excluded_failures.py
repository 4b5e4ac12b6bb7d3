"""What a red report names and no repair is for: findings of linters, legs that may fail."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heal_bot.core.model import ASKED, HealRequest, Leg, Report, ReportedCase
from heal_bot.core.statuses import OutcomeStatus
from heal_bot.core.text import name_first, one_line
from heal_bot.junit.report_files import Opened, find_matching, open_report
from heal_bot.ports import Tree
from heal_bot.source import doctest_output
from heal_bot.source.workflow_files import list_jobs, list_rows, list_values

# Tools whose findings plugins and formatters write as cases, and what cures these.
_TOOLS = {
    "ruff": "ruff check --fix, ruff format", "black": "black .", "isort": "isort .",
    "autopep8": "autopep8 -ir .", "yapf": "yapf -ir .", "docformatter": "docformatter -ir .",
    **dict.fromkeys(("mypy", "pyright", "basedpyright", "pytype", "pyre", "ty"), "mend the types"),
    **dict.fromkeys(("flake8", "pylint", "pycodestyle", "pydocstyle", "pep8", "pep257", "pyflakes",
                     "codestyle", "bandit", "codespell", "vulture", "interrogate", "mccabe",
                     "xenon", "lint"), "mend what it names"),
}  # fmt: skip
_FINDING = re.compile(r"[A-Z]{1,4}\d{3,4}\Z")
_LISTED = re.compile(r"[^\n]{1,500}\.pyi?:\d+(?::\d+)?:? \(?[A-Z]{1,4}\d{3,4}\b")
# A Python before its release, as legs, properties and paths of runners name it.
_EARLY = re.compile(
    r"(?i)(?<![\d.])3\.\d{1,2}(?:\.\d{1,2})?(?:(?:a|b|rc)\d+\b|[-. ]?(?:alpha|beta|rc|dev)\b)"
    r"|\b(?:pypy|python|cpython|py)[\w.-]*-nightly\b"
)
# The only conditions that are taken for what they say.
_CONDITION = re.compile(
    r"\$\{\{ {0,9}matrix\.([\w-]{1,60})(?: {0,9}== {0,9}(?:true|'([^']{1,60})'))? {0,9}\}\}"
)
_PYTHON = re.compile(r"(3\.\d{1,2})(?:\D|$)")
_DOCTESTS = frozenset({"DocTestFailure", "MultipleDoctestFailures", "UnexpectedException"})
_SCAN = 20_000


@dataclass(frozen=True, slots=True)
class Aside:
    """The report without what is left alone, and why that is so; '' where nothing is.

    `status` is how a run ends in which nothing else is red.
    """

    report: Report
    reason: str = ""
    status: OutcomeStatus = OutcomeStatus.NOTHING_TO_DO


def set_aside(request: HealRequest, report: Report, tree: Tree, root: Path) -> Aside:
    """Leave out findings of linters, and legs that may fail unless a person asks for a repair."""
    red = [case for case in report.cases if case.red]
    found = {name: [case for case in red if name_tool(case) == name] for name in _TOOLS}
    why = [f"{name} ({name_first(len(cases), _shown(cases), 'finding')}): {_TOOLS[name]}"
           for name, cases in found.items() if cases]  # fmt: skip
    status = OutcomeStatus.EXPLAINED if why else OutcomeStatus.NOTHING_TO_DO
    reason = f"no test of behaviour is red, but {'; '.join(why)}" if why else ""
    kept = [case for case in report.cases if not case.red or not name_tool(case)]
    if not _is_asked(request) and any(case.red for case in kept):
        allowed = _Allowed.of(request, report, tree, root)
        legs = [leg for case in kept if case.red and (leg := allowed.leg(case))]
        kept = [case for case in kept if not case.red or not allowed.leg(case)]
        if legs:
            told = f"red where it may be ({', '.join(dict.fromkeys(legs))}), and left alone"
            told += ": /heal in a comment, or --only, asks for it"
            reason = f"{reason}; {told}" if reason else told
    return Aside(replace(report, cases=tuple(kept)) if reason else report, reason, status)


def _shown(cases: Sequence[ReportedCase]) -> str:
    """One finding in a line: the first that names a place, else the first."""
    case = next((case for case in cases if ".py:" in case.message), cases[0])
    return case.message.strip().partition("\n")[0] or f"{case.classname}::{case.name}"


def explain_doctests(report: Report) -> str:
    """Why nothing red is a fault, where a report of doctests alone tells that; '' else."""
    red = [case for case in report.cases if case.red]
    shown = [doctest_output.find_output(case.text or case.message) for case in red]
    if not red or not all(doctest_output.is_alike(*pair) for pair in shown):
        return ""
    want, got = (one_line(text, 120) for text in shown[0])
    return (
        f"{red[0].classname}::{red[0].name}: the output of the doctest is the same, written"
        f" otherwise ({want} expected, {got} shown, as another version of Python or of a package"
        " such as numpy writes it): correct the docstring, pin the version, or say +ELLIPSIS there"
    )


def name_tool(case: ReportedCase) -> str:
    """The linter or type checker whose finding a case is; '' for a test."""
    parts = [_plain(part) for part in (*case.classname.split("."), case.name)]
    is_test = parts[-1].startswith("test") or case.kind in _DOCTESTS
    if is_test or re.search(rf"\bdef {re.escape(case.name)}\b", case.text):
        return ""
    if parts[-1] in {"format", "check"} and len(parts) > 1:
        parts.pop()
    if case.name.startswith("org.ruff"):
        return "ruff"
    # No function has such a name.
    is_file = case.name.endswith((".py", ".pyi")) or case.name.startswith(f"{case.classname}-")
    for part in (parts[-1], _plain(case.classname) if is_file else ""):
        for name in (part, part.removesuffix("status"), part.removesuffix("format")):
            if name in _TOOLS:
                return name
    return "lint" if _FINDING.match(case.kind) or _LISTED.match(case.message) else ""


def _plain(part: str) -> str:
    return re.sub(r"[^a-z0-9]", "", part.lower())


def _words(text: str) -> str:
    return f"-{'-'.join(re.findall(r'[a-z0-9]+', text.lower()))}-"


def _is_asked(request: HealRequest) -> bool:
    """Whether a person asks for this repair, as against a run that was red."""
    spoken = request.trigger in {*ASKED, "command"}
    return spoken or bool(request.only or request.targets)


@dataclass(frozen=True, slots=True)
class _Allowed:
    """What workflows allow to fail: jobs, and rows of values of a matrix.

    `always` are the values that a matrix has besides, `here` says that this job may fail.
    """

    jobs: frozenset[str]
    rows: frozenset[tuple[str, ...]]
    always: frozenset[str]
    here: str
    python: str

    @classmethod
    def of(cls, request: HealRequest, report: Report, tree: Tree, root: Path) -> _Allowed:
        """Read off the commit's workflows, and the environment that the failing job left."""
        jobs: dict[str, bool] = {}
        rows: set[tuple[str, ...]] = set()
        always: set[str] = set()
        for name, job in list_jobs(tree):
            granted = job.get("continue-on-error")
            jobs[name] = granted == "true" and jobs.get(name, True)
            if isinstance(granted, str) and (condition := _CONDITION.fullmatch(granted)):
                rows.update(_granted(condition, job))
                # With a value named, that value may fail wherever the matrix has it.
                always.update(() if condition[2] else (value for _, value in list_values(job)))
        python = _venv(root) or request.python
        free = frozenset(name for name, may in jobs.items() if may)
        early = _EARLY.search(python)
        here = f"job {request.job}" if request.job in free else early[0] if early else ""
        told = report.hints.python if len(report.legs) < 2 else ""
        return cls(free, frozenset(rows), frozenset(always), here, python or told)

    def leg(self, case: ReportedCase) -> str:
        """Which leg that may fail a case is of; '' where it must not."""
        leg = case.leg
        if self.here:
            return self.here
        if early := _EARLY.search(leg.name) or _EARLY.search(_runner(case.text)):
            return one_line(early[0], 60)
        for row in sorted(self.rows):
            if self._fits(row, leg):
                return f"{', '.join(row)}: continue-on-error"
        words = set(re.split(r"[^\w]+", leg.name))
        found = next((job for job in sorted(self.jobs) if job in words), "")
        return f"job {found}: continue-on-error" if found else ""

    def _fits(self, row: tuple[str, ...], leg: Leg) -> bool:
        """Whether a leg is of a row: by its Python, where no other row has it, else by all."""
        python, name = leg.python or self.python, _words(leg.name)
        versions = [v for v in row if _PYTHON.match(v)]
        others = [v for v in row if v not in versions]
        for value in versions:
            found = _PYTHON.match(value)
            if found is None or not f"{python}.".startswith(f"{found[1]}."):
                return False
        if versions and not any(v in self.always for v in versions):
            return True
        return bool(others) and all(_words(value) in name for value in others)


def _runner(text: str) -> str:
    """The paths of a runner's own Python in a traceback, which hold its whole version."""
    return " ".join(re.findall(r"[\\/]Python[\\/](3\.[\w.-]{1,30})[\\/]", text[:_SCAN]))


def _venv(root: Path) -> str:
    """The Python of the `.venv` that the failing job left in the workspace."""
    for place in find_matching(root, ".venv/pyvenv.cfg"):
        opened = open_report(place)
        if isinstance(opened, Opened):
            with opened.file as stream:
                text = stream.read(4_000).decode(errors="replace")
            found = re.search(r"(?m)^version(?:_info)?\s*=\s*([\w.]{1,30})", text)
            return found[1] if found else ""
    return ""


def _granted(condition: re.Match[str], job: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """The rows of the matrix with which a job may fail."""
    name, value = condition[1], condition[2]
    if value:
        yield (value,)
        return
    for row in list_rows(job):
        if row.get(name) == "true":
            yield tuple(str(v) for k, v in row.items() if k != name)
