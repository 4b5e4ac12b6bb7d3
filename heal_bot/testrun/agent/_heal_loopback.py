"""TCP within the process where the sandbox has no sockets: tests reach servers that they start.

A connection is a pair of Unix sockets. A socket holds one end and, until it is connected, the
other as well: `connect` passes that one on through the pair of the listening socket, so that
waiting, time limits, `select` and TLS are the kernel's own. No other process is reached.
"""

from __future__ import annotations

import _socket
import errno
import functools
import itertools
import socket
import struct

from _heal_pristine_stdlib import os, threading

_PORT, _FD = struct.Struct("!H"), struct.Struct("i")
_FAMILIES = (socket.AF_INET, socket.AF_INET6)
_NOT_OF_PAIRS = (socket.IPPROTO_IP, socket.IPPROTO_IPV6, socket.IPPROTO_TCP)
_ANY = {socket.AF_INET: "0.0.0.0", socket.AF_INET6: "::"}  # noqa: S104 - within this process
_HERE = {socket.AF_INET: "127.0.0.1", socket.AF_INET6: "::1"}
_NAMES = {"", "localhost", "localhost.localdomain", "::", "::1", "0.0.0.0", "::ffff:127.0.0.1"}  # noqa: S104


def install():
    """Replace the class of sockets, unless there are TCP sockets here."""
    try:
        _socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()
    except PermissionError:
        socket.socket = LocalSocket


class _State:
    """What the kernel does not know of a pair that stands for a TCP socket."""

    __slots__ = ("bound", "far", "held", "listening", "options", "peer")

    def __init__(self, far=None, bound=None, peer=None):
        self.far = far
        self.bound = bound
        self.peer = peer
        self.listening = False
        self.options = {}
        self.held = 1


# By inode, which stays when a descriptor is duplicated, or handed to the class of TLS sockets.
_states = {}
_ports = {}
# As Linux has them for sockets that name none.
_next = itertools.cycle(range(32768, 61000))
_lock = threading.RLock()


class LocalSocket(socket.socket):
    """`socket.socket`, with TCP over IPv4 and IPv6 within the process."""

    __slots__ = ()

    def __init__(self, family=-1, type=-1, proto=-1, fileno=None):  # noqa: A002 - the base's name
        kind = socket.SOCK_STREAM if type == -1 else type
        if fileno is None and family in (-1, *_FAMILIES) and kind & 0xF == socket.SOCK_STREAM:
            family = socket.AF_INET if family == -1 else family
            near, far = _socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
            super().__init__(family, socket.SOCK_STREAM, max(proto, 0), near.detach())
            if kind & getattr(socket, "SOCK_NONBLOCK", 0):
                self.setblocking(False)
            _states[_inode(self)] = _State(far)
        else:
            super().__init__(family, type, proto, fileno)
            state = _find(self)
            if state is not None:
                state.held += 1

    def bind(self, address):
        state = _find(self)
        if state is None:
            return super().bind(address)
        host, port = _read(address)
        if not _is_here(host):
            raise OSError(errno.EADDRNOTAVAIL, os.strerror(errno.EADDRNOTAVAIL))
        if state.bound:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        with _lock:
            if (self.family, port) in _ports:
                raise OSError(errno.EADDRINUSE, os.strerror(errno.EADDRINUSE))
            port = port or next(free for free in _next if (self.family, free) not in _ports)
            _ports[self.family, port] = state
        name = {"": _ANY, "localhost": _HERE}.get(host, {}).get(self.family, host)
        state.bound = _name(self.family, name, port)

    def listen(self, backlog=128):
        state = _find(self)
        if state is None:
            return super().listen(backlog)
        if not state.bound:
            self.bind(("", 0))
        state.listening = True

    def accept(self):
        state = _find(self)
        if state is None:
            return super().accept()
        if not state.listening:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        data, ancillary, _, _ = super().recvmsg(_PORT.size, socket.CMSG_LEN(_FD.size))
        if not ancillary:
            raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
        fd = _FD.unpack(ancillary[0][2])[0]
        os.set_inheritable(fd, False)
        bound = _name(self.family, _HERE[self.family], state.bound[1])
        peer = _name(self.family, _HERE[self.family], *_PORT.unpack(data))
        _states[os.fstat(fd).st_ino] = accepted = _State(bound=bound, peer=peer)
        accepted.held = 0
        return LocalSocket(self.family, self.type, self.proto, fileno=fd), peer

    def connect(self, address):
        state = _find(self)
        if state is None:
            return super().connect(address)
        if state.peer:
            raise OSError(errno.EISCONN, os.strerror(errno.EISCONN))
        host, port = _read(address)
        if not _is_here(host):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        places = ((family, port) for family in sorted(_FAMILIES, key=self.family.__ne__))
        server = next((_ports[place] for place in places if place in _ports), None)
        if server is None or not server.listening:
            raise ConnectionRefusedError(errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED))
        if not state.bound:
            state.bound = _name(self.family, _HERE[self.family], next(_next))
        ours = _PORT.pack(state.bound[1])
        try:
            socket.send_fds(server.far, [ours], [state.far.fileno()])
        except OSError:
            raise ConnectionRefusedError(
                errno.ECONNREFUSED, os.strerror(errno.ECONNREFUSED)
            ) from None
        state.far.close()
        state.far = None
        state.peer = _name(self.family, _HERE[self.family], port)

    def connect_ex(self, address):
        if _find(self) is None:
            return super().connect_ex(address)
        try:
            LocalSocket.connect(self, address)
        except OSError as error:
            return error.errno
        return 0

    def getsockname(self):
        state = _find(self)
        if state is None:
            return super().getsockname()
        return state.bound or _name(self.family, _ANY[self.family], 0)

    def getpeername(self):
        state = _find(self)
        if state is None:
            return super().getpeername()
        self._ask_connected(state)
        return state.peer

    def shutdown(self, how):
        state = _find(self)
        if state is not None and not state.listening:
            self._ask_connected(state)
        super().shutdown(how)

    def setsockopt(self, level, option, *value):
        state = _find(self)
        if state is not None and (level in _NOT_OF_PAIRS or option == socket.SO_REUSEPORT):
            state.options[level, option] = value[0]
        else:
            super().setsockopt(level, option, *value)

    def getsockopt(self, level, option, *size):
        state = _find(self)
        if state is None or (level, option) not in state.options and level not in _NOT_OF_PAIRS:
            return super().getsockopt(level, option, *size)
        return state.options.get((level, option), 0)

    def detach(self):
        state = _find(self)
        if state is not None:
            state.held -= 1
        return super().detach()

    def _ask_connected(self, state):
        if not state.peer:
            raise OSError(errno.ENOTCONN, os.strerror(errno.ENOTCONN))

    def _real_close(self, *given):
        state = _find(self)
        if state is not None:
            state.held -= 1
            if state.held <= 0:
                _forget(_inode(self), state)
        super()._real_close(*given)


def _once_connected(name):
    """A method that an unconnected socket refuses; an unconnected end of a pair would wait."""
    base = getattr(socket.socket, name)

    @functools.wraps(base)
    def method(self, *given):
        state = _find(self)
        if state is not None:
            self._ask_connected(state)
        return base(self, *given)

    return method


for _method in ("recv", "recv_into", "recvfrom", "recvfrom_into", "send", "sendall"):
    setattr(LocalSocket, _method, _once_connected(_method))
# A program sees the name that it knows.
LocalSocket.__name__ = LocalSocket.__qualname__ = "socket"
LocalSocket.__module__ = "socket"


def _inode(one):
    return os.fstat(one.fileno()).st_ino


def _find(one):
    """The state of a socket; None for one of another kind, and for a closed one."""
    return _states.get(_inode(one)) if one.fileno() >= 0 else None


def _forget(inode, state):
    del _states[inode]
    with _lock:
        for place in [place for place, at in _ports.items() if at is state]:
            del _ports[place]
    if state.far is not None:
        state.far.close()


def _read(address):
    """Host and port of an address; what `socket` raises for any other."""
    if not isinstance(address, tuple) or len(address) < 2:
        raise TypeError(f"AF_INET address must be tuple, not {type(address).__name__}")
    host, port = address[:2]
    if isinstance(host, (bytes, bytearray)):
        host = bytes(host).decode("idna")
    if not 0 <= port <= 0xFFFF:
        raise OverflowError("bind(): port must be 0-65535.")
    return host, port


def _is_here(host):
    return host in _NAMES or host.startswith("127.") or host == socket.gethostname()


def _name(family, host, port):
    return (host, port) if family == socket.AF_INET else (host, port, 0, 0)
