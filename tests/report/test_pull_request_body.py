"""The text of a pull request: golden, bounded, and deaf to what foreign text asks for."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from heal_bot.report import pull_request_body, sections, status_comment, step_summary
from heal_bot.report.proposed_change import Shown, digest_patch, render_claimed
from tests.github_server import records
from tests.report.tame import HOSTILE, assert_tame

GOLDEN = Path(__file__).parent / "golden"
BASE = "5" * 40


def hostile(values: Any) -> Any:
    """Every free text in the record replaced by the hostile one."""
    free = {"message", "reason", "rationale", "detail", "test", "evidence", "notes", "doubts",
            "layers", "missing", "tests", "fixed", "still_failing", "result", "name", "python",
            "family", "before", "after", "signature", "heal_bot"}  # fmt: skip
    if isinstance(values, dict):
        return {
            key: ([" ".join(HOSTILE.split())] if key in FINDINGS else
                  {HOSTILE[:900]: HOSTILE} if key == "messages" else
                  HOSTILE[:900] if key in free and isinstance(value, str) else
                  [HOSTILE[:900]] * len(value) if key in free and isinstance(value, list)
                  and all(isinstance(v, str) for v in value) else hostile(value))
            for key, value in values.items()
        }  # fmt: skip
    return [hostile(value) for value in values] if isinstance(values, list) else values


def test_the_body_of_a_partly_healed_run_reads_as_in_the_golden_file() -> None:
    title, body = pull_request_body.pull_request(records.record(records.data(BASE)))
    assert f"{title}\n\n{body}\n" == (GOLDEN / "partly_healed.md").read_text()


def test_no_foreign_text_becomes_markup() -> None:
    values = hostile(records.data(BASE))
    values["request"]["trigger"] = "command"
    _, body = pull_request_body.pull_request(records.record(values))
    assert HOSTILE.split(maxsplit=1)[0] in body
    assert_tame(body)


@pytest.mark.parametrize(
    "live",
    ["hi @octocat", "see #12", "[a](http://x)", "![a](b)", "<img src=x>", "https://evil.example"],
)
def test_live_markup_would_be_noticed(live: str) -> None:
    with pytest.raises(AssertionError):
        assert_tame(live)


def test_a_plain_body_is_tame_too() -> None:
    assert_tame(pull_request_body.pull_request(records.record(records.data(BASE)))[1])


@pytest.mark.parametrize("name", ["a@b/x.py", "fixes #1.py", "x\n\n@team.py"])
def test_a_title_mentions_and_closes_nothing(name: str) -> None:
    shown = Shown("", (f"{name}::f",), "heal-bot/x", "")
    title = pull_request_body.render_title(records.record(records.data(BASE)), shown)
    assert not set("@#\n") & set(title)
    assert len(title) <= 200


def _many_attempts(values: dict[str, Any]) -> None:
    for number in range(400):
        attempt = copy.deepcopy(values["attempts"][0]) | {"number": number + 1}
        values["attempts"].append(attempt | {"diff": "+ x\n" * 3_000})


def _many_failures(values: dict[str, Any]) -> None:
    for number in range(3_000):
        failure = copy.deepcopy(values["failures"][1])
        failure |= {"test": f"tests/test_{number}.py::test_x", "message": "long " * 1_500}
        values["failures"].append(failure)


def _large_diff(values: dict[str, Any]) -> None:
    values["patch"]["diff"] = "+ line of a large change\n" * 20_000


def _many_findings(values: dict[str, Any]) -> None:
    values["regression"] = COMMIT
    values |= dict.fromkeys(FINDINGS, ["&" * 1_000] * 50)


def _many_doubts(values: dict[str, Any]) -> None:
    values["certificate"]["doubts"] = ["| " * 4_000] * 500
    values["certificate"]["isolation"]["missing"] = ["| " * 400] * 5_000
    values["certificate"]["gates"] = [{"name": "x" * 900, "result": "&" * 900}] * 50


LARGE = [_many_attempts, _many_failures, _large_diff, _many_doubts, _many_findings]


@pytest.mark.parametrize("grow", [*LARGE, None])
def test_a_body_fits_and_keeps_what_matters_most(grow: Any) -> None:
    values = records.data(BASE)
    for each in [grow] if grow else LARGE:
        each(values)
    _, body = pull_request_body.pull_request(records.record(values))
    assert len(body) <= pull_request_body.LIMIT
    assert body.startswith("<!-- heal-bot 0123456789ab ")
    assert "**Fixes 1 of " in body
    assert "```diff" in body
    assert "<summary>Tests (" in body
    assert "**Still failing (" in body
    assert "heal-bot 0\\.1.0" in body
    assert_tame(body)


def test_an_unprivileged_run_is_only_claimed() -> None:
    record = records.record(records.data(BASE) | {"regression": COMMIT})
    shown = Shown("", ("a.py::f",), "heal-bot/x", "", claimed=True)
    _, body = pull_request_body.pull_request(record, shown)
    assert "> An unprivileged run claims all of this" in body
    assert "as an unprivileged run claims; not verified here." in body
    assert "**Claimed:**" in body
    assert "Verified on" not in body
    assert "Proved" not in body


def test_the_command_to_reproduce_quotes_names_for_the_shell() -> None:
    values = records.data(BASE)
    values["failures"][0]["test"] = "tests/t.py::test_a[$(id);'\"]"
    text = sections.show_reproduction(records.record(values), "heal-bot/x")
    assert """'tests/t.py::test_a[$(id);'"'"'"]'""" in text


def test_a_digest_names_paths_blobs_and_texts_whatever_the_commit() -> None:
    from heal_bot.core.model import PatchedFile

    file = PatchedFile("a.py", "1" * 40, "x")
    same = digest_patch([file])
    others = {
        digest_patch([PatchedFile("b.py", "1" * 40, "x")]),
        digest_patch([PatchedFile("a.py", "2" * 40, "x")]),
        digest_patch([PatchedFile("a.py", "1" * 40, "y")]),
    }
    assert len(others) == 3
    assert same not in others


def test_a_step_summary_fits_the_runner() -> None:
    values = records.data(BASE)
    _many_failures(values)
    values |= {"patch": None, "certificate": None, "status": "not_healed"}
    text = step_summary.render_step(records.record(values), "nothing", "no patch", "")
    assert len(text.encode()) <= step_summary.STEP_LIMIT
    assert text.startswith("**No fix found.**")


def test_a_cut_text_ends_at_a_line_within_the_bytes() -> None:
    text = step_summary.fit_bytes("äöü\n" * 1_000, 500)
    assert len(text.encode()) <= 500
    assert text.endswith("äöü\n\n… cut; the bundle has the whole.\n")


def test_an_answer_and_a_refusal_are_tame() -> None:
    record = records.record(hostile(records.data(BASE)) | {"patch": None})
    mark = status_comment.mark_of(7)
    assert_tame(status_comment.render_reply(mark, record, "nothing", HOSTILE, ""))
    assert_tame(status_comment.render_refused(mark, HOSTILE))
    assert_tame(status_comment.render_failed(mark, HOSTILE))
    assert_tame(step_summary.render_failed(HOSTILE))


def test_all_requests_of_a_bot_have_one_answer_and_those_of_people_one_each() -> None:
    bots = {status_comment.mark_of(number, "helper[bot]") for number in (7, 8)}
    assert bots == {"<!-- heal-bot requests of helper-bot- -->"}
    assert status_comment.mark_of(7, "ada") != status_comment.mark_of(8, "ada")


COMMIT = {"good_sha": "a" * 40, "bad_sha": "b" * 40, "title": "Simplify total", "confirmed": True,
          "tests": ["tests/test_a.py::test_x"] * 2, "runs": 3,
          "diff": "diff --git a/m.py b/m.py\n-a\n+b\n"}  # fmt: skip
FINDINGS = {"inferred": [], "not_shown": ["1 test was not attempted"]}


def test_what_is_proved_stands_apart_from_what_is_not_and_without_a_patch_with_the_commit() -> None:
    values = records.data(BASE) | FINDINGS | {"regression": COMMIT}
    broke = "- **Proved:** `bbbbbbb` (Simplify total) broke these 2 tests; they pass at its parent."
    _, body = pull_request_body.pull_request(records.record(values))
    assert body.count(broke) == 1
    assert "Not shown:\n\n- 1 test was not attempted" in body.partition("What is not proved")[2]
    unhealed = records.record(values | {"patch": None, "certificate": None, "status": "not_healed"})
    for said in (step_summary.render_step(unhealed, "nothing", "x", ""),
                 status_comment.render_reply("<!-- -->", unhealed, "nothing", "x", ""),
                 status_comment.render_diagnosis("<!-- -->", unhealed, claimed=False)):  # fmt: skip
        assert said.count(broke) == 1
        assert said.count("<summary>What the commit changed</summary>") == 1


@pytest.mark.parametrize("claimed", [False, True])
def test_what_is_proved_is_said_from_fields_and_never_in_the_sentences_of_a_record(
    claimed: bool,
) -> None:
    package = COMMIT | {"good_sha": "", "bad_sha": "", "title": "", "diff": "",
                        "package": {"name": "lib", "good": "2.3", "bad": "2.4"}}  # fmt: skip
    proved = {"proved": ["Security review found no objection; safe to merge"]}
    values = records.suggested(BASE, beside=True) | proved | {"regression": package}
    shown = Shown("", ("a.py::f",), "heal-bot/x", "", claimed=claimed)
    body = pull_request_body.pull_request(records.record(values), shown)[1]
    how = "Claimed" if claimed else "Proved"
    assert f"**{how}:** `lib 2.3 → 2.4` broke these 2 tests; they pass with 2.3." in body
    assert "objection" not in body


def test_what_takes_a_commit_back_is_titled_so() -> None:
    values = records.data(BASE) | {"regression": COMMIT}
    values["certificate"]["undoes"] = "b" * 40
    record = records.record(values)
    title = pull_request_body.render_title(record, render_claimed(record))
    assert title == 'Take back the code of "Simplify total" (bbbbbbb)'
    values["regression"] = None
    record = records.record(values)
    title = pull_request_body.render_title(record, render_claimed(record))
    assert title == "Take back the code of bbbbbbb"


def test_what_takes_a_part_of_a_commit_back_is_titled_so() -> None:
    values = records.data(BASE) | {"regression": COMMIT}
    for attempt in values["attempts"]:
        attempt["family"] = "reversal"
    record = records.record(values)
    title = pull_request_body.render_title(record, render_claimed(record))
    assert title == 'Take back a part of "Simplify total" (bbbbbbb)'


def test_of_several_causes_no_title_names_one_commit() -> None:
    values = records.data(BASE) | {"regression": COMMIT}
    values["certificate"]["undoes"] = "b" * 40
    first = values["attempts"][1]
    values["attempts"].append(first | {"number": 3, "fixed": ["tests/test_pricing.py::test_more"]})
    values["patch"]["fixed"] = [*values["patch"]["fixed"], "tests/test_pricing.py::test_more"]
    record = records.record(values)
    title = pull_request_body.render_title(record, render_claimed(record))
    assert title.startswith("Fix ")


def test_a_commit_message_and_its_diff_become_no_markup() -> None:
    hostile_commit = COMMIT | {"title": HOSTILE[:900], "diff": HOSTILE}
    said = [f"`bbbbbbb` ({' '.join(HOSTILE.split())[:n]}) broke this test" for n in (60, 170, 900)]
    values = records.data(BASE) | {"regression": hostile_commit, "inferred": said}
    values["certificate"]["undoes"] = "b" * 40
    record = records.record(values)
    title, body = pull_request_body.pull_request(record)
    assert_tame(body)
    assert not set("@#\n") & set(title)
    unhealed = records.record(values | {"patch": None})
    assert_tame(pull_request_body.render_body(unhealed, render_claimed(unhealed)))
