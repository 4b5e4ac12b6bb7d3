"""From requirements to a folder of unpacked wheels: fetched, and built where none is to be had."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename

from heal_bot.core.errors import ProvisionError
from heal_bot.core.events import Run
from heal_bot.core.model import Environment
from heal_bot.core.text import one_line
from heal_bot.environments.interpreters import IN_THE_JOB
from heal_bot.environments.package_index import NoWheelError, PackageIndex, ResolveError
from heal_bot.environments.requirements import Lines, applies
from heal_bot.environments.uv_input import Locked, Package
from heal_bot.ports.packages import Builder

_MOST_BUILDS = 20
# Without a build-system table setup.py is run; old ones import what setuptools 81 dropped.
_LEGACY = ("setuptools.build_meta:__legacy__", ("setuptools<81", "wheel"))
_BACKEND = re.compile(r"[\w.]{1,200}(?::[\w.]{1,200})?\Z")
_BACKEND_PATH = re.compile(r"[\w./-]{1,200}\Z")
# What stands for pytest itself: no other wheel's file replaces one of it.
RUNS_TESTS = re.compile(
    r"(?:pytest(?:-[\w-]+)?|pluggy|iniconfig|packaging|pygments|exceptiongroup|tomli)\Z"
)


@dataclass(slots=True)
class Wheels:
    """Resolves and builds; `environment` makes an Environment of a folder of packages.

    `built` names what was built here, for the certificate and the notes, and `own` holds these
    wheels by file name; they are looked into like an index. `folder` is for what is fetched.
    """

    index: PackageIndex
    builder: Builder
    environment: Callable[[Run, Path], Environment]
    folder: Path
    built: list[str] = field(default_factory=list)
    own: dict[str, bytes] = field(default_factory=dict)

    def lock(
        self, run: Run, packages: Sequence[Package], bounds: Sequence[Package],
        own: Sequence[Package] = (), *, exact: bool,
    ) -> tuple[Locked, ...]:  # fmt: skip
        """Exact versions for all packages; what has no wheel is built on the way.

        `exact` packages are a whole environment: where they contradict each other they are
        taken as they are, as the failing run had them. Else `own`, what the project itself
        requires, takes the place of other bounds of the same packages: jobs install requirements
        files first and then the project, and the later one counts.
        """
        try:
            return self._resolve(run, packages, bounds, deps=True)
        except ResolveError as error:
            names = {each.name for each in own}
            others = [each for each in packages if each.name not in names]
            if not exact and len(others) + len(own) < len(packages):
                message = f"what the project itself requires is taken where {error}"
                run.warn("workspace", one_line(message, 300))
                return self.lock(run, [*others, *own], bounds, exact=False)
            if not exact:
                raise ProvisionError(
                    f"the dependencies cannot be had: {error}: {IN_THE_JOB}"
                ) from error
            message = f"the exact versions contradict each other and are taken as they are: {error}"
            run.warn("workspace", one_line(message, 300))
            return self._resolve(run, packages, bounds, deps=False)

    def _resolve(
        self, run: Run, packages: Sequence[Package], bounds: Sequence[Package], *, deps: bool
    ) -> tuple[Locked, ...]:
        for _ in range(_MOST_BUILDS):
            try:
                return self.index.resolve(run, packages, bounds, built=self.own, deps=deps)
            except NoWheelError as error:
                if any(name.partition(" ")[0] == error.name for name in self.built):
                    raise ProvisionError(
                        f"{error.name} was built in another version than is needed: {IN_THE_JOB}"
                    ) from error
                self._build(run, _bounded(error.name, (*packages, *bounds)))
        raise ProvisionError(f"more than {_MOST_BUILDS} packages have no wheel: {IN_THE_JOB}")

    def unpack(self, run: Run, lock: Sequence[Locked], folder: Path) -> Path:
        """Unpack everything below a folder, scripts beside the packages; where these are.

        pytest and its plugins come first and only from the index: what is there stays.
        """
        target = folder / "site-packages"
        ours = [each for each in lock if RUNS_TESTS.match(each.package.name)]
        others = [each for each in lock if not RUNS_TESTS.match(each.package.name)]
        if ours:
            self.index.unpack(run, ours, target)
        if others:
            self.index.unpack(run, others, target, built=self.own)
        scripts = target / "bin"
        scripts.rename(folder / "bin") if scripts.is_dir() else (folder / "bin").mkdir()
        return target

    def _build(self, run: Run, package: Package) -> None:
        """Build one source archive; its backend comes from the index, as wheels."""
        name = package.name
        try:
            if RUNS_TESTS.match(name):
                raise ProvisionError("what runs the tests is taken as a wheel alone")
            file, data, pyproject = self.index.sdist(run, package)
            backend, requires, path = _build_system(file, pyproject)
            wheel, content = self._run_backend(run, data, backend, requires, path)
            _check(wheel, name)
        except ProvisionError as error:
            raise ProvisionError(
                f"{package} has no wheel for Python {self.index.python} and cannot be built "
                f"here ({one_line(str(error), 220)}): {IN_THE_JOB}"
            ) from error
        self.own[wheel] = content
        self.built.append(f"{name} {wheel.split('-')[1]}")

    def _run_backend(
        self, run: Run, sdist: bytes, backend: str, requires: Sequence[str], path: Sequence[str]
    ) -> tuple[str, bytes]:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        tools = Path(tempfile.mkdtemp(prefix="tools-", dir=self.folder))
        lines = Lines()
        for line in requires:
            lines.add(line, "its build")
        if lines.refused:
            raise ProvisionError(f"its build needs what no index has: {lines.refused[0]}")
        python = f"{self.index.python}.0"
        wanted = [Package.of(r) for r in lines.requirements if applies(r, python)]
        lock = self.index.resolve(run, wanted)
        self.index.unpack(run, lock, tools)
        return self.builder.build(run, self.environment(run, tools), sdist, backend, path)


def _bounded(name: str, packages: Sequence[Package]) -> Package:
    """The package of that name with all that bounds its version."""
    wanted = canonicalize_name(name)
    bounds = [bound for each in packages if each.name == wanted for bound in each.bounds]
    return Package(wanted, (), tuple(dict.fromkeys(bounds)))


def _build_system(
    file: str, pyproject: Mapping[str, Any]
) -> tuple[str, Sequence[str], Sequence[str]]:
    """Backend, what it requires, and its path, as the archive's pyproject.toml says."""
    if not file.endswith((".tar.gz", ".tgz")):
        raise ProvisionError(f"{one_line(file, 80)} is not a tar.gz archive")
    table = pyproject.get("build-system") or {}
    if not isinstance(table, Mapping) or not isinstance(table.get("build-backend"), str):
        return _LEGACY[0], _LEGACY[1], ()
    backend, path = table["build-backend"], table.get("backend-path") or ()
    requires = [str(line) for line in table.get("requires") or ()]
    if not _BACKEND.match(backend) or not all(_is_inside(part) for part in path):
        raise ProvisionError(f"its build backend {one_line(backend, 80)} is none")
    if backend.startswith("setuptools"):
        requires += ["setuptools", "wheel"]
    return backend, requires, [str(part) for part in path]


def _is_inside(part: object) -> bool:
    return isinstance(part, str) and bool(_BACKEND_PATH.match(part)) and ".." not in part


def _check(wheel: str, name: str) -> None:
    """The wheel is of the package that was asked for."""
    try:
        built, *_ = parse_wheel_filename(wheel)
    except InvalidWheelFilename as error:
        raise ProvisionError(f"the build left {one_line(wheel, 80)}, which is no wheel") from error
    if built != name:
        raise ProvisionError(f"the build left a wheel of {one_line(str(built), 80)}")


def select_versions(lock: Iterable[Locked], names: Iterable[str]) -> tuple[str, ...]:
    """The packages of a resolution that have these names, each with its version."""
    there = {each.package.name: each.version for each in lock}
    return tuple(f"{name} {there[name]}" for name in names if name in there)
