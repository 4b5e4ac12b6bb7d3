"""What of the facts a prompt of a given size shows, and how it names the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heal_bot.core.model import Failure, Target
from heal_bot.repair.llm.context_selection import select_facts
from heal_bot.repair.llm.failing_test_context import Failing
from heal_bot.repair.llm.prompt_context import ContextFacts, ShownTarget
from heal_bot.repair.llm.suspect_context import Related


def target(name: str, size: int = 100, first: int = 1, kind: str = "function") -> Target:
    source = f"def {name}():\n" + "    pass\n" * (size // 9)
    return Target("m.py", name, 0, kind, first, first + size // 9, source)


def facts(*suspects: ShownTarget, **fields: object) -> ContextFacts:
    failure = Failure("tests/test_m.py::test_f", "AssertionError", "1 != 2")
    group = Failing((failure,), 0, "def test_f():\n    assert f() == 2\n", ("LIMIT = 3\n",))
    return replace(ContextFacts((group,), suspects, {}, (), (), (), (), ""), **fields)


def shown(*sizes: int) -> list[ShownTarget]:
    return [
        ShownTarget(target(f"f{n}", size, 10_000 * n), (), ("class A:", f"    def f{n}(self)"))
        for n, size in enumerate(sizes)
    ]


def test_with_room_all_that_speaks_is_shown() -> None:
    used = Related(target("g", first=90_000), "def g(): ...", 0)
    far = Related(target("h", first=99_000), "def h(): ...", 2)
    known = facts(
        *shown(100, 100, 100, 100),
        related=(used, far),
        neighbours=("a.py:3 in x calls f0: f0()",),
        files=(("m.py", "import os"),),
        values="a = 1",
    )
    found = select_facts(known, 20_000)
    assert [one.target.qualname for one in found.suspects] == ["f0", "f1", "f2", "f3"]
    assert found.related == (used, far)
    assert (found.neighbours, found.files, found.values) == (
        known.neighbours, known.files, "a = 1",
    )  # fmt: skip
    assert found.failing == known.failing
    assert found.missing == ()


def test_the_likeliest_suspect_is_never_cut_and_others_are_whole_or_named() -> None:
    found = select_facts(facts(*shown(30_000, 100, 9_000, 100)), 12_000)
    assert [one.target.qualname for one in found.suspects] == ["f0"]
    assert len(found.suspects[0].target.source) > 29_000
    assert found.missing == ("less likely suspects: m.py::f1, m.py::f2, m.py::f3",)


def test_what_is_too_long_does_not_keep_out_what_is_short() -> None:
    found = select_facts(facts(*shown(100, 20_000, 100)), 12_000)
    assert [one.target.qualname for one in found.suspects] == ["f0", "f2"]


def test_where_source_does_not_parse_all_of_its_lines_are_shown() -> None:
    found = select_facts(facts(*shown(9_000, 9_000), broken=("m.py:1: SyntaxError",)), 5_000)
    assert [one.target.qualname for one in found.suspects] == ["f0", "f1"]


def test_a_minor_suspect_is_neither_shown_nor_named() -> None:
    one, two, three = shown(100, 100, 100)
    found = select_facts(facts(one, replace(two, minor=True), three), 20_000)
    assert [one.target.qualname for one in found.suspects] == ["f0", "f2"]
    assert found.missing == ()


def test_a_fixture_that_is_a_suspect_is_shown_once() -> None:
    known = facts(*shown(100))
    (group,) = known.failing
    support = (known.suspects[0].target.source, "LIMIT = 3\n")
    found = select_facts(replace(known, failing=(replace(group, fixtures=support),)), 9_000)
    assert found.failing[0].fixtures == ("LIMIT = 3\n",)


def test_what_is_a_suspect_as_well_or_the_class_of_one_is_shown_once() -> None:
    home = Target("m.py", "A", 0, "class", 1, 50_000, "class A: ...")
    same = Related(target("f1", first=10_000), "def f1(): ...", 0)
    found = select_facts(
        facts(*shown(100, 100), related=(Related(home, "class A: ...", 0), same)), 9_000
    )
    assert found.related == ()
    assert len(found.suspects) == 2


@pytest.mark.parametrize("size", [1_000, 3_000, 9_000])
def test_long_texts_end_early_and_say_so(size: int) -> None:
    failure = Failure("t", "AssertionError", "first line\n" + "x = 1\n" * 3_000)
    long = Failing((failure,), 0, "def test():\n" + "    pass\n" * 3_000, ())
    found = select_facts(facts(*shown(100), failing=(long,), history="-a\n+b\n" * 4_000), size)
    (group,) = found.failing
    for text in (group.source, group.failures[0].message, found.history):
        assert text.endswith(" more, cut here]")
        assert text.count("cut here") == 1
    assert group.failures[0].message.startswith("first line\n")


def test_what_stands_inside_of_a_shown_suspect_is_not_shown_again_or_named() -> None:
    outer, inner, other = target("f", 900, 1), target("f.<locals>.g", 90, 3), target("h", 90, 500)
    found = select_facts(facts(*(ShownTarget(one, (), ()) for one in (outer, inner, other))), 9_000)
    assert [one.target.qualname for one in found.suspects] == ["f", "h"]
    assert found.missing == ()


def test_tests_beyond_the_room_are_named_and_the_failure_stays() -> None:
    groups = tuple(
        Failing((Failure(f"t{n}", "E", "boom"),), 0, "def test():\n" + "    pass\n" * 300, ())
        for n in range(9)
    )
    found = select_facts(facts(*shown(100), failing=groups), 6_000)
    assert [bool(group.source) for group in found.failing][:2] == [True, False]
    assert len(found.failing) == 6
    assert [failure.test for failure in found.others] == ["t6", "t7", "t8"]
    assert any(line.startswith("the source of failing tests: t") for line in found.missing)
