"""One XML document read through the SAX target: strictly first, repaired once if that fails."""

from __future__ import annotations

import codecs
import contextlib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

from lxml import etree

from heal_bot.core.events import Run
from heal_bot.core.text import one_line
from heal_bot.junit.archive import ArchiveRefused, Document
from heal_bot.junit.junit_handler import FoundCase, HasDoctype, Key, Suites, TooDeep

_DECLARED = re.compile(rb"^\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']([A-Za-z0-9._-]{1,40})[\"']")
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_TEXT_CODECS = re.compile(
    r"utf-?(?:7|8|16|32)|ascii|latin|iso-?8859|cp\d|windows|gb|big5|euc|shift|koi"
)
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_REFERENCE = re.compile(r"&#(?:([0-9]{1,9})|[xX]([0-9a-fA-F]{1,8}));")
_PROLOG = re.compile(r"<\?xml[^>]{0,300}\?>")
_START = re.compile(r"<(?:[\w.-]{1,80}:)?test(?:suites?|case)\b")
_DOCTYPE = re.compile(r"<!DOCTYPE")
_HEAD = 1 << 20


Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class Parsed(Generic[Kept]):
    """What one document gave: each kept case with its key, and in words why it ended early."""

    suites: Suites
    found: tuple[tuple[Key, Kept], ...]
    flags: tuple[str, ...]
    error: str = ""


class _Attempt(Generic[Kept]):
    """One parse of a document: a parser, its target, and how far it came.

    `cut` says that the document ends early, `refused` that its archive is not read on.
    """

    def __init__(self, convert: Callable[[FoundCase], Kept], *, every: bool = False) -> None:
        self.found: list[tuple[Key, Kept]] = []
        keep = lambda found: self.found.append((found.key, convert(found)))  # noqa: E731
        self.suites = Suites(keep, every=every)
        self.parser = etree.XMLParser(
            target=cast(Any, self.suites),  # the stubs want methods lxml does not
            encoding="utf-8",
            resolve_entities=False,
            no_network=True,
            load_dtd=False,
            huge_tree=True,
        )
        self.error = ""
        self.cut = False
        self.refused = False

    def feed(self, run: Run, chunks: Iterator[bytes]) -> None:
        """Read until the end or the first error; `cut` when the document merely ends early."""
        fed = False
        try:
            for chunk in chunks:
                fed = True
                self.parser.feed(chunk)
                if run.over():
                    self.error, self.cut = "was read only in part: the time is over", True
                    break
        except etree.XMLSyntaxError as error:
            self.error = f"is not well-formed ({one_line(str(error), 120)})"
        except (TooDeep, ArchiveRefused, UnicodeDecodeError) as error:
            self.error = _reason(error)
            self.refused = isinstance(error, ArchiveRefused)
        self._close(fed)
        if self.error:
            self.suites.cut()

    def _close(self, fed: bool) -> None:
        try:
            self.parser.close()
        except etree.XMLSyntaxError as error:
            if not self.error:
                self.cut = fed
                self.error = "ends early" if fed else "is empty"
                if fed and not self.suites.root and not self.suites.cases:
                    self.error = f"is not well-formed ({one_line(str(error), 120)})"
        except (TooDeep, HasDoctype, AssertionError):
            self.error = self.error or "is not well-formed"


def _reason(error: Exception) -> str:
    if isinstance(error, TooDeep):
        return "nests elements deeper than any test report"
    if isinstance(error, UnicodeDecodeError):
        return f"is not valid {error.encoding}"
    return str(error)


def parse(
    run: Run, document: Document, convert: Callable[[FoundCase], Kept], *, every: bool = False
) -> Parsed[Kept]:
    """Read a document, its non-passing cases (or `every` one) converted one by one.

    A second, repairing pass runs when the first one stopped inside of the document.

    The repair leaves out characters that XML forbids, whatever precedes the first suite and
    declarations in the middle; it is used, and flagged, if it shows more cases than the strict
    reading. Whatever was complete before an error is kept and flagged `partial`.
    """
    head = b"".join(_first(document))
    codec = _codec(head)
    first = _Attempt(convert, every=every)
    doctype = False
    try:
        first.feed(run, _encoded(document, codec, "strict"))
    except HasDoctype:
        doctype = True
        first.error = "declares entities or attributes in a document type, which is not read"
    if not first.error:
        return _result(first, ())
    if doctype and _declares(head, codec):
        return Parsed(first.suites, (), (), first.error)
    if not first.cut and not first.refused:
        second = _Attempt(convert, every=every)
        outside = _repaired(run, document, codec, second)
        if doctype and not second.error:
            return _result(second, ())
        if doctype and not second.suites.cases:
            first.error = "is not a test report"
        if second.suites.cases > first.suites.cases or (outside and not second.error):
            return _result(second, ("repaired",))
    return _result(first, ())


def _result(attempt: _Attempt[Kept], flags: tuple[str, ...]) -> Parsed[Kept]:
    more = dict.fromkeys((*flags, *attempt.suites.flags))
    if attempt.error:
        more["partial"] = None
    return Parsed(attempt.suites, tuple(attempt.found), tuple(more), attempt.error)


def _first(document: Document) -> Iterator[bytes]:
    size = 0
    with contextlib.suppress(ArchiveRefused), contextlib.closing(document.chunks()) as chunks:
        for chunk in chunks:
            yield chunk
            size += len(chunk)
            if size >= 1 << 16:
                return


def _codec(head: bytes) -> str:
    """The codec by byte order mark or zero bytes, else as declared, else UTF-8."""
    for mark, codec in _BOMS:
        if head.startswith(mark):
            return codec
    if head[:4] in {b"<\0?\0", b"<\0t\0"}:
        return "utf-16-le"
    if head[:4] in {b"\0<\0?", b"\0<\0t"}:
        return "utf-16-be"
    match = _DECLARED.match(head)
    name = match[1].decode("ascii").lower() if match else "utf-8"
    if not _TEXT_CODECS.match(name) or name.startswith(("utf-16", "utf16", "utf-32", "utf32")):
        return "utf-8"
    try:
        return codecs.lookup(name).name
    except LookupError:
        return "utf-8"


def _encoded(document: Document, codec: str, errors: str) -> Iterator[bytes]:
    """The document as UTF-8; the bytes themselves when they already should be."""
    if codec in {"utf-8", "ascii"}:
        yield from document.chunks()
        return
    decoder = codecs.getincrementaldecoder(codec)(errors)
    for chunk in document.chunks():
        if text := decoder.decode(chunk):
            yield text.encode("utf-8", "replace")
    if text := decoder.decode(b"", True):
        yield text.encode("utf-8", "replace")


def _declares(head: bytes, codec: str) -> bool:
    """Whether the document type holds declarations of its own, or is too long to tell."""
    text = head.decode(codec, "replace")
    start = _DOCTYPE.search(text)
    end = text.find(">", start.end()) if start else -1
    return start is None or end < 0 or "[" in text[start.end() : end]


def _repaired(run: Run, document: Document, codec: str, attempt: _Attempt[Any]) -> bool:
    """Feed the cleaned text inside a root of our own; True when only foreign text follows it."""
    try:
        attempt.feed(run, _cleaned(document, codec, attempt.suites))
    except HasDoctype:
        attempt.error = "declares a document type in the middle"
        attempt.suites.cut()
    outside = attempt.suites.depth <= 1 and attempt.suites.cases > 0
    if outside and attempt.error.startswith("is not well-formed"):
        attempt.error = ""
    return outside


def _cleaned(document: Document, codec: str, suites: Suites) -> Iterator[bytes]:
    decoder = codecs.getincrementaldecoder(codec)("replace")
    pending, started = "", False
    for chunk in document.chunks():
        pending += _ILLEGAL.sub("", decoder.decode(chunk))
        if not started:
            match = _START.search(pending)
            if match is None:
                if len(pending) > _HEAD:
                    break
                continue
            yield b"<testsuites>"
            pending, started = pending[match.start() :], True
        edge = max(pending.rfind("<"), pending.rfind("&"))
        whole = edge if 0 <= len(pending) - edge < 400 else len(pending)
        yield _legal(pending[:whole])
        pending = pending[whole:]
    if started:
        yield _legal(pending)
        if suites.depth == 1:
            yield b"</testsuites>"


def _legal(text: str) -> bytes:
    text = _PROLOG.sub("", text) if "<?xml" in text else text
    text = _REFERENCE.sub(_reference, text) if "&#" in text else text
    return text.encode("utf-8", "replace")


def _reference(match: re.Match[str]) -> str:
    code = int(match[1]) if match[1] else int(match[2], 16)
    legal = code in {9, 10, 13} or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD
    return match[0] if legal or 0x10000 <= code <= 0x10FFFF else ""
