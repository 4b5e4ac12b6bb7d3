"""Repairs small projects with a real model, and asks the same model once without heal-bot.

For whoever has a key or a local server: `--provider claude|gemini|openai`, `--model NAME`, the key
in the variable that heal-bot reads, or `--base-url` for a server of one's own. `--suite own` needs
nothing more, `--suite quixbugs` a checkout of jkoppel/QuixBugs given by `--data`. A task is
plausible when its tests pass in the sandbox, and right when it also holds what no test says. The
naive single shot sees the functions of the file and the failures, and its one answer is run as
it is. Model replies are judged on this machine after the sandbox accepted them; run it where that
is fine.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks._cases import options_of
from benchmarks._taskfile import own
from benchmarks._tasks import Task, commit, judged, quixbugs
from heal_bot import api, wiring
from heal_bot.core import settings
from heal_bot.core.errors import HealBotError
from heal_bot.core.events import Event, ModelSpoke
from heal_bot.core.model import Candidate, RunHints
from heal_bot.core.settings import Settings
from heal_bot.ports import Ask, RunContext
from heal_bot.ports.language_model import Message, Model
from heal_bot.repair.llm.answer_parser import ReplyError, parse_answer
from heal_bot.repair.llm.model_proposer import ModelProposer
from heal_bot.source import edit, functions, guard, patch_policy
from heal_bot.verification.baseline import reproduce
from heal_bot.wiring.proposers import NOTHING, make_tiers

_KEYS = {
    "claude": ("ANTHROPIC_API_KEY", "anthropic_base_url"),
    "gemini": ("GEMINI_API_KEY", "gemini_base_url"),
    "openai": ("OPENAI_API_KEY", "openai_base_url"),
}
_SYSTEM = "You repair Python code. Answer with the corrected functions in one fenced block."
_ANSWER = 16_000


@dataclass(slots=True)
class Result:
    """One task, repaired in one way."""

    task: str
    plausible: bool = False
    right: bool = False
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    usd: float | None = 0.0
    seconds: float = 0.0
    problem: str = ""

    def hear(self, event: Event) -> None:
        """Count the calls and what they cost."""
        if not isinstance(event, ModelSpoke):
            return
        self.calls += event.kind == "request"
        if event.kind == "usage":
            self.input_tokens += event.input_tokens
            self.output_tokens += event.output_tokens
            self.cached_tokens += event.cached_tokens
            known = self.usd is not None and event.usd is not None
            self.usd = (self.usd or 0.0) + (event.usd or 0.0) if known else None


def ours(task: Task, repo: Path, chosen: Settings) -> Result:
    """The whole of heal-bot, with the model as its only tier."""
    result, started = Result(task.name), time.monotonic()
    job = wiring.HealJob(repo, repo.parent / "out", python=Path(sys.executable))
    try:
        record = api.heal(job, chosen, result.hear)
    except HealBotError as error:
        result.problem = str(error)
    else:
        result.plausible = record.status == "healed"
        if record.patch is not None and result.plausible:
            patched = {file.path: file.content for file in record.patch.files}
            result.right = judged(task, patched.get(task.path, ""))[1]
        result.problem = "" if result.plausible else record.reason
    result.seconds = round(time.monotonic() - started, 1)
    return result


def naive(task: Task, repo: Path, chosen: Settings) -> Result:
    """One question without memory, evidence, rails or search."""
    result, started = Result(task.name), time.monotonic()
    job = wiring.HealJob(repo, repo.parent / "out", python=Path(sys.executable))
    # A program without a time limit of its own would keep the sandbox for half an hour.
    with wiring.connect(job, chosen, result.hear, lambda: False) as made:
        run = made.run
        tree = made.workspace.checkout(run, made.request.base_sha)
        env = made.workspace.provision(run, tree, RunHints())
        made.runner.preflight(run, env)
        baseline = reproduce(RunContext(run, made.runner, made.workspace, tree, env), None)
        text = edit.text_of(tree, task.path)
        said = "\n".join(f"{f.test}: {f.kind}: {f.message[:500]}" for f in baseline.confirmed)
        model = _model(chosen, repo)
        question = f"{task.path}:\n```python\n{text}```\nThese tests fail:\n{said}\nFix the code."
        try:
            reply = model.ask(run, _SYSTEM, [Message("user", question)], _ANSWER)
            targets = functions.index_targets(task.path, text)
            found = parse_answer(
                reply.text, [t for t in targets if t.kind == "function"], {task.path: text}
            )
            candidate = Candidate(found.edits, model.provider, "naive")
            if reason := patch_policy.check_candidate(candidate, tree):
                raise ReplyError(reason)
            files = edit.patch_files(tree, candidate.edits)
        except (HealBotError, guard.SourceRejected) as error:
            result.problem = str(error)
        else:
            fresh = made.workspace.patched(run, tree, files)
            (suite,) = made.runner.run_many(run, env, [Ask(fresh, seconds=120.0)])
            red = [r.test for r in suite.results if r.outcome not in {"passed", "xfailed"}]
            result.plausible = suite.ended == "finished" and not red
            result.problem = "" if result.plausible else f"{len(red)} tests fail"
            if result.plausible:
                result.right = judged(task, files[0].content)[1]
    result.seconds = round(time.monotonic() - started, 1)
    return result


def _model(chosen: Settings, repo: Path) -> Model:
    proposer = make_tiers(chosen, repo, None, NOTHING).proposers[0]
    assert isinstance(proposer, ModelProposer)
    return proposer.models[0]


def _settings(options: argparse.Namespace) -> Settings:
    """Settings for the provider alone, from the environment and the options."""
    _, address = _KEYS[options.provider]
    given: dict[str, object] = {
        "proposers": (options.provider,), "model": options.model, "max_usd": options.max_usd,
        "max_attempts": options.max_attempts, "sandbox": options.sandbox,
        address: options.base_url,
    }  # fmt: skip
    return settings.load(os.environ, None, given)


def _sum(results: Sequence[Result]) -> dict[str, Any]:
    prices = [r.usd for r in results]
    return {
        "tasks": len(results),
        "plausible": sum(r.plausible for r in results),
        "right": sum(r.right for r in results),
        "calls": sum(r.calls for r in results),
        "input_tokens": sum(r.input_tokens for r in results),
        "output_tokens": sum(r.output_tokens for r in results),
        "cached_tokens": sum(r.cached_tokens for r in results),
        "usd": None if None in prices else round(sum(p or 0.0 for p in prices), 4),
        "seconds": round(sum(r.seconds for r in results), 1),
    }


def _options(argv: Sequence[str]) -> argparse.Namespace:
    parser = options_of("llm", __doc__)
    options = parser.parse_args(argv)
    if options.suite == "quixbugs" and options.data is None:
        parser.error("--suite quixbugs needs --data, a checkout of jkoppel/QuixBugs")
    return options


def main(argv: list[str]) -> int:
    """Run a suite in both ways; without a key it says so and measures nothing."""
    options = _options(argv)
    say: Callable[[str], None] = (lambda line: None) if options.json else print
    variable, _ = _KEYS[options.provider]
    if not (os.environ.get(variable) or options.base_url):
        reason = f"no model: set {variable}, or give --base-url"
        print(json.dumps({"reason": reason, "complete": False}))
        return 0
    chosen = _settings(options)
    tasks = own("missing logic") if options.suite == "own" else tuple(quixbugs(options.data))
    tasks = tuple(task for task in tasks if options.only in {"", task.name})
    kept: dict[str, list[Result]] = {"naive": [], "heal_bot": []}
    with tempfile.TemporaryDirectory(prefix="heal-bot-llm-") as folder:
        repo = Path(folder) / "repo"
        for task in tasks:
            for way, repair in (("naive", naive), ("heal_bot", ours)):
                commit(task, repo)
                result = repair(task, repo, chosen)
                kept[way].append(result)
                say(json.dumps({"way": way, **asdict(result)}))
    summary = {way: _sum(results) for way, results in kept.items()}
    said = {"provider": options.provider, "model": options.model, "suite": options.suite}
    print(json.dumps({**said, **summary, "complete": True}))
    return 0
