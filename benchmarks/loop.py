"""Replays scripted models against the whole model tier, in the real sandbox.

A small project with two planted faults is checked out, run and repaired again and again; what
changes is what the models answer. The models are the real SDKs against a server on the loopback,
the transcripts are hand-written. Counted are the scenarios that end as they should, our own time
for an attempt (from the end of an answer to the next request), that time over the sandboxed run
it contains, what is left of it without that run, and the part of the bytes of each request that the
previous one did not begin with.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Self

from benchmarks._cases import options_of
from benchmarks._repositories import commit_files
from benchmarks._scripts import FILES, PATH, SCENARIOS, Play, Scenario, make_answer
from heal_bot.checkout.bare_repository import Repository
from heal_bot.core.events import Run
from heal_bot.core.model import (
    Baseline,
    Calls,
    Candidate,
    Cluster,
    Edit,
    Environment,
    Failure,
    RunHints,
    Suspect,
    Verdict,
)
from heal_bot.core.text import Secret
from heal_bot.environments.local_workspace import LocalWorkspace
from heal_bot.llm_clients.claude import CLAUDE
from heal_bot.llm_clients.gemini import GEMINI
from heal_bot.llm_clients.model_client import Client
from heal_bot.llm_clients.retry import RetryPolicy
from heal_bot.ports import RunContext, Session, Tree
from heal_bot.ports.language_model import Model
from heal_bot.repair.llm.budget import Budget
from heal_bot.repair.llm.model_proposer import ModelProposer
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.search.cluster_search import SearchLimits
from heal_bot.repair.search.scheduler import proposals
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.source import edit, functions
from heal_bot.testrun.runner import SuiteRunner
from heal_bot.verification.baseline import reproduce
from heal_bot.verification.snippet_lab import SandboxLab
from heal_bot.verification.warm_trial import open_session
from tests.llm_clients.server import Scripted, served

KEY = Secret("loopback-key-0123456789")


class Timed:
    """A session that remembers how long each verdict took."""

    def __init__(self, session: Session, seconds: list[float]) -> None:
        self._session, self._seconds = session, seconds

    def judge(self, candidates: Iterable[Candidate]) -> Generator[Verdict, None, None]:
        """The verdicts of the session."""
        started = time.monotonic()
        for verdict in self._session.judge(candidates):
            self._seconds.append(time.monotonic() - started)
            yield verdict
            started = time.monotonic()

    def call(self, candidates: Sequence[Candidate], seed: int = 0) -> Calls:
        """The calls of the session."""
        return self._session.call(candidates, seed)

    def __enter__(self) -> Self:
        self._session.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._session.__exit__(None, None, None)


@dataclass(frozen=True, slots=True)
class Stage:
    """The project as checked out, run once, and ready to be judged."""

    runner: SuiteRunner
    tree: Tree
    env: Environment
    baseline: Baseline
    server: Scripted
    workspace: LocalWorkspace

    def play(self, scenario: Scenario) -> Play:
        """Repair the project with the scenario's models."""
        play = Play(AttemptLog(self.tree, lab=self._lab() if scenario.lab else None), self.server)
        self.server.plays(*scenario.answers)
        models = [self._model(name, scenario.timeout) for name in scenario.chain]
        proposer = ModelProposer(
            models, Budget(calls=scenario.calls), candidates=scenario.candidates
        )
        now = time.monotonic()
        run = Run(play.events.append, rng=random.Random(1), deadline=now + 300)

        def judge(cluster: Cluster, base: tuple[Edit, ...]) -> Session:
            session = open_session(self.context(run), self.baseline, cluster, base)
            return Timed(session, play.judged)

        limits = SearchLimits(attempts=10)
        clusters = [self._cluster(scenario.tests)]
        with contextlib.closing(
            proposals(run, clusters, [proposer], judge, play.ledger, limits)
        ) as found:
            next(found, None)
        play.notes = tuple(proposer.notes)
        return play

    def context(self, run: Run) -> RunContext:
        """What stages get for a run."""
        return RunContext(run, self.runner, self.workspace, self.tree, self.env)

    def _lab(self) -> SandboxLab:
        return SandboxLab(self.context(Run(lambda event: None)))

    def _model(self, name: str, timeout: float) -> Model:
        patience = RetryPolicy(attempts=2, first=0.05)
        dialect = {"claude": CLAUDE, "gemini": GEMINI}[name]
        return Client(dialect, KEY, "", self.server.url, timeout, patience=patience)

    def _cluster(self, prefix: str) -> Cluster:
        failures: Sequence[Failure] = [
            f for f in self.baseline.confirmed if f.test.partition("::")[2].startswith(prefix)
        ]
        targets = functions.index_targets(PATH, edit.text_of(self.tree, PATH))
        suspects = tuple(
            Suspect(t, 0.9, ("runs in every failing test",))
            for t in targets
            if t.qualname in {"round_cents", "Cart.total"}
        )
        return Cluster("c1", tuple(failures), suspects)


@contextlib.contextmanager
def staged() -> Iterator[Stage]:
    """The project in a sandbox, strict where the machine allows it."""
    with (
        tempfile.TemporaryDirectory(prefix="heal-bot-loop-") as folder,
        Sandbox.start("reduced", 2) as sandbox,
        served() as server,
    ):
        repo = commit_files(Path(folder) / "repo", "Plant", FILES)
        run = Run(lambda event: None, deadline=time.monotonic() + 900)
        scratch = Path(folder) / "scratch"
        scratch.mkdir()
        repository = Repository.of(run, repo, scratch)
        # The user that tests run as must reach the cache, so it is not in the private folder.
        cache = Path(tempfile.gettempdir()) / f"heal-bot-cache-{os.getuid()}"
        workspace = LocalWorkspace(repository, scratch, cache, given=Path(sys.executable))
        runner = SuiteRunner(sandbox)
        tree = workspace.checkout(run, repository.head)
        env = workspace.provision(run, tree, RunHints())
        baseline = reproduce(RunContext(run, runner, workspace, tree, env), None)
        yield Stage(runner, tree, env, baseline, server, workspace)


def expected(scenario: Scenario, play: Play) -> str:
    """Why the scenario did not end as it should, or ''."""
    statuses = tuple(attempt.verdict.status for attempt in play.ledger.attempts)
    if statuses != scenario.statuses:
        return f"verdicts {statuses}, expected {scenario.statuses}; {' '.join(play.notes)}"
    if len(play.server.requests) != scenario.requests:
        return f"{len(play.server.requests)} requests, expected {scenario.requests}"
    return "" if scenario.holds(play) else "the prompt, the events or the notes are not as expected"


def measured(play: Play) -> dict[str, float]:
    """The figures of a repair of ten attempts, each of them judged."""
    server = play.server
    gaps = [
        after - before for before, after in zip(server.answered, server.arrived[1:], strict=False)
    ]
    judged = play.judged[: len(gaps)]
    return {
        "seconds_per_attempt": round(sum(gaps) / len(gaps), 3),
        "floor_ratio": round(sum(gaps) / sum(judged), 3),
        "own_seconds_median": round(
            median(gap - run for gap, run in zip(gaps, judged, strict=False)), 4
        ),
        "uncached_share": _uncached(server.bodies),
        "prompt_tokens_per_attempt": sum(map(len, server.bodies)) // len(server.bodies) // 4,
    }


def _uncached(requests: Sequence[bytes]) -> float:
    """The part of the requests after the first that the one before does not begin with."""
    pairs = list(pairwise(requests))
    fresh = sum(len(now) - _common(before, now) for before, now in pairs)
    return round(fresh / sum(len(now) for _, now in pairs), 3)


def _common(one: bytes, other: bytes) -> int:
    """The length of the longest common prefix."""
    shorter = min(len(one), len(other))
    return next((n for n in range(shorter) if one[n] != other[n]), shorter)


def main(argv: list[str]) -> int:
    """Play all scenarios and one repair of ten attempts; 1 when any ends otherwise."""
    options = options_of("loop").parse_args(argv)
    say: Callable[[str], None] = (lambda line: None) if options.json else print
    started, good = time.monotonic(), 0
    with staged() as stage:
        for scenario in SCENARIOS:
            problem = expected(scenario, stage.play(scenario))
            good += not problem
            say(f"{scenario.name}: {problem or 'as expected'}")
        ten = tuple(make_answer(f"0.0{n}") for n in range(10, 20))
        chain = ("claude", "claude")
        long = stage.play(Scenario("ten attempts", ten, (), 10, chain=chain))
        figures = measured(long)
    result = {
        "scenarios": len(SCENARIOS),
        "as_expected": good,
        "attempts_measured": len(long.judged),
        **figures,
        "seconds": round(time.monotonic() - started, 1),
        "complete": good == len(SCENARIOS),
    }
    print(json.dumps(result))
    return 0 if result["complete"] else 1
