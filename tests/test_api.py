from __future__ import annotations

import subprocess
import sys

import pytest

import heal_bot
from heal_bot import api


def test_the_package_offers_the_run_and_loads_it_when_asked_for() -> None:
    code = "import heal_bot, sys; print([n for n in sys.modules if n.startswith('heal_bot.')])"
    done = subprocess.run([sys.executable, "-I", "-c", code], capture_output=True, text=True)
    assert done.stdout == "[]\n"
    assert heal_bot.heal is api.heal
    assert heal_bot.aheal is api.aheal


def test_what_the_package_does_not_offer_is_an_error() -> None:
    with pytest.raises(AttributeError, match="magic"):
        heal_bot.magic  # noqa: B018
