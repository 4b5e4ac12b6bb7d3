"""The place of the bundle below the workspace."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from heal_bot.action import action_context as job_module
from heal_bot.action import worker_process
from heal_bot.action.action_context import ActionContext
from heal_bot.core.errors import ProvisionError, UsageError
from heal_bot.core.model import HealRequest, Memory, Trust
from heal_bot.core.settings import Settings, load
from tests.github_server import runner


def job(workspace: Path, **inputs: str) -> ActionContext:
    return ActionContext.of({"GITHUB_WORKSPACE": str(workspace), **runner.inputs(inputs)})


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A folder of ours that every user can enter."""
    folder = Path(tempfile.mkdtemp(prefix="heal-bot-test-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def test_an_older_bundle_makes_room_and_git_does_not_see_the_new_one(tmp_path: Path) -> None:
    old = tmp_path / ".heal-bot/bundle"
    old.mkdir(parents=True)
    (old / "outcome.json").write_text("{}")
    worker_process.make_room(job(tmp_path))
    assert not old.exists()
    assert (tmp_path / ".heal-bot/.gitignore").read_text() == "*\n"


def test_a_workspace_that_cannot_be_written_is_one_line_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / ".heal-bot").write_text("in the way")
    with pytest.raises(ProvisionError, match=r"cannot be written .*mount it writable") as caught:
        worker_process.make_room(job(tmp_path))
    assert "\n" not in str(caught.value)


def test_a_folder_of_bundles_that_leads_elsewhere_is_left_alone(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere/bundle"
    elsewhere.mkdir(parents=True)
    (tmp_path / "work").mkdir()
    (tmp_path / "work/.heal-bot").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UsageError, match="remove it"):
        worker_process.make_room(job(tmp_path / "work"))
    assert elsewhere.exists()


def test_an_ignore_file_that_leads_elsewhere_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine")
    (tmp_path / ".heal-bot").mkdir()
    (tmp_path / ".heal-bot/.gitignore").symlink_to(tmp_path / "kept")
    worker_process.make_room(job(tmp_path))
    assert (tmp_path / "kept").read_text() == "mine"
    assert (tmp_path / ".heal-bot/.gitignore").read_text() == "*\n"


@pytest.mark.parametrize("given", ["../outside", "/etc/passwd", "link/file"])
def test_a_path_that_leaves_the_workspace_is_refused(tmp_path: Path, given: str) -> None:
    (tmp_path / "link").symlink_to("/etc")
    with pytest.raises(UsageError, match="outside of the workspace"):
        job(tmp_path, freeze=given).inside("freeze")


@pytest.mark.parametrize(
    ("given", "beside", "setup", "expected"),
    [
        ("mine.txt", True, "", "work/mine.txt"),
        ("gone.txt", True, "", "work/gone.txt"),
        ("m*.txt", True, "", "work/m*.txt"),
        ("gone*.txt", True, "", "freeze.txt"),
        ("gone*.txt", True, ".[test]", "work/gone*.txt"),
        ("gone*.txt", False, "", "work/gone*.txt"),
        ("", True, "", "freeze.txt"),
        ("", True, ".[test]", ""),
    ],
)
@pytest.mark.parametrize("by_input", [True, False], ids=["input", "environment"])
def test_versions_are_those_of_the_named_file_else_of_the_one_beside_the_reports(
    tmp_path: Path, *, given: str, beside: bool, setup: str, expected: str, by_input: bool
) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "work/mine.txt").write_text("a==1")
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("freeze.txt" if beside else "junit.xml", "a==2")
    if by_input:
        named = runner.inputs({"freeze": given, "setup": setup})
    else:
        named = {**runner.inputs(), "HEAL_BOT_FREEZE": given, "HEAL_BOT_SETUP": setup}
    told = {"GITHUB_WORKSPACE": str(tmp_path / "work"), **named}
    request = HealRequest(repo="", base_sha="0" * 40)
    task = worker_process.Task(request, Memory(), downloaded=(tmp_path / "a.zip",))
    options = worker_process._frozen(ActionContext.of(told), task, tmp_path)
    assert options == ([f"--freeze={tmp_path / expected}"] if expected else [])


@pytest.mark.skipif(os.geteuid() != 0, reason="tests run as another user only under root")
@pytest.mark.parametrize(("mode", "kept"), [(0o755, True), (0o700, False)])
def test_a_folder_that_only_root_can_enter_is_no_place_for_the_child_s_files(
    reachable: Path, *, mode: int, kept: bool
) -> None:
    place = reachable / f"temporary-{mode}"
    place.mkdir()
    place.chmod(mode)
    told = worker_process._environment(Settings(), Trust.TRUSTED, place / "scratch")
    assert told.get("TMPDIR") == (str(place) if kept else None)


def test_an_error_is_on_the_run_s_page_though_the_runner_s_files_cannot_be_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    job_module.report_broken_run(
        {"GITHUB_OUTPUT": str(tmp_path)}, ProvisionError("the disk is full: free it")
    )
    assert capsys.readouterr().out == "::error title=heal-bot::the disk is full: free it\n"


def test_a_boolean_that_is_none_is_one_line() -> None:
    with pytest.raises(UsageError, match="use true or false"):
        job(Path(), loopback="perhaps")


def test_the_settings_file_decides_what_no_input_does_and_its_limit_is_the_child_s(
    tmp_path: Path,
) -> None:
    config = b"max-minutes: 45\nmax-usd: 0.5\npaths: [src]\ncandidates: 3\n"
    told = job(tmp_path, **{"max-usd": "2"}).configured(config).settings
    assert (told.max_minutes, told.max_usd, told.candidates) == (45.0, 2.0, 3)
    assert told.paths == ("src",)


@pytest.mark.parametrize(
    ("spent", "given", "said"),
    [
        (0.0, {}, []),
        (3.9, {}, []),
        (4.25, {}, ["--max-usd=0.7500"]),
        (7.0, {}, ["--max-usd=0.0000"]),
        (7.0, {"INPUT_MAX-USD-PER-DAY": "20"}, []),
        (7.0, {"INPUT_ANTHROPIC-API-KEY": ""}, []),
    ],
)
def test_a_run_has_what_is_left_of_the_day(
    spent: float, given: dict[str, str], said: list[str]
) -> None:
    environ = {"INPUT_ANTHROPIC-API-KEY": "key-for-tests", **given}
    assert worker_process._left_of_day(ActionContext.of(environ), spent) == said


@pytest.mark.parametrize("trust", list(Trust))
def test_the_child_reads_back_what_it_is_told_and_a_proxy_only_for_trusted_code(
    tmp_path: Path, trust: Trust
) -> None:
    told = {"GITHUB_WORKSPACE": "/w", "HEAL_BOT_SETUP": ".[test]", "SSL_CERT_FILE": "/ca.pem",
            "https_proxy": "http://me:word@proxy", "GOOGLE_API_KEY": "key-for-tests",
            "GITHUB_TOKEN": "token-for-tests"}  # fmt: skip
    chosen = load(told)
    environ = worker_process._environment(chosen, trust, tmp_path)
    known = load(environ)
    assert (known.workspace, known.setup, known.ca_file) == ("/w", ".[test]", "/ca.pem")
    assert known.proxy == ("http://me:word@proxy" if trust is Trust.TRUSTED else "")
    assert "for-tests" not in "".join(environ.values())
    assert chosen.environ(*worker_process._KEYS) == {"GEMINI_API_KEY": "key-for-tests"}
