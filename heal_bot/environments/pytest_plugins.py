"""Plugins of pytest that a configuration or a report shows to have been there."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

# What a pytest configuration holds only when the plugin is installed.
_SIGNS = (
    ("pytest-cov", r"--(?:no-)?cov\b"),
    ("pytest-xdist", r"(?:^|\s|=|\"|')(?:-n\s*=?\s*(?:auto|logical|\d+)|--dist\b|--numprocesses)"),
    ("pytest-asyncio", r"\basyncio_(?:mode|default_fixture_loop_scope)\b"),
    ("pytest-timeout", r"--timeout\b|^\s*timeout(?:_method)?\s*="),
    ("pytest-django", r"\bDJANGO_SETTINGS_MODULE\b|--(?:ds|reuse-db|nomigrations)\b"),
    ("pytest-randomly", r"-p\s+(?:no:)?randomly|--randomly-"),
    ("pytest-benchmark", r"--benchmark-"),
    ("pytest-mock", r"\bmock_(?:traceback_monkeypatch|use_standalone_module)\b"),
    ("pytest-rerunfailures", r"--(?:only-)?reruns?\b"),
    ("pytest-env", r"^\s*env\s*="),
    ("anyio", r"\banyio_mode\b"),
)
_KNOWN = re.compile(
    r"(?=.{1,80}\Z)(?:pytest(?:-[a-z0-9]+)+|hypothesis|anyio|pyfakefs|requests-mock|respx)\Z"
)
_VERSION_TAIL = re.compile(r"-\d[\w.]*\Z")


def find_implied(
    paths: tuple[str, ...], open_text: Callable[[str], str], pyproject: Mapping[str, Any]
) -> Iterator[str]:
    """Names of plugins that pytest's configuration in the tree cannot do without."""
    text = "\n".join(
        open_text(path)[:100_000]
        for path in ("pytest.ini", ".pytest.ini", "tox.ini", "setup.cfg")
        if path in paths
    )
    tool = pyproject.get("tool")
    table = tool.get("pytest") if isinstance(tool, Mapping) else None
    options = table.get("ini_options") if isinstance(table, Mapping) else None
    if isinstance(options, Mapping):
        text += "".join(f"\n{key} = {value}" for key, value in options.items())
    pytest = text if "pytest" in text or isinstance(options, Mapping) else ""
    for name, sign in _SIGNS:
        if re.search(sign, pytest, re.MULTILINE):
            yield name
    if "manage.py" in paths:
        yield "pytest-django"


def find_reported(names: Iterable[str]) -> tuple[str, ...]:
    """Of the plugins a report names those that are plugins of pytest by their name.

    A report is written by anyone: only names that belong to pytest's plugins are ever fetched.
    """
    bare = (_VERSION_TAIL.sub("", name.strip().lower().replace("_", "-")) for name in names)
    return tuple(dict.fromkeys(name for name in bare if _KNOWN.match(name)))
