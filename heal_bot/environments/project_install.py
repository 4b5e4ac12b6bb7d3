"""The project itself in its own environment: metadata for importlib, and whether it needs building.

Its code stays in the checkout, where the repair changes it; what an installer would add beside it
(name, version, entry points) is written from its declarations, so that nothing of it is run.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from packaging.utils import canonicalize_name

from heal_bot.core.text import one_line
from heal_bot.environments.locked_versions import normalize_version
from heal_bot.environments.project_metadata import read_text
from heal_bot.ports import Tree

_COMPILING = (
    "maturin",
    "mesonpy",
    "scikit_build_core",
    "skbuild",
    "py_build_cmake",
    "setuptools_rust",
)
_EXTENSIONS = re.compile(r"\bext_modules\s*=|\bcythonize\s*\(|\bExtension\s*\(")
_ENTRY = re.compile(r"[\w.:\[\], -]{1,300}\Z")
_UNKNOWN = "0.0.0"


def explain_compiled(tree: Tree, backend: str) -> str:
    """Why the project cannot be imported from its sources alone; empty when it can."""
    top = backend.partition(".")[0]
    if top in _COMPILING:
        return f"the project is built by {top}"
    # That it is a link, if it is one, is told where it is read for what it declares.
    text = read_text(tree, "setup.py", []) if "setup.py" in tree.paths() else ""
    return "setup.py compiles extension modules" if _EXTENSIONS.search(text[:200_000]) else ""


def write_metadata(project: Mapping[str, Any], known: str, site: Path) -> str:
    """Write the project's dist-info to `site`; its version, empty without a name.

    A dynamic version is `known` (what was installed in the failing run), else 0.0.0.
    """
    name = project.get("name")
    if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?", name):
        return ""
    version = normalize_version(project.get("version")) or known or _UNKNOWN
    folder = site / f"{canonicalize_name(name).replace('-', '_')}-{version}.dist-info"
    if folder.exists():
        return version
    folder.mkdir(mode=0o755)
    told = one_line(str(project.get("description", "")), 200)
    files = {
        "METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\nSummary: {told}\n",
        "INSTALLER": "heal-bot\n",
        "RECORD": "",
        "entry_points.txt": _entry_points(project),
    }
    for file, text in files.items():
        (folder / file).write_text(text)
        (folder / file).chmod(0o644)
    return version


def _entry_points(project: Mapping[str, Any]) -> str:
    groups: dict[str, Any] = {
        "console_scripts": project.get("scripts"),
        "gui_scripts": project.get("gui-scripts"),
    }
    more = project.get("entry-points")
    groups.update(more if isinstance(more, Mapping) else {})
    text = ""
    for group, entries in groups.items():
        if isinstance(entries, Mapping) and _ENTRY.match(str(group)):
            pairs = [
                f"{key} = {value}\n"
                for key, value in entries.items()
                if _ENTRY.match(str(key)) and _ENTRY.match(str(value))
            ]
            text += f"[{group}]\n{''.join(pairs)}\n"
    return text
