"""Plant faults in the histories of clones: `python -m benchmarks.street.plant --data DIR`.

Project, depth, kind and function come from seeds: nothing is chosen by how hard it is to repair.
What is found or dropped is kept per project below DIR, and a later call goes on from there.
"""

from __future__ import annotations

import hashlib
import json
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks._cases import options_of
from benchmarks._mutants import Mutant
from benchmarks.street import plain, planted, recipes
from benchmarks.street.clones import Clone, clones, find, show
from benchmarks.street.digging import dig, place, side_by_side, summed
from benchmarks.street.faults import KINDS, ConflictError, mutant, targets
from benchmarks.street.history import is_source, is_test
from benchmarks.street.plain import PlainError
from benchmarks.street.recipes import Planted, Recipe
from benchmarks.street.staged import borrow
from benchmarks.street.workbench import Bench, DroppedError
from heal_bot.source.guard import SourceRejected
from tests.github_server.repository import GitRefused, GitRepository

DEPTHS = (0, 1, 3, 5, 10, 20, 30)
MOST = 2
RUNS = 3
_TRIES = 9
_PROJECT_SECONDS = 420
_EXECUTED = Path(__file__).with_name("executed.py")
# File and qualified name of a function.
Name = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Field:
    """A project at a green commit: its bench, its history, the functions that its tests execute."""

    bench: Bench
    git: GitRepository
    head: str
    seconds: float
    executed: frozenset[Name]

    def run(self, path: str = "", text: str = "") -> plain.Ran:
        """The suite, with another text of a file where one is given."""
        show(self.bench.tree, self.head)
        if path:
            (self.bench.tree / path).write_bytes(text.encode())
        limit = min(90.0, 20 + 4 * self.seconds)
        return plain.run(self.bench.tree, self.bench.venv, self.bench.data, limit=limit)


def sown(repository: str, until: float, data: Path) -> dict[str, Any]:
    """The planted faults of a project, and why others were dropped."""

    def work(found: list[Recipe], dropped: Counter[str]) -> None:
        _work_through(find(data, repository), data, found, dropped)

    return dig(data / "planted", repository, until, work, partly=True)


def _work_through(clone: Clone, data: Path, found: list[Recipe], dropped: Counter[str]) -> None:
    with tempfile.TemporaryDirectory(prefix="plant-", dir=data) as name:
        begin = time.monotonic()
        field = _field(clone, data, Path(name))
        for slot in range(MOST):
            for number in range(_TRIES):
                if time.monotonic() - begin > _PROJECT_SECONDS:
                    dropped["project: no more time for it"] += 1
                    break
                try:
                    found.append(_tried(field, slot, number, found))
                    break
                except DroppedError as error:
                    dropped[str(error)] += 1
        if found and any(field.run().red for _ in range(RUNS - 1)):
            dropped["its runs differ"] += len(found)
            found.clear()


def _field(clone: Clone, data: Path, place: Path) -> Field:
    """The newest commit that a plain environment shows green; PlainError where there is none."""
    said = ""
    for head, python in _heads(clone, data):
        bench = Bench(clone, data, place, python)
        try:
            bench.open(head)
            ran = bench.run(head, head, (), ())
        except PlainError as error:
            said = str(error)
            continue
        if not ran.red and ran.passed:
            git = GitRepository(place / "git")
            git.init()
            borrow(git, clone)
            return Field(bench, git, head, ran.seconds, _executed(bench, head))
        said = f"its suite is red ({len(ran.red)} of {len(ran.red) + ran.passed})"
    raise PlainError(said)


def _heads(clone: Clone, data: Path) -> Iterator[tuple[str, str]]:
    """The newest repair that was mined, which is green, else the main branch."""
    kept = place(data / "mined/fixes", clone.repository, "json")
    mined = json.loads(kept.read_text())["recipes"] if kept.exists() else []
    for recipe in mined[:1]:
        yield recipe["fix"], recipe["python"]
    head = clone.git("rev-parse", "HEAD").strip()
    yield from ((head, python) for python in ("3.11", "3.12") if not mined)


def _executed(bench: Bench, head: str) -> frozenset[Name]:
    """The functions of the project's source that its tests execute."""
    for packages in bench.venv.glob("lib/python*/site-packages"):
        shutil.copy(_EXECUTED, packages / "street_executed.py")
    show(bench.tree, head)
    plain.run(bench.tree, bench.venv, bench.data, ("-p", "street_executed"), limit=240)
    rows = json.loads((bench.venv / "executed.json").read_text())
    root, lines = f"{bench.tree.resolve()}/", dict[str, set[tuple[str, int]]]()
    for file, name, line in rows:
        path = str(Path(file).resolve()).removeprefix(root)
        if is_source(path) and path.endswith(".py"):
            lines.setdefault(path, set()).add((name, line))
    return frozenset(
        (path, target.qualname)
        for path, called in lines.items()
        for target in _targets(path, bench.clone.read(head, path))
        if any(
            target.qualname.rpartition(".")[2] == name
            and target.first_line <= line <= target.last_line
            for name, line in called
        )
    )


def _targets(path: str, text: str) -> tuple[Any, ...]:
    try:
        return targets(path, text)
    except SourceRejected:
        return ()


def _tried(field: Field, slot: int, number: int, found: list[Recipe]) -> Recipe:
    """The recipe of one seed; DroppedError."""
    repository = field.bench.clone.repository
    seed = int(hashlib.sha256(f"{repository} {slot}".encode()).hexdigest()[:8], 16)
    wanted, inside = DEPTHS[seed % len(DEPTHS)], seed // len(DEPTHS) % 3 == 0
    rng = random.Random(seed + number)
    kind = rng.choice(sorted(KINDS))
    depth, paths = _place(field, wanted, inside=inside)
    taken = {(one.planted.path, one.planted.qualname) for one in found if one.planted}
    names = sorted(n for n in field.executed - taken if not paths or n[0] in paths)
    rng.shuffle(names)
    deep = planted.chain(field.git, field.head, depth)[0].sha
    for path, qualname in names:
        fault = Planted(path=path, qualname=qualname, nth=0, kind=kind, seed=seed + number,
                        depth=depth, inside=inside)  # fmt: skip
        text = field.bench.clone.read(deep, path)
        try:
            made = mutant(text, fault)
        except (ConflictError, SourceRejected):
            continue
        return _validated(field, fault, deep, text, made)
    raise DroppedError("no function has a place for it")


def _place(field: Field, wanted: int, *, inside: bool) -> tuple[int, frozenset[str]]:
    """The depth, and for a fault inside an honest commit the files that this commit changes.

    The depth is the wanted one, or the nearest where the history is shorter or the commit changes
    no file that the tests execute.
    """
    commits = planted.chain(field.git, field.head, max(DEPTHS))[::-1]
    if not inside:
        return min(wanted, len(commits) - 1), frozenset()
    files = {path for path, _ in field.executed}
    for depth in sorted(range(len(commits)), key=lambda depth: (abs(depth - wanted), depth)):
        parents = commits[depth].parents
        changed = field.bench.clone.git(
            "diff-tree", "-r", "--no-renames", "--diff-filter=M", "--name-only",
            parents[0], commits[depth].sha,
        ).splitlines() if parents else []  # fmt: skip
        if files & set(changed):
            return depth, frozenset(files & set(changed))
    raise DroppedError("no honest commit changes what is executed")


def _validated(field: Field, fault: Planted, deep: str, text: str, made: Mutant) -> Recipe:
    """The recipe of a fault that turns the suite red, thrice the same."""
    faulty = planted.with_mutant(text, made)
    try:
        new = planted.replay(field.git, field.head, fault, faulty).head
    except ConflictError as error:
        raise DroppedError(str(error)) from None
    except (GitRefused, UnicodeDecodeError):
        raise DroppedError("the file is not there in every commit") from None
    red = planted.text_of(field.git, new, fault.path)
    if red == planted.text_of(field.git, field.head, fault.path):
        raise DroppedError("later commits take the fault away")
    try:
        runs = [field.run(fault.path, red)]
        if not 1 <= len(runs[0].red) <= 60:
            raise DroppedError("more than 60 tests are red" if runs[0].red else "no test kills it")
        runs += [field.run(fault.path, red) for _ in range(RUNS - 1)]
    except PlainError as error:
        late = "more than" in str(error)
        raise DroppedError("slow suite with it" if late else "its tests do not start") from None
    if len({ran.red for ran in runs}) > 1:
        raise DroppedError("its runs differ")
    if any("::" not in test or test.startswith("::") for test in runs[0].red):
        raise DroppedError("its tests do not import with it")
    clone = field.bench.clone
    name = clone.repository.rpartition("/")[2].lower()
    return Recipe(
        id=f"regressions/{name}-{deep[:8]}-{fault.kind}", part="regressions",
        repository=clone.repository, base=deep, fix=field.head, sources=(fault.path,),
        python=field.bench.python, red=tuple(sorted(runs[0].red)), passed=runs[0].passed,
        seconds=round(runs[0].seconds, 1), planted=fault,
    )  # fmt: skip


def _order(clone: Clone, data: Path) -> tuple[int, float]:
    """Projects that are known to be green first, and little tests before large ones."""
    kept = place(data / "mined/fixes", clone.repository, "json")
    mined = json.loads(kept.read_text()) if kept.exists() else None
    if mined and mined["recipes"]:
        return 0, min(recipe["seconds"] for recipe in mined["recipes"])
    tree = clone.git("ls-tree", "-r", "--long", "HEAD").splitlines()
    rows = [line.split(maxsplit=4) for line in tree]
    tests = sum(int(size) for *_, size, path in rows if is_test(path) and size.isdigit())
    return (2 if mined else 1), tests


def main(argv: list[str]) -> int:
    """Plant in all clones of the folder, and write the recipes where asked."""
    asked = options_of("street.plant").parse_args(argv)
    data = asked.data.resolve()
    chosen = [clone for clone in clones(data) if asked.only in clone.repository]
    names = [c.repository for c in sorted(chosen, key=lambda clone: _order(clone, data))]
    found, told = summed("planted", side_by_side(partial(sown, data=data), names, asked))
    if asked.write:
        real = [r for r in recipes.load("regressions") if r.planted is None]
        recipes.save("regressions", [*real, *found])
    print(json.dumps(told))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
