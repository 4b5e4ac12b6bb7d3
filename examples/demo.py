"""The demo: the example's failing tests become a pull request on a mock GitHub server.

Needs no key and no network. Run it with `make demo`; what it leaves lies below `build/`.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build"
BUNDLE = BUILD / "demo"
PUBLISHED = BUILD / "demo-pull-request.md"
WORK = BUILD / "demo-work"
NAME = "octo/shop"
PYTHON = sys.executable


def main() -> int:
    """Red tests, heal, publish; the last six lines say what came of it."""
    mode = _sandbox_mode()
    shutil.rmtree(WORK, ignore_errors=True)
    shutil.rmtree(BUNDLE, ignore_errors=True)
    WORK.mkdir(parents=True)
    shop = WORK / "shop"
    with _loopback_github() as url:
        _git(WORK, "clone", "--quiet", f"{url}/{NAME}.git", str(shop))
        _step("the example's own tests, for real")
        tests = [PYTHON, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider"]
        _run([*tests, "--junitxml=../junit.xml"], cwd=shop, expect=1)
        _step("heal, offline")
        _run(
            [*_heal_bot(), "heal", "--repo", str(shop), "--junit", "junit.xml",
             "--python", PYTHON, "--out", str(BUNDLE), "--proposers", "rules", "--sandbox", mode],
            cwd=WORK,
        )  # fmt: skip
        outcome = json.loads((BUNDLE / "outcome.json").read_text())
        _step("publish to a mock GitHub server running locally")
        head = _git(shop, "rev-parse", "HEAD").strip()
        _run(
            [*_heal_bot(), "publish", "--bundle", str(BUNDLE), "--repo", NAME,
             "--base-sha", head, "--base-ref", "main"],
            cwd=WORK,
            extra={"GITHUB_API_URL": url, "GITHUB_SERVER_URL": url,
                   "GITHUB_TOKEN": "token-for-tests"},
        )  # fmt: skip
        pull = _show_pull_request(url, outcome["fingerprint"])
        tests = _run_patched_tests(url, outcome["fingerprint"])
    _step("what came of it")
    print("\n".join(_summary(outcome, pull, tests)))
    return 0


def _sandbox_mode() -> str:
    """strict where the kernel has every layer; the demo runs our own code, so reduced elsewhere."""
    doctor = subprocess.run([*_heal_bot(), "doctor"], capture_output=True, text=True, timeout=120)
    mode = "strict" if doctor.returncode == 0 else "reduced"
    detail = "" if mode == "strict" else ": see `heal-bot doctor` for the missing layers"
    print(f"sandbox: {mode}{detail}")
    return mode


def _git(folder: Path, *args: str) -> str:
    identity = ("-c", "user.name=shop", "-c", "user.email=shop@example.invalid")
    argv = ["git", *identity, "-C", str(folder), *args]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60, check=True)
    return done.stdout


def _heal_bot() -> list[str]:
    return [PYTHON, "-I", "-m", "heal_bot"]


def _run(argv: list[str], cwd: Path, expect: int = 0, extra: dict[str, str] | None = None) -> None:
    """Run a command in sight of the user; any other exit code than `expect` ends the demo."""
    keys = ("ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY")
    env = {k: v for k, v in os.environ.items() if k not in keys and not k.startswith("GITHUB_")}
    env |= {"PYTHONDONTWRITEBYTECODE": "1", **(extra or {})}
    sys.stdout.flush()
    done = subprocess.run(argv, cwd=cwd, env=env, timeout=1200)
    if done.returncode != expect:
        sys.exit(f"demo: {' '.join(argv[:6])} … ended with code {done.returncode}, not {expect}")


@contextmanager
def _loopback_github() -> Iterator[str]:
    """A GitHub with the shop in a bare git repository, as its own process."""
    source, ready = WORK / "source", WORK / "github-url"
    ignore = shutil.ignore_patterns("__pycache__", ".pytest_cache")
    shutil.copytree(ROOT / "examples" / "shop", source, ignore=ignore)
    server = subprocess.Popen(
        [PYTHON, "-m", "tests.github_server.server", "--folder", str(WORK / "github"), "--name",
         NAME, "--import", str(source), "--ready", str(ready)],
        cwd=ROOT,
    )  # fmt: skip
    try:
        deadline = time.monotonic() + 30
        while not ready.exists():
            if server.poll() is not None or time.monotonic() > deadline:
                sys.exit("demo: the loopback GitHub did not start")
            time.sleep(0.05)
        yield ready.read_text().strip()
    finally:
        server.terminate()
        server.wait(10)


def _show_pull_request(url: str, fingerprint: str) -> str:
    """Print what of the pull request is not folded, keep all of it, and return its title."""
    import httpx

    headers = {"Authorization": "Bearer token-for-tests"}
    pulls = httpx.get(f"{url}/repos/{NAME}/pulls", headers=headers).json()
    pull = next(p for p in pulls if p["head"]["ref"] == f"heal-bot/{fingerprint}")
    title = f"#{pull['number']}: {pull['title']}"
    _step(f"pull request {title}")
    print(pull["body"].partition("<details>")[0].strip())
    PUBLISHED.write_text(pull["body"], encoding="utf-8")
    return title


def _run_patched_tests(url: str, fingerprint: str) -> str:
    """Clone the branch like a reviewer would, run the tests in it, and return the last line."""
    _step("the tests in a reviewer's clone of the branch")
    clone = WORK / "clone"
    address = f"{url}/{NAME}.git"
    _git(WORK, "clone", "--quiet", "--branch", f"heal-bot/{fingerprint}", address, str(clone))
    tests = [PYTHON, "-m", "pytest", "-q", "--tb=no", "-p", "no:cacheprovider"]
    report = WORK / "clone.xml"
    _run([*tests, f"--junitxml={report}"], cwd=clone, expect=1)
    suite = ElementTree.parse(report).getroot()[0]
    total, failed = int(suite.attrib["tests"]), int(suite.attrib["failures"])
    return f"{total - failed} passed, {failed} failed"


def _summary(outcome: dict[str, Any], pull: str, tests: str) -> list[str]:
    """The lines that matter: the result, the change, the pull request, and where to read more."""
    patch = outcome["patch"]
    fixed, left = len(patch["fixed"]), len(patch["still_failing"])
    names = sorted({target["qualname"] for target in patch["functions"]})
    bundle = BUNDLE.relative_to(ROOT)
    return [
        f"result:       fixes {fixed} of {fixed + left} failing tests",
        f"change:       {', '.join(names)} ({bundle / 'patch.diff'})",
        f"pull request: {pull} ({PUBLISHED.relative_to(ROOT)})",
        f"its branch:   {tests} in a fresh clone",
        f"explained:    heal-bot explain {bundle}",
        f"report:       {bundle / 'report.html'}",
    ]


def _step(text: str) -> None:
    print(f"\n=== {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
