"""What a failing test got and what it expected, read off the message of pytest."""

from __future__ import annotations

import re
from dataclasses import dataclass

from heal_bot.core.text import clip, one_line

_VALUE = 80
_EQUAL = re.compile(r"^(?:AssertionError: )?assert (.+?) (==|is) (.+)$", re.M)
_WHERE = re.compile(r"^\s*\+\s+(?:where|and)\s+(.+?) = (.+)$", re.M)
_NOT_RAISED = re.compile(r"DID NOT RAISE (?:any of )?(?:<class )?'?([\w.]+)")


@dataclass(frozen=True, slots=True)
class FailedAssertion:
    """Two values that were to be equal; `call` is what gave the first one, '' where unknown.

    Without a call nothing says which of the two is the expected one.
    """

    got: str
    expected: str
    call: str = ""

    @property
    def said(self) -> str:
        """All of it in one line, with code between backticks."""
        got, expected, call = (clip(text, _VALUE) for text in (self.got, self.expected, self.call))
        if not call:
            return f"`assert {got} == {expected}` fails"
        return f"`{call}` gave `{got}`, expected `{expected}`"


def read_assertion(message: str) -> FailedAssertion | None:
    """The compared values of an assertion; None for any other message."""
    found = _EQUAL.search(message)
    if found is None or any(f" {found[2]} " in side for side in (found[1], found[3])):
        return None
    left, right = found[1].strip(), found[3].strip()
    calls = {value.strip(): call.strip() for value, call in _WHERE.findall(message)}
    if left not in calls and right in calls:
        left, right = right, left
    return FailedAssertion(left, right, calls.get(left, ""))


def describe_message(kind: str, message: str, limit: int = 200) -> str:
    """What a test said in one line: both values of an assertion, else its exception."""
    if (found := read_assertion(message)) is not None:
        return found.said
    if kind == "Failed" and (missing := _NOT_RAISED.search(message)):
        return f"`{missing[1]}` was not raised"
    first = next((line for line in message.splitlines() if line.strip()), "")
    return one_line(f"{kind}: {first}".strip(": "), limit)
