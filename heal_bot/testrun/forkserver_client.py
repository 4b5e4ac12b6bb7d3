"""One fork server: a sandboxed process that has pytest loaded and judges orders by forking."""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from heal_bot.core.model import Environment
from heal_bot.ports import Tree
from heal_bot.sandbox.job_spec import Limits
from heal_bot.testrun import driver_protocol
from heal_bot.testrun.agent_process import AgentProcess, Workbench
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
        bench: Workbench,
        tree: Tree,
        env: Environment,
        *,
        wall: float,
        left: Callable[[], float],
    ) -> None:
        self.ended = ""
        self.ready = False
        self._doctests = list(env.doctests)
        self._waiting: deque[tuple[object, OrderHearing]] = deque()
        self._nonce = secrets.token_hex(16)
        self._names = driver_protocol.Tests(())
        self._began = time.monotonic()
        self.start_seconds = 0.0
        self.channel = Channel(_CAP, _LINE)
        limits = Limits(wall=wall, output_bytes=1 << 32)
        self._process = AgentProcess(
            bench, "_heal_forkserver.py", tree.root, env, self.channel, left, limits
        )

    def begin(self, tests: Sequence[str], known: Sequence[str] = ()) -> None:
        """Have it collect these tests by the ids `known`; orders may follow at once."""
        self._began = time.monotonic()
        order = {
            "nonce": self._nonce, "mode": "run", "tests": list(tests), "known": list(known),
            "repo": self._process.repo, "doctests": self._doctests, "shuffle": None, "canaries": [],
        }  # fmt: skip
        self.channel.order(order)

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
        tests = driver_protocol.Tests(secrets.choice(((True, False), (False, True))))
        if order.files is None:
            tests.names, tests.collected = self._names.names, True
        hearing = OrderHearing(order, secrets.token_hex(8), tests)
        self._waiting.append((tag, hearing))
        if len(self._waiting) == 1:
            self._on_turn()
        self.channel.order(order.wire(hearing.nonce, tests.make_numbers()))

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
        elif kind == "ready":
            self.ready = True
            self.start_seconds = time.monotonic() - self._began
            self._on_turn()
        elif kind not in {"errors", "missing", "unsteady", "collected"}:
            raise Untrusted("a record of an unknown type")

    def close(self) -> None:
        """Kill it and give the slot back."""
        self._process.close()
