"""Requirement lines read by us: names, versions, extras and markers, nothing that names a place."""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from heal_bot.core.text import one_line, short_version
from heal_bot.environments.uv_input import Package

_MOST = 3000
_DEEPEST = 8
_PARENTHESES = 50
# A marker that compares what cannot be compared does so for every Python.
_ANY = "3.9.0"
# Options of pip whose value is no requirement.
_VALUED = frozenset({"-f", "--find-links", "-i", "--index-url", "--extra-index-url", "--no-binary",
                     "--only-binary", "-t", "--target", "--prefix", "--python"})  # fmt: skip
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_INCLUDE = re.compile(r"(?:-r|--requirement|-c|--constraint)[=\s]*(?P<path>\S+)\Z")
# What an installer may be told per line and what changes nothing for us.
_TRAILER = re.compile(r"\s--(?:hash|config-settings?|global-option)[=\s]\S+")
_HARMLESS = re.compile(
    r"(?:--(?:no-cache-dir|upgrade|quiet|prefer-binary|require-hashes|pre|user|system|"
    r"disable-pip-version-check|only-binary|no-binary)\b|-[Uq]+\Z)"
)
_PROJECT = re.compile(r"\.(?:/)?(?:\[(?P<extras>[\w.,\s-]*)\])?\Z")


@dataclass(slots=True)
class Lines:
    """What requirement lines ask for.

    `constraints` bound versions without asking for a package, `extras` and `groups` are those of
    the project itself that were named, `refused` says what was passed over and why. Names that are
    `elsewhere` are never asked of an index.
    """

    requirements: list[Requirement] = field(default_factory=list)
    constraints: list[Requirement] = field(default_factory=list)
    extras: set[str] = field(default_factory=set)
    groups: set[str] = field(default_factory=set)
    refused: list[str] = field(default_factory=list)
    elsewhere: frozenset[str] = frozenset()
    _read: set[tuple[str, bool]] = field(default_factory=set)

    @property
    def full(self) -> bool:
        """Whether no more lines are taken; those that were refused took time as well."""
        return len(self.requirements) + len(self.constraints) + len(self.refused) >= _MOST

    def add(self, line: str, where: str, *, bounds: bool = False) -> None:
        """One requirement as PEP 508 writes it; a place (URL, path, archive) is refused."""
        if self.full:
            return
        where = one_line(where, 80)
        try:
            found = parse(line)
            if found.url or name_of(found) in self.elsewhere:
                told = f"{found.name} comes from an address, not from the index"
                self.refused.append(f"{where}: {told}")
                return
            Package.of(found)
            applies(found, _ANY)
        except (ValueError, LookupError, RecursionError):
            self.refused.append(f"{where}: {one_line(line, 80)} is no name with a version")
            return
        (self.constraints if bounds else self.requirements).append(found)

    def read(
        self, path: str, open_text: Callable[[str], str], *, bounds: bool = False, depth: int = 0
    ) -> None:
        """A requirements file of the tree and what it includes; `open_text` raises KeyError.

        None is read twice: files that include each other would be for ever.
        """
        if (path, bounds) in self._read:
            return
        self._read.add((path, bounds))
        try:
            text = open_text(path)
        except KeyError:
            self.refused.append(f"{path} is named but not in the repository")
            return
        joined = re.sub(r"\\\r?\n", " ", text.removeprefix("\ufeff"))
        for raw in joined.splitlines():
            line = _TRAILER.sub("", _COMMENT.sub("", raw)).strip()
            if line:
                self._line(line, path, open_text, bounds=bounds, depth=depth)

    def _line(
        self, line: str, path: str, open_text: Callable[[str], str], *, bounds: bool, depth: int
    ) -> None:
        if include := _INCLUDE.match(line):
            inner = posixpath.normpath(posixpath.join(posixpath.dirname(path), include["path"]))
            if depth < _DEEPEST:
                bounded = bounds or line.startswith(("-c", "--constraint"))
                self.read(inner, open_text, bounds=bounded, depth=depth + 1)
            return
        if line.startswith(("-e", "--editable")):
            line = line.removeprefix("--editable").removeprefix("-e").strip(" =")
            if not _PROJECT.match(line):
                self.refused.append(f"{path}: the editable {one_line(line, 80)} is left out")
                return
        if own := _PROJECT.match(line):
            self.extras.update(part.strip() for part in (own["extras"] or "").split(","))
            self.extras.discard("")
        elif line.startswith("-"):
            if not _HARMLESS.match(line):
                self.refused.append(f"{path}: the option {line.split()[0]} is not obeyed")
        else:
            self.add(line, path, bounds=bounds)

    def arguments(self, text: str, open_text: Callable[[str], str]) -> None:
        """The input `setup`: lines as `pip install` takes them, with or without that command."""
        for line in text.splitlines():
            try:
                words = shlex.split(line, comments=True)
            except ValueError:
                self.refused.append(f"setup: {one_line(line, 80)} has an open quotation mark")
                continue
            if "install" in words[:6]:
                words = words[words.index("install") + 1 :]
            self._words(words, open_text)

    def _words(self, words: list[str], open_text: Callable[[str], str]) -> None:
        """What `pip install` is told in one go."""
        where, waiting = "setup", iter(words)
        for word in waiting:
            if word in {"-r", "--requirement", "-c", "--constraint", "-e", "--editable"}:
                self._line(f"{word} {next(waiting, '')}", where, open_text, bounds=False, depth=0)
            elif word in _VALUED:
                next(waiting, "")
            elif word in {"--group", "--extra"}:
                (self.groups if word == "--group" else self.extras).add(next(waiting, ""))
            else:
                self._line(word, where, open_text, bounds=False, depth=0)


def parse(line: str) -> Requirement:
    """A requirement as PEP 508 writes it; ValueError for what is none or takes long to read."""
    if line.count("(") > _PARENTHESES:
        raise ValueError("its marker has too many parentheses")
    return Requirement(line)


def applies(requirement: Requirement, python: str) -> bool:
    """Whether a requirement's marker holds for a Python version on this machine."""
    if requirement.marker is None:
        return True
    told = {"python_version": short_version(python), "python_full_version": python, "extra": ""}
    return requirement.marker.evaluate(told)


def name_of(requirement: Requirement) -> str:
    """The name as indexes compare it."""
    return canonicalize_name(requirement.name)
