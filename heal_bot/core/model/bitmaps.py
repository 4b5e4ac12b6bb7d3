"""Sets of positions as integers: bit i is set where position i belongs to the set."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import compress

_BITS = bytes.maketrans(b"01", b"\x00\x01")


def indices(bitmap: int) -> Sequence[int]:
    """The positions of the set bits, ascending."""
    width = bitmap.bit_length()
    return list(compress(range(width), flags(bitmap, width)))


def bitmap(positions: Iterable[int], width: int) -> int:
    """The integer with these bits set, all below `width`."""
    digits = bytearray(b"0" * (width or 1))
    for position in positions:
        digits[-1 - position] = 49
    return int(digits, 2)


def flags(bitmap: int, width: int) -> bytes:
    """One byte per position, 0 or 1, lowest position first."""
    return format(bitmap, f"0{width}b").encode().translate(_BITS)[::-1] if width else b""
