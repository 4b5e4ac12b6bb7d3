"""The package as its users get it: the built wheel, in environments that never saw the sources."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Sequence
from pathlib import Path

import pytest
import yaml

from benchmarks._timed import write_project
from heal_bot.core import VERSION

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
UV = str(Path(sys.executable).parent / "uv")


def test_the_pythons_that_are_claimed_are_those_that_ci_runs() -> None:
    ci = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())
    run = ci["jobs"]["check"]["strategy"]["matrix"]["python"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(PROJECT["classifiers"]))
    assert named == run
    assert PROJECT["requires-python"] == f">={run[0]}"


def call(*argv: str | Path, cwd: Path, code: int = 0) -> str:
    done = subprocess.run([*map(str, argv)], cwd=cwd, capture_output=True, text=True, timeout=600)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    call(UV, "build", "--wheel", "--quiet", "--out-dir", folder, ROOT, cwd=folder)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path) -> Path:
    """The `bin` of an environment that holds the wheel, its requirements and pytest."""
    venv = wheel.parent / "venv"
    call(UV, "venv", "--quiet", "--python", sys.executable, venv, cwd=wheel.parent)
    python = ("--python", venv / "bin/python")
    call(UV, "pip", "install", "--quiet", *python, wheel, "pytest", cwd=wheel.parent)
    return venv / "bin"


@pytest.mark.slow
def test_the_wheel_holds_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    listed = call("git", "ls-files", "heal_bot", cwd=ROOT).splitlines()
    files = [name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name]
    assert sorted(files) == sorted(listed)
    assert "heal_bot/py.typed" in files


@pytest.mark.slow
def test_a_fresh_environment_has_the_program_and_the_plugin(installed: Path) -> None:
    assert call(installed / "heal-bot", "--version", cwd=installed).split()[-1] == VERSION
    assert "--heal-apply" in call(installed / "pytest", "--help", cwd=installed)


@pytest.mark.slow
def test_what_is_installed_heals_a_project_and_writes_its_report(
    installed: Path, tmp_path: Path
) -> None:
    repo, out = write_project(tmp_path / "repo"), tmp_path / "out"
    doctor = subprocess.run([installed / "heal-bot", "doctor"], capture_output=True, timeout=120)
    mode = "reduced" if doctor.returncode else "strict"
    said = call(
        installed / "heal-bot", "heal", "--repo", repo, "--out", out, "--sandbox", mode,
        "--python", installed.parent, "--proposers", "rules", "--exit-code", cwd=tmp_path,
    )  # fmt: skip
    assert "Fix proposed: 2 of 2 failing tests are fixed" in said
    assert json.loads((out / "outcome.json").read_text())["status"] == "healed"
    assert "</html>" in (out / "report.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "runner",
    [("--from", "{wheel}", "heal-bot"), ("pipx", "run", "--spec", "{wheel}", "heal-bot")],
    ids=["uvx", "pipx"],
)
def test_it_runs_without_being_installed(wheel: Path, runner: Sequence[str]) -> None:
    words = [word.format(wheel=wheel) for word in runner]
    assert VERSION in call(UV, "tool", "run", "--quiet", *words, "--version", cwd=wheel.parent)
