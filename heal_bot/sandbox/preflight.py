"""The self-test before anything runs: ten escapes fail inside, and the interpreter is the one."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from heal_bot.core.errors import SandboxError
from heal_bot.core.model import Isolation
from heal_bot.sandbox.job_spec import Job, JobResult, Limits
from heal_bot.sandbox.landlock import child_env
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.sandbox.scratch_slots import Slot

_PROBES = Path(__file__).parent / "sandbox_probes.py"
_LIMITS = Limits(wall=30.0, cpu=20, processes=16, output_bytes=1 << 20)
_CAP = 1 << 16


def run_self_test(
    sandbox: Sandbox, python: str, expected: Mapping[str, str], read: tuple[Path, ...] = ()
) -> Isolation:
    """Prove the layers and the interpreter from inside, once per (python, read).

    `expected` has `version`, `prefix` and `base_prefix` as read outside; an absent or empty one
    is not compared. In strict mode an escape that succeeds is a SandboxError; in reduced mode it
    is named in `missing`. A wrong interpreter is an error in both.
    """
    key = (python, read, tuple(sorted(expected.items())))
    if key not in sandbox.proven:
        sandbox.proven[key] = _tried(sandbox, python, expected, read)
    return sandbox.proven[key]


def _tried(
    sandbox: Sandbox, python: str, expected: Mapping[str, str], read: tuple[Path, ...]
) -> Isolation:
    """Run the escapes with `python` inside a slot and compare what it says of itself."""
    with sandbox.slot() as slot, _bait(slot.root.parent) as facts:
        env = child_env(slot)
        answer = _ask(sandbox, slot, python, read, {**facts, "caller": os.getpid()})
    wrong = [*_differences(python, expected, answer)]
    if extra := set(answer["environment"]) - set(env) - {"LC_CTYPE"}:
        wrong.append(f"the environment holds {', '.join(sorted(extra))}")
    if wrong:
        raise SandboxError(
            f"the target's Python is another inside the sandbox: {'; '.join(wrong)}; "
            "put it where every user can read it, or name another with --python"
        )
    escaped = tuple(f"escape: the self-test could {name}" for name in answer["escaped"])
    if escaped and sandbox.isolation.mode == "strict":
        raise SandboxError(
            f"the sandbox does not hold here: the self-test could {answer['escaped'][0]} "
            f"({len(escaped)} of {answer['tried']} escapes); run heal-bot doctor"
        )
    isolation = sandbox.isolation
    return replace(
        isolation,
        layers=(*isolation.layers, f"preflight {answer['tried'] - len(escaped)}/{answer['tried']}"),
        missing=(*isolation.missing, *escaped),
    )


def _ask(
    sandbox: Sandbox, slot: Slot, python: str, read: tuple[Path, ...], facts: dict[str, Any]
) -> dict[str, Any]:
    """What the escapes report from inside."""
    reader, writer = os.pipe()
    try:
        job = Job(
            argv=(python, "-I", "-c", _PROBES.read_text(), json.dumps(facts)),
            env=child_env(slot),
            cwd=slot.repo,
            read=read,
            channels=(writer,),
            limits=_LIMITS,
        )
        ended = sandbox.execute(job, slot)
        os.set_blocking(reader, False)
        try:
            return _believe(os.read(reader, _CAP))
        except (BlockingIOError, ValueError) as error:
            raise SandboxError(_complaint(python, ended)) from error
    finally:
        os.close(reader)
        os.close(writer)


def _believe(data: bytes) -> dict[str, Any]:
    """The answer, if it has the shape of one; ValueError otherwise."""
    answer = json.loads(data)
    shape = {"escaped": list, "tried": int, "environment": list, "executable": str}
    shape.update(version=str, prefix=str, base_prefix=str)
    if not isinstance(answer, dict) or any(
        not isinstance(answer.get(name), kind) for name, kind in shape.items()
    ):
        raise ValueError("not an answer of the self-test")
    return answer


def _complaint(python: str, ended: JobResult) -> str:
    lines = ended.output.decode(errors="replace").strip().splitlines()
    reason = ended.detail or (lines[-1][:200] if lines else f"{ended.how} {ended.code}")
    return (
        f"{python} does not run in the sandbox: {reason}; it and its libraries must lie where "
        "every user can read them"
    )


def _differences(
    python: str, expected: Mapping[str, str], answer: Mapping[str, Any]
) -> Iterator[str]:
    """How the interpreter inside differs from the one outside."""
    if answer["executable"] != python:
        yield f"executable {answer['executable']!r} instead of {python!r}"
    version = expected.get("version", "")
    if version and not f"{answer['version']}.".startswith(f"{version}."):
        yield f"version {answer['version']!r} instead of {version!r}"
    for name in ("prefix", "base_prefix"):
        wanted = expected.get(name, "")
        if wanted and Path(answer[name]).resolve() != Path(wanted).resolve():
            yield f"{name} {answer[name]!r} instead of {wanted!r}"


@contextlib.contextmanager
def _bait(folder: Path) -> Iterator[dict[str, Any]]:
    """Things outside that anyone may reach by owner and mode: only the layers keep them safe."""
    bait = folder / f"bait-{os.urandom(4).hex()}"
    bait.mkdir()
    bait.chmod(0o777)
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        secret, name = bait / "secret", bait / "socket"
        secret.write_text("secret")
        secret.chmod(0o644)
        listener.bind(str(name))
        name.chmod(0o777)
        listener.listen()
        yield {"secret": str(secret), "open_folder": str(bait), "unix_socket": str(name)}
    finally:
        listener.close()
        shutil.rmtree(bait)
