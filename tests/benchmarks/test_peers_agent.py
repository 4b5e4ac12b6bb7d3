"""A general agent on a case of the street: what it is told, what it leaves, how that is counted."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import _peers_agent, peers, street
from benchmarks.street import agent, figures, plain
from benchmarks.street.agent import Agent, EndpointError
from benchmarks.street.figures import Row
from benchmarks.street.recipes import Recipe
from benchmarks.street.results import Results
from benchmarks.street.staged import staged
from tests.github_server.repository import GitRepository
from tests.llm_clients.server import Answer, served

BROKEN = "def clip(value, most):\n    return value\n"
FIXED = BROKEN.replace("return value", "return min(value, most)")
SUITE = "from calc import clip\n\n\ndef test_clip():\n    assert clip(9, 8) == 8\n"
REPORT = """<testsuites><testsuite>
<testcase classname="test_calc.TestClip" name="test_low"/>
<testcase classname="test_calc.TestClip" name="test_high[9]">
  <failure message="assert 9 == 8&#10;  +  where 9 = clip(9, 8)">all of it</failure></testcase>
<testcase classname="" name="test_other"><error>no message</error></testcase>
</testsuite></testsuites>"""


def _row(name: str, **given: Any) -> Row:
    fields = {"id": name, "part": "fixes", "split": "tune", "engine": "e", **given}
    return Row.model_validate(fields)


def _trajectory(status: str, *usages: object, **last: object) -> str:
    messages = [{"role": "assistant", "extra": {"response": usage}} for usage in usages]
    return json.dumps({
        "info": {"exit_status": status, "model_stats": {"api_calls": len(usages)}},
        "messages": [{"role": "system"}, *messages, {"role": "exit", "extra": last}],
    })  # fmt: skip


def test_the_task_names_the_failing_tests_and_their_messages_as_the_report_has_them(
    tmp_path: Path,
) -> None:
    report = tmp_path / "junit.xml"
    report.write_text(REPORT)
    failed = plain.failures(report)
    assert list(failed) == [("test_calc.TestClip", "test_high[9]"), ("", "test_other")]
    told = agent.task(failed)
    assert told.startswith("2 of the tests")
    assert "- test_calc.TestClip::test_high[9]\n  assert 9 == 8 + where 9 = clip(9, 8)\n" in told


def test_a_task_with_many_failing_tests_stays_short() -> None:
    told = agent.task({("test_a", f"test_{number}"): "x" * 5000 for number in range(300)})
    assert told.endswith("- and 280 more, see junit.xml")
    assert len(told) < 15_000


def test_the_tokens_of_all_answers_are_added_up(tmp_path: Path) -> None:
    file = tmp_path / "trajectory.json"
    file.write_text(_trajectory(
        "Submitted", {"usage": {"prompt_tokens": 700}}, {"usage": None}, "an answer as text",
        {"usage": {"prompt_tokens": 50, "completion_tokens": 9}},
    ))  # fmt: skip
    assert agent.read(file) == agent.Told("Submitted", 4, 750)


@pytest.mark.parametrize("text", [None, "", '{"info": {'])
def test_a_run_that_left_no_record_did_nothing(tmp_path: Path, text: str | None) -> None:
    file = tmp_path / "trajectory.json"
    if text is not None:
        file.write_text(text)
    assert agent.read(file) == agent.Told()


@pytest.mark.parametrize(
    ("files", "changed", "tests_changed"),
    [
        ({"calc.py": FIXED}, {"calc.py"}, False),
        ({"calc.py": FIXED, "scratch.py": "1\n", "test_mine.py": "1\n"}, {"calc.py"}, False),
        ({"calc.py": "from low import clip\n", "low.py": "1\n"}, {"calc.py", "low.py"}, False),
        ({"test_calc.py": ""}, set(), True),
        ({"README": "new\n", "__pycache__/calc.py": ""}, set(), False),
        ({"calc.py": None, "test_calc.py": None}, {"calc.py"}, True),
    ],
)
def test_the_change_is_of_the_source_alone(
    tmp_path: Path, files: dict[str, str | None], changed: set[str], tests_changed: bool
) -> None:
    before, after = tmp_path / "before", tmp_path / "after"
    for folder in (before, after):
        (folder / "__pycache__").mkdir(parents=True)
        for name, text in {"calc.py": BROKEN, "test_calc.py": SUITE, "README": ""}.items():
            (folder / name).write_text(text)
    for name, text in files.items():
        (after / name).unlink() if text is None else (after / name).write_text(text)
    found = agent.changes(before, after)
    assert (set(found.sources), found.tests_changed) == (changed, tests_changed)
    assert all(found.sources[path] == (files[path] or "") for path in changed)


def test_workspace_and_environment_are_put_back(tmp_path: Path) -> None:
    workspace, venv = tmp_path / "work", tmp_path / "venv"
    for folder in (workspace, venv):
        folder.mkdir()
        (folder / "a.py").write_text("old")
    with agent.put_back(workspace, venv) as before:
        (workspace / "a.py").write_text("new")
        (venv / "a.py").unlink()
        (venv / "b.py").write_text("more")
        assert (before / "a.py").read_text() == "old"
    assert (workspace / "a.py").read_text() == "old"
    assert [path.name for path in venv.iterdir()] == ["a.py"]


def test_what_is_offered_is_counted_with_its_cost() -> None:
    told = figures.offers([
        _row("a", offered="healed", judgement="right", calls=4, input_tokens=900, seconds=9.0),
        _row("b", offered="suggested", judgement="wrong", calls=30, input_tokens=80_000),
        _row("c", calls=2, input_tokens=100, tests_changed=True, seconds=3.0),
        _row("d", drifted=True),
    ])  # fmt: skip
    assert told == {
        "cases": 3, "dropped": 1, "offered": 2, "right": 1, "wrong": 1, "unknown": 0,
        "healed": {"offered": 1, "right": 1, "wrong": 0, "unknown": 0}, "tests_changed": 1,
        "median_calls": 4, "median_input_tokens": 900, "median_seconds": 3.0,
    }  # fmt: skip


def test_rows_from_before_calls_were_counted_have_no_median_of_them() -> None:
    rows = [_row("a", input_tokens=500), _row("b", input_tokens=700, calls=3)]
    assert figures.offers(rows)["median_calls"] is None
    assert figures.offers([_row("a"), rows[1]])["median_calls"] == 1.5


def test_both_stand_side_by_side_on_the_cases_alone_that_both_ran() -> None:
    mine = [_row("a", offered="healed"), _row("b"), _row("c", part="regressions")]
    theirs = [_row("a", calls=7), _row("b", unstaged="no clone"), _row("z")]
    told = _peers_agent.summary(mine, theirs, ("fixes",))
    assert set(told) == {"fixes"}
    tune = told["fixes"]["tune"]
    assert tune["agent"]["cases"] == 2
    side = tune["side_by_side"]
    assert (side["agent"]["cases"], side["agent"]["offered"]) == (1, 1)
    assert (side["heal_bot"]["cases"], side["heal_bot"]["median_calls"]) == (1, 7)
    assert told["fixes"]["held"]["agent"]["cases"] == 0


def test_a_later_call_goes_on_from_what_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without clones a case that is run has no stage; a kept one is not run again."""
    ready = tmp_path / "agents" / agent.NAME / "ready"
    ready.parent.mkdir(parents=True)
    ready.touch()
    kept, run = street.chosen(
        ("fixes",), "tokenize-rt", 2, lambda part: _peers_agent._cases(tmp_path, None, "e", part)
    )
    row = _row(kept[0], engine=agent.NAME, calls=5, input_tokens=40, offered="healed")
    Results(tmp_path / "results", agent.NAME).keep(row)
    argv = ["--data", str(tmp_path), "--model", "http://127.0.0.1:9/v1", "--part", "fixes"]
    assert peers.main([*argv, "--only", "tokenize-rt", "--limit", "2"]) == 0
    out, err = capsys.readouterr()
    told = json.loads(out.splitlines()[-1])
    assert told["complete"]
    assert told["fixes"]["tune"]["agent"]["median_calls"] == 5
    assert told["fixes"]["tune"]["agent"]["dropped"] == 1
    assert kept[0] not in err
    assert run[0] in err


def test_data_and_model_go_together(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        peers.main(["--model", "http://127.0.0.1:9/v1"])
    assert "--data and --model go together" in capsys.readouterr().err


def _recipe(data: Path) -> Recipe:
    """The fix of a small project, in the folder of clones."""
    git, work = GitRepository(data / "clones/ada+calc"), data / "written"
    git.init()
    work.mkdir()
    for files in ({"calc.py": BROKEN}, {"calc.py": FIXED, "test_calc.py": SUITE}):
        for name, text in files.items():
            (work / name).write_text(text)
        git.import_folder(work, "Change")
    base, fix = git.log("main")
    return Recipe(
        id="fixes/calc", part="fixes", repository="ada/calc", base=base, fix=fix,
        tests=("test_calc.py",), sources=("calc.py",), python="3.11",
        red=("test_calc.py::test_clip",), passed=0, seconds=0.1,
    )  # fmt: skip


def _repaired(tmp_path: Path, player: Agent) -> dict[str, Any]:
    """What the agent did about that project, with this Python as its environment."""
    data = tmp_path / "data"
    recipe, venv = _recipe(data), tmp_path / "venv"
    python = venv / "bin/python"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    with staged(recipe, data, tmp_path) as stage:
        workspace = stage.runner.workspace
        plain.report(workspace, venv, data, workspace / "junit.xml")
        failed = plain.failures(workspace / "junit.xml")
        return agent.repair(recipe, stage, venv, data, player, failed)


def _program(tmp_path: Path, script: str, trajectory: str) -> Path:
    """A program in the agent's place that runs a script and leaves a record."""
    record, program = tmp_path / "record.json", tmp_path / "mini"
    record.write_text(trajectory)
    find = 'while [ "$1" != --output ]; do shift; done'
    program.write_text(f"#!/bin/sh\n{script}\n{find}\ncp {record} $2\n")
    program.chmod(0o755)
    return program


USED = {"usage": {"prompt_tokens": 60}}
REPAIR = "sed -i 's/return value/return min(value, most)/' calc.py"


@pytest.mark.long
@pytest.mark.parametrize(
    ("script", "status", "fields"),
    [
        (REPAIR, "Submitted", {"offered": "healed", "judgement": "right"}),
        (REPAIR, "LimitsExceeded", {"offered": "suggested", "judgement": "right"}),
        ("echo > test_calc.py", "Submitted", {"tests_changed": True}),
        ("env | grep -q SECRET_OF_THE_JOB && " + REPAIR, "Submitted", {}),
    ],
)
def test_what_the_agent_leaves_is_judged_as_a_patch_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, status: str,
    fields: dict[str, Any],
) -> None:  # fmt: skip
    monkeypatch.setenv("SECRET_OF_THE_JOB", "1")
    program = _program(tmp_path, script, _trajectory(status, USED, USED))
    row = _repaired(tmp_path, Agent(program, "http://127.0.0.1:9/v1", 1))
    assert (row["status"], row["calls"], row["input_tokens"]) == (status, 2, 120)
    expected = {"offered": "", "judgement": "", "tests_changed": False, **fields}
    assert {name: row.get(name, "") for name in expected} == expected


@pytest.mark.long
def test_a_run_that_the_endpoint_failed_has_no_row(tmp_path: Path) -> None:
    told = _trajectory("APIConnectionError", USED, exception_str="Connection refused")
    program = _program(tmp_path, REPAIR, told)
    with pytest.raises(EndpointError, match="Connection refused"):
        _repaired(tmp_path, Agent(program, "http://127.0.0.1:9/v1", 1))


@pytest.mark.slow
def test_the_agent_of_the_package_index_repairs_with_a_scripted_model(tmp_path: Path) -> None:
    said = iter((
        "no action", f"```mswea_bash_command\n{REPAIR} && python -m pytest\n```",
        "```mswea_bash_command\necho COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT\n```",
    ))  # fmt: skip

    def reply(request: dict[str, object]) -> Answer:
        message = {"role": "assistant", "content": next(said)}
        body = {
            "id": "1", "object": "chat.completion", "created": 1, "model": "live",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 100, "completion_tokens": 9, "total_tokens": 109},
        }  # fmt: skip
        return Answer(json.dumps(body).encode(), kind="application/json")

    program = agent.installed(tmp_path / "data")
    with served() as endpoint:
        endpoint.reply = reply
        row = _repaired(tmp_path, Agent(program, f"{endpoint.url}/v1", 2))
        prompts = [json.dumps(body["messages"]) for _, _, body in endpoint.requests]
    assert "test_calc::test_clip" in prompts[0]
    assert "1 passed" in prompts[2]
    assert (row["status"], row["calls"], row["input_tokens"]) == ("Submitted", 3, 300)
    assert (row["offered"], row["judgement"]) == ("healed", "right")
