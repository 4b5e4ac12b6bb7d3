"""Reprints made small."""

from __future__ import annotations

import ast
import inspect
import textwrap

import pytest

from heal_bot.source import capability_scan, edit, functions, imports, minimal_diff, paths

OLD = """\
    @deco  # twice
    def f(self, a, b="x"):
        # first
        if a < b:  # why
            return 'one' + \\
                "two"

        # loop
        for x in (1,
                  2):
            g(x)
        else:
            pass  # nothing
        try:
            h()
        except (A, B) as e:  # both
            raise
        finally:
            done()
        # tail
"""


def _reprinted(source: str) -> str:
    return textwrap.indent(ast.unparse(ast.parse(textwrap.dedent(source))), "    ") + "\n"


def test_a_reprint_that_changes_nothing_gives_the_original() -> None:
    assert minimal_diff.minimise(OLD, _reprinted(OLD)) == OLD


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("a < b:", "a <= b:"),
        ("g(x)", "g(x, 1)"),
        ("(A, B) as e", "A as e"),
        ("done()", "done(1)"),
        ('"two"', '"three"'),
    ],
)
def test_a_reprinted_change_touches_one_statement(old: str, new: str) -> None:
    changed = OLD.replace(old, new)
    result = minimal_diff.minimise(OLD, _reprinted(changed))
    if old == '"two"':
        assert "return 'one' + 'three'" in result
        assert result.count("#") == OLD.count("#")
    else:
        assert result == changed


def test_the_blank_line_behind_a_new_statement_stays() -> None:
    old = "def f(a):\n    return a\n"
    new = "def f(a):\n    if not a:\n        return 1\n\n    return a\n"
    assert minimal_diff.minimise(old, new) == new


def test_an_added_statement_leaves_the_comments_around_it() -> None:
    added = "        if not a:\n            return None\n"
    changed = OLD.replace("        # loop\n", f"{added}        # loop\n")
    result = minimal_diff.minimise(OLD, _reprinted(changed))
    assert result.count("#") == OLD.count("#")
    assert added in result


LINES = """\
def f(a):
    # first
    one(a)
    two(a)  # behind
    three(a)
    # last
"""


@pytest.mark.parametrize(
    "body",
    [
        "one(a) | # first | two(a)  # behind | three(a) | # last",
        "# last | # first | one(a) | two(a)  # behind | three(a)",
        "one(a) | two(a)  # behind | three(a) | # first | # last",
        "# first | zero(a) | one(a) | two(a)  # behind | # last",
        "zero(a)  # behind | # first | one(a) | two(a + 1) | # last",
        "# behind | # first | one(a) | two(a + 1) | three(a) | # last",
    ],
    ids=["down", "up", "to the end", "with new code", "to new code", "above another"],
)
def test_a_comment_that_moved_stands_once_and_where_it_was_put(body: str) -> None:
    new = "".join(f"{line}\n" for line in ["def f(a):", *(f"    {x}" for x in body.split(" | "))])
    assert minimal_diff.minimise(LINES, new) == new


def test_of_comments_that_are_alike_one_may_move() -> None:
    old = "def f(a):\n    # step\n    one(a)\n    # step\n    two(a)\n    three(a)\n"
    new = "def f(a):\n    # step\n    one(a)\n    two(a)\n    # step\n    three(a)\n"
    assert minimal_diff.minimise(old, new) == new
    bare = "def f(a):\n    one(a)\n    two(a)\n    three(b)\n"
    assert minimal_diff.minimise(old, bare) == old.replace("three(a)", "three(b)")


def test_other_indentation_inside_does_not_break_the_result() -> None:
    old = "def f(x):\n  # two spaces\n  if x:\n    return 1\n  return 2\n"
    new = "def f(x):\n    if x:\n        return 1\n    return 3\n"
    result = minimal_diff.minimise(old, new)
    assert ast.dump(ast.parse(result)) == ast.dump(ast.parse(new))


def test_unparsable_text_comes_back_as_it_is() -> None:
    assert minimal_diff.minimise("def f(:\n", "def f(): pass\n") == "def f(): pass\n"


@pytest.mark.parametrize(
    "module", [edit, functions, imports, minimal_diff, paths, capability_scan], ids=repr
)
def test_reprints_of_our_own_functions_come_back_to_the_original(module) -> None:
    text = inspect.getsource(module)
    for target in functions.index_targets("m.py", text):
        if target.kind == "function":
            indent = functions.find_indentation(target.source)
            tree = ast.parse(textwrap.dedent(target.source))
            again = textwrap.indent(ast.unparse(tree), indent) + "\n"
            if '"""' not in target.source.partition("\n")[2].replace('"""', "", 2):
                assert minimal_diff.minimise(target.source, again) == target.source, target.qualname
