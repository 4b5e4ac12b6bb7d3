"""From an interpreter on this machine to an Environment that the sandbox can use."""

from __future__ import annotations

import contextlib
import hashlib
import os
import posixpath
import re
from pathlib import Path
from typing import Any

from heal_bot.checkout.subproject_tree import Below
from heal_bot.checkout.verified_copy import fingerprint, signature
from heal_bot.core.errors import ProvisionError
from heal_bot.core.events import Run
from heal_bot.core.model import Environment
from heal_bot.environments import elf_rpath
from heal_bot.environments.environment_cache import RECORD, EnvironmentCache
from heal_bot.environments.target_interpreter import Interpreter, readable_by_others
from heal_bot.environments.venv_layout import (
    build_environment,
    copy_interpreter,
    leave_library,
    leave_package,
)
from heal_bot.ports import Tree
from heal_bot.source.import_path import find_import_folders

# Part of every cache key: raise it when the layout of an installation changes.
_LAYOUT = "1"
_LOCK = re.compile(
    r"(?:uv|poetry|pdm)\.lock|pylock(?:\.[^/.]+)?\.toml|Pipfile\.lock|requirements[^/]*\.txt"
)


def provision(run: Run, python: Interpreter, source: Path, tree: Tree, cache: Path) -> Environment:
    """The environment of `python` for the tree, laid out below `cache` unless it is there already.

    `source` is the user's working folder: what is installed from it (editable) becomes a path of
    the checkout. The tree may be that of a project below its top. ProvisionError when something
    is missing, with the remedy.
    """
    store = EnvironmentCache.at(cache)
    base, program = place_interpreter(python, source, store)
    prints = [fingerprint(folder, leave_package) for folder in python.packages]
    scripts = fingerprint(python.prefix / "bin", lambda path: path.endswith("/"))
    key = key_of(*prints, scripts, str(program), str(source), str(store.folder))
    final = store.folder / f"venv-{python.version}-{key}"

    def build(work: Path, goal: Path) -> dict[str, Any]:
        return build_environment(python, program, source, work, goal)

    record = store.get(final.name, build)
    for note in record["notes"]:
        run.warn("workspace", note)
    return Environment(
        python=str(final / "bin/python"),
        version=python.version,
        prefix=str(final),
        base_prefix=str(base),
        roots=(str(final), str(base)),
        paths=_paths(tree, record["paths"]),
        lock_hash=_lock_hash(tree),
        manifest_hash=record["manifest"],
        notes=tuple(record["notes"]),
        seal=seal_of(final),
    )


def seal_of(installation: Path) -> str:
    """What names the files of an installation as they lie there; ProvisionError without it."""
    try:
        # The record's time is that of its last use.
        return signature(installation, leave=RECORD)
    except OSError as error:
        raise ProvisionError(
            f"the files of the environment {installation} cannot be read ({error.strerror}):"
            " see what else writes there, and run again"
        ) from error


def place_interpreter(
    python: Interpreter, source: Path, store: EnvironmentCache
) -> tuple[Path, Path]:
    """Prefix and program of the interpreter where the sandbox can use it: in place, or a copy."""
    if not must_copy(python, source):
        return python.base, python.program
    name = f"python-{python.version}-{key_of(_fingerprint(python))}"
    store.get(name, lambda work, _: copy_interpreter(python, work))
    base = store.folder / name
    return base, base / "bin" / f"python{python.short}"


def place_program(program: Path, store: EnvironmentCache) -> Path:
    """A program of ours where the sandbox can read it: in place, or a copy."""
    if os.geteuid() != 0 or readable_by_others(program):
        return program
    status = program.stat()
    name = f"program-{key_of(str(program), str(status.st_size), str(status.st_mtime_ns))}"

    def build(work: Path, _: Path) -> dict[str, Any]:
        (work / program.name).write_bytes(program.read_bytes())
        (work / program.name).chmod(0o755)
        return {}

    store.get(name, build)
    return store.folder / name / program.name


def must_copy(python: Interpreter, source: Path) -> bool:
    """Whether the interpreter cannot be used where it is.

    It lies in the checkout, or we are root, so tests run as another user, and that user cannot
    reach it or a folder its loader looks into.
    """
    if python.base.is_relative_to(source):
        return True
    if os.geteuid() != 0:
        return False
    link = elf_rpath.read_linkage(python.program.read_bytes())
    searched = link.search.split(":") if link is not None else []
    places = [python.program, python.library, python.library / "os.py"]
    places += [Path(p) for p in searched if p.startswith("/") and Path(p).is_dir()]
    return not all(readable_by_others(place) for place in places)


def _fingerprint(python: Interpreter) -> str:
    status = python.program.stat()
    return f"{python.program} {status.st_size} {status.st_mtime_ns} " + fingerprint(
        python.library, leave_library
    )


def key_of(*parts: str) -> str:
    """A short name for what an installation is made of."""
    return hashlib.sha256("\n".join((_LAYOUT, *parts)).encode()).hexdigest()[:20]


def _paths(tree: Tree, editable: list[str]) -> tuple[str, ...]:
    """Folders of the checkout for sys.path: what was installed from it, src, its root, PYTHONPATH.

    All of them begin at the top of the repository, also where the project lies below it.
    """
    whole = tree.tree if isinstance(tree, Below) else tree
    there = [p for p in editable if p == "." or any(f.startswith(f"{p}/") for f in whole.paths())]
    files, top = tree.paths(), tree.folder if isinstance(tree, Below) else "."
    if any(f.startswith("src/") for f in files) and "src/__init__.py" not in files:
        there.append(posixpath.normpath(f"{top}/src"))
    return tuple(dict.fromkeys((*there, top, *find_import_folders(whole, top))))


def _lock_hash(tree: Tree) -> str:
    """SHA-256 over the lock and requirements files at the top of the tree; empty without any."""
    digest = hashlib.sha256()
    names = [path for path in tree.paths() if _LOCK.fullmatch(path)]
    for name in names:
        # What a link leads to is no part of it: only a plain file can be read.
        with contextlib.suppress(KeyError):
            digest.update(f"{name}\0".encode() + hashlib.sha256(tree.read(name)).digest())
    return digest.hexdigest() if names else ""
