"""Markdown of our own around foreign text: prose with code in it, folds, what was left out."""

from __future__ import annotations

from heal_bot.core.text import code_span, for_markdown, one_line


def prose(text: str, limit: int = 300) -> str:
    """Foreign prose, its `code` kept as code; an odd backtick stays a character."""
    parts = one_line(text, limit).split("`")
    if len(parts) % 2 == 0:
        return for_markdown(text, limit)
    return "".join(
        code_span(part) if number % 2 and part.strip() else _plain(part, limit)
        for number, part in enumerate(parts)
    )


def sentence(text: str, limit: int = 300) -> str:
    """Foreign prose that begins with a capital and ends with a full stop."""
    told = prose(text, limit).rstrip(". ")
    end = "" if told.endswith(("?", "!")) else "."
    return f"{told[:1].upper()}{told[1:]}{end}" if told else ""


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
