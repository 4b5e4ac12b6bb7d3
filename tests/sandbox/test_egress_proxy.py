"""A set-up job with named hosts: its sockets lead to the proxy, and the proxy to public hosts."""

from __future__ import annotations

import functools
import json
import os
import socket
import sys
import threading
import time

import pytest

from heal_bot.sandbox import child_setup, egress_proxy, processes
from heal_bot.sandbox.job_spec import Job, Limits, job_from_wire, job_to_wire
from heal_bot.sandbox.prctl import prctl
from heal_bot.sandbox.sandbox_client import child_env
from heal_bot.sandbox.seccomp import compile_filter

world = sys.modules["world"]
# Both end without an error: `connect` does nothing, and what they hold leads to the proxy.
HARMLESS = {"019-TCP-connection", "036-child-that-connects"}
ASK = """
import json, socket, sys
said = []
for place, request in json.loads(sys.argv[1]):
    s = socket.create_connection(tuple(place), 5)
    s.sendall((request + "\\r\\n\\r\\n").encode())
    said.append(s.recv(100).decode().split("\\r")[0])
print(json.dumps(said))
"""
NOT_OURS = """
import errno, socket
for kind in ((2, 2), (10, 1), (1, 1), (2, 3), (16, 3)):
    try: socket.socket(*kind)
    except PermissionError: continue
    raise SystemExit(str(kind))
s = socket.socket()
peer = s.getpeername()
for way in (lambda: s.bind(("127.0.0.1", 0)), lambda: s.listen(),
            lambda: s.sendto(b"x", 0x20000000, ("127.0.0.1", 22))):
    try: way()
    except PermissionError: continue
    raise SystemExit("way")
s.connect(("192.0.2.1", 1))
assert s.getpeername() == peer
"""


def run(sandbox, slot, code, *arguments, hosts=("localhost", "example.org")):
    argv = (world.PYTHON, "-I", "-c", code, *arguments)
    limits = Limits(wall=30)
    job = Job(argv, child_env(slot), slot.repo, limits=limits, profile="setup", hosts=hosts)
    return sandbox.execute(job, slot)


def test_whatever_it_connects_to_is_the_proxy_that_refuses(sandbox, slot) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        asked = [
            (server.getsockname(), "GET / HTTP/1.1"),
            (("169.254.169.254", 80), "CONNECT evil.test:443 HTTP/1.1"),
            (("192.0.2.1", 1), "CONNECT example.org:80 HTTP/1.1"),
            (("192.0.2.1", 1), "CONNECT LOCALHOST:443 HTTP/1.1"),
        ]
        ended = run(sandbox, slot, ASK, json.dumps(asked))
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert (ended.how, ended.code, ended.survivors) == ("exited", 0, 0), ended
    statuses = [line.split(" ", 1)[1] for line in json.loads(ended.output)]
    assert statuses == [
        "405 only CONNECT is served",
        "403 this host is not allowed",
        "403 this host is not allowed",
        "403 the name has no public address",
    ]


def test_no_other_socket_and_no_other_way_is_open(sandbox, slot) -> None:
    ended = run(sandbox, slot, NOT_OURS)
    assert ended.code == 0, ended


def test_the_proxy_ends_with_its_job(sandbox, slot) -> None:
    before = len(processes.list_descendants(sandbox.supervisors()[0], processes.list_processes()))
    assert run(sandbox, slot, "import socket; socket.socket()").code == 0
    ends = time.monotonic() + 5
    while (
        len(processes.list_descendants(sandbox.supervisors()[0], processes.list_processes()))
        > before
    ):
        assert time.monotonic() < ends
        time.sleep(0.05)


@pytest.mark.slow
def test_every_attack_ends_in_such_a_job_as_the_table_says(sandbox) -> None:
    outcome = world.run_inside(sandbox, ("example.org",))
    escaped = {
        attack.id
        for attack in world.attacks.ATTACKS
        if (outcome[attack.id] == "ok") != bool(attack.allowed)
    }
    assert escaped == HARMLESS


def test_only_a_set_up_job_may_name_hosts() -> None:
    wire = job_to_wire(Job(("/bin/true",), {}, "/", hosts=("example.org",)))
    with pytest.raises(ValueError, match="only `setup`"):
        job_from_wire(wire, ())


@pytest.mark.skipif(os.geteuid() != 0, reason="the proxy takes a uid of its own")
def test_an_allowed_host_is_reached_and_no_other_of_its_addresses() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        gate = egress_proxy.Gate(
            frozenset({"localhost"}), port, lambda address: address == "127.0.0.1"
        )

        def echo() -> None:
            peer, _ = server.accept()
            with peer:
                peer.sendall(peer.recv(100).upper())

        thread = threading.Thread(target=echo)
        thread.start()
        ours, theirs = socket.socketpair()
        with ours, theirs:
            serve = functools.partial(egress_proxy.serve_tunnel, gate)
            helper, door = egress_proxy.fork_proxy(lambda: serve, world.LONE_UID)
            child = os.fork()
            if child == 0:
                try:
                    _talk(door, port, theirs)
                finally:
                    os._exit(0)
            door.close()
            os.waitpid(child, 0)
            ours.settimeout(5)
            assert ours.recv(100) == b"HELLO"
        thread.join(5)
        os.waitpid(helper, 0)


def _talk(door: socket.socket, port: int, told: socket.socket) -> None:
    prctl(38, 1)
    child_setup.install_notify_filter(compile_filter("setup", proxied=True), os.dup(door.fileno()))
    with socket.create_connection(("192.0.2.1", 1), 5) as tunnel:
        tunnel.sendall(f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode())
        assert tunnel.recv(100).startswith(b"HTTP/1.1 200")
        tunnel.sendall(b"hello")
        told.sendall(tunnel.recv(100))


@pytest.mark.parametrize(
    ("address", "reachable"),
    [
        ("93.184.216.34", True),
        ("2606:2800:220:1::1", True),
        ("127.0.0.1", False),
        ("10.1.2.3", False),
        ("192.168.0.1", False),
        ("172.16.0.1", False),
        ("100.64.0.1", False),
        ("169.254.169.254", False),
        ("168.63.129.16", False),
        ("0.0.0.0", False),
        ("224.0.0.1", False),
        ("255.255.255.255", False),
        ("::1", False),
        ("fe80::1%eth0", False),
        ("fd00:ec2::254", False),
        ("::ffff:169.254.169.254", False),
        ("64:ff9b::a9fe:a9fe", False),
        ("2002:a9fe:a9fe::1", False),
    ],
)
def test_an_address_is_public_or_it_is_not_reached(address: str, reachable: bool) -> None:
    assert egress_proxy.is_public(address) == reachable
