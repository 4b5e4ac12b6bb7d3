"""A small project whose code says which of its tests fail, and a healer that knows two repairs.

The healer stands for a run that heals: it takes what is red at the commit from the code itself,
verifies a proposal that it is given before it tries anything, and tries nothing that its memory
rules out. So it can be told whether a run searched, and what it was given to know.
"""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from benchmarks._cases import read_cases
from heal_bot.action.worker_process import Task
from heal_bot.core.model import Candidate, Edit, Target
from heal_bot.core.outcome import OutcomeRecord
from heal_bot.core.statuses import LASTING
from heal_bot.repair.search.attempt_history import digest, normalise_source
from heal_bot.source import edit, functions
from tests.github_server import records

PATH = "shop/pricing.py"
_TABLE = read_cases("shop")
GOOD: dict[str, str] = _TABLE["good"]
FAULTS: dict[str, list[str]] = _TABLE["faults"]
NAMES = tuple(GOOD)
# What passes the same tests, and is found where the first repair is ruled out.
OTHER = {name: f"result = {body.removeprefix('return ')}\n    return result"
         for name, body in GOOD.items()}  # fmt: skip
_TEST = re.compile(r'name="test_(\w+)"')


def render(faults: dict[str, int], remark: str = "", wide: bool = False) -> str:
    """The module, with fault number N (from 1) in the functions that are named."""
    bodies = {name: FAULTS[name][faults[name] - 1] if faults.get(name) else GOOD[name]
              for name in NAMES}  # fmt: skip
    parts = []
    for name, body in bodies.items():
        shown = body.replace("return ", "return (\n        ") + "\n    )" if wide else body
        parts.append(f"def {name}(prices):\n    {shown}\n")
    return "\n\n".join([f'"""Prices."""\n{remark}', *parts])


def find_red(text: str) -> tuple[str, ...]:
    """The functions whose test fails."""
    found = {target.qualname: target for target in functions.index_targets(PATH, text)}
    return tuple(name for name in NAMES if not _passes(name, found[name].source))


def report(names: Iterable[str]) -> str:
    """The JUnit report of a run in which the tests of these functions failed."""
    cases = "".join(
        f'<testcase classname="tests.test_pricing" name="test_{name}"><failure'
        f' message="assert {name}">E assert {name}</failure></testcase>'
        for name in names
    )
    count = cases.count("<failure")
    passed = '<testcase classname="tests.test_pricing" name="test_import"/>'
    suite = f'<testsuite name="pytest" tests="{count + 1}" failures="{count}">'
    return f"{suite}{cases}{passed}</testsuite>"


@dataclass
class Healed:
    """What one call of the healer was given, and what it did."""

    task: Task
    searched: bool
    names: tuple[str, ...]
    tried: tuple[str, ...]


@dataclass
class Healer:
    """Repairs the project at a commit; `hard` are the functions that it finds no repair for.

    `path` is where the module lies, `doubt` a doubt of every certificate.
    """

    read: Callable[[str, str], str]
    path: str = PATH
    hard: set[str] = field(default_factory=set)
    doubt: str = ""
    calls: list[Healed] = field(default_factory=list)

    def heal(self, task: Task) -> OutcomeRecord:
        """The record of a run for what the reports name and the code has."""
        before = self.read(task.request.base_sha, self.path)
        reported = _reported(task)
        names = tuple(n for n in find_red(before) if n in reported or not reported)
        ruled = {key for key, verdict in task.memory.tried if verdict in LASTING}
        ready = self._resumed(task, before)
        edits: list[Edit] = []
        tried: list[str] = []
        for name in names:
            target = _target(self.path, before, name)
            if name in ready:
                edits.append(Edit(target, ready[name]))
                continue
            for body in (GOOD[name], OTHER[name]):
                change = Edit(target, f"def {name}(prices):\n    {body}\n")
                key = digest(Candidate((change,), "rules", "constant"))
                if key in ruled:
                    continue
                if name in self.hard:
                    tried.append(key)
                    continue
                edits.append(change)
                break
        searched = any(name not in ready for name in names)
        self.calls.append(Healed(task, searched, names, tuple(tried)))
        return self._record(task, before, names, edits, tried)

    def _resumed(self, task: Task, before: str) -> dict[str, str]:
        """What the proposal that is to be verified first repairs here."""
        patch = task.resumed.patch if task.resumed else None
        if patch is None or patch.base_sha != task.request.base_sha:
            return {}
        text = next((f.content for f in patch.files if f.path == self.path), before)
        found = {t.qualname: t.source for t in functions.index_targets(self.path, text)}
        return {name: found[name] for name in NAMES if _passes(name, found[name])}

    def _record(
        self, task: Task, before: str, names: tuple[str, ...], edits: list[Edit], tried: list[str]
    ) -> OutcomeRecord:
        after = edit.splice(before, edits)
        data = records.data(task.request.base_sha, before, after)
        fixed = [_test(e.target.qualname) for e in edits]
        left = [test for test in map(_test, names) if test not in fixed]
        key = json.dumps([task.request.base_ref, sorted(map(_test, names)), self.path])
        like = data["failures"][0]
        data["failures"] = [
            like | {"test": test, "status": "fixed" if test in fixed else "still_failing"}
            for test in (*fixed, *left)
        ]
        data |= {
            "fingerprint": hashlib.sha256(key.encode()).hexdigest()[:12],
            "status": "healed" if not left else "partly_healed" if fixed else "not_healed",
            "memory": {
                "tried": [
                    *({"digest": key, "verdict": verdict} for key, verdict in task.memory.tried),
                    *({"digest": key, "verdict": "unchanged"} for key in tried),
                ],
                "lessons": [],
            },
        }
        data["patch"]["files"][0]["path"] = self.path
        data["patch"] |= {
            "functions": [{"path": self.path, "qualname": e.target.qualname} for e in edits],
            "fixed": fixed,
            "still_failing": left,
        }
        data["certificate"]["doubts"] = [self.doubt] if self.doubt else []
        if not fixed:
            data |= {"patch": None, "certificate": None}
        return records.record(data)


def _test(name: str) -> str:
    return f"tests/test_pricing.py::test_{name}"


def _passes(name: str, source: str) -> bool:
    bodies = (GOOD[name], OTHER[name])
    good = {normalise_source(f"def {name}(prices):\n    {body}\n") for body in bodies}
    return normalise_source(source) in good


def _target(path: str, text: str, name: str) -> Target:
    found = functions.find_target(functions.index_targets(path, text), name)
    assert found is not None
    return found


def _reported(task: Task) -> set[str]:
    """The functions whose tests the reports name as failed."""
    found: set[str] = set()
    for path in task.downloaded:
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                cases = archive.read(name).decode().split("<testcase ")
                found |= {m[1] for c in cases if "<failure" in c and (m := _TEST.search(c))}
    return found
