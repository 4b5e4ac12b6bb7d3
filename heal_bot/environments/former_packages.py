"""The packages of an environment as they were at the last good state, and environments with some.

What differs is fetched once, each package into a folder of its own. An environment with some of
them is a copy of today's in which their files take the place of the present ones.
"""

from __future__ import annotations

import csv
import posixpath
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement
from packaging.version import InvalidVersion, Version

from heal_bot.core import safe_open
from heal_bot.core.errors import ProvisionError
from heal_bot.core.events import Run
from heal_bot.core.model import Bump, Environment
from heal_bot.environments import locked_versions
from heal_bot.environments.environment_cache import EnvironmentCache
from heal_bot.environments.provision import key_of, seal_of
from heal_bot.environments.requirements import applies, name_of
from heal_bot.environments.target_interpreter import Interpreter, find
from heal_bot.environments.uv_input import Locked
from heal_bot.environments.venv_layout import build_environment
from heal_bot.environments.wheels import RUNS_TESTS, Wheels

_CAP = 16 << 20


def find_bumps(
    run: Run, env: Environment, lock: Sequence[Locked], declared: Iterable[str], wheels: Wheels,
    scratch: Path,
) -> tuple[Bump, ...]:  # fmt: skip
    """What a resolution has in another version than the environment, fetched.

    Declared ones come first, what runs the tests last. What the environment has from elsewhere than
    an index, or without a list of its files, stays.
    """
    python = find(Path(env.prefix))
    today = locked_versions.read_folders(python.packages)
    lists = locked_versions.find_infos(python.packages)
    first, last = set(declared), RUNS_TESTS.match
    changed = [
        each
        for each in sorted(
            lock, key=lambda e: (bool(last(e.package.name)), e.package.name not in first, str(e))
        )
        if _differs(each.version, today.get(each.package.name))
        and (each.package.name not in today or (lists[each.package.name] / "RECORD").is_file())
    ]
    found = []
    for each in changed:
        bump = Bump(each.package.name, each.version, today.get(each.package.name, ""))
        site = _site(scratch, bump)
        if not site.is_dir():
            wheels.unpack(run, [each], site.parent)
        found.append(bump)
    return _coupled(found, python, scratch)


def _differs(good: str, bad: str | None) -> bool:
    """Whether it is another release, or missing; one that is none did not come from an index."""
    try:
        return bad is None or Version(good).public != Version(bad).public
    except InvalidVersion:
        return False


def replace_packages(
    env: Environment, bumps: Sequence[Bump], source: Path, cache: Path, scratch: Path
) -> Environment:
    """A copy of the environment with these packages at their good versions, made once.

    No other package's file is replaced: what runs the tests stays what it is, or comes first.
    """
    python = find(Path(env.prefix))
    ordered = sorted(bumps, key=lambda bump: (not RUNS_TESTS.match(bump.name), bump.name))
    sites = [_site(scratch, bump) for bump in ordered]
    infos = locked_versions.find_infos(python.packages)
    gone = frozenset(
        path for bump in bumps if bump.bad for path in _listed(infos[bump.name])
    )  # fmt: skip
    made = replace(python, packages=(*python.packages, *sites))
    store = EnvironmentCache.at(cache)
    key = key_of(env.prefix, *sorted(f"{bump.name}=={bump.good}" for bump in bumps))
    final = store.folder / f"venv-{env.version}-{key}"
    record = store.get(
        final.name,
        lambda work, goal: build_environment(made, python.program, source, work, goal, gone=gone),
    )
    return replace(
        env,
        python=str(final / "bin/python"),
        prefix=str(final),
        roots=(str(final), *env.roots[1:]),
        manifest_hash=record["manifest"],
        seal=seal_of(final),
    )


def _site(scratch: Path, bump: Bump) -> Path:
    return scratch / "former" / f"{bump.name}-{bump.good}" / "site-packages"


def _listed(info: Path) -> Iterator[str]:
    """The files that a package says it has: below the folder of packages, or scripts as bin/…."""
    try:
        text = safe_open.read(info.parent, f"{info.name}/RECORD", _CAP).decode(errors="replace")
    except OSError as error:
        raise ProvisionError(
            f"{info.name} does not list its files ({error.strerror}): install it anew"
        ) from error
    for row in csv.reader(text.splitlines()):
        path = posixpath.normpath(row[0]) if row else "."
        folder, _, name = path.rpartition("/")
        yield f"bin/{name}" if folder.startswith("..") and folder.endswith("/bin") else path


def _coupled(found: Sequence[Bump], python: Interpreter, scratch: Path) -> tuple[Bump, ...]:
    """The bumps, each with those that it cannot be changed without, by what packages require."""
    names = {bump.name: bump for bump in found}
    needs: dict[str, set[str]] = {name: set() for name in names}
    for bump in found:
        info = locked_versions.find_infos([_site(scratch, bump)]).get(bump.name)
        for asked in _required(info, python.version) if info else ():
            other = names.get(name_of(asked))
            if other and not (other.bad and asked.specifier.contains(other.bad, prereleases=True)):
                needs[bump.name].add(other.name)
    for name, info in locked_versions.find_infos(python.packages).items():
        for asked in _required(info, python.version) if name in names else ():
            other = names.get(name_of(asked))
            if other and not asked.specifier.contains(other.good, prereleases=True):
                needs[other.name].add(name)
    return tuple(
        replace(b, needs=tuple(n for n in names if n in needs[b.name] - {b.name})) for b in found
    )


def _required(info: Path, python: str) -> Iterator[Requirement]:
    """What a package requires on this Python, without its extras."""
    for line in locked_versions.read_metadata(info).get_all("Requires-Dist") or ():
        try:
            asked = Requirement(line)
            if applies(asked, python):
                yield asked
        except (InvalidRequirement, LookupError, RecursionError, ValueError):
            continue
