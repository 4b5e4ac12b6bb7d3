"""Exact versions of the failing run: from a freeze file, lock files, or installed metadata."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from packaging.utils import InvalidName, canonicalize_name
from packaging.version import Version

from heal_bot.checkout import safe_open
from heal_bot.core.toml import read_toml

LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")
_CAP = 1 << 20
_MOST = 3000
_EGG_INFO = re.compile(r"(?P<name>[A-Za-z0-9][\w.]*?)(?:-\d[\w.!+-]*)?\.egg-info\Z")
_DIST_INFO = re.compile(r"(?P<name>[A-Za-z0-9][\w.]*)-(?P<version>[\w.!+]+)\.dist-info\Z")


def read_lock(text: str) -> tuple[dict[str, str], int]:
    """Name to version of a lock file's packages; ValueError when it is no TOML of that kind.

    A package that the lock has in several versions (one per platform or Python) is left out, as
    are those that come from a path, an address or the project itself; so is one whose name or
    version is none, and how many of these there are is told.
    """
    table = read_toml(text)
    packages = table.get("package") or table.get("packages")
    if not isinstance(packages, list):
        return {}, 0
    found: dict[str, set[str]] = {}
    odd = 0
    for package in packages[:_MOST]:
        # The project itself may have no version.
        if not isinstance(package, Mapping) or not _from_index(package) or "version" not in package:
            continue
        name, version = _name(package.get("name")), _version(package["version"])
        if name and version:
            found.setdefault(name, set()).add(version)
        else:
            odd += 1
    one = {name: versions.pop() for name, versions in found.items() if len(versions) == 1}
    return one, odd


def _name(given: object) -> str:
    """The name as indexes compare it; empty for what cannot be one."""
    try:
        return canonicalize_name(given, validate=True) if isinstance(given, str) else ""
    except InvalidName:
        return ""


def _version(given: object) -> str:
    try:
        return str(Version(given)) if isinstance(given, str) else ""
    except ValueError:
        return ""


def _from_index(package: Mapping[str, Any]) -> bool:
    """Whether a locked package comes from an index, as far as each kind of lock file tells."""
    source = package.get("source")
    if isinstance(source, Mapping):
        kind = source.get("type")  # poetry
        return kind in {None, "legacy", "pypi"} and not source.keys() & {
            "git", "url", "path", "directory", "editable", "virtual",
        }  # fmt: skip
    return not package.keys() & {"git", "path", "url", "vcs", "directory", "archive", "editable"}


def read_environment(venv: Path) -> dict[str, str]:
    """Name to version of what is installed in a virtual environment, read from folder names.

    Nothing of it is run and no link is followed; empty when there is no environment.
    """
    sites = sorted(venv.glob("lib/python3*/site-packages"))[:1]
    return {name: version for name, version in read_folders(sites).items() if version}


def read_folders(sites: Iterable[Path]) -> dict[str, str]:
    """As `of_environment` for folders of packages, of which the first wins.

    The version is empty for what did not come from an index, or says so in an older way.
    """
    found: dict[str, str] = {}
    for site in sites:
        for folder in sorted(path.name for path in site.iterdir())[: 2 * _MOST]:
            if match := _DIST_INFO.match(folder):
                version = "" if _is_linked(site, folder) else _version(match["version"])
            elif match := _EGG_INFO.match(folder):
                version = ""
            else:
                continue
            if name := _name(match["name"]):
                found.setdefault(name, version)
    return found


def _is_linked(site: Path, folder: str) -> bool:
    """Whether the package was installed from a path or an address (PEP 610)."""
    try:
        safe_open.read(site, f"{folder}/direct_url.json", _CAP)
    except OSError:
        return False
    return True


def version_of(venv: Path, project: str) -> str:
    """The version under which the project itself is installed there; empty without it."""
    wanted = canonicalize_name(project)
    for site in sorted(venv.glob("lib/python3*/site-packages"))[:1]:
        for info in sorted(site.glob("*.dist-info")):
            match = _DIST_INFO.match(info.name)
            if not match or canonicalize_name(match["name"]) != wanted:
                continue
            try:
                text = safe_open.read(site, f"{info.name}/METADATA", _CAP).decode(errors="replace")
            except OSError:
                return match["version"]
            told = HeaderParser().parsestr(text).get("Version", "")
            return _version(told) or match["version"]
    return ""
