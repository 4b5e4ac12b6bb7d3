"""Real pytest suites in folders, an interpreter every uid can read, and a runner for them."""

from __future__ import annotations

import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.model import Candidate, Edit, Environment
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.source import functions
from heal_bot.testrun.runner import SuiteRunner

INSIDE = Path(__file__).parents[2] / "heal_bot" / "testrun" / "agent"
PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
DISTRIBUTIONS = ("pytest", "pluggy", "iniconfig", "packaging", "pygments")


@dataclass(frozen=True)
class Folder:
    """A tree that is a plain folder."""

    root: Path
    sha: str = "0" * 40
    tree_sha: str = "0" * 40

    def paths(self) -> tuple[str, ...]:
        found = (p for p in self.root.rglob("*") if p.is_file())
        return tuple(sorted(str(p.relative_to(self.root)) for p in found))

    def read(self, path: str) -> bytes:
        return (self.root / path).read_bytes()

    def blob(self, path: str) -> str:
        return "1" * 40

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return {}

    def blamed(self, path: str, line: int) -> tuple[str, str]:
        return "", ""

    def candidate(self, qualname: str, source: str, *imports: str, path: str = "m.py") -> Candidate:
        """Replace one target by new source."""
        targets = functions.index_targets(path, (self.root / path).read_text())
        target = next(t for t in targets if t.qualname == qualname)
        return Candidate((Edit(target, source, imports),), "rules", "test")


@pytest.fixture(scope="session")
def site() -> Iterator[Path]:
    """pytest and what it needs, readable by every uid."""
    folder = Path(tempfile.mkdtemp(prefix="heal-bot-site-", dir="/tmp"))
    folder.chmod(0o755)
    for name in DISTRIBUTIONS:
        for file in importlib.metadata.files(name) or ():
            if "__pycache__" not in file.parts and ".." not in file.parts:
                copy = folder / file
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file.locate(), copy)
    subprocess.run(["chmod", "-R", "a+rX", str(folder)], check=True)
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(scope="session")
def env(site: Path) -> Environment:
    code = "import sys; print(sys.version.split()[0], sys.prefix, sys.base_prefix)"
    said = subprocess.run([PYTHON, "-I", "-c", code], capture_output=True, text=True, check=True)
    version, prefix, base = said.stdout.split()
    return Environment(PYTHON, version, prefix, base, (str(site),), (".", str(site)))


@pytest.fixture
def runner(sandbox: Sandbox) -> Iterator[SuiteRunner]:
    """A runner, which keeps no slot of the shared sandbox for a session that never comes."""
    made = SuiteRunner(sandbox)
    yield made
    made.make_room(room=sandbox.count)


@pytest.fixture(scope="session")
def folder() -> Callable[[Path, Mapping[str, str]], Folder]:
    """Writes files below a folder and calls it a tree."""

    def make(root: Path, files: Mapping[str, str]) -> Folder:
        for name, text in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return Folder(root)

    return make


@pytest.fixture
def project(
    tmp_path: Path, folder: Callable[[Path, Mapping[str, str]], Folder]
) -> Callable[[Mapping[str, str]], Folder]:
    """A tree of this test with these files."""
    return lambda files: folder(tmp_path / "tree", files)


@pytest.fixture
def bare(site: Path, tmp_path: Path) -> Callable[..., list[dict[str, Any]]]:
    """The driver's records, run by any interpreter without a sandbox."""

    def records(python: str, root: Path, **asked: object) -> list[dict[str, Any]]:
        order = {"nonce": "x", "mode": "run", "tests": None, "shuffle": None, "spectrum": True,
                 "canaries": [], "repo": str(root), **asked}  # fmt: skip
        reader, writer = os.pipe()
        orders, out = os.pipe()
        os.write(out, json.dumps(order).encode() + b"\n")
        os.close(out)

        def place() -> None:
            for fd, goal in ((os.dup(writer), 3), (os.dup(orders), 4)):
                os.dup2(fd, goal)

        child = subprocess.Popen(
            [python, str(INSIDE / "_heal_driver.py")],
            cwd=root,
            env={"PATH": "/usr/bin:/bin", "PYTHONPATH": f"{root}:{site}", "HOME": str(tmp_path),
                 "PYTHONDONTWRITEBYTECODE": "1"},
            stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, preexec_fn=place,  # noqa: PLW1509
            close_fds=False,
        )  # fmt: skip
        os.close(writer)
        os.close(orders)
        with os.fdopen(reader, "rb") as stream:
            lines = stream.read().splitlines()
        assert child.wait(30) in (0, 1)
        return [json.loads(line) for line in lines]

    return records


@pytest.fixture(scope="session")
def lines_of() -> Callable[[Any, str], Sequence[tuple[str, int]]]:
    """The (path, line) a test executed, from a Spectrum."""

    def read(spectrum: Any, test: str) -> list[tuple[str, int]]:
        bits = spectrum.hits[test]
        return [place for at, place in enumerate(spectrum.locations) if bits >> at & 1]

    return read
