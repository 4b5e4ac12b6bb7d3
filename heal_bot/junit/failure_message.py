"""The exception's type and message out of what a report keeps of a failure."""

from __future__ import annotations

import re

from heal_bot.core.text import clip, printable

LIMIT = 2000
_KIND = re.compile(r"([A-Za-z_][\w.]{0,150})(?::(?=\s|$)|$)")
_LOCATION = re.compile(r":\d{1,7}: ([A-Za-z_][\w.]{0,150})$")
_PHASED = re.compile(r"failed on (?:setup|teardown) with \"")
_ERRORS = ("Error", "Exception", "Warning", "Failed", "Exit", "Interrupt", "Timeout", "Group")
_OPAQUE = ("_StringException", "UnexpectedSuccess")
_EMPTY = frozenset({"", "test failure", "collection failure", "None", "internal error"})


def kind_of(declared: str, message: str, text: str) -> str:
    """The exception's type name: the `type` attribute, the message's start, or the text."""
    if declared and not declared.endswith(_OPAQUE):
        return declared.rpartition(".")[2][:150]
    if declared.endswith("UnexpectedSuccess"):
        return "UnexpectedSuccess"
    if message.startswith("[XPASS(strict)]"):
        return "XPASS(strict)"
    unphased = _PHASED.sub("", message, count=1)
    return _leading(unphased) or _from_text(text) or _asserted(unphased)


def _leading(message: str) -> str:
    """`ValueError` of `pkg.ValueError: boom`, if the first line starts like an exception."""
    match = _KIND.match(message.split("\n", 1)[0].strip().rstrip('"'))
    name = match[1].rpartition(".")[2] if match else ""
    return name if _looks_like_an_exception(name) else ""


def _looks_like_an_exception(name: str) -> bool:
    return name.endswith(_ERRORS) or (name[:1].isupper() and name.isidentifier() and len(name) > 3)


def _asserted(message: str) -> str:
    return "AssertionError" if message.startswith(("assert ", "assert(")) else ""


def _from_text(text: str) -> str:
    """From the last location line (`path:3: ValueError`), else the last unindented line."""
    explained = find_explanation(text)
    for line in reversed(text[-8000:].splitlines()):
        if match := _LOCATION.search(line[:2000].rstrip()):
            return match[1].rpartition(".")[2]
    for line in explained.splitlines():
        if (name := _leading(line)) and (line is explained or name.endswith(_ERRORS)):
            return name
    if explained:
        return _leading(explained) or _asserted(explained)
    for line in reversed(text[-8000:].splitlines()):
        bare = line[:2000].lstrip("| ").rstrip()
        if bare and (name := _leading(bare)):
            return name
    return ""


def find_explanation(text: str) -> str:
    """The first block of `E` lines: what pytest says about the root cause, `where` lines included.

    Empty where the text has none (native style and other runners).
    """
    found: list[str] = []
    for line in text.split("\n", 20_000)[:20_000]:
        bare = line[:2000].lstrip()
        if bare.startswith("E ") or bare == "E":
            found.append(bare[1:].removeprefix("  ").removeprefix(" "))
        elif found and bare:
            break
    return "\n".join(found).strip("\n")


def message_of(message: str, text: str) -> str:
    """The message a person reads: the fuller of attribute and `E` lines, printable, clipped."""
    explained = find_explanation(text).strip()
    plain = message.strip()
    if plain in _EMPTY or len(explained) > len(plain):
        plain = explained or _last_line(text) or plain
    return clip(printable(plain), LIMIT)


def _last_line(text: str) -> str:
    """The closing `Error: message` of a native traceback, without the output that follows it."""
    lines = [line.lstrip("| ").rstrip() for line in text[-16_000:].splitlines()]
    return next((line for line in reversed(lines) if line and _leading(line)), "")
