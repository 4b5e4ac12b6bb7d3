"""The id git gives the bytes of a file."""

from __future__ import annotations

import hashlib

_SHA1_DIGITS = 40


def blob_id(data: bytes, like: str) -> str:
    """The blob id of `data`, by the hash that made the id `like`: SHA-256 where it is longer."""
    digest = hashlib.sha256 if len(like) > _SHA1_DIGITS else hashlib.sha1
    return digest(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
