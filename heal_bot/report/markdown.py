"""Markdown of our own around foreign text: prose with code in it, folds, what was left out."""

from __future__ import annotations

import re

from heal_bot.core.text import code_span, for_markdown, one_line

# A word that names something in code, a path or a test.
_IN_CODE = re.compile(r"::|_|/|\w\.\w")
_CODE = re.compile(r"`([^\s`](?:[^`]*[^\s`])?)`")


def prose(text: str, limit: int = 300) -> str:
    """Foreign prose, its `code` kept as code; an odd backtick stays a character."""
    return "".join(
        code_span(part) if number % 2 else _plain(part, limit)
        for number, part in enumerate(_CODE.split(one_line(text, limit)))
    )


def ended(text: str, limit: int = 300) -> str:
    """Foreign prose that ends with one full stop."""
    told = prose(text, limit)
    bare = told.rstrip(". ")
    if not bare:
        return told
    return bare if bare.endswith(("?", "!")) else f"{bare}."


def sentence(text: str, limit: int = 300) -> str:
    """Foreign prose that begins with a capital, or with a name of the code, and ends."""
    told = ended(text, limit)
    named = _IN_CODE.search(told.partition(" ")[0].rstrip(".:"))
    return told if named else f"{told[:1].upper()}{told[1:]}"


def _plain(part: str, limit: int) -> str:
    """Escaped, with the space at either end that parts it from its neighbours."""
    if not part.strip():
        return part
    left, right = " " * part.startswith(" "), " " * part.endswith(" ")
    return f"{left}{for_markdown(part, limit)}{right}"


def fold(title: str, text: str) -> str:
    """A text behind its title; nothing foreign in the title, where no escape of Markdown holds."""
    body = text.strip("\n")
    return f"<details>\n<summary>{title}</summary>\n\n{body}\n\n</details>" if body else ""


def more(left: int, what: str = "more") -> list[str]:
    """How many rows of a list are not shown."""
    return [f"\n… and {left} {what}, in the bundle."] if left > 0 else []
