"""Small real things behind the ports, for tests that need no sandbox."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heal_bot.core.events import Event, Run
from heal_bot.core.model import (
    Bump,
    Calls,
    Candidate,
    CaseResult,
    ChangedFile,
    Commit,
    Cost,
    Environment,
    Failure,
    Isolation,
    Outcome,
    PatchedFile,
    Removal,
    SuiteRun,
    Verdict,
)
from heal_bot.ports import Ask, RunContext
from heal_bot.source.edit import patch_files

SHA = "1" * 40
RED = '<failure message="assert 1 == 2">tests/test_a.py:1: AssertionError</failure>'
ISOLATION = Isolation("strict", ("landlock", "seccomp", "uid"))
ENVIRONMENT = Environment("/usr/bin/python3", "3.11.2", "/usr", "/usr", ("/usr",))


def quiet_run(**fields: Any) -> tuple[Run, list[Event]]:
    """A run and the list its events go to."""
    events: list[Event] = []
    return Run(events.append, **fields), events


def context_of(
    run: Run, runner: Any, tree: Any, workspace: Any = None, env: Environment = ENVIRONMENT
) -> RunContext:
    """What stages get, for fakes; those that make no checkout need no workspace."""
    return RunContext(run, runner, workspace, tree, env)


@dataclass(frozen=True)
class FolderTree:
    """A tree whose files lie in a folder."""

    root: Path
    sha: str = SHA
    tree_sha: str = "2" * 40

    @classmethod
    def of(cls, root: Path, files: dict[str, str]) -> FolderTree:
        for path, text in files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return cls(root)

    def paths(self) -> tuple[str, ...]:
        files = (p for p in self.root.rglob("*") if p.is_file())
        return tuple(sorted(str(p.relative_to(self.root)) for p in files))

    def read(self, path: str) -> bytes:
        outside = path.startswith("/") or ".." in path.split("/")
        if outside or not (self.root / path).is_file():
            raise KeyError(path)
        return (self.root / path).read_bytes()

    def blob(self, path: str) -> str:
        data = self.read(path)
        return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return {}

    def changed_paths(self) -> tuple[str, ...]:
        others = {p for p in self.paths() if self.former(p) not in {None, self.read(p)}}
        return tuple(sorted({*self.changed_lines(), *others}))

    def former(self, path: str) -> bytes | None:
        return None

    def changed_by(self, path: str) -> str:
        return ""

    def blamed(self, path: str, line: int) -> tuple[str, str]:
        return "", ""

    def removal(self, path: str, name: str) -> Removal | None:
        return None


@dataclass
class FolderWorkspace:
    """Writes patched trees beside each other."""

    folder: Path
    made: int = 0
    tampered: bool = False

    def changed(self, env: Environment) -> bool:
        return self.tampered

    def checkout(self, run: Run, sha: str) -> FolderTree:
        raise AssertionError("tests hand over their tree")

    def date_content(self, run: Run, tree: object) -> float:
        return 0.0

    def commits(self, run: Run, good: str, bad: str) -> tuple[Commit, ...]:
        return ()

    def changes(self, run: Run, good: str, bad: str) -> tuple[ChangedFile, ...]:
        return ()

    def since(self, tree: FolderTree, sha: str) -> FolderTree:
        return tree

    def provision(self, run: Run, tree: object, hints: object) -> Environment:
        return ENVIRONMENT

    def former_versions(self, *arguments: object) -> tuple[Bump, ...]:
        return ()

    def patched(self, run: Run, tree: FolderTree, files: Sequence[PatchedFile]) -> FolderTree:
        self.made += 1
        texts = {path: tree.read(path).decode() for path in tree.paths()}
        texts |= {file.path: file.content for file in files}
        return FolderTree.of(self.folder / f"patched{self.made}", texts)


@dataclass
class ScriptedRunner:
    """Answers each cold run with the next suite of a list, the last one for ever."""

    suites: list[SuiteRun]
    asked: list[tuple[Path, tuple[str, ...] | None]] = field(default_factory=list)

    def run(
        self, run: Run, tree: Any, env: Environment, tests: Any = None, **options: Any
    ) -> SuiteRun:
        self.asked.append((tree.root, tuple(tests) if tests is not None else None))
        return self.suites.pop(0) if len(self.suites) > 1 else self.suites[0]

    def run_many(self, run: Run, env: Environment, asks: Sequence[Ask]) -> tuple[SuiteRun, ...]:
        return tuple(self.run(run, ask.tree, env, ask.tests) for ask in asks)


@dataclass
class ExecSession:
    """Judges candidates by executing the patched module `path` and calling each check."""

    tree: FolderTree
    path: str
    checks: dict[str, Callable[[dict[str, Any]], bool]]
    guards: dict[str, Callable[[dict[str, Any]], bool]] = field(default_factory=dict)
    judged: int = 0
    calls: Callable[[Sequence[Candidate]], Calls] = lambda candidates: Calls()

    def judge(self, candidates: Iterable[Candidate]) -> Generator[Verdict, None, None]:
        for candidate in candidates:
            self.judged += 1
            files = {file.path: file.content for file in patch_files(self.tree, candidate.edits)}
            source = files.get(self.path, self.tree.read(self.path).decode())
            fixed = tuple(test for test, check in self.checks.items() if _passes(source, check))
            left = tuple(
                Failure(test, "AssertionError", f"{test} after candidate {self.judged}")
                for test in self.checks
                if test not in fixed
            )
            broken = tuple(
                Failure(test, "AssertionError", "broke")
                for test, check in self.guards.items()
                if not _passes(source, check)
            )
            status = "unchanged" if left and not fixed else "improved" if left else "fixed"
            if broken and fixed:
                status = "regression"
            yield Verdict(status, fixed, left, broken)

    def call(self, candidates: Sequence[Candidate], seed: int = 0) -> Calls:
        return self.calls(candidates)

    def __enter__(self) -> ExecSession:
        return self

    def __exit__(self, *trace: object) -> None:
        return None


def _passes(source: str, check: Callable[[dict[str, Any]], bool]) -> bool:
    """Whether a check holds of a module; not where either raises what a wrong name or type does."""
    names: dict[str, Any] = {}
    try:
        exec(source, names)
        return check(names)
    except (AttributeError, ImportError, NameError, SyntaxError, TypeError):
        return False


@dataclass
class ListProposer:
    """Proposes what it was given, and keeps what it could recall before each proposal."""

    candidates: Sequence[Candidate]
    name: str = "list"
    streams: bool = True
    recalled: list[Any] = field(default_factory=list)
    notes: tuple[str, ...] = ()

    def propose(self, run: Run, recall: Any) -> Iterator[Candidate]:
        for candidate in self.candidates:
            self.recalled.append(recall())
            yield candidate
        self.recalled.append(recall())

    def spent(self) -> Cost:
        return Cost()


def suite(*results: CaseResult, ended: str = "finished", detail: str = "") -> SuiteRun:
    """A suite run that collected exactly what it has results of."""
    collected = tuple(result.test for result in results)
    return SuiteRun(results, collected, ended, 0.5, ISOLATION, detail)


def passed(test: str) -> CaseResult:
    return CaseResult(test, "passed", seconds=0.01)


def failed(test: str, message: str = "assert 1 == 2", kind: str = "AssertionError") -> CaseResult:
    return CaseResult(test, "failed", seconds=0.01, kind=kind, message=message)


class NoStore:
    """A store for runs in which nothing is verified."""

    def save(self, outcome: Outcome) -> None:
        raise AssertionError("nothing is verified in these runs")


def case(name: str, inside: str = "") -> str:
    """A test of `tests/test_a.py` in a report; `inside` is its failure, if it has one."""
    return f'<testcase classname="tests.test_a" name="test_{name}" time="0.1">{inside}</testcase>'
