"""What a repository declares: the Python it wants, its dependencies, and what it is itself."""

from __future__ import annotations

import configparser
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from heal_bot.ports import Tree
from heal_bot.workspace import legacy, plugins, poetry, sessions
from heal_bot.workspace.requirements import Lines

_CAP = 2 << 20
_WANTED = ("test", "tests", "testing", "dev", "develop", "development", "ci")
_FILES = re.compile(
    r"(?:(?:requirements[-_.]?)?(?:test|tests|testing|dev|develop|ci)(?:[-_.]requirements)?\.(?:txt|in)"
    r"|requirements\.txt"
    r"|tests?/(?:test[-_])?requirements(?:[-_.](?:tests?|dev))?\.txt"
    r"|requirements/(?:base|main|common|requirements|test|tests|testing|dev|develop|ci)\.txt)\Z"
)
# In tox.ini: what holds for some environments only, or for a place that tox alone knows.
_FACTOR = re.compile(r"[\w{},!.-]+:\s|.*\{|#")
_HERE = re.compile(r"\{(?:toxinidir|tox_root)\}/")
_VERSION_LINE = re.compile(r"(?:cpython[-@]?|python-?)?(3\.\d{1,2}(?:\.\d{1,3})?)\b")
_WORKFLOW = re.compile(r"\.github/workflows/[^/]+\.ya?ml\Z")
_WORKFLOW_PYTHON = re.compile(r"python-version:[ \t]*\[?[ \t]*['\"]?(3\.\d{1,2}(?:\.\d{1,3})?)\b")


@dataclass(slots=True)
class Declared:
    """The declarations of one commit.

    `pythons` are (version, where) that it names, the most telling first; `requires` is its
    requires-python. `project` is the [project] table, `backend` the build backend's name.
    """

    pythons: list[tuple[str, str]] = field(default_factory=list)
    requires: str = ""
    project: Mapping[str, Any] = field(default_factory=dict)
    backend: str = ""
    lines: Lines = field(default_factory=Lines)
    sources: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def declared(tree: Tree, setup: str) -> Declared:
    """Read it all; a file that cannot be parsed becomes a note.

    With `setup` (lines as `pip install` takes them) these alone say what is installed, and the
    extras and groups of the project that they name.
    """
    found = Declared()
    pyproject = _toml(tree, "pyproject.toml", found)
    project = _described(tree, _table(pyproject, "project"))
    found.project = project
    found.requires = _text(project.get("requires-python"))
    found.backend = _text(_table(pyproject, "build-system").get("build-backend"))
    found.pythons = list(_pythons(tree))
    if setup:
        found.lines.arguments(setup, lambda path: _open(tree, path))
        found.sources.append("setup")
    else:
        _files(tree, found)
        _tox(tree, found)
        _nox(tree, found)
    named = setup != ""
    _project(project, found, named=named)
    _groups(_table(pyproject, "dependency-groups"), found, named=named)
    tool = _table(pyproject, "tool")
    for path in _named_files(_table(_table(tool, "setuptools"), "dynamic"), named=named):
        found.lines.read(path, lambda name: _open(tree, name))
        found.sources.append(path)
    if own := _table(tool, "poetry"):
        poetry.read(own, found.lines, groups=not named)
        found.requires = found.requires or poetry.python(own)
        found.project = project or {k: own[k] for k in ("name", "version") if k in own}
        found.sources.append("tool.poetry")
    if not named:
        _tools(tool, found)
    for name in plugins.implied(tree, pyproject):
        found.lines.add(name, "pytest's options")
    return found


def _described(tree: Tree, project: Mapping[str, Any]) -> Mapping[str, Any]:
    """The [project] table; what it lacks or leaves to be computed as setup.cfg or setup.py say."""
    older = legacy.project(tree.paths(), lambda path: _open(tree, path))
    if not project:
        return older
    dynamic = project.get("dynamic")
    left = dynamic if isinstance(dynamic, list) else []
    return {**{key: value for key, value in older.items() if key in left}, **project}


def _pythons(tree: Tree) -> Iterator[tuple[str, str]]:
    """Versions that the repository names for its own runs."""
    paths = tree.paths()
    for path in (".python-version", ".tool-versions", "runtime.txt"):
        if path in paths:
            for line in _open(tree, path).splitlines():
                if path == ".tool-versions" and not line.startswith("python"):
                    continue
                if match := _VERSION_LINE.search(line.strip()):
                    yield match[1], path
                    break
    for path in filter(_WORKFLOW.match, paths):
        for version in _WORKFLOW_PYTHON.findall(_open(tree, path)):
            yield version, path


def _files(tree: Tree, found: Declared) -> None:
    """Requirements files at the usual places."""
    for path in filter(_FILES.match, tree.paths()):
        if path.endswith(".in") and path.removesuffix(".in") + ".txt" in tree.paths():
            continue
        found.lines.read(path, lambda name: _open(tree, name))
        found.sources.append(path)


def _tox(tree: Tree, found: Declared) -> None:
    """The deps of tox's [testenv], without lines that hold for some environments only."""
    if "tox.ini" not in tree.paths():
        return
    parser = configparser.RawConfigParser(strict=False)
    try:
        parser.read_string(_open(tree, "tox.ini"))
    except configparser.Error:
        found.notes.append("tox.ini cannot be read")
        return
    told = parser.get("testenv", "deps", fallback="")
    lines = (_HERE.sub("", line).partition(" #")[0].strip() for line in told.splitlines())
    kept = [bare for bare in lines if bare and not _FACTOR.match(bare)]
    text = "\n".join(kept)
    found.lines.read("tox.ini", lambda path: text if path == "tox.ini" else _open(tree, path))
    found.sources += ["tox.ini"] * bool(kept)
    for key, names in (("extras", found.lines.extras), ("dependency_groups", found.lines.groups)):
        for line in parser.get("testenv", key, fallback="").splitlines():
            names.update(re.findall(r"[\w.-]+", "" if _FACTOR.match(line.strip()) else line))


def _nox(tree: Tree, found: Declared) -> None:
    """What the noxfile's sessions of tests install, as far as it is written out."""
    if sessions.NOXFILE in tree.paths():
        try:
            source = tree.read(sessions.NOXFILE)
        except KeyError:
            found.notes.append(f"{sessions.NOXFILE} is a link and is not read")
            return
        for words in sessions.installs(source):
            found.lines.words(words, sessions.NOXFILE, lambda path: _open(tree, path))
            found.sources.append(sessions.NOXFILE)


def _project(project: Mapping[str, Any], found: Declared, *, named: bool) -> None:
    """The project's dependencies, with the extras that tests usually need or that were named."""
    for line in _lines(project.get("dependencies")):
        found.lines.add(line, "pyproject.toml")
        found.sources.append("pyproject.toml")
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
            inner = _requirement(line)
            if inner is not None and canonicalize_name(inner.name) == own:
                waiting += [e.lower() for e in inner.extras]
            else:
                found.lines.add(line, f"extra {extra}")
                found.sources.append(f"extra {extra}")


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
                found.sources.append(f"group {name}")
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
    hatch = _table(_table(tool, "hatch"), "envs")
    environments = [_table(hatch, name) for name in ("default", "hatch-test", *_WANTED)]
    groups = {
        "tool.uv": [_table(tool, "uv").get("dev-dependencies")],
        "tool.pdm": [_table(_table(tool, "pdm"), "dev-dependencies").get(n) for n in _WANTED],
        "tool.hatch": [
            environment.get(key)
            for environment in environments
            for key in ("dependencies", "extra-dependencies")
        ],
    }
    for where, lists in groups.items():
        for line in (line for given in lists for line in _lines(given)):
            if not line.startswith(("-", "{")):
                found.lines.add(line, where)
                found.sources.append(where)


def _toml(tree: Tree, path: str, found: Declared) -> Mapping[str, Any]:
    if path not in tree.paths():
        return {}
    try:
        return tomllib.loads(_open(tree, path))
    except (tomllib.TOMLDecodeError, RecursionError):
        found.notes.append(f"{path} is no TOML")
        return {}


def _open(tree: Tree, path: str) -> str:
    data = tree.read(path)
    return data.decode(errors="replace") if len(data) <= _CAP else ""


def _requirement(line: str) -> Requirement | None:
    try:
        return Requirement(line)
    except InvalidRequirement:
        return None


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _lines(value: object) -> Sequence[str]:
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else ()
