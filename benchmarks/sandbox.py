"""The sandbox in numbers: attacks refused, bombs ended, what it costs, which suites it changes.

`attacks` counts the whole list: payloads, bombs, what is tried on the way back, and what a job
could leave for another to hear; what is `allowed` is listed, and not counted.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks import _compat, _speed
from heal_bot.sandbox import processes
from heal_bot.sandbox.sandbox_client import Sandbox
from tests.sandbox import bombs, channels, engines, whispers, world

ROUNDS, SUITE_ROUNDS = 40, 20
_COMPAT_SECONDS = 900.0


def escaped(outcome: dict[str, str]) -> list[str]:
    """The payloads whose outcome differs from their table entry."""
    table = world.attacks.ATTACKS
    return [a.id for a in table if (outcome[a.id] == "ok") != bool(a.allowed)]


def on_the_way_back() -> list[str]:
    """Attacks on report files and records that our readers fell for."""
    found = []
    for attack in channels.ATTACKS:
        with tempfile.TemporaryDirectory() as folder:
            if attack.ours(Path(folder)):
                found.append(attack.id)
    return found


def overheard(sandbox: Sandbox) -> list[str]:
    """What a search could leave for the process that answers the oracle, and that hears it."""
    if os.geteuid() != 0:  # jobs share a uid then, and the oracle says so
        return []
    heard = whispers.is_heard
    return [each.id for each in whispers.CLOSED if heard(sandbox, each, alone=True)]


def explode() -> tuple[list[str], int]:
    """Every bomb: those that did not end as the table says, and the processes left in all."""
    outcomes = bombs.explode_all()
    wrong = [b.id for b in bombs.BOMBS if outcomes[b.id][0].how not in b.ends]
    return wrong, sum(len(alive) for _, _, alive in outcomes.values())


def contained() -> dict[str, Any]:
    """The same attacks and bombs where a container action runs: dockerd if there is one."""
    if os.geteuid() != 0:
        return {"engine": "none: not root", "escaped": [], "survivors": 0}
    with engines.docker() as engine:
        chosen = engine or engines.stand_in()
        told = chosen.run()
    ends = {b.id: (*b.ends, b.contained) for b in bombs.BOMBS}
    wrong = [name for name, found in told["bombs"].items() if found["how"] not in ends[name]]
    return {
        "engine": chosen.version,
        "escaped": escaped(told["sandboxed"]) + wrong,
        "survivors": sum(found["left"] for found in told["bombs"].values()),
        "missing": told["missing"],
    }


def main(argv: list[str]) -> int:
    """Run all parts and print one JSON object as the last line."""
    started = time.monotonic()
    result: dict[str, Any] = {}
    with Sandbox.start(slots=2) as sandbox:
        wrong = escaped(world.run_inside(sandbox)) + on_the_way_back()
        wrong += overheard(sandbox)
        with sandbox.slot() as slot:
            cost = _speed.layers(sandbox, slot, ROUNDS)
        cost.update(_speed.suites(sandbox, world.PYTHON, SUITE_ROUNDS))
        compat = _compat.compare(sandbox, started + _COMPAT_SECONDS)
        table = processes.list_processes()
        memory = max(table[pid].memory for pid in sandbox.supervisors())
        isolation = sandbox.isolation
    unbounded, survivors = explode()
    there = contained()
    allowed = [each for each in (*world.attacks.ATTACKS, *whispers.OPEN) if each.allowed]
    tables = (world.attacks.ATTACKS, bombs.BOMBS, channels.ATTACKS, whispers.CLOSED, whispers.OPEN)
    result = {
        "attacks": sum(map(len, tables)) - len(allowed),
        "escaped": wrong + unbounded,
        "allowed": [{"attack": each.id, "why": each.allowed} for each in allowed],
        "bombs": len(bombs.BOMBS),
        "survivors": survivors,
        **cost,
        "supervisor_mib": round(memory / (1 << 20), 1),
        "compat": compat,
        "container": there,
        "layers": isolation.layers,
        "missing": isolation.missing,
        **_speed.describe(),
        "seconds": round(time.monotonic() - started, 1),
    }
    result["complete"] = compat["projects"] >= _compat.LEAST
    if "--json" not in argv:
        for key, value in result.items():
            print(f"{key}: {value}")
    print(json.dumps(result))
    return 1 if result["escaped"] or survivors or there["escaped"] or there["survivors"] else 0
