"""CODEOWNERS as GitHub documents it: the last rule that matches decides."""

from __future__ import annotations

import pytest

from heal_bot.publish.codeowners import find_owners, list_changed

RULES = """
# everything
*            @global @octo/all   # by default
*.js         @js
/build/logs/ @ops
docs/*       docs@example.com @writer
apps/        @apps
/scripts/**/x.py @deep
src/no.py
"""


@pytest.mark.parametrize(
    ("path", "owners"),
    [
        ("README.md", ("global", "octo/all")),
        ("web/app.js", ("js",)),
        ("build/logs/a/b.py", ("ops",)),
        ("other/build/logs/a.py", ("global", "octo/all")),
        ("docs/a.md", ("writer",)),
        ("docs/sub/a.md", ("global", "octo/all")),
        ("x/apps/y/z.py", ("apps",)),
        ("scripts/a/b/x.py", ("deep",)),
        ("src/no.py", ()),
    ],
)
def test_the_last_matching_rule_decides(path: str, owners: tuple[str, ...]) -> None:
    assert find_owners(RULES, path) == owners


@pytest.mark.parametrize("line", ["*" * 5_000 + " @a", "a" * 5_000 + " @a", "[ @a", "\\ @a", " "])
def test_odd_rules_own_nothing(line: str) -> None:
    assert find_owners(line, "a" * 900 + "/b.py") == ()


@pytest.mark.parametrize(
    ("after", "lines"),
    [
        ("a\nB\nc\nd\n", {2}),
        ("a\nc\nd\n", {2}),
        ("a\nb\nnew\nc\nd\n", {2, 3}),
        ("new\na\nb\nc\nd\n", {1}),
        ("a\nb\nc\nd\nnew\n", {4}),
        ("a\nb\nc\nd\n", set()),
    ],
)
def test_the_old_lines_of_a_change_are_those_it_replaces_or_stands_between(
    after: str, lines: set[int]
) -> None:
    assert list_changed("a\nb\nc\nd\n", after) == lines
