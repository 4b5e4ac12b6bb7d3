from __future__ import annotations

from pathlib import Path

from heal_bot.model import (
    Attempt,
    Baseline,
    Candidate,
    Confirmed,
    Edit,
    Failure,
    Proposal,
    Reproduced,
    SuiteRun,
    Verdict,
)
from heal_bot.source.functions import find, index
from heal_bot.verify.confirm import confirm
from tests.fakes import (
    ENVIRONMENT,
    FolderTree,
    FolderWorkspace,
    ScriptedRunner,
    failed,
    passed,
    quiet_run,
    suite,
)

SOURCE = "def add(a, b):\n    # sums\n    return a - b\n"
BAD, GOOD = "tests/test_m.py::test_add", "tests/test_m.py::test_other"


def _confirm(tmp_path: Path, *suites: SuiteRun) -> tuple[Confirmed | Verdict, ScriptedRunner]:
    tree = FolderTree.of(tmp_path / "base", {"m.py": SOURCE, "tests/test_m.py": "# tests\n"})
    target = find(index("m.py", SOURCE), "add")
    assert target is not None
    edit = Edit(target, target.source.replace("a - b", "a + b"))
    attempt = Attempt(1, "c", Candidate((edit,), "rules", "arithmetic"), Verdict("fixed", (BAD,)))
    before = suite(failed(BAD), passed(GOOD))
    baseline = Baseline((Reproduced(Failure(BAD, "", ""), "confirmed"),), before, 2)
    runner = ScriptedRunner(list(suites))
    run, _ = quiet_run()
    workspace = FolderWorkspace(tmp_path / "fresh")
    verified = confirm(
        run,
        Proposal((attempt,)),
        workspace,
        tree,
        ENVIRONMENT,
        runner,
        baseline,  # type: ignore[arg-type]
    )
    return verified, runner


def test_two_green_cold_runs_make_a_patch_with_a_certificate(tmp_path: Path) -> None:
    verified, runner = _confirm(tmp_path, suite(passed(BAD), passed(GOOD)))
    assert isinstance(verified, Confirmed)
    assert verified.patch.fixed == (BAD,)
    assert verified.patch.files[0].content == SOURCE.replace("a - b", "a + b")
    assert "+    return a + b" in verified.patch.diff
    assert verified.certificate.before_after == ((BAD, "failed", "passed"),)
    assert verified.certificate.verify_runs == 2
    assert [root.name for root, _ in runner.asked] == ["patched1", "patched1"]


def test_a_test_that_passed_before_and_fails_now_rejects_the_patch(tmp_path: Path) -> None:
    verified, _ = _confirm(tmp_path, suite(passed(BAD), failed(GOOD, "assert 0")))
    assert isinstance(verified, Verdict)
    assert verified.status == "unconfirmed"
    assert [f.message for f in verified.newly_failing] == ["assert 0"]


def test_a_test_that_fails_in_the_second_run_alone_is_not_fixed(tmp_path: Path) -> None:
    verified, _ = _confirm(
        tmp_path, suite(passed(BAD), passed(GOOD)), suite(failed(BAD), passed(GOOD))
    )
    assert isinstance(verified, Verdict)


def test_a_passing_test_that_fails_in_one_run_of_the_suite_alone_is_a_doubt(
    tmp_path: Path,
) -> None:
    green = suite(passed(BAD), passed(GOOD))
    verified, runner = _confirm(tmp_path, suite(passed(BAD), failed(GOOD)), green)
    assert isinstance(verified, Confirmed)
    assert GOOD in verified.certificate.doubts[0]
    assert [tests for _, tests in runner.asked] == [None, None, (GOOD,), (GOOD,)]


def test_a_passing_test_that_also_fails_by_itself_rejects_the_patch(tmp_path: Path) -> None:
    green = suite(passed(BAD), passed(GOOD))
    red_alone = suite(failed(GOOD, "by itself"))
    verified, _ = _confirm(tmp_path, suite(passed(BAD), failed(GOOD)), green, green, red_alone)
    assert isinstance(verified, Verdict)
    assert [f.message for f in verified.newly_failing] == ["by itself"]


def test_a_skip_is_no_pass(tmp_path: Path) -> None:
    from heal_bot.model import CaseResult

    skipped = CaseResult(BAD, "skipped")
    verified, _ = _confirm(tmp_path, suite(skipped, passed(GOOD)))
    assert isinstance(verified, Verdict)


def test_fewer_collected_tests_reject_the_patch(tmp_path: Path) -> None:
    verified, _ = _confirm(tmp_path, suite(passed(BAD)))
    assert isinstance(verified, Verdict)
    assert "no longer collected" in verified.detail


def test_a_run_that_ended_early_proves_nothing(tmp_path: Path) -> None:
    verified, _ = _confirm(
        tmp_path, suite(passed(BAD), passed(GOOD), ended="untrusted", detail="forged")
    )
    assert isinstance(verified, Verdict)
    assert "forged" in verified.detail
