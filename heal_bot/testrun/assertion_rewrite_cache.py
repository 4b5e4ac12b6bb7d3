"""Has the assertions of test files rewritten once, beside the first run, for all runs after it.

pytest rewrites every test file in every process, which is most of what a short run takes. The
process that does it here is given the sources alone: no code of the project or of a candidate runs
in it, and what it made is found by the bytes of a file, so a cold run stays a cold run.
"""

from __future__ import annotations

import base64
import contextlib
import secrets
import string
import threading
from collections.abc import Mapping
from pathlib import Path

from heal_bot.core.errors import HealBotError
from heal_bot.core.model import Environment
from heal_bot.ports import Tree
from heal_bot.sandbox.job_spec import Job, Limits
from heal_bot.sandbox.landlock import child_env
from heal_bot.sandbox.sandbox_client import Running, Sandbox
from heal_bot.source import paths
from heal_bot.testrun import driver_protocol, scratch_dirs
from heal_bot.testrun.driver_protocol import Untrusted
from heal_bot.testrun.pipe_ipc import Channel

KEPT = "rewritten"
# Bytes of test files that one process is for: guesses, not measured.
_LEAST, _MOST = 20_000, 4_000_000
# What is made takes two to three bytes for each of the source.
_ROOM = 4
_SECONDS = 60
# It gives way to the run beside it.
_ASIDE = 5
_BASE64 = frozenset(string.ascii_letters + string.digits + "+/=")
_HEX = frozenset(string.hexdigits)


class Rewriter:
    """One process per environment; what it made so far is put beside whatever starts later."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox
        self._made: dict[str, bytes] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._running: list[Running] = []
        self._closed = False
        self._lock = threading.Lock()

    def begin(self, tree: Tree, env: Environment) -> None:
        """Start it, once, where there are slots for it and enough to rewrite."""
        with self._lock:
            if self._closed or env.prefix in self._threads or self._sandbox.count < 2:
                return
            thread = threading.Thread(target=self._make, args=(tree, env), name="rewriter")
            self._threads[env.prefix] = thread
            thread.start()

    def files(self, env: Environment) -> Mapping[str, bytes]:
        """What a driver finds beside itself, by name; nothing while it is being made."""
        made = self._made.get(env.prefix)
        return {KEPT: made} if made else {}

    def close(self) -> None:
        """End what runs."""
        with self._lock:
            self._closed = True
            for running in self._running:
                running.kill()
        for thread in self._threads.values():
            thread.join(_SECONDS)

    def _make(self, tree: Tree, env: Environment) -> None:
        # Every run rewrites for itself what is not there: a failure here changes no result.
        with contextlib.suppress(HealBotError, OSError):
            sources = _sources(tree)
            if sum(map(len, sources)) >= _LEAST:
                self._made[env.prefix] = self._rewritten(sources, env)

    def _rewritten(self, sources: list[bytes], env: Environment) -> bytes:
        """A line for each source: its SHA-256, and its code as the process told it."""
        with contextlib.ExitStack() as stack:
            driver = stack.enter_context(scratch_dirs.driver_files(self._sandbox.scratch))
            slot = stack.enter_context(self._sandbox.slot())
            channel = Channel(_ROOM * _MOST)
            stack.callback(channel.close)
            # Without the folders of the project, which has no copy here.
            beside = ":".join(path for path in env.paths if Path(path).is_absolute())
            job = Job(
                argv=(env.python, str(driver / "_heal_assertion_rewrite.py")),
                env=child_env(slot, {"PYTHONPATH": beside} if beside else None),
                cwd=slot.tmp,
                read=(driver, *map(Path, env.roots)),
                channels=channel.theirs,
                limits=Limits(wall=_SECONDS, cpu=_SECONDS, nice=_ASIDE),
            )
            with self._lock:
                if self._closed:
                    return b""
                running = self._sandbox.start_job(job, slot)
                self._running.append(running)
            channel.started()
            nonce = secrets.token_hex(16)
            texts = [base64.b64encode(source).decode("ascii") for source in sources]
            channel.order({"nonce": nonce, "sources": texts}, last=True)
            made: list[str] = []
            while not channel.ended:
                lines = channel.pump(0.2)
                made += [_told(line, nonce) for line in lines]
                if not lines and running.ended is not None:
                    break
            running.kill()
        return "".join(made).encode("ascii")


def _sources(tree: Tree) -> list[bytes]:
    """The test files of a tree, as many as one process may take; links are none."""
    found: list[bytes] = []
    room = _MOST
    for path in tree.paths():
        if path.endswith(".py") and paths.is_test(path):
            with contextlib.suppress(KeyError):
                source = tree.read(path)
                room -= len(source)
                if room < 0:
                    break
                found.append(source)
    return found


def _told(line: bytes, nonce: str) -> str:
    """A record as a line of the file; nothing of the last one."""
    record = driver_protocol.parse(line, nonce)
    if record["t"] == "finish":
        return ""
    digest, code = record.get("h"), record.get("v")
    if not isinstance(digest, str) or not isinstance(code, str):
        raise Untrusted("no code of a test file")
    if len(digest) != 64 or not _HEX.issuperset(digest) or not _BASE64.issuperset(code):
        raise Untrusted("no code of a test file")
    return f"{digest} {code}\n"
