from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest

from heal_bot.core.model import (
    Attempt,
    CallResult,
    Calls,
    Candidate,
    Edit,
    Failure,
    Target,
    Verdict,
)
from heal_bot.core.statuses import ConfidenceLevel
from heal_bot.repair.ranking.patch_ranking import (
    LOOKUP,
    choose_patches,
    compare_calls,
    explain_lookup,
)

TARGET = Target("m.py", "total", 0, "function", 1, 2, "def total(prices):\n    return 0\n")
RATED = "patches with evidence like this"
FAILURES = (Failure("t", "AssertionError", ""),)


class Called:
    """A session that knows what every candidate returns."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls

    def call(self, candidates: Sequence[Candidate], seed: int = 0) -> Calls:
        return self.calls


def _fix(number: int, prior: float) -> Attempt:
    edit = Edit(TARGET, f"def total(prices):\n    return {number}\n")
    candidate = Candidate((edit,), "rules", "number", f"change {number}", prior=prior)
    return Attempt(number, "c", candidate, Verdict("fixed", ("t",)))


def _held(offered: Attempt) -> bool:
    """That nothing which was offered has failed in the cold run."""
    return False


def _rows(
    *rows: str, recorded: int = 1, examples: int = 0, worked: Sequence[int] = (), green: int = 0
) -> Calls:
    """Rows of results by letter: upper case is a text, lower case a number, `!` no time.

    `+` and `-` are examples that hold and fail.
    """

    def result(letter: str) -> CallResult:
        if letter in "+-":
            return CallResult("held" if letter == "+" else "broken", "", "", letter)
        how = "skipped" if letter == "!" else "returned"
        return CallResult(how, "str" if letter.isupper() else "int", letter, letter)

    names = tuple(f"total({n})" for n in range(len(rows[0])))
    told = tuple(tuple(map(result, row)) for row in rows)
    return Calls(names, recorded, told, examples, frozenset(worked), green)


def _choose(
    priors: Sequence[float], *rows: str, failing: int = 1, **more: Any
) -> tuple[list[int], tuple[str, ...]]:
    """The patches in the order to offer them, and what the evidence for the first lacks."""
    fixes = [_fix(number, prior) for number, prior in enumerate(priors, 1)]
    called = Called(_rows(*rows, **more))
    ranked = list(choose_patches(called, fixes, FAILURES * failing, _held, 0.9))  # type: ignore[arg-type]
    lacks = ranked[0].lacks or ()
    return [fix.number for fix in ranked], tuple(why for why in lacks if RATED not in why)


def test_a_change_of_two_inputs_that_a_third_test_calls_lacks_nothing() -> None:
    assert _choose([1.0], "xxx", "aax", failing=3, recorded=3, worked=[2]) == ([1], ())
    assert _choose([1.0, 1.4], "xxx", "aax", "aax", failing=3, recorded=3) == ([1], ())


@pytest.mark.parametrize(
    ("rows", "more", "lacks"),
    [
        (("xx", "aa"), {"failing": 1}, "one failing test alone vouches for it"),
        (("xx", "ax"), {}, "3 failing tests pass with it, and they do not call what it changes"),
        (("xx", "aa"), {"worked": [1]}, "3 failing tests pass with it, and they do not call"),
        (("xx", "aa"), {"green": 1}, "3 failing tests pass with it, and they do not call"),
        (("xxx", "aax"), {"recorded": 3, "green": 1}, ""),
        (("xx", "aa"), {"failing": 2}, "two failing tests vouch for it, and no passing test calls"),
        (("xxx", "aax"), {"failing": 2, "recorded": 3, "worked": [2]}, ""),
        (("xxx", "aaa"), {"recorded": 2}, ""),
        (("xxx", "aaa"), {"recorded": 3, "worked": [2]}, "it changes 1 call that passing tests"),
        (("", ""), {}, "no call of what it changes could be repeated"),
        (("xx+", "aa-"), {"examples": 1}, "an example in a docstring fails with it"),
        (("xxx", "aax", "aay"), {}, "one other change also passes the failing tests"),
        (("xxx", "aax", "aab"), {"recorded": 3, "worked": [2]}, ""),
        (("xx+", "aa+", "ab-"), {"examples": 1}, ""),
        (("xx!", "aax", "aa!"), {}, ""),
    ],
    ids=["one test", "one input", "the other call worked",
         "the other call is of a passing test", "two inputs",
         "no third test", "a third test", "varied calls may change", "spoiled",
         "nothing is known", "an example", "a rival", "a rival that spoils what worked",
         "a rival that an example refutes", "a rival with no time"],
)  # fmt: skip
def test_what_the_evidence_for_a_change_lacks(
    rows: tuple[str, ...], more: dict[str, Any], lacks: str
) -> None:
    priors = [1.0, 1.1][: len(rows) - 1]
    first, told = _choose(priors, *rows, **{"failing": 3, "recorded": 2, **more})
    assert first[0] == 1
    assert (told[0] if told else "")[: len(lacks) or None] == lacks


def test_what_a_passing_test_calls_is_told_with_what_it_did_and_does() -> None:
    _, lacks = _choose([1.0], "xxx", "aab", failing=3, recorded=3, worked=[2])
    assert lacks == (
        "it changes 1 call that passing tests make: total(2) returns x without it, and returns b"
        " with it",
    )


def test_a_call_that_leaves_another_state_is_told_so_though_its_result_stays() -> None:
    none = [CallResult("returned", "NoneType", "None", mark) for mark in "xxxaab"]
    calls = replace(_rows("xxx", "aab", recorded=3, worked=[2]), rows=(none[:3], none[3:]))  # type: ignore[arg-type]
    (first,) = choose_patches(Called(calls), [_fix(1, 1.0)], FAILURES * 3, _held, 0.9)  # type: ignore[arg-type]
    assert first.lacks is not None
    assert "total(2) returns None as before, and leaves what it was called on" in first.lacks[0]


def test_a_rival_is_named_with_a_call_on_which_it_differs() -> None:
    ranked, lacks = _choose([1.0, 3.0], "xxx", "aab", "aac", failing=3, recorded=2)
    assert ranked == [1, 2]
    assert lacks == (
        "one other change also passes the failing tests and behaves differently: total(2) returns"
        " b with change 1; it returns c with change 2",
    )


def test_a_rival_that_gives_the_same_and_leaves_another_state_is_told_so() -> None:
    none = [CallResult("returned", "NoneType", "None", mark) for mark in "xxxaabaac"]
    calls = replace(_rows("xxx", "aab", "aac", recorded=3), rows=(none[:3], none[3:6], none[6:]))  # type: ignore[arg-type]
    fixes = [_fix(1, 1.0), _fix(2, 3.0)]
    first, _ = choose_patches(Called(calls), fixes, FAILURES * 3, _held, 0.9)  # type: ignore[arg-type]
    assert first.lacks is not None
    assert first.lacks[0].endswith("total(2) leaves what it was called on otherwise with change 2")


@pytest.mark.parametrize("failed", [True, False])
def test_the_first_is_no_rival_of_the_second_where_it_failed(failed: bool) -> None:
    called = Called(_rows("xxx", "aab", "aac", recorded=2))
    fixes, out = [_fix(1, 1.0), _fix(2, 2.0)], set[int]()
    ranked = choose_patches(called, fixes, FAILURES * 3, lambda fix: fix.number in out, 0.9)  # type: ignore[arg-type]
    assert next(ranked).lacks
    out.update([1] if failed else [])
    assert bool(next(ranked).lacks) is not failed


def test_what_spoils_a_call_that_worked_comes_after_what_does_not() -> None:
    ranked, lacks = _choose([1.0, 3.0], "xxx", "aab", "aax", failing=3, recorded=3, worked=[2])
    assert (ranked, lacks) == ([2, 1], ())


def test_patches_beyond_those_that_were_compared_are_rivals() -> None:
    fixes = [_fix(number, 1.0) for number in range(1, 27)]
    called = Called(_rows("xx", *["aa"] * 24, recorded=2))
    (first,) = choose_patches(called, fixes, FAILURES * 3, _held, 0.9)  # type: ignore[arg-type]
    assert first.lacks == (
        "2 changes more that also pass the failing tests were not compared with it",
    )


@pytest.mark.parametrize(
    ("prior", "failing", "level", "lacks"),
    [
        (1.0, 3, ConfidenceLevel.HIGH, False),
        (3.0, 3, ConfidenceLevel.MEDIUM, True),
        (9.0, 3, ConfidenceLevel.LOW, True),
        (0.0, 1, ConfidenceLevel.MEDIUM, True),
    ],
    ids=["cheap", "dear", "very dear", "one test alone"],
)
def test_what_is_rated_high_lacks_nothing(
    prior: float, failing: int, level: ConfidenceLevel, lacks: bool
) -> None:
    called = Called(_rows("xxx", "aax", recorded=3, worked=[2]))
    (first,) = choose_patches(called, [_fix(1, prior)], FAILURES * failing, _held, 0.9)  # type: ignore[arg-type]
    assert first.confidence is not None
    assert first.confidence.level is level
    assert bool(first.lacks) is lacks


@pytest.mark.parametrize(
    ("rows", "more"),
    [
        (("xxx", "aab"), {"worked": [2]}),
        (("xxx+", "aax-"), {"examples": 1}),
        (("xyzxyzxyzx", "aaaaaaaaaa"), {"recorded": 2}),
    ],
    ids=["spoiled", "an example fails", "the same for all others"],
)
def test_what_is_refuted_is_rated_low_however_cheap_it_is(
    rows: tuple[str, str], more: dict[str, Any]
) -> None:
    called = Called(_rows(*rows, **{"recorded": 3, **more}))
    examples = replace(called.calls.rows[0][-1], how="held") if "examples" in more else None
    if examples is not None:
        before = (*called.calls.rows[0][:-1], examples)
        called = Called(replace(called.calls, rows=(before, called.calls.rows[1])))
    (first,) = choose_patches(called, [_fix(1, 0.0)], FAILURES * 3, _held, 0.75)  # type: ignore[arg-type]
    assert first.confidence is not None
    assert first.confidence.level is ConfidenceLevel.LOW
    assert first.lacks


def _replayed(fix: Attempt) -> Attempt:
    return replace(fix, candidate=replace(fix.candidate, lacks=()))


def test_what_the_code_before_the_commit_did_is_no_price() -> None:
    fixes = [_fix(1, 1.0), _fix(2, 1.5)]
    # Now the calls give x, then y and z; the first patch does something new, the second as before.
    for former, first in (("xyz", 1), ("apq", 2)):
        called = Called(_rows("xyz", "akz", "apq", former))
        before = (Edit(TARGET, "def total(prices):\n    return 0\n"),)
        ranked = choose_patches(called, fixes, FAILURES, _held, 0.9, before)  # type: ignore[arg-type]
        assert next(ranked).number == first


def test_a_call_that_does_again_what_it_did_before_the_commit_is_not_spoiled() -> None:
    before = (Edit(TARGET, "def total(prices):\n    return 0\n"),)
    for former, spoiled in (("aab", False), ("aac", True)):
        called = Called(_rows("xxx", "aab", former, recorded=3, worked=[2]))
        fixes, failures = [_fix(1, 0.0)], FAILURES * 3
        (first,) = choose_patches(called, fixes, failures, _held, 0.75, before)  # type: ignore[arg-type]
        assert any("passing tests make" in one for one in first.lacks or ()) is spoiled


def _partial(fix: Attempt) -> Attempt:
    return replace(fix, verdict=Verdict("improved", ("t",)))


@pytest.mark.parametrize("change", [_replayed, _partial])
def test_what_nothing_was_fitted_for_is_not_rated_and_weighed_by_its_evidence(
    change: Callable[[Attempt], Attempt],
) -> None:
    fix = change(_fix(1, 0.0))
    for row, lacks in (("aax", False), ("axx", True)):
        called = Called(_rows("xxx", row, recorded=3, worked=[2]))
        (first,) = choose_patches(called, [fix], FAILURES * 3, _held, 0.9)  # type: ignore[arg-type]
        assert first.confidence is None
        assert bool(first.lacks) is lacks


def test_what_takes_two_changes_is_not_rated() -> None:
    fix = _fix(1, 0.0)
    pair = replace(fix, candidate=replace(fix.candidate, family="number + comparison"))
    called = Called(_rows("xxx", "aax", recorded=3, worked=[2]))
    (first,) = choose_patches(called, [pair], FAILURES * 3, _held, 0.9)  # type: ignore[arg-type]
    assert first.confidence is None
    assert first.lacks == (
        "it takes two changes at once, and how often such are right is not known",
    )


@pytest.mark.parametrize(("prior", "level"), [(1.0, "high"), (3.0, "medium"), (9.0, "low")])
def test_a_rival_says_how_the_first_would_be_rated_without_it(prior: float, level: str) -> None:
    called = Called(_rows("xxx", "aab", "aac", recorded=2))
    fixes = [_fix(1, prior), _fix(2, prior + 1)]
    first = next(choose_patches(called, fixes, FAILURES * 3, _held, 0.9))  # type: ignore[arg-type]
    assert first.rival is not None
    assert first.rival.alone is not None
    assert first.rival.alone.confidence is not None
    assert first.rival.alone.confidence.level == level
    assert bool(first.rival.alone.lacks) is (level != "high")


@pytest.mark.parametrize(("dearer", "first"), [(1.5, 2), (2.5, 1)])
def test_what_changes_fewer_of_the_varied_calls_comes_first_unless_it_is_much_dearer(
    dearer: float, first: int
) -> None:
    rows = "x" * 11, "a" + "b" * 10, "a" + "x" * 10
    ranked, _ = _choose([1.0, 1.0 + dearer], *rows, failing=3)
    assert ranked[0] == first


def test_what_there_was_no_time_for_tells_nobody_apart() -> None:
    assert _choose([1.0, 1.0], "xx", "a!", "ab")[0] == [1]


def test_calls_there_was_no_time_for_are_not_held_against_a_patch() -> None:
    rows = ("xxxxxxxxxx", "axxxxx!!!!", "ayxxxxxxxx")
    assert _choose([1.0, 1.1], *rows, recorded=2, failing=3)[0] == [1, 2]


def test_the_patch_after_which_an_example_holds_comes_first() -> None:
    ranked, lacks = _choose([1.0, 1.1], "xx-", "aa-", "ab+", examples=1, recorded=2, failing=3)
    assert (ranked, lacks) == ([2, 1], ())


def test_a_call_that_leaves_its_arguments_alone_now_is_not_taken_for_changed() -> None:
    before = [CallResult("returned", "dict", "d", f"m{n}", f"v{n}") for n in range(10)]
    after = [CallResult("returned", "dict", "d", f"k{n}", f"v{n}", kept=True) for n in range(10)]
    spoiling = [replace(result, kept=False) for result in after]
    for row, spoiled in ((after, False), (spoiling, True)):
        made = (tuple(before), tuple(row))
        calls = Calls(tuple(map(str, range(10))), 10, made, worked=frozenset(range(10)))
        (first,) = choose_patches(Called(calls), [_fix(1, 3.6)], FAILURES, _held, 0.9)  # type: ignore[arg-type]
        assert any("passing tests make" in why for why in first.lacks or ()) is spoiled


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize(
    ("before", "after", "lookup"),
    [
        ("xxstuvstuv", "abcdcdcdcd", False),
        ("xxstuvstuv", "abcccccccc", True),
        ("xxstuvstuv", "abcc#c#ccc", True),
        ("xxstuvstuv", "ab########", True),
        ("xxstuvstuv", "abababab#c", True),
        ("xxabuabuab", "ababababab", False),
        ("xxstststst", "abcccccccc", False),
        ("xxstuvst##", "abcccccccc", False),
        ("xxstuvstuv", "abcccccc!!", False),
    ],
    ids=["two results", "one result", "one or none", "none",
         "the tests' answers", "answers that were given before", "two before", "too few before",
         "too little time"],
)  # fmt: skip
def test_a_patch_that_is_of_no_use_for_what_no_test_calls_holds_the_answers(
    before: str, after: str, lookup: bool, marked: bool
) -> None:
    def result(at: int, letter: str) -> CallResult:
        if letter in "!#":
            return CallResult("skipped" if letter == "!" else "raised", "KeyError", "", letter)
        return CallResult("returned", "int", letter, f"{at}{letter}", letter if marked else "")

    rows = tuple(tuple(map(result, range(10), row)) for row in (before, after))
    session: Any = Called(Calls(tuple(map(str, range(10))), 2, rows))
    fix = _fix(1, 1.0)
    (first,) = choose_patches(session, [fix], FAILURES * 3, _held, 0.9)
    assert first.lacks == ((LOOKUP,) if lookup else ())
    assert explain_lookup(session.call((fix.candidate,))) == (LOOKUP if lookup else "")


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (("xx", "aa", "aa"), (2, "")),
        (("xx", "aa", "ab"), (2, "total(1) returns a with attempt 1; it returns b with attempt 2")),
        (("", "", ""), (0, "")),
    ],
)
def test_two_changes_are_alike_where_no_call_tells_them_apart(
    rows: tuple[str, ...], found: tuple[int, str]
) -> None:
    called = Called(_rows(*rows))
    assert compare_calls(called, _fix(1, 1.0), _fix(2, 1.0)) == found  # type: ignore[arg-type]


def test_where_unchanged_code_could_not_be_called_nothing_is_compared() -> None:
    result = CallResult("returned", "int", "1", "1")
    calls = Calls(("total(0)", "total(1)"), 2, ((), (result, result)))
    failures = (Failure("t", "KeyError", ""),)
    (found,) = choose_patches(Called(calls), [_fix(1, 1.0)], failures, _held, 0.9)  # type: ignore[arg-type]
    assert found.lacks


@pytest.mark.parametrize(
    ("rows", "more", "asked"),
    [
        (("xxx", "aab", "aac"), {}, (2, "total(2)", ("b", "c"), True)),
        (("xxxx", "aabb", "aacc", "aabd"), {}, (2, "total(3)", ("b", "c"), False)),
        (("xxxx", "aabb", "aacc", "aacb"), {}, None),
        (("xxx", "aab", "aa!"), {}, None),
        (("xxx", "aab", "aaa"), {}, (2, "total(2)", ("b", "a"), True)),
        (("xxx+", "aab+", "aab-"), {"examples": 1}, None),
        (("xxx", "aab", "aac"), {"failing": 1}, None),
        (("xxx", "aab", "xac"), {}, None),
        (("xxx", "aax", "aay"), {"recorded": 3, "worked": [2]}, None),
        (("xxx", "aax"), {}, None),
    ],
    ids=["two behave differently", "a call tells the third apart as well",
         "the third gives one of both answers", "no time",
         "the varied call", "an example decides", "one failing test",
         "too few inputs of the rival", "a rival that spoils", "no rival"],
)  # fmt: skip
def test_a_person_is_asked_where_either_of_two_lacks_nothing_but_the_answer(
    rows: tuple[str, ...], more: dict[str, Any], asked: tuple[Any, ...] | None
) -> None:
    fixes = [_fix(number, 1.0 + number) for number in range(1, len(rows))]
    given = {"recorded": 2, **more}
    failures = FAILURES * given.pop("failing", 3)
    first = next(iter(choose_patches(Called(_rows(*rows, **given)), fixes, failures, _held, 0.9)))  # type: ignore[arg-type]
    rival = first.rival
    assert (rival and (rival.attempt, rival.call, rival.answers, rival.alone is not None)) == asked


@pytest.mark.parametrize("text", ["a  b", "x" * 200, "[1, …"])
def test_an_answer_that_cannot_be_shown_whole_is_not_asked_for(text: str) -> None:
    calls = _rows("xxx", "aab", "aac", recorded=2)
    told = replace(calls.rows[2][2], text=text)
    calls = replace(calls, rows=(*calls.rows[:2], (*calls.rows[2][:2], told)))
    fixes = [_fix(1, 1.0), _fix(2, 2.0)]
    assert next(iter(choose_patches(Called(calls), fixes, FAILURES * 3, _held, 0.9))).rival is None  # type: ignore[arg-type]
