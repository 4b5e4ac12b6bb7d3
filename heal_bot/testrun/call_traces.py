"""What a fork server tells of calls: read strictly, since the candidates called may lie."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from heal_bot.core.model import CallResult, Calls
from heal_bot.testrun.driver_protocol import (
    expect_number,
    expect_parts,
    expect_rows,
    expect_text,
)

_MOST = 2_000
_TEXT = 300
_SKIPPED = CallResult("skipped", "", "", "")


@dataclass(slots=True)
class CallRecords:
    """The records of one order, taken one by one."""

    named: list[str] = field(default_factory=list)
    recorded: int = 0
    green: int = 0
    worked: dict[int, str] = field(default_factory=dict)
    returned: set[int] = field(default_factory=set)
    examples: int = 0
    rows: dict[int, tuple[CallResult, ...]] = field(default_factory=dict)

    def take(self, record: Mapping[str, Any], count: int) -> None:
        """A `calls` or `observed` record; `count` rows are expected. Raises Untrusted."""
        told = expect_rows(record.get("v"))
        if record["t"] == "calls":
            self.named += [expect_text(name, _TEXT) for name in told][: _MOST - len(self.named)]
            self.recorded = expect_number(record.get("recorded"), _MOST)
            self.green = expect_number(record.get("green"), _MOST)
            for pair in expect_rows(record.get("worked"))[:_MOST]:
                at, came = expect_parts(pair, 2)
                self.worked[expect_number(at, _MOST)] = expect_text(came, _TEXT)
            told = expect_rows(record.get("returned"))[:_MOST]
            self.returned |= {expect_number(at, _MOST) for at in told}
            self.examples += expect_number(record.get("examples"), _MOST)
        else:
            at = expect_number(record.get("i"), count)
            self.rows[at] = tuple(_result(row) for row in told[:_MOST])

    def calls(self, count: int) -> Calls:
        """All of it; rows that do not have one result per call are empty."""
        rows = (self.rows.get(at, ()) for at in range(count))
        fit = tuple(row if len(row) == len(self.named) else () for row in rows)
        # Copied arguments can lose what they hang on to, as a node does its parents.
        first = enumerate(fit[1]) if len(fit) > 1 else ()
        lost = {at for at, one in first if one.how == "raised" and at in self.returned}
        fit = tuple(
            tuple(_SKIPPED if at in lost else one for at, one in enumerate(row)) for row in fit
        )
        examples = min(self.examples, len(self.named))
        recorded = min(self.recorded, len(self.named) - examples)
        unchanged = fit[0][:recorded] if fit else ()
        repeated = {at for at, row in enumerate(unchanged) if self._is_repeated(at, row)}
        worked = frozenset(repeated - lost)
        green = min(self.green, recorded)
        return Calls(tuple(self.named), recorded, fit, examples, worked, green)

    def _is_repeated(self, at: int, row: CallResult) -> bool:
        """Whether a call that worked comes out by itself as it did in its test.

        Of an exception that left it nothing was told.
        """
        came = self.worked.get(at)
        return came in {"", row.text} or (row.how == "raised" and came == "None")


def _result(row: object) -> CallResult:
    parts = expect_parts(row, 6)
    how, kind, text, mark, value = (expect_text(part, _TEXT) for part in parts[:5])
    return CallResult(how, kind, text, mark, value, kept=parts[5] is True)
