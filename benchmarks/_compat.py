"""Libraries' own suites, bare and sandboxed: which tests end differently, and for want of what."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks import _releases
from benchmarks._cases import read_cases
from benchmarks._speed import environment
from heal_bot.core.events import Run
from heal_bot.core.model import CaseResult, Environment
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun.runner import SuiteRunner
from tests.fakes import FolderTree

BUILD = Path(__file__).parent.parent / "build" / "compat"
# An ordinary user for the bare runs: as root some tests skip themselves.
_USER = 64_950
_SECONDS = 180.0
LEAST = 10
_OBSERVER: str = read_cases("texts")["outcome_plugin"]
_NETWORK = re.compile(r"PermissionError|Errno (?:1|13|101|111)\b|name resolution|Connection")


def compare(sandbox: Sandbox, until: float) -> dict[str, Any]:
    """Every suite bare (twice), sandboxed, and with a loopback where tests were lost.

    A release that cannot be fetched is named in `absent`; nothing is begun after `until`.
    """
    env = _interpreter()
    totals: Counter[str] = Counter()
    told: list[dict[str, Any]] = []
    absent = []
    for name in _releases.TABLE["suites"]:
        version = _releases.TABLE["releases"][name]["version"]
        try:
            if time.monotonic() > until:
                raise _releases.Failed("no time was left")
            release = _releases.sdist(name)
            found = _suite(sandbox, env, name, release)
        except (_releases.Failed, subprocess.TimeoutExpired) as error:
            absent.append(f"{name} {version}: {error}"[:200])
            continue
        told.append({"project": f"{name} {version}", **found})
        totals.update({key: found[key] for key in _COUNTED})
        print(json.dumps(told[-1]), file=sys.stderr, flush=True)
    return {
        "projects": len(told),
        "tests": totals["tests"],
        "same_as_bare": totals["same"],
        "same_share": round(totals["same"] / max(1, totals["tests"]), 5),
        "lost": {key: totals[key] for key in ("network", "loopback", "other")},
        "unsteady": totals["unsteady"],
        "other": [test for entry in told for test in entry["others"]],
        "absent": absent,
    }


_COUNTED = ("tests", "same", "unsteady", "network", "loopback", "other")


def _interpreter() -> Environment:
    """A virtual environment that every uid can read, with what all the suites need."""
    python = shutil.which("python3", path="/usr/bin:/usr/local/bin")
    if python is None:
        raise _releases.Failed("no python3 in /usr/bin or /usr/local/bin")
    folder, stamp = BUILD / "venv", BUILD / "venv" / "ready"
    packages = _releases.TABLE["suites_need"]
    wanted = "\n".join(packages)
    if not stamp.is_file() or stamp.read_text() != wanted:
        BUILD.mkdir(parents=True, exist_ok=True)
        _releases.demand([python, "-m", "venv", "--clear", "--without-pip", str(folder)], BUILD)
        pip = [sys.executable, "-m", "pip", "--python", str(folder / "bin/python"), "install"]
        _releases.demand([*pip, "--quiet", *packages], BUILD)
        subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)
        stamp.write_text(wanted)
    return environment(str(folder / "bin/python"), (str(folder),), ())


def _suite(sandbox: Sandbox, env: Environment, name: str, release: Path) -> dict[str, Any]:
    """One project's figures, and the ids lost for another reason than the network.

    As the bare suite runs twice, so does the sandboxed one when it differs: a test that then ends
    as it does bare is unsteady and not lost.
    """
    paths = tuple(path for path in (".", "src") if (release / path).is_dir())
    env = Environment(env.python, env.version, env.prefix, env.base_prefix, env.roots, paths)
    first, second = _bare(env, release, paths), _bare(env, release, paths)
    tree, run = FolderTree(release), Run(sink=lambda event: None)
    inside = SuiteRunner(sandbox).run(run, tree, env, seconds=_SECONDS)
    results = {result.test: result for result in inside.results}
    unsteady = {test for test in first if first[test] != second.get(test)}
    steady = {test: outcome for test, outcome in first.items() if test not in unsteady}
    lost = [t for t, outcome in steady.items() if not _same(results.get(t), outcome)]
    if lost:
        again = SuiteRunner(sandbox).run(run, tree, env, seconds=_SECONDS)
        other = {result.test: result for result in again.results}
        unsteady |= (shaky := {t for t in lost if _same(other.get(t), steady[t])})
        steady = {test: outcome for test, outcome in steady.items() if test not in shaky}
        lost = [test for test in lost if test not in shaky]
    why = _why(sandbox, env, tree, lost, steady, results) if lost else {}
    counts = Counter(why.values())
    return {
        "ended": inside.ended,
        "tests": len(steady),
        "same": len(steady) - len(lost),
        "unsteady": len(unsteady),
        **{key: counts[key] for key in ("network", "loopback", "other")},
        "others": [f"{name}: {t}: {_said(results.get(t))}" for t in lost if why[t] == "other"],
    }


def _same(result: CaseResult | None, outcome: str) -> bool:
    return result is not None and result.outcome == outcome


def _said(result: CaseResult | None) -> str:
    return (
        "did not run"
        if result is None
        else f"{result.outcome} {result.kind} {result.message}"[:200]
    )


def _why(
    sandbox: Sandbox,
    env: Environment,
    tree: FolderTree,
    lost: list[str],
    bare: Mapping[str, str],
    inside: Mapping[str, CaseResult],
) -> dict[str, str]:
    """For each test lost: what gives it back, or what its failure names."""
    again: dict[str, CaseResult] = {}
    if not sandbox.layers.no_loopback("strict"):
        runner = SuiteRunner(sandbox, loopback=True)
        done = runner.run(Run(sink=lambda event: None), tree, env, seconds=_SECONDS)
        again = {result.test: result for result in done.results}
    found = {}
    for test in lost:
        result = inside.get(test)
        if _same(again.get(test), bare[test]):
            found[test] = "loopback"
        elif result is not None and _NETWORK.search(f"{result.kind}: {result.message}"):
            found[test] = "network"
        else:
            found[test] = "other"
    return found


def _bare(env: Environment, release: Path, paths: tuple[str, ...]) -> dict[str, str]:
    """Outcome by node id of a run as an ordinary user, without any other layer."""
    with tempfile.TemporaryDirectory(prefix="heal-bot-compat-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        repo, home = folder / "repo", folder / "home"
        shutil.copytree(release, repo, symlinks=True)
        home.mkdir()
        (home / "observer_of_results.py").write_text(_OBSERVER)
        subprocess.run(["chown", "-R", f"{_USER}:{_USER}", str(repo), str(home)], check=True)
        given = {
            "PATH": f"{Path(env.python).parent}:/usr/local/bin:/usr/bin:/bin",
            "HOME": str(home),
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "CI": "true",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": ":".join([*(str(repo / path) for path in paths), str(home)]),
            "OBSERVED": str(home / "observed.json"),
        }
        argv = [env.python, "-m", "pytest", "--continue-on-collection-errors"]
        argv += ["-q", "-p", "observer_of_results"]
        subprocess.run(
            argv,
            cwd=repo,
            env=given,
            user=_USER if os.geteuid() == 0 else None,
            group=_USER if os.geteuid() == 0 else None,
            extra_groups=[] if os.geteuid() == 0 else None,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
        observed = home / "observed.json"
        return json.loads(observed.read_text()) if observed.is_file() else {}
