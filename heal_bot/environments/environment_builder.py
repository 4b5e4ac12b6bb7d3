"""The environment of a failing run made anew: fetched, built, and sealed, from what is declared."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from heal_bot.core import safe_open
from heal_bot.core.errors import ProvisionError
from heal_bot.core.events import Noted, Run
from heal_bot.core.model import Bump, Environment, RunHints
from heal_bot.core.text import count, one_line
from heal_bot.environments import former_packages, locked_versions, project_install, pytest_plugins
from heal_bot.environments.environment_cache import EnvironmentCache
from heal_bot.environments.environment_request import Access, Wanted
from heal_bot.environments.interpreters import IN_THE_JOB, choose, list_installed
from heal_bot.environments.package_index import PackageIndex
from heal_bot.environments.project_metadata import Declared, Named, read_declared
from heal_bot.environments.provision import key_of, place_interpreter, provision
from heal_bot.environments.requirements import Lines, applies, name_of
from heal_bot.environments.target_interpreter import Interpreter, find, read_configuration
from heal_bot.environments.uv_input import Package
from heal_bot.environments.venv_layout import build_environment
from heal_bot.environments.wheels import Wheels, select_versions
from heal_bot.ports import Tree
from heal_bot.ports.packages import Builder

_FREEZE_CAP = 1 << 20
_REMARKS = 5
# pytest, and what its old releases are pinned together with.
_OF_PYTEST = frozenset({"pytest", "pluggy", "py"})


@dataclass(slots=True)
class _Plan:
    """What is to be installed: packages, bounds, and whether they are complete.

    `added` are the packages that nothing declares and the failing run is known to have had, `own`
    those that the project itself requires.
    """

    packages: list[Package] = field(default_factory=list)
    bounds: dict[str, str] = field(default_factory=dict)
    exact: bool = False
    added: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    own: list[Package] = field(default_factory=list)

    def release(self, names: Collection[str]) -> None:
        """Ask for no version of these."""
        self.packages = [each for each in self.packages if each.name not in names]
        self.bounds = {name: each for name, each in self.bounds.items() if name not in names}

    def exactly(self) -> list[Package]:
        """The bounds, as the index takes them."""
        return [Package.exactly(*pair) for pair in self.bounds.items()]


@dataclass(frozen=True, slots=True)
class Supplies:
    """What environments are made of: wishes and hints, a builder, and the folders of it all.

    They are kept in `cache` by what they hold, so that a second run finds its own.
    """

    wanted: Wanted
    hints: RunHints
    builder: Builder
    source: Path
    cache: Path
    scratch: Path

    def open_wheels(self, python: Interpreter, access: Access) -> Wheels:
        """The wheels that an index has, or that are built of what it has."""
        source, store = self.source, EnvironmentCache.at(self.cache)
        index = PackageIndex.at(python, source, store, access, self.builder)
        tools = self.scratch / "index"
        return Wheels(
            index, self.builder, lambda run, tools: _tools(python, tools, source, store), tools
        )


def assemble(run: Run, tree: Tree, supplies: Supplies) -> Environment:
    """Make the environment for `tree`; ProvisionError names what cannot be had and the remedy."""
    wanted, hints = supplies.wanted, supplies.hints
    found = read_declared(tree, wanted.setup)
    if reason := project_install.explain_compiled(tree, found.backend):
        raise ProvisionError(f"{reason}, which needs a compiler: {IN_THE_JOB}")
    left = _left_behind(wanted.folders)
    python, note = choose(
        list_installed(), wanted.python, _wishes(left, hints, found), found.requires
    )
    plan = _plan(tree, wanted, hints, found, left, python)
    _tell(run, [*([note] if note else []), *plan.notes, *found.notes], found.lines.refused)
    store = EnvironmentCache.at(supplies.cache)
    access = wanted.access if plan.exact else date_index(wanted.access, hints.started)
    wheels = supplies.open_wheels(python, access)
    lock = wheels.lock(run, plan.packages, plan.exactly(), plan.own, exact=plan.exact)
    version = locked_versions.version_of(left, str(found.project.get("name", ""))) if left else ""
    resolved = map(str, lock)
    entry = key_of(*resolved, python.version, str(python.program), repr(found.project), version)
    name = f"wheels-{python.version}-{entry}"

    def fill(work: Path, final: Path) -> dict[str, Any]:
        site = wheels.unpack(run, lock, work)
        return {"version": project_install.write_metadata(found.project, version, site)}

    store.get(name, fill)
    folder = store.folder / name
    made = replace(python, given=folder, venv=folder, packages=(folder / "site-packages",))
    env = provision(run, made, supplies.source, tree, supplies.cache)
    notes = [*([note] if note else []), *(f"built here: {b}" for b in wheels.built), *plan.notes]
    return replace(
        env,
        notes=(*env.notes, *notes),
        added=select_versions(lock, plan.added),
        network=supplies.builder.hosts if wheels.built else (),
    )


def former_versions(
    run: Run, tree: Tree, supplies: Supplies, env: Environment, moment: float
) -> tuple[Bump, ...]:
    """What `tree`, of the last good commit, gave at that moment otherwise than `env` has it.

    Versions are those of its lock files, else the newest that the index had then. Where an index
    of the user's own does not tell when it got a file, they are the newest that it has now.
    """
    wanted = supplies.wanted
    found = read_declared(tree, wanted.setup)
    python = find(Path(env.prefix))
    plan = _plan(tree, replace(wanted, freeze=None), supplies.hints, found, None, python)
    dated = replace(wanted.access, until=_written(moment))
    for access in dict.fromkeys((dated, date_index(wanted.access, moment))):
        wheels = supplies.open_wheels(python, access)
        try:
            lock = wheels.lock(run, plan.packages, plan.exactly(), plan.own, exact=False)
        except ProvisionError as error:
            if access.until and access.url:
                message = f"the index does not tell what it had then ({one_line(str(error), 200)})"
                run.warn("workspace", message)
                continue
            raise
        break
    own = canonicalize_name(str(found.project.get("name", "")) or "-")
    lock = tuple(each for each in lock if each.package.name != own)
    return former_packages.find_bumps(
        run, env, lock, (p.name for p in plan.packages), wheels, supplies.scratch
    )


def date_index(access: Access, started: float) -> Access:
    """The index as the failing run found it; as it is now where that moment is not known.

    Indexes other than the public one seldom tell when a file was uploaded: they are taken as
    they are.
    """
    if access.url or not 0 < started < time.time():
        return access
    return replace(access, until=_written(started))


def _written(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _tools(
    python: Interpreter, packages: Path, source: Path, store: EnvironmentCache
) -> Environment:
    """An environment of a build backend alone."""
    base, program = place_interpreter(python, source, store)
    key = key_of(str(program), *sorted(path.name for path in packages.iterdir()))
    made = replace(python, given=packages, venv=packages, packages=(packages,))
    name = f"tools-{python.version}-{key}"

    def build(work: Path, final: Path) -> dict[str, Any]:
        return build_environment(made, program, source, work, final, needs="")

    store.get(name, build)
    prefix = store.folder / name
    return Environment(
        python=str(prefix / "bin/python"),
        version=python.version,
        prefix=str(prefix),
        base_prefix=str(base),
        roots=(str(prefix), str(base)),
    )


def _left_behind(folders: Sequence[Path]) -> Path | None:
    """The virtual environment that the failing run left in its workspace; it is only read."""
    for venv in (folder / name for folder in folders for name in (".venv", "venv")):
        if (venv / "pyvenv.cfg").is_file():
            return venv
    return None


def _wishes(left: Path | None, hints: RunHints, found: Declared) -> list[Named]:
    """Versions of Python that somebody names, the most telling first."""
    wishes: list[Named] = []
    if left is not None:
        told = read_configuration(left)
        version = told.get("version_info", told.get("version", ""))
        if version[:2] == "3.":
            wishes.append(((".".join(version.split(".")[:3]),), f"{left.name} of the failing run"))
    if hints.python:
        wishes.append(((hints.python,), "the failing run"))
    return [*wishes, *found.pythons]


def _plan(
    tree: Tree,
    wanted: Wanted,
    hints: RunHints,
    found: Declared,
    left: Path | None,
    python: Interpreter,
) -> _Plan:
    """Exact versions first: a freeze file, then lock files, then what was left, then ranges."""
    plan = _Plan()
    own = str(found.project.get("name", ""))
    if wanted.freeze is not None:
        lines = _freeze(wanted.freeze)
        plan.exact = True
        plan.notes.append(f"versions are those of {wanted.freeze.name}")
        _take(plan, lines.requirements, python)
        found.lines.refused += [r for r in lines.refused if not own or own not in r]
    else:
        locked = _locked(tree, plan)
        there = locked_versions.read_environment(left) if left else {}
        plan.bounds = {**there, **locked}
        plan.exact = bool(there) and not locked
        _take(plan, found.lines.requirements, python)
        if "pytest" in hints.plugins:
            plan.release(_OF_PYTEST)
            # The certificate names it: whoever verifies the patch needs the same.
            plan.added.append("pytest")
        known = {each.name for each in plan.packages}
        plan.packages += [Package(name) for name in there if name not in {*known, *plan.added}]
        plan.bounds.pop(canonicalize_name(own), None)
        if there:
            plan.notes.append(f"versions are those of {left} of the failing run")
    plan.packages = [each for each in plan.packages if each.name != canonicalize_name(own)]
    known = {each.name for each in plan.packages}
    # The project itself is in the checkout, also where it is a plugin.
    own_or_known = {*known, canonicalize_name(own)}
    plan.added += [
        name for name in pytest_plugins.find_reported(hints.plugins) if name not in own_or_known
    ]
    programs = [name for name in wanted.programs if name not in {*known, *plan.added}]
    pytest = ["pytest"] if "pytest" not in {*known, *plan.added} else []
    plan.packages += [Package(name) for name in (*plan.added, *programs, *pytest)]
    _take(plan, (c for c in found.lines.constraints if name_of(c) in known), python)
    plan.own = [Package.of(r) for r in found.own if applies(r, python.version)]
    return plan


def _take(plan: _Plan, requirements: Iterable[Requirement], python: Interpreter) -> None:
    plan.packages += [Package.of(r) for r in requirements if applies(r, python.version)]


def _locked(tree: Tree, plan: _Plan) -> dict[str, str]:
    """Versions of the lock files at the top of the tree; the first kind that is there decides."""
    for path in (name for name in locked_versions.LOCKS if name in tree.paths()):
        try:
            found, odd = locked_versions.read_lock(tree.read(path).decode(errors="replace"))
        except KeyError:
            plan.notes.append(f"{path} is a link and is not read")
            continue
        except ValueError as error:
            raise ProvisionError(
                f"{path} is not a lock file ({one_line(str(error), 100)}): create it again, or "
                "name versions with freeze"
            ) from error
        others = [name for name in locked_versions.LOCKS if name in tree.paths() and name != path]
        plan.notes.append(
            f"versions are those of {path}" + (f", not of {others[0]}" if others else "")
        )
        if odd:
            entries = count(odd, "entry", "entries")
            plan.notes.append(f"{path}: {entries} whose name or version is none left out")
        return found
    return {}


def _freeze(path: Path) -> Lines:
    try:
        text = safe_open.read(path.parent, path.name, _FREEZE_CAP).decode(errors="replace")
    except OSError as error:
        raise ProvisionError(
            f"the freeze file {path} cannot be read ({error.strerror}): write it in the failing "
            "job with `pip freeze > FILE`"
        ) from error

    lines = Lines()
    lines.read(path.name, {path.name: text}.__getitem__)
    if not lines.requirements:
        raise ProvisionError(
            f"the freeze file {path} names no package: write it with `pip freeze > FILE`"
        )
    return lines


def _tell(run: Run, notes: Sequence[str], refused: Sequence[str]) -> None:
    """Say what was decided, and the first of what was passed over."""
    for note in notes:
        run.emit(Noted(stage="workspace", message=note, level="info"))
    for remark in refused[:_REMARKS]:
        run.warn("workspace", remark)
    if (more := len(refused) - _REMARKS) > 0:
        run.warn("workspace", f"{more} more requirements were passed over")
