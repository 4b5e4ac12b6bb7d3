"""The events of a chat completion, read from a response within caps."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any

_LINE_CAP = 1 << 20
_BODY_CAP = 64 << 20
_MARK = b"\xef\xbb\xbf"


def parse_chunks(headers: Mapping[str, str], parts: Iterator[bytes]) -> Iterator[dict[str, Any]]:
    """JSON objects of an event stream, or the one object of a server that does not stream."""
    if headers.get("content-encoding", "identity") != "identity":
        raise ValueError("a compressed answer came, which was not asked for")
    kind = headers.get("content-type", "")
    if kind.startswith("application/json"):
        body = json.loads(b"".join(_capped(parts)))
        yield body
        return
    if kind.startswith("text/html"):
        raise ValueError("an HTML page came instead of an answer")
    pending = b""
    for data in chain(_capped(parts), (b"\n",)):
        # A line may end in either or both; a second end makes an empty line, which says nothing.
        *lines, pending = (pending + data.replace(b"\r", b"\n")).split(b"\n")
        if len(pending) > _LINE_CAP:
            raise ValueError(f"a line of more than {_LINE_CAP} bytes came")
        for line in lines:
            if line.removeprefix(_MARK).startswith(b"data:"):
                value = line.removeprefix(_MARK)[5:].strip()
                if value == b"[DONE]":
                    return
                if value:
                    yield json.loads(value)


def text_of(content: object) -> str:
    """The text of a delta: a string, or what the parts of that kind say."""
    if isinstance(content, list):
        return "".join(part["text"] for part in content if part["type"] == "text")
    if not isinstance(content, str):
        raise TypeError(f"{type(content).__name__} came in place of text")
    return content


def _capped(parts: Iterator[bytes]) -> Iterator[bytes]:
    total = 0
    for part in parts:
        total += len(part)
        if total > _BODY_CAP:
            raise ValueError(f"more than {_BODY_CAP} bytes came")
        yield part
