"""What every candidate keeps: it parses, differs, is new, and leaves the rest byte for byte."""

from __future__ import annotations

import ast
import itertools
import time
from dataclasses import replace

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import Attempt, Candidate, Edit, Failure, Suspect, Target, Verdict
from heal_bot.ports import Brief, Proposer
from heal_bot.repair.templates.template_proposer import TemplateProposer

COUNTER = '''\
import functools


LIMIT = 10


class Cart:
    """A cart."""

    currency = "EUR"  # three letters

    @functools.lru_cache(maxsize=None)  # noqa: B019
    def total(
        self,
        prices,  # a list
        rate=1,
    ):
        """Sum up.

        Prices > 0 only.
        """
        total = 0  # nothing yet
        for price in prices[1:]:  # each
            if price < LIMIT and not price == 3:  # cheap
                total -= price * rate   # odd   spacing
            text = """several
lines - 1
"""
        return (
            total  # the sum
            + len(text)
        )

    def count(self, prices):
        return len(prices)


async def fetch(client, names):
    results = []
    for name in names:
        results.append(await client.get(name, "ä ö ü"))
    return results


def pairs(items):
\tfor größe, item in enumerate(items):
\t\tif größe > 1: yield item, "ü" + item
\telse:
\t\tyield from items[::2]


def outer(start):
    count = start

    def step(by=1):
        nonlocal count
        count += by
        return count

    return step
'''
NAMES = ("Cart.total", "Cart.count", "fetch", "pairs", "outer", "outer.<locals>.step",
         "Cart.currency", "LIMIT")  # fmt: skip


def _comments(text: str) -> list[str]:
    return [line.partition("#")[2].strip() for line in text.splitlines() if "#" in line]


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_every_candidate_parses_differs_and_is_unique(bench, name: str) -> None:
    original = ast.dump(ast.parse(COUNTER))
    seen: set[str] = set()
    for candidate in itertools.islice(bench.candidates(COUNTER, name), 800):
        changed = bench.changed(COUNTER, candidate)
        tree = ast.dump(ast.parse(changed))
        assert tree != original, candidate.rationale
        assert tree not in seen, candidate.rationale
        seen.add(tree)
    assert seen


def test_candidates_keep_comments_decorators_and_layout_outside_the_change(bench) -> None:
    target = bench.target(COUNTER, "Cart.total")
    lines = target.source.splitlines()
    for candidate in itertools.islice(bench.candidates(COUNTER, "Cart.total"), 1500):
        new = candidate.edits[0].new_source
        if candidate.family in {"deletion", "statement order"}:
            continue
        kept = [c for c in _comments(target.source) if c in new]
        assert len(kept) >= len(_comments(target.source)) - 2, candidate.rationale
        assert new.startswith("    @functools.lru_cache(maxsize=None)  # noqa: B019\n")
        same = [line for line in lines if line in new]
        assert len(same) >= len(lines) - 12, candidate.rationale


@pytest.mark.long
def test_an_operator_is_the_only_byte_that_changes(bench) -> None:
    target = bench.target(COUNTER, "Cart.total")
    wanted = target.source.replace("price < LIMIT", "price <= LIMIT")
    assert wanted in [c.edits[0].new_source for c in bench.candidates(COUNTER, "Cart.total")]


def test_spans_count_bytes_where_the_line_holds_wide_characters(bench) -> None:
    text = 'def f(a, b):\n    return ("äöü€" * b) < a\n'
    fixed = text.replace("< a", "<= a")
    assert bench.position(text, fixed, 5) == 1


@pytest.mark.parametrize("ending", ["\n", ""])
def test_a_source_keeps_the_newline_it_ends_with_or_lacks(bench, ending: str) -> None:
    text = f"def f(items):\n    return items[0]{ending}"
    for candidate in itertools.islice(bench.candidates(text), 500):
        assert candidate.edits[0].new_source.endswith("\n") == bool(ending), candidate.rationale


def test_nothing_roundabout_reaches_a_person(bench) -> None:
    text = "def f(n, m):\n    if not n:\n        return n - 1\n    return m + 1\n"
    sources = [c.edits[0].new_source for c in bench.candidates(text)]
    for phrase in ("n - 0", "m + 0", "not not", "n - 1 + 1", "not True", "* 1\n"):
        assert [s for s in sources if phrase in s] == []
    assert text.replace("n - 1", "n") in sources


def test_rules_are_a_streaming_proposer_without_cost() -> None:
    rules: Proposer = TemplateProposer()
    assert (rules.name, rules.streams, rules.spent().usd) == ("rules", True, 0.0)


def test_candidates_carry_their_family_and_a_sentence(bench) -> None:
    text = "def f(a, b):\n    # why\n    return a < b\n"
    first = next(bench.candidates(text))
    assert first.proposer == "rules"
    assert first.family == "comparison"
    assert first.rationale == "`<` becomes `<=` on line 3"


def test_the_first_candidate_of_a_long_function_comes_at_once(bench) -> None:
    body = "".join(f"    x{i} = a[{i}] + b * {i} < c({i}, a)\n" for i in range(300))
    text = f"def f(a, b, c):\n{body}    return x1\n"
    began = time.process_time()
    next(bench.candidates(text))
    assert time.process_time() - began < 2.0


def test_lines_that_no_failing_test_executed_stay_as_they_are(bench) -> None:
    text = "def f(a, b):\n    if a < b:\n        return a + 1\n    return b - 1\n"
    lines = {2: 1.0, 4: 0.5}
    found = [c for c in bench.candidates(text, lines=lines) if c.family != "deletion"]
    assert found
    assert [c.rationale for c in found if "return a + 1" not in c.edits[0].new_source] == []


def test_the_most_suspicious_line_comes_first(bench) -> None:
    text = "def f(a, b):\n    x = a < b\n    y = a < b\n    return x, y\n"
    first = next(bench.candidates(text, lines={2: 0.2, 3: 0.9, 4: 0.2}))
    assert first.rationale.endswith("on line 3")


def test_suspects_take_turns_and_the_first_leads(bench) -> None:
    text = "def f(a, b):\n    return a < b + 1\n\n\ndef g(a, b):\n    return a < b + 1\n"
    names = [
        c.edits[0].target.qualname for c in itertools.islice(bench.candidates(text, "f", "g"), 40)
    ]
    assert names[0] == "f"
    assert 5 < names.count("g") < names.count("f")


def test_an_expected_value_of_the_failure_becomes_the_constant(bench) -> None:
    text = "def answer():\n    return 7\n"
    failure = Failure("t::t", "AssertionError", "assert 7 == 42")
    fixed = text.replace("7", "42")
    assert (bench.position(text, fixed, 20, failures=[failure]) or 99) <= 15


def test_a_second_search_goes_on_where_the_first_ended(bench) -> None:
    text = "def f(a, b):\n    return a < b\n"
    brief = bench.brief(text)

    class Told:
        def __call__(self) -> Brief:
            return brief

        def reject(self, candidate: Candidate, reason: str) -> None:
            raise AssertionError

    rules, run = TemplateProposer(), Run(lambda event: None)
    first = list(itertools.islice(rules.propose(run, Told()), 10))
    second = list(rules.propose(run, Told()))
    assert {c.edits[0].new_source for c in first}.isdisjoint(c.edits[0].new_source for c in second)


def test_two_edits_build_on_what_improved_the_cluster(bench) -> None:
    text = "def f(a, b):\n    low = a - b\n    high = a - b\n    return low * 2 < high\n"
    half = text.replace("high = a - b", "high = a + b")
    target = bench.target(text)
    start = Candidate((Edit(target, half),), "rules", "arithmetic operator", "first")
    improved = Attempt(1, "c1", start, Verdict("improved", ("t::t",)))
    fixed = half.replace("<", "<=")
    first = list(itertools.islice(bench.candidates(text, partial=(improved,)), 20))
    assert fixed in [c.edits[0].new_source for c in first]
    assert first[0].edits[0].target == target
    assert first[0].family.startswith("arithmetic operator + ")


def test_a_target_that_cannot_be_parsed_is_skipped_with_a_note(bench) -> None:
    text = "def f(a):\n    return a < 1\n"
    brief = bench.brief(text)
    suspect = brief.cluster.suspects[0]
    broken = replace(suspect, target=replace(suspect.target, source="def f(a:\n  return"))
    spoiled = replace(brief, cluster=replace(brief.cluster, suspects=(broken,)))
    assert list(TemplateProposer().propose(Run(bench.events.append), lambda: spoiled)) == []
    assert "rules skip shop.py:1 f" in bench.events[0].message


def test_a_table_of_data_that_no_patch_may_rewrite_is_skipped_with_a_note(bench) -> None:
    rows = "".join(f"    {n}: {n + 1},\n" for n in range(3_000))
    brief = bench.brief("TABLE = {\n" + rows + "}\n")
    assert list(TemplateProposer().propose(Run(bench.events.append), lambda: brief)) == []
    assert "rules skip shop.py:1 TABLE: 45," in bench.events[0].message


@pytest.mark.parametrize(
    ("name", "wrong", "right"),
    [
        ("Cart.currency", '"EUR"', '"USD"'),
        ("LIMIT", "LIMIT = 10", "LIMIT = 9"),
        ("outer.<locals>.step", "count += by", "count -= by"),
        ("pairs", "größe > 1", "größe >= 1"),
        ("Cart.total", "total -= price * rate", "total += price * rate"),
    ],
)
def test_attributes_assignments_and_nested_functions_are_repaired(
    bench, name: str, wrong: str, right: str
) -> None:
    failure = Failure("t::t", "AssertionError", "assert 'EUR' == 'USD'")
    fixed = COUNTER.replace(wrong, right)
    assert (bench.position(COUNTER, fixed, 120, name, failures=[failure]) or 999) <= 120


@pytest.mark.parametrize(
    ("text", "first", "last", "wrong", "right"),
    [
        ("def f(a, b=1):\n    return a + b\n", 1, 1, "b=1", "b=2"),
        ("def f(a, b=1): return a + b\n", 1, 1, "b=1", "b=0"),
        ("class A:\n    def f(self, b=True):  # on\n        pass\n", 2, 2, "True", "False"),
        ("def f(\n    a,\n    b=1,\n    c=2,\n):\n    pass\n", 3, 3, "b=1", "b=2"),
        ("def f(a,\n      b=1):\n    pass\n", 2, 2, "b=1", "b=2"),
        ("def f(b=1,\n      c=1):\n    pass\n", 1, 1, "b=1", "b=2"),
        ("async def f(*, b=1):\n    pass\n", 1, 1, "b=1", "b=2"),
    ],
)
def test_a_default_argument_changes_alone(bench, text, first, last, wrong, right) -> None:
    lines = text.splitlines(keepends=True)
    source = "".join(lines[first - 1 : last])
    target = Target("shop.py", "f.b", 0, "default", first, last, source)
    brief = bench.brief(text, "A.f" if "class" in text else "f")
    only = replace(brief.cluster, suspects=(Suspect(target, 1.0, (), {99: 1.0}),))
    found = TemplateProposer().propose(
        Run(bench.events.append), lambda: replace(brief, cluster=only)
    )
    changed = [bench.changed(text, candidate) for candidate in found]
    assert text.replace(wrong, right) in changed
    for other in changed:
        ast.parse(other)
        assert [a for a in ("c=3", "a -", "return b", "c=0") if a in other] == []


def test_a_second_edit_may_be_in_another_suspect(bench) -> None:
    text = "def f(a):\n    return a - 1\n\n\ndef g(a):\n    return f(a) < 2\n"
    target = bench.target(text, "f")
    half = "def f(a):\n    return a + 1\n"
    start = Candidate((Edit(target, half),), "rules", "arithmetic operator", "first", prior=1.2)
    improved = Attempt(1, "c1", start, Verdict("improved", ("t::t",)))
    fixed = text.replace("a - 1", "a + 1").replace("<", "<=")
    assert bench.position(text, fixed, 60, "f", "g", partial=(improved,)) is not None


@pytest.mark.parametrize("other", ["", "from collections import deque\n"])
def test_a_missing_import_is_added_and_the_function_stays(bench, other: str) -> None:
    text = "def f(a):\n    return deque(a)\n"
    failure = Failure("t::t", "NameError", "name 'deque' is not defined")
    brief = bench.brief(text, failures=[failure])
    brief.tree.files = {"shop.py": text, "stock.py": other}
    (first, *_) = TemplateProposer().propose(Run(bench.events.append), lambda: brief)
    assert first.edits == (Edit(bench.target(text), text, ("from collections import deque",)),)


def test_a_change_of_an_inner_function_is_not_tried_again_as_one_of_the_outer(bench) -> None:
    names = ("outer", "outer.<locals>.step")
    changed = [bench.changed(COUNTER, c) for c in bench.candidates(COUNTER, *names)]
    assert len(changed) == len(set(changed))
    inner = {bench.changed(COUNTER, c) for c in bench.candidates(COUNTER, names[1])}
    assert inner <= set(changed)


def test_what_an_outer_function_makes_and_nobody_fills_is_filled_inside(bench) -> None:
    text = (
        "def walk(start):\n    seen = set()\n\n    def visit(node):\n        if node in seen:\n"
        "            return 0\n        return 1 + sum(visit(n) for n in node.nodes)\n\n"
        "    return visit(start)\n"
    )
    fixed = text.replace("        return 1", "        seen.add(node)\n        return 1")
    place = bench.position(text, fixed, 300, "walk.<locals>.visit")
    assert place is not None
    assert place < 120


def test_a_value_that_an_example_of_the_docstring_shows_is_tried(bench) -> None:
    text = 'def f(n):\n    """Minutes.\n\n    >>> f(2)\n    7340\n    """\n    return n * 70\n'
    assert bench.position(text, text.replace("n * 70", "n * 7340"), 60) is not None
    assert bench.position(text.replace("7340", "many"), text.replace("70\n", "7340\n"), 60) is None


UNBOUND = """def visit(node):
    if node.lineno is None:
        lineno = 0
    else:
        lineno = lineno.lineno
    return lineno
"""


@pytest.mark.parametrize(
    ("kind", "comes_first"), [("UnboundLocalError", True), ("AssertionError", False)]
)
def test_what_evades_a_name_without_a_value_comes_after_what_replaces_it(
    bench, kind: str, comes_first: bool
) -> None:
    said = "cannot access local variable 'lineno' where it is not associated with a value"
    failures = [Failure("test_shop.py::test_it", kind, said)]
    order = {bench.changed(UNBOUND, one): n
             for n, one in enumerate(bench.candidates(UNBOUND, failures=failures))}  # fmt: skip
    right = order[UNBOUND.replace("lineno.lineno", "node.lineno")]
    evasions = ("is not None", "is None and False")
    evaded = order[UNBOUND.replace("is None", evasions[0])]
    assert (right < evaded) is comes_first
