"""A JSON object in a model's reply: found, mended where models slip, checked against its shape."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from heal_bot.repair.llm.reply import ReplyError
from heal_bot.source import guard
from heal_bot.text import one_line

_LONGEST = 40_000
_STARTS = 20
_CLOSING = {"{": "}", "[": "]"}
_THOUGHT = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)

Shape = TypeVar("Shape", bound=BaseModel)


def parse(reply: str, shape: type[Shape]) -> Shape:
    """The first object of a reply that has the shape; ReplyError telling the model what is wrong.

    Mended are prose and fences around it, trailing commas, raw line breaks in strings, Python's
    spelling of an object, and an end that is missing.
    """
    problem = ""
    for value in _objects(_THOUGHT.sub("", reply)[:_LONGEST]):
        try:
            return shape.model_validate(value)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            problem = problem or one_line(f"{where}: {first['msg']}", 200)
    if not problem:
        raise ReplyError("no JSON object was found in the reply")
    raise ReplyError(f"the JSON object cannot be used: {problem}")


def _objects(text: str) -> Iterator[dict[str, object]]:
    starts = [match.start() for match in re.finditer(r"\{", text)][:_STARTS]
    for start in starts:
        value = _loaded(text[start:])
        if isinstance(value, dict):
            yield value


def _loaded(text: str) -> object:
    """The value at the start of a text, mended as little as it takes; None when nothing helps."""
    decoder = json.JSONDecoder(strict=False)
    whole = _balanced(text)
    for candidate in (text, re.sub(r",(\s*[}\]])", r"\1", whole), whole):
        try:
            return decoder.raw_decode(candidate)[0]
        except (ValueError, RecursionError):
            continue
    try:
        return ast.literal_eval(guard.parse(whole).body[0].value)  # type: ignore[attr-defined]
    except (guard.SourceRejected, ValueError, IndexError, AttributeError):
        return None


def _balanced(text: str) -> str:
    """The text up to where its first bracket closes, or closed by what is missing at its end."""
    open_: list[str] = []
    quote = ""
    escaped = False
    for at, letter in enumerate(text):
        if quote:
            if escaped:
                escaped = False
            elif letter == "\\":
                escaped = True
            elif letter == quote:
                quote = ""
        elif letter == '"':
            quote = letter
        elif letter in _CLOSING:
            open_.append(letter)
        elif letter in "}]" and open_:
            open_.pop()
            if not open_:
                return text[: at + 1]
    closing = "".join(_CLOSING[letter] for letter in reversed(open_))
    cut = text.rstrip("\\") if escaped else text
    return re.sub(r"[,:\s]+$", "", cut + quote) + closing
