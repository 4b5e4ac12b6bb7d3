"""The files that GitHub reads: action, workflows, image; they agree with the program."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement

from heal_bot.action.action_context import INPUTS
from heal_bot.core import settings
from heal_bot.core.settings import Settings

ROOT = Path(__file__).parents[2]
OURS = sorted((ROOT / ".github/workflows").glob("*.yml"))
SNIPPETS = sorted((ROOT / "docs/workflows").glob("*.yml"))
ACTION = yaml.safe_load((ROOT / "action.yml").read_text())
# Settings that the runner's environment gives, and that no input may say.
FROM_RUNNER = {
    "github_api_url", "github_server_url", "github_repository", "github_run_id", "virtual_env",
    "cache_dir", "scratch_dir", "anthropic_base_url", "gemini_base_url", "workspace",
    "github_ref_name", "hidden",
}  # fmt: skip
# The command line's alone: what these models need beside a key is not in the image.
OF_CLOUDS = {
    "bedrock_token", "bedrock_base_url", "aws_region",
    "vertex_token", "vertex_base_url", "vertex_project", "vertex_region",
}  # fmt: skip


def load(path: Path):
    """A workflow; YAML 1.1 reads the key `on` as true."""
    data = yaml.safe_load(path.read_text())
    return {("on" if key is True else key): value for key, value in data.items()}


def steps(path: Path):
    return [s for job in load(path)["jobs"].values() for s in job.get("steps", ())]


def test_every_setting_is_an_input_or_comes_from_the_runner() -> None:
    left = FROM_RUNNER | OF_CLOUDS
    settings = {name.replace("_", "-") for name in Settings.model_fields if name not in left}
    assert settings - INPUTS == set()
    assert set(ACTION["inputs"]) == INPUTS


def test_every_input_has_a_description_and_a_default() -> None:
    for name, given in ACTION["inputs"].items():
        assert len(given["description"]) > 20, name
        assert "default" in given, name


def test_what_most_workflows_set_stands_first() -> None:
    assert list(ACTION["inputs"])[:3] == ["junit", "anthropic-api-key", "mode"]


def test_the_inputs_have_the_groups_of_the_documentation() -> None:
    groups = re.findall(r"^  # (.+)\.$", (ROOT / "action.yml").read_text(), re.MULTILINE)
    headings = re.findall(r"^## (.+)$", (ROOT / "docs/inputs.md").read_text(), re.MULTILINE)
    assert [*groups, "Outputs"] == headings


def test_the_table_of_inputs_is_that_of_the_action() -> None:
    rows = re.findall(r"^\| `([\w-]+)` \| ", (ROOT / "docs/inputs.md").read_text(), re.MULTILINE)
    assert rows == [*ACTION["inputs"], *ACTION["outputs"]]


def test_the_action_names_the_dockerfile_or_a_digest() -> None:
    image = ACTION["runs"]["image"]
    assert image == "Dockerfile" or re.fullmatch(r"docker://[\w./-]+@sha256:[0-9a-f]{64}", image)


def test_the_image_installs_only_what_its_lock_holds_with_hashes() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    wanted = project["dependencies"] + project["optional-dependencies"]["uv"]
    locked = dict(
        re.findall(r"^([\w.-]+)==([\w.]+)", (ROOT / "locks/image.txt").read_text(), re.MULTILINE)
    )
    for line in map(Requirement, wanted):
        name = line.name.lower()
        assert name in locked, f"{name}: run make locks"
        assert line.specifier.contains(locked[name]), f"{name} {locked[name]}: run make locks"
    text = (ROOT / "Dockerfile").read_text()
    assert text.count("--require-hashes -r locks/") == 2
    assert "python -m compileall" in text.rpartition("FROM ")[2]
    assert "USER" not in re.findall(r"^([A-Z]+) ", text, re.MULTILINE)


@pytest.mark.parametrize("path", [*OURS, *SNIPPETS], ids=lambda path: path.name)
def test_a_workflow_gives_no_right_by_default(path: Path) -> None:
    workflow = load(path)
    assert workflow["permissions"] == {}
    assert all(job.get("permissions") for job in workflow["jobs"].values())


@pytest.mark.parametrize("path", [*OURS, *SNIPPETS], ids=lambda path: path.name)
def test_foreign_actions_are_pinned_and_scripts_hold_no_expression(path: Path) -> None:
    for step in steps(path):
        if "uses" in step and not step["uses"].startswith(
            ("heal-bot/heal-bot@v1", "docker://ghcr.io/heal-bot/heal-bot:v1", "./")
        ):
            assert re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", step["uses"]), step["uses"]
        assert "${{" not in step.get("run", "")


@pytest.mark.parametrize("path", [*OURS, *SNIPPETS], ids=lambda path: path.name)
def test_a_job_with_rights_to_write_runs_no_code_of_a_foreign_head(path: Path) -> None:
    for job in load(path)["jobs"].values():
        writes = any(v == "write" for v in (job.get("permissions") or {}).values())
        checkouts = [s for s in job.get("steps", ()) if "checkout" in s.get("uses", "")]
        refs = [step["with"].get("ref", "") for step in checkouts]
        assert not (writes and any("head" in str(ref) for ref in refs))


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.name)
def test_nobody_else_s_event_pushes_a_waiting_run_out(path: Path) -> None:
    workflow = load(path)
    groups = [workflow, *workflow["jobs"].values()]
    names = [one["concurrency"]["group"] for one in groups if "concurrency" in one]
    assert names
    if "issue_comment" in workflow["on"]:
        assert "concurrency" not in workflow
        assert all("github.actor" in name for name in names)
    if "workflow_run" in workflow["on"]:
        assert all("head_repository.full_name" in name for name in names)
    if "repository_dispatch" in workflow["on"]:
        assert all("client_payload" in name for name in names)


CALLED = [path for path in OURS if "workflow_call" in load(path)["on"]]


def groups(path: Path) -> list[str]:
    workflow = load(path)
    every = [workflow, *workflow["jobs"].values()]
    return [one["concurrency"]["group"] for one in every if "concurrency" in one]


@pytest.mark.parametrize("path", CALLED, ids=lambda path: path.name)
def test_a_workflow_that_is_called_has_a_group_that_no_caller_has(path: Path) -> None:
    # Of the same name they would wait for each other; github.workflow is the caller's there.
    mine = groups(path)
    assert mine
    assert not any("github.workflow" in name.replace("github.workflow_", "") for name in mine)
    others = [name for other in (*OURS, *SNIPPETS) if other != path for name in groups(other)]
    assert not {name.partition("${{")[0] for name in mine} & {
        name.partition("${{")[0] for name in others
    }


def test_every_image_that_a_workflow_runs_has_a_tag_that_a_release_pushes() -> None:
    released = (ROOT / ".github/workflows/release.yml").read_text()
    pushed = set(re.findall(r'--tag "\$IMAGE:([\w.]+)"', released))
    used = [s["uses"] for path in (*OURS, *SNIPPETS) for s in steps(path) if "uses" in s]
    images = {name for name in used if name.startswith("docker://")}
    assert images
    assert {name.rpartition(":")[2] for name in images} <= pushed
    move = load(ROOT / ".github/workflows/release.yml")["jobs"]["move"]
    assert move["permissions"] == {"contents": "write", "packages": "write"}
    assert {"index", "smoke"} <= set(move["needs"])


def test_a_release_is_one_index_over_an_image_of_each_machine() -> None:
    jobs = load(ROOT / ".github/workflows/release.yml")["jobs"]
    built = {one["machine"] for one in jobs["image"]["strategy"]["matrix"]["include"]}
    assert built == {"amd64", "arm64"} == set(jobs["image"]["outputs"])
    (join,) = (step for step in jobs["index"]["steps"] if step.get("id") == "join")
    joined = {join["env"][name] for name in re.findall(r'"\$IMAGE@\$(\w+)"', join["run"])}
    assert joined == {f"${{{{ needs.image.outputs.{name} }}}}" for name in built}
    for name in ("tag", "move"):
        told = [s["env"]["DIGEST"] for s in jobs[name]["steps"] if "env" in s]
        assert told == ["${{ needs.index.outputs.digest }}"]


def test_a_release_is_tried_on_each_machine_before_v1_moves() -> None:
    tried = load(ROOT / ".github/workflows/smoke.yml")["jobs"]
    image = load(ROOT / ".github/workflows/release.yml")["jobs"]["image"]
    runners = {one["runner"] for one in image["strategy"]["matrix"]["include"]}
    for job in tried.values():
        assert set(job["strategy"]["matrix"]["runner"]) == runners
        assert job["runs-on"] == "${{ matrix.runner }}"


def test_a_plan_without_a_shard_skips_the_matrix() -> None:
    jobs = load(ROOT / ".github/workflows/heal-matrix.yml")["jobs"]
    assert set(jobs["plan"]["outputs"]) == {"matrix", "shards"}
    assert jobs["heal"]["if"] == "needs.plan.outputs.shards != '0'"
    assert "needs.heal.result != 'skipped'" in jobs["merge"]["if"]
    assert "needs.merge.result == 'success'" in jobs["publish"]["if"]


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.name)
def test_what_a_snippet_hands_to_the_action_or_a_workflow_is_known_there(path: Path) -> None:
    for step in steps(path):
        if step.get("uses", "").startswith("heal-bot/heal-bot@"):
            assert set(step.get("with", {})) <= INPUTS
    for job in load(path)["jobs"].values():
        if called := job.get("uses"):
            name = called.rpartition("/")[2].partition("@")[0]
            takes = load(ROOT / ".github/workflows" / name)["on"]["workflow_call"]
            assert set(job.get("with", {})) <= set(takes.get("inputs", {}))
            assert set(job.get("secrets", {})) <= set(takes.get("secrets", {}))


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_commands_in_a_container_step_are_verbs_with_known_options(path: Path) -> None:
    from click import Context

    from heal_bot.cli.command_group import cli

    for step in steps(path):
        if not step.get("uses", "").startswith("docker://"):
            continue
        words = re.sub(r"\$\{\{.*?\}\}", "1", step["with"]["args"]).split()
        assert words[:3] == ["-I", "-m", "heal_bot"]
        command = cli.get_command(Context(cli), words[3])
        assert command is not None
        known = {option for parameter in command.params for option in parameter.opts}
        assert {word for word in words[4:] if word.startswith("--")} <= known


# How the environment of the tests is said to the verbs that run them.
RUNNING = {"heal", "merge", "verify"}
# What of it the verb reads that runs none.
READ = {"plan": ("test-command", "working-directory")}
ENVIRONMENT = ("python-version", "setup", "test-command", "working-directory")


def said(name: str) -> str:
    return f"${{{{ inputs.{name} }}}}"


def inputs_of(path: Path):
    return (load(path)["on"].get("workflow_call") or {}).get("inputs", {})


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_what_runs_tests_in_a_container_step_is_told_of_their_environment(path: Path) -> None:
    variables = {
        name: settings._FROM_ENVIRONMENT[name.replace("-", "_")][0] for name in ENVIRONMENT
    }
    for step in steps(path):
        if step.get("uses", "").startswith("docker://"):
            verb = step["with"]["args"].split()[3]
            names = ENVIRONMENT if verb in RUNNING else READ.get(verb, ())
            told = {k: v for k, v in step.get("env", {}).items() if k in variables.values()}
            assert told == {variables[name]: said(name) for name in names}
            assert set(names) <= set(inputs_of(path))


def test_the_shards_and_their_union_are_told_what_the_action_takes_as_inputs() -> None:
    path = ROOT / ".github/workflows/heal-matrix.yml"
    names = ("paths", "verify-command", "system-packages", "build-hosts")
    given = {
        variable: said(name)
        for name in names
        for variable in settings._FROM_ENVIRONMENT[name.replace("-", "_")]
    }
    assert len(given) == len(names) == len(set(names) & set(inputs_of(path)) & INPUTS)
    told = [s for s in steps(path) if s["uses"].startswith("docker://")]
    told = [s for s in told if s["with"]["args"].split()[3] in RUNNING]
    assert len(told) == 2
    assert all(given.items() <= step["env"].items() for step in told)


@pytest.mark.parametrize("path", OURS, ids=lambda path: path.name)
def test_every_input_of_a_workflow_is_used_and_where_the_action_has_it_too_called_alike(
    path: Path,
) -> None:
    text = path.read_text()
    for name, given in inputs_of(path).items():
        assert re.search(rf"inputs\.{name}\b", text), name
        assert given.get("required") or "default" in given, name
    for step in steps(path):
        if step.get("uses", "").startswith("heal-bot/heal-bot@"):
            handed = {k: v for k, v in step["with"].items() if "inputs." in str(v)}
            # The runner is the job's, not the step's.
            assert handed == {name: said(name) for name in inputs_of(path) if name != "runner"}
            assert set(step["with"]) <= INPUTS


def test_each_step_of_the_matrix_that_heals_or_deals_reads_the_settings_file() -> None:
    path = ROOT / ".github/workflows/heal-matrix.yml"
    ran = {s["with"]["args"].split()[3]: s["env"] for s in steps(path) if "docker" in s["uses"]}
    read = {verb for verb, given in ran.items() if given.get("HEAL_BOT_CONFIG") == said("config")}
    assert read == {"plan", "heal", "merge"}
    assert ran["heal"]["HEAL_BOT_MODEL"] == said("model")


@pytest.mark.parametrize("name", ["heal-matrix", "publish"])
def test_what_publishes_is_told_who_is_to_hear_of_it(name: str) -> None:
    from heal_bot.cli.publish import command

    path = ROOT / f".github/workflows/{name}.yml"
    published = next(s for s in steps(path) if " publish " in s.get("with", {}).get("args", ""))
    read = {p.envvar: p.name for p in command.params if getattr(p, "envvar", None)}
    assert set(read.values()) == {"labels", "reviewers", "assignees"}
    assert {k: said(v) for k, v in read.items()}.items() <= published["env"].items()


@pytest.mark.parametrize("path", CALLED, ids=lambda path: path.name)
def test_whoever_calls_a_workflow_that_publishes_may_give_the_token_of_an_app(path: Path) -> None:
    workflow = load(path)
    writes = any("write" in job["permissions"].values() for job in workflow["jobs"].values())
    taken = workflow["on"]["workflow_call"].get("secrets", {})
    assert writes == ("github-token" in taken)
    assert "runner" in inputs_of(path) or path.name == "smoke.yml"


def test_the_workflows_that_fork_safe_calls_are_told_alike() -> None:
    first, second = (
        ROOT / ".github/workflows" / f"{n}.yml" for n in ("heal-unprivileged", "verify")
    )
    assert {n: inputs_of(first)[n] for n in ENVIRONMENT} == {
        n: inputs_of(second)[n] for n in ENVIRONMENT
    }
    assert inputs_of(first)["artifacts"]["default"] == inputs_of(second)["artifacts"]["default"]


@pytest.mark.parametrize(
    ("name", "jobs"),
    [("heal-matrix", {"heal", "merge"}), ("heal-unprivileged", {"heal"}), ("verify", {"verify"})],
)
def test_every_job_that_runs_tests_has_the_versions_of_the_failing_run(
    name: str, jobs: set[str]
) -> None:
    workflow = load(ROOT / f".github/workflows/{name}.yml")
    carried = set()
    for title, job in workflow["jobs"].items():
        told = [s.get("env", {}).get("HEAL_BOT_FREEZE") for s in job["steps"]]
        loads = [s["with"].get("pattern", "") for s in job["steps"] if "download" in s["uses"]]
        if ".heal-bot/reports/**/freeze.txt" in told:
            assert {"${{ inputs.artifacts }}", "heal-bot-freeze*"} & set(loads), title
            carried.add(title)
    assert carried == jobs


@pytest.mark.parametrize("path", SNIPPETS, ids=lambda path: path.name)
def test_a_snippet_that_freezes_hands_the_file_on(path: Path) -> None:
    for job in load(path)["jobs"].values():
        inner = job.get("steps", ())
        if any("pip freeze > freeze.txt" in step.get("run", "") for step in inner):
            given = [str(step.get("with", {})) for step in inner]
            assert any("freeze.txt" in text for text in given)
