"""Foreign text made safe for where it goes: clipped, redacted, escaped; and numbers in words."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import quote

# C0 and C1 controls without tab and newline, bidi controls (Unicode TR 36 lists them as spoofing
# marks), zero-width characters, line separators, lone surrogates, and the tags and selectors of
# plane 14, which spell whole sentences that nobody sees.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\ud800-\udfff\U000e0000-\U000e0fff]"
)
# A shorter text has no room for how much of it was cut.
_COUNTED = 200
_CUT = " … "
_ANSI = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
# What is markup anywhere, a scheme's colon, and what is markup at the start of a line.
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~@&$]|:(?=//)|^[-+=]|(?<=^\d)[.)]|(?<=^\d\d)[.)])")
_SECRETS = re.compile(
    "|".join(
        (
            r"gh[pousr]_[A-Za-z0-9]{20,255}",
            r"github_pat_[A-Za-z0-9_]{22,255}",
            r"sk-[A-Za-z0-9_-]{20,200}",
            r"AIza[0-9A-Za-z_-]{35}",
            r"AKIA[0-9A-Z]{16}",
            r"xox[abprs]-[0-9A-Za-z-]{10,200}",
            r"glpat-[0-9A-Za-z_-]{20,60}",
            r"npm_[0-9A-Za-z]{36}",
            r"pypi-[A-Za-z0-9_-]{50,250}",
            r"eyJ[A-Za-z0-9_-]{10,2000}\.[A-Za-z0-9_-]{10,4000}\.[A-Za-z0-9_-]{10,1000}",
            r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,8000}"
            r"-----END [A-Z ]{0,30}PRIVATE KEY-----",
            r"(?i:bearer)\s+[A-Za-z0-9._~+/-]{20,500}",
            r"(?<=://)[^\s/:@]{1,100}:[^\s/@]{1,200}(?=@)",
        )
    )
)


# A shorter value is no secret, and would be found everywhere.
_SHORT = 6
_TELLING = 8
# What may stand between the parts of a value that was broken over lines.
_FOLDS = str.maketrans("", "", " \t\r\n\f\v\\\"'+E>|?-")


@dataclass(frozen=True, slots=True, repr=False)
class Secret:
    """A value that never prints itself; `reveal()` is the only way to it."""

    _value: str

    def reveal(self) -> str:
        """The value, for the one call that needs it."""
        return self._value

    def __repr__(self) -> str:
        return "***"

    __str__ = __repr__

    def __bool__(self) -> bool:
        return bool(self._value)


def clip(text: str, limit: int) -> str:
    """At most `limit` characters: the head and the tail, with what was cut between them counted."""
    if len(text) <= limit:
        return text
    longest = f" […{len(text)} characters cut…] " if limit >= _COUNTED else _CUT
    room = max(0, limit - len(longest))
    head = room * 2 // 3
    tail = room - head
    mark = f" […{len(text) - room} characters cut…] " if limit >= _COUNTED else _CUT
    return text[:head] + mark + text[len(text) - tail :] if tail else text[:limit]


def printable(text: str) -> str:
    """Without escape sequences, controls, bidi and zero-width marks; CR becomes a newline."""
    return _INVISIBLE.sub("", _ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n")))


def one_line(text: str, limit: int = 200) -> str:
    """Printable, white space folded, clipped."""
    return clip(" ".join(printable(text).split()), limit)


def for_log(text: str) -> str:
    """Safe to print in a workflow log: no runner command at a line's start, no `##[` anywhere."""
    lines = (line.replace("##[", "# #[") for line in printable(text).split("\n"))
    return "\n".join(
        ": :" + line.lstrip()[2:] if line.lstrip().startswith("::") else line for line in lines
    )


def for_command(value: str, *, prop: bool = False) -> str:
    """Escaped as the value (or with `prop` a property) of a workflow command."""
    escaped = value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")
    return escaped.replace(":", "%3A").replace(",", "%2C") if prop else escaped


def for_markdown(text: str, limit: int = 300) -> str:
    """One line of plain text inside Markdown: no markup, mention, link, image or HTML survives.

    Bare addresses lose their scheme's colon to an entity, which GitHub's autolinker does not see.
    """
    line = _MARKDOWN.sub(r"\\\1", one_line(text, limit))
    line = line.replace("\\<", "&lt;").replace("\\>", "&gt;").replace("\\&", "&amp;")
    line = (
        line.replace("\\$", "&#36;")
        .replace("\\@", "&#64;\u2060")
        .replace("\\:", "&#58;")
        .replace("\\#", "&#35;\u2060")
    )
    return re.sub(r"(?i)\bwww(?=\.)", "www\u2060", line)


def code_span(text: str, limit: int = 300) -> str:
    """One line as a Markdown code span, whatever backticks it holds; safe inside tables."""
    line = one_line(text, limit).replace("|", "\\|") or " "
    ticks = "`" * (1 + max((len(run) for run in re.findall(r"`+", line)), default=0))
    pad = " " if line[0] == "`" or line[-1] == "`" else ""
    return f"{ticks}{pad}{line}{pad}{ticks}"


def fence(text: str, language: str = "", limit: int = 20_000) -> str:
    """A Markdown code block that its content cannot close."""
    body = clip(printable(text), limit).rstrip("\n")
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", body)), default=0))
    return f"{ticks}{language}\n{body}\n{ticks}"


def redact(text: str, secrets: Iterable[Secret] = ()) -> str:
    """Without the given values and without what looks like a credential: for people to read.

    Source and test data are never redacted, in which `http://user:pass@host` is a value like any
    other: `hide_values` is for these.
    """
    return _SECRETS.sub("***", hide_values(text, secrets))


def hide_values(text: str, secrets: Iterable[Secret]) -> str:
    """Without the given values, the longest first, and otherwise as it is.

    A value is found as it is, in the encodings of `_forms`, and broken over lines.
    """
    bare = ""
    for value in sorted({s.reveal() for s in secrets}, key=len, reverse=True):
        for form in _forms(value):
            text = text.replace(form, "***")
            bare = bare or text.translate(_FOLDS)
            if (folded := _folded(form)) and folded in bare:
                text, bare = _rejoined(text, folded), ""
    return text


@lru_cache(maxsize=64)
def _forms(value: str) -> tuple[str, ...]:
    """A secret as it may be written: itself, escaped, percent-encoded, in base64 or hex."""
    if len(value) < _SHORT:
        return ()
    data = value.encode("utf-8", "replace")
    quoted, digits = quote(value, ""), data.hex()
    small = re.sub("%..", lambda match: match[0].lower(), quoted)
    forms = [value, repr(value)[1:-1], json.dumps(value)[1:-1], quoted, small]
    forms += [digits, digits.upper()]
    for before in range(3):
        # What stands before decides how the bytes fall into groups of three.
        first, last = -(-before * 8 // 6), (before + len(data)) * 8 // 6
        packed = base64.b64encode(bytes(before) + data).decode()[first:last]
        forms += [packed, packed.replace("+", "-").replace("/", "_")]
    return tuple(sorted({f for f in forms if len(f) >= _SHORT}, key=len, reverse=True))


@lru_cache(maxsize=1024)
def _folded(form: str) -> str:
    """The form without what may stand between its parts; empty where too little is left."""
    folded = form.translate(_FOLDS)
    return folded if len(folded) >= _TELLING else ""


def _rejoined(text: str, folded: str) -> str:
    """The text without the stretches that are `folded` but for quotes and ends of lines."""
    places = [place for place, letter in enumerate(text) if ord(letter) not in _FOLDS]
    bare = text.translate(_FOLDS)
    kept, done, start = [], 0, bare.find(folded)
    while start >= 0:
        end = start + len(folded)
        kept += [text[done : places[start]], "***"]
        done, start = places[end - 1] + 1, bare.find(folded, end)
    return "".join((*kept, text[done:]))


def count(number: int, one: str, many: str = "") -> str:
    """`1 test`, `2 tests`."""
    return f"{number} {one if number == 1 else many or one + 's'}"
