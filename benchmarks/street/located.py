"""Suspects ranked anew on the kept baselines: `python -m benchmarks.street.located --data DIR`.

A look at a change of the ranking in seconds; what is published comes from whole runs.
"""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass
from typing import Any

from benchmarks._cases import options_of
from benchmarks.street.baselines import Kept, load
from benchmarks.street.figures import share_of
from heal_bot.core.events import Run
from heal_bot.fault_localization import collection_suspects


@dataclass(frozen=True, slots=True)
class _Tree:
    """The kept files as a tree without history."""

    kept: Kept
    sha: str = "0" * 40

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self.kept.files))

    def read(self, path: str) -> bytes:
        return self.kept.files[path]

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return dict(self.kept.changed)


def rank(kept: Kept) -> int:
    """The first place of a guilty function among the suspects of any cluster; 0 for none."""
    tree: Any = _Tree(kept)
    clusters = collection_suspects.locate(Run(lambda event: None), kept.baseline, tree)
    return min(
        (
            place
            for cluster in clusters
            for place, suspect in enumerate(cluster.suspects, 1)
            if (suspect.target.path, suspect.target.qualname.partition(".<locals>")[0])
            in kept.guilty
        ),
        default=0,
    )


def main(argv: list[str]) -> int:
    """Print one JSON object with the shares of each half."""
    asked = options_of("street.located").parse_args(argv)
    ranks: dict[str, list[int]] = {"held": [], "tune": []}
    for kept in load(asked.data.resolve(), asked.part):
        if kept.baseline.confirmed:
            ranks[kept.split].append(rank(kept))
    told = {
        half: {
            "cases": len(found),
            **{f"located_top{n}": share_of(sum(0 < r <= n for r in found), len(found))
               for n in (1, 3, 5)},
            "located": share_of(sum(r > 0 for r in found), len(found)),
        }
        for half, found in ranks.items()
    }  # fmt: skip
    print(json.dumps({asked.part: told}))
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
