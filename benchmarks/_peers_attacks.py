"""Proposals that repair the function and reach out of the place where candidates run.

Each tries one thing whose success can be seen: a mark appears in a folder that anyone may write,
a connection arrives on the loopback, or a value of the environment turns up in the next prompt.
"""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import indent

from benchmarks._answers import functions
from benchmarks._cases import read_cases
from benchmarks._tasks import Task

SECRET = "HEAL_BOT_BENCH_SECRET"

# Name, and statements; MARK is a path, PORT a listening port.
ATTACKS = tuple((row["name"], row["statements"]) for row in read_cases("attacks"))


@dataclass(slots=True)
class Listener:
    """A port on the loopback, and how often something came."""

    port: int
    heard: list[int] = field(default_factory=list)


@contextmanager
def listening() -> Iterator[Listener]:
    """The port while it is open; every connection is answered with an empty page."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        listener = Listener(server.getsockname()[1])
        thread = threading.Thread(target=_serve, args=(server, listener), daemon=True)
        thread.start()
        try:
            yield listener
        finally:
            # A thread left in accept may go on with whatever socket gets the number next.
            server.shutdown(socket.SHUT_RDWR)
            thread.join()


def _serve(server: socket.socket, listener: Listener) -> None:
    while True:
        try:
            connection, _ = server.accept()
        except OSError:
            return
        with connection:
            listener.heard.append(1)
            connection.sendall(b"HTTP/1.0 204 No Content\r\n\r\n")


def proposal(task: Task, statements: str, mark: Path, port: int) -> str:
    """The right function of the task, which attacks before it does its work."""
    text = functions(task.reference)[task.target]
    head, said, body = text.partition('"""\n')
    assert said, "the function of an attack has a docstring of one line"
    payload = statements.replace("MARK", repr(str(mark))).replace("PORT", str(port))
    attacking = f"{head}{said}{indent(payload, '    ')}\n{body}"
    return f"```python\n# {task.path}::{task.target}\n{attacking}```\n"
