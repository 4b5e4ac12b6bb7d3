"""What is kept of a group of patches, in numbers: what its probability and its place rest on."""

from __future__ import annotations

import io
import math
import tokenize
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from heal_bot.repair.ranking import behavioral_diff
from heal_bot.repair.ranking.patch_pool import Pool

_LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
# As `patch_ranking` has it: so many failing tests of different calls, or one more.
_TESTS = 2
Row = dict[str, Any]


def measure_group(pool: Pool, members: Sequence[int]) -> dict[str, float]:
    """The numbers of patches that behave alike; the first member stands for all of them."""
    first, recorded = members[0], pool.calls.recorded
    row, unchanged = pool.rows[first], pool.unchanged
    callable_ = bool(row) and pool.called
    worked = [n for n in pool.calls.worked if n < recorded] if callable_ else []
    changed = set(pool.find_changed(first))
    return {
        "tests": math.log1p(pool.failures),
        "members": math.log1p(len(members)),
        "prior": pool.fixes[first].candidate.prior,
        "uncallable": float(not callable_),
        "inputs": math.log1p(pool.count_inputs(first) or 0),
        "worked": math.log1p(len(worked)),
        "any_spoiled": float(any(n in changed for n in worked)),
        "varied_other": behavioral_diff.changed_share(unchanged[recorded:], row[recorded:]),
        "contradicted": float(behavioral_diff.is_contradicted(pool.examples, 1 + first)),
        "flat": float(behavioral_diff.is_lookup(unchanged, row, recorded)),
    }


def _list_rivals(group: Row, groups: Sequence[Row]) -> list[Row]:
    """The groups beside one that nothing refutes; all others of one that is refuted itself."""
    others = [one for one in groups if one is not group]
    return [one for one in others if is_refuted(group) or not is_refuted(one)]


def is_strong(group: Row, groups: Sequence[Row], pool: Row) -> bool:
    """Whether tests of different inputs vouch for a group, a third calls it, and nothing objects.

    As `heal_bot.repair.ranking.patch_ranking` decides, on what was measured here.
    """
    tests, inputs = (round(math.expm1(group[name])) for name in ("tests", "inputs"))
    vouched = min(tests, inputs) >= _TESTS and not group["uncallable"]
    vouched = vouched and (tests > _TESTS or bool(group["worked"]))
    alone = not _list_rivals(group, groups) and not pool["uncompared"]
    return vouched and alone and not is_refuted(group)


def is_refuted(group: Row) -> bool:
    """Whether calls speak against a group: what worked does not, an example fails, a lookup."""
    return bool(group["any_spoiled"] or group["contradicted"] or group["flat"])


@lru_cache(maxsize=256)
def split_tokens(text: str) -> tuple[str, ...]:
    """The tokens of a text without layout; its words where it cannot be read as Python."""
    try:
        tokens = tokenize.generate_tokens(io.StringIO(text.lstrip()).readline)
        return tuple(t.string for t in tokens if t.type not in _LAYOUT)
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return tuple(text.split())
