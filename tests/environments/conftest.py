"""A real git repository to read, an interpreter with pytest to copy, a folder others can reach."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heal_bot.checkout.bare_repository import Repository
from heal_bot.core.model import RunHints
from heal_bot.core.text import Secret
from heal_bot.environments.environment_request import Access, Wanted
from heal_bot.environments.local_workspace import LocalWorkspace
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun.wheel_builder import SandboxBuilder
from tests.environments.warehouse import Warehouse

PACKAGES = ("pytest", "_pytest", "pluggy", "iniconfig", "packaging", "pygments")
Git = Callable[..., str]


@pytest.fixture(scope="session")
def reachable() -> Iterator[Path]:
    """A folder of ours that every user can enter, as a cache must be."""
    folder = Path(tempfile.mkdtemp(prefix="heal-bot-test-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def base_python() -> Path:
    """The interpreter our own environment was made from."""
    return Path(sys.executable).resolve()


def _environment(python: Path, folder: Path) -> Path:
    folder.parent.mkdir(mode=0o700)
    subprocess.run([str(python), "-m", "venv", "--without-pip", str(folder)], check=True)
    return next(folder.glob("lib/python3*/site-packages"))


@pytest.fixture
def venv(tmp_path: Path, base_python: Path) -> Path:
    """A virtual environment with next to nothing, in a folder that only we can read."""
    folder = tmp_path / "private/venv"
    site = _environment(base_python, folder)
    (site / "pytest").mkdir()
    (site / "pytest/__init__.py").write_text("")
    return folder


@pytest.fixture(scope="session")
def full_venv(tmp_path_factory: pytest.TempPathFactory, base_python: Path) -> Path:
    """As `venv`, with the real pytest and its console script; not to be changed."""
    folder = tmp_path_factory.mktemp("session") / "private/venv"
    site = _environment(base_python, folder)
    ours = Path(pytest.__file__).parent.parent
    for name in PACKAGES:
        shutil.copytree(ours / name, site / name)
    shutil.copy(ours / "py.py", site)
    script = folder / "bin/pytest"
    script.write_text(f"#!{folder}/bin/python\nimport pytest\nraise SystemExit(pytest.main())\n")
    script.chmod(0o755)
    return folder


@pytest.fixture
def warehouse(tmp_path: Path) -> Iterator[Warehouse]:
    """An index that holds a pytest of one line and whatever a test puts there."""
    index = Warehouse(tmp_path / "warehouse")
    index.wheel("pytest", "8.0")
    yield index
    index.close()


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    with Sandbox.start("strict" if os.geteuid() == 0 else "reduced", 1) as started:
        yield started


@pytest.fixture
def assembled(run, source, git, tmp_path, reachable, warehouse, sandbox):
    """Commits `files` and makes the environment of that commit; keywords are those of Wanted."""

    def make(files: dict[str, str], hints: RunHints | None = None, hosts=(), **wanted):
        for path, text in files.items():
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            (source / path).write_text(text)
        git(source, "add", "-A")
        git(source, "commit", "-qm", "Files", "--allow-empty")
        number = len(list(tmp_path.glob("scratch-*")))
        scratch = tmp_path / f"scratch-{number}"
        wanted.setdefault("access", Access(Secret(warehouse.url)))
        workspace = LocalWorkspace(
            Repository.of(run, source, scratch), scratch, reachable / "cache",
            builder=SandboxBuilder(sandbox, hosts),
            wanted=Wanted(**wanted),
        )  # fmt: skip
        return workspace.provision(run, workspace.checkout(run, "HEAD"), hints or RunHints())

    return make


@pytest.fixture
def holds():
    """Names and versions of what an environment holds, by its metadata."""

    def read(env) -> dict[str, str]:
        infos = Path(env.prefix).glob("lib/python3*/site-packages/*.dist-info")
        return dict(info.name.removesuffix(".dist-info").split("-", 1) for info in infos)

    return read
