"""Names and messages that try to give orders, from the XML to every place that shows them."""

from __future__ import annotations

import json
import re
from html import escape
from pathlib import Path

import pytest
from markdown_it import MarkdownIt

from heal_bot.core.errors import UsageError
from heal_bot.core.events import Event
from heal_bot.core.model import Baseline, Cluster, Collection, HealRequest, Outcome
from heal_bot.junit import reader, reported_tests
from heal_bot.repair.llm.failing_test_context import Failing
from heal_bot.repair.llm.prompt_context import ContextFacts
from heal_bot.repair.llm.prompts_fitted import Prompter
from heal_bot.report import closing_lines, console, pull_request_body, step_summary
from heal_bot.report.outcome_record import flatten
from heal_bot.verification.baseline import reproduce
from tests.fakes import (
    SHA,
    FolderTree,
    ScriptedRunner,
    context_of,
    passed,
    quiet_run,
    suite,
)

ORDERS = (
    "\n::error::pwned\n##[command]rm\n::set-output name=a::b",
    "@octocat ![x](https://evil.example/p.png) [a](javascript:alert(1)) #12 o/s#3 a@b.example",
    "<img src=x onerror=alert(1)></details><!-- <script>x</script> ``` | $x$ www.evil.example",
    "\x1b[31mred\u202eevil\u200b\u2066",
)
NONCE = "0123456789abcdef"


def names() -> list[str]:
    """Parameters as pytest writes them (escaped) and as no pytest would."""
    return [f"test_a[{order}]" for order in ORDERS]


@pytest.fixture
def outcome(tmp_path: Path) -> tuple[Outcome, list[Event]]:
    """A run in which every hostile name is a collected test, and none fails here."""
    cases = "".join(
        f'<testcase classname="tests.test_a" name="{_attribute(name)}"><failure message='
        f'"{_attribute(order)}">{escape(_legal(order))}\ntests/test_a.py:1: E</failure></testcase>'
        for name, order in zip(names(), ORDERS, strict=True)
    )
    (tmp_path / "r.xml").write_text(f"<testsuite>{cases}</testsuite>")
    run, events = quiet_run()
    report = reader.read_reports(run, tmp_path, ["r.xml"])
    collected = tuple(f"tests/test_a.py::{_legal(name)}" for name in names())
    resolved = reported_tests.resolve(run, report, Collection(collected), [], {}.__getitem__)
    assert {f.test for f in resolved.failures} == set(collected)
    runner = ScriptedRunner([suite(*(passed(test) for test in collected))])
    tree = FolderTree.of(tmp_path / "tree", {})
    baseline = reproduce(context_of(run, runner, tree), resolved.failures)
    request = HealRequest("octo/shop", SHA, trigger="command")
    reason = f"{resolved.failures[0].test}: {ORDERS[1]}"
    return Outcome(request, "not_reproduced", "done", reason, report, baseline), events


def _legal(text: str) -> str:
    return text.replace("\x1b", "")


def _attribute(text: str) -> str:
    return escape(_legal(text)).replace("\n", "&#10;")


def assert_quiet(log: str) -> None:
    """Nothing in a log gives the runner an order or the terminal a colour."""
    assert not re.search(r"^\s*::", log, re.MULTILINE)
    assert "##[" not in log
    assert not re.search(
        "[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", log
    )


def assert_tame(body: str) -> None:
    """No markup, mention, reference or address of theirs, outside of code."""
    blocks = MarkdownIt("commonmark", {"html": True}).enable("table").parse(body)
    tokens = [token for block in blocks for token in (block, *(block.children or ()))]
    assert not {token.type for token in tokens} & {"link_open", "image", "html_inline"}
    html = [line for t in tokens if t.type == "html_block" for line in t.content.splitlines()]
    ours = ("<!-- heal-bot ", "<sub>", "<details>", "</details>", "<summary>Tests (")
    assert all(line.startswith(ours) for line in html), html
    words = " ".join(token.content for token in tokens if token.type == "text")
    for live in ("@octocat", "#12", "#3", "a@b", "www.evil"):
        assert live not in words, live


def test_the_log_takes_no_orders(outcome: tuple[Outcome, list[Event]]) -> None:
    ended, events = outcome
    record = flatten(ended)
    lines = closing_lines.render_closing(record, "out", verbose=True)
    assert len(lines) == len(ORDERS) + 4
    assert all("\n" not in line for line in lines)
    assert "pwned" in lines[2]
    assert_quiet("\n".join(lines))
    assert events != []
    assert_quiet("\n".join(console.render_line(event) for event in events))
    assert_quiet("\n".join(console.json_line(event, 0.0) for event in events))


def test_pull_request_and_step_summary_stay_plain_text(
    outcome: tuple[Outcome, list[Event]],
) -> None:
    record = flatten(outcome[0])
    assert "octocat" in step_summary.render_step(record, "none", record.reason, "")
    assert_tame(step_summary.render_step(record, "none", record.reason, ""))
    title, body = pull_request_body.pull_request(record)
    assert "\n" not in title
    assert_tame(body)


def test_a_prompt_holds_them_between_tags_only(outcome: tuple[Outcome, list[Event]]) -> None:
    baseline = outcome[0].baseline
    assert isinstance(baseline, Baseline)
    failures = tuple(item.failure for item in baseline.reproduced)
    facts = ContextFacts((Failing(failures, 0, "", ()),), (), {}, (), (), (), (), "")
    prompt = Prompter(Cluster("c", failures, ()), facts, NONCE).prompt((), (), 40_000)
    text = "".join(message.text for message in prompt.messages)
    assert "octocat" in text
    outside = re.sub(rf"<untrusted-{NONCE}>.*?</untrusted-{NONCE}>", "", text, flags=re.DOTALL)
    assert not any(word in outside for word in ("octocat", "pwned", "onerror", "evil"))
    assert "\x1b" not in text
    assert "\u202e" not in text


def test_a_test_that_is_not_here_is_told_in_one_quiet_line(tmp_path: Path) -> None:
    run, events = quiet_run()
    for name, order in zip(names(), ORDERS, strict=True):
        case = f'<testcase classname="{_attribute(order)}" name="{_attribute(name)}">'
        (tmp_path / "r.xml").write_text(f"<testsuite>{case}<failure>x</failure></testcase>")
        report = reader.read_reports(run, tmp_path, ["r.xml"])
        collection = Collection(("tests/test_b.py::b",))
        said = reported_tests.resolve(run, report, collection, [], {}.__getitem__).nothing
        assert said.startswith("the report names ")
        assert "\n" not in said
        shown = step_summary.render_failed(said)
        assert_tame(shown)
    assert len(events) == len(ORDERS)
    assert_quiet("\n".join(console.render_line(event) for event in events))
    assert_quiet("\n".join(console.json_line(event, 0.0) for event in events))
    assert [json.loads(console.json_line(event, 0.0))["message"] for event in events] == [
        getattr(event, "message", "") for event in events
    ]


def test_a_hostile_file_name_is_told_in_one_line(tmp_path: Path) -> None:
    run, _ = quiet_run()
    (tmp_path / "a\n::error::x\x1b[31m.xml").write_text("<html/>")
    with pytest.raises(UsageError) as raised:
        reader.read_reports(run, tmp_path, ["*.xml"])
    assert str(raised.value).startswith("a ::error::x.xml is not a test report")
