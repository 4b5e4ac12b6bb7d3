from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heal_bot.cli.verbs import VERBS

HEAL_BOT = Path(sys.executable).parent / "heal-bot"


def _heal_bot(*args: str, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(HEAL_BOT), *args],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": "/usr/bin:/bin", **environ},
    )


def _completed(line: str) -> list[str]:
    """What bash offers for the last word of a line, by the script that the command prints."""
    words = line.split(" ")
    code = (
        f'eval "$({HEAL_BOT} completion bash)"\n'
        f'COMP_WORDS=("$@"); COMP_CWORD={len(words) - 1}\n'
        f'_heal_bot_completion "{HEAL_BOT}"; printf "%s\\n" "${{COMPREPLY[@]}}"'
    )
    done = subprocess.run(
        ["/bin/bash", "--norc", "-c", code, "bash", *words],
        capture_output=True,
        text=True,
        timeout=60,
        env={"PATH": os.environ["PATH"]},
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("heal-bot ver", ["verify"]),
        ("heal-bot heal --max-m", ["--max-minutes"]),
        ("heal-bot heal --sandbox ", ["strict", "reduced"]),
        ("heal-bot completion z", ["zsh"]),
    ],
)
def test_bash_completes_verbs_options_and_values(line: str, offered: list[str]) -> None:
    assert _completed(line) == offered


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script_of_their_own(shell: str) -> None:
    done = _heal_bot("completion", shell)
    assert done.returncode == 0, done.stderr
    assert f"_HEAL_BOT_COMPLETE={shell}_complete" in done.stdout


def test_verbs_are_offered_without_loading_any() -> None:
    code = (
        "import sys\nfrom heal_bot.cli.command_group import cli\n"
        "context = cli.make_context('heal-bot', [], resilient_parsing=True)\n"
        "print(*(item.value for item in cli.shell_complete(context, '')))\n"
        "print(*(name for name in sys.modules if name.startswith('heal_bot.cli.')))"
    )
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    verbs, loaded = map(str.split, done.stdout.splitlines())
    assert verbs == list(VERBS)
    assert sorted(loaded) == ["heal_bot.cli.command_group", "heal_bot.cli.verbs"]
