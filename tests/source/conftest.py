"""A tree in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from heal_bot.core.model import Removal


@dataclass(frozen=True)
class MemoryTree:
    files: Mapping[str, bytes]
    sha: str = "a" * 40
    tree_sha: str = "b" * 40
    root: Path = Path("/nowhere")
    earlier: Mapping[str, bytes] = field(default_factory=dict)
    removals: Mapping[str, Removal] = field(default_factory=dict)

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self.files))

    def read(self, path: str) -> bytes:
        return self.files[path]

    def blob(self, path: str) -> str:
        return "c" * 40

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return {}

    def former(self, path: str) -> bytes | None:
        return self.earlier.get(path)

    def removal(self, path: str, name: str) -> Removal | None:
        return self.removals.get(name)


@pytest.fixture
def tree():
    """Makes a tree of the given files (text or bytes)."""

    def make(**files: str | bytes) -> MemoryTree:
        def named(key: str) -> str:
            return key.replace("__", "/") + ".py"

        return MemoryTree(
            {named(k): v.encode() if isinstance(v, str) else v for k, v in files.items()}
        )

    return make
