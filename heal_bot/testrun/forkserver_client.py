"""One fork server: a sandboxed process that has pytest loaded and judges orders by forking."""

from __future__ import annotations

import contextlib
import random
import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from heal_bot.core.model import Environment
from heal_bot.ports import Tree
from heal_bot.sandbox.job_spec import Job, Limits, Profile
from heal_bot.sandbox.sandbox_client import Running, Sandbox
from heal_bot.testrun import driver_protocol, scratch_dirs
from heal_bot.testrun.driver_protocol import Untrusted
from heal_bot.testrun.judge_protocol import JudgeRequest, JudgeResponse, OrderHearing
from heal_bot.testrun.pipe_ipc import Channel, Flooded

# The client's own patience beyond the limits the fork server keeps for its children.
_PATIENCE = 10.0
_START_SECONDS = 180.0
_CAP = 1 << 40
_LINE = 1 << 20


class ForkServerClient:
    """A fork server in a slot of its own; `send` orders, `pump` for (tag, answer) in that order.

    It loads pytest at once, and the project when `begin` names the tests. With `ended` set nothing
    more will come, and `unanswered` holds what was under way.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        tree: Tree,
        env: Environment,
        *,
        passes: Mapping[str, str],
        profile: Profile,
        wall: float,
        left: Callable[[], float],
        below: str = "",
        more: Mapping[str, bytes] = {},
    ) -> None:
        self.ended = ""
        self.ready = False
        self.warm = False
        self.errors: dict[str, str] = {}
        self._doctests = list(env.doctests)
        self._waiting: deque[tuple[object, OrderHearing]] = deque()
        self._nonce = secrets.token_hex(16)
        self._names = driver_protocol.Tests(())
        self._began = time.monotonic()
        self.start_seconds = 0.0
        self._stack = contextlib.ExitStack()
        self.channel = Channel(_CAP, _LINE)
        self._stack.callback(self.channel.close)
        try:
            driver = self._stack.enter_context(scratch_dirs.driver_files(sandbox.scratch, more))
            self._running = self._start(
                sandbox,
                tree,
                env,
                below,
                driver,
                passes=passes,
                profile=profile,
                wall=wall,
                left=left,
            )
        except BaseException:
            self._stack.close()
            raise

    def begin(self, tests: Sequence[str], known: Sequence[str] = ()) -> None:
        """Have it collect these tests by the ids `known`; orders may follow at once."""
        self._began = time.monotonic()
        order = {
            "nonce": self._nonce, "mode": "run", "tests": list(tests), "known": list(known),
            "repo": self._repo, "doctests": self._doctests, "shuffle": None, "canaries": [],
        }  # fmt: skip
        self.channel.order(order)

    def _start(
        self,
        sandbox: Sandbox,
        tree: Tree,
        env: Environment,
        below: str,
        driver: Path,
        *,
        passes: Mapping[str, str],
        profile: Profile,
        wall: float,
        left: Callable[[], float],
    ) -> Running:
        slot = self._stack.enter_context(sandbox.slot())
        scratch_dirs.fill_slot(slot, tree.root, left)
        wall = max(1.0, min(wall, left()))
        self._repo = str(slot.repo)
        job = Job(
            argv=(env.python, str(driver / "_heal_forkserver.py")),
            env=scratch_dirs.make_environment(slot, env, passes),
            cwd=slot.repo / below,
            read=(driver, *map(Path, env.roots)),
            channels=self.channel.theirs,
            limits=Limits(wall=wall, cpu=int(wall) + 1, output_bytes=1 << 32),
            profile=profile,
            terminals=True,
        )
        running = sandbox.start_job(job, slot)
        self.channel.started()
        return running

    @property
    def load(self) -> int:
        """How many orders wait for their answer."""
        return len(self._waiting)

    def unanswered(self) -> list[object]:
        """The tags of the orders under way, which no answer will come for."""
        tags = [tag for tag, _ in self._waiting]
        self._waiting.clear()
        return tags

    def send(self, tag: object, order: JudgeRequest) -> None:
        """Queue an order; a new nonce and new canaries for each."""
        rng = random.SystemRandom()
        expected = rng.choice(((True, False), (False, True)))
        triples = []
        for passes in expected:
            left, right = rng.randrange(3, 1000), rng.randrange(3, 1000)
            triples.append([left, right, left * right + (0 if passes else rng.randrange(1, 9))])
        tests = driver_protocol.Tests(expected)
        if order.files is None:
            tests.names, tests.collected = self._names.names, True
        hearing = OrderHearing(order, secrets.token_hex(8), tests)
        self._waiting.append((tag, hearing))
        if len(self._waiting) == 1:
            self._on_turn()
        self.channel.order(order.wire(hearing.nonce, triples))

    def _on_turn(self) -> None:
        """The first order waiting is the one the fork server works on: its time runs from now."""
        if self._waiting:
            hearing = self._waiting[0][1]
            order = hearing.order
            hearing.latest = time.monotonic() + order.limit + order.longer + _PATIENCE

    def pump(self, seconds: float) -> list[tuple[object, JudgeResponse]]:
        """Answers that arrived within `seconds`; also notices that the server is gone or stuck."""
        answers = []
        try:
            for line in self.channel.pump(seconds):
                if line:
                    answers += self._take(line)
        except (Untrusted, Flooded) as error:
            self.ended = str(error)
        now = time.monotonic()
        if self.channel.ended:
            self.ended = self.ended or "the fork server ended"
        elif self._waiting and self.ready and now > self._waiting[0][1].latest:
            self.ended = "the fork server does not answer"
        elif not self.ready and now > self._began + _START_SECONDS:
            self.ended = "the fork server does not start"
        return answers

    def _take(self, line: bytes) -> list[tuple[object, JudgeResponse]]:
        if not self.ready:
            self._starting(driver_protocol.parse(line, self._nonce))
            return []
        if not self._waiting:
            raise Untrusted("a record although nothing was asked")
        tag, hearing = self._waiting[0]
        try:
            record = driver_protocol.parse(line, hearing.nonce)
            if record["t"] != "done":
                hearing.take(record)
                return []
        except Untrusted as error:
            # What a killed child left half written; or a candidate that forges records.
            hearing.garbled = hearing.garbled or str(error)
            return []
        self._waiting.popleft()
        self._on_turn()
        return [(tag, hearing.answer(record))]

    def _starting(self, record: Mapping[str, Any]) -> None:
        kind = record["t"]
        if kind == "tests":
            self._names.add(driver_protocol.expect_rows(record.get("v")))
        elif kind == "errors":
            self.errors.update(
                driver_protocol.expect_pair(row)
                for row in driver_protocol.expect_rows(record.get("v"))
            )
        elif kind == "ready":
            self.ready, self.warm = True, record.get("warm") is True
            self.start_seconds = time.monotonic() - self._began
            self._on_turn()
        elif kind not in {"missing", "unsteady", "collected"}:
            raise Untrusted("a record of an unknown type")

    def close(self) -> None:
        """Kill it and give the slot back."""
        self._running.kill()
        self._stack.close()
