"""CODEOWNERS as GitHub documents it: the last rule that matches decides."""

from __future__ import annotations

import pytest

from heal_bot.delivery.owners import of

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
    assert of(RULES, path) == owners


@pytest.mark.parametrize("line", ["*" * 5_000 + " @a", "a" * 5_000 + " @a", "[ @a", "\\ @a", " "])
def test_odd_rules_own_nothing(line: str) -> None:
    assert of(line, "a" * 900 + "/b.py") == ()
