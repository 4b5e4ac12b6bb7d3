"""Characters that a reader of a change cannot see or cannot tell from others."""

from __future__ import annotations

import ast
import contextlib
import io
import tokenize
import unicodedata
from collections import Counter
from collections.abc import Iterator

from heal_bot.core.text import INVISIBLE
from heal_bot.source import guard

# Letters that look like a Latin one, by itself or in a whole word (Unicode UTS 39, the part of
# its table for Cyrillic and Greek).
_LATIN = str.maketrans(
    "аеорсухѕіјԁһԛԝѵАВЕКМНОРСТУХЅІЈοανρυικχγωΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "aeopcyxsijdhqwvABEKMHOPCTYXSIJoavpuikxywABEZHIKMNOPTYX",
)


def explain_gained(old: str, new: str, file: str) -> str:
    """What is wrong with the characters of `new` that `old`, a part of `file`, has not; or ''.

    Strings and comments may hold any text that can be read; the letters of a name have to be
    those of names in the file, of one script, and as Python reads them.
    """
    if fresh := Counter(_unseen(new)) - Counter(_unseen(old)):
        letter = min(fresh)
        escape = f"\\u{ord(letter):04x}" if ord(letter) < 1 << 16 else f"\\U{ord(letter):08x}"
        return f"the new code holds {_told(letter)}, which nobody sees: write it as {escape}"
    if new.isascii() and file.isascii():
        return ""
    names = set(_names(new)) - set(_names(old))
    strange = {letter: name for name in names for letter in name if not letter.isascii()}
    if strange and (unknown := set(strange) - set("".join(_names(file)))):
        letter = min(unknown)
        return f"a name in the new code has {_told(letter)}, a letter that no name of its file has"
    for name in sorted(names - set(_names(file))):
        if name not in new or not unicodedata.is_normalized("NFKC", name):
            return f"Python reads the name {name!a} as another one: write it in that form"
        scripts = {unicodedata.name(letter, "?").split()[0] for letter in name if letter.isalpha()}
        if len(scripts) > 1:
            told = " and ".join(sorted(scripts)).lower()
            return f"the name {name!a} has letters of several scripts: {told}"
    looks = {name.translate(_LATIN): name for name in (*names, *_names(file))}
    for name in sorted(names - set(_names(file))):
        if (twin := looks[name.translate(_LATIN)]) != name:
            return f"the name {name!a} looks like {twin!a}, another name of the file"
    return ""


def _unseen(text: str) -> Iterator[str]:
    """The invisible characters, and white space that looks like a space and is none."""
    yield from INVISIBLE.findall(text.replace("\r\n", "\n"))
    if not text.isascii():
        # The wide space is one that CJK text is written with.
        yield from (c for c in text if unicodedata.category(c) == "Zs" and c not in " \u3000")


def _names(source: str) -> Iterator[str]:
    """The names in a text, as they are written and as Python reads them."""
    with contextlib.suppress(tokenize.TokenError, SyntaxError):
        for token in tokenize.generate_tokens(io.StringIO(source).readline):
            if token.type == tokenize.NAME:
                yield token.string
    with contextlib.suppress(guard.SourceRejected):
        for node in ast.walk(guard.parse_part(source)):
            yield from (v for k, v in ast.iter_fields(node) if k != "value" and isinstance(v, str))


def _told(letter: str) -> str:
    return f"<U+{ord(letter):04X}> ({unicodedata.name(letter, 'without a name').lower()})"
