"""The action as the container starts it: a red run's artifact in, a pull request out."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from benchmarks._github_stage import ADA, JUNIT, TOKEN, Stage, staged, zipped
from tests import test_questioned as questioned
from tests.github_server import records

MORE = """from shop.pricing import total


def test_nothing():
    assert total([]) == 0


def test_one():
    assert total([5]) == 5


def test_many():
    assert total([3, 4, 5]) == 12
"""


# All that is red with them: one failing test alone would be a suggestion.
RED = JUNIT.replace(
    "</testsuite>",
    "".join(
        f'<testcase classname="tests.test_more" name="{name}"><failure message="no"/></testcase>'
        for name in ("test_one", "test_many")
    )
    + "</testsuite>",
)


def pin(stage: Stage) -> None:
    """More tests, so that one repair alone makes all of them pass."""
    stage.base = stage.commit("main", "tests/test_more.py", MORE)


def start(
    stage: Stage, name: str, payload: dict[str, object], *, code: int = 0, **inputs: str
) -> str:
    """Run the program with the environment of a runner; what it printed."""
    event = stage.folder / "event.json"
    event.write_text(json.dumps(payload))
    (stage.folder / "output").unlink(missing_ok=True)
    stage.inputs = {"sandbox": "reduced", "proposers": "rules", **inputs}
    environ = stage.environ(name) | {
        "GITHUB_EVENT_PATH": str(event),
        "VIRTUAL_ENV": str(Path(sys.executable).parents[1]),
        "ANTHROPIC_API_KEY": "sk-ant-" + "hidden" * 5,
    }
    done = subprocess.run(
        [sys.executable, "-I", "-m", "heal_bot", "action"],
        env=environ,
        cwd=stage.folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == code, done.stdout + done.stderr
    stage.read_outputs()
    return done.stdout + done.stderr


@pytest.mark.slow
def test_a_red_run_becomes_a_pull_request() -> None:
    with staged() as stage:
        pin(stage)
        name, payload = stage.finished(
            stage.red(artifacts={"junit-3.12": zipped({"junit.xml": RED})})
        )
        said = start(stage, name, payload)
        assert (stage.status, stage.delivery) == ("healed", "created"), said
        (pull,) = stage.ours()
        assert "sum(prices)" in pull.body
        assert TOKEN not in said.replace(f"::add-mask::{TOKEN}", "")
        assert "hiddenhidden" not in said.replace("::add-mask::sk-ant-", "", 1).replace(
            "hidden" * 5, "", 1
        )
        start(stage, name, payload)
        assert stage.delivery == "unchanged"
        assert stage.github.violations == []


@pytest.mark.slow
def test_options_of_pytest_reach_every_run() -> None:
    strict = "def pytest_configure(config):\n    assert config.getoption('pythonwarnings')\n"
    with staged() as stage:
        pin(stage)
        stage.base = stage.commit("main", "conftest.py", strict)
        name, payload = stage.finished(
            stage.red(artifacts={"junit-3.12": zipped({"junit.xml": RED})})
        )
        said = start(stage, name, payload, **{"test-command": "pytest -W error tests"})
        assert (stage.status, stage.delivery) == ("healed", "created"), said
        assert "the tests ran by" not in stage.ours()[0].body


@pytest.mark.slow
@pytest.mark.xfail(strict=True, reason="what is remembered of a repository takes more requests")
def test_a_run_asks_github_for_little_and_one_without_news_for_less() -> None:
    with staged() as stage:
        pin(stage)
        name, payload = stage.finished(
            stage.red(artifacts={"junit-3.12": zipped({"junit.xml": RED})})
        )
        start(stage, name, payload)
        full = len(stage.github.exchanges)
        start(stage, name, payload)
        assert full <= 20
        assert len(stage.github.exchanges) - full <= 6


@pytest.mark.slow
def test_an_answer_in_a_comment_decides_what_is_proposed() -> None:
    with staged() as stage:
        right = records.FIXED.replace("price - percent", "price * (1 - percent / 100)")
        stage.commit("main", "shop/pricing.py", right)
        stage.commit("main", "shop/grades.py", questioned.SOURCE)
        tests = questioned.TESTS.replace("from grades", "from shop.grades")
        stage.base = stage.commit("main", "tests/test_grades.py", tests)
        event = stage.finished(stage.red(artifacts={}))
        said = start(stage, *event)
        assert (stage.status, stage.ours()) == ("needs_answer", []), said
        said = start(stage, *stage.commit_comment("/heal pick B"))
        assert (stage.status, stage.delivery) == ("healed", "created"), said
        (pull,) = stage.ours()
        assert "+    return points * 2 >= total" in pull.body
        assert "a person answered that" in pull.body


@pytest.mark.slow
def test_a_step_reads_the_report_of_its_workspace() -> None:
    with staged() as stage:
        pin(stage)
        reports = stage.folder / "reports"
        reports.mkdir()
        (reports / "junit.xml").write_text(RED)
        said = start(stage, *stage.pushed(), junit="reports/*.xml")
        assert (stage.status, stage.delivery) == ("healed", "created"), said
        assert (stage.folder / ".heal-bot/bundle/outcome.json").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("beside", "status"),
    [("def part(prices):\n    return prices\n", "healed"), ("from shop.pricing import total\n\n\n"
      "def test_of_the_base_branch():\n    assert total([1, 2]) == 2\n", "not_healed")],
)  # fmt: skip
def test_a_pull_request_s_repair_holds_on_its_merge_commit_too(beside: str, status: str) -> None:
    with staged() as stage:
        pin(stage)
        pull = stage.pull()
        git = stage.github.world.git
        stage.commit("main", "tests/test_beside.py", beside)
        new = [("100644", "tests/test_beside.py", git.save_blob(beside.encode()))]
        ends = [stage.github.world.branch("main") or "", pull.head_sha]
        merge = git.save_commit("Merge", git.save_tree(pull.head_sha, new), ends, ADA, ADA)
        git.set_ref("refs/pull/1/merge", merge)
        stage.base = merge
        said = start(stage, *stage.pull_event(pull), **{"pull-requests": "auto"})
        assert stage.status == status, said
        if status == "healed":
            assert "check merge commit: " in stage.ours()[0].body
            assert merge[:12] in stage.ours()[0].body


@pytest.mark.slow
@pytest.mark.parametrize("inputs", [{"paths": "!shop"}, {"verify-command": "exit 3"}])
def test_what_people_rule_out_is_no_repair(inputs: dict[str, str]) -> None:
    with staged() as stage:
        pin(stage)
        said = start(stage, *stage.finished(stage.red()), **inputs)
        assert stage.status == "not_healed", said
        assert not stage.ours()


@pytest.mark.slow
def test_the_line_of_a_review_and_the_configuration_of_the_base_count() -> None:
    with staged() as stage:
        pin(stage)
        pull = stage.pull()
        stage.commit("main", ".heal-bot.yml", "max-minutes: 7\n")
        stage.commit("feature", ".heal-bot.yml", "max-minutes: nonsense\n")
        pull.head_sha = stage.github.world.branch("feature") or ""
        said = start(stage, *stage.line_comment(pull, "shop/pricing.py", 8))
        assert (stage.status, stage.delivery) == ("healed", "created"), said
        assert stage.ours()[0].base == "feature"


@pytest.fixture
def disk() -> Iterator[Path]:
    """A folder on a disk of its own, of 600 KiB, that every user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="heal-bot-disk-", dir="/tmp"))
    mount = ["mount", "-t", "tmpfs", "-o", "size=600k,mode=755", "tmpfs", str(folder)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("this machine lets nobody mount a disk")
    yield folder
    subprocess.run(["umount", str(folder)], check=True)
    folder.rmdir()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("variable", "filled", "code", "said"),
    [
        ("TMPDIR", 580, 1, "is full: free space before the step runs"),
        ("TMPDIR", 100, 0, "free space there or name another cache folder"),
        ("HEAL_BOT_SCRATCH", 0, 0, "name one with HEAL_BOT_SCRATCH that every user may enter"),
        ("HEAL_BOT_CACHE", 0, 0, "free space there or name another cache folder"),
    ],
)
def test_a_full_disk_is_an_environment_error_with_the_remedy(
    disk: Path, variable: str, filled: int, code: int, said: str
) -> None:
    (disk / "filled").write_bytes(b"x" * (filled << 10))
    with staged() as stage:
        pin(stage)
        stage.runner = {variable: str(disk)}
        heard = start(stage, *stage.finished(stage.red()), code=code)
        assert stage.status == "environment_error", heard
        assert said in heard
        assert "Traceback" not in heard


@pytest.mark.slow
def test_a_read_only_workspace_is_an_environment_error_with_the_remedy() -> None:
    with staged() as stage:
        mount = ["mount", "--bind", str(stage.folder), str(stage.folder)]
        if subprocess.run(mount, capture_output=True).returncode != 0:
            pytest.skip("this machine lets nobody mount a folder")
        try:
            inner = ["mount", "-o", "remount,ro,bind", str(stage.folder)]
            outer = stage.folder.parent
            name, payload = stage.finished(stage.red())
            (outer / "event.json").write_text(json.dumps(payload))
            subprocess.run(inner, check=True)
            environ = stage.environ(name) | {
                "GITHUB_EVENT_PATH": str(outer / "event.json"),
                "GITHUB_OUTPUT": str(outer / "output"),
                "GITHUB_STEP_SUMMARY": str(outer / "summary"),
            }
            done = subprocess.run(
                [sys.executable, "-I", "-m", "heal_bot", "action"],
                env=environ, cwd=stage.folder, capture_output=True, text=True, timeout=300,
            )  # fmt: skip
        finally:
            subprocess.run(["umount", str(stage.folder)], check=True)
        assert done.returncode == 1
        assert "cannot be written (Read-only file system)" in done.stderr
        assert "environment_error" in (outer / "output").read_text()
        assert "mount it writable" in (outer / "summary").read_text()
