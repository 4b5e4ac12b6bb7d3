"""All attacks and bombs where an action runs: Docker's default profile and capabilities."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

import pytest

attacks, bombs, engines = (sys.modules[name] for name in ("attacks", "bombs", "engines"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(os.geteuid() != 0, reason="a container's root is played by ours"),
]
# What must work without the sandbox in a real engine, or its attacks prove nothing.
REACHABLE = ("023-docker-socket", "013-list-the-workspace", "043-source-file", "020-UDP-datagram")


@pytest.fixture(scope="module", params=["docker", "stand-in"])
def told(request: pytest.FixtureRequest) -> Iterator[dict[str, Any]]:
    if request.param == "stand-in":
        yield engines.stand_in().run()
        return
    with engines.docker() as engine:
        if engine is None:
            pytest.skip("no dockerd here; python tests/sandbox/engines.py unpacks one")
        yield {**engine.run(), "engine": engine.version}


def test_it_is_first_in_its_container_with_the_engines_own_filter_and_capabilities(told) -> None:
    assert told["pid"] == 1
    assert int(told["capabilities"], 16) == engines.DOCKER_CAPABILITIES
    assert told["seccomp"] == "2"
    assert not told["namespace"]


def test_every_layer_holds_there(told) -> None:
    assert told["missing"] == []
    assert {"uid", "seccomp", "preflight 10/10"} <= set(told["layers"])


def test_every_attack_ends_as_the_table_says(told) -> None:
    escaped = {
        attack.id: told["sandboxed"][attack.id]
        for attack in attacks.ATTACKS
        if (told["sandboxed"][attack.id] == "ok") != bool(attack.allowed)
    }
    assert escaped == {}


def test_the_engine_alone_stops_few_of_them(told) -> None:
    works = {name for name, outcome in told["bare"].items() if outcome == "ok"}
    assert set(REACHABLE) <= works
    assert "engine" not in told or "142-socket-of-the-container-engine" in works


def test_every_bomb_ends_bounded_and_the_slot_goes_on(told) -> None:
    wrong = {
        bomb.id: told["bombs"][bomb.id]
        for bomb in bombs.BOMBS
        if told["bombs"][bomb.id]["how"] not in (*bomb.ends, bomb.contained)
        or told["bombs"][bomb.id]["left"]
        or told["bombs"][bomb.id]["again"] != ["exited", 0]
    }
    assert wrong == {}
