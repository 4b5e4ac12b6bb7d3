"""The target's interpreter and packages laid out anew, where the sandbox may read and no one write.

Two folders: a copy of the interpreter (only where the original cannot be used in place) and a
virtual environment on it, which holds every package the target had.
"""

from __future__ import annotations

import os
import re
from functools import partial
from pathlib import Path
from typing import Any

from heal_bot.checkout.verified_copy import Manifest, copy
from heal_bot.core.errors import ProvisionError
from heal_bot.environments import elf_rpath
from heal_bot.environments.editable_installs import Editables
from heal_bot.environments.target_interpreter import Interpreter

_TESTS = {"test", "tests", "idle_test"}
_UNUSED = {"site-packages", "dist-packages", "idlelib", "turtledemo"}
_PYTHON = re.compile(r"python[\d.]*t?\Z")
_COMPILED = re.compile(r"__pycache__/([^/.]+)\.[^/]+\.pyc\Z")
_SHEBANG_LIMIT = 127


def leave_library(path: str) -> bool:
    """What of a standard library is not copied: its own tests, packages, build leftovers."""
    parts = path.rstrip("/").split("/")
    if parts[0] in _UNUSED or parts[0].startswith("config-"):
        return True
    if parts[0] == "test":
        return len(parts) > 1 and parts[1] not in {"__init__.py", "support"}
    return parts[-1] in _TESTS or leave_package(path) or path.endswith(".a")


def leave_package(path: str) -> bool:
    """What of installed packages is not copied: bytecode of other optimisation levels."""
    return path.endswith((".opt-1.pyc", ".opt-2.pyc"))


def leave_nested(path: str) -> bool:
    """All but shared libraries that lie directly in a folder."""
    return path.endswith("/") or ".so" not in path


def copy_interpreter(python: Interpreter, work: Path) -> dict[str, Any]:
    """Fill `work` with bin, shared libraries and standard library; the program finds its own.

    A program with an absolute library path would load nothing, or another version, once that
    path is out of reach: the path is rewritten to be relative to the program.
    """
    manifest = Manifest()
    copy(python.base / "lib", work / "lib", manifest, leave_nested, label="lib/")
    library = work / "lib" / python.library.name
    copy(python.library, library, manifest, leave_library, label="stdlib/")
    (work / "bin").mkdir(mode=0o755)
    program = work / "bin" / f"python{python.short}"
    data = python.program.read_bytes()
    link = elf_rpath.read_linkage(data)
    if link is not None and link.search and "$ORIGIN" not in link.search:
        libraries = [p.name for p in (work / "lib").iterdir() if p.name in link.needed]
        relative = "$ORIGIN/../lib"
        if len(relative) > len(link.search):
            relative = "$ORIGIN"
            for name in libraries:
                (work / "bin" / name).symlink_to(f"../lib/{name}")
        data = elf_rpath.relink(data, relative)
    program.write_bytes(data)
    program.chmod(0o755)
    (work / "bin").chmod(0o755)
    return {"manifest": manifest.hash()}


def build_environment(
    python: Interpreter,
    program: Path,
    source: Path,
    work: Path,
    final: Path,
    needs: str = "pytest",
    gone: frozenset[str] = frozenset(),
) -> dict[str, Any]:
    """Fill `work` with a virtual environment on `program` that has the packages of `python`.

    It must hold the module `needs`. Files of its first folder of packages, and of its `bin`, that
    are `gone` are left out. Returns the manifest's hash, the checkout-relative paths of
    editable installs, and notes.
    """
    site = work / "lib" / python.library.name / "site-packages"
    manifest, editables = Manifest(), Editables(source)
    site.mkdir(mode=0o755, parents=True)
    for folder in python.packages:
        first = folder == python.packages[0]
        _copy_packages(folder, site, manifest, editables, gone if first else frozenset())
    if python.venv is not None:
        for name in ("share", "etc"):
            if (python.venv / name).is_dir():
                copy(python.venv / name, work / name, manifest, leave_package, label=f"{name}/")
    _scripts(python, work, final, manifest, gone)
    _launchers(python, program, work)
    if needs and not (site / needs).is_dir() and not (site / f"{needs}.py").is_file():
        raise ProvisionError(
            f"{needs} is not installed for {python.given}: install it there "
            f"({python.executable} -m pip install {needs}) or give --python another environment"
        )
    notes = list(editables.notes)
    if manifest.skipped:
        some = ", ".join(manifest.skipped[:3])
        notes.append(f"{len(manifest.skipped)} links of the environment were not copied: {some}")
    return {"manifest": manifest.hash(), "paths": editables.paths, "notes": notes}


def _copy_packages(
    folder: Path, site: Path, manifest: Manifest, editables: Editables, gone: frozenset[str]
) -> None:
    def leave(path: str) -> bool:
        # A compiled file of another version may look as if it were of this one.
        return leave_package(path) or path in gone or _COMPILED.sub(r"\1.py", path) in gone

    before = len(manifest.skipped)
    copy(folder, site, manifest, lambda p: p.endswith(".pth") or leave(p), editables.change)
    # A package linked into the repository is an editable install too.
    links = manifest.skipped[before:]
    manifest.skipped[before:] = [
        path for path in links if not editables.add(Path(os.path.realpath(folder / path)).parent)
    ]
    copy(folder, site, manifest, lambda p: not p.endswith(".pth") or leave(p), editables.change)
    for link in sorted(folder.glob("*.egg-link")):
        _egg(link, site, manifest, editables)


def _egg(link: Path, site: Path, manifest: Manifest, editables: Editables) -> None:
    """Bring the metadata that a `develop` install keeps in the repository itself."""
    place = Path(link.read_text(errors="replace").partition("\n")[0].strip())
    if place.is_absolute() and editables.add(place):
        for info in sorted(place.glob("*.egg-info")):
            if info.is_dir() and not info.is_symlink():
                copy(info, site / info.name, manifest, leave_package, label=f"{info.name}/")


def _launchers(python: Interpreter, program: Path, work: Path) -> None:
    (work / "bin").mkdir(mode=0o755, exist_ok=True)
    (work / "bin/python").symlink_to(program)
    for name in ("python3", f"python{python.short}"):
        (work / "bin" / name).symlink_to("python")
    (work / "pyvenv.cfg").write_text(
        f"home = {program.parent}\ninclude-system-site-packages = false\n"
        f"version = {python.version}\nexecutable = {program}\n"
    )
    for folder in (work, work / "bin", work / "lib"):
        folder.chmod(0o755)
    (work / "pyvenv.cfg").chmod(0o644)


def _scripts(
    python: Interpreter, work: Path, final: Path, manifest: Manifest, gone: frozenset[str]
) -> None:
    """Copy console scripts so that they start our Python, and a venv's own programs."""
    launcher = f"{final}/bin/python"

    def change(path: str, data: bytes) -> bytes | None:
        if not data.startswith(b"#!"):
            return data if python.venv is not None and b"VIRTUAL_ENV" not in data else None
        return _restarted(data, launcher)

    def leave(out: frozenset[str], path: str) -> bool:
        own = path.endswith("/") or bool(_PYTHON.match(path)) or path.startswith("activate")
        return own or f"bin/{path}" in out

    own = python.venv is not None or python.base != Path("/usr")
    folders = [python.prefix / "bin"] if own else []
    # Packages that were laid beside an environment have their scripts beside them.
    folders += [folder.parent / "bin" for folder in python.packages]
    for folder in (place for place in dict.fromkeys(folders) if place.is_dir()):
        skipped = len(manifest.skipped)
        out = gone if folder == python.prefix / "bin" else frozenset()
        copy(folder, work / "bin", manifest, partial(leave, out), change, label="bin/")
        del manifest.skipped[skipped:]


def _restarted(data: bytes, launcher: str) -> bytes | None:
    """A script with our Python in its first lines; None when no Python runs it."""
    first, _, rest = data.partition(b"\n")
    if b"python" in first:
        body = rest
    elif first.rstrip() == b"#!/bin/sh" and rest.startswith(b"'''exec' "):
        # How installers write a path too long or with spaces: three lines of shell and Python.
        body = rest.split(b"\n", 2)[2] if rest.count(b"\n") > 1 else b""
    else:
        return None
    if len(launcher) + 2 <= _SHEBANG_LIMIT and " " not in launcher:
        return f"#!{launcher}\n".encode() + body
    return f"#!/bin/sh\n'''exec' \"{launcher}\" \"$0\" \"$@\"\n' '''\n".encode() + body
