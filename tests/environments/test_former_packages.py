"""Which packages were others at the last good state, and environments that have them again."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from heal_bot.checkout.bare_repository import Repository
from heal_bot.core.errors import ProvisionError
from heal_bot.core.model import Bump, RunHints
from heal_bot.core.text import Secret
from heal_bot.environments.environment_request import Access, Wanted
from heal_bot.environments.local_workspace import LocalWorkspace
from heal_bot.testrun.wheel_builder import SandboxBuilder

pytestmark = pytest.mark.long
LOCK = '[[package]]\nname = "dep"\nversion = "{}"\n\n[[package]]\nname = "core"\nversion = "{}"\n'
PROJECT = '[project]\nname = "mine"\nversion = "1.0"\ndependencies = ["dep"]\n'


@pytest.fixture
def world(run, source, git, tmp_path, reachable, warehouse, sandbox):
    """Commits states of files in turn; the workspace, the tree of the last, its environment."""

    def make(*states: dict[str, str], python: Path | None = None):
        for files in states:
            for path, text in files.items():
                (source / path).write_text(text)
            git(source, "add", "-A")
            git(source, "commit", "-qm", "Files", "--allow-empty")
        scratch = tmp_path / "scratch"
        workspace = LocalWorkspace(
            Repository.of(run, source, scratch), scratch, reachable / "cache", python,
            builder=SandboxBuilder(sandbox), wanted=Wanted(access=Access(Secret(warehouse.url))),
        )  # fmt: skip
        tree = workspace.checkout(run, "HEAD")
        return workspace, tree, workspace.provision(run, tree, RunHints())

    return make


def former(run, world, good: str = "", green: float = 0.0) -> tuple[Bump, ...]:
    workspace, tree, env = world
    return workspace.former_versions(run, tree, env, RunHints(), good, green)


def inside(env, code: str) -> str:
    done = subprocess.run([env.python, "-IB", "-c", code], capture_output=True, text=True, cwd="/")
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ({"uv.lock": LOCK.format("1.0", "1.0")}, {"uv.lock": LOCK.format("2.0", "1.0")}),
        ({"requirements.txt": "dep==1.0\ncore\n"}, {"requirements.txt": "dep==2.0\ncore\n"}),
        ({"requirements.txt": "dep<2\n"}, {"requirements.txt": "dep\n"}),
    ],
    ids=["lock", "requirements", "range"],
)
def test_versions_are_those_before_the_commits_under_test(run, world, warehouse, before, now):
    for version in ("1.0", "2.0"):
        warehouse.wheel("dep", version)
    warehouse.wheel("core")
    made = world({"pyproject.toml": PROJECT, **before}, now)
    assert former(run, made) == (Bump("dep", "1.0", "2.0"),)


def test_a_package_takes_along_what_its_version_needs(run, world, warehouse):
    warehouse.wheel("dep", "1.0", requires=["core==1.0", "gone"])
    warehouse.wheel("dep", "2.0", requires=["core==2.0", "steady"])
    for version in ("1.0", "2.0"):
        warehouse.wheel("core", version)
    warehouse.wheel("gone", "0.3")
    warehouse.wheel("steady")
    made = world({"requirements.txt": "dep==1.0\n"}, {"requirements.txt": "dep==2.0\n"})
    assert former(run, made) == (
        Bump("dep", "1.0", "2.0", ("core", "gone")),
        Bump("core", "1.0", "2.0", ("dep",)),
        Bump("gone", "0.3", ""),
    )


def test_a_copy_has_the_former_files_and_none_of_the_present_ones(
    run, world, warehouse, holds, reachable
):
    script = "dep-{}.dist-info/entry_points.txt"
    entry = "[console_scripts]\ndep-run = dep_{}:main\n"
    for version, name in (("1.0", "old"), ("2.0", "new")):
        main = {f"dep_{name}.py": "def main(): print(__name__)\n"}
        warehouse.wheel("dep", version, {**main, script.format(version): entry.format(name)})
    # What another package brings of pytest is not taken.
    warehouse.wheel("core", "1.0", {"pytest.py": "version = 'foreign'\n"})
    warehouse.wheel("core", "2.0")
    lines = "dep=={0}\ncore=={0}\n"
    made = world({"requirements.txt": lines.format("1.0")}, {"requirements.txt": lines.format(2)})
    bumps = former(run, made)
    workspace, _, env = made
    then = workspace.with_former(run, env, bumps)
    assert not workspace.changed(env)
    assert not workspace.changed(then)
    assert holds(env) == {"dep": "2.0", "core": "2.0", "pytest": "8.0"}
    assert holds(then) == {"dep": "1.0", "core": "1.0", "pytest": "8.0"}
    assert inside(then, "import dep, pytest, dep_old; print(dep.version, pytest.version)") == (
        "1.0 8.0"
    )
    assert inside(then, "import importlib.util; print(importlib.util.find_spec('dep_new'))") == (
        "None"
    )
    started = subprocess.run(
        [then.python, "-B", f"{then.prefix}/bin/dep-run"], capture_output=True, text=True
    )
    assert started.stdout == "dep_old\n", started.stderr
    assert inside(env, "import dep; print(dep.version)") == "2.0"
    some = workspace.with_former(run, env, [bump for bump in bumps if bump.name == "dep"])
    assert holds(some) == {"dep": "1.0", "core": "2.0", "pytest": "8.0"}
    assert workspace.with_former(run, env, bumps) == then


def test_an_index_is_asked_for_what_it_had_when_the_commit_was_green(run, world, warehouse):
    for version, year in (("1.0", 2020), ("2.0", 2024), ("3.0", 2025)):
        warehouse.wheel("dep", version, uploaded=f"{year}-06-01T00:00:00Z")
    warehouse.wheel("pytest", "8.1", uploaded="2020-01-01T00:00:00Z")
    made = world({"requirements.txt": "dep\n"}, {"notes.txt": "\n"})
    assert former(run, made) == (Bump("dep", "1.0", "3.0"),)
    # Commits are of 2024-01-01, the last green run of 2024-12-31.
    assert former(run, made, made[1].sha, 1_735_600_000.0) == (Bump("dep", "2.0", "3.0"),)


def test_an_index_that_does_not_tell_times_is_taken_as_it_is(run, world, warehouse, events):
    for version in ("1.0", "2.0"):
        warehouse.wheel("dep", version)
    made = world({"requirements.txt": "dep\n"}, {"notes.txt": "\n"})
    assert former(run, made) == ()
    assert any("does not tell what it had then" in getattr(e, "message", "") for e in events)


def test_an_environment_that_is_there_is_compared_by_what_is_installed(run, world, warehouse, venv):
    warehouse.wheel("dep", "1.0")
    warehouse.wheel("linked", "1.0")
    warehouse.wheel("bare", "1.0")
    warehouse.wheel("odd", "1.0")
    site = next(venv.glob("lib/python3*/site-packages"))
    (site / "dep.py").write_text("version = '2.0'\n")
    for name in ("dep", "linked", "bare", "mine"):
        info = site / f"{name}-2.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 2.0\n")
    (site / "dep-2.0.dist-info/RECORD").write_text("dep.py,,\ndep-2.0.dist-info/METADATA,,\n")
    (site / "odd-2004d.dist-info").mkdir()
    (site / "odd-2004d.dist-info/METADATA").write_text("Name: odd\n")
    (site / "linked-2.0.dist-info/direct_url.json").write_text("{}")
    lines = "dep==1.0\nlinked==1.0\nbare==1.0\nodd==1.0\npytest\n"
    made = world({"requirements.txt": lines, "pyproject.toml": PROJECT}, {"n.txt": ""}, python=venv)
    bumps = former(run, made)
    assert [bump for bump in bumps if bump.name != "pytest"] == [Bump("dep", "1.0", "2.0")]
    then = made[0].with_former(run, made[2], bumps)
    assert inside(then, "import dep; print(dep.version)") == "1.0"


def test_without_the_commit_before_nobody_can_tell(run, world, tmp_path, git, source):
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{source}", str(shallow))
    workspace, _, env = world({"n.txt": ""})
    other = LocalWorkspace(
        Repository.of(run, shallow, tmp_path / "other"), tmp_path / "other", workspace.cache,
        builder=workspace.builder,
    )  # fmt: skip
    with pytest.raises(ProvisionError, match="is not here: give checkout a fetch-depth of 2"):
        former(run, (other, other.checkout(run, "HEAD"), env))


def test_as_nobody_the_copy_can_be_read(run, world, warehouse):
    for version in ("1.0", "2.0"):
        warehouse.wheel("dep", version)
    made = world({"requirements.txt": "dep==1.0\n"}, {"requirements.txt": "dep==2.0\n"})
    then = made[0].with_former(run, made[2], former(run, made))
    user = 64001 if os.geteuid() == 0 else None
    done = subprocess.run(
        [then.python, "-I", "-c", "import dep; print(dep.version)"], cwd="/", user=user,
        group=user, extra_groups=[] if user else None, capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout == "1.0\n", done.stderr
