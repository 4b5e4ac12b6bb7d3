"""The one way to the network of a `setup` job: a proxy, which opens tunnels to named public hosts.

No job ever has a socket of its own making: its calls of `socket` come here, and the answer is a
connection to this proxy, whatever it would have been connected to. Runs as a process of its own.
"""

from __future__ import annotations

import contextlib
import encodings.idna  # noqa: F401 - host names need it once our own library cannot be read
import errno
import fcntl
import ipaddress
import os
import select
import socket
import struct
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

from heal_bot.sandbox import child_setup

# What programs need to find a proxy; any address will do, since none is ever connected to.
_ANY = "http://127.0.0.1:9"
TUNNEL = {"HTTPS_PROXY": _ANY, "https_proxy": _ANY}
IN_THE_CLEAR = {"HTTP_PROXY": _ANY, "http_proxy": _ANY, **TUNNEL}
_PORT = 443
_CONNECTIONS, MANY = 32, 64
_BYTES = 1 << 30
_HEAD = 8192
_WAIT, _IDLE = 20.0, 60.0
_LAST_FD = 1024
# The host of Azure's machines, public by its number: GitHub's runners are such machines.
_METADATA = frozenset({"168.63.129.16"})
_CHUNK = 1 << 16

# <linux/seccomp.h>: what the kernel tells of a call, what we answer, and their ioctls.
_CALL = struct.Struct("=QIIiIQ6Q")
_ANSWER, _ADD = struct.Struct("=QqiI"), struct.Struct("=QIIII")
_RECEIVE, _SEND, _ADD_FD = 0xC0502100, 0xC0182101, 0x40182103
_ADD_AND_SEND = 2
_UID_OFFSET = -2000


def is_public(address: str) -> bool:
    """Whether an address is of the public network: not private, link-local, or a machine's own.

    Addresses that stand for another one (mapped, 6to4, Teredo) are refused whatever it is.
    """
    found = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(found, ipaddress.IPv6Address) and (
        found.ipv4_mapped or found.sixtofour or found.teredo
    ):
        return False
    plain = found.is_global and not found.is_multicast and not found.is_reserved
    return plain and address not in _METADATA


@dataclass(frozen=True, slots=True)
class Gate:
    """Which hosts may be reached; `reachable` judges the address a name has, once, before use."""

    hosts: frozenset[str]
    port: int = _PORT
    reachable: Callable[[str], bool] = is_public

    def open(self, head: bytes) -> socket.socket | str:
        """The connection that a request asks for, or the status line that refuses it."""
        words = head.split(b"\r\n", 1)[0].decode("ascii", "replace").split()
        if len(words) != 3 or words[0] != "CONNECT":
            return "405 only CONNECT is served"
        host, _, port = words[1].rpartition(":")
        if host.lower() not in self.hosts or port != str(self.port):
            return "403 this host is not allowed"
        try:
            found = socket.getaddrinfo(host, self.port, type=socket.SOCK_STREAM)
            addresses = [entry[4][:2] for entry in found if self.reachable(str(entry[4][0]))]
            if not addresses:
                return "403 the name has no public address"
            return socket.create_connection((str(addresses[0][0]), self.port), _WAIT)
        except OSError as error:
            return f"502 {error.strerror or error}"


# What a proxy does with one connection, until its end.
Serve = Callable[[socket.socket], None]


def serve_tunnel(gate: Gate, client: socket.socket) -> None:
    """One connection: a request, then bytes both ways until an end, a pause or the cap."""
    with client:
        client.settimeout(_WAIT)
        head = b""
        with contextlib.suppress(OSError):
            while b"\r\n\r\n" not in head and len(head) < _HEAD:
                data = client.recv(_HEAD)
                if not data:
                    return
                head += data
            found = gate.open(head)
            if isinstance(found, str):
                client.sendall(f"HTTP/1.1 {found}\r\nContent-Length: 0\r\n\r\n".encode())
                return
            with found:
                client.sendall(b"HTTP/1.1 200 connected\r\n\r\n")
                _relay(client, found)


def _relay(one: socket.socket, other: socket.socket) -> None:
    peers = {one: other, other: one}
    left = _BYTES
    while left > 0:
        ready, _, _ = select.select(list(peers), [], [], _IDLE)
        if not ready:
            return
        for source in ready:
            data = source.recv(_CHUNK)
            if not data:
                return
            left -= len(data)
            peers[source].sendall(data)


def fork_proxy(
    load: Callable[[], Serve], uid: int | None, config: int = -1, connections: int = _CONNECTIONS
) -> tuple[int, socket.socket]:
    """Fork a proxy; its pid, and the socket by which the job's child reaches it.

    `load` is called in it, while it can still read our own library, and returns what serves a
    connection; `config` is a descriptor that it keeps. As root it takes a uid of its own. It ends
    with the supervisor, or when the job is over.
    """
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid == 0:
        try:
            first = 3
            for kept in sorted({ours.fileno(), config} - {-1}):
                os.closerange(first, kept)
                first = kept + 1
            os.closerange(first, _LAST_FD)
            child_setup.end_with_parent()
            serve = load()
            if uid is not None:
                child_setup.drop_to_uid(uid + _UID_OFFSET)
                child_setup.end_with_parent()
            ours.settimeout(_WAIT)
            _, fds, _, _ = socket.recv_fds(ours, 1, 1)
            if fds:
                _answer(fds[0], serve, connections)
        finally:
            os._exit(0)
    ours.close()
    return pid, theirs


def _answer(calls: int, serve: Serve, connections: int) -> None:
    """Give every call of `socket` a connection to us, until nobody is left who could call."""
    listener = socket.create_server(("127.0.0.1", 0), backlog=connections)
    free = threading.BoundedSemaphore(connections)
    poll = select.poll()
    poll.register(calls, select.POLLIN)
    while True:
        for _, what in poll.poll():
            if what & (select.POLLHUP | select.POLLERR):
                return
            with contextlib.suppress(FileNotFoundError, InterruptedError):
                _one_call(calls, serve, listener, free)


def _one_call(
    calls: int, serve: Serve, listener: socket.socket, free: threading.BoundedSemaphore
) -> None:
    buffer = bytearray(_CALL.size)
    fcntl.ioctl(calls, _RECEIVE, buffer)
    number, *_, kind, _protocol, _, _, _ = _CALL.unpack(buffer)
    if not free.acquire(blocking=False):
        fcntl.ioctl(calls, _SEND, _ANSWER.pack(number, 0, -errno.EMFILE, 0))
        return
    given, served = _pair(listener)
    with given:
        given.setblocking(not kind & socket.SOCK_NONBLOCK)
        flags = os.O_CLOEXEC if kind & socket.SOCK_CLOEXEC else 0
        added = _ADD.pack(number, _ADD_AND_SEND, given.fileno(), 0, flags)
        fcntl.ioctl(calls, _ADD_FD, added)

    def run() -> None:
        try:
            serve(served)
        finally:
            free.release()

    threading.Thread(target=run, daemon=True).start()


def _pair(listener: socket.socket) -> tuple[socket.socket, socket.socket]:
    """Both ends of a TCP connection to ourselves: programs set TCP options on theirs."""
    given = socket.create_connection(listener.getsockname(), _WAIT)
    end = time.monotonic() + _WAIT
    while time.monotonic() < end:
        served, peer = listener.accept()
        if peer == given.getsockname():
            return given, served
        served.close()
    raise OSError(errno.ETIMEDOUT, "no connection to ourselves")
