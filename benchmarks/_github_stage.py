"""A repository on the loopback GitHub, events for it, and the whole action run against it."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks._cases import read_cases
from heal_bot.action.action_context import ActionContext
from heal_bot.action.dispatch import serve
from heal_bot.action.worker_process import Task
from heal_bot.core.errors import HealBotError
from heal_bot.core.outcome import OutcomeRecord
from tests.github_server import records
from tests.github_server.runner import Runner, outputs
from tests.github_server.server import LoopbackGitHub, serving
from tests.github_server.world import BOT, Pull, Run

# Built from parts, so that no scanner takes it for a real one.
TOKEN = "ghs_" + "LoopbackTokenForTheBenchmark0000001"
REPO = "octo/shop"
HERE = {"full_name": REPO, "default_branch": "main"}
ADA = ("Ada", "ada@example.invalid", "2026-01-03T00:00:00+00:00")
JUNIT = """<testsuite name="pytest" tests="1" failures="1"><testcase
 classname="tests.test_pricing" name="test_total"><failure message="assert 2 == 3">E assert 2 == 3
</failure></testcase></testsuite>"""
REPORT = {"junit.xml": JUNIT}
BRANCH = "heal-bot/0123456789ab"
_EVENTS: dict[str, Any] = read_cases("events")
Values = Callable[[str], dict[str, Any]]
Event = tuple[str, dict[str, Any]]


def zipped(files: Mapping[str, str] = REPORT) -> bytes:
    """An artifact with these files."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return data.getvalue()


def send(kind: str, **known: object) -> Event:
    """What GitHub sends, with what is known in the place of names that begin with $."""
    row = _EVENTS[kind]
    return row["event"], {"repository": HERE, **_fill(row["payload"], known)}


def _fill(told: Any, known: Mapping[str, object]) -> Any:  # noqa: ANN401 - as JSON has it
    if isinstance(told, dict):
        return {name: _fill(value, known) for name, value in told.items()}
    if isinstance(told, str) and told.startswith("$"):
        name, _, part = told[1:].partition(".")
        return getattr(known[name], part) if part else known[name]
    return told


def _user(login: str) -> dict[str, str]:
    return {"login": login, "type": "Bot" if login.endswith("[bot]") else "User"}


@dataclass
class Stage:
    """One scenario's repository, what was said, and the human commits that must survive."""

    github: LoopbackGitHub
    folder: Path
    base: str
    said: list[str] = field(default_factory=list)
    humans: list[tuple[str, str]] = field(default_factory=list)
    values: Values = records.data
    healed: list[Task] = field(default_factory=list)
    inputs: dict[str, str] = field(default_factory=dict)
    runner: dict[str, str] = field(default_factory=dict)
    meanwhile: Callable[[], object] = lambda: None
    token: str = TOKEN
    healer: Callable[[Task], OutcomeRecord] | None = None
    now: float = 0.0
    status: str = ""
    delivery: str = ""
    requests: int = 0

    # -- the world -------------------------------------------------------------------------------

    def commit(self, branch: str, path: str, text: str) -> str:
        """A person's commit, which nothing may lose."""
        git = self.github.world.git
        head = self.github.world.branch(branch) or self.base
        tree = git.save_tree(head, [("100644", path, git.save_blob(text.encode()))])
        sha = git.save_commit("By hand", tree, [head], ADA, ADA)
        git.set_ref(f"refs/heads/{branch}", sha)
        self.humans.append((branch, sha))
        return sha

    def loose(self) -> str:
        """A commit on no branch."""
        git = self.github.world.git
        return git.save_commit("Loose", git.commit(self.base).tree, [self.base], ADA, ADA)

    def pull(self, author: str = "ada", repo: str = REPO, branch: str = "feature") -> Pull:
        """A person's open pull request."""
        if repo == REPO and self.github.world.branch(branch) is None:
            self.commit(branch, "NEWS.md", "News\n")
        head = self.github.world.branch(branch) if repo == REPO else self.base
        return self.github.world.add_pull(
            title="t", body="", head=branch, base="main", user=author, head_repo=repo,
            head_sha=head or self.base,
        )  # fmt: skip

    def red(self, branch: str = "main", **changes: object) -> Run:
        """A red workflow run with a report among its artifacts."""
        world = self.github.world
        sha = world.branch(branch) or self.base
        run = Run(500 + len(world.runs), sha, branch, artifacts={"junit-3.12": zipped()})
        for name, value in changes.items():
            setattr(run, name, value)
        world.runs[run.id] = run
        return run

    def comment(self, body: str = "/heal", actor: str = "ada", pull: Pull | None = None) -> Event:
        """An `issue_comment` event for a comment that is really there."""
        pull = pull or self.pull()
        said = self.github.world.add_comment(pull.number, actor, body)
        return send("comment", pull=pull, said=said, body=body, user=_user(actor))

    def commit_comment(self, body: str, actor: str = "ada") -> Event:
        """A `commit_comment` event on the newest commit of main."""
        sha = self.github.world.branch("main")
        return send("commit comment", body=body, user=_user(actor), sha=sha)

    def _on(self, kind: str, pull: Pull, **known: object) -> Event:
        labels = [{"name": name} for name in pull.labels]
        return send(kind, pull=pull, labels=labels, base=self.base, user=_user("ada"), **known)

    def line_comment(
        self, pull: Pull, path: str, line: int, body: str = "/heal tax first"
    ) -> Event:
        """A `pull_request_review_comment` event."""
        return self._on("line comment", pull, path=path, line=line, body=body)

    def review(self, pull: Pull, body: str = "/heal") -> Event:
        """A `pull_request_review` event."""
        return self._on("review", pull, body=body)

    def finished(self, run: Run, pull: Pull | None = None) -> Event:
        """A `workflow_run` event."""
        return send(
            "finished", run=run, started=run.started or run.created, repository=run.repo or REPO,
            pulls=[{"number": pull.number}] if pull else [],
        )  # fmt: skip

    def dispatch(self, **payload: object) -> Event:
        """A `repository_dispatch` event."""
        return send("dispatch", payload=payload)

    def pushed(self) -> Event:
        """A `push` event; the failed run is this very job."""
        return send("pushed")

    def pull_event(self, pull: Pull) -> Event:
        """A `pull_request` event."""
        return self._on("pull event", pull)

    def environ(self, name: str, run_id: int = 900, attempt: int = 1) -> dict[str, str]:
        """The environment of the step."""
        runner = Runner(
            self.github.url, self.folder, self.folder, self.base, REPO, run_id=run_id,
            attempt=attempt, token=self.token,
        )  # fmt: skip
        return {"PATH": os.defpath, **runner.environ(name, self.inputs), **self.runner}

    def act(self, event: Event, run_id: int = 900, attempt: int = 1) -> None:
        """The whole action in this process; healing gives the prepared record."""
        name, payload = event
        path = self.folder / "event.json"
        path.write_text(json.dumps(payload))
        (self.folder / "output").unlink(missing_ok=True)
        before = len(self.github.exchanges)
        heard = io.StringIO()
        with contextlib.redirect_stdout(heard), contextlib.redirect_stderr(heard):
            job = ActionContext.of(self.environ(name, run_id, attempt))
            job = replace(job, now=lambda: self.now)
            try:
                serve(job, name, path, self._heal)
            except HealBotError as error:
                print(f"failed: {error}")
                job.fail(error)
        self.said.append(heard.getvalue())
        self.requests = len(self.github.exchanges) - before
        self.read_outputs()

    def _heal(self, job: ActionContext, task: Task) -> OutcomeRecord:
        self.healed.append(task)
        if self.healer is not None:
            healed = self.healer(task)
            self.meanwhile()
            return healed
        record = records.record(self.values(task.request.base_sha))
        self.meanwhile()
        return record

    def read_outputs(self) -> None:
        """Status and delivery as the runner would see them."""
        path = self.folder / "output"
        told = outputs(path.read_text()) if path.exists() else {}
        self.status, self.delivery = told.get("status", ""), told.get("delivery", "")

    def start(self, event: Event, attempt: int = 1) -> subprocess.Popen[str]:
        """The same run as a process of its own."""
        name, payload = event
        (self.folder / "event.json").write_text(json.dumps(payload))
        prepared = self.folder / "values.json"
        prepared.write_text(json.dumps(self.values("5" * 40)))
        return subprocess.Popen(
            [sys.executable, "-m", "benchmarks._github_stage", str(prepared)],
            env=self.environ(name, attempt=attempt),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            cwd=Path(__file__).parent.parent,
        )

    def end(self, process: subprocess.Popen[str]) -> int:
        """Wait for a run and keep what it said."""
        out, _ = process.communicate(timeout=60)
        self.said.append(out)
        return process.returncode

    def stop_at(self, number: int, when: str, sign: signal.Signals) -> Callable[[int], None]:
        """Signal the process that is set, when the request of that number arrives or took effect.

        Returns the setter.
        """
        pids: list[int] = []

        def watch(at: int, moment: str) -> None:
            if pids and at == number and moment == when:
                os.kill(pids.pop(), sign)

        self.github.watch = watch
        return pids.append

    def once(self, action: Callable[[], object]) -> None:
        """Do this while the next run heals."""

        def act() -> None:
            self.meanwhile = lambda: None
            action()

        self.meanwhile = act

    def ours(self) -> list[Pull]:
        """Our open pull requests."""
        return [p for p in self.github.world.pulls.values() if p.user == BOT and p.state == "open"]

    def bodies(self) -> list[str]:
        """Everything that is shown on GitHub in our name."""
        world = self.github.world
        texts = [p.body for p in world.pulls.values() if p.user == BOT]
        texts += [c.body for c in world.comments.values() if c.user == BOT]
        texts += [r.body for r in world.reviews.values()]
        texts += [c.body for c in world.line_comments.values()]
        return texts + [c.get("output", {}).get("summary", "") for c in world.checks.values()]

    def duplicates(self) -> int:
        """Comments, pull requests and branches of ours beyond the first of each kind."""
        world = self.github.world
        seen: dict[tuple[Any, ...], int] = {}
        for comment in world.comments.values():
            if comment.user == BOT:
                key = ("comment", comment.issue, comment.body.split("\n", 1)[0])
                seen[key] = seen.get(key, 0) + 1
        for pull in self.ours():
            seen["pull", pull.head] = seen.get(("pull", pull.head), 0) + 1
        for review in world.reviews.values():
            key = ("review", review.pull, review.body.split("\n", 1)[0])
            seen[key] = seen.get(key, 0) + 1
        return sum(count - 1 for count in seen.values())

    def lost(self) -> int:
        """Human commits that no branch holds any more."""
        git, world = self.github.world.git, self.github.world
        return sum(
            not (tip := world.branch(branch)) or not git.is_ancestor(sha, tip)
            for branch, sha in self.humans
        )


@contextlib.contextmanager
def staged() -> Iterator[Stage]:
    """A fresh stage with one planted bug on `main`."""
    with tempfile.TemporaryDirectory(prefix="heal-bot-github-") as name:
        folder = Path(name)
        with serving(folder / "github") as github:
            github.world.tokens[TOKEN] = BOT
            base = github.world.git.import_folder(
                records.write(folder / "source", records.FILES), "First"
            )
            work = folder / "work"
            work.mkdir()
            yield Stage(github, work, base)


def main(prepared: Path) -> int:
    """The whole action as this process; healing gives the record in the file that is named.

    1 where it fails as expected failures do.
    """
    values = json.loads(prepared.read_text())

    def heal(job: ActionContext, task: Task) -> OutcomeRecord:
        sha = task.request.base_sha
        values["patch"]["base_sha"] = values["certificate"]["base_sha"] = sha
        values["request"]["base_sha"] = sha
        return records.record(values)

    environ = dict(os.environ)
    try:
        serve(
            ActionContext.of(environ),
            environ["GITHUB_EVENT_NAME"],
            Path(environ["GITHUB_EVENT_PATH"]),
            heal,
        )
    except HealBotError as error:
        print(f"failed: {error}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
