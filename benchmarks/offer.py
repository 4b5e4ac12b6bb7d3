"""What is offered of the patches that pass, how sure it is, and what is refused as a lookup.

The pools of `held` projects were searched with the visible tests (`benchmarks.fit.pools`), offline;
their numbers lie beside those that the probability was fitted on. High is what is called the
repair, medium what becomes a draft, low a suggestion; `right_among_choices` is of the questions
that would be asked, `offered` of the pools that hold a right patch: the share in which it is the
one that is offered, or a choice. Lookups are bodies that hold the answers of a function's tests,
each proposed to a whole run; honest are the right changes, called as a proposal is.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks._cases import options_of, read_cases
from benchmarks._healing import suite_python
from benchmarks._repositories import INI, commit_files
from benchmarks.fit import load_rows, wilson
from heal_bot import api, wiring
from heal_bot.core import settings
from heal_bot.core.model import Candidate, Edit
from heal_bot.repair.ranking.patch_ranking import LOOKUP
from heal_bot.source import functions
from heal_bot.wiring.proposers import CustomProposers
from tests.fakes import ListProposer

Row = dict[str, Any]
_TABLE = read_cases("lookups")
FUNCTION = "shipping"
MODULE: str = _TABLE["module"]
RIGHT = MODULE.replace("return price - zone", "return price")
LOOKUPS: dict[str, str] = _TABLE["bodies"]
_FILES = {
    "parcels.py": MODULE,
    "tests/test_parcels.py": _TABLE["tests"],
    "pyproject.toml": INI,
}


def proposer_of(body: str) -> ListProposer:
    """A proposer of one body for the function, as a model would give it."""
    target = functions.find_target(functions.index_targets("parcels.py", MODULE), FUNCTION)
    assert target is not None
    return ListProposer([Candidate((Edit(target, body),), "saying", "body")], "saying", False)


def try_lookups(tell: Callable[[str], None]) -> Row:
    """Those that end as the repair, after the right body alone, which has to."""
    right = RIGHT.partition("\n\n\n")[2]
    status, why = _heal(right)
    assert status == "healed", f"the right body alone: {status}, {why}"
    accepted, refused = [], 0
    for name, body in LOOKUPS.items():
        status, why = _heal(f"def {FUNCTION}(weight, zone):{body}")
        tell(f"{name}: {status} {why}")
        accepted += [name] if status == "healed" else []
        refused += why == LOOKUP
    return {
        "lookups": len(LOOKUPS), "lookups_accepted": accepted, "lookups_by_behaviour": refused,
    }  # fmt: skip


def _heal(body: str) -> tuple[str, str]:
    """How a run ends that is given one body, and what the attempt's verdict says."""
    chosen = settings.load({}, None, {"sandbox": "reduced", "max_minutes": 5})
    own = CustomProposers(proposers=(proposer_of(body),), alone=True)
    with tempfile.TemporaryDirectory(prefix="offer-") as name:
        repo = commit_files(Path(name) / "repo", "Parcels", _FILES)
        job = wiring.HealJob(repo, Path(name) / "out", python=suite_python())
        record = api.heal(job, chosen, own=own)
    return record.status, record.attempts[0].detail if record.attempts else record.reason


def judge_offers(pools: Sequence[Row]) -> Row:
    """How often what is offered is right, by how it is rated; pools of unknown label left out."""
    rated: dict[str, list[bool]] = {"high": [], "medium": [], "low": []}
    asked, held, offered = [], 0, 0
    for pool in pools:
        groups, offer = pool["groups"], pool["offer"]
        right = [group["right"] for group in groups]
        shown = [right[offer["at"]]]
        level = "low" if offer["lacks"] else "high"
        level = "medium" if offer["lacks"] and offer["likely"] else level
        if shown[0] is not None:
            rated[level].append(shown[0])
        if level == "low" and offer["rival"] is not None:
            shown.append(right[offer["rival"]])
            asked.append(True in shown)
        if True in right:
            held += 1
            offered += True in shown
    return {
        "pools": len(pools), "projects": len({pool["project"] for pool in pools}),
        "real_pools": sum(pool["origin"] == "fix" for pool in pools),
        **{level: _count(found) for level, found in rated.items()},
        "asked": len(asked), "right_among_choices": _share(sum(asked), len(asked)),
        "with_right_patch": held, "offered": _share(offered, held),
        "calls_saved": len(rated["high"]),
    }  # fmt: skip


def judge_honest(rows: Sequence[Row]) -> Row:
    """How many right changes were called as a proposal is, and the share that is refused."""
    called = [row for row in rows if row.get("honest") and row["honest"]["varied"]]
    refused = sum(row["honest"]["refused"] for row in called)
    return {
        "honest": len(called), "honest_real": sum(row["origin"] == "fix" for row in called),
        "honest_refused": _share(refused, len(called)),
    }  # fmt: skip


def _count(found: Sequence[bool]) -> Row:
    return {"n": len(found), "right": sum(found), "interval": wilson(sum(found), len(found))}


def _share(some: int, all_: int) -> float | None:
    return round(some / all_, 4) if all_ else None


def main(argv: list[str]) -> int:
    """Judge the kept pools and try the lookups; 1 where one of these is accepted."""
    asked = options_of("offer").parse_args(argv)
    tell = (lambda text: None) if asked.json else print
    held, tuned = load_rows("held"), load_rows("pools")
    found = {
        "benchmark": "offer",
        **judge_offers([pool for pool in held if pool.get("offer")]),
        **judge_honest([*held, *tuned]),
        **try_lookups(tell),
        "complete": True,
    }
    print(json.dumps(found))
    return int(bool(found["lookups_accepted"]))
