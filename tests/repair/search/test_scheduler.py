from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import (
    Attempt,
    CallResult,
    Calls,
    Candidate,
    Cause,
    Certificate,
    ChangedFile,
    Cluster,
    Confirmed,
    Edit,
    Failure,
    Memory,
    Patch,
    Proposal,
    Regression,
    SuiteTotals,
    Suspect,
    Target,
    Verdict,
)
from heal_bot.core.statuses import VerdictStatus
from heal_bot.repair.ranking.patch_ranking import LOOKUP
from heal_bot.repair.search import scheduler
from heal_bot.repair.search.attempt_history import digest, digest_answer, extend_memory
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.search.cluster_search import SearchLimits
from heal_bot.source.functions import find_target, index_targets
from tests.fakes import ENVIRONMENT, ISOLATION, ExecSession, FolderTree, ListProposer, quiet_run

SOURCE = (
    "def add(a, b):\n    return a - b\n\n\ndef twice(a):\n    return a\n\n\n"
    "def half(a):\n    return a\n"
)


def _target(name: str) -> Target:
    target = find_target(index_targets("m.py", SOURCE), name)
    assert target is not None
    return target


def _change(name: str, old: str, new: str) -> Candidate:
    target = _target(name)
    return Candidate((Edit(target, target.source.replace(old, new)),), "list", "edit", prior=1.5)


def _cluster(name: str, *tests: str) -> Cluster:
    failures = tuple(Failure(test, "AssertionError", "assert") for test in tests)
    return Cluster(name, failures, (Suspect(_target(name), 1.0),))


def _confirmed(proposal: Proposal) -> Confirmed:
    fixed = tuple(t for winner in proposal.winners for t in winner.verdict.fixed)
    patch = Patch("1" * 40, (), "", proposal.edits, fixed, ())
    totals = SuiteTotals(complete=True, passed=1, failed=0, skipped=0, seconds=0.1)
    certificate = Certificate(
        "1" * 40, "2" * 40, "", ENVIRONMENT, ISOLATION, 2, 2, (), totals, tests_unchanged=True
    )
    return Confirmed(patch, certificate)


def _search(
    tmp_path: Path,
    clusters: list[Cluster],
    proposer: Any,
    checks: dict[str, dict[str, Callable[[dict[str, Any]], bool]]],
    confirm: Callable[[Proposal], Confirmed | Verdict] = _confirmed,
    memory: Memory | None = None,
    calls: Callable[[Sequence[Candidate]], Calls] = lambda candidates: Calls(),
    run: Run | None = None,
    regressions: tuple[Regression, ...] = (),
    guards: dict[str, Callable[[dict[str, Any]], bool]] | None = None,
    source: str = SOURCE,
) -> tuple[AttemptLog, list[Proposal], list[ExecSession]]:
    tree = FolderTree.of(tmp_path, {"m.py": source})
    ledger = AttemptLog(tree, memory or Memory(), regressions=regressions)
    sessions: list[ExecSession] = []
    run = run or quiet_run()[0]

    def judge(cluster: Cluster, base: tuple[Edit, ...]) -> ExecSession:
        meant = {failure.test for failure in cluster.failures}
        chosen = {t: c for t, c in checks[cluster.id.rstrip("+")].items() if t in meant}
        sessions.append(ExecSession(tree, "m.py", chosen, guards or {}, calls=calls))
        return sessions[-1]

    offered = []
    tiers = proposer if isinstance(proposer, list) else [proposer]
    for proposal in scheduler.proposals(run, clusters, tiers, judge, ledger, SearchLimits()):
        offered.append(proposal)
        ledger.settle(run, proposal, confirm(proposal))
    return ledger, offered, sessions


ADD = {"t::add": lambda m: m["add"](2, 3) == 5}
TWICE = {"t::twice": lambda m: m["twice"](3) == 6}
RIGHT_ADD = _change("add", "a - b", "a + b")
WRONG_ADD = _change("add", "a - b", "a * b")
LUCKY_ADD = _change("add", "a - b", "5")


def test_the_cheapest_fix_is_offered_once_others_were_looked_for(tmp_path: Path) -> None:
    proposer = ListProposer([WRONG_ADD, RIGHT_ADD, LUCKY_ADD])
    ledger, offered, sessions = _search(
        tmp_path, [_cluster("add", "t::add")], proposer, {"add": ADD}
    )
    assert [p.edits for p in offered] == [RIGHT_ADD.edits]
    assert sessions[0].judged == 3
    assert [(s.family, s.tried, s.best_fixed) for s in ledger.searches] == [("edit", 3, 1)]
    assert ledger.stopped == "exhausted"


@pytest.mark.parametrize("cold", [True, False], ids=["it holds", "it does not"])
@pytest.mark.parametrize("new", ["abs(a - b) if a > b else a + b", "a * b"])
def test_a_test_that_seems_to_contradict_its_commit_does_not_where_a_change_suits_both(
    tmp_path: Path, new: str, cold: bool
) -> None:
    files = (
        ChangedFile("m.py", SOURCE.replace("a - b", "a + b").encode(), SOURCE.encode()),
        ChangedFile("tests/test_m.py", b"", b"def test_new():\n    pass\n"),
    )
    broke = Regression("a" * 40, "b" * 40, "Take", ("t::add",), True, files)
    refused = Verdict(VerdictStatus.UNCONFIRMED, detail="not cold")
    ledger, offered, _ = _search(
        tmp_path, [_cluster("add", "t::add")], ListProposer([_change("add", "a - b", new)]),
        {"add": ADD}, _confirmed if cold else lambda proposal: refused, regressions=(broke,),
        guards={"tests/test_m.py::test_new": lambda m: m["add"](5, 2) == 3},
    )  # fmt: skip
    suits = "if" in new
    assert len(offered) == suits
    assert ("add" in ledger.unsure) != (suits and cold)


def test_a_model_is_asked_for_what_keeps_a_commit_that_may_have_been_meant(tmp_path: Path) -> None:
    files = (
        ChangedFile("m.py", SOURCE.replace("a - b", "a + b").encode(), SOURCE.encode()),
        ChangedFile("CHANGES.md", b"", b"add() is another one now\n"),
    )
    broke = Regression("a" * 40, "b" * 40, "Take", ("t::add",), True, files)
    rule, model = (_change("add", "a - b", new) for new in ("b + a", "b - -a"))
    tiers = [ListProposer([rule]), ListProposer([model], streams=False)]
    ledger, offered, _ = _search(
        tmp_path, [_cluster("add", "t::add")], tiers, {"add": ADD}, regressions=(broke,)
    )
    assert [p.edits for p in offered] == [RIGHT_ADD.edits, model.edits]
    assert not ledger.unsure
    assert any("may have meant what it broke" in doubt for doubt in ledger.held[0].doubts)


@dataclass
class Asked(ListProposer):
    """Keeps how many attempts it was shown each time that it was asked."""

    shown: list[int] = field(default_factory=list)

    def propose(self, run: Run, recall: Any) -> Iterator[Candidate]:
        self.shown.append(len(recall().attempts))
        yield from self.candidates


@pytest.mark.parametrize("holds", [True, False])
@pytest.mark.parametrize("cold", [True, False])
def test_a_model_is_asked_once_before_much_of_a_commit_goes_back_and_does_not_see_it(
    tmp_path: Path, holds: bool, cold: bool
) -> None:
    wrong = SOURCE.replace("return a - b", "low = min(a, b)\n    high = max(a, b)\n    return high")
    before = SOURCE.replace("return a - b", "total = a\n    total += b\n    return total")
    files = (ChangedFile("m.py", before.encode(), wrong.encode()),)
    broke = Regression("a" * 40, "b" * 40, "refactor: add", ("t::add",), True, files)
    (target,) = (t for t in index_targets("m.py", wrong) if t.qualname == "add")
    kept = target.source.replace("return high", "return low + high" if holds else "return low")
    model = Candidate((Edit(target, kept),), "list", "edit", "")
    asked = Asked([model], streams=False)
    refused = Verdict(VerdictStatus.UNCONFIRMED, detail="not cold")
    ledger, offered, _ = _search(
        tmp_path, [_cluster("add", "t::add")], [ListProposer([]), asked], {"add": ADD},
        _confirmed if cold else lambda proposal: refused, regressions=(broke,), source=wrong,
    )  # fmt: skip
    known = [p.winners[0].candidate.proposer for p in offered]
    expected = ["list"] * holds + ["history"] * (not (holds and cold))
    assert (known, len(ledger.held)) == (expected, int(cold))
    assert asked.shown == [0]


@dataclass
class Ticking(ListProposer):
    """For the cluster `add` wrong changes without end, one a second; else what it was given."""

    now: list[float] = field(default_factory=lambda: [0.0])

    def propose(self, run: Run, recall: Any) -> Iterator[Candidate]:
        if recall().cluster.id != "add":
            yield from self.candidates
            return
        for number in itertools.count():
            self.now[0] += 1
            yield _change("add", "a - b", f"a - {number}")


def test_a_cluster_that_resists_leaves_time_for_the_next_one(tmp_path: Path) -> None:
    right = _change("twice", "return a", "return 2 * a")
    proposer = Ticking([right])
    run, _ = quiet_run(clock=lambda: proposer.now[0], deadline=100.0)
    clusters = [_cluster("add", "t::add"), _cluster("twice", "t::twice")]
    checks = {"add": ADD, "twice": TWICE}
    ledger, offered, _ = _search(tmp_path, clusters, proposer, checks, run=run)
    assert [p.edits for p in offered] == [right.edits]
    assert (ledger.stopped, ledger.limit) == ("budget", "time")
    assert ledger.notes == ["the time limit ended the search for t::add"]


def test_a_stream_leaves_time_for_a_proposer_that_converses(tmp_path: Path) -> None:
    stream = Ticking([])
    run, _ = quiet_run(clock=lambda: stream.now[0], deadline=100.0)
    asked = ListProposer([RIGHT_ADD], streams=False)
    tiers, clusters = [stream, asked], [_cluster("add", "t::add")]
    _, offered, _ = _search(tmp_path, clusters, tiers, {"add": ADD}, run=run)
    assert [p.edits for p in offered] == [RIGHT_ADD.edits]
    assert 15 < stream.now[0] < 25


def test_a_stream_goes_on_with_the_time_that_others_leave_and_judges_nothing_twice(
    tmp_path: Path,
) -> None:
    stream = Ticking([])
    run, _ = quiet_run(clock=lambda: stream.now[0], deadline=100.0)
    tiers, clusters = [stream, ListProposer([], streams=False)], [_cluster("add", "t::add")]
    ledger, offered, sessions = _search(tmp_path, clusters, tiers, {"add": ADD}, run=run)
    assert (offered, ledger.stopped) == ([], "budget")
    assert stream.now[0] > 90
    # The second pass makes those of the first anew, which takes the clock of this test a second.
    assert 60 < sessions[0].judged < 80
    assert sum(search.tried for search in ledger.searches) == sessions[0].judged


def test_a_proposal_that_fails_cold_becomes_an_unconfirmed_attempt_and_the_search_resumes(
    tmp_path: Path,
) -> None:
    broken = Failure("t::other", "AssertionError", "broke")

    def confirm(proposal: Proposal) -> Confirmed | Verdict:
        if proposal.edits == LUCKY_ADD.edits:
            return Verdict("unconfirmed", newly_failing=(broken,), detail="t::other fails")
        return _confirmed(proposal)

    proposer = ListProposer([LUCKY_ADD, RIGHT_ADD])
    ledger, offered, _ = _search(
        tmp_path, [_cluster("add", "t::add")], proposer, {"add": ADD}, confirm
    )
    assert [p.edits for p in offered] == [LUCKY_ADD.edits, RIGHT_ADD.edits]
    assert [a.verdict.status for a in ledger.attempts] == ["unconfirmed", "fixed"]
    assert ledger.attempts[0].verdict.newly_failing == (broken,)


def test_what_was_found_among_many_and_not_measured_leads_no_other_proposer(
    tmp_path: Path,
) -> None:
    lost = Verdict("unconfirmed", detail="other ids in each run", cause=Cause.IDS)
    model = ListProposer([WRONG_ADD], streams=False)
    tiers = [ListProposer([LUCKY_ADD]), model]
    cluster = _cluster("add", "t::add")
    ledger, _, _ = _search(tmp_path, [cluster], tiers, {"add": ADD}, lambda proposal: lost)
    assert [a.verdict.word for a in ledger.attempts] == ["not measured", "unchanged"]
    assert ledger.attempts[0].verdict.fixed == ("t::add",)
    assert model.recalled[0].attempts == ()
    assert [verdict for _, verdict in extend_memory(Memory(), tuple(ledger.attempts)).tried] == [
        "unchanged",
    ]


def test_a_conversing_proposer_recalls_each_verdict_before_its_next_proposal(
    tmp_path: Path,
) -> None:
    proposer = ListProposer([WRONG_ADD, RIGHT_ADD], streams=False)
    _search(tmp_path, [_cluster("add", "t::add")], proposer, {"add": ADD})
    first, second = proposer.recalled[:2]
    assert first.attempts == ()
    assert isinstance(second.attempts[0], Attempt)
    assert second.attempts[0].verdict.still_failing[0].message == "t::add after candidate 1"
    assert "a * b" in second.attempts[0].diff


def test_what_an_earlier_run_saw_fail_is_not_tried_again(tmp_path: Path) -> None:
    memory = Memory(((digest(WRONG_ADD), "unconfirmed"),))
    proposer = ListProposer([WRONG_ADD, RIGHT_ADD])
    _, _, sessions = _search(
        tmp_path, [_cluster("add", "t::add")], proposer, {"add": ADD}, memory=memory
    )
    assert sessions[0].judged == 1


def test_two_causes_are_confirmed_together(tmp_path: Path) -> None:
    right_twice = _change("twice", "return a", "return 2 * a")
    proposer = ListProposer([RIGHT_ADD, right_twice], streams=False)
    clusters = [_cluster("add", "t::add"), _cluster("twice", "t::twice")]
    ledger, offered, _ = _search(tmp_path, clusters, proposer, {"add": ADD, "twice": TWICE})
    assert offered[-1].edits == (*RIGHT_ADD.edits, *right_twice.edits)
    assert ledger.confirmed is not None
    assert ledger.confirmed.patch.fixed == ("t::add", "t::twice")


def test_where_one_winner_conflicts_with_the_others_the_larger_part_is_the_patch(
    tmp_path: Path,
) -> None:
    def confirm(proposal: Proposal) -> Confirmed | Verdict:
        names = {edit.target.qualname for edit in proposal.edits}
        if "add" in names and len(names) > 1:
            return Verdict("unconfirmed", detail="add does not go with the others")
        return _confirmed(proposal)

    half = {"t::half": lambda m: m["half"](3) == 1.5}
    changes = [RIGHT_ADD, _change("twice", "return a", "return a * 2"),
               _change("half", "return a", "return a / 2")]  # fmt: skip
    clusters = [_cluster(name, f"t::{name}") for name in ("add", "twice", "half")]
    checks = {"add": ADD, "twice": TWICE, "half": half}
    proposer = ListProposer(changes, streams=False)
    ledger, _, _ = _search(tmp_path, clusters, proposer, checks, confirm)
    assert ledger.confirmed is not None
    assert set(ledger.confirmed.patch.fixed) == {"t::twice", "t::half"}
    won = [a for a in ledger.attempts if a.verdict.status != "unchanged"]
    assert {winner.verdict.status for winner in won} == {"fixed"}
    assert any("not together with the patch" in note for note in ledger.notes)


def test_a_partial_fix_is_offered_when_the_search_is_exhausted(tmp_path: Path) -> None:
    checks = {
        **ADD,
        "t::more": lambda m: m["add"](1, 1) == 2,
        "t::never": lambda m: m["add"](1, 1) == 3,
    }
    proposer = ListProposer([WRONG_ADD, RIGHT_ADD])
    cluster = _cluster("add", "t::add", "t::more", "t::never")
    ledger, offered, _ = _search(tmp_path, [cluster], proposer, {"add": checks})
    assert [p.edits for p in offered] == [RIGHT_ADD.edits]
    assert ledger.stopped == "exhausted"


def test_what_fixes_a_small_part_of_one_cause_is_an_attempt_and_no_proposal(
    tmp_path: Path,
) -> None:
    checks = {
        **ADD,
        "t::never": lambda m: m["add"](1, 1) == 3,
        "t::ever": lambda m: m["add"](1, 1) == 4,
    }
    cluster = _cluster("add", *checks)
    ledger, offered, _ = _search(tmp_path, [cluster], ListProposer([RIGHT_ADD]), {"add": checks})
    assert offered == []
    assert [a.verdict.status for a in ledger.attempts] == ["improved"]


@pytest.mark.parametrize(("left", "offered"), [(2, 1), (3, 0)])
def test_of_a_large_cluster_a_partial_fix_leaves_at_most_a_quarter(
    tmp_path: Path, left: int, offered: int
) -> None:
    never = {f"t::never{n}": lambda m: m["add"](1, 1) == 3 for n in range(left)}
    fixed = {f"t::add{n}": lambda m: m["add"](1, 1) == 2 for n in range(8 - left)}
    checks = {**fixed, **never}
    proposer = ListProposer([RIGHT_ADD])
    _, found, _ = _search(tmp_path, [_cluster("add", *checks)], proposer, {"add": checks})
    assert len(found) == offered


def _strong(candidates: Sequence[Candidate]) -> Calls:
    """Two calls of the failing tests, which each change makes do the same, and one that works."""
    before, after, works = (CallResult("returned", "int", said, said) for said in "150")
    rows = ((before, before, works), *((after, after, works) for _ in candidates))
    return Calls(("add(2, 3)", "add(1, 1)", "add(0, 0)"), 3, rows, worked=frozenset({2}))


def test_a_change_that_settles_one_way_of_failing_wins_and_the_rest_is_searched_on_top(
    tmp_path: Path,
) -> None:
    checks = {**ADD, "t::more": lambda m: m["add"](1, 1) == 2, **TWICE}
    kinds = ("KeyError", "KeyError", "AssertionError")
    failures = tuple(Failure(t, kind, "") for t, kind in zip(checks, kinds, strict=True))
    suspects = (Suspect(_target("add"), 1.0), Suspect(_target("twice"), 0.9))
    cluster = Cluster("both", failures, suspects)
    right_twice = _change("twice", "return a", "return 2 * a")
    filler = [_change("twice", "return a", f"return a + {n}") for n in range(10, 400)]
    proposer = ListProposer([RIGHT_ADD, *filler, right_twice])
    ledger, offered, _ = _search(tmp_path, [cluster], proposer, {"both": checks}, calls=_strong)
    assert offered[0].edits == RIGHT_ADD.edits
    assert [a.candidate for a in ledger.attempts if a.cluster == "both"] == [RIGHT_ADD]
    assert offered[-1].edits == (*RIGHT_ADD.edits, *right_twice.edits)
    assert ledger.held[-1].candidate == RIGHT_ADD
    assert [s.attempt.candidate for s in ledger.suggestions.values()] == [right_twice]


def test_a_change_that_the_rails_refuse_is_an_attempt_and_never_a_winner(tmp_path: Path) -> None:
    other = _change("add", "return a - b", "return a + b")
    evil = replace(other, edits=(replace(other.edits[0], new_source="def sub(a, b): pass\n"),))
    proposer = ListProposer([evil], streams=False)
    ledger, offered, sessions = _search(
        tmp_path, [_cluster("add", "t::add")], proposer, {"add": ADD}
    )
    assert offered == []
    assert [a.verdict.status for a in ledger.attempts] == ["rejected"]
    assert sessions[0].judged == 0


REACHING = ("return a - b", "import os\n    os.getpid()\n    return a + b")


def test_what_newly_reaches_for_something_is_a_suggestion_where_nothing_else_is_found(
    tmp_path: Path,
) -> None:
    proposer = ListProposer([_change("add", *REACHING)], streams=False)
    ledger, offered, _ = _search(tmp_path, [_cluster("add", "t::add")], proposer, {"add": ADD})
    assert [a.verdict.status for a in ledger.attempts] == ["rejected", "fixed"]
    assert len(offered) == 1
    assert ledger.confirmed is None
    assert ledger.suggestion is not None
    assert ledger.suggestion.why == ("add newly uses os.getpid",)


def test_what_newly_reaches_for_something_is_not_run_where_another_change_does(
    tmp_path: Path,
) -> None:
    proposer = ListProposer([_change("add", *REACHING), RIGHT_ADD], streams=False)
    ledger, _, _ = _search(tmp_path, [_cluster("add", "t::add")], proposer, {"add": ADD})
    assert [a.verdict.status for a in ledger.attempts] == ["rejected", "fixed"]
    assert ledger.confirmed is not None
    assert ledger.suggestion is None


def test_what_a_rule_newly_reaches_for_is_rejected(tmp_path: Path) -> None:
    proposer = ListProposer([_change("add", *REACHING)])
    ledger, offered, _ = _search(tmp_path, [_cluster("add", "t::add")], proposer, {"add": ADD})
    assert offered == []
    assert [a.verdict.status for a in ledger.attempts] == ["rejected"]


def test_a_cluster_without_suspects_ends_with_the_reason(tmp_path: Path) -> None:
    cluster = Cluster("none", (Failure("t::add", "", ""),), ())
    ledger, offered, _ = _search(tmp_path, [cluster], ListProposer([]), {})
    assert offered == []
    assert "no function" in ledger.notes[0]


MORE = {**ADD, "t::more": lambda m: m["add"](1, 1) == 2}


def _suggesting(
    tmp_path: Path, *asked: ListProposer, calls: Any = lambda candidates: Calls()
) -> tuple[AttemptLog, list[Proposal]]:
    """A search where the rules find `a + b` for one failing test, and others are asked then."""
    ledger, offered, _ = _search(
        tmp_path,
        [_cluster("add", "t::add")],
        [ListProposer([replace(LUCKY_ADD, proposer="rules")], name="rules"), *asked],
        {"add": ADD},
        calls=calls,
    )
    return ledger, offered


def test_what_two_tests_of_different_inputs_vouch_for_is_the_patch(tmp_path: Path) -> None:
    cluster = _cluster("add", *MORE)
    ledger, _, _ = _search(
        tmp_path, [cluster], ListProposer([RIGHT_ADD]), {"add": MORE}, calls=_strong
    )
    assert ledger.confirmed is not None
    assert (ledger.suggestion, ledger.stopped) == (None, "done")


@pytest.mark.parametrize(
    ("cause", "patched"),
    [(Cause.CHANGE, True), (Cause.IDS, False), (Cause.BUDGET, False), (Cause.FLAKY, False)],
)
def test_what_was_refused_without_being_measured_stays_a_rival_of_the_next(
    tmp_path: Path, cause: Cause, patched: bool
) -> None:
    def calls(candidates: Sequence[Candidate]) -> Calls:
        rows = ("xxxx", "aaxb", "aaxc", *["defg"] * len(candidates))[: 1 + len(candidates)]
        told = (tuple(CallResult("returned", "int", m, m) for m in row) for row in rows)
        names = ("add(2, 3)", "add(1, 1)", "add(0, 0)", "add(0, 1)")
        return Calls(names, 3, tuple(told), worked=frozenset({2}))

    def confirm(proposal: Proposal) -> Confirmed | Verdict:
        first = proposal.winners[-1].number == 1
        return Verdict("unconfirmed", cause=cause) if first else _confirmed(proposal)

    other = _change("add", "a - b", "abs(a) + b")
    ledger, offered, _ = _search(
        tmp_path, [_cluster("add", *MORE)], ListProposer([RIGHT_ADD, other]), {"add": MORE},
        confirm, calls=calls,
    )  # fmt: skip
    assert [p.winners[-1].number for p in offered] == [1, 2]
    assert (ledger.confirmed is not None) is patched
    assert (ledger.suggestion is None) is patched


def test_what_did_not_hold_is_offered_once_whoever_proposes_it_again(tmp_path: Path) -> None:
    tiers = [
        ListProposer([RIGHT_ADD], name="rules"), ListProposer([RIGHT_ADD], name="others"),
        ListProposer([RIGHT_ADD], name="model", streams=False),
    ]  # fmt: skip
    ledger, offered, sessions = _search(
        tmp_path, [_cluster("add", *MORE)], tiers, {"add": MORE},
        lambda proposal: Verdict("unconfirmed", detail="breaks others"),
    )  # fmt: skip
    assert (len(offered), sessions[0].judged) == (1, 1)
    assert [(a.verdict.status, a.verdict.detail) for a in ledger.attempts] == [
        ("unconfirmed", "breaks others"),
        ("rejected", "this change was tried before: unconfirmed"),
    ]


def test_what_lacks_evidence_is_confirmed_and_suggested_and_no_patch(tmp_path: Path) -> None:
    ledger, offered = _suggesting(tmp_path)
    assert [p.edits for p in offered] == [LUCKY_ADD.edits]
    assert (ledger.confirmed, ledger.held) == (None, ())
    assert ledger.suggestion is not None
    assert ledger.suggestion.why == ("one failing test alone vouches for it",)
    assert extend_memory(Memory(), tuple(ledger.attempts)).tried == ()


def test_who_is_asked_after_a_suggestion_does_not_see_it_and_its_own_answer_stands(
    tmp_path: Path,
) -> None:
    model = ListProposer([RIGHT_ADD], name="model", streams=False)
    ledger, _ = _suggesting(tmp_path, model)
    assert model.recalled[0].attempts == ()
    assert [winner.candidate for winner in ledger.held] == [RIGHT_ADD]
    assert ledger.suggestion is None
    assert ledger.held[0].doubts == ("attempt 1 of rules passes the same tests",)


def test_two_that_found_alike_by_themselves_are_evidence_for_each_other(tmp_path: Path) -> None:
    model = ListProposer([RIGHT_ADD], name="model", streams=False)
    ledger, _ = _suggesting(tmp_path, model, calls=_strong)
    assert ledger.held[0].doubts == ()
    assert ledger.notes == [
        "attempt 2 of list, made without seeing it, behaves like attempt 1 of rules on 3 calls"
    ]


def test_a_suggestion_that_behaves_otherwise_is_a_doubt_with_the_call(tmp_path: Path) -> None:
    def calls(candidates: Sequence[Candidate]) -> Calls:
        values = [CallResult("returned", "int", str(n), str(n)) for n in range(1 + len(candidates))]
        return Calls(("add(0, 3)",), 1, tuple((value,) for value in values))

    model = ListProposer([RIGHT_ADD], name="model", streams=False)
    ledger, _ = _suggesting(tmp_path, model, calls=calls)
    assert ledger.held[0].doubts == (
        "attempt 1 of rules passes the same tests and behaves differently: add(0, 3) returns 1"
        " with attempt 1; it returns 2 with attempt 2",
    )


def test_a_change_that_holds_the_answers_of_the_tests_is_refused_and_another_asked_for(
    tmp_path: Path,
) -> None:
    def calls(candidates: Sequence[Candidate]) -> Calls:
        def result(value: str) -> CallResult:
            return CallResult("returned", "int", value, value)

        before = tuple(map(result, "012345678"))
        after = before if candidates[0] == RIGHT_ADD else (result("5"),) * 9
        return Calls(tuple(f"add({n}, 0)" for n in range(9)), 1, (before, after))

    model = ListProposer([LUCKY_ADD, RIGHT_ADD], name="model", streams=False)
    ledger, offered, _ = _search(
        tmp_path, [_cluster("add", "t::add")], model, {"add": ADD}, calls=calls
    )
    assert [p.edits for p in offered] == [RIGHT_ADD.edits]
    assert ledger.attempts[0].verdict == Verdict("rejected", detail=LOOKUP)


def test_a_suggestion_stays_where_those_who_are_asked_find_nothing(tmp_path: Path) -> None:
    model = ListProposer([WRONG_ADD], name="model", streams=False)
    ledger, _ = _suggesting(tmp_path, model)
    assert ledger.confirmed is None
    assert ledger.suggestion is not None
    ledger.withdraw(ledger.suggestion, "a check fails with it")
    assert ledger.suggestion is None
    assert ledger.attempts[0].verdict == Verdict("unconfirmed", detail="a check fails with it")
    assert (digest(LUCKY_ADD), "unconfirmed") in extend_memory(
        Memory(), tuple(ledger.attempts)
    ).tried


def test_a_suggestion_stands_beside_a_patch_that_fixes_a_part_of_its_tests(tmp_path: Path) -> None:
    checks = {**ADD, "t::none": lambda m: m["add"](1, 1) == 2}
    kinds = ("KeyError", "AssertionError")
    failures = tuple(Failure(t, kind, "") for t, kind in zip(checks, kinds, strict=True))
    cluster = Cluster("add", failures, (Suspect(_target("add"), 1.0),))
    part = ListProposer([LUCKY_ADD], name="model", streams=False)
    ledger, _, _ = _search(
        tmp_path, [cluster], [ListProposer([RIGHT_ADD], name="rules"), part], {"add": checks}
    )
    assert [winner.candidate for winner in ledger.held] == [LUCKY_ADD]
    assert [s.fixed for s in ledger.suggestions.values()] == [tuple(checks)]


def test_a_suggestion_whose_tests_the_patch_of_another_cause_fixes_is_dropped(
    tmp_path: Path,
) -> None:
    right_twice = _change("twice", "return a", "return 2 * a")
    model = ListProposer([right_twice], name="model", streams=False)

    def confirm(proposal: Proposal) -> Confirmed:
        found = _confirmed(proposal)
        more = right_twice.edits[0] in proposal.edits
        fixed = ("t::add", "t::twice") if more else found.patch.fixed
        return replace(found, patch=replace(found.patch, fixed=fixed))

    clusters = [_cluster("add", "t::add"), _cluster("twice", "t::twice")]
    for order in (clusters, clusters[::-1]):
        tiers = [ListProposer([RIGHT_ADD], name="rules"), model]
        ledger, _, _ = _search(tmp_path, order, tiers, {"add": ADD, "twice": TWICE}, confirm)
        assert [winner.candidate for winner in ledger.held] == [right_twice]
        assert ledger.suggestion is None


def test_the_best_partial_fix_has_what_is_known_of_it_by_now(tmp_path: Path) -> None:
    ledger = AttemptLog(FolderTree.of(tmp_path, {"m.py": SOURCE}))
    cluster, run = _cluster("add", "t::add", "t::more"), quiet_run()[0]
    attempt = ledger.record(run, cluster, LUCKY_ADD, Verdict("improved", ("t::add",)), 0.1)
    ledger.weigh([replace(attempt, lacks=("too weak",))])
    assert ledger.best_partial(cluster) == ledger.attempts[0]
    assert ledger.recall(run, cluster)().partial == tuple(ledger.attempts)


@pytest.mark.parametrize(
    ("lacked", "why"),
    [
        (None, None),
        ((), ("one failing test alone vouches for it",)),
        (("a rival",), ("a rival", "one failing test alone vouches for it")),
    ],
)
def test_what_another_run_found_among_many_is_weighed_again(
    tmp_path: Path, lacked: tuple[str, ...] | None, why: tuple[str, ...] | None
) -> None:
    found = replace(RIGHT_ADD, lacks=lacked)
    for checks in (ADD, {**ADD, "t::never": lambda m: False}):
        proposer = ListProposer([found], streams=False)
        cluster = _cluster("add", *checks)
        failures = tuple(replace(f, kind=f.test) for f in cluster.failures)
        cluster = replace(cluster, failures=failures)
        ledger, _, _ = _search(tmp_path, [cluster], proposer, {"add": checks})
        assert (ledger.suggestion and ledger.suggestion.why) == why
        assert bool(ledger.held) is (why is None)


def test_an_objection_to_what_the_cold_run_confirmed_makes_it_a_suggestion(tmp_path: Path) -> None:
    def confirm(proposal: Proposal) -> Confirmed:
        return replace(_confirmed(proposal), objections=("add newly swallows an exception",))

    model = ListProposer([RIGHT_ADD], name="model", streams=False)
    for tiers, held in (([ListProposer([RIGHT_ADD])], False), ([model], True)):
        ledger, _, _ = _search(
            tmp_path, [_cluster("add", *MORE)], tiers, {"add": MORE}, confirm, calls=_strong
        )
        assert bool(ledger.held) is held
        assert (ledger.suggestion is None) is held


OTHER_ADD = _change("add", "a - b", "abs(a) + b")


def _rivalled(tmp_path: Path) -> AttemptLog:
    """A ledger whose suggestion lacks no more than that another change passes too."""

    def calls(candidates: Sequence[Candidate]) -> Calls:
        rows = ("xxxx", "aaxb", "aaxc", *["defg"] * len(candidates))[: 1 + len(candidates)]
        told = (tuple(CallResult("returned", "int", m, m) for m in row) for row in rows)
        names = ("add(2, 3)", "add(1, 1)", "add(0, 0)", "add(0, 1)")
        return Calls(names, 3, tuple(told), worked=frozenset({2}))

    proposer, cluster = ListProposer([RIGHT_ADD, OTHER_ADD]), _cluster("add", *MORE)
    return _search(tmp_path, [cluster], proposer, {"add": MORE}, calls=calls)[0]


def test_a_rival_that_holds_makes_the_suggestion_a_question(tmp_path: Path) -> None:
    ledger = _rivalled(tmp_path)
    rival = ledger.rival()
    assert rival is not None
    assert [winner.candidate for winner in rival.winners] == [OTHER_ADD]
    run, events = quiet_run()
    ledger.settle(run, rival, _confirmed(rival))
    assert ledger.question is not None
    assert ledger.question.call == "add(0, 1)"
    told = [(one.id, one.attempt.number, one.result) for one in ledger.question.choices]
    assert told == [("A", 1, "b"), ("B", 2, "c")]
    assert ledger.suggestion is not None
    assert ledger.suggestion.attempt.number == 1
    assert [getattr(event, "detail", "") for event in events] == [
        "attempt 1 passes too: what should add(0, 1) give?"
    ]


@pytest.mark.parametrize(
    ("results", "picked", "right"),
    [("b", "A", RIGHT_ADD), ("c", "", OTHER_ADD), ("bc", "B", OTHER_ADD), ("d", "B", None)],
    ids=["A", "B by memory", "the newest of two", "of another question"],
)
def test_the_choice_whose_answer_a_person_gave_is_the_repair(
    tmp_path: Path, results: str, picked: str, right: Candidate | None
) -> None:
    ledger = _rivalled(tmp_path)
    rival = ledger.rival()
    assert rival is not None
    ledger.settle(quiet_run()[0], rival, _confirmed(rival))
    answers = tuple(digest_answer("add(0, 1)", result) for result in results)
    ledger.memory = Memory(answers=answers)
    ledger.take_answer(picked)
    assert (ledger.question is None) is (right is not None)
    assert [winner.candidate for winner in ledger.held] == ([right] if right else [])
    if right:
        assert ledger.suggestion is None
        assert ledger.notes == [f"a person answered that add(0, 1) gives {results[-1]}"]
    else:
        assert ledger.notes == ["choice B of an earlier run is none of this one"]


@pytest.mark.parametrize("how", ["refused", "objected to", "fixes less"])
def test_a_rival_that_does_not_hold_alike_is_no_choice(tmp_path: Path, how: str) -> None:
    ledger = _rivalled(tmp_path)
    rival = ledger.rival()
    assert rival is not None
    held = _confirmed(rival)
    verified: dict[str, Confirmed | Verdict] = {
        "refused": Verdict("unconfirmed", detail="no"),
        "objected to": replace(held, objections=("add newly swallows an exception",)),
        "fixes less": replace(held, patch=replace(held.patch, fixed=("t::add",))),
    }
    ledger.settle(quiet_run()[0], rival, verified[how])
    assert ledger.question is None
    assert ledger.suggestion is not None
    assert ledger.suggestion.attempt.number == 1
    assert (ledger.rival() is None) is (how == "refused")


def test_a_suggestion_that_lacks_more_has_no_rival_to_ask_about(tmp_path: Path) -> None:
    ledger = _rivalled(tmp_path)
    found = ledger.suggestions["add"]
    ledger.suggestions["add"] = replace(found, why=(*found.why, "add newly swallows an exception"))
    assert ledger.rival() is None
