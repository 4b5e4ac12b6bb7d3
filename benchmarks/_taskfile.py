"""A task of our own as it is written down: a Markdown file with a module, tests and changes."""

from __future__ import annotations

import re
import sys
from pathlib import Path

from benchmarks._repositories import INI
from benchmarks._tasks import Task, Wrong

PACKAGE = "tool"
FOLDER = Path(__file__).parent / "tasks"
# What it takes to repair the module.
REPAIRS = ("one edit", "several edits", "missing logic")

_PART = re.compile(r"^## ([^\n]+)\n+```(?:python|diff)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FACT = re.compile(r"^- (target|repair): (.+)$", re.MULTILINE)
_NEEDED = ("Module", "Search tests", "Hidden tests", "Reference")
_WRONG = "Wrong: "


def read(path: Path) -> Task:
    """The task in a file; ValueError says what is missing or does not apply."""
    text, name = path.read_text(encoding="utf-8"), path.stem
    parts = dict(_PART.findall(text))
    facts = dict(_FACT.findall(text))
    if missing := [part for part in _NEEDED if part not in parts]:
        raise ValueError(f"{path.name}: no {missing[0]!r}")
    if set(facts) != {"target", "repair"} or facts["repair"] not in REPAIRS:
        raise ValueError(f"{path.name}: needs a target, and a repair of {', '.join(REPAIRS)}")
    module = parts["Module"]
    wrong = tuple(
        Wrong(title.removeprefix(_WRONG), changed(module, diff, path.name))
        for title, diff in parts.items()
        if title.startswith(_WRONG)
    )
    where = f"{PACKAGE}/{name}.py"
    return Task(
        name=name,
        path=where,
        files={
            "pyproject.toml": INI,
            f"{PACKAGE}/__init__.py": "",
            where: module,
            f"tests/test_{name}.py": parts["Search tests"],
        },
        judge=(
            sys.executable,
            "-W",
            "ignore",
            "-m",
            "benchmarks._plain",
            str(path),
            "{patched}",
            "search",
            "hidden",
        ),
        category=path.parent.name,
        repair=facts["repair"],
        target=facts["target"],
        hidden=parts["Hidden tests"],
        reference=changed(module, parts["Reference"], path.name),
        wrong=wrong,
    )


def own(repair: str = "") -> tuple[Task, ...]:
    """Our tasks by category and name; only those of one repair if it is given."""
    tasks = (read(path) for path in sorted(FOLDER.glob("*/*.md")))
    return tuple(task for task in tasks if repair in {"", task.repair})


def changed(module: str, diff: str, name: str) -> str:
    """A module with a diff applied; each hunk, begun by an @@ line, must fit in just one place."""
    for hunk in re.split(r"^@@.*\n", diff, flags=re.MULTILINE):
        lines = hunk.splitlines()
        if not lines:
            continue
        old = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("+"))
        new = "".join(f"{line[1:]}\n" for line in lines if not line.startswith("-"))
        places = [at.start() for at in re.finditer(f"^{re.escape(old)}", module, re.MULTILINE)]
        if not old or len(places) != 1:
            raise ValueError(f"{name}: a change fits in {len(places)} places:\n{hunk}")
        module = module[: places[0]] + new + module[places[0] + len(old) :]
    return module
