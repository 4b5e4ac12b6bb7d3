"""A JSON object in a model's reply: found, mended where models slip, checked against its shape."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from heal_bot.core.text import one_line
from heal_bot.repair.llm.answer_parser import ReplyError
from heal_bot.repair.llm.code_block_parser import THOUGHT
from heal_bot.source import guard

_LONGEST = 40_000
_STARTS = 20
_DEEPEST = 2
_CLOSING = {"{": "}", "[": "]"}

Shape = TypeVar("Shape", bound=BaseModel)


def parse(reply: str, shape: type[Shape]) -> Shape:
    """The first object of a reply that has the shape; ReplyError telling the model what is wrong.

    Mended are prose and fences around it, trailing commas, raw line breaks in strings, Python's
    spelling of an object, an end that is missing, and an object written as a string in another.
    """
    return take_json(reply, shape)[0]


def take_json(reply: str, shape: type[Shape]) -> tuple[Shape, str]:
    """The same, and what the reply says beside it."""
    problem, text = "", THOUGHT.sub("", reply)
    for value, start, end in _objects(text[:_LONGEST]):
        try:
            return shape.model_validate(value), text[:start] + text[end:]
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(str(part) for part in first["loc"])
            problem = problem or one_line(f"{where}: {first['msg']}", 200)
    if not problem:
        raise ReplyError("no JSON object was found in the reply")
    raise ReplyError(f"the JSON object cannot be used: {problem}")


def _objects(text: str, depth: int = 0) -> Iterator[tuple[dict[str, object], int, int]]:
    """The objects in a text, those in strings of an object after it, with where they stand."""
    starts = [match.start() for match in re.finditer(r"\{", text)][:_STARTS]
    for start in starts:
        value, end = _loaded(text[start:])
        if not isinstance(value, dict):
            continue
        yield value, start, start + end
        for inner in value.values() if depth < _DEEPEST else ():
            if isinstance(inner, str):
                yield from ((one, start, start + end) for one, *_ in _objects(inner, depth + 1))


def _loaded(text: str) -> tuple[object, int]:
    """The value at the start of a text, mended as little as it takes, and its length."""
    decoder = json.JSONDecoder(strict=False)
    whole = _balanced(text)
    for candidate in (text, re.sub(r",(\s*[}\]])", r"\1", whole), whole):
        try:
            value, end = decoder.raw_decode(candidate)
        except (ValueError, RecursionError):
            continue
        return value, end if candidate is text else len(whole)
    try:
        value = ast.literal_eval(guard.parse(whole).body[0].value)  # type: ignore[attr-defined]
    except (guard.SourceRejected, ValueError, IndexError, AttributeError):
        return None, 0
    return value, len(whole)


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
