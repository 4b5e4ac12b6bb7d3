"""The same sandbox started by an ordinary user: no uids, everything else."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import landlockpy
import pyseccomp
import pytest

import heal_bot
from heal_bot.sandbox import processes

attacks = sys.modules["attacks"]
SYSTEM_PYTHON = shutil.which("python3.11", path="/usr/bin:/usr/local/bin")
USER = 63_999

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        os.geteuid() != 0 or SYSTEM_PYTHON is None,
        reason="needs root to become another user, and a Python 3.11 that every user can read",
    ),
]

SCRIPT = """
import dataclasses, json, os, sys
from pathlib import Path
from heal_bot.sandbox import preflight
from heal_bot.sandbox.sandbox_client import *
from heal_bot.sandbox.job_spec import *

python, given, harness, bomb = sys.argv[1], *(Path(p).read_text() for p in sys.argv[2:])
out = {}
with Sandbox.start(slots=2) as sandbox:
    out["isolation"] = dataclasses.asdict(sandbox.isolation)
    out["preflight"] = preflight.run_self_test(sandbox, python, {}).layers[-1]
    with sandbox.slot() as slot, sandbox.slot() as other:
        path = slot.repo / "given.json"
        data = json.loads(given)
        data["facts"]["other_slot"] = str(other.repo)
        path.write_text(json.dumps(data))
        reader, writer = os.pipe()
        job = Job((python, "-I", "-c", harness, str(path), "3"), child_env(slot), slot.repo,
                  channels=(writer,))
        running = sandbox.start_job(job, slot)
        os.close(writer)
        with os.fdopen(reader) as stream:
            out["attacks"] = json.load(stream)
        running.wait()
        busy = sandbox.start_job(Job(("/bin/sleep", "60"), child_env(other), other.repo), other)
        limits = Limits(wall=1.0, processes=40)
        for name, code in json.loads(bomb).items():
            job = Job((python, "-I", "-c", code), child_env(slot), slot.repo, limits=limits)
            ended = sandbox.execute(job, slot)
            out[name] = [ended.how, ended.survivors, busy.ended is None]
    out["busy"] = busy.wait().how
    with sandbox.slot() as slot:
        code = "import os; [os.chmod(up, 0) for up in ('..', '../..')]"
        sandbox.execute(Job((python, "-I", "-c", code), child_env(slot), slot.repo), slot)
    out["closed_to_us"] = [oct(p.stat().st_mode & 0o777) for p in (slot.root, slot.root.parent)]
out["left"] = sandbox.scratch.exists()
print(json.dumps(out))
"""
BOMBS = {
    "daemons": (
        "import os,time\n"
        "for _ in range(5):\n"
        "    if os.fork() == 0:\n"
        "        os.setsid()\n"
        "        if os.fork() == 0: time.sleep(600)\n"
        "        os._exit(0)\n"
        "    os.wait()\n"
    ),
    "fork_bomb": "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass\n",
    "comet": (
        "import os\nwhile True:\n"
        "    try:\n        if os.fork(): os._exit(0)\n    except OSError: pass\n    os.setsid()\n"
    ),
}


@pytest.fixture(scope="module")
def told(request) -> Iterator[dict[str, object]]:
    """What the sandbox says and does when an ordinary user starts it."""
    root = Path(tempfile.mkdtemp(dir="/tmp"))
    root.chmod(0o755)
    assert SYSTEM_PYTHON is not None
    subprocess.run([SYSTEM_PYTHON, "-m", "venv", "--without-pip", str(root / "venv")], check=True)
    (packages,) = (root / "venv").glob("lib/python3*/site-packages")
    shutil.copytree(Path(heal_bot.__file__).parent, packages / "heal_bot")
    shutil.copytree(Path(landlockpy.__file__).parent, packages / "landlockpy")
    shutil.copy(pyseccomp.__file__, packages)
    world = request.getfixturevalue("world")
    for name, text in (
        ("script.py", SCRIPT),
        ("given", request.getfixturevalue("table_of")(world)),
        ("harness", attacks.HARNESS),
        ("bombs", json.dumps(BOMBS)),
    ):
        (root / name).write_text(text)
    subprocess.run(["chmod", "-R", "a+rX", str(root)], check=True)
    result = subprocess.run(
        [
            root / "venv/bin/python",
            root / "script.py",
            SYSTEM_PYTHON,
            *(root / name for name in ("given", "harness", "bombs")),
        ],
        user=USER,
        group=USER,
        extra_groups=[],
        env={"PATH": "/usr/bin:/bin"},
        cwd="/",
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    yield json.loads(result.stdout)
    shutil.rmtree(root)


def test_what_is_weaker_is_named(told) -> None:
    assert told["isolation"]["mode"] == "strict"
    assert "uid" not in told["isolation"]["layers"]
    (gap,) = told["isolation"]["missing"]
    assert gap.startswith("uid: not started as root")


def test_the_self_test_holds(told) -> None:
    assert told["preflight"] == "preflight 10/10"


@pytest.mark.parametrize("attack", attacks.ATTACKS, ids=lambda attack: attack.id)
def test_the_attack_fails_for_an_ordinary_user_too(attack, told) -> None:
    outcome = told["attacks"][attack.id]
    if attack.number == 17:
        pytest.skip("the descriptor is not open in a process of another user")
    assert (outcome == "ok") == bool(attack.allowed), outcome


@pytest.mark.parametrize(
    ("name", "how", "survivors"),
    [("daemons", "exited", 5), ("fork_bomb", "timeout", 0), ("comet", "exited", None)],
)
def test_a_bomb_is_ended_without_touching_the_other_slot(told, name, how, survivors) -> None:
    ended, left, other_goes_on = told[name]
    assert other_goes_on
    assert ended == how
    assert survivors is None or left == survivors


def test_folders_closed_from_inside_are_opened_and_removed(told) -> None:
    assert told["closed_to_us"] == ["0o711", "0o711"]
    assert told["left"] is False


def test_the_other_slot_ends_when_it_is_left(told) -> None:
    assert told["busy"] == "killed"
    # Tests that run beside these use the same uid for a while.
    ends = time.monotonic() + 30
    while left := _alive():
        assert time.monotonic() < ends, left
        time.sleep(0.1)


def _alive() -> list[int]:
    table = processes.list_processes()
    return [p for p in table if processes.real_uid(p) == USER and not table[p].zombie]
