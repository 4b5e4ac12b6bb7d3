"""Secrets out of the environment: they travel over an inherited pipe, the process is private."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping

from heal_bot.core.errors import UsageError
from heal_bot.sandbox.prctl import become_private

_FD = "HEAL_BOT_SECRETS_FD"
_MAX_BYTES = 60_000
_SECRETS = frozenset({
    "INPUT_GITHUB-TOKEN", "INPUT_ANTHROPIC-API-KEY", "INPUT_GEMINI-API-KEY", "INPUT_OPENAI-API-KEY",
    "ANTHROPIC_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY", "OPENAI_API_KEY", "GITHUB_TOKEN",
    "GH_TOKEN", "INPUT_INDEX-URL", "HEAL_BOT_INDEX_URL",
})  # fmt: skip
# Proxies, the runner's own tokens and everything else stays behind.
_KEPT = frozenset({"PATH", "HOME", "LANG", "LC_ALL", "TZ", "TMPDIR", "VIRTUAL_ENV", "SSL_CERT_FILE",
                   "OPENAI_BASE_URL", "ANTHROPIC_BASE_URL", "GEMINI_BASE_URL",
                   "pythonLocation"})  # fmt: skip
_PREFIXES = ("INPUT_", "GITHUB_", "HEAL_BOT_")


def copy_environment() -> dict[str, str]:
    """A copy of this process's environment, for the runner's inputs and file commands."""
    return dict(os.environ)


def receives_secrets(environ: Mapping[str, str]) -> bool:
    """Whether this process is the one that gets its secrets over a pipe."""
    return _FD in environ


def seal_process(environ: Mapping[str, str]) -> dict[str, str]:
    """The environment with its secrets, in a process whose own environment holds none.

    A process that was started with secrets in its environment replaces itself by one that gets
    them over a pipe, so that nothing under /proc shows them; this returns only in that one.
    """
    become_private()
    if number := environ.get(_FD):
        return {name: value for name, value in environ.items() if name != _FD} | _read(number)
    secrets = {name: value for name, value in environ.items() if name in _SECRETS and value}
    if secrets:
        os.execve(sys.executable, _argv(), keep_plain(environ) | {_FD: _piped(secrets)})  # noqa: S606
    return dict(environ)


def keep_plain(environ: Mapping[str, str]) -> dict[str, str]:
    """What of an environment is kept: names from an allow-list, and no secret."""
    return {
        name: value
        for name, value in environ.items()
        if name not in _SECRETS and (name in _KEPT or name.startswith(_PREFIXES))
    }


def pack_secrets(secrets: Mapping[str, str]) -> bytes:
    """Secrets as they go through a pipe; UsageError when they are too long for one."""
    data = json.dumps(dict(secrets)).encode()
    if len(data) > _MAX_BYTES:
        raise UsageError(f"the keys and tokens have {len(data)} bytes; at most {_MAX_BYTES} fit")
    return data


def receive_secrets() -> dict[str, str]:
    """The secrets on standard input, in a process that is private from then on."""
    become_private()
    return unpack_secrets(sys.stdin.buffer.read(_MAX_BYTES))


def unpack_secrets(data: bytes) -> dict[str, str]:
    """What `packed` made; UsageError for anything else."""
    try:
        found = json.loads(data)
    except ValueError as error:
        raise UsageError("the secrets on the pipe are not JSON") from error
    if not isinstance(found, dict) or not all(isinstance(v, str) for v in found.values()):
        raise UsageError("the secrets on the pipe are not a mapping of names to values")
    return found


def _piped(secrets: Mapping[str, str]) -> str:
    """The number of an inheritable descriptor that holds the secrets, already written."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as file:
        file.write(pack_secrets(secrets))
    os.set_inheritable(reading, True)
    return str(reading)


def _read(number: str) -> dict[str, str]:
    if not number.isdigit():
        raise UsageError(f"{_FD} is {number[:20]!r}, which is not a file descriptor")
    with os.fdopen(int(number), "rb") as file:
        return unpack_secrets(file.read(_MAX_BYTES))


def _argv() -> list[str]:
    return [sys.executable, "-I", "-m", "heal_bot", *sys.argv[1:]]
