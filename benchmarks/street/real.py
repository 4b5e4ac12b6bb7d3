"""Red runs of public projects that are no bug of the code, or only seem so.

`python -m benchmarks.street.real --data DIR --check` runs each of them and its cure again.
"""

from __future__ import annotations

import json
import re
import shutil
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from subprocess import SubprocessError
from typing import Literal

from pydantic import BaseModel, ConfigDict

from benchmarks._cases import options_of
from benchmarks.street import plain
from benchmarks.street.clones import CloneError, find, git_in, show
from benchmarks.street.plain import PlainError, Ran
from benchmarks.street.recipes import FOLDER, Package, Sha, Split, split

Kind = Literal[
    "dependency", "interpreter", "warning", "output", "locale", "program", "library", "service",
    "network", "permissions", "variable", "timezone", "clock", "tests behind", "tests ahead",
    "submodule", "coverage", "lint", "no tests",
]  # fmt: skip
Action = Literal["repair", "explain", "silent"]
# A job of a service is no root; without its capabilities root is held to the modes of files.
_NO_ROOT = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
_SECONDS = 120
# Red, broken off while collecting, no tests: all leave a report.
_CODES = (0, 1, 2, 5)


class Cure(BaseModel):
    """What turns the red run green: what it names takes the place of the recipe's own."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    commit: Sha | None = None
    python: str | None = None
    pins: tuple[str, ...] | None = None
    removed: tuple[str, ...] | None = None
    arguments: tuple[str, ...] | None = None
    environment: dict[str, str] | None = None
    without: tuple[str, ...] | None = None
    root: bool | None = None


class Real(BaseModel):
    """A red run of a public project at a commit of it, and the right thing to do about it.

    The environment is a plain one, with `pins` installed on top and `removed` taken out; `without`
    names programs that are not on the path. A good explanation has one of the words of `says` in
    it. `fix` is the commit that repairs the sources, where that is the right thing. `red` names
    what fails and `passed` counts the rest: of silent ones, only a linter's items fail. `cured`
    says that the cure was seen to work.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    part: Literal["situations"] = "situations"
    repository: str
    commit: Sha
    kind: Kind
    action: Action
    says: tuple[str, ...] = ()
    why: str = ""
    fix: Sha | None = None
    sources: tuple[str, ...] = ()
    python: str
    pins: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    environment: dict[str, str] = {}
    without: tuple[str, ...] = ()
    root: bool = True
    red: tuple[str, ...] = ()
    passed: int = 0
    seconds: float = 0.0
    cure: Cure | None = None
    cured: bool = False

    @property
    def project(self) -> str:
        """The name after the owner, in lower case."""
        return self.repository.rpartition("/")[2].lower()

    @property
    def split(self) -> Split:
        """The half that the project belongs to."""
        return split(self.repository)

    @property
    def package(self) -> Package | None:
        """The dependency that broke the tests, where an older version of it is the whole cure."""
        given = self.cure.model_dump(exclude_none=True) if self.cured and self.cure else {}
        older = re.fullmatch(r"([\w.-]+)<([\d.]+)", " ".join(given.get("pins", ())))
        if older is None or len(given) > 1:
            return None
        return older[1], "", older[2]

    def healthy(self) -> Real:
        """The recipe with its cure applied."""
        given = self.cure.model_dump(exclude_none=True) if self.cure else {}
        return Real.model_validate_json(json.dumps({**self.model_dump(mode="json"), **given}))


def load() -> tuple[Real, ...]:
    """The real situations, in the order of their file."""
    path = FOLDER / "situations.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return tuple(Real.model_validate_json(line) for line in lines)


def make(real: Real, checkout: Path, venv: Path, data: Path) -> None:
    """The environment of the red job."""
    plain.make(checkout, venv, real.python, data)
    plain.complete(checkout, venv, data)
    if real.pins:
        plain.install(checkout, venv, data, *real.pins)
    if real.removed:
        plain.uninstall(checkout, venv, data, *real.removed)


def job(real: Real, venv: Path) -> plain.Job:
    """What the red job gives its tests."""
    environment = dict(real.environment)
    if real.without:
        path = _programs(venv / "programs", frozenset(real.without))
        environment["PATH"] = f"{venv / 'bin'}:{path}"
    return plain.Job(real.arguments, environment, () if real.root else _NO_ROOT)


def _programs(folder: Path, without: frozenset[str]) -> Path:
    """A folder with links to the programs of the machine but these."""
    folder.mkdir(exist_ok=True)
    for place in ("/usr/local/bin", "/usr/bin", "/bin"):
        for program in sorted(Path(place).iterdir()):
            link = folder / program.name
            if program.name not in without and not link.is_symlink():
                link.symlink_to(program)
    return folder


def seen(real: Real, data: Path, place: Path, runs: int) -> list[Ran]:
    """Plain runs of a situation, one after the other."""
    tree, venv = place / "tree", place / "venv"
    if not tree.exists():
        find(data, real.repository).check_out(tree)
        git_in(tree, "remote", "remove", "origin")
    shutil.rmtree(venv, ignore_errors=True)
    show(tree, real.commit)
    make(real, tree, venv, data)
    found = []
    for _ in range(runs):
        show(tree, real.commit)
        given = job(real, venv)
        found.append(plain.run(tree, venv, data, (), _SECONDS, given, _CODES))
    return found


def measured(real: Real, data: Path, runs: int = 3) -> Real:
    """The recipe with what its runs say; PlainError where they differ or are not red."""
    with tempfile.TemporaryDirectory(prefix="real-", dir=data) as name:
        found = seen(real, data, Path(name), runs)
        first = found[0]
        if len({(ran.red, ran.code) for ran in found}) > 1:
            raise PlainError("its runs differ")
        silent = real.action == "silent" and real.kind != "lint"
        if first.code == 0 or bool(first.red) == silent:
            raise PlainError(f"exit code {first.code} with {len(first.red)} red")
        cured = False
        if real.cure:
            ran = seen(real.healthy(), data, Path(name), 1)[0]
            cured = not ran.red & first.red and (ran.code == 0 or bool(first.red))
    new = {"red": sorted(first.red), "passed": first.passed, "cured": cured,
           "seconds": round(first.seconds, 1)}  # fmt: skip
    return Real.model_validate_json(json.dumps({**real.model_dump(mode="json"), **new}))


def main(argv: list[str], measure: Callable[[Real, Path], Real] = measured) -> int:
    """Run the situations again and say which are no longer as their recipes have them."""
    asked = options_of("street.real").parse_args(argv)
    chosen = [real for real in load() if asked.only in real.id]
    bad = 0
    for real in chosen if asked.check else ():
        said = checked(real, asked.data.resolve(), measure)
        bad += bool(said)
        print(f"{real.id}: {said or 'as it says'}", flush=True)
    print(json.dumps({"situations": len(chosen), "changed": bad, "complete": asked.check}))
    return int(bad > 0)


def checked(real: Real, data: Path, measure: Callable[[Real, Path], Real]) -> str:
    """What is not as the recipe has it; '' where all is."""
    try:
        now = measure(real, data)
    except (PlainError, CloneError, OSError, SubprocessError) as error:
        return " ".join(str(error).split())[:200]
    if now.red != real.red:
        return f"{len(now.red)} red, not {len(real.red)}"
    return "" if now.cured == real.cured else f"cured is {now.cured} now"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
