from __future__ import annotations

import copy
import re

import pytest

from heal_bot.core.outcome import OutcomeRecord
from heal_bot.report import mermaid_diagram, step_summary
from tests.github_server import records
from tests.report.tame import HOSTILE
from tests.report.test_pull_request_body import BASE, hostile

NODE = re.compile(r'  (?:c\d+ --> )?(?:[acm]\d+|more)\["[\w .,:+-]+"\]:::(?:good|mixed|bad|cause)')


def _many() -> OutcomeRecord:
    values = records.data(BASE)
    attempt = values["attempts"][0]
    values["attempts"] = [copy.deepcopy(attempt) | {"number": n} for n in range(1, 400)]
    values["clusters"] += [values["clusters"][0] | {"id": f"x{n}"} for n in range(300)]
    return records.record(values)


def test_what_was_not_measured_is_no_failed_attempt_to_look_at() -> None:
    values = records.data(BASE)
    values["attempts"][0] |= {"verdict": "unconfirmed", "cause": "ids"}
    drawn = mermaid_diagram.draw_attempts(records.record(values))
    assert '  c1 --> a1["attempt 1, rules boundary: not measured, 0 of 1"]:::mixed' in drawn


def test_each_attempt_hangs_on_its_cause_in_the_colour_of_its_verdict() -> None:
    drawn = mermaid_diagram.draw_attempts(records.record(records.data(BASE)))
    assert drawn.startswith("```mermaid\nflowchart LR\n")
    assert '  c1["cause 1, 1 test"]:::cause' in drawn
    assert '  c1 --> a2["attempt 2, rules boundary: fixed, 1 of 1"]:::good' in drawn
    assert '  c1 --> a1["attempt 1, rules boundary: unchanged, 0 of 1"]:::bad' in drawn


@pytest.mark.parametrize("text", [HOSTILE, '"]; click c1 "javascript:alert(1)"', "#quot;`%%{init}"])
def test_no_foreign_text_leaves_its_label(text: str) -> None:
    values = hostile(records.data(BASE))
    for attempt in values["attempts"]:
        attempt["family"] = text[:900]
    body = mermaid_diagram.draw_attempts(records.record(values)).split("\n")
    inner = [line for line in body[2:-1] if not line.startswith("  classDef ")]
    assert inner
    assert all(NODE.fullmatch(line) for line in inner), inner


def test_a_long_search_stays_a_small_picture() -> None:
    drawn = mermaid_diagram.draw_attempts(_many())
    assert len(drawn.splitlines()) < 100
    assert '["391 more"]' in drawn
    assert '["294 more causes"]' in drawn


def test_the_step_summary_shows_it_and_a_run_without_attempts_has_none() -> None:
    assert "```mermaid" in step_summary.render_step(
        records.record(records.data(BASE)), "created", "", "x"
    )
    values = records.data(BASE) | {"attempts": [], "patch": None}
    assert "mermaid" not in step_summary.render_step(
        records.record(values), "nothing", "no patch", ""
    )
