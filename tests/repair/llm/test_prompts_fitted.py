from __future__ import annotations

import re
from dataclasses import replace

import jinja2
import pytest

from heal_bot.core.errors import LLMError
from heal_bot.core.model import (
    Attempt,
    Candidate,
    Cluster,
    Edit,
    Failure,
    Frame,
    Origin,
    Target,
    Verdict,
)
from heal_bot.core.text import Secret
from heal_bot.repair.llm.failing_test_context import Failing
from heal_bot.repair.llm.prompt_context import ContextFacts, ShownTarget
from heal_bot.repair.llm.prompts_fitted import Prompter, Turn, estimate

TARGET = Target("m.py", "f", 0, "function", 1, 2, "def f(a):\n    return a\n")
FAILURE = Failure("tests/test_m.py::test_f", "AssertionError", "1 != 2")
CLUSTER = Cluster("c", (FAILURE,), ())


def attempt(number: int, status: str = "unchanged") -> Attempt:
    verdict = Verdict(status, still_failing=(replace(FAILURE, message=f"got {number}"),))
    candidate = Candidate((Edit(TARGET, f"def f(a):\n    return {number}\n"),), "claude", "repair")
    return Attempt(number, "c", candidate, verdict, 0.1, f"+    return {number} # {'x' * 3000}\n")


def prompter(suspects: int = 1) -> Prompter:
    shown = tuple(
        ShownTarget(
            replace(
                TARGET,
                qualname=f"f{n}",
                first_line=100 * n + 1,
                last_line=100 * n + 80,
                source=f"def f{n}(a):\n    'suspect {n}'\n" * 40,
            ),
            (),
            (),
        )
        for n in range(suspects)
    )
    failing = Failing((FAILURE,), 0, "def test_f():\n    assert f(1) == 2\n", ())
    facts = ContextFacts(
        (failing,), shown, {}, (("m.py", "import os"),), ("g calls f",), (), (), ""
    )
    return Prompter(CLUSTER, facts, "0123456789abcdef")


def text(prompt) -> str:
    return "".join(message.text for message in prompt.messages)


def test_with_room_every_attempt_is_shown_whole() -> None:
    prompt = prompter().prompt([attempt(n) for n in (1, 2, 3)], (), 100_000)
    assert all(f"+    return {n} #" in text(prompt) for n in (1, 2, 3))
    assert [message.cached for message in prompt.messages] == [True, False, False, False, True]
    assert prompt.tokens * 3 >= len(text(prompt)) + len(prompt.system)


def test_the_oldest_attempts_shrink_first_and_nothing_current_does() -> None:
    attempts = [attempt(n) for n in (1, 2, 3)]
    roomy = prompter(8).prompt(attempts, (), 100_000)
    tight = prompter(8).prompt(attempts, (), roomy.tokens - 500)
    assert tight.tokens <= roomy.tokens - 500
    assert "+    return 1 #" not in text(tight)
    assert "got 1" in text(tight)
    assert "+    return 2 #" in text(tight)
    assert "suspect 7" in text(tight)
    assert "Not shown" not in text(tight)


def test_what_does_not_fit_is_named() -> None:
    roomy = prompter(12).prompt([], (), 100_000)
    assert "less likely suspects: m.py::f8, m.py::f9, m.py::f10, m.py::f11" in text(roomy)
    tight = prompter(12).prompt([], (), 3_500)
    assert re.search(r"less likely suspects: m\.py::f\d, m\.py::f", text(tight))
    assert tight.tokens <= 3_500
    with pytest.raises(LLMError, match="larger window") as caught:
        prompter(8).prompt([], (), 500)
    assert caught.value.kind == "context_overflow"


def test_the_oldest_turns_become_a_line_and_the_newest_stays() -> None:
    turns = [Turn(f"answer {n} " * 200, f"result {n} " * 200, f"line {n}\n") for n in (1, 2, 3)]
    roomy = prompter().prompt([], turns, 100_000)
    roles = [message.role for message in roomy.messages]
    assert roles == ["user", "user", *["assistant", "user"] * 3]
    tight = prompter().prompt([], turns, roomy.tokens - 500)
    assert tight.tokens <= roomy.tokens - 500
    assert "line 1" in text(tight)
    assert "answer 1" not in text(tight)
    assert "answer 2" in text(tight)


def test_each_kind_of_request_has_one_form_of_answer() -> None:
    proposal = prompter().prompt([], (), 100_000).system
    review = prompter().review("+x", "", 100_000).system
    claim = prompter().claim("it holds", "assert 1", 100_000).system
    assert "<<<<<<< SEARCH" in proposal
    assert "Each answer is one of these" in proposal
    for other in (review, claim):
        assert "one JSON object and nothing else" in other
        assert "fenced" not in other
        assert "Propose" not in other


def test_what_needs_a_sandbox_is_offered_where_there_is_one() -> None:
    assert '"tool": "run"' in prompter().prompt([], (), 100_000).system
    assert '"tool": "run"' not in prompter().prompt([], (), 100_000, lab=False).system


def test_what_the_rules_came_upon_is_left_to_the_paragraph_of_the_context() -> None:
    one = attempt(1)
    by_rules = replace(one, candidate=replace(one.candidate, proposer="rules"))
    assert "# Attempt" not in text(prompter().prompt([by_rules], (), 100_000))


def test_a_long_function_is_whole_where_it_is_the_likeliest_and_the_python_is_named() -> None:
    bare = prompter(2)
    source = "def f0(a):\n" + "".join(f"    a += {n}\n" for n in range(5_000))
    target = replace(TARGET, qualname="f0", source=source)
    facts = replace(
        bare.facts, suspects=(ShownTarget(target, (), ()), *bare.facts.suspects[1:]), python="3.9.1"
    )
    said = text(replace(bare, facts=facts, _kept={}).prompt([], (), 100_000))
    assert source.rstrip() in said
    assert "# Failing tests, on Python 3.9.1" in said
    assert "less likely suspects: m.py::f1" in said


def test_what_looks_like_a_credential_is_shown_as_it_is_unless_it_is_one() -> None:
    bare = prompter()
    source = 'def f(a):\n    return a or "http://user:pass@host", "sesame-street"\n'
    facts = replace(bare.facts, suspects=(ShownTarget(replace(TARGET, source=source), (), ()),))
    said = text(replace(bare, facts=facts, _kept={}).prompt([], (), 100_000))
    assert '"http://user:pass@host", "sesame-street"' in said
    secrets = (Secret("sesame-street"),)
    said = text(replace(bare, facts=facts, secrets=secrets, _kept={}).prompt([], (), 9_000))
    assert '"http://user:pass@host", "***"' in said


@pytest.mark.parametrize("before", range(5_980, 6_012))
def test_of_a_secret_across_a_cut_nothing_is_shown(before: int) -> None:
    bare = prompter()
    failing = replace(bare.facts.failing[0], failures=(
        replace(FAILURE, message="x" * before + "sesame-street" + "y" * 9_000),
    ))  # fmt: skip
    facts = replace(bare.facts, failing=(failing,))
    secrets = (Secret("sesame-street"),)
    said = text(replace(bare, facts=facts, secrets=secrets, _kept={}).prompt([], (), 100_000))
    assert "xx***" in said or "xs" not in said


def test_the_newest_answer_stays_whole_while_the_context_can_shrink() -> None:
    newest = Turn("answer " * 400, "result " * 400, "a line\n")
    roomy = prompter(8).prompt([], (newest,), 100_000)
    tight = prompter(8).prompt([], (newest,), roomy.tokens - 300)
    assert "result result" in text(tight)


def test_a_missing_variable_of_a_template_is_an_error() -> None:
    with pytest.raises(jinja2.UndefinedError):
        prompter()._render("system", kind="propose")


def test_a_summary_says_what_changed_and_what_came_of_it() -> None:
    broken = replace(FAILURE, test="tests/test_m.py::test_g", message="boom\nboom")
    verdict = Verdict("regression", ("a",), (), (broken,), "one test broke")
    assert (
        "repair change of f; fixed 1; newly failing 1, first with AssertionError: boom boom;"
        " one test broke\n"
    ) in prompter().line(replace(attempt(1), verdict=verdict))


def test_an_estimate_is_never_below_a_token_per_four_bytes() -> None:
    assert estimate("x" * 4000) >= 1000
    assert estimate("\u4e2d" * 1000) >= 1000


def test_an_attempt_is_rendered_anew_when_its_verdict_changes() -> None:
    one, many = attempt(1), prompter()
    before = text(many.prompt([one], (), 100_000))
    assert text(many.prompt([one], (), 100_000)) == before
    doubted = replace(one, verdict=Verdict("unconfirmed", detail="fails cold"))
    assert "fails cold" in text(many.prompt([doubted], (), 100_000))


def test_where_it_failed_and_the_values_there_are_shown() -> None:
    frames = tuple(Frame("m.py", n, f"f{n}", Origin.PROJECT) for n in range(9))
    frames += (Frame("/lib/json.py", 77, "loads", Origin.LIBRARY),)
    bare = prompter()
    failing = replace(bare.facts.failing[0], failures=(replace(FAILURE, frames=frames),))
    facts = replace(bare.facts, failing=(failing,), values="m.py:8 in f8\ntime 1 : a = 'seen'")
    said = text(replace(bare, facts=facts, _kept={}).prompt([], (), 100_000))
    assert "at m.py:8 in f8" in said
    assert "m.py:2 in f2" not in said
    assert "json.py" not in said
    assert "a = 'seen'" in said
