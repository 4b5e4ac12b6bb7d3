"""The lowest Python that a project admits, and syntax that it does not have."""

from __future__ import annotations

import ast
import re
import warnings
from functools import lru_cache

from packaging.specifiers import InvalidSpecifier, SpecifierSet

from heal_bot.core.model import Edit
from heal_bot.core.toml import read_toml
from heal_bot.ports import Tree
from heal_bot.source import functions

_DECLARED = re.compile(r"python_requires\s*=\s*['\"]?([^'\"\n]{1,100})")
_CLASSIFIER = re.compile(r"Programming Language :: Python :: 3\.(\d{1,2})(?!\d)")
_FILES = ("pyproject.toml", "setup.cfg", "setup.py")
# Below it the parser knows no difference, above it there is no Python yet.
_MINORS = range(7, 30)


def explain_too_new(edit: Edit, tree: Tree) -> str:
    """Why the new source is none for the lowest Python of the project; '' where it is."""
    minor = find_lowest(tree)
    if minor is None or _is_read(edit.new_source, minor) or not _is_read(edit.target.source, minor):
        return ""
    return f"the new code is no syntax of Python 3.{minor}, which the project admits"


def find_lowest(tree: Tree) -> int | None:
    """The minor version of the lowest Python that a project admits; None where it tells nothing."""
    told = {path: tree.read(path) for path in _FILES if path in tree.paths()}
    return _lowest(tuple(told.items()))


@lru_cache(maxsize=16)
def _lowest(files: tuple[tuple[str, bytes], ...]) -> int | None:
    """The minor version that requires-python begins with, else the lowest of the classifiers."""
    texts = {path: data.decode(errors="replace") for path, data in files}
    for text in (_requires(texts.get("pyproject.toml", "")),
                 *(m[1] for t in texts.values() for m in _DECLARED.finditer(t))):  # fmt: skip
        try:
            wanted = SpecifierSet(text.strip())
        except InvalidSpecifier:
            continue
        admitted = (n for n in _MINORS if wanted.contains(f"3.{n}.99"))
        if text.strip() and (found := next(admitted, None)) is not None:
            return found
    named = [int(n) for text in texts.values() for n in _CLASSIFIER.findall(text)]
    return max(min(named), _MINORS[0]) if named else None


def _requires(text: str) -> str:
    """requires-python of a pyproject, or poetry's in the words of a specifier."""
    try:
        parsed = read_toml(text)
        found = parsed.get("project", {}).get("requires-python")
        poetry = parsed.get("tool", {}).get("poetry", {}).get("dependencies", {}).get("python")
    except (ValueError, AttributeError):
        return ""
    if isinstance(found, str):
        return found
    return re.sub(r"^[\^~]\s*", ">=", poetry) if isinstance(poetry, str) else ""


@lru_cache(maxsize=1024)
def _is_read(source: str, minor: int) -> bool:
    text = f"if 1:\n{source}" if functions.find_indentation(source) else source
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(text, feature_version=(3, minor))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True
