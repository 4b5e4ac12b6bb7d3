"""The spectrum as the driver sends it, decoded strictly into `model.Spectrum`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from heal_bot.core.model import Spectrum
from heal_bot.core.text import name_first
from heal_bot.testrun.driver_protocol import (
    Untrusted,
    expect_number,
    expect_parts,
    expect_rows,
    expect_text,
)

MAX_LOCATIONS = 400_000


@dataclass(slots=True)
class Collector:
    """Takes the records `lines`, `hits` and `gap` in any number."""

    locations: list[tuple[str, int]] = field(default_factory=list)
    hits: dict[int, int] = field(default_factory=dict)
    gaps: list[str] = field(default_factory=list)

    def take(self, record: Mapping[str, Any], tests: int) -> bool:
        """A record of lines, hits or a gap; False for one of something else."""
        match record["t"]:
            case "lines":
                self.lines(record)
            case "hits":
                self.bitmaps(record, tests)
            case "gap":
                self.gap(record)
            case _:
                return False
        return True

    def lines(self, record: Mapping[str, Any]) -> None:
        """More locations: [path, [line, …]] each, relative to the checkout."""
        for row in expect_rows(record.get("v")):
            file, lines = expect_parts(row, 2)
            path = expect_text(file, 500)
            if path.startswith("/") or ".." in path.split("/"):
                raise Untrusted("a location outside of the checkout")
            self.locations += [(path, expect_number(line, 1 << 31)) for line in expect_rows(lines)]
        if len(self.locations) > MAX_LOCATIONS:
            raise Untrusted(f"more than {MAX_LOCATIONS} locations")

    def bitmaps(self, record: Mapping[str, Any], tests: int) -> None:
        """More hits: [number of the test, bitmap in hexadecimal] each."""
        for row in expect_rows(record.get("v")):
            at, bits = expect_parts(row, 2)
            if not isinstance(bits, str) or len(bits) > MAX_LOCATIONS // 4 + 2:
                raise Untrusted("a bitmap that is none")
            try:
                value = int(bits or "0", 16)
            except ValueError as error:
                raise Untrusted("a bitmap that is no number") from error
            if value < 0 or value.bit_length() > len(self.locations):
                raise Untrusted("a bitmap beyond the locations")
            self.hits[expect_number(at, tests)] = value

    def gap(self, record: Mapping[str, Any]) -> None:
        """Something that was not observed, in how many tests, the first of them."""
        kind = expect_text(record.get("k"), 200)
        count = expect_number(record.get("c"), 1 << 31)
        first = expect_text(record.get("e"), 300)
        self.gaps.append(f"{kind} ({name_first(count, first, 'test')})" if first else kind)

    def ended_early(self, tests: int) -> None:
        """The run ended before its last test: what is known is that of the tests before."""
        known = f"executions of {len(self.hits)} of {tests} tests" if tests else "before any test"
        self.gaps.append(f"the run ended early: {known}")

    def spectrum(self, names: Sequence[str]) -> Spectrum:
        """All of it, by node id."""
        hits = {names[at]: bits for at, bits in self.hits.items()}
        return Spectrum(tuple(self.locations), hits, tuple(self.gaps))
