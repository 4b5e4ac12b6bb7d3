"""Foreign text made safe for where it goes: clipped, redacted, escaped; and numbers in words."""

from __future__ import annotations

import base64
import json
import quopri
import re
import string
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote

if TYPE_CHECKING:
    from pydantic import ValidationError

# What nobody sees: C0 and C1 controls without tab and newline, what Unicode says to ignore where
# it cannot be drawn (Default_Ignorable_Code_Point: bidi controls, zero-width characters,
# selectors, fillers, plane 14, which spells whole sentences), line separators, lone surrogates.
_UNSEEN = (
    (0x00, 0x08), (0x0B, 0x1F), (0x7F, 0x9F), (0xAD, 0xAD), (0x034F, 0x034F), (0x061C, 0x061C),
    (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F), (0x200B, 0x200F), (0x2028, 0x202E),
    (0x2060, 0x206F), (0x3164, 0x3164), (0xD800, 0xDFFF), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xFFF0, 0xFFFB), (0x1BCA0, 0x1BCA3), (0x1D173, 0x1D17A), (0xE0000, 0xE0FFF),
)  # fmt: skip
INVISIBLE = re.compile(f"[{''.join(f'{chr(first)}-{chr(last)}' for first, last in _UNSEEN)}]")
# A shorter text has no room for how much of it was cut.
_COUNTED = 200
_CUT = " … "
_ANSI = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b(?:\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])"
)
# What is markup anywhere, a scheme's colon, and what is markup at the start of a line.
_MARKDOWN = re.compile(r"([\\`*_\[\]<>#|~@&$]|:(?=//)|^[-+=]|(?<=^\d)[.)]|(?<=^\d\d)[.)])")
# What a backslash before it does not take the meaning from everywhere.
_ENTITIES = {
    "<": "&lt;", ">": "&gt;", "&": "&amp;", "$": "&#36;", ":": "&#58;", "@": "&#64;\u2060",
    "#": "&#35;\u2060",
}  # fmt: skip
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


# How a byte is written in a text or as a number, whatever stands between two of them.
_NUMBERS = ("{}", "{:03o}", "x{:02x}", "u00{:02x}")
# A shorter value is no secret, and would be found everywhere.
_SHORT = 6
_TELLING = 8
# What may stand between the parts of a value that was hidden, or also broken over lines; and how
# long it must be to be looked for so.
_HIDING = dict.fromkeys(n for first, last in _UNSEEN for n in range(first, last + 1))
_FOLDS = _HIDING | str.maketrans("", "", f"{string.whitespace}{string.punctuation}E")
_LEVELS = ((_HIDING, _SHORT), (_FOLDS, _TELLING))
_SKIPPED = re.compile(rf"{_ANSI.pattern}|<U\+[0-9A-F]{{4,6}}>")


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


def cut_end(text: str, limit: int) -> str:
    """The first lines of a text within `limit` characters, and how much more there is."""
    if len(text) <= limit:
        return text
    head = text[:limit].rpartition("\n")[0] or text[:limit]
    rest = text[len(head) :]
    more = rest.strip("\n").count("\n") + 1
    many = count(len(rest), "character") if more == 1 else f"{more} lines"
    return f"{head}\n[… {many} more, cut here]"


def printable(text: str) -> str:
    """Without escape sequences; what cannot be seen as its code point, CR as a newline."""
    bare = _ANSI.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
    return INVISIBLE.sub(lambda match: f"<U+{ord(match[0]):04X}>", bare)


def one_line(text: str, limit: int = 200) -> str:
    """Printable, white space folded, clipped."""
    return clip(" ".join(printable(text).split()), limit)


def last_line(output: bytes, otherwise: str = "no message") -> str:
    """The last line that a program wrote, fit for a message."""
    lines = [line for line in output.decode(errors="replace").splitlines() if line.strip()]
    return one_line(lines[-1]) if lines else otherwise


def describe_fault(error: ValidationError) -> str:
    """The first thing that is wrong with a record: where, and how."""
    first = error.errors(include_input=False, include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{one_line(where)}: {one_line(first['msg'])}"


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
    line = _MARKDOWN.sub(lambda m: _ENTITIES.get(m[0], f"\\{m[0]}"), one_line(text, limit))
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
    """Printable, without the given values and what looks like a credential: for people to read.

    Source and test data are never redacted, in which `http://user:pass@host` is a value like any
    other: `hide_values` is for these.
    """
    text = hide_values(text, secrets)
    spans = [match.span() for match in _SECRETS.finditer(_bare(text, _HIDING))]
    return printable(_without(text, _HIDING, spans))


def hide_values(text: str, secrets: Iterable[Secret]) -> str:
    """Without the given values, the longest first, and otherwise as it is.

    A value is found as it is, in the encodings of `_forms`, broken over lines, and with anything
    in it that is invisible or was before it was made printable.
    """
    forms = [f for v in sorted({s.reveal() for s in secrets}, key=len)[::-1] for f in _forms(v)]
    for form in forms:
        text = text.replace(form, "***")
    for level, (table, _) in enumerate(_LEVELS):
        bare = ""
        for form in forms:
            bare = bare or _bare(text, table)
            if (part := _folded(form, level)) and part in bare:
                places = [match.span() for match in re.finditer(re.escape(part), bare)]
                text, bare = _without(text, table, places), ""
    return text


@lru_cache(maxsize=64)
def _forms(value: str) -> tuple[str, ...]:
    """A secret as it may be written: escaped, encoded, as numbers, and all of that reversed."""
    if len(value) < _SHORT:
        return ()
    data = value.encode("utf-8", "replace")
    quoted, digits = quote(value, ""), data.hex()
    small = re.sub("%..", lambda match: match[0].lower(), quoted)
    forms = [value, repr(value)[1:-1], json.dumps(value)[1:-1], quoted, small]
    forms += [digits, digits.upper(), quopri.encodestring(data, quotetabs=True).decode()]
    forms += [" ".join(form.format(byte) for byte in data) for form in _NUMBERS]
    for packed, bits in ((base64.b64encode, 6), (base64.b32encode, 5)):
        for before in range(bits):
            # What stands before decides how the bytes fall into groups.
            first, last = -(-before * 8 // bits), (before + len(data)) * 8 // bits
            form = packed(bytes(before) + data).decode()[first:last]
            forms += [form, form.replace("+", "-").replace("/", "_")]
    forms += [form[::-1] for form in forms]
    return tuple(sorted({f for f in forms if len(f) >= _SHORT}, key=len, reverse=True))


@lru_cache(maxsize=2048)
def _folded(form: str, level: int) -> str:
    """The form without what may stand between its parts; empty where too little is left."""
    table, least = _LEVELS[level]
    folded = form.translate(table)
    return folded if len(folded) >= least else ""


def _bare(text: str, table: dict[int, None]) -> str:
    """The text without the characters of `table` and escape sequences."""
    return _padded(text).translate(table)


def _padded(text: str) -> str:
    """The text as long as it was, with NUL in place of escape sequences and told code points."""
    return _SKIPPED.sub(lambda match: "\0" * len(match[0]), text)


def _without(text: str, table: dict[int, None], spans: Sequence[tuple[int, int]]) -> str:
    """The text with *** for each stretch, told by its place in the bare text."""
    if not spans:
        return text
    places = [place for place, letter in enumerate(_padded(text)) if ord(letter) not in table]
    kept, done = [], 0
    for start, end in spans:
        kept += [text[done : places[start]], "***"]
        done = places[end - 1] + 1
    return "".join((*kept, text[done:]))


def list_some(names: Sequence[str], most: int) -> str:
    """The first of some names, and how many more there are: `a, b and 3 more`."""
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return f"{', '.join(names[:most])}{more}"


def short_version(version: str) -> str:
    """A version of Python as legs and markers name it: 3.12."""
    return ".".join(version.split(".")[:2])


def count(number: int, one: str, many: str = "") -> str:
    """`1 test`, `2 tests`."""
    return f"{number} {one if number == 1 else many or one + 's'}"


def name_first(number: int, first: str, one: str, many: str = "") -> str:
    """`1 test, a`, `2 tests, first a`."""
    return f"{count(number, one, many)}, {'first ' if number > 1 else ''}{first}"
