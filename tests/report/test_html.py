"""The page: one file, no network, foreign text as text."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re

import pytest

from heal_bot.core.outcome import OutcomeRecord
from heal_bot.report.html import render_page
from tests.github_server import records
from tests.report.test_pull_request_body import BASE, hostile


def _record() -> OutcomeRecord:
    return records.record(records.data(BASE))


def _hostile() -> OutcomeRecord:
    return records.record(hostile(records.data(BASE)))


def _part(text: str, tag: str) -> str:
    found = re.findall(rf"<{tag}>(.*?)</{tag}>", text, re.DOTALL)
    assert len(found) == 1
    return found[0]


def test_the_policy_allows_this_script_and_this_style_and_nothing_else() -> None:
    text = render_page(_record())
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    for tag in ("script", "style"):
        digest = hashlib.sha256(_part(text, tag).encode()).digest()
        assert f"{tag}-src 'sha256-{base64.b64encode(digest).decode()}'" in policy[1]
    assert "http://" not in text
    assert "https://" not in text


def test_a_question_is_in_the_page_with_both_changes_and_stands_for_the_suggestion() -> None:
    text = render_page(records.record(records.asked(BASE)))
    data = json.loads(text.split('id="data">', 1)[1].split("</script>", 1)[0])
    assert (data["suggestion"], data["closest"]) == (None, None)
    assert data["question"]["call"] == "total([])"
    answers = data["question"]["answers"]
    assert [(a["id"], a["result"], a["test"]) for a in answers] == [
        ("A", "0", "assert total([]) == 0"), ("B", "raises IndexError", ""),
    ]  # fmt: skip
    assert "return prices[0]" in answers[1]["diff"]


def test_the_script_never_writes_markup() -> None:
    script = _part(render_page(_record()), "script")
    for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval("):
        assert way not in script


def _shown_without_script(record: OutcomeRecord) -> str:
    """All tags and the text of the page before its scripts."""
    body = render_page(record).split("<body>", 1)[1]
    return body.split("<script", 1)[0]


def test_the_page_says_what_came_of_the_run_without_its_script() -> None:
    record = _record()
    shown = html.unescape(_shown_without_script(record))
    for failure in record.failures:
        assert failure.test in shown
    assert record.patch is not None
    assert record.patch.diff in shown
    assert "what should total([]) give?" in _shown_without_script(
        records.record(records.asked(BASE))
    )


def test_hostile_text_is_no_markup_without_the_script_either() -> None:
    shown = _shown_without_script(_hostile())
    assert re.findall(r"<[^>]*>", shown) == ["<main>", "<pre>", "</pre>", "</main>"]


def test_hostile_data_cannot_leave_its_block() -> None:
    text = render_page(_hostile())
    data = text.split('id="data">', 1)[1].split("</script>", 1)[0]
    assert not set(data) & set("<>&\u2028\u2029")
    assert json.loads(data)["schema"] == 2


@pytest.mark.parametrize("text", ["x" * 2_000, "<" * 2_000, "&\u2028" * 1_000])
def test_a_report_of_500_failures_is_small_whatever_they_say(text: str) -> None:
    data = records.data(BASE)
    failure, attempt = data["failures"][0], data["attempts"][0]
    tests = [f"tests/test_something_{n}.py::TestLong::test_{n}" for n in range(500)]
    data["failures"] = [
        {**failure, "test": test, "message": text, "reason": text} for test in tests
    ]
    data["attempts"] = [
        {**attempt, "number": n, "diff": "+" + text, "still_failing": tests, "rationale": text,
         "messages": dict.fromkeys(tests[:10], text)}
        for n in range(1, 51)
    ]  # fmt: skip
    shown = render_page(records.record(data))
    assert len(shown.encode()) < 2_000_000
    listed = json.loads(shown.split('id="data">', 1)[1].split("</script>", 1)[0])
    assert listed["tests"] == tests
