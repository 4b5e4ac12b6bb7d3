"""What a report names, as digests: which tests failed, and in which way, whatever the run."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable

from heal_bot.core.model import ReportedCase

_MOST = 500
_LENGTH = 200
# What differs from run to run in a message that says the same.
_VARIES = re.compile(r"0x[0-9a-fA-F]+|\d+(?:\.\d+)?")


def sign_failures(cases: Iterable[ReportedCase], project: str = "") -> tuple[str, ...]:
    """Sixteen hex digits per failed case of a project, in order; equal ones once."""
    return tuple(sorted({_sign(case, project) for case in cases if case.red}))[:_MOST]


def shorten(*parts: str) -> str:
    """Sixteen hex digits that stand for some texts."""
    return hashlib.sha256(json.dumps(parts).encode("utf-8", "replace")).hexdigest()[:16]


def _sign(case: ReportedCase, project: str) -> str:
    first = case.message.strip().partition("\n")[0][:_LENGTH]
    return shorten(project, case.classname, case.name, case.kind, _VARIES.sub("#", first))
