"""A small project whose red run goes through the action as it ships, and what should come of it."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heal_bot.core import bundle
from heal_bot.core.errors import HealBotError
from heal_bot.core.outcome import OutcomeRecord
from tests.github_server import records
from tests.github_server.runner import Runner, outputs
from tests.github_server.server import LoopbackGitHub, serving
from tests.llm_clients.server import Answer, Scripted, says, served

SECONDS = 300
# What the README's snippet gives, beside a key.
SNIPPET = {"junit": "junit.xml"}
_HEALED = frozenset({"healed", "partly_healed"})


@dataclass(frozen=True)
class Case:
    """A project at the commit that is red, and what is right to say of it.

    `report` is the JUnit XML of the red run: None for one that pytest writes in an environment
    made of `requirements.txt`, "" for none. `answer` is a model's: from a prompt to a text.
    `hidden` is a test file that passes on what is proposed. `fault` says what is wrong with the
    outcome, "" for nothing; `says` and `never` are looked for in all that is shown to people. `on`
    is "push" or "comment", `below` the folder where the tests are started.
    """

    name: str
    files: Mapping[str, str]
    status: str
    says: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    inputs: Mapping[str, str] = field(default_factory=dict)
    report: str | None = None
    answer: Callable[[str], str] | None = None
    fault: Callable[[OutcomeRecord], str] | None = None
    hidden: str = ""
    on: str = "push"
    below: str = ""


@dataclass(frozen=True)
class Ended:
    """What a run of the action left: its log, its outputs, what people see, the proposals."""

    code: int
    log: str
    outputs: Mapping[str, str]
    shown: str
    proposals: tuple[str, ...]
    outcome: OutcomeRecord | None


def judge(case: Case) -> tuple[str, str]:
    """The status that the action ended with, and what is wrong with the run; "" for nothing."""
    with tempfile.TemporaryDirectory(prefix="heal-bot-harm-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with serving(folder / "github") as github, _model(case) as model:
            source = records.write(folder / "source", dict(case.files))
            sha = github.world.git.import_folder(source, "First")
            runner = _checkout(folder, github, sha)
            if case.report is None:
                record_red_run(runner.workspace, case.below)
            elif case.report:
                (runner.workspace / "junit.xml").write_text(case.report)
            try:
                ended = _act(case, github, runner, model)
            except subprocess.TimeoutExpired:
                return "none", f"did not end within {SECONDS} s"
            why = _wrong(case, ended, github) or _hidden(case, ended, folder, github)
            return ended.outputs.get("status", "none"), why


def _checkout(folder: Path, github: LoopbackGitHub, sha: str) -> Runner:
    """The workspace as actions/checkout leaves it, and the runner of the job."""
    workspace, files = folder / "work", folder / "files"
    files.mkdir()
    address = f"{github.url}/{github.world.name}.git"
    clone = ["git", "clone", "--quiet", "--depth", "1", address, str(workspace)]
    subprocess.run(clone, check=True, timeout=60)
    return Runner(github.url, workspace, files, sha, github.world.name)


def record_red_run(workspace: Path, below: str = "", python: str = sys.executable) -> None:
    """The red run of a job as the README has it: its environment, and the report it leaves."""
    uv = str(Path(sys.executable).with_name("uv"))
    quiet = {"check": True, "capture_output": True, "cwd": workspace, "timeout": 120}
    subprocess.run([uv, "venv", "--quiet", "--python", python, ".venv"], **quiet)
    wanted = ["-r", "requirements.txt"] if (workspace / "requirements.txt").exists() else []
    subprocess.run(
        [uv, "pip", "install", "--quiet", "--python", ".venv/bin/python", "pytest", *wanted],
        **quiet,
    )
    subprocess.run(
        [workspace / ".venv/bin/pytest", "-q", f"--junitxml={workspace / 'junit.xml'}"],
        cwd=workspace / below, capture_output=True, timeout=120,
    )  # fmt: skip


@contextmanager
def _model(case: Case) -> Iterator[Scripted | None]:
    """A model on the loopback that answers as the case says, or none."""
    answer = case.answer
    with served() if answer is not None else nullcontext() as scripted:
        if scripted is not None and answer is not None:

            def reply(request: dict[str, Any]) -> Answer:
                text = "\n\n".join(str(part["content"]) for part in request["messages"])
                return says("openai", answer(text))

            scripted.reply = reply
        yield scripted


def _act(case: Case, github: LoopbackGitHub, runner: Runner, model: Scripted | None) -> Ended:
    """One run of the action, with the inputs of the README's snippet and those of the case."""
    given = {**(SNIPPET if case.report != "" else {}), **case.inputs}
    if model is not None:
        given |= {"openai-base-url": f"{model.url}/v1", "openai-api-key": "key-for-tests"}
    event, payload = _event(case, github, runner.sha)
    (runner.files / "event.json").write_text(json.dumps(payload))
    done = runner.start(event, given, seconds=SECONDS)
    output, summary = runner.files / "output", runner.files / "summary"
    told = outputs(output.read_text()) if output.exists() else {}
    world = github.world
    ours = [pull for pull in world.pulls.values() if pull.head.startswith("heal-bot/")]
    texts = [summary.read_text() if summary.exists() else "", done.stdout, done.stderr]
    texts += [f"{pull.title}\n{pull.body}" for pull in ours]
    texts += [comment.body for comment in world.comments.values() if comment.user != "ada"]
    try:
        outcome = bundle.read(runner.workspace / ".heal-bot/bundle")
    except HealBotError:
        outcome = None
    heads = tuple(pull.head for pull in ours)
    return Ended(done.returncode, done.stdout + done.stderr, told, "\n".join(texts), heads, outcome)


def _event(case: Case, github: LoopbackGitHub, sha: str) -> tuple[str, dict[str, Any]]:
    """The event of the job: a push, or a `/heal` comment on a pull request of the red commit."""
    world, ada = github.world, {"login": "ada", "type": "User"}
    event: dict[str, Any] = {
        "repository": {"full_name": world.name, "default_branch": "main"},
        "sender": ada,
    }
    if case.on == "push":
        return "push", event
    world.git.set_ref("refs/heads/feature", sha)
    pull = world.add_pull(title="t", body="", head="feature", base="main", user="ada",
                          head_repo=world.name, head_sha=sha)  # fmt: skip
    said = world.add_comment(pull.number, "ada", "/heal")
    comment = {"id": said.id, "body": said.body, "user": ada}
    issue = {"number": pull.number, "pull_request": {}}
    return "issue_comment", {**event, "action": "created", "issue": issue, "comment": comment}


def _wrong(case: Case, ended: Ended, github: LoopbackGitHub) -> str:
    """What is wrong with how the run ended; "" for nothing."""
    status = ended.outputs.get("status", "none")
    if status != case.status:
        return f"{status}, not {case.status}: {ended.outputs.get('reason', '')}{ended.log[-600:]}"
    if ended.code != 0 or "Traceback" in ended.log:
        return f"exit {ended.code}: {ended.log[-600:]}"
    if github.violations:
        return f"GitHub would refuse: {github.violations[:2]}"
    comments = [c for c in github.world.comments.values() if c.user != "ada"]
    if len(comments) != int(case.on == "comment"):
        return f"{len(comments)} comments"
    proposed = status in _HEALED and case.inputs.get("mode") != "dry-run"
    if len(ended.proposals) != int(proposed):
        return f"{len(ended.proposals)} pull requests"
    for text in case.says:
        if text not in ended.shown:
            return f"nowhere says {text!r}"
    for text in case.never:
        if text in ended.shown:
            return f"says {text!r}"
    if case.fault is None:
        return ""
    return case.fault(ended.outcome) if ended.outcome is not None else "left no outcome"


def _hidden(case: Case, ended: Ended, folder: Path, github: LoopbackGitHub) -> str:
    """What the hidden tests say of the proposal; "" where they pass or there are none."""
    if not case.hidden or not ended.proposals:
        return ""
    clone = folder / "proposal"
    address = f"{github.url}/{github.world.name}.git"
    argv = ["git", "clone", "--quiet", "--branch", ended.proposals[0], address, str(clone)]
    subprocess.run(argv, check=True, timeout=60)
    (clone / "test_hidden_behaviour.py").write_text(case.hidden)
    python = folder / "work/.venv/bin/python"
    done = subprocess.run(
        [str(python if python.exists() else sys.executable), "-m", "pytest", "-q",
         "test_hidden_behaviour.py"],
        cwd=clone, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    return "" if done.returncode == 0 else f"the hidden tests fail: {done.stdout[-600:]}"
