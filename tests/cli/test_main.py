from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heal_bot.cli.verbs import VERBS

MODULES = {verb: f"heal_bot.cli.{verb}" for verb in VERBS} | {"action": "heal_bot.action.entry"}
COMMANDS = Path(__file__).parents[2] / "heal_bot" / "cli"


def _heal_bot(*args: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-m", "heal_bot", *args],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin"},
    )


HEAVY = {"libcst", "lxml", "anthropic", "google.genai", "httpx", "github", "pydantic", "rich",
         "click", "dataclasses", "heal_bot.core.text"}  # fmt: skip
SDKS = {"anthropic", "google.genai", "openai", "github", "httpx", "genai_prices"}


def _loaded(code: str, names: set[str]) -> str:
    """Which of the modules are loaded after the code, as it prints them; its output before."""
    code += f"\nimport sys\nprint('loaded', sorted(set({sorted(names)}) & sys.modules.keys()))"
    argv = [sys.executable, "-I", "-c", code]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_lists_every_verb_and_loads_none() -> None:
    said = _loaded("from heal_bot.cli.main import _run\n_run(['--help'])", HEAVY)
    assert said.endswith("loaded []\n")
    assert all(verb in said for verb in VERBS)


def test_no_sdk_is_loaded_before_it_is_used() -> None:
    verbs = ", ".join(f"heal_bot.cli.{verb}" for verb in ("heal", "explain", "apply"))
    said = _loaded(f"import heal_bot.api, heal_bot.wiring, {verbs}", SDKS)
    assert said.endswith("loaded []\n")


def test_no_verb_loads_what_does_its_work_for_its_help_or_a_completion() -> None:
    work = HEAVY - {"click", "dataclasses", "heal_bot.core.text"}
    verbs = ", ".join(MODULES.values())
    said = _loaded(f"import {verbs}", work | {"yaml", "heal_bot.wiring", "heal_bot.pipeline"})
    assert said.endswith("loaded []\n")


def test_every_verb_has_its_module_and_every_module_with_a_command_its_verb() -> None:
    commands = {p.stem for p in COMMANDS.glob("*.py") if "\ndef command(" in p.read_text()}
    assert {f"heal_bot.cli.{name}" for name in commands} | {MODULES["action"]} == {
        *MODULES.values()
    }


def test_help_is_the_same_text_with_other_options_too() -> None:
    assert _heal_bot("--help", "heal").stdout == _heal_bot("--help").stdout


@pytest.mark.long
@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_explains_itself(verb: str) -> None:
    done = _heal_bot(verb, "--help")
    assert done.returncode == 0, done.stderr
    assert "Usage: heal-bot " + verb in done.stdout


@pytest.mark.parametrize(
    ("args", "named"),
    [
        (("heall",), "heall"),
        (("heal", "--max-usd", "lots"), "lots"),
        (("heal", "--proposers", "magic"), "proposers"),
        (("explain", "nowhere"), "nowhere"),
        (("heal", "--repo", "nowhere"), "nowhere"),
    ],
)
def test_a_wrong_call_ends_with_code_2_and_one_line(
    tmp_path: Path, args: tuple[str, ...], named: str
) -> None:
    done = _heal_bot(*args, cwd=tmp_path)
    assert done.returncode == 2
    assert named in done.stderr
    assert "Traceback" not in done.stderr


def test_a_module_in_the_current_folder_is_never_imported(tmp_path: Path) -> None:
    (tmp_path / "yaml.py").write_text("raise SystemExit('hijacked')")
    (tmp_path / "heal_bot.py").write_text("raise SystemExit('hijacked')")
    assert "hijacked" not in _heal_bot("explain", "nowhere", cwd=tmp_path).stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
def test_what_a_verb_wrote_in_a_job_belongs_to_the_workspace_s_owner(tmp_path: Path) -> None:
    bundle = tmp_path / ".heal-bot" / "bundle"
    bundle.mkdir(parents=True)
    os.chown(tmp_path, 1001, 1002)
    code = "from heal_bot.cli.main import main; main(['explain', 'nowhere'])"
    environ = {"PATH": "/usr/bin:/bin", "GITHUB_WORKSPACE": str(tmp_path),
               "PYTHONPATH": str(COMMANDS.parents[1])}  # fmt: skip
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True)
    assert done.returncode == 2, done.stderr
    assert {path.stat().st_uid for path in (bundle, bundle.parent)} == {1001}
