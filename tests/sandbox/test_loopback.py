"""The loopback profile: a server of one's own, and nothing beyond it."""

from __future__ import annotations

import shutil

import pytest

from heal_bot.sandbox.job_spec import Job, Limits
from heal_bot.sandbox.landlock import LOOPBACK_PORTS, Layers
from heal_bot.sandbox.sandbox_client import child_env

PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or "/usr/bin/python3"
SERVER = """
import socket, threading
s = socket.socket(); s.bind(("127.0.0.1", 0)); s.listen()
def serve():
    c, _ = s.accept(); c.sendall(b"served"); c.close()
threading.Thread(target=serve).start()
c = socket.create_connection(s.getsockname(), 5)
print(c.recv(9).decode())
"""
CONNECT = "import socket; socket.create_connection(('127.0.0.1', {port}), 2)"
FAST_OPEN = "import socket; socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', {port}))"
MULTIPATH = "import socket; socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)"
UNIX = "import socket; socket.socket(socket.AF_UNIX)"


def run(sandbox, slot, code):
    argv = (PYTHON, "-I", "-c", code)
    limits = Limits(wall=20)
    job = Job(argv, child_env(slot), slot.repo, limits=limits, profile="loopback")
    ended = sandbox.execute(job, slot)
    if ended.how == "sandbox_error" and "namespace" in ended.detail:
        pytest.skip(ended.detail)
    return ended


def test_a_server_of_ones_own_can_be_reached(sandbox, slot) -> None:
    ended = run(sandbox, slot, SERVER)
    assert ended.output.strip() == b"served", ended


@pytest.mark.parametrize("code", [CONNECT, FAST_OPEN, MULTIPATH, UNIX])
def test_a_server_outside_cannot(sandbox, slot, world, code) -> None:
    ended = run(sandbox, slot, code.format(port=world["tcp"]))
    assert ended.code == 1, ended
    assert b"PermissionError" in ended.output or b"ConnectionRefused" in ended.output


@pytest.mark.parametrize(
    ("landlock", "namespace", "mode", "refused"),
    [
        (7, True, "strict", False),
        (7, False, "strict", True),
        (7, False, "reduced", False),
        (3, False, "reduced", True),
    ],
)
def test_ports_are_opened_only_where_they_are_asked_for_and_guarded(
    landlock, namespace, mode, refused
) -> None:
    layers = Layers(landlock, "", "", "", namespace)
    assert bool(layers.no_loopback(mode)) == refused
    assert (str(LOOPBACK_PORTS[0]) in layers.loopback_gap()) != namespace
