"""Items of linters and type checkers among the tests of a report, or a linter after them."""

from __future__ import annotations

from benchmarks.street.own._files import ci, project
from benchmarks.street.situation import Commit, Situation

_TESTS = """\
import pytest

from {name}.text import wrap


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("", []), ("a", ["a"]), ("ab", ["ab"]), ("abc", ["ab", "c"]), ("abcd", ["ab", "cd"])],
)
def test_wrap(text, wanted):
    assert wrap(text, 2) == wanted
"""
_WRAP = """\
def wrap(text, width):
    return [text[n : n + width] for n in range(0, len(text), width)]
"""

SITUATIONS = (
    Situation(
        name="own/ribbons-ruff-finds-an-import",
        kind="lint",
        action="explain",
        says=("ruff", "f401", "lint", "unused"),
        arguments=("--ruff",),
        commits=(
            Commit(
                "Wrap texts",
                {
                    **project(
                        "ribbons", tests=("pytest-ruff",), workflow=ci(arguments="--ruff"),
                        python=">=3.9", flat=True,
                    ),
                    "ribbons/text.py": _WRAP,
                    "tests/core/test_text.py": _TESTS.format(name="ribbons"),
                },
            ),
            Commit("Prepare for patterns", {"ribbons/text.py": f"import os\nimport re\n\n\n{_WRAP}"}),
        ),
    ),
    Situation(
        name="own/ribbons-ruff-wants-a-layout",
        kind="lint",
        action="explain",
        says=("ruff", "format", "lint"),
        arguments=("--ruff", "--ruff-format"),
        commits=(
            Commit(
                "Wrap texts",
                {
                    **project(
                        "bands", tests=("pytest-ruff",), python=">=3.9",
                        workflow=ci(arguments="--ruff --ruff-format"),
                    ),
                    "src/bands/text.py": _WRAP,
                    "tests/core/test_text.py": _TESTS.format(name="bands"),
                },
            ),
            Commit(
                "Allow a mark at line ends",
                {
                    "src/bands/text.py": "def wrap( text,width, mark = '' ):\n"
                    "    return [ text[n:n+width]+mark  for n in range(0,len(text),width) ]\n"
                },
            ),
        ),
    ),
    Situation(
        name="own/sails-types-of-an-argument",
        kind="lint",
        action="explain",
        says=("mypy", "type"),
        arguments=("--mypy",),
        commits=(
            Commit(
                "Wrap texts, with types",
                {
                    **project(
                        "sails", tests=("pytest-mypy",), flat=True, workflow=ci(arguments="--mypy"),
                        python=">=3.9",
                    ),
                    "sails/text.py": """\
def wrap(text: str, width: int) -> list[str]:
    return [text[n : n + width] for n in range(0, len(text), width)]
""",
                    "tests/core/test_text.py": _TESTS.format(name="sails"),
                },
            ),
            Commit(
                "Count the lines of a text",
                {
                    "sails/lines.py": """\
from sails.text import wrap


def lines(text: str, width: int) -> str:
    return len(wrap(text, width))
"""
                },
            ),
        ),
    ),
    Situation(
        name="own/flags-linter-after-green-tests",
        kind="lint",
        action="silent",
        commits=(
            Commit(
                "Wrap texts",
                {
                    **project(
                        "flags", workflow=ci(after="python -m pip install ruff\nruff check ."), flat=True
                    ),
                    "flags/text.py": _WRAP,
                    "tests/core/test_text.py": _TESTS.format(name="flags"),
                },
            ),
            Commit("Prepare for patterns", {"flags/text.py": f"import re\n\n\n{_WRAP}"}),
        ),
    ),
)  # fmt: skip
