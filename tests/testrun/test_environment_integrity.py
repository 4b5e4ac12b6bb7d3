"""An environment that changes while tests run in it is seen after the run, beside what follows."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from heal_bot.core.errors import SandboxError
from heal_bot.core.model import Environment
from heal_bot.testrun.environment_integrity import Vigil
from tests.fakes import ENVIRONMENT

OTHER = replace(ENVIRONMENT, prefix="/other")


def test_runs_that_end_while_a_look_is_due_share_it() -> None:
    go, looks = threading.Event(), []

    def changed(env) -> bool:
        looks.append(env.prefix)
        assert go.wait(10)
        return False

    vigil = Vigil(changed)
    for _ in range(6):
        with vigil.during(ENVIRONMENT):
            pass
    go.set()
    vigil.close()
    assert len(looks) <= 2


def test_runs_side_by_side_share_the_look_after_the_last_of_them() -> None:
    looks: list[str] = []

    def changed(env: Environment) -> bool:
        looks.append(env.prefix)
        return False

    vigil = Vigil(changed)
    with vigil.during(ENVIRONMENT):
        with vigil.during(ENVIRONMENT):
            pass
        with vigil.during(OTHER):
            pass
    vigil.close()
    assert looks == [OTHER.prefix, ENVIRONMENT.prefix]


def test_a_change_ends_the_next_run_in_that_environment_alone() -> None:
    vigil = Vigil(lambda env: env == ENVIRONMENT)
    with vigil.during(ENVIRONMENT), vigil.during(OTHER):
        pass
    vigil.close()
    with (
        pytest.raises(SandboxError, match="the environment /usr changed while tests ran"),
        vigil.during(ENVIRONMENT),
    ):
        raise AssertionError("nothing runs there")
    with vigil.during(OTHER):
        pass
