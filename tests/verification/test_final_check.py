from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.model import (
    Attempt,
    Baseline,
    Candidate,
    CaseResult,
    Cause,
    Confirmed,
    Edit,
    Environment,
    Failure,
    OracleAnswers,
    Proposal,
    Reproduced,
    Spectrum,
    Suite,
    SuiteRun,
    Verdict,
)
from heal_bot.ports import Ask
from heal_bot.source.functions import find_target, index_targets
from heal_bot.verification.certificate import protected_hash
from heal_bot.verification.final_check import confirm
from heal_bot.verification.hardcoded_answers import LOOKUP
from tests.fakes import (
    ENVIRONMENT,
    FolderTree,
    FolderWorkspace,
    context_of,
    failed,
    passed,
    quiet_run,
    suite,
)

SOURCE = "def add(a, b):\n    # sums\n    return a - b\n"
TEST = "from m import add\n\n\ndef test_add():\n    assert add(20, 3) == 23\n"
BAD, GOOD = "tests/test_m.py::test_add", "tests/test_m.py::test_other"
GREEN = suite(passed(BAD), passed(GOOD))
Answer = Callable[[str, int], SuiteRun]


def _kind(ask: Ask, base: Path) -> str:
    """What a run is for: suite, alone, base alone, poison, coverage, oracle, collect."""
    if ask.collect:
        return "collect"
    if ask.oracle is not None:
        return "oracle unchanged" if ask.oracle.tree.root == base else "oracle"
    if ask.spectrum:
        return "coverage"
    if ask.tests is None:
        return "suite"
    if "poisoned" in (ask.tree.root / "m.py").read_text():
        return "poison"
    if GOOD in ask.tests and BAD in ask.tests:
        return "suite"
    return "base alone" if ask.tree.root == base else "alone"


@dataclass
class Runner:
    """Answers each run by what it is for and how often that was asked."""

    base: Path
    answers: dict[str, Answer | SuiteRun]
    asked: list[str] = field(default_factory=list)
    seeds: list[tuple[str, int | None]] = field(default_factory=list)

    def run_many(self, run: Any, env: Any, asks: Sequence[Ask]) -> tuple[SuiteRun, ...]:
        found = []
        for ask in asks:
            kind = _kind(ask, self.base)
            answer = self.answers[kind]
            number = self.asked.count(kind)
            self.asked.append(kind)
            self.seeds.append((kind, ask.hashes))
            found.append(answer if isinstance(answer, SuiteRun) else answer(kind, number))
        return tuple(found)


@dataclass(frozen=True)
class _Changed(FolderTree):
    """A tree whose newest commit changed the module."""

    former_text: str = ""

    def former(self, path: str) -> bytes:
        return self.former_text.encode()


def _confirm(
    tmp_path: Path,
    new: str = "a + b",
    baseline: Sequence[Reproduced] = (),
    before: str = "passed",
    errors: tuple[tuple[str, str], ...] = (),
    ended: str = "finished",
    selected: tuple[str, ...] | None = None,
    doubts: tuple[str, ...] = (),
    tampered: bool = False,
    others: tuple[str, ...] = (),
    red: tuple[str, ...] = (),
    spectrum: Spectrum | None = None,
    deadline: float = math.inf,
    unsteady: tuple[str, ...] = (),
    was: str = "",
    undoes: str | None = None,
    outdated: tuple[str, ...] = (),
    env: Environment = ENVIRONMENT,
    **answers: Answer | SuiteRun,
) -> tuple[Confirmed | Verdict, Runner]:
    tree = FolderTree.of(tmp_path / "base", {"m.py": SOURCE, "tests/test_m.py": TEST})
    if was:
        tree = _Changed(tree.root, former_text=SOURCE.replace("a - b", was))
    target = find_target(index_targets("m.py", SOURCE), "add")
    assert target is not None
    edit = Edit(target, target.source.replace("a - b", new))
    candidate = Candidate((edit,), "rules", "arithmetic", undoes=undoes)
    attempt = Attempt(1, "c", candidate, Verdict("fixed", (BAD,)), doubts=doubts)
    seen = suite(failed(BAD), CaseResult(GOOD, before), *map(passed, others), *map(failed, red))
    observed = replace(seen, errors=errors, ended=ended, spectrum=spectrum)
    item = Reproduced(Failure(BAD, "", ""), "confirmed")
    runner = Runner(
        tmp_path / "base",
        {
            "suite": GREEN,
            "poison": suite(failed(BAD)),
            "coverage": suite(passed(BAD)),
            "oracle": suite(passed(BAD)),
            "oracle unchanged": suite(failed(BAD)),
            "alone": suite(passed(GOOD)),
            "base alone": suite(passed(GOOD)),
            **{name.replace("_", " "): answer for name, answer in answers.items()},
        },
    )
    run, _ = quiet_run(deadline=deadline)
    workspace = FolderWorkspace(tmp_path / "fresh", tampered=tampered)
    verified = confirm(
        context_of(run, runner, tree, workspace, env),
        Proposal((attempt,)),
        Baseline((item, *baseline), observed, 2, selected, unsteady, outdated),
    )
    return verified, runner


def test_tests_by_any_name_are_among_what_the_hash_covers(tmp_path: Path) -> None:
    tree = FolderTree.of(tmp_path, {"m.py": "x = 1\n", "check_m.py": "assert 1\n"})
    collected = ("check_m.py::test_a",)
    before = protected_hash(tree, collected), protected_hash(tree, ())
    (tmp_path / "check_m.py").write_text("assert 2\n")
    after = protected_hash(tree, collected), protected_hash(tree, ())
    assert (before[0] == after[0], before[1] == after[1]) == (False, True)


def test_two_green_cold_runs_make_a_patch_with_a_certificate(tmp_path: Path) -> None:
    verified, runner = _confirm(tmp_path)
    assert isinstance(verified, Confirmed)
    assert verified.patch.fixed == (BAD,)
    assert verified.patch.files[0].content == SOURCE.replace("a - b", "a + b")
    assert "+    return a + b" in verified.patch.diff
    certificate = verified.certificate
    assert certificate.before_after == ((BAD, "failed", "passed"),)
    assert (certificate.verify_runs, certificate.methods) == (2, (("m.py::add", "oracle"),))
    assert certificate.suite_before is not None
    assert (certificate.suite_before.passed, certificate.suite_before.failed) == (1, 1)
    assert runner.asked == ["oracle", "suite", "suite", "coverage", "poison"]
    assert certificate.doubts == ()
    gates = dict(certificate.gates)
    assert gates["whole suite, cold"] == "no regression in 2 runs"
    assert gates["rerun with the change raising"] == "1 of 1 fixed test ran the change, and failed"


def test_of_many_fixed_tests_the_certificate_says_how_many_ran_again(tmp_path: Path) -> None:
    many = tuple(f"tests/test_m.py::test_{n}" for n in range(201))
    verified, _ = _confirm(
        tmp_path, red=many, baseline=[Reproduced(Failure(t, "", ""), "confirmed") for t in many],
        suite=suite(passed(BAD), passed(GOOD), *map(passed, many)), poison=suite(failed(BAD)),
    )  # fmt: skip
    assert isinstance(verified, Confirmed)
    said = dict(verified.certificate.gates)["rerun with the change raising"]
    assert said == "200 of 202 fixed tests ran the change, and failed"


def test_a_patch_that_was_seen_green_in_a_changed_environment_is_not_confirmed(
    tmp_path: Path,
) -> None:
    verified, _ = _confirm(tmp_path, tampered=True)
    assert isinstance(verified, Verdict)
    assert verified.detail == "files of the environment changed while tests ran"
    assert verified.cause is Cause.ENVIRONMENT


def test_the_certificate_says_which_other_changes_pass(tmp_path: Path) -> None:
    verified, _ = _confirm(tmp_path, doubts=("one other change passes",))
    assert isinstance(verified, Confirmed)
    assert verified.certificate.doubts == ("one other change passes",)


@pytest.mark.parametrize("told", ["", f"takes back `{'b' * 7}` (Simplify): right unless"])
def test_a_commit_that_a_proposer_takes_back_is_a_doubt_once(tmp_path: Path, told: str) -> None:
    doubts = (told,) if told else ()
    verified, _ = _confirm(tmp_path, undoes="b" * 40, doubts=doubts)
    assert isinstance(verified, Confirmed)
    assert verified.certificate.undoes == "b" * 40
    (doubt,) = verified.certificate.doubts
    assert doubt.startswith(told or f"takes back the code of `{'b' * 7}`: right unless")


def test_a_test_that_passed_before_and_fails_now_rejects_the_patch(tmp_path: Path) -> None:
    red = suite(failed(GOOD, "assert 0"))
    verified, _ = _confirm(tmp_path, suite=suite(passed(BAD), failed(GOOD)), alone=red)
    assert isinstance(verified, Verdict)
    assert verified.status == "unconfirmed"
    assert [f.message for f in verified.newly_failing] == ["assert 0"]


@pytest.mark.parametrize("other", [passed("t::old"), failed("t::old")])
def test_what_a_commit_says_that_it_means_is_not_taken_back_for_another_test(
    tmp_path: Path, other: CaseResult
) -> None:
    done = suite(passed(BAD), passed(GOOD), other)
    verified, _ = _confirm(tmp_path, red=("t::old",), outdated=("t::old",), suite=done)
    if other.outcome == "failed":
        assert isinstance(verified, Confirmed)
    else:
        assert isinstance(verified, Verdict)
        assert verified.detail.startswith("t::old passes with it, which contradicts")


def test_a_test_that_fails_in_the_second_run_alone_is_not_fixed(tmp_path: Path) -> None:
    verified, _ = _confirm(
        tmp_path, suite=lambda _, n: GREEN if n == 0 else suite(failed(BAD), passed(GOOD))
    )
    assert isinstance(verified, Verdict)


def test_the_confirmations_differ_in_the_seed_of_string_hashes(tmp_path: Path) -> None:
    _, runner = _confirm(tmp_path)
    assert [seed for kind, seed in runner.seeds if kind == "suite"] == [0, 1]
    assert "alone" not in runner.asked


@pytest.mark.parametrize("new", ["a + max(set([b]))", "a + max({b})", "a + max({b for _ in '1'})"])
def test_the_failing_tests_run_under_more_seeds_where_a_patch_brings_in_a_set(
    tmp_path: Path, new: str
) -> None:
    found, runner = _confirm(tmp_path, new=new, alone=suite(passed(BAD)))
    assert isinstance(found, Confirmed)
    assert [seed for kind, seed in runner.seeds if kind == "alone"] == [2, 3, 4]
    refused, _ = _confirm(
        tmp_path / "red",
        new=new,
        # The last of the seeds, and again whenever it is that seed.
        alone=lambda _, n: suite(failed(BAD)) if n >= 2 else suite(passed(BAD)),
    )
    assert isinstance(refused, Verdict)
    assert "depend on the order of a set" in refused.detail


def test_ids_that_change_without_the_patch_too_are_named_and_no_reason_to_refuse(
    tmp_path: Path,
) -> None:
    moved = replace(suite(passed(BAD), passed(GOOD)), unsteady=("m::t", "m::u"))
    found, runner = _confirm(tmp_path, suite=moved, collect=moved)
    assert isinstance(found, Confirmed)
    assert [seed for kind, seed in runner.seeds if kind == "collect"] == [0, 1]
    (doubt,) = (doubt for doubt in found.certificate.doubts if "test ids" in doubt)
    assert doubt.endswith(": m::t, m::u")


def test_ids_that_change_with_the_patch_alone_refuse_it(tmp_path: Path) -> None:
    moved = replace(suite(passed(BAD), passed(GOOD)), unsteady=("m::t", "m::u"))
    found, _ = _confirm(tmp_path, suite=moved, collect=replace(moved, unsteady=("m::t",)))
    assert isinstance(found, Verdict)
    assert found.detail == "the patch changes the ids of m::u"


def test_ids_that_are_known_to_change_are_not_collected_again(tmp_path: Path) -> None:
    moved = replace(suite(passed(BAD), passed(GOOD)), unsteady=("m::t",))
    found, runner = _confirm(tmp_path, suite=moved, unsteady=("m::t",))
    assert isinstance(found, Confirmed)
    assert "collect" not in runner.asked
    assert found.certificate.doubts == ()


@pytest.mark.parametrize(
    "second",
    [
        suite(failed(BAD), passed(GOOD), passed("m::t[b]")),
        suite(passed(GOOD), passed("m::t[b]")),
        replace(suite(passed(BAD), passed(GOOD)), ended="timeout", detail="9 s"),
        suite(passed(BAD)),
    ],
    ids=["the test fails", "the test is not there", "the run is cut short", "another is gone"],
)
def test_what_fails_under_the_other_seed_counts_whatever_the_ids(
    tmp_path: Path, second: SuiteRun
) -> None:
    same = suite(passed(BAD), passed(GOOD), passed("m::t[a]"))
    found, _ = _confirm(
        tmp_path, others=("m::t[a]",), suite=lambda _, n: second if n == 1 else same
    )
    assert isinstance(found, Verdict)


@pytest.mark.parametrize(("before", "held"), [("failed", True), ("passed", False)])
def test_many_tests_that_fail_under_one_seed_may_always_have_done_so(
    tmp_path: Path, before: str, held: bool
) -> None:
    many = [f"tests/test_m.py::test_{n}" for n in range(30)]
    good = suite(passed(BAD), passed(GOOD), *map(passed, many))
    late = suite(passed(BAD), passed(GOOD), *map(failed, many))
    alone = suite(*(CaseResult(test, before) for test in many))
    found, _ = _confirm(
        tmp_path,
        others=tuple(many),
        suite=lambda _, n: late if n == 1 else good,
        base_alone=alone,
    )
    assert isinstance(found, Confirmed) is held
    if isinstance(found, Confirmed):
        assert any("30 flaky tests, first " in doubt for doubt in found.certificate.doubts)


def test_failing_tests_that_do_not_end_under_another_seed_prove_nothing(tmp_path: Path) -> None:
    ended = suite(ended="timeout", detail="9 s")
    found, _ = _confirm(tmp_path, new="a + max({b})", alone=ended)
    assert isinstance(found, Verdict)
    assert "9 s" in found.detail


def _once(kind: str, number: int) -> SuiteRun:
    return GREEN if number else suite(passed(BAD), failed(GOOD))


def test_a_passing_test_that_fails_in_one_run_of_the_suite_alone_is_a_doubt(
    tmp_path: Path,
) -> None:
    verified, runner = _confirm(tmp_path, suite=_once)
    assert isinstance(verified, Confirmed)
    assert GOOD in verified.certificate.doubts[0]
    assert runner.asked[-6:] == ["base alone"] * 3 + ["alone"] * 3


@pytest.mark.parametrize(
    ("quiet", "held"), [(GREEN, True), (suite(passed(BAD), failed(GOOD)), False)]
)
def test_what_fails_in_both_runs_side_by_side_counts_where_a_run_by_itself_shows_it(
    tmp_path: Path, quiet: SuiteRun, held: bool
) -> None:
    """Both confirmations run at a time: a test that measures time may fail in both."""
    red = suite(passed(BAD), failed(GOOD))
    verified, runner = _confirm(tmp_path, suite=lambda _, number: red if number < 2 else quiet)
    assert runner.asked.count("suite") == 3
    assert isinstance(verified, Confirmed) is held
    if isinstance(verified, Confirmed):
        assert "it depends on the load" in verified.certificate.doubts[0]


@pytest.mark.parametrize(("alone", "held"), [(passed(BAD), True), (failed(BAD), False)])
def test_a_listed_test_that_fails_in_one_run_side_by_side_counts_by_itself(
    tmp_path: Path, alone: CaseResult, held: bool
) -> None:
    verified, runner = _confirm(
        tmp_path,
        suite=lambda _, number: GREEN if number else suite(failed(BAD), passed(GOOD)),
        alone=suite(alone),
    )
    assert runner.asked.count("alone") == 3
    assert isinstance(verified, Confirmed) is held


def test_a_passing_test_that_also_fails_by_itself_rejects_the_patch(tmp_path: Path) -> None:
    verified, _ = _confirm(tmp_path, suite=_once, alone=suite(failed(GOOD, "by itself")))
    assert isinstance(verified, Verdict)
    assert [f.message for f in verified.newly_failing] == ["by itself"]


@pytest.mark.parametrize(
    ("near", "alone", "cause"),
    [
        (False, failed(GOOD), Cause.FLAKY),
        (True, failed(GOOD), Cause.CHANGE),
        (None, failed(GOOD), Cause.CHANGE),
    ],
    ids=["elsewhere", "of the change", "not known"],
)
def test_a_test_that_executes_nothing_of_the_change_and_fails_at_times_is_another_s(
    tmp_path: Path, near: bool | None, alone: CaseResult, cause: Cause
) -> None:
    seen = Spectrum((("m.py", 3), ("n.py", 1)), {BAD: 1, GOOD: 3 if near else 2})
    verified, _ = _confirm(
        tmp_path, suite=_once, alone=suite(alone), spectrum=None if near is None else seen
    )
    assert isinstance(verified, Verdict)
    assert verified.cause is cause


def test_a_test_that_fails_always_is_the_change_s_whatever_it_executes(tmp_path: Path) -> None:
    seen = Spectrum((("m.py", 3), ("n.py", 1)), {BAD: 1, GOOD: 2})
    red = suite(passed(BAD), failed(GOOD))
    verified, _ = _confirm(tmp_path, suite=red, alone=suite(failed(GOOD)), spectrum=seen)
    assert isinstance(verified, Verdict)
    assert verified.measured


def test_a_run_for_which_there_was_no_time_measured_nothing(tmp_path: Path) -> None:
    late = replace(GREEN, ended="timeout", detail="9 s")
    verified, _ = _confirm(tmp_path, suite=late, deadline=0.0)
    assert isinstance(verified, Verdict)
    assert verified.cause is Cause.BUDGET
    ended, _ = _confirm(tmp_path / "in time", suite=late)
    assert isinstance(ended, Verdict)
    assert ended.measured


def test_a_test_that_also_fails_without_the_patch_is_flaky_and_named_with_its_rate(
    tmp_path: Path,
) -> None:
    verified, _ = _confirm(
        tmp_path,
        suite=suite(passed(BAD), failed(GOOD)),
        alone=suite(failed(GOOD)),
        base_alone=lambda _, n: suite(failed(GOOD) if n else passed(GOOD)),
    )
    assert isinstance(verified, Confirmed)
    assert "without the patch it failed in 2 of 3" in verified.certificate.doubts[0]


def test_a_test_known_to_be_flaky_is_not_run_again(tmp_path: Path) -> None:
    known = Reproduced(Failure(GOOD, "", ""), "flaky", 0.5)
    verified, runner = _confirm(tmp_path, baseline=(known,), suite=suite(passed(BAD), failed(GOOD)))
    assert isinstance(verified, Confirmed)
    assert "alone" not in runner.asked


def test_a_skip_is_no_pass(tmp_path: Path) -> None:
    verified, _ = _confirm(tmp_path, suite=suite(CaseResult(BAD, "skipped"), passed(GOOD)))
    assert isinstance(verified, Verdict)


@pytest.mark.parametrize("test", [BAD, GOOD])
def test_a_test_that_skips_more_of_its_subtests_than_before_does_not_pass(
    tmp_path: Path, test: str
) -> None:
    parts = CaseResult(test, "passed", skipped=1)
    now = suite(*(parts if parts.test == one else passed(one) for one in (BAD, GOOD)))
    verified, _ = _confirm(tmp_path, suite=now, alone=suite(parts), base_alone=GREEN)
    assert isinstance(verified, Verdict)


@pytest.mark.parametrize(
    ("before", "after", "held"),
    [
        ("passed", "xfailed", False),
        ("passed", "skipped", False),
        ("xfailed", "xpassed", True),
        ("xfailed", "passed", True),
        ("xfailed", "failed", False),
        ("xpassed", "xfailed", True),
        ("skipped", "passed", True),
    ],
)
def test_a_test_may_only_come_to_what_it_came_to_before_or_better(
    tmp_path: Path, before: str, after: str, held: bool
) -> None:
    now = suite(CaseResult(GOOD, after))
    verified, _ = _confirm(
        tmp_path, before=before, suite=suite(passed(BAD), *now.results), alone=now,
        base_alone=suite(CaseResult(GOOD, before)),
    )  # fmt: skip
    assert isinstance(verified, Confirmed) is held


@pytest.mark.parametrize(
    ("outcomes", "fixed"),
    [(("passed", "passed"), True), (("passed", "skipped"), True), (("passed", "failed"), False),
     (("skipped", "skipped"), False), ((), False)],
)  # fmt: skip
def test_a_file_that_could_not_be_collected_is_fixed_when_none_of_its_tests_fails(
    tmp_path: Path, outcomes: tuple[str, ...], fixed: bool
) -> None:
    broken = "tests/test_new.py"
    inside = [CaseResult(f"{broken}::test_{n}", outcome) for n, outcome in enumerate(outcomes)]
    item = Reproduced(Failure(broken, "", ""), "confirmed")
    verified, _ = _confirm(
        tmp_path, baseline=(item,), errors=((broken, "ImportError"),),
        suite=suite(passed(BAD), passed(GOOD), *inside),
    )  # fmt: skip
    assert isinstance(verified, Confirmed), verified
    assert (broken in verified.patch.fixed) is fixed
    assert (broken in verified.patch.still_failing) is not fixed


@pytest.mark.parametrize(
    ("runs", "reason", "measured"),
    [
        ([suite(passed(BAD))], "no longer collected: 1 test, ", True),
        ([suite(passed(BAD), passed(GOOD), passed("x::y"))],
         "collected, and not at the base: 1 test, x::y", True),
        ([suite(passed(BAD), passed(GOOD), passed(f"{GOOD}[2]"))], "not at the base", False),
        ([GREEN, suite(passed(BAD), passed("x::y"))], "other tests in each run", False),
        ([suite(passed(f"{BAD}[7]"), passed(GOOD))], "no longer collected", False),
        ([replace(GREEN, ended="untrusted", detail="forged")], "forged", True),
    ],
)  # fmt: skip
def test_runs_that_do_not_add_up_prove_nothing(
    tmp_path: Path, runs: list[SuiteRun], reason: str, measured: bool
) -> None:
    verified, _ = _confirm(tmp_path, suite=lambda _, n: runs[n % len(runs)])
    assert isinstance(verified, Verdict)
    assert reason in verified.detail
    assert verified.measured is measured


def test_a_test_that_passes_although_the_change_raises_is_not_fixed_by_it(tmp_path: Path) -> None:
    verified, _ = _confirm(tmp_path, poison=suite(passed(BAD)))
    assert isinstance(verified, Verdict)
    assert "even when the changed function raises" in verified.detail


def test_what_does_not_hold_outside_is_verified_in_process_and_the_reason_is_said(
    tmp_path: Path,
) -> None:
    verified, _ = _confirm(tmp_path, oracle=suite(failed(BAD, "add takes a Cart", "Refused")))
    assert isinstance(verified, Confirmed)
    assert verified.certificate.methods == (("m.py::add", "in-process"),)
    assert any("add takes a Cart" in result for _, result in verified.certificate.gates)


def _answered(*results: CaseResult) -> SuiteRun:
    """A run outside in which the change was asked."""
    return replace(suite(*results), asked=OracleAnswers(_numbers(23)))


def test_what_fails_outside_without_having_asked_the_change_contradicts_nothing(
    tmp_path: Path,
) -> None:
    other = suite(failed(BAD, "assert None == 23"))
    verified, _ = _confirm(tmp_path, oracle=other, oracle_unchanged=other)
    assert isinstance(verified, Confirmed)
    assert verified.certificate.methods == (("m.py::add", "in-process"),)


@pytest.mark.parametrize(
    ("unchanged", "refused"),
    [
        (failed(BAD), True),
        (failed(BAD, "no such file: 'seen.txt'", "FileNotFoundError"), False),
        (passed(BAD), False),
    ],
    ids=["it fails there as here", "it means something else there", "it passes there"],
)
def test_what_the_oracle_contradicts_is_refused_where_the_test_means_the_same_there(
    tmp_path: Path, unchanged: CaseResult, refused: bool
) -> None:
    contradicted = _answered(failed(BAD, "assert None == 23"))
    verified, runner = _confirm(tmp_path, oracle=contradicted, oracle_unchanged=suite(unchanged))
    assert runner.asked.count("oracle unchanged") == 1
    if refused:
        assert isinstance(verified, Verdict)
        assert (
            "test_add failed in the oracle's run: AssertionError: assert None == 23"
            in verified.detail
        )
    else:
        assert isinstance(verified, Confirmed)
        assert verified.certificate.methods == (("m.py::add", "in-process"),)
        assert not any("outside" in doubt for doubt in verified.certificate.doubts)


def _numbers(*found: object) -> tuple[str, ...]:
    return tuple(f"[{json.dumps(one)}, null]" for one in found)


@pytest.mark.parametrize(
    ("others", "unchanged", "asked", "refused"),
    [
        (_numbers(*[3] * 9), _numbers(*range(9)), 1, True),
        (("",) * 9, _numbers(*range(9)), 1, True),
        (_numbers(*[3] * 9), _numbers(*[4] * 9), 1, False),
        (_numbers(*range(9)), _numbers(*range(9)), 0, False),
        (_numbers(*[3] * 3), _numbers(*range(9)), 0, False),
    ],
    ids=["a table", "a table that raises", "as it was", "it computes", "too few calls"],
)
def test_a_change_with_which_other_calls_give_the_tests_answers_is_refused(
    tmp_path: Path, others: tuple[str, ...], unchanged: tuple[str, ...], asked: int, refused: bool
) -> None:
    answers = [OracleAnswers(_numbers(3), some) for some in (others, unchanged)]
    verified, runner = _confirm(
        tmp_path,
        oracle=replace(suite(passed(BAD)), asked=answers[0]),
        oracle_unchanged=replace(suite(failed(BAD)), asked=answers[1]),
    )
    assert runner.asked.count("oracle unchanged") == asked
    assert (isinstance(verified, Verdict) and verified.detail == LOOKUP) is refused


def test_a_change_that_has_several_of_the_answers_is_doubted(tmp_path: Path) -> None:
    answers = [OracleAnswers(_numbers(-1, 0, 1), some)
               for some in (_numbers(*[-1, 0, 1] * 3), _numbers(*range(9)))]  # fmt: skip
    verified, _ = _confirm(
        tmp_path,
        oracle=replace(suite(passed(BAD)), asked=answers[0]),
        oracle_unchanged=replace(suite(failed(BAD)), asked=answers[1]),
    )
    assert isinstance(verified, Confirmed)
    assert LOOKUP in verified.certificate.doubts


def test_what_is_yes_or_no_is_not_asked_again(tmp_path: Path) -> None:
    answers = OracleAnswers(_numbers(True), _numbers(*[True, False] * 5))
    verified, runner = _confirm(tmp_path, oracle=replace(suite(passed(BAD)), asked=answers))
    assert isinstance(verified, Confirmed)
    assert "oracle unchanged" not in runner.asked


def test_the_oracle_is_heard_beside_tests_that_mean_something_else_there(tmp_path: Path) -> None:
    other = "tests/test_m.py::test_add_more"
    files = failed(BAD, "no such file: 'seen.txt'", "FileNotFoundError")
    verified, runner = _confirm(
        tmp_path, baseline=[Reproduced(Failure(t, "", ""), "confirmed") for t in (BAD, other)],
        red=(other,), suite=suite(passed(BAD), passed(other), passed(GOOD)),
        poison=suite(failed(BAD), failed(other)), oracle_unchanged=suite(files, failed(other)),
        oracle=_answered(files, failed(other, "assert None == 23")),
    )  # fmt: skip
    assert isinstance(verified, Verdict)
    assert verified.detail.startswith(
        f"{other} failed in the oracle's run: AssertionError: assert None == 23"
    )
    assert runner.asked.count("oracle unchanged") == 1


@pytest.mark.parametrize(
    ("spectrum", "said", "doubts"),
    [
        (None, "not measured: 9 s", 0),
        (Spectrum((), {}, ("a child process",)), "not measured: a child process", 0),
        (Spectrum((("m.py", 3),), {BAD: 1}), "all, by fixed tests", 0),
        (Spectrum((("m.py", 1),), {BAD: 1}), "not all", 1),
    ],
)
def test_the_certificate_says_whether_the_changed_lines_were_executed(
    tmp_path: Path, spectrum: Spectrum | None, said: str, doubts: int
) -> None:
    seen = replace(suite(passed(BAD)), spectrum=spectrum, detail="9 s")
    verified, _ = _confirm(tmp_path, coverage=seen)
    assert isinstance(verified, Confirmed)
    assert dict(verified.certificate.gates)["changed lines executed"] == said
    assert len(verified.certificate.doubts) == doubts


@pytest.mark.parametrize(
    ("ended", "why"), [("finished", "in the time given"), ("crashed", "does not come to its end")]
)
def test_what_ran_instead_of_the_whole_suite_is_said_with_the_reason(
    tmp_path: Path, ended: str, why: str
) -> None:
    verified, _ = _confirm(tmp_path, ended=ended, selected=(BAD, GOOD))
    assert isinstance(verified, Confirmed)
    assert any("only 2 impacted tests ran" in d and why in d for d in verified.certificate.doubts)
    assert not verified.certificate.full_suite.complete


def test_a_suite_that_a_command_chose_is_called_by_it(tmp_path: Path) -> None:
    env = replace(ENVIRONMENT, suite=Suite("pytest tests/unit"))
    verified, _ = _confirm(tmp_path, env=env)
    assert isinstance(verified, Confirmed)
    names = [name for name, _ in verified.certificate.gates]
    assert names[0] == "tests of `pytest tests/unit`, cold"


def test_where_a_failing_test_lies_beside_the_code_nothing_is_asked_outside(tmp_path: Path) -> None:
    doctest = "m.py::m.add"
    item = Reproduced(Failure(doctest, "", ""), "confirmed")
    verified, runner = _confirm(tmp_path, baseline=(item,))
    assert isinstance(verified, Confirmed)
    assert "oracle" not in runner.asked
    said = dict(verified.certificate.gates)["oracle"]
    assert said == "in-process: m.py holds tests as well as code"


def test_an_answer_written_down_is_refused_although_its_tests_pass(tmp_path: Path) -> None:
    verified, _ = _confirm(tmp_path, new="23 if a == 20 else a - b")
    assert isinstance(verified, Verdict)
    assert "answers a value of the tests with a value of the tests" in verified.detail


@pytest.mark.parametrize("was", ["23 if a == 20 else a + b", "a + b"])
def test_former_code_of_the_repository_is_not_suspected_of_knowing_what_the_tests_expect(
    tmp_path: Path, was: str
) -> None:
    contradicted = _answered(failed(BAD, "assert None == 23"))
    verified, runner = _confirm(tmp_path, new=was, was=was, oracle=contradicted)
    assert isinstance(verified, Confirmed)
    assert "oracle" not in runner.asked
    assert verified.certificate.methods == (("m.py::add", "in-process"),)
    said = dict(verified.certificate.gates)["oracle"]
    assert said == "in-process: it puts back code that the repository had before"


def test_what_adds_to_former_code_is_suspected_like_any_change(tmp_path: Path) -> None:
    contradicted = _answered(failed(BAD, "assert None == 23"))
    verified, _ = _confirm(tmp_path, new="a + b + 0", was="a + b", oracle=contradicted)
    assert isinstance(verified, Verdict)
    assert "failed in the oracle's run" in verified.detail


def test_a_protected_file_that_would_change_is_named(tmp_path: Path) -> None:
    (tmp_path / "base").mkdir()
    (tmp_path / "base/conftest.py").write_text('pytest_plugins = ["m"]\n')
    verified, runner = _confirm(tmp_path)
    assert isinstance(verified, Verdict)
    assert verified.detail == "m.py would change, which tests, the build or CI rest on"
    assert runner.asked == []
