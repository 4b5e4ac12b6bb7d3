"""What a repository declares: the Python it wants, its dependencies, and what it is itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from heal_bot.core.text import one_line
from heal_bot.core.toml import read_toml
from heal_bot.environments import (
    poetry_metadata,
    pytest_plugins,
    setuptools_metadata,
    tox_metadata,
)
from heal_bot.environments.requirements import Lines, parse
from heal_bot.ports import Tree
from heal_bot.source.workflow_files import COMMENT, TESTING, WORKFLOW

OpenText = Callable[[str], str]
_PYPROJECT = "pyproject.toml"
_WANTED = ("test", "tests", "testing", "dev", "develop", "development", "ci")
_FILES = re.compile(
    r"(?:requirements[-_.]?(?:tests?|testing|dev|develop|development|ci)\.(?:txt|in)"
    r"|(?:tests?|testing|dev|develop|development|ci)[-_.]?requirements\.(?:txt|in)"
    r"|requirements\.(?:txt|in)"
    r"|tests?/(?:test[-_])?requirements(?:[-_.](?:tests?|dev))?\.txt"
    r"|requirements/(?:base|main|common|requirements"
    r"|tests?|testing|dev|develop|development|ci)\.(?:txt|in))\Z"
)
# What production has is more than tests need where something smaller is there.
_SMALLER = re.compile(r"requirements(?:/(?:base|main|common|requirements))?\.(?:txt|in)\Z")
_PRODUCTION = re.compile(r"requirements/prod(?:uction)?\.(?:txt|in)\Z")
# What uv writes for a package that is not asked of an index.
_ELSEWHERE = frozenset({"workspace", "path", "git", "url"})
_VERSION_LINE = re.compile(r"(?:cpython[-@]?|python-?)?(3\.\d{1,2}(?:\.\d{1,3})?)\b")
# A value, a list in brackets or one item a line: a job's version, or the axis of a matrix.
_MATRIX = re.compile(
    r"\b(?:python[-_]versions?|python):[ \t]*"
    r"(?:\[([^\]]{0,500})\]|([^\s\[][^\n]*)|((?:\s*\n[ \t]*-[ \t]+[^\n]+)+))",
    re.IGNORECASE,
)
_RELEASED = re.compile(r"(?<![\w.-])(?:cpython[-@]?)?(3\.\d{1,2}(?:\.\d{1,3})?)(?![\w.-])")


# Versions of Python, of which one is to be tested with, and where they stand.
Named = tuple[tuple[str, ...], str]


@dataclass(slots=True)
class Declared:
    """The declarations of one commit.

    `pythons` are (versions, where) that it names, the most telling first; `requires` is its
    requires-python. `project` is the [project] table, `backend` the build backend's name. `own` are
    the requirements that the project's metadata make, not its files for an installer.
    """

    pythons: list[Named] = field(default_factory=list)
    requires: str = ""
    project: Mapping[str, Any] = field(default_factory=dict)
    backend: str = ""
    lines: Lines = field(default_factory=Lines)
    notes: list[str] = field(default_factory=list)
    own: Sequence[Requirement] = ()


def read_declared(tree: Tree, setup: str) -> Declared:
    """Read it all; a file that cannot be parsed becomes a note.

    With `setup` (lines as `pip install` takes them) these alone say what is installed, and the
    extras and groups of the project that they name.
    """
    found = Declared()
    open_text = partial(read_text, tree, notes=found.notes)
    pyproject = _toml(tree, open_text, found)
    tool = _table(pyproject, "tool")
    named = setup != ""
    project = _described(tree, open_text, _table(pyproject, "project"), found, named=named)
    found.project = project
    found.requires = _text(project.get("requires-python"))
    found.backend = _text(_table(pyproject, "build-system").get("build-backend"))
    found.pythons = list(_pythons(tree, open_text))
    if setup:
        found.lines.arguments(setup, open_text)
    # What a person names is meant as it is; all else is the repository's.
    found.lines.elsewhere = frozenset(_elsewhere(_table(_table(tool, "uv"), "sources")))
    if not named:
        _files(tree, open_text, found)
        if tox_metadata.FILE in tree.paths():
            tox_metadata.read(open_text, found.lines, found.notes)
        for environment in _hatch(tool):
            found.lines.extras.update(_lines(environment.get("features")))
    outside = len(found.lines.requirements)
    _project(project, found, named=named)
    _groups(_table(pyproject, "dependency-groups"), found, named=named)
    for path in _named_files(_table(_table(tool, "setuptools"), "dynamic"), named=named):
        found.lines.read(path, open_text)
    if own := _table(tool, "poetry"):
        poetry_metadata.read(own, found.lines, groups=not named)
        found.requires = found.requires or poetry_metadata.read_python(own)
        found.project = (
            project if project.get("name") else {**project, **poetry_metadata.read_project(own)}
        )
    if not named:
        _tools(tool, found)
        found.own = found.lines.requirements[outside:]
    for name in pytest_plugins.find_implied(tree.paths(), open_text, pyproject):
        found.lines.add(name, "pytest's options")
    return found


def _described(
    tree: Tree, open_text: OpenText, project: Mapping[str, Any], found: Declared, *, named: bool
) -> Mapping[str, Any]:
    """The [project] table; what it lacks or leaves to be computed as setup.cfg or setup.py say."""
    older = setuptools_metadata.read_project(tree.paths(), open_text, found.notes)
    left = _lines(project.get("dynamic")) if project else (*older, *older.get("dynamic", ()))
    found.lines.refused += [
        f"setup.py: {key} is computed, which is not run: name it with setup or freeze"
        for key in older.pop("dynamic", ())
        if key in left and not named
    ]
    return {**{key: value for key, value in older.items() if key in left}, **project}


def _elsewhere(sources: Mapping[str, Any]) -> Iterator[str]:
    """The packages that uv takes from the workspace, a path, an archive or git."""
    for name, given in sources.items():
        for entry in given if isinstance(given, list) else [given]:
            if isinstance(entry, Mapping) and _ELSEWHERE & entry.keys():
                yield canonicalize_name(name)


def _pythons(tree: Tree, open_text: OpenText) -> Iterator[Named]:
    """Versions that the repository names for its own runs."""
    paths = tree.paths()
    for path in (".python-version", ".tool-versions", "runtime.txt"):
        if path in paths:
            for line in open_text(path).splitlines():
                if path == ".tool-versions" and not line.startswith("python"):
                    continue
                if match := _VERSION_LINE.search(line.strip()):
                    yield (match[1],), path
                    break
    workflows = [(path, open_text(path)) for path in filter(WORKFLOW.match, paths)]
    # A workflow that publishes or builds pages says little about what the tests run on.
    for path, text in sorted(workflows, key=lambda each: TESTING.search(each[1]) is None):
        for given in _MATRIX.finditer(COMMENT.sub("", text)):
            if versions := _RELEASED.findall("".join(filter(None, given.groups()))):
                yield tuple(versions), path


def _files(tree: Tree, open_text: OpenText, found: Declared) -> None:
    """Requirements files at the usual places."""
    smaller = any(map(_SMALLER.match, tree.paths()))
    for path in tree.paths():
        if not (_FILES.match(path) or (not smaller and _PRODUCTION.match(path))):
            continue
        if path.endswith(".in") and path.removesuffix(".in") + ".txt" in tree.paths():
            continue
        found.lines.read(path, open_text)


def _project(project: Mapping[str, Any], found: Declared, *, named: bool) -> None:
    """The project's dependencies, with the extras that tests usually need or that were named."""
    for line in _lines(project.get("dependencies")):
        found.lines.add(line, _PYPROJECT)
    own = canonicalize_name(_text(project.get("name")) or "-")
    extras = {k.lower(): _lines(v) for k, v in _table(project, "optional-dependencies").items()}
    waiting = [e.lower() for e in found.lines.extras] + ([] if named else list(_WANTED))
    seen: set[str] = set()
    while waiting:
        extra = waiting.pop()
        if extra in seen:
            continue
        seen.add(extra)
        for line in extras.get(extra, ()):
            # An extra may name others of its own project: name[other].
            inner = None if found.lines.full else _requirement(line)
            if inner is not None and canonicalize_name(inner.name) == own:
                waiting += [e.lower() for e in inner.extras]
            else:
                found.lines.add(line, f"extra {extra}")


def _groups(groups: Mapping[str, Any], found: Declared, *, named: bool) -> None:
    """Dependency groups (PEP 735) with what they include."""
    known = {canonicalize_name(name): value for name, value in groups.items()}
    waiting = [canonicalize_name(g) for g in found.lines.groups]
    waiting += [] if named else [canonicalize_name(name) for name in _WANTED]
    seen: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name in seen or not isinstance(entries := known.get(name), list):
            continue
        seen.add(name)
        for entry in entries:
            if isinstance(entry, str):
                found.lines.add(entry, f"group {name}")
            elif isinstance(entry, Mapping) and isinstance(entry.get("include-group"), str):
                waiting.append(canonicalize_name(entry["include-group"]))


def _named_files(dynamic: Mapping[str, Any], *, named: bool) -> Iterator[str]:
    """The requirements files that setuptools computes dependencies and extras for tests from."""
    tables = [_table(dynamic, "dependencies")]
    if not named:
        tables += [_table(_table(dynamic, "optional-dependencies"), name) for name in _WANTED]
    for table in tables:
        given = table.get("file")
        yield from [given] if isinstance(given, str) else _lines(given)


def _tools(tool: Mapping[str, Any], found: Declared) -> None:
    """What uv, PDM and Hatch call the packages of development in tables of their own."""
    groups = {
        "tool.uv": [_table(tool, "uv").get("dev-dependencies")],
        "tool.pdm": [_table(_table(tool, "pdm"), "dev-dependencies").get(n) for n in _WANTED],
        "tool.hatch": [
            environment.get(key)
            for environment in _hatch(tool)
            for key in ("dependencies", "extra-dependencies")
        ],
    }
    for where, lists in groups.items():
        for line in (line for given in lists for line in _lines(given)):
            if not line.startswith(("-", "{")):
                found.lines.add(line, where)


def _hatch(tool: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The environments of Hatch that tests usually run in."""
    environments = _table(_table(tool, "hatch"), "envs")
    return [_table(environments, name) for name in ("default", "hatch-test", *_WANTED)]


def _toml(tree: Tree, open_text: OpenText, found: Declared) -> Mapping[str, Any]:
    if _PYPROJECT not in tree.paths():
        return {}
    try:
        return read_toml(open_text(_PYPROJECT))
    except ValueError as error:
        found.notes.append(f"{_PYPROJECT} is no TOML that is read: {one_line(str(error), 100)}")
        return {}


def _requirement(line: str) -> Requirement | None:
    try:
        return parse(line)
    except ValueError:
        return None


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _lines(value: object) -> Sequence[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else ()


CAP = 2 << 20


def read_text(tree: Tree, path: str, notes: list[str]) -> str:
    """The text of a file, nothing for a link or one over the cap; KeyError where there is none."""
    try:
        data = tree.read(path)
    except KeyError:
        if path not in tree.paths():
            raise
        note = f"{path} is a link and is not read"
        notes += [] if note in notes else [note]
        return ""
    return data.decode(errors="replace") if len(data) <= CAP else ""
