"""Certificates of tests that are out of date."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from pathlib import Path

import pytest

from heal_bot.core.model import CaseResult
from heal_bot.verification import certificate_expiry
from tests.fakes import FolderTree

NOW = datetime(2026, 10, 5, tzinfo=UTC)
TEST = "def test_one():\n    connect('tests/client.pem')\n"
LOST = "SSLError: EOF occurred in violation of protocol"


def certificate(start: str, end: str) -> str:
    """As much of a certificate as holds its validity, in either form of X.509."""
    moments = [(b"\x18\x0f" if len(at) > 13 else b"\x17\x0d") + at.encode() for at in (start, end)]
    text = base64.encodebytes(b"0\x82\x03" + b"".join(moments) + b"\x30\x0b").decode()
    return f"-----BEGIN CERTIFICATE-----\n{text}-----END CERTIFICATE-----\n"


@pytest.mark.parametrize(
    ("message", "start", "end", "named"),
    [
        (LOST, "240313183504Z", "260313183504Z", "expired on 2026-03-13"),
        (LOST, "20240313183504Z", "20260313183504Z", "expired on 2026-03-13"),
        (LOST, "240313183504Z", "440313183504Z", ""),
        # It never was valid, so that is what the test is about.
        (LOST, "240313183504Z", "240313183504Z", ""),
        (LOST, "249913183504Z", "260313183504Z", ""),
        ("AssertionError: assert 1 == 2", "240313183504Z", "260313183504Z", ""),
    ],
)
def test_a_certificate_that_was_valid_and_is_no_longer_is_named(
    tmp_path: Path, message: str, start: str, end: str, named: str
) -> None:
    files = {"tests/test_a.py": TEST, "tests/client.pem": certificate(start, end)}
    kind, _, words = message.partition(": ")
    seen = CaseResult("tests/test_a.py::test_one", "failed", kind=kind, message=words)
    said = certificate_expiry.explain_expired(seen, FolderTree.of(tmp_path, files), NOW)
    assert (named in said and "tests/client.pem" in said) if named else said == ""


def test_a_certificate_that_the_test_does_not_name_says_nothing(tmp_path: Path) -> None:
    files = {
        "tests/test_a.py": "def test_one(): ...\n",
        "tests/client.pem": certificate("240313183504Z", "260313183504Z"),
    }
    seen = CaseResult("tests/test_a.py::test_one", "failed", kind="SSLError", message="EOF")
    assert certificate_expiry.explain_expired(seen, FolderTree.of(tmp_path, files), NOW) == ""
