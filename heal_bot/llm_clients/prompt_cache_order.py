"""The order of a request: what stays the same first, so that it begins as the one before."""

from __future__ import annotations

import json

import httpx2


def growing_last(request: httpx2.Request, name: str) -> None:
    """Move the field that grows from call to call behind the fields that an SDK puts after it."""
    body = json.loads(request.content)
    body[name] = body.pop(name)
    data = json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()
    request.stream = httpx2.ByteStream(data)
    request.headers["content-length"] = str(len(data))
