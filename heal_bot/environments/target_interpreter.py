"""The target's interpreter, read as files and never run: running it would run its .pth files."""

from __future__ import annotations

import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heal_bot.core import safe_open
from heal_bot.core.errors import ProvisionError
from heal_bot.environments import elf_rpath

_PROGRAM_CAP = 256 << 20
_NAME = re.compile(r"python(3\.\d+)(t?)\Z")
_VERSION = re.compile(r"\d+\.\d+\.\d+(?:(?:a|b|rc)\d+)?")
OLDEST = (3, 9)
MAKE_ONE = (
    "make one in the repository (python3 -m venv .venv && .venv/bin/pip install -e . pytest) or "
    "give --python PATH"
)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """An installed Python and, when `venv` is set, the virtual environment on top of it.

    `program` is the real executable, `base` the prefix it was installed to, `library` its
    standard library, `packages` the folders that packages are imported from, first wins.
    """

    given: Path
    program: Path
    base: Path
    library: Path
    version: str
    venv: Path | None
    packages: tuple[Path, ...]

    @property
    def prefix(self) -> Path:
        """Where scripts and data of installed packages lie."""
        return self.venv or self.base

    @property
    def executable(self) -> Path:
        """The program as a person starts it."""
        return self.given if self.given.is_file() else self.given / "bin/python"

    @property
    def short(self) -> str:
        """The version as folders name it: 3.11, or 3.13t when free-threaded."""
        return self.library.name.removeprefix("python")

    def holds(self, name: str) -> bool:
        """Whether a package or module of that name lies in one of the folders."""
        places = (place / name for place in self.packages)
        return any(p.is_dir() or p.with_name(f"{name}.py").is_file() for p in places)


def choose(given: Path | None, candidates: Sequence[Path]) -> Interpreter | None:
    """The interpreter at `given`, else at the first candidate that works here, else none.

    A path may name an executable or a virtual environment. An environment whose interpreter is
    not on this machine (it was made outside of a container) is none. ProvisionError for a
    `given` one that is unusable.
    """
    if given is not None:
        return find(given)
    for candidate in candidates:
        program = candidate / "bin/python" if candidate.is_dir() else candidate
        if program.exists() and (program.is_file() or (candidate / "pyvenv.cfg").is_file()):
            return find(candidate)
    return None


def find(path: Path) -> Interpreter:
    """Read the layout around an executable or a virtual environment.

    ProvisionError when there is no CPython 3.9 or newer, or only a script that starts one.
    """
    executable = path / "bin/python" if path.is_dir() else path
    if not executable.exists():
        raise ProvisionError(f"{executable} does not exist: give --python the path of a Python")
    venv = _venv_of(executable)
    program = executable.resolve()
    if venv is not None and program.parent == venv.resolve() / "bin":
        # The environment was made with copies of the executable; its own home knows the real one.
        program = _home_program(venv, program.name)
    data = _program_bytes(program)
    base, library = _layout(program)
    version = _version(venv, data, base, library)
    if tuple(int(part) for part in version.split(".")[:2]) < OLDEST:
        raise ProvisionError(f"{path} is Python {version}; heal-bot runs tests on 3.9 and newer")
    return Interpreter(path, program, base, library, version, venv, _packages(venv, base, library))


def readable_by_others(path: Path) -> bool:
    """Whether any user can reach and read `path`, looked at along its real components."""
    real = path.resolve()
    for folder in real.parents:
        if not folder.stat().st_mode & stat.S_IXOTH:
            return False
    mode = real.stat().st_mode
    wanted = stat.S_IROTH | (stat.S_IXOTH if stat.S_ISDIR(mode) else 0)
    return mode & wanted == wanted


def _venv_of(executable: Path) -> Path | None:
    """The virtual environment an executable belongs to, by the pyvenv.cfg beside its folder."""
    folder = executable.absolute().parent
    return next((p for p in (folder.parent, folder) if (p / "pyvenv.cfg").is_file()), None)


def read_configuration(venv: Path) -> dict[str, str]:
    """The keys of pyvenv.cfg in lower case."""
    try:
        text = safe_open.read(venv, "pyvenv.cfg", 65536).decode(errors="replace")
    except OSError as error:
        raise ProvisionError(f"{venv}/pyvenv.cfg cannot be read: {error.strerror}") from error
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip().lower(): value.strip() for key, _, value in pairs}


def _home_program(venv: Path, name: str) -> Path:
    home = Path(read_configuration(venv).get("home", ""))
    for candidate in (home / name, home / "python3", home / "python"):
        if home.is_absolute() and candidate.exists():
            return candidate.resolve()
    raise ProvisionError(
        f"the Python that {venv} was made from is gone from {home}: create it again"
    )


def _program_bytes(program: Path) -> bytes:
    try:
        data = safe_open.read(program.parent, program.name, _PROGRAM_CAP)
    except OSError as error:
        raise ProvisionError(f"{program} cannot be read: {error.strerror}") from error
    if data.startswith(b"#!"):
        raise ProvisionError(
            f"{program} is a script that starts a Python, such as a pyenv shim: give --python the "
            "interpreter itself or a virtual environment made with it"
        )
    if elf_rpath.read_linkage(data) is None:
        raise ProvisionError(
            f"{program} is not a 64-bit Linux program; heal-bot needs CPython there"
        )
    return data


def _layout(program: Path) -> tuple[Path, Path]:
    """Prefix and standard library, by the landmark os.py as CPython's getpath looks for it."""
    named = _NAME.match(program.name)
    base = program.parent.parent
    names = (
        [f"python{named[1]}{named[2]}", f"python{named[1]}"]
        if named
        else sorted((path.name for path in (base / "lib").glob("python3.*")), reverse=True)
    )
    for name in names:
        if (base / "lib" / name / "os.py").is_file():
            return base, base / "lib" / name
    raise ProvisionError(f"{program} has no standard library beside it (lib/python3.*/os.py)")


def _version(venv: Path | None, data: bytes, base: Path, library: Path) -> str:
    """The full version: from the headers, the program's own text, or else from pyvenv.cfg."""
    short = library.name.removeprefix("python").rstrip("t")
    number = re.escape(short) + r"\.\d+(?:(?:a|b|rc)\d+)?\+?"
    header = base / "include" / library.name / "patchlevel.h"
    if header.is_file():
        text = safe_open.read(header.parent, header.name, 65536).decode(errors="replace")
        if found := re.search(rf'#define PY_VERSION\s+"({number})"', text):
            return found[1]
    if inside := re.search(rf"\0({number})\0".encode(), data):
        return inside[1].decode()
    if venv is not None:
        config = read_configuration(venv)
        told = _VERSION.match(config.get("version_info", config.get("version", "")))
        if told and told[0].startswith(short + "."):
            return told[0]
    raise ProvisionError(
        f"the exact version of the Python below {base} cannot be read from its files: make a "
        "virtual environment with it (python3 -m venv .venv) and give that"
    )


def _packages(venv: Path | None, base: Path, library: Path) -> tuple[Path, ...]:
    """Folders of installed packages in the order of sys.path."""
    found = []
    if venv is not None:
        found.append(venv / "lib" / library.name / "site-packages")
    if venv is None or read_configuration(venv).get("include-system-site-packages") == "true":
        found += [
            base / "local/lib" / library.name / "dist-packages",
            library / "site-packages",
            base / "lib/python3/dist-packages",
        ]
    return tuple(path for path in found if path.is_dir())
