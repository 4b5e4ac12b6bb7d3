"""Ranking on small projects whose tests really run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from heal_bot.core.events import Noted
from heal_bot.core.model import (
    ChangedFile,
    Failure,
    Frame,
    History,
    Origin,
    Regression,
    Reproduced,
)
from heal_bot.fault_localization import ranking

SHOP = """\
TAX = {"food": 0.07, "book": 0.19}

def net(price, kind, rate=1):
    return price / (1 + TAX[kind]) * rate

def total(prices):
    result = 0
    for price in prices[1:]:
        result += price
    return result

def label(name):
    return name.title()
"""
TESTS = """\
import shop

def test_total_of_two():
    assert shop.total([1, 2]) == 3, "assert 2 == 3\\n +  where 2 = <function total at 0x7f>([1, 2])"

def test_total_of_none():
    assert shop.total([]) == 0

def test_label():
    assert shop.label("tea") == "Tea"

def test_net():
    assert round(shop.net(107, "food")) == 100
"""


def _first(clusters):
    return [s.target.qualname for s in clusters[0].suspects]


def test_a_function_on_no_traceback_is_found_by_its_executions(ran):
    got = ran({"shop.py": SHOP, "tests/test_shop.py": TESTS})
    clusters = ranking.locate(got.run, got.baseline, got.tree)
    assert len(clusters) == 1
    suspect = clusters[0].suspects[0]
    assert suspect.target.qualname == "total"
    assert "executed by 1 of 1 failing and 1 of 3 passing tests" in suspect.evidence
    assert "its result is on the left side of the failed comparison" in suspect.evidence


def test_executions_of_a_suite_that_was_cut_are_told_as_such(ran):
    got = ran({"shop.py": SHOP, "tests/test_shop.py": TESTS})
    for changed in (
        replace(got.baseline, suite=replace(got.baseline.suite, ended="timeout")),
        replace(got.baseline, selected=got.baseline.suite.collected),
    ):
        suspect = ranking.locate(got.run, changed, got.tree)[0].suspects[0]
        said = "executed by 1 of 1 failing and 1 of 3 passing tests that ran, of a suite cut short"
        assert said in suspect.evidence


def test_suspicion_by_line_covers_executed_lines_only_and_peaks_in_the_loop_body(ran):
    got = ran({"shop.py": SHOP, "tests/test_shop.py": TESTS})
    lines = ranking.locate(got.run, got.baseline, got.tree)[0].suspects[0].lines
    assert set(lines) == {7, 8, 9, 10}
    assert max(lines, key=lines.get) == 9


def test_the_function_that_raises_comes_first_and_says_so(ran):
    source = "def inner(x):\n    return 1 / x\n\ndef outer(x):\n    return inner(x - x)\n"
    tests = "import m\ndef test_a():\n    m.outer(3)\n"
    got = ran({"m.py": source, "tests/test_m.py": tests})
    suspects = ranking.locate(got.run, got.baseline, got.tree)[0].suspects
    assert suspects[0].target.qualname == "inner"
    assert "raised here in 1 of 1 failing tests" in suspects[0].evidence
    assert "on the traceback" in suspects[1].evidence


def test_tables_and_defaults_follow_the_function_that_uses_them(ran):
    source = SHOP.replace("0.07", "0.09").replace("[1:]", "")
    got = ran({"shop.py": source, "tests/test_shop.py": TESTS})
    assert _first(ranking.locate(got.run, got.baseline, got.tree)) == ["net", "TAX", "net.rate"]


def test_an_imported_table_of_another_module_is_a_suspect(ran):
    files = {
        "atable.py": "RATES = {'a': 2}\n",
        "calc.py": "from atable import RATES\n\ndef rate(x):\n    return RATES[x]\n",
        "tests/test_calc.py": "import calc\ndef test_rate():\n    assert calc.rate('a') == 3\n",
    }
    got = ran(files)
    suspects = ranking.locate(got.run, got.baseline, got.tree)[0].suspects
    assert [(s.target.path, s.target.qualname) for s in suspects] == [
        ("calc.py", "rate"),
        ("atable.py", "RATES"),
    ]


def test_a_function_that_ran_at_import_is_reached_through_what_it_made(ran):
    files = {
        "links.py": (
            "import re\n"
            "def build(schemes):\n    return re.compile(f'({schemes}):[a-z]+')\n"
            "WEB = build('http')\nLINK = WEB\n"
            "def other():\n    return 1\n"
            "def find(text, pattern=LINK):\n    return pattern.search(text)\n"
        ),
        "tests/test_links.py": "import links\ndef test_find():\n    assert links.find('ftp:x')\n",
    }
    got = ran(files)
    names = _first(ranking.locate(got.run, got.baseline, got.tree))
    assert names == ["find", "LINK", "find.pattern", "WEB", "build"]


def test_a_call_that_never_began_leads_to_what_would_have_run(ran):
    files = {
        "boxes.py": (
            "class Base:\n    def __init__(self, size):\n        self.size = size\n"
            "class Box(Base):\n    def open(self):\n        return self.size\n"
        ),
        "tests/test_boxes.py": (
            "import boxes\ndef make():\n    return boxes.Box(1, lid=True)\n"
            "def test_make():\n    assert make()\n"
        ),
    }
    got = ran(files)
    (cluster,) = ranking.locate(got.run, got.baseline, got.tree)
    assert [s.target.qualname for s in cluster.suspects][:2] == ["make", "Base.__init__"]
    assert not cluster.stale


def test_constants_bound_together_are_followed_and_a_deep_expression_is_not(ran):
    deep = " + ".join(["a"] * 1_500)
    files = {
        "calc.py": (
            f"LOW, HIGH = 1, 2\nA = B = 3\ndef far(a):\n    return {deep}\n"
            "def near(a):\n    return HIGH + B + a\n"
        ),
        "tests/test_calc.py": (
            "import calc\ndef test_near():\n    assert calc.near(calc.far(0)) == 6\n"
        ),
    }
    got = ran(files)
    names = _first(ranking.locate(got.run, got.baseline, got.tree))
    assert {"near", "far", "LOW", "A"} == set(names)


def test_what_a_commit_is_shown_to_have_broken_is_more_than_a_guess(ran):
    source = "def prices():\n    return [1]\n"
    code = "def test_sums():\n    prices = [1]\n    assert sum(prices) == 2\n"
    got = ran({"shop.py": source, "tests/test_shop.py": code})
    change = ChangedFile("shop.py", b"def prices():\n    return [2]\n", source.encode())
    broke = Regression("a" * 40, "b" * 40, "", ("tests/test_shop.py::test_sums",), True, (change,))
    (cluster,) = ranking.locate(got.run, got.baseline, got.tree, history=History((broke,)))
    assert not cluster.stale


def test_tests_that_failed_before_the_commit_have_a_cause_of_their_own(ran):
    source = "def price(n, kind):\n    n = n * 2\n    return n if kind else n / 0\n"
    code = (
        "import shop\ndef test_old_one():\n    assert shop.price(1, 0) == 2\n"
        "def test_old_two():\n    assert shop.price(2, 0) == 4\n"
        "def test_new():\n    assert shop.price(1, 1) == 1\n"
    )
    got = ran({"shop.py": source, "tests/test_shop.py": code})
    old = frozenset(f"tests/test_shop.py::test_old_{n}" for n in ("one", "two"))
    new = "tests/test_shop.py::test_new"
    change = ChangedFile("shop.py", source.replace("n * 2", "n").encode(), source.encode())
    broke = Regression("a" * 40, "b" * 40, "", (new,), True, (change,))
    found = ranking.locate(got.run, got.baseline, got.tree, history=History((broke,), older=old))
    assert [{f.test for f in one.failures} for one in found] == [{new}, old]


def test_a_value_that_a_commit_brought_is_accused_though_no_name_leads_to_it(ran):
    head = "class Base:\n    def tax(self, n):\n        return n * RATE\n\n"
    was = head.replace("RATE", "2") + "class Shop(Base):\n    size = 1\n"
    more = "class Shop(Base):\n    # In percent.\n    rate = 3\n\n    size = 1\n"
    now = head.replace("RATE", "getattr(self, 'rate')") + more
    code = "import shop\ndef test_tax():\n    assert shop.Shop().tax(1) == 2\n"
    got = ran({"shop.py": now, "tests/test_shop.py": code})
    change = ChangedFile("shop.py", was.encode(), now.encode())
    broke = Regression("a" * 40, "b" * 40, "", ("tests/test_shop.py::test_tax",), True, (change,))
    (cluster,) = ranking.locate(got.run, got.baseline, got.tree, history=History((broke,)))
    assert [s.target.qualname for s in cluster.suspects[:2]] == ["Base.tax", "Shop.rate"]
    assert cluster.suspects[1].evidence[0].startswith("changed by bbbbbbb, the commit")


def test_words_alone_do_not_keep_a_test_from_being_out_of_date(ran):
    source = "def total(prices):\n    return sum(prices)\ndef label(name):\n    return name\n"
    code = "def test_sums():\n    prices = [1]\n    assert sum(prices) == 2\n"
    got = ran({"shop.py": source, "tests/test_shop.py": code})
    (cluster,) = ranking.locate(got.run, got.baseline, got.tree)
    assert cluster.stale


def test_an_assignment_that_raises_while_a_test_imports_it_comes_before_the_importer(ran):
    importer = "def first():\n    exec(compile(open, 'm.py', 'exec'))\n"
    files = {
        "tables.py": "NAMES = {'a': 1}\n",
        "m.py": importer,
        "tests/test_m.py": "import m\ndef test_first():\n    m.first()\n",
    }
    got = ran(files)
    failure = got.baseline.confirmed[0]
    frames = (*failure.frames, Frame("tables.py", 1, "<module>", Origin.PROJECT))
    suspects = ranking.locate(got.run, _with(got.baseline, frames=frames), got.tree)[0].suspects
    assert [s.target.qualname for s in suspects] == ["NAMES", "first"]
    assert suspects[0].evidence == ("raised here in 1 of 1 failing tests",)


def test_what_raises_while_a_test_file_is_imported_is_found_in_the_text_of_the_error(ran):
    files = {"a.py": "LOW = {'low': 1}\nMID = LOW.get('mid')\n", "tests/test_a.py": "assert 1\n"}
    text = "tests/test_a.py:1: in <module>\n    import a\na.py:2: in <module>\nE   KeyError: 'mid'"
    got = ran(files)
    failure = Reproduced(Failure("tests/test_a.py", "KeyError", text), "confirmed")
    baseline = replace(got.baseline, reproduced=(failure,))
    suspects = ranking.locate(got.run, baseline, got.tree)[0].suspects
    assert [(s.target.qualname, s.evidence) for s in suspects] == [
        ("MID", ("raised here in 1 of 1 failing tests",))
    ]


FIXTURES = """\
import pytest, store

@pytest.fixture
def filled():
    store.Store()
    raise KeyError("b")

def checked(value):
    assert value == 3
"""


@pytest.mark.parametrize(
    ("line", "function", "first"),
    [(6, "filled", ["filled", "Store.__init__"]), (9, "checked", ["Store.__init__"])],
)
def test_a_fixture_that_raises_is_a_suspect_and_what_only_checks_is_none(
    ran, line, function, first
):
    files = {
        "store.py": "class Store:\n    def __init__(self):\n        self.items = {}\n",
        "tests/conftest.py": FIXTURES.replace("import pytest, store", "import store").replace(
            "@pytest.fixture", "@(lambda f: f)"
        ),
        "tests/test_s.py": "import store\ndef test_a():\n    store.Store()\n    assert 0\n",
    }
    got = ran(files)
    got.tree.files["tests/conftest.py"] = FIXTURES
    frames = (Frame("tests/conftest.py", line, function, Origin.TEST),)
    suspects = ranking.locate(got.run, _with(got.baseline, frames=frames), got.tree)[0].suspects
    assert [s.target.qualname for s in suspects] == first
    if first[0] == "filled":
        assert suspects[0].evidence == (
            "raised in this fixture in 1 of 1 failing tests",
            "test support: no patch changes it",
        )


@pytest.mark.parametrize("heading", ["Falsifying example", "Failing test case"])
def test_the_smallest_failing_example_of_hypothesis_is_evidence(ran, heading):
    got = ran({"shop.py": SHOP, "tests/test_shop.py": TESTS})
    message = f"assert 2 == 3\n{heading}: test_total(\n    prices=[1],\n    n=0,  # or any\n)\nx"
    suspects = ranking.locate(got.run, _with(got.baseline, message=message), got.tree)[0].suspects
    assert suspects[0].evidence[-1] == "the smallest failing example is prices=[1], n=0"


def _with(baseline, **changes):
    """The baseline with its only failure changed."""
    (one,) = baseline.reproduced
    return replace(baseline, reproduced=(replace(one, failure=replace(one.failure, **changes)),))


@pytest.mark.parametrize(
    ("code", "first"),
    [
        ("import shop\ndef test_a(): assert shop.LIMIT == 4\n", ["LIMIT"]),
        ("from shop import LIMIT as most\ndef test_a(): assert most == 4\n", ["LIMIT"]),
        ("import shop\ndef test_a(): assert shop.Box.size == 4\n", ["Box.size"]),
        ("import shop\ndef test_a(): assert 3 == 4\n", []),
    ],
)
def test_a_constant_that_only_a_test_reads_is_a_suspect(ran, code, first):
    source = "LIMIT = 3\nOTHER = 5\nclass Box:\n    size = 3\n"
    got = ran({"shop.py": source, "tests/test_shop.py": code})
    (cluster,) = ranking.locate(got.run, got.baseline, got.tree)
    assert [s.target.qualname for s in cluster.suspects] == first
    assert cluster.stale == (not first)


def test_a_test_is_not_called_out_of_date_where_something_went_unobserved(ran):
    got = ran({"shop.py": "LIMIT = 3\n", "tests/test_shop.py": "def test_a(): assert 3 == 4\n"})
    suite = got.baseline.suite
    gaps = replace(suite.spectrum, gaps=("child processes (1 test, first tests/test_shop.py)",))
    baseline = replace(got.baseline, suite=replace(suite, spectrum=gaps))
    assert ranking.locate(got.run, got.baseline, got.tree)[0].stale
    assert not ranking.locate(got.run, baseline, got.tree)[0].stale


def test_a_function_is_followed_to_the_constant_of_a_module_it_imports(ran):
    files = {
        "aconf.py": "RATE = 2\nOTHER = 3\n",
        "calc.py": "import aconf\n\ndef rate(x):\n    return aconf.RATE * x\n",
        "tests/test_calc.py": "import calc\ndef test_rate():\n    assert calc.rate(1) == 3\n",
    }
    got = ran(files)
    suspects = ranking.locate(got.run, got.baseline, got.tree)[0].suspects
    assert [s.target.qualname for s in suspects] == ["rate", "RATE"]


def test_without_a_spectrum_traceback_and_names_decide_and_the_gap_is_told(ran):
    got = ran({"shop.py": SHOP, "tests/test_shop.py": TESTS}, spectrum=False)
    clusters = ranking.locate(got.run, got.baseline, got.tree)
    assert _first(clusters)[0] == "total"
    assert any(isinstance(e, Noted) and "no execution" in e.message for e in got.events)


def test_a_hint_comes_first_and_an_unknown_one_is_told(ran):
    got = ran({"shop.py": SHOP, "tests/test_shop.py": TESTS})
    hints = ("shop.py::label", "shop.py::nothing", "tests/test_shop.py::test_net")
    suspects = ranking.locate(got.run, got.baseline, got.tree, hints)[0].suspects
    assert [s.target.qualname for s in suspects[:2]] == ["label", "total"]
    assert suspects[0].evidence[0] == "named by the person who asked"
    assert sum("is not used" in e.message for e in got.events) == 2


def test_test_code_is_no_suspect_unless_nothing_else_remains(ran):
    files = {
        "shop.py": SHOP,
        "tests/test_x.py": "def helper():\n    return 2\ndef test_x():\n    assert helper() == 3\n",
    }
    got = ran(files)
    suspects = ranking.locate(got.run, got.baseline, got.tree)[0].suspects
    assert [s.target.qualname for s in suspects] == ["helper"]
    assert any("test support" in text for text in suspects[0].evidence)


def test_two_independent_bugs_are_two_clusters_and_a_test_of_both_is_in_both(ran):
    source = "def one(x):\n    return x + 2\n\ndef two(x):\n    return x - 2\n"
    tests = "import m\n" + "".join(
        f"def test_{name}_{n}():\n    assert m.{name}({n}) == {want}\n"
        for name, change in (("one", 1), ("two", -1))
        for n, want in ((n, n + change) for n in range(4))
    )
    tests += "def test_both():\n    assert m.one(1) + m.two(1) == 9\n"
    got = ran({"m.py": source, "tests/test_m.py": tests})
    clusters = ranking.locate(got.run, got.baseline, got.tree)
    assert sorted(c.suspects[0].target.qualname for c in clusters) == ["one", "two"]
    assert all(len(c.failures) == 5 for c in clusters)


def test_hundreds_of_failures_of_one_cause_are_one_cluster(ran):
    source = "def base(x):\n    return x + 2\n" + "".join(
        f"\ndef f{n}(x):\n    return base(x) * {n}\n" for n in range(100)
    )
    tests = "import m\n" + "".join(
        f"def test_{n}_{k}():\n    assert m.f{n}({k}) == {(k + 1) * n + 9}\n"
        for n in range(100)
        for k in range(5)
    )
    got = ran({"m.py": source, "tests/test_m.py": tests})
    clusters = ranking.locate(got.run, got.baseline, got.tree)
    assert len(got.baseline.passed) == 5, "test_9_* pass by accident"
    assert [len(c.failures) for c in clusters] == [495]
    assert clusters[0].suspects[0].target.qualname == "base"


def test_changed_lines_are_evidence_without_weight(ran):
    files = {"shop.py": SHOP, "tests/test_shop.py": TESTS}
    plain, changed = ran(files), ran(files, changed={"shop.py": frozenset({8})})
    before = ranking.locate(plain.run, plain.baseline, plain.tree)[0].suspects[0]
    after = ranking.locate(changed.run, changed.baseline, changed.tree)[0].suspects[0]
    assert after.score == before.score
    assert after.evidence[-1] == "changed by the commits under test"


def test_a_file_that_cannot_be_indexed_is_a_told_gap_not_a_crash(ran):
    got = ran({"shop.py": SHOP, "tests/test_shop.py": TESTS})
    got.tree.files["shop.py"] = "def broken(:\n"
    ranking.locate(got.run, got.baseline, got.tree)
    assert any("not indexed: shop.py" in e.message for e in got.events)
