"""A case on a GitHub of the loopback: its history, the red job's checkout and report."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.street import plain, planted
from benchmarks.street.clones import Clone, find
from benchmarks.street.planted import Grown
from benchmarks.street.recipes import Recipe
from tests.github_server.repository import GitRepository
from tests.github_server.runner import COMMAND, Runner, outputs
from tests.github_server.server import LoopbackGitHub, serving

SECONDS = 25 * 60
_MODEL_SECONDS = 65 * 60
# What the README's snippet gives.
SNIPPET = {"junit": "junit.xml"}
_ADA = ("Ada", "ada@example.invalid", "2026-11-01T00:00:00+00:00")


@dataclass(frozen=True, slots=True)
class Engine:
    """What is measured: the Python that has it, its commit, inputs over the snippet's."""

    python: str
    version: str
    inputs: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Ended:
    """What the action left: exit code, log, outputs, what people see, the bundle's data.

    `opened` has the title of each pull request, and whether it is a draft.
    """

    code: int
    log: str
    seconds: float
    outputs: Mapping[str, str] = field(default_factory=dict)
    shown: str = ""
    pulls: int = 0
    comments: int = 0
    outcome: Mapping[str, Any] = field(default_factory=dict)
    events: Sequence[Mapping[str, Any]] = ()
    late: bool = False
    opened: Sequence[tuple[str, bool]] = ()


@dataclass(frozen=True, slots=True)
class Stage:
    """A GitHub and a job on it with its checkout; `before` is what was pushed onto.

    `culprit` is the commit that broke the tests, where that is known, of so many pushed `commits`.
    """

    github: LoopbackGitHub
    runner: Runner
    before: str
    given: Mapping[str, str] = field(default_factory=dict)
    culprit: str = ""
    commits: int = 1

    def act(self, engine: Engine) -> Ended:
        """The action on a push, with the inputs of the README's snippet, as a process."""
        import time

        runner, given = self.runner, {**SNIPPET, **self.given, **engine.inputs}
        environ = {**runner.environ("push", given), **_set_up(runner.workspace)}
        (runner.files / "event.json").write_text(json.dumps(self._event()))
        environ["PATH"] = "/usr/local/bin:/usr/bin:/bin"
        limit = _MODEL_SECONDS if "openai-base-url" in given else SECONDS
        begin, late = time.monotonic(), False
        try:
            done = subprocess.run(
                [engine.python, *COMMAND[1:]], env=environ, cwd=runner.workspace, text=True,
                capture_output=True, errors="replace", timeout=limit,
            )  # fmt: skip
            code, log = done.returncode, done.stdout + done.stderr
        except subprocess.TimeoutExpired as error:
            code, log, late = -1, str(error.stdout or ""), True
        return self._ended(code, log, time.monotonic() - begin, late)

    def _ended(self, code: int, log: str, seconds: float, late: bool) -> Ended:
        files, bundle = self.runner.files, self.runner.workspace / ".heal-bot/bundle"
        world = self.github.world
        pulls = [pull for pull in world.pulls.values() if pull.head.startswith("heal-bot/")]
        summary = _text(files / "summary")
        shown = [summary, log, *(f"{pull.title}\n{pull.body}" for pull in pulls)]
        comments = [c.body for c in world.comments.values() if c.user != "ada"]
        shown += comments
        outcome = _text(bundle / "outcome.json")
        events = [json.loads(line) for line in _text(bundle / "events.jsonl").splitlines()]
        return Ended(
            code, log, round(seconds, 1), outputs(_text(files / "output")), "\n".join(shown),
            len(pulls), len(comments), json.loads(outcome) if outcome else {}, events, late,
            [(pull.title, pull.draft) for pull in pulls],
        )  # fmt: skip

    def _event(self) -> dict[str, Any]:
        """A push to the main branch."""
        ada = {"login": "ada", "type": "User"}
        repository = {"full_name": self.github.world.name, "default_branch": "main"}
        return {"ref": "refs/heads/main", "before": self.before, "after": self.runner.sha,
                "repository": repository, "sender": ada}  # fmt: skip


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""


@contextmanager
def staged(recipe: Recipe, data: Path, folder: Path) -> Iterator[Stage]:
    """A recipe's red commit on its real history, checked out as actions/checkout does."""
    clone = find(data, recipe.repository)

    def red(git: GitRepository) -> Grown:
        borrow(git, clone)
        if recipe.planted is not None:
            return planted.grow(git, recipe)
        if recipe.culprit is not None:
            return _with_tests_before(git, recipe, recipe.culprit)
        if recipe.part == "situations":
            head = _left_behind(git, recipe)
            return Grown(recipe.base, head, head)
        if recipe.tests:
            return Grown(recipe.base, _with_tests(git, recipe, recipe.base))
        return Grown(git.commit(recipe.base).parents[0], recipe.base, recipe.base)

    with opened(folder, recipe.repository, red) as stage:
        yield stage


@contextmanager
def opened(folder: Path, repository: str, red: Callable[[GitRepository], Grown]) -> Iterator[Stage]:
    """A GitHub with the branch that `red` grows."""
    with serving(folder / "github", name=repository) as github:
        git = github.world.git
        before, sha, culprit = red(git)
        git.set_ref("refs/heads/main", sha)
        commits = int(git.git("rev-list", "--count", "--first-parent", f"{before}..{sha}"))
        runner = check_out(github, folder, sha)
        yield Stage(github, runner, before, culprit=culprit, commits=commits)


def borrow(git: GitRepository, clone: Clone) -> None:
    """Let the repository read the objects of a clone, and have its tags."""
    (git.path / "objects/info").mkdir(parents=True, exist_ok=True)
    (git.path / "objects/info/alternates").write_text(f"{clone.path.resolve() / 'objects'}\n")


def _with_tests(git: GitRepository, recipe: Recipe, base: str) -> str:
    """The commit that brings the tests of the fix, and nothing else of it."""
    tree = _mixed(git, base, recipe.fix, recipe.tests)
    return git.save_commit("Add tests", tree, [base], _ADA, _ADA)


def _with_tests_before(git: GitRepository, recipe: Recipe, culprit: str) -> Grown:
    """The commits from the culprit's on, with the tests of the fix in place before them."""
    first = git.commit(culprit).parents[0]
    grown = [_with_tests(git, recipe, first)]
    for sha in git.log("--first-parent", f"{first}..{recipe.base}"):
        real, tree = git.commit(sha), _mixed(git, sha, recipe.fix, recipe.tests)
        parents = grown[-1:]
        grown.append(git.save_commit(real.message, tree, parents, real.author, real.committer))
    return Grown(grown[0], grown[-1], grown[1])


def _left_behind(git: GitRepository, recipe: Recipe) -> str:
    """The real commit, but for its tests."""
    real = git.commit(recipe.fix)
    tree = _mixed(git, recipe.fix, recipe.base, recipe.tests)
    return git.save_commit(real.message, tree, [recipe.base], real.author, real.committer)


def _mixed(git: GitRepository, base: str, other: str, paths: Sequence[str]) -> str:
    """The tree of a commit, some paths of it as another commit has them, or has not."""
    there = {entry.path: entry for entry in git.entries(other, recursive=True)}
    changes = [
        (there[path].mode, path, there[path].sha) if path in there else ("100644", path, None)
        for path in paths
    ]
    return git.save_tree(base, changes)


def check_out(github: LoopbackGitHub, folder: Path, sha: str) -> Runner:
    """The workspace of a job, one commit deep, and the runner of the job."""
    workspace, files = folder / "work", folder / "files"
    files.mkdir()
    address = f"{github.url}/{github.world.name}.git"
    clone = ["git", "clone", "--quiet", "--depth", "1", address, str(workspace)]
    subprocess.run(clone, check=True, timeout=300, capture_output=True)
    return Runner(github.url, workspace, files, sha, github.world.name)


def _set_up(workspace: Path) -> dict[str, str]:
    """What setup-python leaves in a job's environment, where a workflow of the project has it."""
    workflows = (workspace / ".github/workflows").glob("*.y*ml")
    if not any(b"actions/setup-python@" in path.read_bytes() for path in workflows):
        return {}
    settings = workspace.parent / "venv/pyvenv.cfg"
    made = settings.read_text(encoding="utf-8") if settings.is_file() else "version = 3.11.9"
    version = next(v.strip() for k, _, v in (line.partition("=") for line in made.splitlines())
                   if k.strip() in {"version", "version_info"})  # fmt: skip
    return {"pythonLocation": f"/opt/hostedtoolcache/Python/{version}/x64"}


def record(stage: Stage, recipe: Recipe, venv: Path, data: Path) -> None:
    """The red job: a plain environment outside the workspace, and the report it leaves there."""
    workspace = stage.runner.workspace
    plain.make(workspace, venv, recipe.python, data)
    plain.complete(workspace, venv, data)
    plain.report(workspace, venv, data, workspace / "junit.xml")
