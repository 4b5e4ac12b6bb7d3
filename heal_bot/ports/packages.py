"""Packages from an index and wheels from sources, by programs that reach nothing else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, Protocol

from heal_bot.core.events import Run
from heal_bot.core.model import Environment
from heal_bot.core.text import Secret


@dataclass(frozen=True, slots=True)
class IndexTask:
    """A program that asks the index at `url`, which may hold credentials that it never sees.

    It starts in a folder of its own with the files `laid` there (and the `script` of ours, by its
    name), and may read what is below `read`.
    """

    argv: tuple[str, ...]
    url: Secret
    env: Mapping[str, str] = field(default_factory=dict)
    laid: Mapping[str, bytes] = field(default_factory=dict)
    script: str = ""
    read: tuple[Path, ...] = ()
    ca_file: str = ""
    proxy: str = ""
    seconds: float = 600.0


@dataclass(frozen=True, slots=True)
class IndexRefusal:
    """Why a request of such a program was not answered.

    `unreached`: the host is not to be had; `closed`: it does not let us in; `foreign`: the address
    is none of the index; `not_a_page`: what came is no page of an index.
    """

    why: Literal["unreached", "closed", "foreign", "not_a_page"]
    url: str
    said: str


@dataclass(frozen=True, slots=True)
class IndexAnswer:
    """How it ended, with what it left below `folder`, which is foreign as all that it wrote."""

    ended: str
    code: int
    output: bytes
    refusals: tuple[IndexRefusal, ...]
    folder: Path

    @property
    def ok(self) -> bool:
        """Whether it ended by itself with code 0."""
        return self.ended == "exited" and self.code == 0


class Builder(Protocol):
    """Fetches packages and builds wheels where what does it can reach nothing else."""

    @property
    def hosts(self) -> tuple[str, ...]:
        """The hosts that it can reach by https all the same; none unless a person named them."""

    def build(
        self, run: Run, env: Environment, sdist: bytes, backend: str, backend_path: Sequence[str]
    ) -> tuple[str, bytes]:
        """File name and bytes of the wheel that a source archive (tar.gz) becomes.

        `env` holds the build backend. ProvisionError with its last words when it fails.
        """

    def ask_index(self, run: Run, task: IndexTask) -> AbstractContextManager[IndexAnswer]:
        """Run a program to its end; what it left is there as long as the context lasts."""
