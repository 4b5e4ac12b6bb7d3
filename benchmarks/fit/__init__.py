"""How likely a patch that passes is to be right, and what each family of changes costs: fitted.

`python -m benchmarks fit` measures on the rows in this folder and writes the probability and the
costs that ship; with `--check` it writes nothing and says whether they are what ships. `--gather
DIR` takes new rows from a folder in which `benchmarks.fit.pools` and `benchmarks.fit.edits` have
worked. It needs scikit-learn: `pip install -e '.[fit]'`.
"""

from __future__ import annotations

import ast
import datetime
import gzip
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks._cases import options_of
from benchmarks.street.figures import interval
from benchmarks.street.recipes import digest
from heal_bot.core.statuses import LIKELY, SURE

if TYPE_CHECKING:
    import numpy as np

    from benchmarks.fit.probability import Sample

HERE = Path(__file__).parent
REPAIR = HERE.parent.parent / "heal_bot" / "repair"
SHIPPED = REPAIR / "ranking" / "patch_probability.json"
COSTS = REPAIR / "templates" / "template_costs.json"
# Between what one and what two failing tests are as a feature.
_ONE = math.log1p(1.5)
_Z = 1.96
Row = dict[str, Any]


def main(argv: list[str]) -> int:
    """Fit and measure; the last line is one JSON object."""
    asked = options_of("fit").parse_args(argv)
    from benchmarks.fit import costs, probability

    if asked.gather:
        gather_rows(asked.gather / "pools", "pools", lambda row: bool(row["groups"]))
        gather_rows(asked.gather / "edits", "edits", lambda row: True)
        gather_rows(asked.gather / "held-pools", "held", lambda row: True)
    pools, edits = load_rows("pools"), load_rows("edits")
    held = [row for row in load_rows("held") if row["groups"]]
    made_costs = costs.describe(edits, pools, read_date("edits"))
    costs.price([*pools, *held], made_costs)
    sample = probability.gather(pools)
    told = probability.predict_unseen(sample)
    if not asked.json:
        _show(sample, told)
    made = probability.describe(pools, sample, told, read_date("pools"))
    texts = {
        path: f"{json.dumps(data, indent=1)}\n"
        for path, data in ((SHIPPED, made), (COSTS, made_costs))
    }
    ships = asked.check and all(
        path.read_text(encoding="utf-8") == text for path, text in texts.items()
    )
    for path, text in texts.items() if not asked.check else ():
        path.write_text(text, encoding="utf-8")
    found = {"patches": made["provenance"]["patches"], **summarize(sample, told)}
    found |= {"rule": judge_rule(pools), "ranked": judge_ranking(pools)}
    found["held"] = {**measure_held(sample, held), "rule": judge_rule(held)}
    if asked.check:
        found["ships"] = ships
    found |= {"order": costs.measure_order(edits, pools), **measure_size(), "complete": True}
    print(json.dumps(found))
    return 0


def gather_rows(data: Path, name: str, wanted: Callable[[Row], bool]) -> None:
    """Put the rows that were left in a folder into this one, in a fixed order."""
    found = (
        json.loads(line)
        for path in data.glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    if name == "held":
        # A case of these is never looked at.
        found = ({**row, "case": digest(row["case"])[:16]} for row in found)
    lines = sorted(json.dumps(row) for row in found if wanted(row))
    head = json.dumps({"date": datetime.date.today().isoformat(), "rows": len(lines)})
    place = HERE / f"{name}.jsonl.gz"
    with place.open("wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as packed:
        packed.write("".join(f"{line}\n" for line in (head, *lines)).encode())


def load_rows(name: str) -> list[Row]:
    """The rows of that name; the first line, with their date, is left out."""
    return _load(name)[1:]


def read_date(name: str) -> str:
    """When the rows of that name were gathered."""
    return str(_load(name)[0]["date"])


def _load(name: str) -> list[Row]:
    with gzip.open(HERE / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def measure_held(fitted: Sample, pools: Sequence[Row]) -> Row:
    """What the probability that ships is worth on the pools of held projects."""
    from benchmarks.fit import probability

    sample = probability.gather(pools)
    told = probability.predict_shipped(sample)
    rates = probability.score_elsewhere(fitted, sample, told)
    return {"patches": int(sample.whole.sum()), **_describe(sample, told, rates)}


def summarize(sample: Sample, told: np.ndarray) -> Row:
    """What the probability is worth on projects it was not fitted on."""
    from benchmarks.fit.probability import score

    return _describe(sample, told, score(sample, told))


def _describe(sample: Sample, told: np.ndarray, rates: dict[str, float]) -> Row:
    def count_right(rated: np.ndarray) -> Row:
        chosen = sample.whole & rated
        right, count = int(sample.y[chosen].sum()), int(chosen.sum())
        return {"n": count, "right": right, "interval": wilson(right, count)}

    medium = (told >= LIKELY) & (told < SURE)
    return {
        "projects": len(set(sample.projects)),
        "real_patches": int((sample.whole & sample.real).sum()),
        "right_share": round(float(sample.y[sample.whole].mean()), 3),
        "brier_skill": min(rates["skill_over_rate"], rates["skill_over_tests"]),
        **rates,
        "high": count_right(told >= SURE),
        "medium": count_right(medium),
        "likely": count_right(medium & (sample.tests > _ONE)),
        "single": count_right(medium & (sample.tests < _ONE)),
        "low": count_right(told < LIKELY),
    }


def judge_rule(pools: Sequence[Row]) -> Row:
    """How often patches are right whose evidence lacks nothing, and how many there are."""
    from benchmarks.fit.features import is_strong

    chosen = [
        bool(group["right"])
        for pool in pools
        for group in pool["groups"]
        if group["right"] is not None and is_strong(group, pool["groups"], pool)
    ]
    interval = wilson(sum(chosen), len(chosen))
    return {"n": len(chosen), "right": sum(chosen), "interval": interval}


def judge_ranking(pools: Sequence[Row]) -> Row:
    """Of pools with a right patch among several: where it is first as ranked, and by cost alone."""
    from benchmarks.fit.features import is_refuted
    from heal_bot.repair.ranking.patch_ranking import CHANGED

    def rank(group: Row) -> tuple[bool, float]:
        return is_refuted(group), group["prior"] + CHANGED * group["varied_other"]

    asked = [p["groups"] for p in pools if len(p["groups"]) > 1]
    asked = [groups for groups in asked if any(group["right"] for group in groups)]
    return {
        "pools": len(asked),
        "first": sum(bool(min(groups, key=rank)["right"]) for groups in asked),
        "by_cost": sum(bool(min(groups, key=lambda g: g["prior"])["right"]) for groups in asked),
    }


def wilson(right: int, count: int) -> list[float]:
    """The Wilson interval of a share, at 95 %."""
    return interval(right, count, _Z)


def measure_size() -> dict[str, int]:
    """Lines of templates and ranking, and the numbers in them that no fit made."""
    files = [*(REPAIR / "ranking").glob("*.py"), *(REPAIR / "templates").glob("*.py")]
    texts = [file.read_text(encoding="utf-8") for file in files]
    return {
        "lines": sum(text.count("\n") for text in texts),
        "literals": sum(_count_numbers(text) for text in texts),
    }


def _count_numbers(text: str) -> int:
    """The float literals, and the whole numbers above 2, of a module."""
    return sum(
        isinstance(node.value, float) or (type(node.value) is int and node.value > 2)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant)
    )


def _show(sample: Sample, told: np.ndarray) -> None:
    """How often patches of unseen projects were right, from rating to rating."""
    from benchmarks.fit import probability

    above = math.inf
    for edge in probability.BANDS:
        chosen = sample.whole & (told >= edge) & (told < above)
        print(f"rated {edge:.1f} and more: {int(sample.y[chosen].sum())} of {int(chosen.sum())}")
        above = edge
