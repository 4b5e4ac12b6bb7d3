"""Reports inside gzip and zip files, inflated piece by piece under caps; members are only names."""

from __future__ import annotations

import os
import struct
import zipfile
import zlib
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import BinaryIO

from heal_bot.core.text import one_line

CHUNK = 1 << 18
_INFLATED = 512 << 20
_FREE = 16 << 20
_RATIO = 200
_MEMBERS = 2000
_DIRECTORY = 4 << 20


class ArchiveRefused(Exception):
    """A document that is not read on; the message completes "<name> ..."."""


@dataclass(frozen=True, slots=True)
class Document:
    """One XML document: its name (with the member's after `!`) and a way to read it, repeatedly."""

    name: str
    file: BinaryIO
    kind: str
    archive: zipfile.ZipFile | None = None
    member: zipfile.ZipInfo | None = None

    def chunks(self) -> Generator[bytes, None, None]:
        """The inflated bytes in pieces; Refused when they are too many or damaged."""
        if self.archive is not None and self.member is not None:
            return _member(self.archive, self.member)
        return _gunzip(self.file) if self.kind == "gzip" else _plain(self.file)


def read_documents(file: BinaryIO, name: str) -> Iterator[Document | str]:
    """The documents in an open file, by its first bytes; a string says what was left out.

    A document can be read until the next one is asked for.
    """
    file.seek(0)
    magic = file.read(4)
    if magic[:2] == b"\x1f\x8b":
        yield Document(name, file, "gzip")
    elif magic in {b"PK\x03\x04", b"PK\x05\x06"}:
        yield from _members(file, name)
    else:
        yield Document(name, file, "plain")


def _plain(file: BinaryIO) -> Generator[bytes, None, None]:
    file.seek(0)
    while chunk := file.read(CHUNK):
        yield chunk


def _gunzip(file: BinaryIO) -> Generator[bytes, None, None]:
    """Inflate all gzip members; more than 200-fold beyond 16 MiB is taken for a bomb."""
    file.seek(0)
    engine = zlib.decompressobj(wbits=31)
    read, made, pending = 0, 0, b""
    while True:
        if not pending:
            pending = file.read(CHUNK)
            read += len(pending)
            if not pending:
                if not engine.eof:
                    raise ArchiveRefused("is a gzip file that ends early")
                return
        try:
            piece = engine.decompress(pending, CHUNK)
        except zlib.error as error:
            raise ArchiveRefused(f"is a damaged gzip file ({one_line(str(error), 80)})") from error
        made += len(piece)
        _check(made, read)
        if piece:
            yield piece
        pending = engine.unconsumed_tail
        if engine.eof:
            pending = engine.unused_data
            if not pending.startswith(b"\x1f\x8b"):
                return
            engine = zlib.decompressobj(wbits=31)


def _check(made: int, read: int) -> None:
    if made > _INFLATED or (made > _FREE and made > read * _RATIO):
        raise ArchiveRefused(f"inflates from {read} bytes to more than {made}; unpack it yourself")


def _members(file: BinaryIO, name: str) -> Iterator[Document | str]:
    try:
        check_directory(file)
        archive = zipfile.ZipFile(file)
    except (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error) as error:
        yield f"{name} is a damaged zip file ({one_line(str(error), 80)})"
        return
    wanted = [
        i for i in archive.infolist() if i.filename.lower().endswith(".xml") and not i.is_dir()
    ]
    if not wanted:
        yield f"{name} is a zip file without an .xml member"
    if len(wanted) > _MEMBERS:
        yield f"{name}: {len(wanted) - _MEMBERS} members beyond the first {_MEMBERS} were not read"
    for info in wanted[:_MEMBERS]:
        label = f"{name}!{one_line(info.filename, 300)}"
        if info.flag_bits & 1:
            yield f"{label} is encrypted"
        else:
            yield Document(label, file, "zip", archive, info)


def check_directory(file: BinaryIO) -> None:
    """Refuse a central directory that costs more to list than any report set needs."""
    size = file.seek(0, os.SEEK_END)
    file.seek(max(0, size - 65_557 - 20))
    tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) < at + 22:
        raise ValueError("no central directory")
    (length,) = struct.unpack_from("<I", tail, at + 12)
    if tail[max(0, at - 20) : at].startswith(b"PK\x06\x07") or length > _DIRECTORY:
        raise ValueError("too many members")


def _member(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> Generator[bytes, None, None]:
    made, packed = 0, max(1, member.compress_size)
    try:
        with archive.open(member) as stream:
            while piece := stream.read(CHUNK):
                made += len(piece)
                _check(made, packed)
                yield piece
    except (zipfile.BadZipFile, NotImplementedError, ValueError, EOFError, zlib.error) as error:
        raise ArchiveRefused(f"is a damaged member ({one_line(str(error), 80)})") from error
