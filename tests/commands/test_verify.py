"""`heal-bot verify` makes the environment that a bundle was verified in."""

from __future__ import annotations

from heal_bot.commands.verify import _hints
from heal_bot.workspace import plugins
from tests.github import records


def test_plugins_that_were_added_are_added_again_and_nothing_else_that_a_bundle_names() -> None:
    values = records.data("1" * 40)
    added = ["pytest 9.0", "pytest-mock 3.1", "evil 1.0", "evil @ file:///x", "--index-url x"]
    values["certificate"]["environment"]["added"] = added
    names = _hints(records.record(values)).plugins
    assert plugins.reported(names) == ("pytest-mock",)
    values |= {"certificate": None, "patch": None}
    assert _hints(records.record(values)).plugins == ()
