from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import heal_bot
from heal_bot import api, wiring
from heal_bot.core import settings
from heal_bot.core.events import Event, SuiteFinished
from tests.github_server import records


def test_the_package_offers_the_run_and_loads_it_when_asked_for() -> None:
    code = "import heal_bot, sys; print([n for n in sys.modules if n.startswith('heal_bot.')])"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert done.stdout == "['heal_bot.core']\n"
    assert heal_bot.heal is api.heal
    assert heal_bot.aheal is api.aheal


def test_what_the_package_does_not_offer_is_an_error() -> None:
    with pytest.raises(AttributeError, match="magic"):
        heal_bot.magic  # noqa: B018


@pytest.mark.long
@pytest.mark.parametrize("ready", [False, True], ids=["before the tests", "after the baseline"])
def test_a_run_that_is_stopped_early_is_called_interrupted(tmp_path: Path, ready: bool) -> None:
    repo = records.write(tmp_path / "repo", records.FILES)
    for args in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "shop"]):
        who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
        subprocess.run(["git", *who, *args], cwd=repo, check=True)
    seen: list[Event] = []
    chosen = settings.load({}, options={"proposers": ("rules",), "sandbox": "reduced"})
    job = wiring.HealJob(repo, tmp_path / "out", python=Path(sys.executable))

    def stopped() -> bool:
        return not ready or any(isinstance(event, SuiteFinished) for event in seen)

    record = api.heal(job, chosen, seen.append, stopped)
    assert (record.status, record.stopped, record.patch) == ("not_healed", "interrupted", None)
    # What ends before the search took its time as well.
    assert record.cost.seconds > 0
