"""The last lines of a run on a terminal."""

from __future__ import annotations

from typing import Any

import pytest

from heal_bot.report import closing_lines, sections
from tests.github_server import records

BASE = "5" * 40


def test_a_doubt_is_told_before_the_patch_can_be_applied() -> None:
    data = records.data(BASE)
    assert not any(
        line.startswith("doubt")
        for line in closing_lines.render_closing(records.record(data), "out")
    )
    data["certificate"]["doubts"] = ["total newly swallows an exception", "a b\n::error::c"]
    told = closing_lines.render_closing(records.record(data), "out")
    assert told[-4:-2] == (
        "doubt, so a draft: total newly swallows an exception",
        "doubt, so a draft: a b ::error::c",
    )
    assert told[-1].startswith("next: heal-bot apply --bundle out")


def test_what_is_fixed_stands_before_what_was_reported_first() -> None:
    data = records.data(BASE)
    data["failures"].sort(key=lambda failure: failure["status"] == "fixed")
    words = [line.split(":")[0].strip() for line in
             closing_lines.render_closing(records.record(data), "out")[1:3]]  # fmt: skip
    assert words[0] == "fixed"
    assert words[1] != "fixed"


def test_what_is_proved_is_told_apart_from_what_is_inferred_and_what_is_not_shown() -> None:
    data = records.data(BASE) | {"proved": [f"{n}\u202e" for n in range(40)]}
    assert not any(
        "not shown" in s for s in closing_lines.render_closing(records.record(data), "out")
    )
    told = closing_lines.render_closing(records.record(data), "out", verbose=True)
    assert told[1:11] == tuple(f"proved: {n}<U+202E>" for n in range(10))
    assert told[11].startswith("inferred: the fault is where the patch changes code")
    assert told[12] == "not shown: isolation layer missing: landlock: the kernel has none"


def test_a_suggestion_is_told_with_what_it_lacks_and_its_diff() -> None:
    told = closing_lines.render_closing(records.record(records.suggested(BASE)), "out")
    at = told.index("a change passes, and you decide whether it is right:")
    assert told[at + 1 : at + 7] == (
        "  shop/pricing.py:8",
        "    -    return sum(prices[1:])",
        "    +    return sum(prices)",
        "  but one failing test alone vouches for it",
        "  see it: heal-bot explain out --attempt 2",
        "  take it: heal-bot apply --bundle out --attempt 2",
    )


def test_edits_that_pass_too_stand_beside_a_commit_that_would_go_back() -> None:
    data = records.suggested(BASE)
    first, other = data["attempts"][0], dict(data["attempts"][-1])
    other |= {"number": 3, "rationale": "`1` becomes `0`", "verdict": "fixed"}
    data["attempts"] = [first, data["attempts"][-1], other]
    said = "in its place, `1` becomes `0` passes too, unconfirmed: heal-bot explain out --attempt 3"
    assert said not in closing_lines.render_closing(records.record(data), "out")
    data["suggestion"]["proposer"] = data["attempts"][1]["proposer"] = "history"
    found = records.record(data)
    assert said in closing_lines.render_closing(found, "out")
    assert "In its place, attempt 3 passes too, unconfirmed:" in sections.show_suggestion(found)


def test_a_question_is_told_with_both_answers_and_the_commands_that_take_each() -> None:
    told = closing_lines.render_closing(records.record(records.asked(BASE)), "out")
    at = told.index("what should total([]) give?")
    assert told[at + 1 :] == (
        "  A: 0",
        "  shop/pricing.py:8",
        "    -    return sum(prices[1:])",
        "    +    return sum(prices)",
        "  as a test: assert total([]) == 0",
        "  B: raises IndexError",
        "  shop/pricing.py:8",
        "    -    return sum(prices[1:])",
        "    +    return prices[0] + sum(prices[1:])",
        "report: out/report.html",
        "next: heal-bot apply --bundle out --pick A   or   heal-bot apply --bundle out --pick B"
        "   or   change the code, where neither is right",
    )
    assert told[0] == "Two changes pass: one answer decides"
    assert not any("--attempt" in line or line.startswith("closest") for line in told)


@pytest.mark.parametrize(
    ("status", "stopped", "words"),
    [
        ("sandbox_error", "done", "heal-bot doctor"),
        ("stale_test", "done", "decide whether"),
        ("budget_exhausted", "budget", "heal-bot explain out"),
        ("not_healed", "interrupted", "or heal again"),
        ("not_healed", "exhausted", "heal-bot explain out"),
    ],
)
def test_without_a_patch_the_next_step_fits_the_end(status: str, stopped: str, words: str) -> None:
    data = records.data(BASE) | {"patch": None, "certificate": None}
    record = records.record(data | {"status": status, "stopped": stopped})
    assert words in closing_lines.render_closing(record, "out")[-1]


@pytest.mark.parametrize(
    ("limit", "advice"),
    [
        ("time", "   or heal again with a higher --max-minutes"),
        ("attempt", "   or heal again with a higher --max-attempts"),
        ("spending", "   or heal again with a higher --max-usd"),
        ("model call", ""),
    ],
)
def test_a_limit_that_ended_the_search_is_named_with_the_option_that_helps(
    limit: str, advice: str
) -> None:
    data = records.data(BASE) | {"patch": None, "certificate": None, "limit": limit}
    lines = told(data | {"status": "budget_exhausted", "stopped": "budget"})
    assert lines[0].startswith(f"No fix found within the {limit} limit: ")
    assert lines[-1] == f"next: heal-bot explain out{advice}"


def test_the_ground_of_a_confidence_is_told_once() -> None:
    data = records.data(BASE)
    ground = "of 20 patches with evidence like this, in other projects, 16 were right"
    data["patch"]["confidence"] = {"level": "medium", "p": 0.8, "ground": ground}
    assert f"confidence: medium ({ground})" in told(data)
    data["certificate"]["doubts"] = [ground]
    assert "confidence: medium" in told(data)
    assert [line for line in told(data) if ground in line] == [f"doubt, so a draft: {ground}"]


def test_without_a_change_the_likeliest_place_and_what_to_try_are_told() -> None:
    data = records.data(BASE) | {"patch": None, "certificate": None, "status": "not_healed"}
    lines = told(data | {"inferred": ["the fault behind 1 test is in `a.py::f`, by ranking"]})
    assert "inferred: the fault behind 1 test is in `a.py::f`, by ranking" in lines
    assert "--target PATH::NAME" in lines[-1]


def test_a_second_change_that_passes_for_other_tests_has_its_own_line() -> None:
    data = records.suggested(BASE)
    other = data["attempts"][1] | {"number": 3, "fixed": ["tests/test_pricing.py::test_discount"]}
    data["attempts"] += [other, other | {"number": 4}]
    assert [line for line in told(data) if line.startswith("another")] == [
        "another change fixes 1 other failing test in the search: heal-bot explain out --attempt 3"
    ]


def told(data: dict[str, Any], *, verbose: bool = False) -> tuple[str, ...]:
    return closing_lines.render_closing(records.record(data), "out", verbose=verbose)


def test_a_patch_is_shown_with_its_place_and_the_changed_lines() -> None:
    lines = told(records.data(BASE))
    at = lines.index("  shop/pricing.py:8")
    assert lines[at + 1 : at + 3] == (
        "    -    return sum(prices[1:])",
        "    +    return sum(prices)",
    )


def test_a_long_change_is_cut_unless_asked_for() -> None:
    after = records.BROKEN.replace("RATE = 2", "\n".join(f"R{n} = {n}" for n in range(40)))
    data = records.data(BASE, after=after)
    assert "    … 26 more lines, shown by heal-bot explain" in told(data)
    assert "    +R39 = 39" in told(data, verbose=True)


def test_parameters_of_a_test_are_one_line_of_how_many() -> None:
    data = records.data(BASE)
    fixed, left = data["failures"]
    data["failures"] = [
        *({**fixed, "test": f"tests/test_m.py::test_split[{n}]"} for n in range(293)),
        *({**left, "test": f"tests/test_m.py::test_split[{n}-x]"} for n in range(7)),
    ]
    lines = told(data)
    assert "  fixed: tests/test_m.py::test_split: 293 of 300 failing parameters" in lines
    left_over = "tests/test_m.py::test_split: 7 of 300 failing parameters"
    assert f"  still failing: {left_over} (no candidate)" in lines
    assert len(lines) < 12
    assert sum("test_split[" in line for line in told(data, verbose=True)) == 300


def test_a_reason_that_tests_share_is_told_once() -> None:
    data = records.data(BASE)
    left = data["failures"][1]
    data["failures"] = [{**left, "test": f"tests/test_a.py::test_{n}"} for n in range(20)]
    lines = told(data)
    (at,) = (n for n, line in enumerate(lines) if "no candidate" in line)
    assert lines[at].startswith("  still failing, 20 tests (no candidate")
    assert lines[at + 1] == "    tests/test_a.py::test_0"
    assert lines[at + 9] == "    12 more, shown by heal-bot explain"


def test_without_a_patch_the_closest_attempt_is_named_and_taken_where_it_breaks_nothing() -> None:
    data = records.data(BASE) | {"patch": None, "certificate": None, "status": "not_healed"}
    broke = data["attempts"][1] | {"number": 3, "verdict": "regression",
                                   "detail": "1 passing test fails"}  # fmt: skip
    data["attempts"] = [data["attempts"][0], broke]
    lines = told(data)
    at = lines.index("closest: attempt 3 fixes 1 of 1, but 1 passing test fails")
    assert lines[at + 1 : at + 3] == (
        "  see it: heal-bot explain out --attempt 3",
        "report: out/report.html",
    )
    data["attempts"][1] |= {"verdict": "improved", "detail": "", "still_failing": ["t::left"]}
    lines = told(data)
    assert "  take it: heal-bot apply --bundle out --attempt 3" in lines
    assert "closest: attempt 3 fixes 1 of 2, but 1 still fails" in lines
    data["attempts"][1] |= {"verdict": "fixed", "detail": "", "still_failing": []}
    assert "closest: attempt 3 fixes 1 of 1, but no cold run has confirmed it" in told(data)


def test_where_no_attempt_fixes_a_test_none_is_called_close() -> None:
    data = records.data(BASE) | {"patch": None, "certificate": None, "status": "not_healed"}
    data["attempts"] = data["attempts"][:1]
    assert not any("closest" in line or "--attempt" in line for line in told(data))


def test_without_a_patch_the_commit_that_broke_the_tests_is_named_and_shown() -> None:
    data = records.data(BASE) | {"patch": None, "certificate": None, "status": "not_healed"}
    data["regression"] = {
        "good_sha": "a" * 40, "bad_sha": "b" * 40, "title": "Sum it up", "confirmed": True,
        "tests": ["tests/test_pricing.py::test_total"], "runs": 4, "diff": "", "package": None,
    }  # fmt: skip
    lines = told(data)
    assert "proved: `bbbbbbb` (Sum it up) broke this test; it passes at its parent" in lines
    assert lines[-1].startswith("next: git show bbbbbbb   or heal-bot explain out   or heal again")
    data |= {"status": "budget_exhausted", "stopped": "budget", "limit": "time"}
    assert told(data)[-1].startswith("next: git show bbbbbbb   or heal-bot explain out   or heal")
    data["regression"]["confirmed"] = False
    assert not any("bbbbbbb" in line for line in told(data))


@pytest.mark.parametrize(
    ("reason", "headline"),
    [
        ("1 of 2 failing tests are fixed", "Fixes 1 of 2 failing tests"),
        ("undoes abc: 1 of 2", "Fixes 1 of 2 failing tests: undoes abc: 1 of 2"),
    ],
)
def test_the_headline_says_nothing_twice(reason: str, headline: str) -> None:
    assert told(records.data(BASE) | {"reason": reason})[0] == headline


def test_a_suggestion_is_headed_by_what_it_is_and_not_by_what_stands_below() -> None:
    assert told(records.suggested(BASE))[0] == "A change passes, but is not proposed as the fix"


def test_where_code_or_test_is_asked_the_reason_stands_in_the_first_line() -> None:
    data = records.data(BASE)
    patch = data["patch"]
    data |= {"patch": None, "certificate": None, "status": "stale_test", "reason": "`b` broke it"}
    data["suggestion"] = {
        "diff": patch["diff"], "functions": patch["functions"], "proposer": "history",
        "why": ["it may be meant"], "attempt": 1, "fixed": patch["fixed"],
    }  # fmt: skip
    lines = told(data)
    assert lines[0] == "Unsure: code or test: `b` broke it"
    assert "  but it may be meant" in lines
    assert lines[-1].startswith("next: take the change if the commit broke this by accident")


def test_the_headline_counts_once_and_says_what_is_taken_back() -> None:
    data = records.data(BASE)
    counted = told(data)[0]
    taken = told(data | {"reason": f"takes back the code of 1ecb1d1: {data['reason']}"})[0]
    assert counted.startswith("Fixes 1 of 2 failing tests")
    assert taken == "Fixes 1 of 2 failing tests: takes back the code of 1ecb1d1"
