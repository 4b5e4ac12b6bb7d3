"""Reports through the real sandbox: ids that fail there as they failed, frames it supplies."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from heal_bot import wiring
from heal_bot.core import settings
from heal_bot.core.errors import SandboxError
from heal_bot.core.model import Baseline, Origin
from heal_bot.junit import reader, reported_tests
from heal_bot.junit.path_mapping import Layout
from heal_bot.junit.reported_tests import Resolved
from heal_bot.junit.traceback import parse_frames
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.verification.baseline import reproduce
from tests.fakes import context_of
from tests.junit.suites import ZOO

if TYPE_CHECKING:
    from tests.junit.conftest import Project

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def mode() -> str:
    try:
        with Sandbox.start("strict", slots=1):
            return "strict"
    except SandboxError:
        return "reduced"


def in_sandbox(project: Project, mode: str) -> tuple[Resolved, Baseline]:
    """What the project's `report.xml` means and what of it the sandboxed baseline reproduces."""
    report = project.root / "report.xml"
    moved = report.rename(project.root.parent / "report.xml")
    who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    for command in (("init", "-q"), ("add", "."), (*who, "commit", "-q", "-m", "all")):
        subprocess.run(["git", *command], cwd=project.root, check=True, capture_output=True)
    job = wiring.HealJob(project.root, project.root.parent / "out", (str(moved),), Path(sys.prefix))
    chosen = settings.load({}, options={"sandbox": mode, "proposers": ("rules",)})
    with wiring.connect(job, chosen, lambda event: None, lambda: False) as made:
        run, runner = made.run, made.runner
        tree = made.workspace.checkout(run, made.request.base_sha)
        read = reader.read_reports(run, made.root, made.request.reports, absolute=True)
        env = made.workspace.provision(run, tree, read.hints)
        runner.preflight(run, env)
        collected = runner.collect(run, tree, env)
        resolved = reported_tests.resolve(run, read, collected, tree.paths(), tree.read)
        return resolved, reproduce(context_of(run, runner, tree, env=env), resolved.failures)


def test_every_resolved_test_fails_in_the_sandbox_as_the_report_says(
    project: Project, mode: str
) -> None:
    options = "--doctest-modules --doctest-glob=*.txt --ignore=tests/base.py"
    project.write(**ZOO | {"pytest.ini": ZOO["pytest.ini"].rstrip() + f" {options}\n"})
    seen = project.pytest()
    resolved, baseline = in_sandbox(project, mode)
    assert {f.test for f in resolved.failures} == seen.truth
    statuses = {r.failure.test: r.status for r in baseline.reproduced}
    odd = {test: status for test, status in statuses.items() if status != "confirmed"}
    assert odd == {
        "tests/test_broken.py": "explained",
        "tests/test_syntax.py": "stale_test",
        "tests/test_zoo.py::test_strict": "stale_test",
    }
    assert statuses.keys() == seen.truth


@pytest.mark.parametrize("style", ["no", "line"])
def test_frames_that_the_report_lacks_come_from_the_sandboxed_run(
    project: Project, mode: str, style: str
) -> None:
    project.write(
        **{
            "shop.py": "def price(item):\n    return item['price']\n",
            "test_shop.py": "from shop import price\n\ndef test_price():\n    price({})\n",
            "pytest.ini": f"[pytest]\naddopts = --tb={style}\npythonpath = .\n",
        }
    )
    project.pytest()
    (case,) = project.read().cases
    assert parse_frames(case.text, Layout(project.paths())) == ()
    resolved, baseline = in_sandbox(project, mode)
    assert resolved.failures[0].frames == ()
    (failure,) = baseline.confirmed
    assert [(f.path, f.line, f.origin) for f in failure.frames] == [
        ("test_shop.py", 4, Origin.TEST),
        ("shop.py", 2, Origin.PROJECT),
    ]
