"""The action in a real container: every trigger, what escapes from it, its size and start.

The Dockerfile is built as it stands and run as a runner runs it, against a GitHub on loopback.
Which engine ran is in the last line; without one the run fails.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import _engine, _timed
from benchmarks._cases import read_cases
from benchmarks._engine import Engine
from benchmarks._github_stage import Event, Stage, zipped
from benchmarks._step import Step
from benchmarks._timed import SHOP
from heal_bot.environments.interpreters import list_installed
from tests.github_server import records
from tests.github_server.server import LoopbackGitHub, serving
from tests.github_server.world import Review, Run
from tests.sandbox.engines import NoEngineError

TAG = "heal-bot:action-test"
RUN = 77
_RED = read_cases("red_project")
FILES: dict[str, str] = _RED["files"]
ARTIFACT: dict[str, str] = _RED["artifact"]
HOSTILE: str = _RED["hostile"]
# What the README's snippet gives, beside a key.
SNIPPET = {"junit": "junit.xml"}
ROUNDS = 5


@contextmanager
def github(files: Mapping[str, str]) -> Iterator[tuple[LoopbackGitHub, Step]]:
    """A GitHub with the files on main, and a runner's folders."""
    with tempfile.TemporaryDirectory(prefix="heal-bot-step-") as name:
        folder = Path(name)
        with serving(folder / "github") as running:
            source = records.write(folder / "source", dict(files))
            running.world.git.import_folder(source, "First")
            yield running, Step(folder / "job", running.url)


def left_behind(step: Step) -> None:
    """The environment of the failed job, as it looks in a container: its Python is elsewhere."""
    venv = step.workspace / ".venv"
    site = venv / "lib/python3.12/site-packages"
    for name in ("humanize-4.12.3", "pytest-8.3.5", "pytest_mock-3.14.0"):
        (site / f"{name}.dist-info").mkdir(parents=True)
    (venv / "bin").mkdir()
    (venv / "bin/python").symlink_to("/opt/hostedtoolcache/Python/3.12.4/x64/bin/python3.12")
    (venv / "pyvenv.cfg").write_text("home = /opt/hostedtoolcache/Python/3.12.4/x64/bin\n"
                                     "version = 3.12.4\n")  # fmt: skip


def _event(trigger: str, running: LoopbackGitHub, sha: str) -> Event:
    """The webhook of a trigger; what it tells of stands in the loopback GitHub too."""
    world, stage = running.world, Stage(running, Path(), sha)
    if trigger == "failure_step":
        return stage.pushed()
    world.runs[RUN] = Run(RUN, sha, "main", artifacts={"junit-unit": zipped(ARTIFACT)})
    if trigger == "workflow_run":
        return stage.finished(world.runs[RUN])
    if trigger == "dispatch":
        return stage.dispatch(sha=sha, branch="main", report=ARTIFACT["junit.xml"])
    world.git.set_ref("refs/heads/feature", sha)
    pull = stage.pull()
    if trigger == "comment":
        return stage.comment(pull=pull)
    # `/heal` on the line of the bug.
    path, said = "src/shop/pricing.py", world.next_id()
    line = FILES[path].splitlines().index("    return sum(prices[1:])") + 1
    remark = {"path": path, "line": line, "side": "RIGHT", "body": "/heal"}
    world.line_comments[said] = Review(said, pull.number, "ada", "/heal", sha, [remark])
    name, payload = stage.line_comment(pull, path, line, "/heal")
    payload["comment"]["id"] = said
    return name, payload


TRIGGERS = ("failure_step", "workflow_run", "comment", "review_comment", "dispatch")


def trigger(engine: Engine, name: str) -> dict[str, Any]:
    """One run of the action for one trigger."""
    with github(FILES) as (running, step):
        sha = step.checkout()
        inputs = {"proposers": "rules"}
        if name == "failure_step":
            (step.workspace / "junit.xml").write_text(ARTIFACT["junit.xml"])
            (step.workspace / ".git/info/exclude").write_text("junit.xml\n")
            inputs["junit"] = "junit.xml"
            left_behind(step)
        if name not in {"failure_step", "workflow_run"}:
            inputs["setup"] = "humanize==4.12.3 pytest-mock"
        event, payload = _event(name, running, sha)
        done = step.run(engine, TAG, event, payload, inputs, sha)
        done["violations"] = running.violations
        done["pulls"] = [p.head for p in running.world.pulls.values() if p.head != "feature"]
        return done


def shop(engine: Engine) -> dict[str, Any]:
    """The action on `examples/shop` with nothing but what the README's snippet gives."""
    files = {
        str(path.relative_to(SHOP)): path.read_text()
        for path in sorted(SHOP.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }
    with github(files) as (running, step):
        sha = step.checkout()
        (step.workspace / ".git/info/exclude").write_text("junit.xml\n.venv\n__pycache__\n")
        record_red_run(step.workspace)
        event, payload = _event("failure_step", running, sha)
        done = step.run(engine, TAG, event, payload, SNIPPET, sha)
        done["violations"] = running.violations
        return done


def record_red_run(workspace: Path) -> None:
    """The red run of a job as the README has it: its environment, and the report it leaves."""
    uv = str(Path(sys.executable).with_name("uv"))
    for argv in (
        [uv, "venv", "--quiet", "--python", _python(), ".venv"],
        [uv, "pip", "install", "--quiet", "--python", ".venv/bin/python", "pytest"],
    ):
        subprocess.run(argv, check=True, capture_output=True, cwd=workspace, timeout=120)
    pytest = [f"{workspace}/.venv/bin/pytest", "-q", f"--junitxml={workspace / 'junit.xml'}"]
    subprocess.run(pytest, cwd=workspace, capture_output=True, timeout=120)


def _python() -> str:
    """A Python of the version that the image has, where this machine has one."""
    found = (p for p in list_installed() if p.version.startswith("3.12."))
    return str(next((python.program for python in found), sys.executable))


def escapes(engine: Engine) -> list[str]:
    """The attempts of a hostile suite that succeeded inside the action's container."""
    names = [line[9:-3] for line in HOSTILE.splitlines() if line.startswith("def test_")]
    with github({"test_hostile.py": HOSTILE, "pyproject.toml": ""}) as (running, step):
        sha = step.checkout()
        event, payload = _event("failure_step", running, sha)
        inputs = {"proposers": "rules", "max-minutes": "3"}
        step.run(engine, TAG, event, payload, inputs, sha)
        outcome = json.loads((step.workspace / ".heal-bot/bundle/outcome.json").read_text())
        held = {item["test"].rpartition("::test_")[2] for item in outcome["failures"]}
        return [name for name in names if name not in held]


def nothing_to_do(engine: Engine) -> float:
    """Seconds from `docker run` to the end where the event asks for nothing; the median."""
    with github(FILES) as (_, step):
        sha = step.checkout()
        taken: list[float] = [
            step.run(engine, TAG, "pull_request_target", {"action": "opened"}, {}, sha)["seconds"]
            for _ in range(ROUNDS)
        ]
    return statistics.median(taken)


def _problem(done: Mapping[str, Any]) -> str:
    """What is wrong with a run beside its status; empty when nothing is."""
    for name in ("violations", "changed", "foreign"):
        if done[name]:
            return f"{name}: {str(done[name])[:300]}"
    return "" if done["code"] == 0 else f"exit {done['code']}: {done['log'][-1500:]}"


def main(argv: list[str]) -> int:
    """Run all; 1 when there is no engine, a trigger does not heal, or something escapes."""
    result: dict[str, Any] = {"benchmark": "action", "engine": "", "complete": False}
    try:
        with _engine.engine() as engine:
            result["engine"] = engine.name
            print(f"engine: {engine.name}", file=sys.stderr)
            result["base"] = _engine.base_image(engine)
            print(f"base: {result['base']}", file=sys.stderr)
            result["build_seconds"] = round(_engine.build(engine, TAG), 1)
            result["image_mb"] = round(engine.megabytes(TAG))
            result["image_mb_over_base"] = round(
                engine.megabytes(TAG) - engine.megabytes(_engine.BASE)
            )
            result["nothing_to_do_seconds"] = round(nothing_to_do(engine), 2)
            result["triggers"], problems = {}, []
            for name in argv_triggers(argv):
                done = trigger(engine, name)
                problem = _problem(done)
                status = done["outputs"].get("status", "none")
                result["triggers"][name] = status
                print(f"{name}: {status}, {done['seconds']:.1f} s, {done['pulls']} {problem}",
                      file=sys.stderr)  # fmt: skip
                if problem or status != "healed":
                    problems.append(name)
                    print(done["log"][-3000:], file=sys.stderr)
            done = shop(engine)
            result["shop"] = done["outputs"].get("status", "none")
            print(f"shop: {result['shop']}, {done['seconds']:.1f} s", file=sys.stderr)
            if _problem(done) or result["shop"] != "partly_healed":
                problems.append("shop")
                print(_problem(done) + done["log"][-3000:], file=sys.stderr)
            result["escapes_in_container"] = escapes(engine)
            result["problems"] = problems
            result["complete"] = not problems and not result["escapes_in_container"]
        if "--no-shards" not in argv:
            result["shards"] = _timed.compare_shards()
            result["complete"] = result["complete"] and result["shards"]["equal"]
    except NoEngineError as error:
        print(f"action: {error}", file=sys.stderr)
    print(json.dumps(result))
    return 0 if result["complete"] else 1


def argv_triggers(argv: list[str]) -> list[str]:
    """The triggers named on the command line, else all."""
    return [name for name in argv if name in TRIGGERS] or list(TRIGGERS)
