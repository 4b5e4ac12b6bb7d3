"""pytest beside an environment that has none, which is not touched."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from heal_bot.checkout.bare_repository import Repository
from heal_bot.checkout.verified_copy import fingerprint
from heal_bot.core.errors import ProvisionError
from heal_bot.core.model import RunHints
from heal_bot.core.text import Secret
from heal_bot.environments.environment_request import Access, Wanted
from heal_bot.environments.local_workspace import LocalWorkspace
from heal_bot.testrun.wheel_builder import SandboxBuilder

pytestmark = pytest.mark.long
INFO = "Metadata-Version: 2.1\nName: {}\nVersion: {}\n"


@pytest.fixture
def bare(venv: Path) -> Path:
    """An environment with an old `dep`, a `grown` of a folder, and no pytest."""
    site = next(venv.glob("lib/python3*/site-packages"))
    shutil.rmtree(site / "pytest")
    for name, version in (("dep", "1.0"), ("grown", "0.1")):
        (site / f"{name}.py").write_text(f"version = 'own {version}'\n")
        (site / f"{name}-{version}.dist-info").mkdir()
        (site / f"{name}-{version}.dist-info/METADATA").write_text(INFO.format(name, version))
    (site / "grown-0.1.dist-info/direct_url.json").write_text('{"url": "file:///grown"}')
    return venv


@pytest.fixture
def provisioned(run, source, tmp_path, reachable, warehouse, sandbox):
    def make(python: Path, hints: RunHints | None = None, url: str = ""):
        scratch = tmp_path / f"scratch-{len(list(tmp_path.glob('scratch-*')))}"
        workspace = LocalWorkspace(
            Repository.of(run, source, scratch), scratch, reachable / "cache", python,
            builder=SandboxBuilder(sandbox),
            wanted=Wanted(access=Access(Secret(url or warehouse.url))),
        )  # fmt: skip
        return workspace.provision(run, workspace.checkout(run, "HEAD"), hints or RunHints())

    return make


def inside(env, code: str) -> str:
    done = subprocess.run([env.python, "-I", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_pytest_comes_after_what_the_environment_has_and_leaves_it_as_it_was(
    provisioned, bare, warehouse
):
    warehouse.wheel("dep", "1.0")
    warehouse.wheel("dep", "2.0")
    warehouse.wheel("grown", "5.0")
    warehouse.wheel("more", files={"grown.py": "version = 'foreign'\n"})
    script = {"pytest-9.0.dist-info/entry_points.txt": "[console_scripts]\npytest = pytest:run\n"}
    main = "version = '9.0'\ndef run(): print('started')\n"
    needs = ["dep", "grown", "more"]
    warehouse.wheel("pytest", "9.0", {"pytest.py": main, **script}, requires=needs)
    before = fingerprint(bare, lambda path: False)
    env = provisioned(bare)
    code = "import pytest, dep, grown, more; print(pytest.version, dep.version, grown.version)"
    assert inside(env, code) == "9.0 own 1.0 own 0.1"
    assert env.added == ("pytest 9.0",)
    assert fingerprint(bare, lambda path: False) == before
    started = subprocess.run([f"{env.prefix}/bin/pytest"], capture_output=True, text=True)
    assert started.stdout == "started\n", started.stderr
    assert provisioned(bare).prefix == env.prefix


def test_a_plugin_that_is_missing_is_laid_beside_it_too(provisioned, bare, warehouse):
    warehouse.wheel("pytest_mock", "3.1")
    first = provisioned(bare)
    env = provisioned(bare, RunHints(plugins=("pytest-mock", "dep", "evil")))
    assert env.added == ("pytest 8.0", "pytest-mock 3.1")
    assert env.prefix != first.prefix
    assert inside(env, "import pytest_mock; print(pytest_mock.version)") == "3.1"


def test_an_environment_that_has_pytest_asks_no_index(provisioned, venv, warehouse):
    env = provisioned(venv, RunHints(plugins=("pytest-mock",)))
    assert (env.added, warehouse.asked) == ((), [])


def test_without_an_index_the_reason_names_pytest_and_the_remedy(provisioned, bare):
    with pytest.raises(ProvisionError) as caught:
        provisioned(bare, url="http://127.0.0.1:9/simple")
    said = str(caught.value)
    assert said.startswith(f"pytest is not installed for {bare} and cannot be laid beside it (")
    assert said.endswith(
        f"install it there ({bare}/bin/python -m pip install pytest) or give --python another "
        "environment"
    )
