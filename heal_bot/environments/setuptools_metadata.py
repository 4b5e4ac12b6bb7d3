"""setup.cfg and setup.py as a [project] table would say it; nothing is run."""

from __future__ import annotations

import ast
import configparser
from collections.abc import Callable, Iterator
from typing import Any

from heal_bot.source.guard import SourceRejected, parse

_KEYS = {"name": "name", "version": "version", "python_requires": "requires-python"}
_EXTRAS = "optional-dependencies"
_ARGUMENTS = {
    "install_requires": "dependencies",
    "extras_require": _EXTRAS,
    "tests_require": _EXTRAS,
    "entry_points": "entry-points",
}
_EXTRA_LINES, _FILE = "options.extras_require", "file:"
_SCRIPT, _CONFIGURATION = "setup.py", "setup.cfg"


def read_project(
    paths: tuple[str, ...], open_text: Callable[[str], str], notes: list[str]
) -> dict[str, Any]:
    """What both files say, setup.cfg first; `dynamic` are the lists that setup.py computes.

    What cannot be read is told in `notes`.
    """
    found: dict[str, Any] = {}
    if _SCRIPT in paths:
        found.update(_script(open_text(_SCRIPT)))
    if _CONFIGURATION in paths:
        found.update(_configuration(open_text, notes))
    if computed := [key for key in found.pop("dynamic", ()) if key not in found]:
        found["dynamic"] = computed
    return found


def _script(text: str) -> dict[str, Any]:
    """The arguments of setup() that are written out, there or as constants of the module."""
    try:
        module = parse(text.encode())
    except SourceRejected:
        return {}
    known = {
        node.targets[0].id: node.value
        for node in module.body
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    found: dict[str, Any] = {}
    computed = []
    for keyword in _arguments(module):
        value = keyword.value
        if isinstance(value, ast.Name):
            value = known.get(value.id, value)
        try:
            given = ast.literal_eval(value)
        except (ValueError, TypeError, MemoryError, RecursionError):
            computed += [_ARGUMENTS[keyword.arg]] if keyword.arg in _ARGUMENTS else []
            continue
        _take_argument(found, keyword.arg, given)
    return {**found, "dynamic": list(dict.fromkeys(computed))}


def _take_argument(found: dict[str, Any], name: str | None, given: object) -> None:
    """Enter the value of one argument of setup() under the key of a [project] table."""
    match name:
        case "install_requires":
            found["dependencies"] = _listed(given)
        case "extras_require" if isinstance(given, dict):
            found[_EXTRAS] = {str(extra): _listed(lines) for extra, lines in given.items()}
        case "tests_require":
            found[_EXTRAS] = {**found.get(_EXTRAS, {}), "tests": _listed(given)}
        case "entry_points" if isinstance(given, dict):
            _enter(found, {str(k): _pairs("\n".join(_listed(v))) for k, v in given.items()})
        case "entry_points" if isinstance(given, str):
            _enter(found, _groups(given))
        case str() if name in _KEYS and isinstance(given, str):
            found[_KEYS[name]] = given


def _arguments(module: ast.Module) -> Iterator[ast.keyword]:
    """The keywords of every call of setup, in the order of their names."""
    calls = [n for n in ast.walk(module) if isinstance(n, ast.Call)]
    named = [c for c in calls if getattr(c.func, "id", getattr(c.func, "attr", "")) == "setup"]
    yield from sorted((k for c in named for k in c.keywords), key=lambda k: str(k.arg))


def _listed(value: object) -> list[str]:
    """Requirements as a list: setuptools takes them as lines of one text, too."""
    if isinstance(value, str):
        return _lines(value)
    return [str(line) for line in value] if isinstance(value, list | tuple) else []


def _configuration(open_text: Callable[[str], str], notes: list[str]) -> dict[str, Any]:
    parser = _parsed(open_text(_CONFIGURATION))
    if parser is None:
        notes.append(f"{_CONFIGURATION} cannot be read")
        return {}

    def told(section: str, key: str) -> list[str]:
        return _lines(_included(parser.get(section, key, fallback="") or "", open_text, notes))

    found: dict[str, Any] = {}
    for key in ("name", "version"):
        if value := (parser.get("metadata", key, fallback="") or "").strip():
            found[key] = value
    if requires := (parser.get("options", "python_requires", fallback="") or "").strip():
        found["requires-python"] = requires
    if lines := told("options", "install_requires"):
        found["dependencies"] = lines
    extras = {k: told(_EXTRA_LINES, k) for k, _ in _section(parser, _EXTRA_LINES)}
    if tests := told("options", "tests_require"):
        extras["tests"] = [*extras.get("tests", ()), *tests]
    if extras:
        found[_EXTRAS] = extras
    _enter(found, {k: _pairs(v) for k, v in _section(parser, "options.entry_points")})
    return found


def _parsed(text: str) -> configparser.RawConfigParser | None:
    """A configuration as setuptools and the tools beside it in the file write it, if it is one."""
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    try:
        parser.read_string(text)
    except configparser.Error:
        return None
    return parser


def _included(text: str, open_text: Callable[[str], str], notes: list[str]) -> str:
    """A value, or what the files hold that it names."""
    if not text.strip().startswith(_FILE):
        return text
    texts = []
    for name in text.strip().removeprefix(_FILE).split(","):
        try:
            texts.append(open_text(name.strip()))
        except KeyError:
            notes.append(f"{name.strip()} is named by {_CONFIGURATION} but not in the repository")
    return "\n".join(texts)


def _groups(text: str) -> dict[str, dict[str, str]]:
    """Entry points as one text."""
    parser = _parsed(text)
    return {} if parser is None else {g: dict(_section(parser, g)) for g in parser.sections()}


def _enter(found: dict[str, Any], entries: dict[str, dict[str, str]]) -> None:
    """Keep entry points as a [project] table has them."""
    scripts = {"scripts": entries.pop("console_scripts", {}), "entry-points": entries}
    found.update({key: value for key, value in scripts.items() if value})


def _section(parser: configparser.RawConfigParser, name: str) -> list[tuple[str, str]]:
    return [(k, v or "") for k, v in parser.items(name)] if parser.has_section(name) else []


def _lines(text: str) -> list[str]:
    """The lines of a list, without comments and without what names a file."""
    bare = (line.partition(" #")[0].strip() for line in text.splitlines())
    return [line for line in bare if line and not line.startswith(("#", "file:", "%", "{"))]


def _pairs(text: str) -> dict[str, str]:
    split = (line.partition("=") for line in _lines(text))
    return {key.strip(): value.strip() for key, _, value in split}
