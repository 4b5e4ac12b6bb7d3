"""The stand-in for the runner says what GitHub's says, and nothing else says it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from heal_bot.action import secret_vault
from heal_bot.action.action_context import INPUTS, ActionContext
from heal_bot.core.settings import Settings
from heal_bot.github import actions_runner
from tests.github_server.runner import DEFAULTS, ROOT, TOKEN, Runner, evaluate, inputs, outputs

WORKFLOWS = sorted(
    [*(ROOT / ".github/workflows").glob("*.yml"), *(ROOT / "docs/workflows").glob("*.yml")]
)
# The stand-in, the reader of the variables, and the list of those that are secret.
SPEAKERS = {
    "tests/github_server/runner.py", "heal_bot/action/secret_vault.py",
    "tests/action/test_worker_process.py",
}  # fmt: skip


def with_of_action(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """What each step of a workflow gives the action, as the workflow's defaults make it."""
    said = yaml.safe_load(path.read_text())
    triggers = said[True] if isinstance(said[True], dict) else {}
    called = (triggers.get("workflow_call") or triggers.get("workflow_dispatch") or {}).get(
        "inputs", {}
    )
    context = {f"inputs.{name}": str(value.get("default", "")) for name, value in called.items()}
    context["github.token"] = TOKEN
    for title, job in said["jobs"].items():
        for step in job.get("steps", ()):
            if step.get("uses") == "./" or step.get("uses", "").startswith("heal-bot/heal-bot@"):
                given = {k: evaluate(str(v), context) for k, v in step.get("with", {}).items()}
                yield f"{path.name}:{title}", given


def readme() -> dict[str, str]:
    """What the README's snippet gives the action."""
    (snippet,) = re.findall(r"```yaml\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    (step,) = (
        step
        for job in yaml.safe_load(snippet)["jobs"].values()
        for step in job["steps"]
        if step.get("uses", "").startswith("heal-bot/")
    )
    return dict(step.get("with", {}))


SHIPPED = [
    ("nothing", {}),
    ("README.md", readme()),
    *(pair for path in WORKFLOWS for pair in with_of_action(path)),
]


def test_every_input_arrives_under_the_name_the_runner_makes_of_it() -> None:
    named = inputs()
    assert set(DEFAULTS) == INPUTS
    assert len(named) == len(INPUTS)
    assert "INPUT_MAX-MINUTES" in named
    assert actions_runner.inputs(named) == {"github-token": TOKEN}


def test_a_step_s_own_value_wins_also_where_it_is_empty_and_an_unknown_one_is_passed_on() -> None:
    named = inputs({"github-token": "", "junit": "a.xml", "a b": "c"})
    assert named["INPUT_GITHUB-TOKEN"] == ""
    assert (named["INPUT_JUNIT"], named["INPUT_A_B"]) == ("a.xml", "c")


@pytest.mark.parametrize(
    ("text", "expected"),
    [("${{ github.token }}", "t"), ("a-${{github.token}}", "a-t"), ("${{ secrets.none }}", ""),
     ("${{ secrets.none || github.token }}", "t"), ("${{ secrets.none || 'x' }}", "x")],
)  # fmt: skip
def test_expressions_are_the_first_term_that_is_not_empty(text: str, expected: str) -> None:
    assert evaluate(text, {"github.token": "t"}) == expected


def test_the_token_is_the_only_default_so_that_every_other_lives_in_one_place() -> None:
    assert {name for name, default in DEFAULTS.items() if default} == {"github-token"}


@pytest.mark.parametrize("given", [dict(given) for _, given in SHIPPED],
                         ids=[name for name, _ in SHIPPED])  # fmt: skip
def test_what_a_shipped_workflow_gives_is_a_job_with_our_defaults(
    given: dict[str, str], tmp_path: Path
) -> None:
    environ = Runner("http://127.0.0.1:9", tmp_path, tmp_path, "5" * 40).environ("push", given)
    job = ActionContext.of(environ)
    job.facts()
    job.options()
    told = {name.replace("-", "_") for name, value in given.items() if value}
    for name in ("max_minutes", "max_usd", "max_attempts", "candidates", "sandbox", "loopback"):
        if name not in told:
            assert getattr(job.settings, name) == Settings.model_fields[name].default
    assert job.settings.github_token.reveal() == TOKEN


@pytest.mark.parametrize("given", [dict(given) for _, given in SHIPPED],
                         ids=[name for name, _ in SHIPPED])  # fmt: skip
def test_the_settings_file_decides_what_a_shipped_workflow_does_not(
    given: dict[str, str], tmp_path: Path
) -> None:
    file = {"max-minutes": 0.5, "max-usd": 0.25, "max-attempts": 3, "candidates": 2}
    environ = Runner("http://127.0.0.1:9", tmp_path, tmp_path).environ("push", given)
    chosen = ActionContext.of(environ).configured(yaml.safe_dump(file).encode()).settings
    for name, value in file.items():
        expected = float(given[name]) if given.get(name) else value
        assert getattr(chosen, name.replace("-", "_")) == expected


def test_nothing_else_builds_the_variables_of_inputs() -> None:
    built = re.compile(r"INPUT_(?:[A-Z{%]|\"\s*\+)")
    tops = ("heal_bot", "tests", "benchmarks", "examples")
    files = (path for top in tops for path in (ROOT / top).rglob("*.py"))
    found = {path.relative_to(ROOT).as_posix() for path in files if built.search(path.read_text())}
    here = Path(__file__).relative_to(ROOT).as_posix()
    assert found - {here} == SPEAKERS


def test_outputs_are_read_as_blocks_and_as_lines() -> None:
    assert outputs("a<<END\n1\n2\nEND\nb=c=d\n") == {"a": "1\n2", "b": "c=d"}


@pytest.mark.parametrize(
    ("location", "python"),
    [
        ("/opt/hostedtoolcache/Python/3.12.4/x64", "3.12.4"),
        ("/opt/hostedtoolcache/Python/3.15.0-alpha.2/x64", "3.15.0-alpha.2"),
        ("/opt/hostedtoolcache/PyPy/3.10.14/x64", ""),
        ("", ""),
    ],
)
def test_the_python_of_the_failing_job_is_the_one_that_setup_python_put_there(
    location: str, python: str, tmp_path: Path
) -> None:
    job = Runner("http://127.0.0.1:9", tmp_path, tmp_path, "5" * 40).environ("push")
    kept = secret_vault.keep_plain({**job, "pythonLocation": location})
    assert ActionContext.of(kept).facts().python == python
