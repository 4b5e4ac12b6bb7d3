"""What `verify` allows of a bundle that takes a large commit back, on a real repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from heal_bot.checkout.bare_repository import Repository
from heal_bot.environments.local_workspace import LocalWorkspace
from heal_bot.verification.bundle_replay import replay_bundle
from tests.fakes import ScriptedRunner, context_of, passed, quiet_run, suite
from tests.github_server import records

PATH = "shop/pricing.py"
OLD = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(8))
OLD += "class Cart:\n    def f8(self):\n        return 8\n"
NAMES = [*(f"f{n}" for n in range(8)), "Cart.f8"]
NEW = OLD.replace("return", "return 1 +")


def _git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    done = subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True)
    return done.stdout.decode().strip()


def _commit(folder: Path, path: str, text: str) -> str:
    records.write(folder, {path: text})
    _git(folder, "add", "-A")
    _git(folder, "commit", "-qm", "By hand")
    return _git(folder, "rev-parse", "HEAD")


@pytest.mark.parametrize(
    ("undoes", "after", "said"),
    [
        ("its", OLD, ""),
        ("its", OLD.replace("return 8", "return 9"), ""),
        ("newest", OLD, f"{PATH}::f0 is not put back as it was"),
        ("side", OLD, "is not in the history"),
        ("c" * 40, OLD, "is not in the history"),
        ("", OLD, ""),
    ],
)
def test_a_large_patch_has_to_take_back_the_commit_that_it_names(
    tmp_path: Path, undoes: str, after: str, said: str
) -> None:
    source = tmp_path / "source"
    source.mkdir()
    _git(source, "init", "-q", "-b", "main")
    _commit(source, PATH, OLD)
    shas = {"its": _commit(source, PATH, NEW)}
    _git(source, "checkout", "-q", "-b", "side")
    shas["side"] = _commit(source, PATH, OLD)
    _git(source, "checkout", "-q", "main")
    _commit(source, "README", "one")
    shas["newest"] = _commit(source, "README", "two")
    run = quiet_run()[0]
    repository = Repository.of(run, source, tmp_path / "scratch")
    workspace = LocalWorkspace(repository, tmp_path / "trees", tmp_path / "cache")
    values = records.data(shas["newest"], NEW, after)
    values["patch"]["functions"] = [{"path": PATH, "qualname": name} for name in NAMES]
    values["certificate"]["undoes"] = shas.get(undoes, undoes)
    tree = workspace.checkout(run, shas["newest"])
    green = ScriptedRunner([suite(*map(passed, values["patch"]["fixed"]))])
    (row,) = replay_bundle(context_of(run, green, tree, workspace), records.record(values))
    if said:
        assert (row.name, said in row.found) == ("patch", True), row
    else:
        assert row.name == "failing tests"
