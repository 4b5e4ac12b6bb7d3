"""The sandbox in numbers: attacks refused, bombs ended, milliseconds and memory it costs."""

from __future__ import annotations

import importlib.util
import json
import statistics
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

from heal_bot.sandbox import processes
from heal_bot.sandbox.job import Job
from heal_bot.sandbox.run import Sandbox, Slot, child_env

TABLES = Path(__file__).parent.parent / "tests" / "sandbox"
ROUNDS = 40
WARM_UP = 3


def _load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, TABLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def attacks(sandbox: Sandbox, world: ModuleType) -> dict[str, Any]:
    """Every payload of the table inside: which outcome differs, which is allowed and why."""
    outcome = world.run_inside(sandbox)
    table = world.attacks.ATTACKS
    return {
        "escaped": [a.id for a in table if (outcome[a.id] == "ok") != bool(a.allowed)],
        "allowed": [{"attack": a.id, "why": a.allowed} for a in table if a.allowed],
    }


def explode(bombs: ModuleType) -> tuple[list[str], int]:
    """Every bomb: those that did not end as the table says, and the processes left in all."""
    outcomes = bombs.explode_all()
    wrong = [b.id for b in bombs.BOMBS if outcomes[b.id][0].how not in b.ends]
    return wrong, sum(len(alive) for _, _, alive in outcomes.values())


def overhead(sandbox: Sandbox, slot: Slot) -> dict[str, float]:
    """Milliseconds of `true` and of a small Python program, bare and sandboxed by turns."""
    found: dict[str, float] = {}
    for name, argv in (
        ("true", ("/bin/true",)),
        ("python", (sys.modules["world"].PYTHON, "-I", "-c", "import json, re, unittest")),
    ):
        job = Job(argv, child_env(slot), slot.repo)
        times: dict[str, list[float]] = {"bare": [], "full": [], "inside": []}
        for round_ in range(ROUNDS + WARM_UP):
            started = time.perf_counter()
            subprocess.run(argv, env=dict(job.env), check=True, stdout=subprocess.DEVNULL)
            middle = time.perf_counter()
            ended = sandbox.execute(job, slot)
            finished = time.perf_counter()
            assert ended.code == 0, ended
            if round_ >= WARM_UP:
                times["bare"].append(1000 * (middle - started))
                times["full"].append(1000 * (finished - middle))
                times["inside"].append(1000 * ended.seconds)
        for key, values in times.items():
            found[f"{name}_{key}_ms"] = round(statistics.median(values), 2)
    return found


def main(argv: list[str]) -> int:
    """Run all parts and print one JSON object as the last line."""
    started = time.monotonic()
    world, bombs = _load("world"), _load("bombs")
    with Sandbox.start(slots=2) as sandbox:
        tried = attacks(sandbox, world)
        with sandbox.slot() as slot:
            cost = overhead(sandbox, slot)
        table = processes.table()
        memory = max(table[pid].memory for pid in sandbox.supervisors())
        isolation = sandbox.isolation
    wrong, survivors = explode(bombs)
    result = {
        "attacks": len(world.attacks.ATTACKS) + len(bombs.BOMBS),
        "escaped": tried["escaped"] + wrong,
        "allowed": tried["allowed"],
        "bombs": len(bombs.BOMBS),
        "survivors": survivors,
        "full_over_bare_ms": round(cost["true_full_ms"] - cost["true_bare_ms"], 2),
        **cost,
        "supervisor_mib": round(memory / (1 << 20), 1),
        "layers": isolation.layers,
        "missing": isolation.missing,
        "seconds": round(time.monotonic() - started, 1),
        "complete": True,
    }
    if "--json" not in argv:
        for key, value in result.items():
            print(f"{key}: {value}")
    print(json.dumps(result))
    return 1 if result["escaped"] or survivors else 0
