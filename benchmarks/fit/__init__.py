"""What a fitted probability of being right, and fitted costs of families, would be worth.

Nothing of it ships yet: what is fitted here does not beat the rule that decides today (see
README.md). `python -m benchmarks fit` measures on the rows in this folder, `--gather DIR` takes
new ones from a folder in which `benchmarks.fit.pools` and `benchmarks.fit.edits` have worked. It
needs scikit-learn: `pip install -e '.[fit]'`.
"""

from __future__ import annotations

import argparse
import ast
import datetime
import gzip
import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from benchmarks.fit.probability import Sample

HERE = Path(__file__).parent
REPAIR = HERE.parent.parent / "heal_bot" / "repair"
_HIGH = 0.9
_Z = 1.96
# As `evidence_strength` has it: so many failing tests, and so many different calls of theirs.
_RULE, _THIRD = math.log1p(2), math.log1p(3)
Row = dict[str, Any]


def main(argv: list[str]) -> int:
    """Fit and measure; the last line is one JSON object."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks fit")
    parser.add_argument("--json", action="store_true", help="print the last line alone")
    parser.add_argument("--check", action="store_true", help="as without: nothing is written")
    parser.add_argument("--gather", type=Path, help="take the rows of this folder first")
    asked = parser.parse_args(argv)
    from benchmarks.fit import costs, probability

    if asked.gather:
        gather_rows(asked.gather / "pools", "pools", lambda row: bool(row["groups"]))
        gather_rows(asked.gather / "edits", "edits", lambda row: True)
    pools, edits = load_rows("pools"), load_rows("edits")
    sample = probability.gather(pools)
    told = probability.predict_unseen(sample)
    if not asked.json:
        _show(sample, told)
    found = summarize(sample, told) | {"rule": judge_rule(pools)}
    found |= {"order": costs.measure_order(edits), **measure_size(), "complete": True}
    print(json.dumps(found))
    return 0


def gather_rows(data: Path, name: str, wanted: Callable[[Row], bool]) -> None:
    """Put the rows that were left in a folder into this one, in a fixed order."""
    lines = sorted(
        line
        for path in data.glob("*.jsonl")
        for line in path.read_text(encoding="utf-8").splitlines()
        if wanted(json.loads(line))
    )
    head = json.dumps({"date": datetime.date.today().isoformat(), "rows": len(lines)})
    place = HERE / f"{name}.jsonl.gz"
    with place.open("wb") as file, gzip.GzipFile("", "wb", mtime=0, fileobj=file) as packed:
        packed.write("".join(f"{line}\n" for line in (head, *lines)).encode())


def load_rows(name: str) -> list[Row]:
    """The rows of that name; the first line, with their date, is left out."""
    with gzip.open(HERE / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        return [json.loads(line) for line in file][1:]


def summarize(sample: Sample, told: np.ndarray) -> Row:
    """What the probability is worth on projects it was not fitted on."""
    from benchmarks.fit.probability import score

    high = told >= _HIGH
    right, count = int(sample.y[high].sum()), int(high.sum())
    rates = score(sample, told)
    return {
        "patches": len(sample.y),
        "projects": len(set(sample.projects)),
        "real_patches": int((sample.origins == "fix").sum()),
        "right_share": round(float(sample.y.mean()), 3),
        "brier_skill": min(rates["skill_over_rate"], rates["skill_over_tests"]),
        **rates,
        "high": {"n": count, "right": right, "interval": wilson(right, count)},
    }


def judge_rule(pools: Sequence[Row]) -> Row:
    """How often the rule that decides today is right, and how often it calls a patch healed."""
    chosen = [
        bool(group["right"])
        for pool in pools
        for group in pool["groups"]
        if group["right"] is not None and is_strong(group, pool)
    ]
    interval = wilson(sum(chosen), len(chosen))
    return {"n": len(chosen), "right": sum(chosen), "interval": interval}


def is_strong(group: Row, pool: Row) -> bool:
    """Whether tests of different inputs vouch for a group, a third calls it, and nothing objects.

    As `heal_bot.repair.ranking.evidence_strength` decides, on what was measured here.
    """

    def is_refuted(one: Row) -> bool:
        return bool(one["any_spoiled"] or one["contradicted"] or one["vacuous"] or one["flat"])

    near = 1e-3
    vouched = min(group["tests"], group["inputs"]) > _RULE - near and not group["uncallable"]
    vouched = vouched and (group["tests"] > _THIRD - near or bool(group["worked"]))
    rivals = [one for one in pool["groups"] if one is not group and not is_refuted(one)]
    return vouched and not is_refuted(group) and not rivals and not pool["uncompared"]


def wilson(right: int, count: int) -> list[float]:
    """The Wilson interval of a share, at 95 %."""
    if not count:
        return [0.0, 1.0]
    p, z = right / count, _Z
    middle = (p + z * z / (2 * count)) / (1 + z * z / count)
    half = z * math.sqrt(p * (1 - p) / count + z * z / (4 * count**2)) / (1 + z * z / count)
    return [round(middle - half, 3), round(middle + half, 3)]


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
    above = math.inf
    for edge in (0.9, 0.8, 0.6, 0.4, 0.2, 0.0):
        chosen = (told >= edge) & (told < above)
        print(f"rated {edge:.1f} and more: {int(sample.y[chosen].sum())} of {int(chosen.sum())}")
        above = edge
