"""Outcome records for tests: of a small repository with one planted bug and its repair."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from heal_bot.core.outcome import OutcomeRecord
from heal_bot.source import edit

BROKEN = '''"""Prices."""

RATE = 2


def total(prices):
    """The sum of all prices."""
    return sum(prices[1:])


def discount(price, percent):
    return price - percent
'''
FIXED = BROKEN.replace("prices[1:]", "prices")
OTHERWISE = BROKEN.replace("sum(prices[1:])", "prices[0] + sum(prices[1:])")
TEST = """from shop.pricing import total


def test_total():
    assert total([1, 2]) == 3
"""
FILES = {
    "shop/__init__.py": "",
    "shop/pricing.py": BROKEN,
    "tests/test_pricing.py": TEST,
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1"\n',
}


def write(folder: Path, files: dict[str, str]) -> Path:
    """Files below a folder."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def blob(text: str) -> str:
    """The git blob id of a text."""
    data = text.encode()
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def data(base_sha: str, before: str = BROKEN, after: str = FIXED) -> dict[str, Any]:
    """`outcome.json` of the repaired shop as plain data, to be changed by a test."""
    diff = edit.diff("shop/pricing.py", before, after)
    test, other = "tests/test_pricing.py::test_total", "tests/test_pricing.py::test_discount"
    suspect = {
        "path": "shop/pricing.py", "qualname": "total", "nth": 0, "kind": "function",
        "first_line": 6, "score": 0.97, "evidence": ["runs in 1 failing test and in no other"],
    }  # fmt: skip
    failure = {
        "test": test, "status": "fixed", "kind": "AssertionError", "message": "assert 2 == 3",
        "reason": "", "flake_rate": None, "best_attempt": 2, "cluster_ids": ["c1"],
        "suspects": [suspect],
    }  # fmt: skip
    attempt = {
        "number": 1, "cluster": "c1", "proposer": "rules", "family": "boundary",
        "rationale": "starts the slice at 0", "functions": ["shop/pricing.py::total"],
        "diff": diff.replace("sum(prices)", "sum(prices[2:])"), "verdict": "unchanged",
        "detail": "no failing test passes", "fixed": [], "still_failing": [test],
        "newly_failing": [], "messages": {test: "assert 0 == 3"}, "seconds": 0.2,
        "cost_usd": 0.0, "tokens": {"input": 0},
    }  # fmt: skip
    won = attempt | {
        "number": 2, "diff": diff, "verdict": "fixed", "detail": "", "fixed": [test],
        "still_failing": [], "messages": {}, "rationale": "sums every price",
    }  # fmt: skip
    return {
        "schema": 2, "heal_bot": "0.1.0", "status": "partly_healed", "stopped": "exhausted",
        "reason": "1 of 2 failing tests was repaired", "fingerprint": "0123456789ab",
        "request": {
            "repo": "octo/shop", "base_sha": base_sha, "base_ref": "main", "tested_sha": "",
            "head_repo": "", "trigger": "command", "actor": "ada", "trust": "trusted",
            "run_id": None, "pull_number": None, "verb": "heal", "instruction": "",
        },
        "failures": [
            failure,
            failure | {
                "test": other, "status": "still_failing", "message": "assert 90 == 90.0000001",
                "reason": "no candidate", "best_attempt": None, "cluster_ids": ["c2"],
            },
        ],
        "clusters": [
            {"id": "c1", "tests": [test], "suspects": [suspect], "signature": "AssertionError"},
            {"id": "c2", "tests": [other], "suspects": [], "signature": "AssertionError"},
        ],
        "searches": [
            {"proposer": "rules", "path": "shop/pricing.py", "qualname": "total",
             "family": "boundary", "tried": 7, "best_fixed": 1},
        ],
        "attempts": [attempt, won],
        "patch": {
            "base_sha": base_sha, "diff": diff,
            "files": [{"path": "shop/pricing.py", "base_blob": blob(before), "content": after}],
            "functions": [{"path": "shop/pricing.py", "qualname": "total"}],
            "fixed": [test], "still_failing": [other],
        },
        "certificate": {
            "base_sha": base_sha, "tree_sha": "a" * 40, "tests_hash": "b" * 64,
            "environment": {"python": "3.12.4", "lock_hash": "", "manifest_hash": "c" * 64},
            "isolation": {"mode": "reduced", "layers": ["uid", "seccomp", "network"],
                          "missing": ["landlock: the kernel has none"]},
            "baseline_runs": 3, "verify_runs": 2,
            "before_after": [{"test": test, "before": "failed", "after": "passed"},
                             {"test": other, "before": "failed", "after": "failed"}],
            "full_suite": {"complete": True, "passed": 11, "failed": 1, "skipped": 0,
                           "seconds": 1.25},
            "tests_unchanged": True, "methods": {}, "doubts": [],
            "gates": [{"name": "held-out tests", "result": "passed"}],
        },
        "report": {"flags": [], "skipped": []}, "memory": {"tried": [], "lessons": []},
        "cost": {"usd": 0.0, "input_tokens": 0, "output_tokens": 0, "seconds": 12.5},
        "notes": ["no model key is set; the rules worked alone"],
        "proved": ["1 failing test passes with the patch in 2 cold runs of the suite, in which no"
                   " other test breaks; it failed in 3 runs without it"],
        "inferred": ["the fault is where the patch changes code: ranking located it, and the tests"
                     " pass"],
        "not_shown": ["isolation layer missing: landlock: the kernel has none"],
    }  # fmt: skip


def suggested(base_sha: str, *, beside: bool = False) -> dict[str, Any]:
    """A run that ended with a suggestion, and with no patch unless it stands `beside` one."""
    values = data(base_sha)
    found = {
        "diff": values["patch"]["diff"], "functions": values["patch"]["functions"],
        "proposer": "rules", "why": ["one failing test alone vouches for it"], "attempt": 2,
        "fixed": values["patch"]["fixed"],
    }  # fmt: skip
    values["suggestion"] = found
    if beside:
        return values
    return values | {"status": "not_healed", "patch": None, "certificate": None}


def asked(base_sha: str) -> dict[str, Any]:
    """A run that ended with a question: what is the sum of no prices?"""
    values = suggested(base_sha) | {"status": "needs_answer", "stopped": "done"}
    values["reason"] = "two changes pass; which is right depends on what total([]) gives"
    values["choices"] = []
    for number, (name, after) in enumerate({"A": FIXED, "B": OTHERWISE}.items(), 2):
        patch = data(base_sha, after=after)["patch"]
        choice = {"id": name, "proposer": "rules", "attempt": number, "patch": patch}
        values["choices"].append(choice | {key: patch[key] for key in ("diff", "functions")})
    answers = [{"choice": "A", "result": "0"}, {"choice": "B", "result": "raises IndexError"}]
    return values | {"question": {"call": "total([])", "answers": answers}}


def record(values: dict[str, Any]) -> OutcomeRecord:
    """Checked as publishing checks a bundle."""
    import json

    return OutcomeRecord.model_validate_json(json.dumps(values))
