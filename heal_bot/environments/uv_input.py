"""All that uv reads: package names with versions and hashes, nothing else.

What a file holds for uv may open files, fetch addresses and expand variables. No line is written
but that of a `Package` or a `Locked` one, which cannot spell any of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from heal_bot.core.errors import ProvisionError
from heal_bot.core.text import one_line

_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_BOUND = re.compile(r"(?:===?|!=|~=|<=|>=|<|>)[A-Za-z0-9.+!_-]{1,200}(?:\.\*)?")
_LOCKED = re.compile(
    r"(?P<name>[\w.-]+)==(?P<version>[\w.+!-]+)(?P<hashes>(?:\s*\\\n\s+--hash=\w+:[0-9a-f]+)*)",
    re.ASCII,
)
_HASH = re.compile(r"--hash=(\w+:[0-9a-f]+)")


@dataclass(frozen=True, slots=True)
class Package:
    """A package that is asked for or bounded: `name[extra]>=1,<2`; InvalidRequirement for another.

    It has no marker and no address: whether a marker holds is decided before.
    """

    name: str
    extras: tuple[str, ...] = ()
    bounds: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (
            all(_NAME.fullmatch(name) for name in (self.name, *self.extras))
            and all(_BOUND.fullmatch(bound) for bound in self.bounds)
        ):
            raise InvalidRequirement(f"{str(self)!r} is no name with versions")

    def __str__(self) -> str:
        extras = f"[{','.join(self.extras)}]" if self.extras else ""
        return f"{self.name}{extras}{','.join(self.bounds)}"

    @classmethod
    def of(cls, requirement: Requirement) -> Package:
        """What a requirement asks of an index."""
        if requirement.url:
            raise InvalidRequirement(f"{requirement.name} comes from an address")
        for part in requirement.specifier:
            Version(part.version.removesuffix(".*"))
        return cls(
            canonicalize_name(requirement.name, validate=True),
            tuple(sorted(canonicalize_name(extra, validate=True) for extra in requirement.extras)),
            tuple(sorted(map(str, requirement.specifier))),
        )

    @classmethod
    def exactly(cls, name: str, version: str) -> Package:
        """One version of a package, the name as anything spells it."""
        return cls(canonicalize_name(name, validate=True), (), (f"=={Version(version)}",))


@dataclass(frozen=True, slots=True)
class Locked:
    """One package of a resolution: its version, and the hashes that its files may have."""

    package: Package
    version: str
    hashes: tuple[str, ...]

    def __str__(self) -> str:
        return " \\\n    ".join((str(self.package), *(f"--hash={each}" for each in self.hashes)))


def parse_resolution(answer: str) -> tuple[Locked, ...]:
    """The packages of a resolution as uv writes it; ProvisionError where it holds anything else."""
    found = []
    for match in _LOCKED.finditer(answer):
        hashes = tuple(_HASH.findall(match["hashes"]))
        package = Package.exactly(match["name"], match["version"])
        found.append(Locked(package, match["version"], hashes))
    if rest := _LOCKED.sub("", answer).strip():
        raise ProvisionError(f"uv resolved to what is no version: {one_line(rest, 100)}")
    return tuple(found)


def written(packages: Iterable[Package] | Sequence[Locked]) -> bytes:
    """A requirements file for uv."""
    return "".join(f"{package}\n" for package in packages).encode("ascii")
