"""setup.cfg and setup.py as a [project] table would say it; nothing is run."""

from __future__ import annotations

import ast
import configparser
from collections.abc import Callable, Iterator
from typing import Any

from heal_bot.source.guard import SourceRejected, parse

_KEYS = {"name": "name", "version": "version", "python_requires": "requires-python"}
_EXTRAS = "optional-dependencies"
_SCRIPT, _CONFIGURATION = "setup.py", "setup.cfg"


def project(paths: tuple[str, ...], open_text: Callable[[str], str]) -> dict[str, Any]:
    """What both files say, setup.cfg first; values that are computed are not known."""
    found: dict[str, Any] = {}
    if _SCRIPT in paths:
        found.update(_script(open_text(_SCRIPT)))
    if _CONFIGURATION in paths:
        found.update(_configuration(open_text(_CONFIGURATION)))
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
    for keyword in _arguments(module):
        value = keyword.value
        if isinstance(value, ast.Name):
            value = known.get(value.id, value)
        try:
            given = ast.literal_eval(value)
        except (ValueError, TypeError, MemoryError, RecursionError):
            continue
        match keyword.arg:
            case "install_requires":
                found["dependencies"] = _listed(given)
            case "extras_require" if isinstance(given, dict):
                found[_EXTRAS] = {str(extra): _listed(lines) for extra, lines in given.items()}
            case "tests_require":
                found[_EXTRAS] = {**found.get(_EXTRAS, {}), "tests": _listed(given)}
            case str(name) if name in _KEYS and isinstance(given, str):
                found[_KEYS[name]] = given
    return found


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


def _configuration(text: str) -> dict[str, Any]:
    parser = configparser.RawConfigParser(strict=False, delimiters=("=",))
    try:
        parser.read_string(text)
    except configparser.Error:
        return {}
    found: dict[str, Any] = {}
    for key in ("name", "version"):
        if value := parser.get("metadata", key, fallback="").strip():
            found[key] = value
    if requires := parser.get("options", "python_requires", fallback="").strip():
        found["requires-python"] = requires
    if lines := _lines(parser.get("options", "install_requires", fallback="")):
        found["dependencies"] = lines
    extras = {k: _lines(v) for k, v in _section(parser, "options.extras_require")}
    if tests := _lines(parser.get("options", "tests_require", fallback="")):
        extras["tests"] = [*extras.get("tests", ()), *tests]
    if extras:
        found[_EXTRAS] = extras
    entries = {k: _pairs(v) for k, v in _section(parser, "options.entry_points")}
    found["scripts"] = entries.pop("console_scripts", {})
    found["entry-points"] = entries
    return found


def _section(parser: configparser.RawConfigParser, name: str) -> list[tuple[str, str]]:
    return parser.items(name) if parser.has_section(name) else []


def _lines(text: str) -> list[str]:
    """The lines of a list, without comments and without what names a file."""
    bare = (line.partition(" #")[0].strip() for line in text.splitlines())
    return [line for line in bare if line and not line.startswith(("#", "file:", "%", "{"))]


def _pairs(text: str) -> dict[str, str]:
    split = (line.partition("=") for line in _lines(text))
    return {key.strip(): value.strip() for key, _, value in split}
