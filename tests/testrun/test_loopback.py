"""TCP within the process: servers of tests where the sandbox has no sockets."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import Environment
from heal_bot.testrun.runner import SuiteRunner
from tests.testrun.conftest import INSIDE

BEGIN = """
import asyncio, errno, http.server, os, select, socket, threading, urllib.request
import _heal_loopback
socket.socket = _heal_loopback.LocalSocket

def listening(host="127.0.0.1", family=socket.AF_INET):
    server = socket.socket(family)
    server.bind((host, 0))
    server.listen()
    return server

def raised(call, *given):
    try:
        call(*given)
    except OSError as error:
        return error.errno
"""
HTTP = """
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200); self.send_header("Content-Length", "2"); self.end_headers()
        self.wfile.write(b"ok")
    def log_message(self, *args): pass
with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
    threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
    url = f"http://localhost:{server.server_port}/"
    assert [urllib.request.urlopen(url).read() for _ in range(3)] == [b"ok"] * 3
    server.shutdown()
"""
STREAMS = """
async def answer(reader, writer):
    writer.write((await reader.readline()).upper()); await writer.drain(); writer.close()
async def main():
    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(b"hello\\n")
    assert await asyncio.wait_for(reader.readline(), 5) == b"HELLO\\n"
    writer.close(); server.close()
asyncio.run(main())
"""
NAMES = """
server = listening()
assert select.select([server], [], [], 0)[0] == []
client = socket.create_connection(server.getsockname(), 5)
assert select.select([server], [], [], 5)[0] == [server]
accepted, peer = server.accept()
assert peer == client.getsockname() == accepted.getpeername()
assert client.getpeername() == server.getsockname() == accepted.getsockname()
assert type(client).__name__ == "socket" and client.family == socket.AF_INET
client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
assert client.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) == 1
copy = socket.fromfd(client.fileno(), client.family, client.type)
client.close()
copy.sendall(b"more"); copy.close()
assert accepted.recv(9) == b"more" and accepted.recv(9) == b""
six = listening("::1", socket.AF_INET6)
assert six.getsockname()[0] == "::1" and len(six.getsockname()) == 4
socket.create_connection(six.getsockname()[:2], 5).close()
"""
REFUSED = """
server = listening(); address = server.getsockname()
assert raised(socket.socket().bind, address) == errno.EADDRINUSE
assert raised(socket.socket().bind, ("10.1.1.1", 0)) == errno.EADDRNOTAVAIL
assert raised(socket.socket().connect, ("10.1.1.1", 80)) == errno.EACCES
assert socket.socket().connect_ex(("127.0.0.1", 1)) == errno.ECONNREFUSED
assert raised(socket.socket().recv, 1) == raised(socket.socket().getpeername) == errno.ENOTCONN
server.settimeout(0.05)
try:
    server.accept()
except TimeoutError if __import__("sys").version_info > (3, 10) else socket.timeout:
    pass
else:
    raise AssertionError("nobody connects")
server.close()
assert raised(socket.create_connection, address) == errno.ECONNREFUSED
again = socket.socket(); again.bind(address)
"""


@pytest.mark.parametrize(
    "code", [HTTP, STREAMS, NAMES, REFUSED], ids=["http", "streams", "names", "refused"]
)
def test_servers_of_the_same_process_are_reached(code: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + code], env={"PYTHONPATH": str(INSIDE)}, capture_output=True,
        text=True, timeout=30,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


SUITE = """
import http.server, socket, threading, urllib.request

def test_a_server_of_the_test():
    handler = http.server.SimpleHTTPRequestHandler
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/"
        assert urllib.request.urlopen(url, timeout=5).status == 200
        server.shutdown()

def test_beyond():
    socket.create_connection(("127.0.0.1", 1), 1)
"""


@pytest.mark.long
def test_a_test_in_the_sandbox_reaches_the_server_that_it_starts(
    runner: SuiteRunner, run: Run, env: Environment, project: Callable
) -> None:
    done = runner.run(run, project({"test_m.py": SUITE}), env)
    served, beyond = done.results
    assert served.outcome == "passed", served
    assert (beyond.outcome, beyond.kind) == ("failed", "ConnectionRefusedError")
