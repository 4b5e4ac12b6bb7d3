"""Dependencies as Poetry's own table writes them: names with caret and tilde versions."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from packaging.utils import canonicalize_name

from heal_bot.environments.requirements import Lines

_GROUPS = ("test", "tests", "testing", "dev", "develop", "ci")
_BOUND = re.compile(r"(\^|~(?!=))\s*(\d{1,18}(?:\.\d{1,18})*)([\w.+-]*)")


def read_project(table: Mapping[str, Any]) -> dict[str, Any]:
    """What a [project] table would say of name, version and entry points."""
    found: dict[str, Any] = {key: table[key] for key in ("name", "version") if key in table}
    scripts = table.get("scripts")
    if isinstance(scripts, Mapping):
        found["scripts"] = {name: _reference(value) for name, value in scripts.items()}
    if isinstance(plugins := table.get("plugins"), Mapping):
        found["entry-points"] = plugins
    return found


def _reference(value: object) -> object:
    """The function a script calls, which older tables call so."""
    if isinstance(value, Mapping):
        return value.get("reference", value.get("callable"))
    return value


def read(table: Mapping[str, Any], lines: Lines, *, groups: bool) -> None:
    """Add the dependencies of [tool.poetry]; with `groups` its dev table and those for tests.

    Optional ones count where an extra names them that is for tests or was asked for.
    """
    optional = _optional(table, {*lines.extras, *(_GROUPS if groups else ())})
    tables = [table.get("dependencies")]
    inner = table.get("group")
    if groups:
        tables.append(table.get("dev-dependencies"))
    if groups and isinstance(inner, Mapping):
        named = [inner.get(name) for name in _GROUPS]
        tables += [g.get("dependencies") for g in named if isinstance(g, Mapping)]
    for found in tables:
        for name, value in found.items() if isinstance(found, Mapping) else ():
            if name != "python":
                _add(str(name), value, lines, optional)


def read_python(table: Mapping[str, Any]) -> str:
    """The Python versions it supports, as PEP 440 writes them."""
    found = table.get("dependencies")
    value = found.get("python") if isinstance(found, Mapping) else None
    return convert_specifier(value) if isinstance(value, str) else ""


def convert_specifier(text: str) -> str:
    """A version range: ^1.2 is >=1.2,<2 and ~1.2 is >=1.2,<1.3; alternatives (||) bound nothing."""
    if "|" in text or text.strip() == "*":
        return ""
    parts = []
    for part in text.replace(" ", "").split(","):
        if match := _BOUND.fullmatch(part):
            parts.append(_range(match[1], match[2], match[3]))
        else:
            parts.append(f"=={part}" if part[:1].isdigit() else part)
    return ",".join(parts)


def _range(sign: str, version: str, suffix: str) -> str:
    numbers = [int(n) for n in version.split(".")]
    if sign == "~":
        at = min(1, len(numbers) - 1)
    else:
        at = next((i for i, n in enumerate(numbers) if n), len(numbers) - 1)
    upper = [*numbers[:at], numbers[at] + 1]
    return f">={version}{suffix},<{'.'.join(map(str, upper))}"


def _optional(table: Mapping[str, Any], wanted: set[str]) -> frozenset[str]:
    extras = table.get("extras")
    found = extras.items() if isinstance(extras, Mapping) else ()
    lists = [names for extra, names in found if extra in wanted and isinstance(names, list)]
    return frozenset(canonicalize_name(str(name)) for names in lists for name in names)


def _add(name: str, value: object, lines: Lines, optional: frozenset[str]) -> None:
    where = "tool.poetry"
    if isinstance(value, str):
        lines.add(f"{name}{convert_specifier(value)}", where)
    elif isinstance(value, Mapping):
        if value.keys() & {"git", "path", "url", "file"}:
            lines.refused.append(f"{where}: {name} comes from an address, not from the index")
        elif not value.get("optional") or canonicalize_name(name) in optional:
            extras = value.get("extras")
            inner = f"[{','.join(map(str, extras))}]" if isinstance(extras, list) else ""
            version = value.get("version", "*")
            marker = value.get("markers")
            tail = f" ; {marker}" if isinstance(marker, str) else ""
            lines.add(f"{name}{inner}{convert_specifier(str(version))}{tail}", where)
    elif isinstance(value, list):
        lines.add(name, where)
