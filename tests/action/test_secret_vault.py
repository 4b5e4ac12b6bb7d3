"""Secrets are in no environment of a running process, and its memory is its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from heal_bot.action import secret_vault
from heal_bot.action.action_context import _SECRET
from heal_bot.core.errors import UsageError
from tests.github_server.runner import inputs, variable

# 3 is PR_GET_DUMPABLE.
PROGRAM = """
import ctypes, json, os
from heal_bot.action import secret_vault
before = ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)
inside = secret_vault.seal_process(dict(os.environ))
after = ctypes.CDLL(None).prctl(3, 0, 0, 0, 0)
print(json.dumps({"inside": inside, "shown": dict(os.environ), "dumpable": [before, after]}))
"""


def test_what_is_kept_is_on_a_list() -> None:
    given = inputs({"mode": "push"})
    environ = {"PATH": "/bin", **given, "GH_TOKEN": "u", "GITHUB_REPOSITORY": "octo/shop",
               "ACTIONS_RUNTIME_TOKEN": "v", "HTTPS_PROXY": "http://proxy",
               "CURL_CA_BUNDLE": "/x"}  # fmt: skip
    secret = {variable(name) for name in _SECRET}
    kept = {name: value for name, value in given.items() if name not in secret}
    assert kept[variable("mode")] == "push"
    assert secret_vault.keep_plain(environ) == {
        "PATH": "/bin", "GITHUB_REPOSITORY": "octo/shop", **kept,
    }  # fmt: skip


def test_a_process_started_with_secrets_replaces_itself(tmp_path: Path) -> None:
    event = tmp_path / "event.json"
    dispatch = {"action": "of another tool", "client_payload": {}, "sender": {"login": "a"}}
    event.write_text(json.dumps({"repository": {"full_name": "octo/shop"}, **dispatch}))
    done = subprocess.run(
        [sys.executable, "-I", "-m", "heal_bot", "action"],
        env={"PATH": "/usr/bin:/bin", **inputs(token="ghs_hidden"), "GITHUB_OUTPUT": "",
             "GITHUB_EVENT_NAME": "repository_dispatch", "GITHUB_EVENT_PATH": str(event),
             "GITHUB_REPOSITORY": "octo/shop", "GITHUB_WORKSPACE": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("::add-mask::ghs_hidden") == 1
    assert "nothing to do" in done.stdout


def test_secrets_travel_through_a_pipe_and_no_further(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.write(writing, secret_vault.pack_secrets({"GITHUB_TOKEN": "ghs_hidden"}))
    os.close(writing)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={"PATH": "/usr/bin:/bin", "HEAL_BOT_SECRETS_FD": str(reading)},
        pass_fds=[reading],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    os.close(reading)
    told = json.loads(done.stdout)
    assert told["inside"]["GITHUB_TOKEN"] == "ghs_hidden"
    assert "ghs_hidden" not in str(told["shown"])
    assert told["dumpable"] == [1, 0]


@pytest.mark.parametrize("data", [b"", b"[]", b"{", b'{"A": 1}', b"\xff"], ids=repr)
def test_what_is_no_secrets_is_one_line(data: bytes) -> None:
    with pytest.raises(UsageError):
        secret_vault.unpack_secrets(data)


def test_too_many_secrets_are_refused_before_a_pipe_blocks() -> None:
    with pytest.raises(UsageError, match="at most"):
        secret_vault.pack_secrets({"GITHUB_TOKEN": "x" * 70_000})
