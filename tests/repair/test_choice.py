from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from heal_bot.model import Attempt, CallResult, Calls, Candidate, Edit, Failure, Target, Verdict
from heal_bot.repair.belief import Odds
from heal_bot.repair.choice import choose

TARGET = Target("m.py", "total", 0, "function", 1, 2, "def total(prices):\n    return 0\n")
FAILURES = (Failure("t", "AssertionError", ""),)
ODDS = Odds(500)


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


def _rows(*rows: str, recorded: int = 1, examples: int = 0) -> Calls:
    """Rows of results by letter: upper case is a text, lower case a number, `!` no time.

    `+` and `-` are examples that hold and fail.
    """

    def result(letter: str) -> CallResult:
        if letter in "+-":
            return CallResult("held" if letter == "+" else "broken", "", "", letter)
        how = "skipped" if letter == "!" else "returned"
        return CallResult(how, "str" if letter.isupper() else "int", letter, letter)

    names = tuple(f"total({n})" for n in range(len(rows[0])))
    return Calls(names, recorded, tuple(tuple(map(result, row)) for row in rows), examples)


def _choose(
    priors: Sequence[float], *rows: str, failing: int = 1, **more: int
) -> tuple[list[int], str, tuple]:
    fixes = [_fix(number, prior) for number, prior in enumerate(priors, 1)]
    failures = FAILURES * failing
    choice = choose(Called(_rows(*rows, **more)), fixes, failures, ODDS)  # type: ignore[arg-type]
    doubts = choice.ranked[0].doubts
    return [fix.number for fix in choice.ranked], choice.refused, doubts


def test_patches_that_agree_support_each_other() -> None:
    ranked, refused, _ = _choose([1.0, 1.3, 1.4], "xx", "ab", "ac", "ac", recorded=2, failing=2)
    assert (ranked, refused) == ([2, 1], "")


def test_without_a_majority_no_patch_is_offered_and_the_difference_is_told() -> None:
    ranked, refused, doubts = _choose([1.0, 1.2, 1.4], "xx", "aa", "ab", "ac")
    assert refused == "3 changes pass the same tests and behave in 3 ways"
    assert doubts == ()
    assert ranked == [1, 2, 3]


def test_a_doubt_names_a_call_on_which_the_patches_differ() -> None:
    ranked, refused, doubts = _choose([1.0, 3.0], "xx", "ab", "ac")
    assert (ranked, refused) == ([1, 2], "")
    (doubt,) = doubts
    assert doubt == (
        "one other change also passes the failing tests and behaves differently: total(1) returns"
        " b with change 1; it returns c with change 2"
    )


@pytest.mark.parametrize(
    ("rows", "first"),
    [
        (("aa", "Aa", "aa"), 2),
        (("aa", "aA", "aa"), 1),
        (("AA", "Aa", "Aa"), 1),
    ],
)
def test_a_type_that_no_path_returned_before_counts_against_a_patch(
    rows: tuple[str, ...], first: int
) -> None:
    ranked, _, _ = _choose([1.0, 1.9], *rows)
    assert ranked[0] == first


def test_what_there_was_no_time_for_tells_nobody_apart() -> None:
    _, refused, doubts = _choose([1.0, 1.0], "xx", "a!", "ab")
    assert (refused, doubts) == ("", ())


def test_calls_there_was_no_time_for_are_not_held_against_a_patch() -> None:
    rows = ("xxxxxxxxxx", "axxxxx!!!!", "ayxxxxxxxx")
    ranked, refused, _ = _choose([1.0, 1.1], *rows, recorded=2, failing=2)
    assert (ranked, refused) == ([1, 2], "")


def test_a_lone_patch_is_offered_without_a_doubt() -> None:
    assert _choose([1.0], "x", "a") == ([1], "", ())


@pytest.mark.parametrize(
    ("prior", "failing", "offered"), [(3.2, 1, True), (3.3, 1, False), (3.3, 2, True)]
)
def test_a_far_fetched_patch_needs_more_tests_to_vouch_for_it(
    prior: float, failing: int, offered: bool
) -> None:
    calls, fixes = Called(_rows("x", "a")), [_fix(1, prior)]
    failures = tuple(Failure(f"t{n}", "AssertionError", "") for n in range(failing))
    choice = choose(calls, fixes, failures, ODDS)  # type: ignore[arg-type]
    assert choice.ranked == tuple(fixes)
    assert (choice.refused == "") is offered


def test_patches_that_agree_vouch_for_each_other_where_one_would_be_far_fetched() -> None:
    assert "far-fetched" in _choose([3.5], "xx", "ab")[1]
    assert _choose([3.5, 3.5, 3.5], "xx", "ab", "ab", "ab")[1] == ""


def test_calls_of_the_tests_vouch_for_a_patch() -> None:
    assert "far-fetched" in _choose([3.2], "xxxx", "xaax", recorded=2)[1]
    assert _choose([3.2], "xxxxxxx", "aaxxxxx", recorded=5)[1] == ""


def test_a_patch_that_changes_nothing_that_worked_may_be_more_far_fetched() -> None:
    many = "x" * 10
    assert _choose([4.0], many, many, recorded=2)[1] == ""
    assert _choose([4.0], many, "a" + many[1:], recorded=2)[1] == ""
    assert "far-fetched" in _choose([4.0], many, many[1:] + "a", recorded=2)[1]
    assert "far-fetched" in _choose([4.0], "xxx", "xxx", recorded=2)[1]


def test_calls_that_did_not_end_say_nothing_of_what_worked() -> None:
    few = "x" * 9 + "!"
    assert "far-fetched" in _choose([4.0], few, few, recorded=2)[1]


def test_a_patch_that_could_not_be_called_must_be_less_far_fetched() -> None:
    assert "far-fetched" in _choose([2.8], "", "")[1]


def test_where_every_call_of_the_tests_was_wrong_changing_them_all_is_no_doubt() -> None:
    assert _choose([2.9], "xx", "ab", recorded=2)[1] == ""
    assert "far-fetched" in _choose([2.9], "xxx", "xab", recorded=2)[1]


def test_two_behaviours_that_are_as_likely_are_both_withheld() -> None:
    assert _choose([1.0, 1.02], "xxx", "xxa", "xxb", recorded=2, failing=2)[1] == (
        "2 changes pass the same tests and behave in 2 ways"
    )
    assert _choose([1.0, 1.2], "xxx", "xxa", "xxb", recorded=2, failing=2)[1] == ""


def test_where_a_single_test_failed_a_patch_has_to_be_far_ahead() -> None:
    assert "2 ways" in _choose([1.0, 1.6], "xxx", "xxa", "xxb", recorded=2)[1]
    assert _choose([1.0, 1.8], "xxx", "xxa", "xxb", recorded=2)[1] == ""
    assert _choose([1.0, 1.2], "xxx-", "xxa+", "xxb-", recorded=2, examples=1)[1] == ""


def test_where_tests_make_no_other_call_than_the_one_that_failed_nothing_shows_what_worked() -> (
    None
):
    many = "x" * 20
    assert _choose([4.0], many, many, recorded=2)[1] == ""
    assert "far-fetched" in _choose([4.0], many, many, recorded=1)[1]


def test_where_tests_make_a_single_call_a_patch_has_to_be_far_ahead() -> None:
    assert "2 ways" in _choose([1.0, 1.5], "xx", "xa", "xb")[1]
    assert _choose([1.0, 2.0], "xx", "xa", "xb")[1] == ""


def test_a_patch_of_a_crash_may_change_a_little_of_what_worked() -> None:
    calls = Called(_rows("xxxxxxxx", "xxxxxxxa", recorded=2))
    failures = (Failure("t", "IndexError", ""),)
    assert choose(calls, [_fix(1, 2.7)], failures, ODDS).refused == ""  # type: ignore[arg-type]


@pytest.mark.parametrize(("accidents", "offered"), [(0, True), (30, False)])
def test_what_changes_most_is_less_believed_where_others_passed_and_broke_something(
    accidents: int, offered: bool
) -> None:
    calls, fixes = Called(_rows("xxxx", "xaaa", recorded=2)), [_fix(1, 2.0)]
    choice = choose(calls, fixes, FAILURES, Odds(500, accidents))  # type: ignore[arg-type]
    assert (choice.refused == "") is offered


def test_an_example_of_the_docstring_that_fails_since_refutes_a_patch() -> None:
    assert _choose([1.0], "xx+", "aa+", examples=1)[1] == ""
    assert "far-fetched" in _choose([1.0], "xx+", "aa-", examples=1)[1]
    assert _choose([1.0], "xx-", "aa-", examples=1)[1] == ""


def test_the_patch_after_which_an_example_holds_comes_first() -> None:
    ranked, refused, doubts = _choose([1.0, 1.1], "xx-", "aa-", "ab+", examples=1)
    assert (ranked, refused) == ([2, 1], "")
    assert doubts == (
        "one other change also passes the failing tests and behaves differently: total(1) returns"
        " b with change 2; it returns a with change 1",
    )


def test_an_example_that_holds_since_vouches_like_a_test() -> None:
    assert "far-fetched" in _choose([3.4], "xx+", "ab+", examples=1)[1]
    assert _choose([3.4], "xx-", "ab+", examples=1)[1] == ""


def test_the_examples_of_a_docstring_vouch_once() -> None:
    assert "far-fetched" in _choose([4.6], "xx--", "ab++", examples=2)[1]


def test_patches_that_differ_in_an_example_alone_are_told_apart_by_it() -> None:
    _, _, (doubt,) = _choose([1.0, 1.0], "xx-", "aa+", "aa-", examples=1)
    assert doubt.endswith(
        "total(2) gives what the docstring says with change 1; it does not with change 2"
    )


def test_a_call_that_leaves_its_arguments_alone_now_is_not_taken_for_changed() -> None:
    before = [CallResult("returned", "dict", "d", f"m{n}", f"v{n}") for n in range(10)]
    after = [CallResult("returned", "dict", "d", f"k{n}", f"v{n}", kept=True) for n in range(10)]
    spoiling = [replace(result, kept=False) for result in after]
    for row, refused in ((after, False), (spoiling, True)):
        calls = Calls(tuple(map(str, range(10))), 2, (tuple(before), tuple(row)))
        choice = choose(Called(calls), [_fix(1, 3.6)], FAILURES, ODDS)  # type: ignore[arg-type]
        assert ("far-fetched" in choice.refused) is refused


@pytest.mark.parametrize(
    ("recorded", "failing", "offered"), [(16, 1, False), (4, 1, True), (16, 4, True)]
)
def test_a_patch_that_spares_the_calls_of_the_tests_alone_is_doubted(
    recorded: int, failing: int, offered: bool
) -> None:
    after = "a" + "x" * (recorded - 1) + "axx" * 8
    called = Called(_rows("x" * len(after), after, recorded=recorded))
    odds = Odds(50)
    choice = choose(called, [_fix(1, 3.0)], FAILURES * failing, odds)  # type: ignore[arg-type]
    assert (choice.refused == "") is offered


@pytest.mark.parametrize("marked", [True, False])
@pytest.mark.parametrize(("values", "offered"), [("ab" * 5, True), ("a" * 10, False)])
def test_a_patch_after_which_every_call_returns_the_same_is_not_believed(
    values: str, offered: bool, marked: bool
) -> None:
    def result(mark: str, value: str) -> CallResult:
        return CallResult("returned", "int", value, mark, value if marked else "")

    before = [result(f"m{n}", f"v{n % 4}") for n in range(10)]
    after = [result(f"k{n}", value) for n, value in enumerate(values)]
    calls = Calls(tuple(map(str, range(10))), 10, (tuple(before), tuple(after)))
    choice = choose(Called(calls), [_fix(1, 2.5)], FAILURES, ODDS)  # type: ignore[arg-type]
    assert (choice.refused == "") is offered


@pytest.mark.parametrize(
    ("after", "odds", "offered"),
    [
        ("aa" + "x" * 10, Odds(500, 2), True),
        ("aa" + "x" * 10, Odds(500, 3), False),
        ("aa" + "x" * 10, Odds(99), False),
        ("a" * 6 + "x" * 6, Odds(500), False),
    ],
)
def test_what_is_hard_to_pass_is_believed_when_it_changes_little(
    after: str, odds: Odds, offered: bool
) -> None:
    called = Called(_rows("x" * 12, after, recorded=2))
    choice = choose(called, [_fix(1, 3.6)], FAILURES, odds)  # type: ignore[arg-type]
    assert (choice.refused == "") is offered


@pytest.mark.parametrize(
    ("body", "first"),
    [("return names[name]", 2), ("if name not in names:\n        raise KeyError(name)", 1)],
)
def test_to_end_as_the_tests_did_speaks_against_a_patch_unless_the_code_says_raise(
    body: str, first: int
) -> None:
    returned = [CallResult("returned", "int", f"{n}", f"{n}") for n in range(6)]
    raised = CallResult("raised", "KeyError", "KeyError()", "raised")
    failed = [raised, *returned[1:5], raised]
    rows = tuple(tuple(row) for row in (failed, [*returned[:5], raised], returned))
    target = replace(TARGET, source=f"def total(names, name):\n    {body}\n")
    fixes = [_fix(1, 1.0), _fix(2, 1.3)]
    edits = [Edit(target, f"def total(names, name):\n    return {n}\n") for n in (1, 2)]
    fixes = [
        replace(fix, candidate=replace(fix.candidate, edits=(edit,)))
        for fix, edit in zip(fixes, edits, strict=True)
    ]
    calls = Calls(tuple(map(str, range(6))), 3, rows)
    failures = (Failure("t", "KeyError", ""),)
    choice = choose(Called(calls), fixes, failures, ODDS)  # type: ignore[arg-type]
    assert choice.ranked[0].number == first
