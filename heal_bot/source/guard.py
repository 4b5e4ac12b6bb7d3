"""Caps on foreign source before any parser sees it."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import tokenize
import warnings
from functools import lru_cache

from heal_bot.core.errors import HealBotError

MAX_BYTES = 2 << 20
MAX_LINE = 100_000
# libcst 1.9 ends the process on about 1,000 nested brackets. CPython itself refuses 200; the rest
# is room for brackets in strings and comments, which are counted too so that no clever quoting
# can hide real ones.
MAX_BRACKETS = 300
MAX_PREFIXES = 100
MAX_CHAIN = 2_000

_LINE = re.compile(r"\r\n|\r|\n")
_PREFIX = re.compile(
    r"(?:(?:[-+~]|(?:not|lambda|await)\b[ \t\f]*:?)(?:[ \t\f]|\\\r?\n)*)"
    f"{{{MAX_PREFIXES + 1}}}"
)
_STEP = re.compile(
    r"[(\[{]|[)\]}]|[,;\r\n]|[-+*/%@&|^<>=.!~:\"']+|\b(?:and|or|not|in|is|if|else)\b"
)


class SourceRejected(HealBotError):
    """A source text is refused before parsing, or cannot be parsed; the message says why."""


def check_text(text: str | bytes) -> str:
    """The text within the caps, decoded by its byte order mark or PEP 263 cookie (else UTF-8).

    A byte order mark stays as the first character. Raises SourceRejected with the reason.
    """
    if len(text) > MAX_BYTES:
        raise SourceRejected(f"source of {len(text):,} bytes; at most {MAX_BYTES:,} are read")
    decoded = decode(text) if isinstance(text, bytes) else text
    if "\0" in decoded:
        raise SourceRejected("source holds a NUL character; it is no Python text")
    longest = max(map(len, _LINE.split(decoded)))
    if longest > MAX_LINE:
        raise SourceRejected(f"source line of {longest:,} characters; at most {MAX_LINE:,}")
    _check_nesting(decoded)
    return decoded


def parse(text: str | bytes) -> ast.Module:
    """The syntax tree of a text within the caps; SourceRejected where it cannot be parsed.

    Syntax newer than the running Python is read through libcst, with the lines kept.
    """
    checked = check_text(text).removeprefix("\ufeff")
    try:
        return _parsed(checked)
    except SyntaxError as error:
        from heal_bot.source import syntax_backport  # libcst takes a moment to import

        older = syntax_backport.lower_syntax(checked)
        if older is not None and older != checked:
            with contextlib.suppress(SyntaxError):
                return _parsed(older)
        raise SourceRejected(f"source does not parse: {error.msg}, line {error.lineno}") from error


def parse_part(source: str) -> ast.Module:
    """A statement as it stands in its file; what is indented is in an `if` on line 0."""
    if source[:1] not in {" ", "\t"}:
        return parse(source)
    return ast.increment_lineno(parse(f"if 1:\n{source}"), -1)


def _parsed(text: str) -> ast.Module:
    try:
        with warnings.catch_warnings():
            # A foreign file's invalid escapes are its own business.
            warnings.simplefilter("ignore")
            return ast.parse(text)
    except (ValueError, RecursionError, MemoryError) as error:
        raise SourceRejected(f"source does not parse: {error}") from error


def decode(data: bytes) -> str:
    """The text of a source by its byte order mark or PEP 263 cookie; SourceRejected for none."""
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
        return data.decode("utf-8" if encoding == "utf-8-sig" else encoding)
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise SourceRejected(
            f"source is not {error.encoding}: byte {byte:#04x} at offset {error.start}"
        ) from error
    except (SyntaxError, LookupError) as error:
        raise SourceRejected(f"source encoding: {error}") from error


@lru_cache(maxsize=256)
def _check_nesting(text: str) -> None:
    """Refuse what makes parsers recurse: brackets, prefix operators, long chains of operators.

    A chain is counted per bracket level and starts again at each comma, and outside brackets at
    each line.
    """
    if _PREFIX.search(text):
        raise SourceRejected(f"source chains more than {MAX_PREFIXES} prefix operators")
    chains = [0]
    for match in _STEP.finditer(text):
        first = match.group()[0]
        if first in ")]}":
            if len(chains) > 1:
                chains.pop()
        elif first in ",;\r\n":
            if first in ",;" or len(chains) == 1:
                chains[-1] = 0
        else:
            chains[-1] += 1 if first in "aoniels" else len(match.group())
            if chains[-1] > MAX_CHAIN:
                raise SourceRejected(f"source chains more than {MAX_CHAIN:,} operators")
            if first in "([{":
                chains.append(0)
            if len(chains) > MAX_BRACKETS:
                raise SourceRejected(f"source nests more than {MAX_BRACKETS} brackets")
