"""Runs inside a container as its first process: all attacks and bombs; the outcome as JSON."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

from heal_bot.sandbox import preflight
from heal_bot.sandbox.sandbox_client import Sandbox

_SPEC = importlib.util.spec_from_file_location("world", Path(__file__).parent / "world.py")
assert _SPEC is not None
assert _SPEC.loader is not None
world = importlib.util.module_from_spec(_SPEC)
sys.modules["world"] = world
_SPEC.loader.exec_module(world)


def main() -> None:
    bombs = world.load("bombs")
    with Sandbox.start(slots=2) as sandbox:
        proven = preflight.run_self_test(sandbox, world.PYTHON, {})
        sandboxed = world.run_inside(sandbox)
    outcomes = bombs.explode_all()
    status = dict(
        line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines()
    )
    answer = {
        "pid": os.getpid(),
        "capabilities": status["CapBnd"],
        "seccomp": status["Seccomp"],
        "layers": proven.layers,
        "missing": proven.missing,
        "namespace": sandbox.layers.namespace,
        "sandboxed": sandboxed,
        "bare": world.unsandboxed(),
        "bombs": {
            name: {"how": first.how, "left": len(alive), "again": [again.how, again.code]}
            for name, (first, again, alive) in outcomes.items()
        },
    }
    print(json.dumps(answer))


main()
