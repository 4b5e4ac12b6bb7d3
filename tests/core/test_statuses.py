from __future__ import annotations

import ast
from pathlib import Path
from typing import get_args

import pytest

from heal_bot.core import outcome, statuses
from heal_bot.core.model import CaseResult
from heal_bot.core.statuses import FailureStatus, OutcomeStatus, RunResult, VerdictStatus
from tests.fakes import quiet_run, suite

ROOT = Path(__file__).parents[2] / "heal_bot"
# The agent runs in the target's Python, where heal-bot cannot be imported.
MODULES = sorted(
    path
    for path in ROOT.rglob("*.py")
    if "agent" not in path.parts and path != Path(statuses.__file__)
)


def _words(node: ast.AST) -> set[str]:
    """The results that a set, list or tuple names, as strings or as members."""
    named: set[str] = set()
    for item in node.elts if isinstance(node, ast.Set | ast.List | ast.Tuple) else ():
        if isinstance(item, ast.Constant) and isinstance(item.value, str):
            named.add(item.value)
        elif isinstance(item, ast.Attribute) and ast.unparse(item.value).endswith("RunResult"):
            named.add(item.attr.lower())
    return named & set(RunResult)


def _own_sets(source: str) -> list[str]:
    return [ast.unparse(n) for n in ast.walk(ast.parse(source)) if len(_words(n)) > 1]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_no_other_module_defines_a_set_of_results(path: Path) -> None:
    assert _own_sets(path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        '_RED = frozenset({"failed", "error"})',
        '_GOOD = {"passed", "xfailed"}',
        'bad = outcome in ("failed", "error")',
        "red = [r for r in results if r.outcome in {RunResult.FAILED, RunResult.ERROR}]",
    ],
)
def test_a_planted_set_is_found(source: str) -> None:
    assert _own_sets(source) != []


def test_the_words_of_a_record_are_the_members() -> None:
    assert get_args(outcome.VerdictStatus) == tuple(VerdictStatus)
    assert get_args(outcome.Status) == tuple(OutcomeStatus)
    assert {*get_args(outcome.FailureStatus), "confirmed"} == set(FailureStatus)


def test_a_result_is_red_or_green_or_skipped() -> None:
    assert set(RunResult) - {RunResult.SKIPPED} == statuses.RED | statuses.GREEN
    assert not statuses.RED & statuses.GREEN
    assert statuses.EXPECTED < statuses.GREEN


def test_a_run_is_told_with_expected_failures_among_what_passed() -> None:
    run, heard = quiet_run()
    run.tell_suite("verify", "baseline", suite(*(CaseResult(each, each) for each in RunResult)))
    (event,) = heard
    assert (event.stage, event.purpose) == ("verify", "baseline")
    assert (event.passed, event.failed, event.ended) == (3, 2, "finished")
