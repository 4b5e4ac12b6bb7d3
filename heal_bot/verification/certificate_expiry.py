"""Certificates among the files of tests whose time is over: red for the date, not for the code."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

from heal_bot.core.model import CaseResult
from heal_bot.ports import Tree

_SECURED = re.compile(r"(?i)ssl|\btls|certificate")
_FILES = (".pem", ".crt", ".cer", ".cert")
_BLOCK = re.compile(rb"-----BEGIN CERTIFICATE-----([^-]+)-----END CERTIFICATE-----")
# The validity of X.509: two moments side by side, as UTCTime or as GeneralizedTime.
_MOMENT = rb"(?:\x17\x0d(\d{12})|\x18\x0f(\d{14}))Z"
_VALIDITY = re.compile(_MOMENT + _MOMENT)
# What was valid for less is meant to be out of date.
_MEANT = timedelta(days=1)


def explain_expired(seen: CaseResult, tree: Tree, now: datetime) -> str:
    """The certificate that a test names and whose time is over, with the cure; '' without one."""
    if not _SECURED.search(f"{seen.kind}: {seen.message}"):
        return ""
    test = seen.test.partition("::")[0]
    sources = [p for p in tree.paths() if p == test or p.endswith("conftest.py")]
    text = "".join(tree.read(path).decode(errors="replace") for path in sources)
    for path in tree.paths():
        if not path.endswith(_FILES) or path.rpartition("/")[2] not in text:
            continue
        for start, end in _validities(tree.read(path)):
            if start + _MEANT < end < now:
                return (
                    f"the certificate {path}, which the test uses, expired on {end:%Y-%m-%d}:"
                    " create it again, for longer, or hold the clock of the test"
                )
    return ""


def _validities(data: bytes) -> Iterator[tuple[datetime, datetime]]:
    """From when and until when the certificates of a file are valid."""
    for block in _BLOCK.findall(data):
        try:
            found = _VALIDITY.search(base64.b64decode(block))
            if found is not None:
                yield _moment(found[1], found[2]), _moment(found[3], found[4])
        except (binascii.Error, ValueError):
            continue


def _moment(short: bytes | None, long: bytes | None) -> datetime:
    text, form = (short, "%y%m%d%H%M%S") if short else (long or b"", "%Y%m%d%H%M%S")
    return datetime.strptime(text.decode(), form).replace(tzinfo=UTC)
