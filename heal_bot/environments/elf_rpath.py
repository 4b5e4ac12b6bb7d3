"""The library search path inside an ELF program, read and rewritten without running it.

Layout: the System V ABI, 64-bit little-endian (x86-64, AArch64, RISC-V); figures in the format
strings follow Elf64_Ehdr, Elf64_Phdr and Elf64_Dyn.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

_LOAD, _DYNAMIC = 1, 2
_NEEDED, _STRTAB, _RPATH, _RUNPATH = 1, 5, 15, 29


@dataclass(frozen=True, slots=True)
class Linkage:
    """What the loader reads: libraries needed, and where it looks first.

    `at` is the file offset of the search path's bytes.
    """

    needed: tuple[str, ...]
    search: str
    at: int


def read_linkage(data: bytes) -> Linkage | None:
    """The dynamic section of a program; None when `data` is no 64-bit little-endian ELF file."""
    if data[:6] != b"\x7fELF\x02\x01" or len(data) < 64:
        return None
    try:
        return _parse(data)
    except (struct.error, StopIteration, ValueError):
        return None


def relink(data: bytes, search: str) -> bytes:
    """The program with another search path, which must not be longer than the present one."""
    link = read_linkage(data)
    old = link.search.encode() if link else b""
    new = search.encode()
    if link is None or not old or len(new) > len(old):
        raise ValueError(f"the search path {old!r} has no room for {search}")
    return data[: link.at] + new.ljust(len(old), b"\0") + data[link.at + len(old) :]


def _parse(data: bytes) -> Linkage:
    headers, size, count = struct.unpack_from("<32xQ14xHH", data)
    segments = [struct.unpack_from("<IIQQQQQQ", data, headers + i * size) for i in range(count)]
    dynamic = next((s for s in segments if s[0] == _DYNAMIC), None)
    if dynamic is None:
        return Linkage((), "", 0)
    entries = []
    for place in range(dynamic[2], dynamic[2] + dynamic[5], 16):
        tag, value = struct.unpack_from("<qQ", data, place)
        if tag == 0:
            break
        entries.append((tag, value))
    address = next(value for tag, value in entries if tag == _STRTAB)
    table = next(
        address - s[3] + s[2] for s in segments if s[0] == _LOAD and s[3] <= address < s[3] + s[5]
    )

    def text(offset: int) -> str:
        start = table + offset
        return data[start : data.index(b"\0", start)].decode(errors="surrogateescape")

    needed = tuple(text(value) for tag, value in entries if tag == _NEEDED)
    # RUNPATH wins over RPATH where both stand.
    search = sorted((tag, value) for tag, value in entries if tag in {_RPATH, _RUNPATH})
    if not search:
        return Linkage(needed, "", 0)
    return Linkage(needed, text(search[-1][1]), table + search[-1][1])
