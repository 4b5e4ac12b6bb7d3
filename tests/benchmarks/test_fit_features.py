"""What is kept of patches for a fit agrees with what the ranking knows of them."""

from __future__ import annotations

import pytest

from benchmarks.fit.features import is_strong, measure_group, split_tokens
from heal_bot.core.model import Attempt, CallResult, Calls, Candidate, Edit, Target, Verdict
from heal_bot.repair.ranking.patch_pool import Pool

TARGET = Target("m.py", "total", 0, "function", 1, 2, "def total(n):\n    return 0\n")


def _row(letters: str) -> tuple[CallResult, ...]:
    return tuple(CallResult("returned", "int", letter, letter) for letter in letters)


def _pool(unchanged: str, *rows: str, tests: int = 3, worked: frozenset[int] = frozenset()) -> Pool:
    fixes = tuple(
        Attempt(
            n, "c", Candidate((Edit(TARGET, TARGET.source),), "rules", "any", prior=float(n)),
            Verdict("fixed", ("t",)),
        )
        for n in range(1, 1 + len(rows))
    )  # fmt: skip
    calls = Calls(tuple(unchanged), 3, (_row(unchanged), *map(_row, rows)), worked=worked)
    keys = tuple(map(tuple, rows))
    return Pool(
        fixes, calls, _row(unchanged), tuple(map(_row, rows)), ((),) * (1 + len(rows)), keys,
        failures=tests, called=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "more", "strong"),
    [
        (("aabx",), {}, True),
        (("aabx",), {"tests": 1}, False),
        (("axxx",), {}, False),
        (("aaxx",), {"tests": 2}, False),
        (("aaxx",), {"tests": 2, "worked": frozenset({2})}, True),
        (("aabx",), {"worked": frozenset({2})}, False),
        (("aabx", "aacx"), {}, False),
        (("aaxx", "aacx"), {"worked": frozenset({2})}, True),
    ],
    ids=["three inputs", "one test", "one input", "no third test", "a third test", "spoiled",
         "a rival", "a rival that spoils"],
)  # fmt: skip
def test_the_rows_say_what_the_evidence_lacks_as_the_ranking_does(
    rows: tuple[str, ...], more: dict[str, object], strong: bool
) -> None:
    pool = _pool("xxxx", *rows, **more)  # type: ignore[arg-type]
    groups = [measure_group(pool, members) for members in pool.groups()]
    assert is_strong(groups[0], groups, {"uncompared": 0}) is strong


def test_layout_and_comments_are_no_tokens() -> None:
    assert split_tokens("a  =  b # why\n") == split_tokens("a = b\n") == ("a", "=", "b")
    assert split_tokens("a = (\n") == ("a", "=", "(")
