"""The pages on architecture, limits and verification say what layer test, caps and samples say."""

from __future__ import annotations

import re

from heal_bot.action import event_file
from heal_bot.checkout import git_objects
from heal_bot.core import settings
from heal_bot.core.model.regression import MAX_FILES
from heal_bot.core.settings import Settings
from heal_bot.junit import report_files
from heal_bot.publish.delivery_options import MOST_OPEN
from heal_bot.source import guard
from tests.docs.pages import ROOT
from tests.test_layers import MAY_IMPORT

LIMITS = (ROOT / "docs/limits.md").read_text()


def test_the_table_of_packages_has_each_part_once() -> None:
    table = (ROOT / "docs/architecture.md").read_text().partition("## Packages")[2]
    parts = " ".join(re.findall(r"^\| `([a-z_ ]+)` \|", table, re.MULTILINE)).split()
    assert sorted(parts) == sorted(part for part in MAY_IMPORT if not part.startswith("__"))


def test_the_way_of_one_failing_test_names_a_test_of_the_example() -> None:
    text = (ROOT / "docs/architecture.md").read_text()
    named = re.search(r"`examples/shop` has a test `(\w+)`", text)
    assert named is not None
    tests = (ROOT / "examples/shop/tests").glob("test_*.py")
    assert any(f"def {named[1]}(" in path.read_text() for path in tests)


def test_the_sizes_in_limits_are_those_of_the_code() -> None:
    for said in (
        f"at most {guard.MAX_BYTES >> 20} MiB a file",
        f"{report_files.FILE_CAP >> 20} MiB a file",
        f"{MAX_FILES:,} files and folders, {git_objects.MAX_TOTAL >> 30} GiB"
        f" and {git_objects.MAX_FILE >> 20} MiB a file,"
        f" paths of {git_objects.MAX_DEPTH} folders and {git_objects.MAX_PATH:,} bytes",
        f"{settings._CONFIG_BYTES >> 10} KiB of `.heal-bot.yml`",
        f"{event_file._MAX_BYTES >> 20} MiB of an event",
        f"{Settings().max_minutes:g} minutes by default",
    ):
        assert said in LIMITS
    assert (Settings().max_attempts, MOST_OPEN) == (10, 2)
    assert "10 attempts for each cause" in LIMITS
    assert "two open ones for each base" in LIMITS
