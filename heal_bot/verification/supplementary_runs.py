"""The runs beside the confirmation, and what they and the gates show of a change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from heal_bot.core.model import (
    COMMAND,
    Baseline,
    Candidate,
    CaseResult,
    OracleAnswers,
    PatchedFile,
    SuiteRun,
)
from heal_bot.core.text import count
from heal_bot.ports import Ask, Oracle, RunContext, Tree
from heal_bot.source import edit, paths
from heal_bot.source.guard import SourceRejected
from heal_bot.verification import (
    equality_probe,
    gates,
    hardcoded_answers,
    linters,
    stale_test_history,
    tamper_evidence,
)

_TESTS = 200
_SECONDS = 30.0
_MEMORY = 256 << 20


@dataclass(frozen=True, slots=True)
class ShownRuns:
    """How the assertions ran, what the gates said, and why the change is refused, if it is."""

    method: str = "in-process"
    gates: tuple[tuple[str, str], ...] = ()
    doubts: tuple[str, ...] = ()
    veto: str = ""


@dataclass(frozen=True, slots=True)
class Proof:
    """What is asked of the runner beside the suites, by its name; `inside` says why no oracle.

    Code that is the repository's own, as it was `former` to a commit, is not suspected of knowing
    what the tests expect.

    The oracle is asked alone and first: a run of the tests that executes the candidate at the same
    time could tell the answering process what they expect, by any means two processes have.
    """

    context: RunContext
    fresh: Tree
    candidate: Candidate
    files: tuple[PatchedFile, ...]
    baseline: Baseline
    asks: Mapping[str, Ask]
    inside: str
    oracle: Ask | None = None
    former: bool = False

    @classmethod
    def of(
        cls,
        context: RunContext,
        fresh: Tree,
        candidate: Candidate,
        files: tuple[PatchedFile, ...],
        baseline: Baseline,
    ) -> Proof:
        """The runs for this change: covered lines, poison, and the oracle where it applies."""
        tree = context.tree
        red = (f.test for f in baseline.confirmed if "::" in f.test or f.test == COMMAND)
        tests = tuple(red)[:_TESTS]
        if not tests:
            none = "no test was red by itself"
            return cls(context, fresh, candidate, files, baseline, {}, none)
        seconds = _SECONDS + 10 * _time(tests, baseline)
        asks = {"coverage": Ask(fresh, tests, spectrum=True, seconds=seconds, aside=True)}
        try:
            if poison := tamper_evidence.poison_change(candidate.edits):
                spoilt = context.patched(edit.patch_files(tree, poison))
                asks["poison"] = Ask(spoilt, tests, seconds=seconds, aside=True)
        except (edit.EditError, SourceRejected) as error:
            context.run.warn("verify", f"no rerun with the change raising: {error}")
        hidden = paths.test_files(baseline.suite.collected) - {file.path for file in files}
        former = stale_test_history.is_former(candidate.edits, tree)
        own = "it puts back code that the repository had before" if former else ""
        inside = own or tamper_evidence.not_outside(candidate.edits) or _beside(tests, hidden)
        called = tuple((e.target.path, e.target.qualname) for e in candidate.edits)
        oracle = Ask(tree, tests, seconds=seconds, oracle=Oracle(fresh, called, hidden))
        return cls(
            context, fresh, candidate, files, baseline, asks,
            inside, None if inside else oracle, former,
        )  # fmt: skip

    def outside(self) -> SuiteRun | None:
        """The run of the tests with the change in another process; None where it cannot be."""
        if self.oracle is None:
            return None
        (done,) = self.context.run_many([self.oracle])
        return done

    def beside(self, outside: SuiteRun | None) -> Proof:
        """With one run more where the tests pass inside of the process that runs the change alone.

        The values that leave the changed functions are probed there: what is equal to anything
        passes every comparison, and no oracle takes it for plain data.
        """
        asked = self.asks.get("coverage")
        if (
            asked is None
            or self.former
            or (outside and not tamper_evidence.explain_outside(outside, asked.tests or ()))
        ):
            return self
        try:
            if not (probed := equality_probe.probe_change(self.candidate.edits)):
                return self
            tree = self.context.patched(edit.patch_files(self.context.tree, probed))
        except (edit.EditError, SourceRejected) as error:
            self.context.run.warn("verify", f"no rerun with watched equality: {error}")
            return self
        ask = Ask(tree, asked.tests, seconds=asked.seconds, aside=True)
        return replace(self, asks={**self.asks, "probe": ask})

    def read(
        self, fixed: Sequence[str], runs: Sequence[SuiteRun], outside: SuiteRun | None
    ) -> ShownRuns:
        """What the runs show for the tests that are fixed."""
        done = dict(zip(self.asks, runs, strict=True))
        asked_for = {test for ask in self.asks.values() for test in ask.tests or ()}
        every = count(len(fixed), "fixed test")
        fixed = tuple(test for test in fixed if test in asked_for)
        rows: list[tuple[str, str]] = []
        doubts: list[str] = []
        if "poison" in done:
            if passing := tamper_evidence.still_passing(done["poison"], fixed):
                veto = f"{passing[0]} passes even when the changed function raises: what it shows"
                return ShownRuns(veto=f"{veto} is not the change")
            told = f"{len(fixed)} of {every} ran the change, and failed"
            rows.append(("rerun with the change raising", told))
        if "probe" in done:
            if met := equality_probe.find_fooled(done["probe"], fixed):
                veto = f"{met[0]} compares a value of the changed function that is equal to values"
                return ShownRuns(veto=f"{veto} which differ")
            told, lost = equality_probe.describe_probe(done["probe"], fixed)
            rows.append(("rerun with watched equality", told))
            doubts += lost
        inside = tamper_evidence.explain_outside(outside, fixed) if outside else self.inside
        apart = "passed with the change in another process than the assertions"
        rows.append(("oracle", f"in-process: {inside}" if inside else apart))
        # Where no test called the change, it was the code without it that failed.
        answered = outside if outside and outside.asked.tests else None
        red = tamper_evidence.find_contradicting(answered, fixed) if answered else ()
        if red and (heard := self._heard(red)):
            veto = "it passes only where the change runs beside what the test expects"
            return ShownRuns(veto=f"{tamper_evidence.describe_result(heard[0])}: {veto}")
        if outside and self._is_lookup(outside.asked):
            if hardcoded_answers.has_one_answer(outside.asked):
                return ShownRuns(veto=hardcoded_answers.LOOKUP)
            # What has few answers at all, as a comparison, is no table for that.
            doubts.append(hardcoded_answers.LOOKUP)
        edits = () if self.former else self.candidate.edits
        found = gates.list_findings(edits, fixed, self.context.tree)
        if refused := [finding.text for finding in found if finding.veto]:
            return ShownRuns(veto=refused[0])
        doubts += [finding.text for finding in found]
        covered, missed = self._covered(fixed, done.get("coverage"))
        rows.append(("changed lines executed", covered))
        doubts += missed
        said, asked = linters.run_linters(self.context, self.fresh, self.files)
        method = "in-process" if inside else "oracle"
        return ShownRuns(method, (*rows, *said), (*doubts, *asked))

    def _heard(self, red: Sequence[CaseResult]) -> tuple[CaseResult, ...]:
        """Those that mean the same when the function is asked in a process of its own.

        They do where they fail there without the change as they failed here. What rests on files,
        patched names or output of the test process does not.
        """
        if (done := self._ask_unchanged(tuple(result.test for result in red))) is None:
            return ()
        here = {r.test: tamper_evidence.describe_failure(r) for r in self.baseline.suite.results}
        there = {r.test: tamper_evidence.describe_failure(r) for r in done.results}
        return tuple(r for r in red if r.test in there and there[r.test] == here.get(r.test))

    def _is_lookup(self, asked: OracleAnswers) -> bool:
        """Whether the change has the tests' answers alone, and the unchanged code has others."""
        if self.oracle is None or not hardcoded_answers.has_few_answers(asked):
            return False
        before = self._ask_unchanged(self.oracle.tests or ())
        return before is not None and hardcoded_answers.has_several_answers(before.asked)

    def _ask_unchanged(self, tests: tuple[str, ...]) -> SuiteRun | None:
        """The oracle of the code without the change."""
        if self.oracle is None or self.oracle.oracle is None:
            return None
        oracle = replace(self.oracle.oracle, tree=self.context.tree)
        (done,) = self.context.run_many([replace(self.oracle, tests=tests, oracle=oracle)])
        return done

    def _covered(self, fixed: Sequence[str], run: SuiteRun | None) -> tuple[str, list[str]]:
        """Whether the fixed tests execute the new lines, and a doubt per file where they do not."""
        if run is None or run.spectrum is None:
            return f"not measured: {run.detail or run.ended if run else 'no test to run'}", []
        seen = run.spectrum
        if seen.gaps:
            return f"not measured: {seen.gaps[0]}", []
        found = []
        for file in self.files:
            before = edit.text_of(self.context.tree, file.path)
            if lines := gates.find_uncovered(before, file.content, file.path, fixed, seen):
                shown = ", ".join(map(str, lines[:5]))
                named = "line" if len(lines) == 1 else "lines"
                found.append(f"no fixed test executes {named} {shown} of {file.path}")
        return "not all" if found else "all, by fixed tests", found


def _beside(tests: Sequence[str], hidden: frozenset[str]) -> str:
    """Why the answering process would see what a test expects; '' when it does not."""
    if COMMAND in tests:
        return "the tests run by a command"
    for path in dict.fromkeys(test.partition("::")[0] for test in tests):
        if path not in hidden and not paths.is_test(path):
            return f"{path} holds tests as well as code"
    return ""


def doubt_slower(baseline: Baseline, suites: Sequence[SuiteRun]) -> tuple[str, ...]:
    """Doubts on what the suite takes now; runs side by side are a little slower by themselves."""
    passed = baseline.passed
    before = {r.test: r.seconds for r in baseline.suite.results if r.test in passed}
    old = sum(before.values())
    new = min(sum(r.seconds for r in s.results if r.test in before) for s in suites)
    found = []
    if new > 3 * old + 2:
        found.append(f"the tests that passed before take {new:.1f} s, and took {old:.1f} s")
    peak, least = baseline.suite.peak_memory, min(suite.peak_memory for suite in suites)
    if peak and least > 2 * peak + _MEMORY:
        found.append(f"the suite takes {least >> 20} MiB of memory, and took {peak >> 20} MiB")
    return tuple(found)


def _time(tests: Sequence[str], baseline: Baseline) -> float:
    """What the tests took in the baseline."""
    return sum(r.seconds for r in baseline.suite.results if r.test in tests)
