"""A little shop with two faults, repaired by scripted models; what the tests of the tier share."""

from __future__ import annotations

import random
import time
import traceback
from collections.abc import Callable, Generator, Iterable, Sequence
from pathlib import Path
from typing import cast

from heal_bot.core.events import Event, Run
from heal_bot.core.model import (
    Calls,
    Candidate,
    Cluster,
    Edit,
    Failure,
    Proposal,
    Suspect,
    Verdict,
)
from heal_bot.ports import Lab
from heal_bot.ports.language_model import Model
from heal_bot.repair.llm.budget import Budget
from heal_bot.repair.llm.model_proposer import ModelProposer
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.search.scheduler import SearchLimits, proposals
from heal_bot.source import edit, functions

MONEY = '''"""Money."""

import math

TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


def round_cents(value):
    """Halves go up."""
    return math.floor(value * 100) / 100  # cents


class Cart:
    def total(self, prices):
        # the sum, rounded
        return round_cents(sum(prices)) - 1
'''
TESTS = """from shop.money import Cart, round_cents

def test_round():
    assert round_cents(1.239) == 1.24, f"got {round_cents(1.239)}"

def test_total():
    assert Cart().total([1.0, 2.0]) == 3.0, f"got {Cart().total([1.0, 2.0])}"
"""
ROUND_RIGHT = """The floor drops cents.
```python
# shop/money.py::round_cents
def round_cents(value):
    \"\"\"Halves go up.\"\"\"
    return math.floor(value * 100 + 0.5) / 100  # cents
```
"""
ROUND_WRONG = ROUND_RIGHT.replace("+ 0.5", "+ 7")
TOTAL_RIGHT = """```python
# shop/money.py::Cart.total
def total(self, prices):
    # the sum, rounded
    return round_cents(sum(prices))
```
"""


class MemoryTree:
    """A tree of texts, as the workspace would hand it out."""

    sha = "0" * 40
    tree_sha = "1" * 40
    root = Path("/nonexistent")

    def __init__(self, files: dict[str, str]) -> None:
        self.files = files

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self.files))

    def read(self, path: str) -> bytes:
        return self.files[path].encode()

    def blob(self, path: str) -> str:
        return f"{len(self.files[path]):040x}"

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return {}


class Judge:
    """Runs the tests on the patched module in this process; scripted code is ours."""

    def __init__(self, tree: MemoryTree, cluster: Cluster) -> None:
        self.tree, self.cluster = tree, cluster

    def judge(self, candidates: Iterable[Candidate]) -> Generator[Verdict, None, None]:
        for candidate in candidates:
            files = edit.patch_files(self.tree, candidate.edits)
            yield self._verdict(files[0].content)

    def call(self, candidates: Sequence[Candidate], seed: int = 0) -> Calls:
        """Nothing: no calls were recorded here."""
        return Calls()

    def _verdict(self, text: str) -> Verdict:
        fixed, failing = [], []
        for failure in self.cluster.failures:
            space: dict[str, object] = {}
            exec(text, space)
            exec(TESTS.partition("\n")[2], space)
            name = failure.test.partition("::")[2].partition("[")[0]
            try:
                space[name]()  # type: ignore[operator]
                fixed.append(failure.test)
            except AssertionError as error:
                said = traceback.format_exception_only(error)[0]
                failing.append(Failure(failure.test, type(error).__name__, said))
        status = "unchanged" if not fixed else "improved" if failing else "fixed"
        return Verdict(status, tuple(fixed), tuple(failing))

    def __enter__(self) -> Judge:
        return self

    def __exit__(self, *args: object) -> None:
        pass


class Scene:
    """One repair of the little shop by given models; afterwards all there is to look at."""

    def __init__(self, models: list[Model], tests: dict[str, str], **options: object) -> None:
        self.events: list[Event] = []
        self.tree = MemoryTree({"shop/money.py": MONEY, "tests/test_shop.py": TESTS})
        targets = functions.index_targets("shop/money.py", MONEY)
        wanted = [t for t in targets if t.kind == "function"]
        failures = tuple(Failure(test, "AssertionError", said) for test, said in tests.items())
        named = options.pop("suspects", [t.qualname for t in wanted])
        suspects = tuple(
            Suspect(t, 0.9, ("ran in 2 failing tests",))
            for t in wanted
            if t.qualname in named  # type: ignore[operator]
        )
        self.cluster = Cluster("c1", failures, suspects)
        lab: Lab | None = options.pop("lab", None)  # type: ignore[assignment]
        self.ledger = AttemptLog(self.tree, instruction="keep it short", lab=lab)
        self.ledger.spectrum = options.pop("spectrum", None)  # type: ignore[assignment]
        stands_on = options.pop("base", "")
        confirm = cast(
            Callable[[Proposal], Verdict | None], options.pop("confirm", lambda proposal: None)
        )
        budget = options.pop("budget", None) or Budget()
        self.proposer = ModelProposer(models, budget, **options)  # type: ignore[arg-type]
        # The first import of an SDK is in it, which a busy machine takes a minute for.
        run = Run(self.events.append, rng=random.Random(7), deadline=time.monotonic() + 300)

        def judge(cluster: Cluster, base: tuple[Edit, ...]) -> Judge:
            if stands_on:
                target = next(t for t in targets if t.qualname == stands_on)
                done = target.source.replace("return round_cents(sum(prices)) - 1", "return 0")
                self.ledger.bases[cluster.id] = (Edit(target, done),)
            return Judge(self.tree, cluster)

        found = proposals(
            run, [self.cluster], [self.proposer], judge, self.ledger, SearchLimits(attempts=8)
        )
        self.proposal = None
        for self.proposal in found:
            refused = confirm(self.proposal)
            if refused is None:
                break
            self.ledger.settle(run, self.proposal, refused)
        found.close()

    @property
    def statuses(self) -> list[str]:
        return [attempt.verdict.status for attempt in self.ledger.attempts]

    def kinds(self, kind: str) -> list[Event]:
        return [event for event in self.events if event.kind == kind]


ROUND = {"tests/test_shop.py::test_round": "got 1.23"}
BOTH = {**ROUND, "tests/test_shop.py::test_total": "got 2.0"}


def sent(bench, number: int, *, ours: bool = False) -> str:
    """The whole prompt of a request as the model reads it; or without its own answers."""
    body = bench.server.requests[number][2]
    turns = [turn for turn in body["messages"] if not ours or turn["role"] == "user"]
    blocks = [block["text"] for turn in turns for block in turn["content"]]
    return body["system"][0]["text"] + "\n".join(blocks)
