"""pytest beside an environment that has none: wheels of the index, in a folder of their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from heal_bot.core.errors import ProvisionError
from heal_bot.core.events import Noted, Run
from heal_bot.core.model import RunHints
from heal_bot.environments import locked_versions, pytest_plugins
from heal_bot.environments.environment_cache import EnvironmentCache
from heal_bot.environments.environment_request import Access
from heal_bot.environments.package_index import PackageIndex
from heal_bot.environments.provision import key_of
from heal_bot.environments.target_interpreter import Interpreter
from heal_bot.environments.uv_input import Package
from heal_bot.environments.wheels import select_versions
from heal_bot.ports.packages import Builder


def lay_pytest(
    run: Run, python: Interpreter, source: Path, hints: RunHints, access: Access, builder: Builder,
    cache: Path,
) -> tuple[Interpreter, tuple[str, ...]]:  # fmt: skip
    """The interpreter with pytest in one folder of packages more, and what was asked for there.

    The folder comes after the environment's own ones and holds nothing that these have; plugins
    that `hints` name come with it. The environment is only read. ProvisionError with the remedy.
    """
    there = locked_versions.read_folders(python.packages)
    if "pytest" in there:  # from a folder of the machine
        return python, ()
    wanted = [n for n in ("pytest", *pytest_plugins.find_reported(hints.plugins)) if n not in there]
    store = EnvironmentCache.at(cache)
    try:
        # What is installed may be newer than the report, and every version of it is a bound.
        index = PackageIndex.at(python, source, store, access, builder)
        bounds = [Package.exactly(name, version) for name, version in there.items() if version]
        whole = index.resolve(run, [Package(name) for name in wanted], bounds)
    except ProvisionError as error:
        raise ProvisionError(
            f"pytest is not installed for {python.given} and cannot be laid beside it ({error}): "
            f"install it there ({python.executable} -m pip install pytest) or give --python "
            "another environment"
        ) from error
    lock = [each for each in whole if each.package.name not in there]
    name = f"beside-{python.version}-{key_of(*map(str, lock))}"

    def unpack(work: Path, final: Path) -> dict[str, Any]:
        index.unpack(run, lock, work / "site-packages")
        if (work / "site-packages/bin").is_dir():
            (work / "site-packages/bin").rename(work / "bin")
        return {}

    store.get(name, unpack)
    message = f"{python.given} has no pytest: {', '.join(wanted)} of the index are laid beside it"
    run.emit(Noted(stage="workspace", message=message, level="info"))
    folder = store.folder / name / "site-packages"
    return replace(python, packages=(*python.packages, folder)), select_versions(lock, wanted)
