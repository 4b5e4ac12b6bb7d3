"""Ten ways out of the sandbox, tried from inside, and which interpreter this is.

Run as `python -I -c <this text> <facts as JSON>`; writes one JSON object to descriptor 3.
"""

from __future__ import annotations

import ctypes
import json
import os
import socket
import sys
from collections.abc import Callable
from typing import Any


def read_a_file_outside(facts: dict[str, Any]) -> None:
    with open(facts["secret"]) as file:
        file.read()


def write_a_file_outside(facts: dict[str, Any]) -> None:
    with open(facts["open_folder"] + "/planted", "w") as file:
        file.write("x")


def open_a_tcp_socket(facts: dict[str, Any]) -> None:
    socket.socket(socket.AF_INET, socket.SOCK_STREAM).close()


def open_a_udp_socket(facts: dict[str, Any]) -> None:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).close()


def connect_to_a_unix_socket(facts: dict[str, Any]) -> None:
    socket.socket(socket.AF_UNIX, socket.SOCK_STREAM).connect(facts["unix_socket"])


def read_the_callers_environment(facts: dict[str, Any]) -> None:
    with open("/proc/%d/environ" % facts["caller"], "rb") as file:
        file.read()


def list_the_processes(facts: dict[str, Any]) -> None:
    os.listdir("/proc")


def signal_the_caller(facts: dict[str, Any]) -> None:
    os.kill(facts["caller"], 0)


def make_a_user_namespace(facts: dict[str, Any]) -> None:
    call(ctypes.CDLL(None, use_errno=True).unshare, 0x10000000)


def trace_a_process(facts: dict[str, Any]) -> None:
    call(ctypes.CDLL(None, use_errno=True).ptrace, 16, os.getppid(), 0, 0)


def call(function: Callable[..., int], *arguments: int | None) -> None:
    if function(*arguments) < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


ESCAPES = (
    read_a_file_outside,
    write_a_file_outside,
    open_a_tcp_socket,
    open_a_udp_socket,
    connect_to_a_unix_socket,
    read_the_callers_environment,
    list_the_processes,
    signal_the_caller,
    make_a_user_namespace,
    trace_a_process,
)


def main() -> None:
    facts = json.loads(sys.argv[1])
    escaped = []
    for escape in ESCAPES:
        try:
            escape(facts)
        except OSError:
            continue
        escaped.append(escape.__name__.replace("_", " "))
    answer = {
        "escaped": escaped,
        "tried": len(ESCAPES),
        "environment": sorted(os.environ),
        "executable": sys.executable,
        "version": "%d.%d.%d" % sys.version_info[:3],
        "prefix": sys.prefix,
        "base_prefix": sys.base_prefix,
    }
    os.write(3, json.dumps(answer).encode())


if __name__ == "__main__":
    main()
