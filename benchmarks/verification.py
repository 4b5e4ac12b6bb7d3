"""Verification in numbers: forgeries, honest repairs, flaky suites, histories, gates, wall time."""

from __future__ import annotations

import contextlib
import json
import sys
import tempfile
import textwrap
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks._cases import options_of, read_cases
from benchmarks._healing import suite_python
from benchmarks._repositories import INI, commit_files
from benchmarks._timed import compare_slow
from benchmarks._verified import GATED, HISTORIES, HONEST, UNSTEADY, History, Honest, Unsteady
from heal_bot import api, wiring
from heal_bot.core import settings
from heal_bot.core.model import (
    Attempt,
    Baseline,
    Candidate,
    Certificate,
    Confirmed,
    Edit,
    Failure,
    PatchedFile,
    Proposal,
    RunHints,
    Verdict,
)
from heal_bot.core.statuses import VerdictStatus
from heal_bot.ports import RunContext, Tree
from heal_bot.source import functions, patch_policy
from heal_bot.verification import gates
from heal_bot.verification.baseline import reproduce
from heal_bot.verification.final_check import confirm
from tests.llm_clients.scene import MemoryTree

PARTS = ("forgeries", "honest", "flaky", "intent", "gates", "wall")


@dataclass(frozen=True)
class Project:
    """A small repository with the edges to verify changes to it."""

    context: RunContext

    @property
    def tree(self) -> Tree:
        """Its checkout."""
        return self.context.tree

    def baseline(self, *tests: str) -> Baseline:
        """The baseline; without names every red test is a failure."""
        named = tuple(Failure(t, "AssertionError", "assert False") for t in tests)
        return reproduce(self.context, named or None)

    def edit(self, qualname: str, new_source: str) -> Candidate:
        """A candidate that replaces one function of `m.py`."""
        text = self.tree.read("m.py").decode()
        target = functions.find_target(functions.index_targets("m.py", text), qualname)
        assert target is not None, qualname
        return Candidate((Edit(target, new_source),), "benchmark", "case")

    def confirm(self, candidate: Candidate, baseline: Baseline) -> Confirmed | Verdict:
        """The verdict of record."""
        proposal = Proposal((Attempt(1, "", candidate, Verdict(VerdictStatus.FIXED)),))
        return confirm(self.context, proposal, baseline)


@contextlib.contextmanager
def project(python: Path, files: dict[str, str]) -> Iterator[Project]:
    """A repository with these files and the edges for it."""
    with tempfile.TemporaryDirectory(prefix="heal-bot-bench-") as place:
        given = {"pyproject.toml": INI, **files}
        folder = commit_files(Path(place) / "repo", "change", given)
        chosen = settings.from_process(None, {"proposers": "rules"})
        with wiring.open_bench(
            folder, python, chosen, lambda event: None, "HEAD", RunHints()
        ) as context:
            yield Project(context)


def forgeries(python: Path, few: bool) -> dict[str, Any]:
    """Each forgery with the rails, as shipped, and without them: what ends as fixed, and how."""
    accepted: dict[str, list[str]] = {"oracle": [], "in_process": [], "without_rails": []}
    table = read_cases("forgeries")
    cases = list(table["bodies"].items())[:: 9 if few else 1]
    with project(python, {"m.py": table["module"], "tests/test_m.py": table["tests"]}) as made:
        baseline = made.baseline()
        assert len(baseline.confirmed) == 1, baseline.reproduced
        for name, body in cases:
            candidate = made.edit("answer", f"def answer(n):\n{textwrap.indent(body, '    ')}\n")
            verified = made.confirm(candidate, baseline)
            if isinstance(verified, Confirmed):
                method = verified.certificate.methods[0][1]
                passes_rails = not (
                    patch_policy.check_candidate(candidate, made.tree)
                    or patch_policy.list_reaches(candidate, made.tree)
                )
                if method == "oracle":
                    accepted["oracle"].append(name)
                elif passes_rails:
                    accepted["in_process"].append(name)
                if not passes_rails:
                    accepted["without_rails"].append(f"{name} ({method})")
            _say(f"forgery {name}: {_told(verified)}")
    return {"forgeries": len(cases), "accepted": accepted}


def honest(python: Path, few: bool) -> dict[str, Any]:
    """Each honest repair through rails and confirmation; all cases are modules of one project."""
    cases = HONEST[::9] if few else HONEST
    fixed, outside, missed = 0, 0, []
    files: dict[str, str] = {}
    for number, case in enumerate(cases):
        files |= _module(number, case)
    with project(python, files) as made:
        baseline = made.baseline()
        for number, case in enumerate(cases):
            verified = _honest(made, baseline, f"case{number}.py", case)
            if isinstance(verified, Confirmed):
                fixed += 1
                by_oracle = verified.certificate.methods[0][1] == "oracle"
                outside += by_oracle and case.plain
                if case.plain and not by_oracle:
                    gate = dict(verified.certificate.gates).get("oracle")
                    missed.append(f"{case.name}: {gate}")
            else:
                missed.append(f"{case.name}: {_told(verified)}")
            _say(f"honest {case.name}: {_told(verified)}")
    plain = sum(case.plain for case in cases)
    told = {"cases": len(cases), "fixed": fixed, "plain_data": plain, "by_oracle": outside}
    return {"honest": {**told, "missed": missed}}


def _module(number: int, case: Honest) -> dict[str, str]:
    """The module of a case and its tests, which know it as `m`."""
    name = f"case{number}"
    named = _suite(dict(enumerate(case.tests)))
    named = named.replace("from m import", f"from {name} import")
    named = named.replace("import pytest, m\n", f"import pytest, {name} as m\n")
    return {f"{name}.py": case.code, f"tests/test_{name}.py": named}


def _suite(bodies: Mapping[object, str]) -> str:
    """Tests of `m` with these bodies, by name."""
    tests = [f"def test_{name}():\n    {body}\n" for name, body in bodies.items()]
    return "\n\n".join(["from m import *\n", *tests])


def _honest(made: Project, baseline: Baseline, path: str, case: Honest) -> Confirmed | Verdict:
    at = case.code[: case.code.index(case.wrong)].count("\n") + 1
    target = functions.find_running(path, case.code, at)
    assert target is not None, case.name
    edit = Edit(target, target.source.replace(case.wrong, case.right))
    candidate = Candidate((edit,), "benchmark", "case")
    reaches = patch_policy.list_reaches(candidate, made.tree)
    if reason := patch_policy.check_candidate(candidate, made.tree) or "; ".join(reaches):
        return Verdict(VerdictStatus.REJECTED, detail=reason)
    return made.confirm(candidate, baseline)


def flaky(python: Path, few: bool) -> dict[str, Any]:
    """Each unsteady suite through the baseline."""
    cases = UNSTEADY[::7] if few else UNSTEADY
    with project(python, {"tests/test_m.py": "# The tests of a case.\n"}) as made:
        wrong = [said for case in cases if (said := _unsteady(made, case))]
    right = len(cases) - len(wrong)
    return {"flaky": {"cases": len(cases), "right": right, "wrong": wrong}}


def _unsteady(made: Project, case: Unsteady) -> str:
    """What the baseline gets wrong; '' when it is right."""
    path = "tests/test_m.py"
    kind, _, message = case.message.partition(": ")
    failure = Failure(f"{path}::{case.test}", kind, message)
    file = PatchedFile(path, made.tree.blob(path), case.text)
    patched = replace(made.context, tree=made.context.patched((file,)))
    baseline = reproduce(patched, (failure,))
    (found,) = baseline.reproduced
    _say(f"flaky {case.kind}: {found.status}: {found.failure.reason}")
    last = case.text.strip().splitlines()[-1].strip()
    return "" if found.status in case.right else f"{case.kind} ({last}): {found.status}"


def intent(python: Path, few: bool) -> dict[str, Any]:
    """Each history healed as a whole, offline."""
    cases = HISTORIES[::8] if few else HISTORIES
    wrong = [said for case in cases if (said := _history(python, case))]
    right = len(cases) - len(wrong)
    return {"intent": {"cases": len(cases), "right": right, "wrong": wrong}}


def _history(python: Path, case: History) -> str:
    with tempfile.TemporaryDirectory(prefix="heal-bot-bench-") as place:
        folder = Path(place) / "repo"
        tests = _suite(dict(enumerate(case.tests)))
        old = {"pyproject.toml": INI, "m.py": case.old, "tests/test_m.py": tests}
        commit_files(folder, "change", old)
        also = {"tests/test_new.py": _suite({"new": case.also})} if case.also else {}
        commit_files(folder, "change", {"m.py": case.new, **also})
        job = wiring.HealJob(repo=folder, out=Path(place) / "out", python=python)
        record = api.heal(job, settings.from_process(None, {"proposers": "rules"}))
    why = record.suggestion.why if record.suggestion else ()
    undoes = any("undoes" in reason for reason in why)
    undoes = undoes or bool(record.certificate and record.certificate.undoes)
    # A person is asked: by the run, or by a draft that says what it takes back.
    stale = record.status == "stale_test" or any(f.status == "stale_test" for f in record.failures)
    doubts = record.certificate.doubts if record.certificate else ()
    undoes = undoes or any("right unless" in doubt for doubt in doubts)
    said = f"{record.status}{', undoes' if undoes else ''}"
    _say(f"intent {case.name}: {said}: {record.reason[:120]}")
    right = stale or undoes if case.intended else not stale
    return "" if right else f"{case.name}: {said}"


def gated(python: Path, few: bool) -> dict[str, Any]:
    """Each change read by the gates."""
    wrong = []
    for case in GATED:
        test = f"def test_it():\n    {case.test}\n"
        files = {"m.py": case.old, "tests/test_m.py": test}
        tree: Any = MemoryTree(files)
        target = functions.find_target(functions.index_targets("m.py", case.old), "f")
        assert target is not None
        edit = Edit(target, case.new)
        found = gates.list_findings((edit,), ("tests/test_m.py::test_it",), tree)
        doubts = patch_policy.list_doubts(Candidate((edit,), "benchmark", "case"), tree)
        said = "veto" if any(f.veto for f in found) else "doubt" if found or doubts else ""
        if said != case.right:
            wrong.append(f"{case.name}: {said or 'nothing'}, not {case.right or 'nothing'}")
    return {"gates": {"cases": len(GATED), "right": len(GATED) - len(wrong), "wrong": wrong}}


def wall(python: Path, few: bool) -> dict[str, Any]:
    """The wall time of heal over that of the tests it cannot do without."""
    ratios = {"2s": compare_slow(python, 2.0, 1 if few else 5)}
    if not few:
        ratios["30s"] = compare_slow(python, 30.0, 1)
    return {"wall_ratio": {k: v["ratio"] for k, v in ratios.items()}, "wall": ratios}


def _told(verified: Confirmed | Verdict) -> str:
    if isinstance(verified, Confirmed):
        certificate: Certificate = verified.certificate
        return f"fixed, {certificate.methods[0][1]}"
    return f"{verified.status}: {verified.detail}"


def _say(text: str) -> None:
    print(text, file=sys.stderr)


def main(argv: list[str]) -> int:
    """Run the parts asked for and print one JSON object as the last line."""
    options = options_of("verification").parse_args(argv)
    asked = options.only or PARTS
    began = time.monotonic()
    runs = {
        "forgeries": forgeries, "honest": honest, "flaky": flaky,
        "intent": intent, "gates": gated, "wall": wall,
    }  # fmt: skip
    result: dict[str, Any] = {}
    python = suite_python()
    for name in asked:
        result |= runs[name](python, options.few)
        if not options.json:
            print(f"{name}: done after {time.monotonic() - began:.0f} s")
    whole = set(asked) == set(PARTS) and not options.few
    result |= {"seconds": round(time.monotonic() - began, 1), "complete": whole}
    print(json.dumps(result))
    return 0
