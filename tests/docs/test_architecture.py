"""The pages on architecture, limits and verification say what layer test, caps and samples say."""

from __future__ import annotations

import re

from heal_bot import settings
from heal_bot.delivery.options import MOST_OPEN
from heal_bot.intake import envelope, files
from heal_bot.settings import Settings
from heal_bot.source import guard
from heal_bot.verify import trial
from heal_bot.workspace import listing
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
        f"Reports of {files.FILE_CAP >> 20} MiB a file",
        f"commits of {listing.MAX_FILES:,} files, {listing.MAX_TOTAL >> 30} GiB"
        f" and {listing.MAX_FILE >> 20} MiB a file,"
        f" paths of {listing.MAX_DEPTH} folders and {listing.MAX_PATH:,} bytes",
        f"{settings._CONFIG_BYTES >> 10} KiB of `.heal-bot.yml`",
        f"{envelope._MAX_BYTES >> 20} MiB of an event",
        f"{Settings().max_minutes:g} minutes by default",
    ):
        assert said in LIMITS
    assert (Settings().max_attempts, MOST_OPEN) == (10, 3)
    assert "At most ten model attempts per cause, three open pull requests" in LIMITS


def test_of_the_calls_of_passing_tests_the_sample_is_said() -> None:
    recorder = (ROOT / "heal_bot/sandbox/inside/_heal_recorder.py").read_text()
    calls, green = re.findall(r"^_(?:RECORDED|GREEN) = (\d+)$", recorder, re.MULTILINE)
    said = (ROOT / "docs/verification.md").read_text().partition("## What is called healed")[2]
    assert f"at most {trial._GUARDS} of the tests" in said
    assert f"the fastest, {trial._GUARD_SECONDS:g} seconds of them" in said
    assert f"room for {calls} different calls of each function" in said
    assert f"for {green} of passing tests in any case" in said
