"""`heal-bot verify` makes the environment that a bundle was verified in."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from heal_bot.cli.command_group import cli
from heal_bot.cli.verify import _hints
from tests.github_server import records


def test_pytest_and_plugins_of_our_own_list_are_added_again_and_nothing_else() -> None:
    values = records.data("1" * 40)
    added = ["pytest 9.0", "pytest-mock 3.1", "evil 1.0", "evil @ file:///x", "--index-url x"]
    added += ["pytest-evil 1.0", "pytest-mocks 1.0", "anyio 4.0"]
    values["certificate"]["environment"]["added"] = added
    assert _hints(records.record(values)).plugins == ("pytest-mock", "anyio", "pytest")
    values |= {"certificate": None, "patch": None}
    assert _hints(records.record(values)).plugins == ()


def test_a_suggestion_alone_leaves_nothing_to_verify_and_that_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "outcome.json").write_text(json.dumps(records.suggested("1" * 40)))
    done = CliRunner().invoke(cli, ["verify", "--bundle", str(tmp_path), "--repo", "."])
    assert (done.exit_code, done.output.partition(":")[0]) == (0, "nothing to verify")
