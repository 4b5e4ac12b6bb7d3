"""Exact versions of the failing run: from a freeze file, lock files, or installed metadata."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from email.message import Message
from email.parser import HeaderParser
from pathlib import Path
from typing import Any

from packaging.utils import InvalidName, canonicalize_name
from packaging.version import Version

from heal_bot.core import safe_open
from heal_bot.core.toml import read_toml

LOCKS = ("uv.lock", "poetry.lock", "pdm.lock", "pylock.toml")
_CAP = 16 << 20
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
        name, version = _name(package.get("name")), normalize_version(package["version"])
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


def normalize_version(given: object) -> str:
    """The version as packages are compared by it; empty for what is none."""
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
    return {name: version for name, version in read_folders(_sites(venv)).items() if version}


def read_folders(sites: Iterable[Path]) -> dict[str, str]:
    """As `read_environment` for folders of packages, of which the first wins.

    The version is empty for what did not come from an index, or says so in an older way.
    """
    found: dict[str, str] = {}
    for site in sites:
        for folder in sorted(path.name for path in site.iterdir())[: 2 * _MOST]:
            if match := _DIST_INFO.match(folder):
                version = "" if _is_linked(site, folder) else normalize_version(match["version"])
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
    info = find_infos(_sites(venv)).get(canonicalize_name(project))
    if info is None:
        return ""
    named = info.name.removesuffix(".dist-info").rpartition("-")[2]
    return normalize_version(read_metadata(info).get("Version")) or named


def find_infos(sites: Iterable[Path]) -> dict[str, Path]:
    """The metadata folder of each package, the first wins."""
    found: dict[str, Path] = {}
    for site in sites:
        for info in sorted(site.glob("*.dist-info")):
            if match := _DIST_INFO.match(info.name):
                found.setdefault(canonicalize_name(match["name"]), info)
    return found


def read_metadata(info: Path) -> Message:
    """What a package says of itself; nothing where that cannot be read."""
    try:
        text = safe_open.read(info.parent, f"{info.name}/METADATA", _CAP)
    except OSError:
        return Message()
    return HeaderParser().parsestr(text.decode(errors="replace"))


def _sites(venv: Path) -> list[Path]:
    return sorted(venv.glob("lib/python3*/site-packages"))[:1]
