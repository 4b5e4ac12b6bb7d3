"""Frames out of the tracebacks that pytest really prints, in every style."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heal_bot.core.model import Frame, Origin
from heal_bot.junit.failure_message import find_explanation, kind_of, message_of
from heal_bot.junit.path_mapping import Layout
from heal_bot.junit.traceback import parse_frames, split_segments

if TYPE_CHECKING:
    from tests.junit.conftest import Project

SOURCES = {
    "src/pkg/__init__.py": "",
    "src/pkg/core.py": """
import functools, json

def traced(function):
    @functools.wraps(function)
    def inner(*args):
        return function(*args)
    return inner

@traced
def parse(text):
    return json.loads(text)

def price(item):
    return item["price"]

class Cart:
    def total(self, items):
        try:
            return sum(price(i) for i in items)
        except KeyError as error:
            raise ValueError("no price") from error

def many():
    raise ExceptionGroup("all", [_made(), OSError("no trace")])

def _made():
    try:
        price({})
    except KeyError as error:
        return error
""",
    "tests/test_t.py": """
from hypothesis import given, settings, strategies as st
from pkg.core import Cart, many, parse, price
import pytest

def test_direct():
    price({})

def test_chained():
    Cart().total([{}])

def test_library():
    parse("{")

def test_group():
    many()

@settings(database=None, max_examples=5)
@given(st.integers())
def test_given(n):
    price({})

@pytest.fixture
def broken():
    return price({})

def test_fixture(broken):
    pass
""",
}
STYLES = ("auto", "long", "short", "native")
PRICE = ("src/pkg/core.py", 15)
INNERMOST = {
    "test_direct": PRICE,
    "test_chained": PRICE,
    "test_library": ("src/pkg/core.py", 12),
    "test_group": PRICE,
    "test_given": PRICE,
    "test_fixture": PRICE,
}


@pytest.fixture(scope="module")
def traced(new_project: Callable[[str], Project]) -> Project:
    made = new_project("traces")
    made.write(**SOURCES, **{"pytest.ini": "[pytest]\npythonpath = src\n"})
    for style in STYLES:
        made.pytest(f"--tb={style}", report=f"{style}.xml")
    return made


@pytest.mark.long
@pytest.mark.parametrize("style", STYLES)
def test_the_last_project_frame_is_where_the_root_cause_was_raised(
    traced: Project, style: str
) -> None:
    found = {}
    for case in traced.read(f"{style}.xml").cases:
        ours = [
            f for f in parse_frames(case.text, Layout(traced.paths())) if f.origin is Origin.PROJECT
        ]
        found[case.name] = (ours[-1].path, ours[-1].line)
    assert found == INNERMOST


@pytest.mark.long
@pytest.mark.parametrize("style", STYLES)
def test_frames_begin_at_the_test_and_leave_out_the_runner(traced: Project, style: str) -> None:
    (case,) = [c for c in traced.read(f"{style}.xml").cases if c.name == "test_direct"]
    found = parse_frames(case.text, Layout(traced.paths()))
    assert [(f.path, f.line, f.origin) for f in found] == [
        ("tests/test_t.py", 7, Origin.TEST),
        ("src/pkg/core.py", 15, Origin.PROJECT),
    ]
    if style in {"short", "native"}:
        assert [f.function for f in found] == ["test_direct", "price"]


PATHS = ("src/pkg/core.py", "core.py", "a/x.py", "b/x.py", "tests/test_a.py", "decoder.py")


@pytest.mark.parametrize(
    ("printed", "expected"),
    [
        ("src/pkg/core.py", ("src/pkg/core.py", Origin.PROJECT)),
        ("./src/pkg/core.py", ("src/pkg/core.py", Origin.PROJECT)),
        ("pkg/core.py", ("src/pkg/core.py", Origin.PROJECT)),
        ("../src/pkg/core.py", ("src/pkg/core.py", Origin.PROJECT)),
        ("/home/runner/work/r/r/src/pkg/core.py", ("src/pkg/core.py", Origin.PROJECT)),
        ("D:\\a\\r\\r\\src\\pkg\\core.py", ("src/pkg/core.py", Origin.PROJECT)),
        ("/x/lib/python3.11/site-packages/pkg/core.py", ("src/pkg/core.py", Origin.PROJECT)),
        (".tox/py/lib/python3.9/site-packages/six.py", ("six.py", Origin.LIBRARY)),
        ("x.py", ("x.py", Origin.LIBRARY)),
        ("/r/tests/test_a.py", ("tests/test_a.py", Origin.TEST)),
        ("/usr/lib/python3.11/json/decoder.py", None),
        ("/x/lib/python3.11/site-packages/other/core.py", ("other/core.py", Origin.LIBRARY)),
    ],
)
def test_printed_paths_map_to_the_checkout(
    printed: str, expected: tuple[str, Origin] | None
) -> None:
    assert Layout(PATHS).locate([printed]) == [expected or (printed, Origin.LIBRARY)]


def test_the_folder_that_explains_most_frames_decides() -> None:
    printed = ["/w/src/pkg/core.py", "/w/tests/test_a.py", "/w/core.py"]
    assert [path for path, _ in Layout(PATHS).locate(printed)] == [
        "src/pkg/core.py",
        "tests/test_a.py",
        "core.py",
    ]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("src/a.py:3: ValueError", [("src/a.py", 3, "")]),
        ("src/a.py:3: in total", [("src/a.py", 3, "total")]),
        ("   C:\\w\\a b.py:3: in <module>", [("C:\\w\\a b.py", 3, "<module>")]),
        ('  |     File "/w/a.py", line 4, in f', [("/w/a.py", 4, "f")]),
        ('E     File "/w/a.py", line 1', [("/w/a.py", 1, "")]),
        ('E     File "/w/a.py", line 1, in child', []),
        (">   raise x.py:3: in f", []),
        ("readme.txt:4: DocTestFailure", [("readme.txt", 4, "")]),
        ("readme.txt:4: note", []),
        ("    ~~~~^^^^^^", []),
        ("a.py:99999999: in f", []),
    ],
)
def test_one_line_gives_its_frame(line: str, expected: list[tuple[str, int, str]]) -> None:
    found = [(r.path, r.line, r.function) for segment in split_segments(line) for r in segment]
    assert found == expected


@pytest.mark.parametrize(
    ("declared", "message", "text", "kind"),
    [
        ("builtins.KeyError", "", "", "KeyError"),
        ("", "ValueError: no", "", "ValueError"),
        ("", "pkg.errors.Broken: no", "", "Broken"),
        ("", "assert 1 == 2", "", "AssertionError"),
        ("", "Failed: DID NOT RAISE", "", "Failed"),
        ("", 'failed on setup with "OSError: x"', "", "OSError"),
        ("", "test failure", 'File "a.py", line 3, in f\nTypeError: no', "TypeError"),
        ("x._StringException", "", "Traceback\nKeyError: 'a'\n", "KeyError"),
        ("", "collection failure", "E     File x\nE   SyntaxError: bad", "SyntaxError"),
        ("", "plain words", "", ""),
    ],
)
def test_the_exception_type_is_found(declared: str, message: str, text: str, kind: str) -> None:
    assert kind_of(declared, message, text) == kind


def test_the_message_is_what_pytest_explains_of_the_root_cause() -> None:
    text = ">   f()\nE   KeyError: 'a'\n\na.py:3: KeyError\n\nE   ValueError: b\n"
    assert find_explanation(text) == "KeyError: 'a'"
    assert message_of("test failure", text) == "KeyError: 'a'"
    assert message_of("ValueError: longer text", text) == "ValueError: longer text"
    assert len(message_of("x" * 9000, "")) <= 2000


LINES = [
    " " * 65_000,
    " " * 1_990 + "x",
    ":1" * 990,
    ":1:" * 650,
    'File "' * 300,
    'File "x", line 1, in ' + "f" * 1900,
    "a.py:1: in " + "x" * 1900,
    "-" * 1_999,
    "E " + "File " * 390,
    "where " + "<function " * 190,
]


@pytest.mark.parametrize("line", LINES, ids=[line[:12] for line in LINES])
def test_no_line_takes_more_than_linear_time(line: str) -> None:
    text = (line + "\n") * (600_000 // len(line))
    begun = time.perf_counter()
    parse_frames(text, Layout(PATHS))
    kind_of("", "", text)
    find_explanation(text)
    assert time.perf_counter() - begun < 1.0


PIECES = st.sampled_from(
    ['File "a.py", line 3, in f', "a.py:3: in f", "E   x", "> y", "| ", "+-+---- 1 ----", "\n",
     "The above exception was the direct cause of the following exception:", ":1: ", "where "]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=30), max_size=60))
@settings(max_examples=150, deadline=None)
def test_any_text_gives_frames_without_an_error(pieces: list[str]) -> None:
    text = "".join(pieces)
    for frame in parse_frames(text, Layout(PATHS)):
        assert isinstance(frame, Frame)
        assert frame.line >= 0
    message_of(text, text)
    kind_of("", text, text)
