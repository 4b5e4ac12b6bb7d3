"""The protocols between stages and edges; stages see these, wiring puts real edges behind them."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from heal_bot.core.events import Run
from heal_bot.core.model import (
    Attempt,
    Bump,
    Calls,
    Candidate,
    CaseResult,
    ChangedFile,
    Cluster,
    Collection,
    Commit,
    Confirmed,
    Cost,
    Edit,
    Environment,
    Failure,
    Isolation,
    Opinion,
    Outcome,
    PatchedFile,
    Regression,
    Removal,
    RunHints,
    Spectrum,
    SuiteRun,
    Verdict,
)


class Tree(Protocol):
    """A checkout made by us: bytes come from verified git blobs, never through foreign paths."""

    @property
    def sha(self) -> str:
        """The commit this tree is of."""

    @property
    def root(self) -> Path:
        """The folder that holds the files, root-owned, never written by sandboxed code."""

    @property
    def tree_sha(self) -> str:
        """The git tree id of the commit."""

    def paths(self) -> tuple[str, ...]:
        """All file paths of the commit, sorted, relative with forward slashes."""

    def read(self, path: str) -> bytes:
        """The bytes of a file; KeyError when the commit has no such regular file."""

    def blob(self, path: str) -> str:
        """The git blob id of a file in the commit (not of a patched version)."""

    def changed_lines(self) -> dict[str, frozenset[int]]:
        """Lines per path that the commits under test changed; empty without history."""

    def changed_paths(self) -> tuple[str, ...]:
        """All files that the commits under test changed, brought or deleted."""

    def former(self, path: str) -> bytes | None:
        """A file as it was before the commits under test; None without history or such a file."""

    def changed_by(self, path: str) -> str:
        """The newest of the commits under test that changed the file; '' without one."""

    def blamed(self, path: str, line: int) -> tuple[str, str]:
        """The commit that a line is from, and its title; '' where the history does not tell."""

    def removal(self, path: str, name: str) -> Removal | None:
        """The newest commit that took a name out of a file, or, for '', a file of that end away."""


class Workspace(Protocol):
    """Makes checkouts and environments."""

    def checkout(self, run: Run, sha: str) -> Tree:
        """A fresh checkout of a commit."""

    def date_content(self, run: Run, tree: Tree) -> float:
        """Since when the files of a checkout are as they are, in epoch seconds."""

    def commits(self, run: Run, good: str, bad: str) -> tuple[Commit, ...]:
        """The first-parent line from where `good` branches off (or what is at hand) to `bad`."""

    def changes(self, run: Run, good: str, bad: str) -> tuple[ChangedFile, ...]:
        """The Python files and docs that a commit changes, moves or adds."""

    def since(self, tree: Tree, sha: str) -> Tree:
        """The same tree, with what was changed counted from another commit than its parent."""

    def patched(self, run: Run, tree: Tree, files: Sequence[PatchedFile]) -> Tree:
        """A fresh checkout of the tree's commit with these files replaced."""

    def provision(self, run: Run, tree: Tree, hints: RunHints) -> Environment:
        """The target's interpreter, readable in the sandbox."""

    def former_versions(
        self, run: Run, tree: Tree, env: Environment, hints: RunHints, good: str, green: float
    ) -> tuple[Bump, ...]:
        """The packages that had another version at the last good state, declared ones first.

        That is the commit `good` ('' for the one before the commits under test) when it was
        `green` (0 for when it was made). ProvisionError where nobody can tell.
        """

    def with_former(self, run: Run, env: Environment, bumps: Sequence[Bump]) -> Environment:
        """The environment with these packages, which are known to differ, as they were."""

    def changed(self, env: Environment) -> bool:
        """Whether a file of the environment is another than when it was laid out."""


class Session(AbstractContextManager["Session"], Protocol):
    """A warm judge for one cluster; leave it as a context manager."""

    def judge(self, candidates: Iterable[Candidate]) -> Generator[Verdict, None, None]:
        """One verdict per candidate, in the order given; candidates are pulled lazily.

        Whoever takes no more of them closes it.
        """

    def call(self, candidates: Sequence[Candidate], seed: int = 0) -> Calls:
        """What candidates that passed do on the tests' arguments and on others like them."""


@dataclass(frozen=True, slots=True)
class Oracle:
    """Functions of modules, as (path, name), to be called in a process of their own with `tree`.

    The tests run in another process, which holds the tree of the Ask and never executes code of
    this one. `hidden` are files this one does not get, beside those that are tests by their name.
    """

    tree: Tree
    functions: tuple[tuple[str, str], ...]
    hidden: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Ask:
    """One cold run; `shuffle` seeds its order and string hashes, `hashes` these alone.

    `warm`: a session on its tree is expected; `aside`: it makes way; `collect`: it runs no test.
    """

    tree: Tree
    tests: tuple[str, ...] | None = None
    spectrum: bool = False
    seconds: float | None = None
    shuffle: int | None = None
    oracle: Oracle | None = None
    warm: bool = False
    aside: bool = False
    collect: bool = False
    hashes: int | None = None


class Runner(Protocol):
    """Runs the target's tests in the sandbox; each keeps its first id, where ids change."""

    def preflight(self, run: Run, env: Environment) -> Isolation:
        """Prove the layers and the interpreter from inside; SandboxError when strict fails."""

    def collect(self, run: Run, tree: Tree, env: Environment) -> Collection:
        """Node ids as pytest collects them in this tree."""

    def run_many(self, run: Run, env: Environment, asks: Sequence[Ask]) -> tuple[SuiteRun, ...]:
        """Cold runs side by side, as many as the machine has cores; results in the order asked."""

    def warm(
        self, run: Run, tree: Tree, env: Environment, failing: Sequence[Failure],
        guards: Sequence[str],
    ) -> Session:  # fmt: skip
        """A session that judges candidates on failing tests first, then on passing guards."""

    def snippet(
        self, run: Run, tree: Tree, env: Environment, code: str, *, seconds: float = 20.0
    ) -> Observed:
        """A few lines of Python in a fresh copy of the tree, for what they print."""


@dataclass(frozen=True, slots=True)
class Observed:
    """What a snippet did: how it ended (exited, timeout, …), its exit code, what it printed."""

    how: str
    code: int
    output: str


@dataclass(frozen=True, slots=True)
class RunContext:
    """What travels together: the run, its edges, and the checkout and environment of the tests."""

    run: Run
    runner: Runner
    workspace: Workspace
    tree: Tree
    env: Environment

    def limited(self, share: float) -> RunContext:
        """The same for what may take this share of the time left."""
        deadline = min(self.run.deadline, self.run.clock() + share * self.run.left())
        return replace(self, run=replace(self.run, deadline=deadline))

    def provision(self, tree: Tree, hints: RunHints) -> Environment:
        """Another environment, in which tests are collected and get variables as in this one."""
        made, kept = self.workspace.provision(self.run, tree, hints), self.env
        return replace(made, doctests=kept.doctests, variables=kept.variables, suite=kept.suite)

    def run_many(self, asks: Sequence[Ask]) -> tuple[SuiteRun, ...]:
        """Cold runs side by side in the environment."""
        return self.runner.run_many(self.run, self.env, asks)

    def patched(self, files: Sequence[PatchedFile]) -> Tree:
        """A fresh checkout with these files replaced."""
        return self.workspace.patched(self.run, self.tree, files)


class Told(Protocol):
    """Reads off what a command wrote, and how it ended, which tests it ran."""

    def __call__(
        self,
        run: Run,
        tree: Tree,
        folder: Path,
        since: float,
        known: Sequence[str],
        done: Observed,
        /,
    ) -> tuple[CaseResult, ...]:
        """The results; `known` are the ids that pytest collects, as far as it can."""


class Lab(Protocol):
    """Looks at the project by running code in the sandbox; nothing of it counts as a verdict."""

    def snippet(self, code: str, edits: Sequence[Edit] = ()) -> Observed:
        """What `code` does at the root of the project, with these edits made."""


@dataclass(frozen=True, slots=True)
class Brief:
    """All a proposer may know about a cluster: sources, evidence, and every earlier attempt.

    `base` are confirmed edits that every candidate stands on, `spectrum` what the tests executed,
    `passed` the tests that pass without a change, `paths` the patterns of files that may change,
    `python` the version that runs.
    """

    cluster: Cluster
    tree: Tree
    attempts: tuple[Attempt, ...] = ()
    partial: tuple[Attempt, ...] = ()
    lessons: tuple[str, ...] = ()
    instruction: str = ""
    base: tuple[Edit, ...] = ()
    lock_hash: str = ""
    lab: Lab | None = None
    regressions: tuple[Regression, ...] = ()
    spectrum: Spectrum | None = None
    paths: tuple[str, ...] = ()
    python: str = ""
    passed: frozenset[str] = frozenset()


class Proposer(Protocol):
    """Proposes changes for a cluster.

    With `streams` the proposals do not depend on verdicts and may be judged in bulk; without it
    every verdict is in `recall()` before the next proposal is asked for.
    """

    @property
    def name(self) -> str:
        """How attempts and outcome name it: rules, claude, gemini, openai."""

    @property
    def streams(self) -> bool:
        """Whether candidates may be pulled ahead of their verdicts."""

    def propose(self, run: Run, recall: Recall) -> Iterator[Candidate]:
        """Candidates, the most likely first; ends when it has no more to say."""

    @property
    def notes(self) -> Sequence[str]:
        """What a person should know of it afterwards: a refused key, a spent budget."""

    def spent(self) -> Cost:
        """What the proposer cost so far, failed calls included."""


class Recall(Protocol):
    """The proposer's view of the ledger: called again, it tells what happened since."""

    def __call__(self) -> Brief: ...
    def reject(self, candidate: Candidate, reason: str) -> None:
        """Record a proposal that was refused before any run; it becomes an attempt."""

    def end(self, why: str, limit: str = "") -> None:
        """Say why no more comes, where it is not that all was said: stuck, or budget by a limit."""


class Critic(Protocol):
    """A second opinion on a confirmed patch; it can refuse and raise questions, never approve."""

    def opinion(self, run: Run, confirmed: Confirmed, brief: Brief, lab: Lab) -> Opinion:
        """What a reviewer should look at, in sentences; empty when nothing was found.

        The cluster of `brief` has the failures of the whole run.
        """


class Store(Protocol):
    """Keeps what is verified, so that a killed run leaves it behind."""

    def save(self, outcome: Outcome) -> None:
        """Replace the bundle atomically."""
