"""Rows of cases, and the figures of a half: counts with Wilson's interval of 95 per cent."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from benchmarks.street.compared import Judgement
from benchmarks.street.culprit import Honest, Judged
from benchmarks.street.recipes import Part, Split

Offered = Literal["", "suggested", "healed"]


class Row(BaseModel):
    """What came of a case; `said` is for cases of `tune` alone.

    `red` counts the failing tests of the job's report, `drifted` says that they are not those
    of the recipe. `rank` is the first place of a guilty function among the suspects, 0 for
    none. `culprit` judges the commit that is blamed, after so many `runs` among the pushed
    `commits`; `calls` counts the requests to models and `proposals` what came of them, with so many
    tokens of prompts. `hunks` counts the places of the right change, `honest` tells of the rest of
    the commit that brought the fault. `undone` is a change that was meant, taken back without a
    word; `tests_changed` is of a general agent.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    part: Part
    split: Split
    engine: str
    status: str = "unstaged"
    seconds: float = 0.0
    red: int = 0
    drifted: bool = False
    unstaged: str = ""
    ended_badly: bool = False
    trusted: bool = False
    exact: bool = False
    ids_refused: bool = False
    rank: int = 0
    offered: Offered = ""
    judgement: Judgement | Literal[""] = ""
    action: Literal["", "repair", "explain", "silent"] = ""
    wanted: Literal["", "repair", "explain", "silent"] = ""
    named: bool = False
    culprit: Judged = ""
    confirmed: bool = False
    runs: int = 0
    commits: int = 0
    hunks: int = 1
    calls: int = 0
    proposals: int = 0
    input_tokens: int = 0
    honest: Honest = ""
    has_package: bool = False
    package: Literal["", "right", "false"] = ""
    undone: bool = False
    tests_changed: bool = False
    said: str = ""

    @property
    def intended(self) -> bool:
        """Whether a commit changed behaviour on purpose, and left its tests behind."""
        return self.id.startswith("situations/intended/")

    @property
    def has_culprit(self) -> bool:
        """Whether it is known which commit broke the tests."""
        return self.part == "regressions" or self.intended

    @property
    def asks(self) -> bool:
        """Whether a change that was meant is offered to be taken back, as a draft that says so."""
        return self.intended and self.offered == "healed" and not (self.undone or self.judgement)

    @property
    def did_right(self) -> bool:
        """Whether the action did what was right; an explanation has to name the cause."""
        explained = self.action == self.wanted and (self.named or self.wanted != "explain")
        return explained or self.asks

    @property
    def counts(self) -> bool:
        """Whether the case could be put before the action as its recipe says."""
        return not self.unstaged and not self.drifted


def interval(count: int, of: int, z: float = 1.959964) -> list[float]:
    """Wilson's score interval of 95 per cent for a share (Wilson 1927)."""
    if not of:
        return [0.0, 1.0]
    share = count / of
    middle = (share + z * z / (2 * of)) / (1 + z * z / of)
    half = z * math.sqrt(share * (1 - share) / of + z * z / (4 * of * of)) / (1 + z * z / of)
    return [round(max(0.0, middle - half), 3), round(min(1.0, middle + half), 3)]


def share(rows: Sequence[Row], name: str, of: Sequence[Row] | None = None) -> dict[str, Any]:
    """How many rows have a true value of that name."""
    among = rows if of is None else of
    return share_of(sum(bool(getattr(row, name)) for row in among), len(among))


def share_of(count: int, of: int) -> dict[str, Any]:
    """A share with its counts and its interval."""
    rate = round(count / of, 3) if of else None
    return {"count": count, "of": of, "rate": rate, "interval": interval(count, of)}


def half(rows: Sequence[Row]) -> dict[str, Any]:
    """The figures of the repairs and regressions of a half."""
    counted = [row for row in rows if row.counts]
    located = [row for row in counted if row.trusted]
    offered = [row for row in counted if row.offered]
    return {
        "cases": len(counted), "dropped": len(rows) - len(counted),
        "trusted_baseline": share(counted, "trusted"), "exact_red": share(counted, "exact"),
        "ended_badly": share(counted, "ended_badly"),
        "ids_refused": sum(row.ids_refused for row in counted),
        "located_top1": share_of(sum(row.rank == 1 for row in located), len(located)),
        "located_top5": share_of(sum(0 < row.rank <= 5 for row in located), len(located)),
        "suggested": share_of(sum(row.offered == "suggested" for row in offered), len(counted)),
        "healed": share_of(sum(row.offered == "healed" for row in offered), len(counted)),
        **{name: _judged(offered, name) for name in ("right", "wrong", "unknown")},
        "median_seconds": median(counted), **_asked([row for row in counted if row.input_tokens]),
    }  # fmt: skip


def _asked(rows: Sequence[Row]) -> dict[str, Any]:
    """What models had to be told and to propose, where any was asked."""
    if not rows:
        return {}
    healed = [row.proposals for row in rows if row.offered == "healed" and row.proposals]
    return {
        "asked": len(rows), "median_input_tokens": statistics.median(r.input_tokens for r in rows),
        "proposals_per_healed": round(statistics.mean(healed), 2) if healed else None,
    }  # fmt: skip


def _judged(offered: Sequence[Row], name: str) -> dict[str, Any]:
    """Of what is offered, how much is so: all of it, and what is called healed."""
    found = share_of(sum(row.judgement == name for row in offered), len(offered))
    healed = [row for row in offered if row.offered == "healed"]
    return {**found, "healed": sum(row.judgement == name for row in healed)}


def offers(rows: Sequence[Row]) -> dict[str, Any]:
    """What two programs are compared by; `healed` is what is offered without reserve.

    Rows from before calls were counted have no median of them.
    """
    counted = [row for row in rows if row.counts]
    uncounted = any(row.input_tokens and not row.calls for row in counted)
    return {
        "cases": len(counted), "dropped": len(rows) - len(counted),
        **_offers([row for row in counted if row.offered]),
        "healed": _offers([row for row in counted if row.offered == "healed"]),
        "tests_changed": sum(row.tests_changed for row in counted),
        "median_calls": None if uncounted else _middle([row.calls for row in counted]),
        "median_input_tokens": _middle([row.input_tokens for row in counted]),
        "median_seconds": median(counted),
    }  # fmt: skip


def _offers(rows: Sequence[Row]) -> dict[str, int]:
    judgements = Counter(row.judgement for row in rows)
    return {"offered": len(rows), "right": judgements["right"], "wrong": judgements["wrong"],
            "unknown": judgements["unknown"]}  # fmt: skip


def _middle(counts: Sequence[int]) -> float:
    return statistics.median(counts) if counts else 0


def situations(rows: Sequence[Row]) -> dict[str, Any]:
    """The figures of the situations of a half."""
    counted = [row for row in rows if row.counts]
    silent = [row for row in counted if row.wanted == "silent"]
    right = [row for row in counted if row.did_right]
    return {
        "cases": len(counted), "dropped": len(rows) - len(counted),
        "right_action": share_of(len(right), len(counted)),
        "by_action": {
            wanted: share_of(sum(r.wanted == wanted for r in right),
                           sum(r.wanted == wanted for r in counted))
            for wanted in ("repair", "explain", "silent")
        },
        "cause_named": share(counted, "named", [r for r in counted if r.wanted == "explain"]),
        "asked_by_draft": sum(row.asks for row in counted),
        "wrong_repairs": sum(row.judgement == "wrong" for row in counted),
        "ended_badly": share(counted, "ended_badly"),
        "silent_within_60_s": share_of(sum(row.seconds <= 60 for row in silent), len(silent)),
        "silent_most_seconds": max((row.seconds for row in silent), default=0.0),
        "median_seconds": median(counted),
    }  # fmt: skip


def history(rows: Sequence[Row]) -> dict[str, Any]:
    """The figures of a half that tell of what changed; `healed` is of faults in one place."""
    counted = [row for row in rows if row.counts]
    known = [row for row in counted if row.has_culprit]
    single = [row for row in counted if row.part == "regressions" and row.hunks == 1]
    healed = [row for row in single if row.offered == "healed"]
    mixed = [row for row in counted if row.honest]
    of_package = [row for row in counted if row.has_package]
    searched = [row for row in counted if row.runs]
    return {
        "culprit_right": share_of(
            sum(row.culprit == "right" and row.confirmed for row in known), len(known)
        ),
        "culprit_false": sum(row.culprit == "false" for row in counted),
        "healed": share_of(len(healed), len(single)),
        "right": share_of(sum(row.judgement == "right" for row in healed), len(healed)),
        "honest_kept": share_of(sum(row.honest == "kept" for row in mixed), len(mixed)),
        "runs": {
            "cases": len(searched), "sum": sum(row.runs for row in searched),
            "most": max((row.runs for row in searched), default=0),
            "log2": sum(math.ceil(math.log2(max(1, row.commits))) for row in searched),
        },
        "dependency_right": share_of(
            sum(row.package == "right" for row in of_package), len(of_package)
        ),
        "dependency_false": sum(row.package == "false" for row in counted),
        "intended_undone": sum(row.undone for row in counted),
        "intended": sum(row.intended for row in counted),
    }  # fmt: skip


def median(rows: Sequence[Row]) -> float:
    """The median of the seconds of the action."""
    return round(statistics.median([row.seconds for row in rows]), 1) if rows else 0.0


def difference(before: Sequence[Row], after: Sequence[Row]) -> dict[str, Any]:
    """What became of the cases that both engines ran; those of `held` are counted, not named."""
    old = {row.id: row for row in before}
    pairs = [(old[row.id], row) for row in after if row.id in old]
    changed = [(was, now) for was, now in pairs if _end(was) != _end(now)]
    counts = Counter(f"{_end(was)} -> {_end(now)}" for was, now in changed)
    named = {now.id: f"{_end(was)} -> {_end(now)}" for was, now in changed if now.split == "tune"}
    return {"cases": len(pairs), "changed": dict(counts.most_common()), "tune": named}


def _end(row: Row) -> str:
    """A case's end in few words."""
    if row.unstaged:
        return "unstaged"
    if row.part == "situations":
        return "as it should" if row.did_right and row.judgement != "wrong" else row.action
    return f"{row.offered} {row.judgement}".strip() or row.status
