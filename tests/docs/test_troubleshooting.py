"""docs/troubleshooting.md has an entry for whatever a command can end with."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import get_args

import pytest

from heal_bot.core import outcome
from tests.docs.messages import PACKAGE, error_classes, messages, reasons, warnings

TEXT = (Path(__file__).parents[2] / "docs/troubleshooting.md").read_text().replace("\\|", "|")
ENTRY = r"^\| `+ ?(.+?) ?`+ \| "


def test_every_message_that_ends_a_command_has_an_entry() -> None:
    listed = {text.strip() for text in re.findall(ENTRY, TEXT, re.MULTILINE)}
    missing = [m for m in messages() if m.text.strip() not in listed]
    assert missing == []


def test_no_entry_is_of_a_message_that_is_gone() -> None:
    said = {m.text.strip() for m in messages()}
    ended = TEXT.partition("\n## Exit code 2")[2].partition("\n## Remarks")[0]
    listed = re.findall(ENTRY, ended, re.MULTILINE)
    assert [text for text in listed if text.strip() not in said] == []


@pytest.mark.parametrize(
    ("heading", "said"),
    [("### What the reason says", reasons()), ("## Remarks that end nothing", warnings())],
    ids=["reasons", "warnings"],
)
def test_every_reason_and_every_warning_has_an_entry_and_no_other(
    heading: str, said: tuple[str, ...]
) -> None:
    part = re.split(r"^##", TEXT.partition(f"\n{heading}\n")[2], flags=re.MULTILINE)[0]
    assert len(said) > 10
    assert {text.strip() for text in re.findall(ENTRY, part, re.MULTILINE)} == set(said)


def test_the_reader_of_messages_sees_each_error_class_that_is_raised() -> None:
    seen = {message.error for message in messages()}
    assert {"UsageError", "SandboxError", "ProvisionError", "ForgeForbiddenError"} <= seen
    assert seen <= error_classes()


@pytest.mark.parametrize("status", get_args(outcome.Status))
def test_every_status_of_an_outcome_has_an_entry(status: str) -> None:
    assert f"\n| `{status}` | " in TEXT


def test_every_exit_code_has_an_entry() -> None:
    errors = importlib.import_module("heal_bot.core.errors")
    codes = {e.exit_code for e in vars(errors).values() if hasattr(e, "exit_code")}
    assert codes == {1, 2}
    for code in (*codes, 0, 3, 130):
        assert f"\n| {code} | " in TEXT


@pytest.mark.parametrize("words", ["FailureStatus", "VerdictStatus", "Stopped"])
def test_every_word_of_an_outcome_is_explained(words: str) -> None:
    told = TEXT.partition("### What it says of each part")[2].partition("## Exit code 2")[0]
    first = " ".join(re.findall(r"^\| (`[^|]+) \| ", told, re.MULTILINE))
    assert set(get_args(getattr(outcome, words))) <= set(re.findall(r"`(\w+)`", first))


def test_every_delivery_is_explained() -> None:
    said = {
        status
        for path in PACKAGE.rglob("*.py")
        for status in re.findall(r"Published\(\s*\"(\w+)\"", path.read_text())
    }
    assert len(said) > 10
    assert said <= set(re.findall(r"`(\w+)`", TEXT.partition("| delivery |")[2]))
