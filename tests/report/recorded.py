"""Outcomes of real runs: of the shop of the examples, and of small projects with planted faults."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from heal_bot.core.outcome import OutcomeRecord
from heal_bot.report.proposed_change import Shown, render_claimed
from heal_bot.report.pull_request_body import ASK, pull_request

_FOLDER = Path(__file__).parent / "outcomes"
RUN = "https://github.com/octo/shop/actions/runs/123"


def list_recorded() -> dict[str, OutcomeRecord]:
    """Every recorded outcome by its name."""
    found = {path.stem: path.read_text() for path in sorted(_FOLDER.glob("*.json"))}
    return {name: OutcomeRecord.model_validate_json(text) for name, text in found.items()}


def show_whole(record: OutcomeRecord) -> Shown:
    """The change of a record with all that can be said beside it, but that it is only claimed."""
    claimed = render_claimed(record)
    return Shown(
        claimed.diff, claimed.functions, claimed.branch, claimed.digest,
        remarks=("The branch moved on since.",), waiting=True, run_url=RUN, commands=ASK,
    )  # fmt: skip


def count_visible(body: str) -> int:
    """The lines of a body before its folds, without the hidden mark."""
    above = body.partition("<details>")[0]
    return sum(not line.startswith("<!--") for line in above.strip().splitlines())


def measure_recorded() -> Iterator[int]:
    """How many lines of each pull request are read before the folds."""
    for record in list_recorded().values():
        yield count_visible(pull_request(record, show_whole(record))[1])
