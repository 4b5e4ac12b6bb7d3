"""The cases of the street as recipes: commits of public projects, and never their code."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from benchmarks._cases import read_cases

FOLDER = Path(__file__).parent / "recipes"
Sha = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
Split = Literal["tune", "held"]
Part = Literal["fixes", "regressions", "situations"]
Set = Literal["fixes", "regressions", "intended"]
SETS: tuple[Set, ...] = ("fixes", "regressions", "intended")
PARTS: tuple[Part, ...] = ("fixes", "regressions", "situations")

# A dependency that broke the tests: its name, a version before that, the first with it.
Package = tuple[str, str, str]

# Others measure on these: they take no part in mining, fitting and tuning.
EXCLUDED = frozenset(read_cases("plain")["excluded"])


class Planted(BaseModel):
    """A fault that we plant: the mutant of that number among those of a seed, so many commits deep.

    `inside` has it amended into the commit of that depth; else it is a commit of its own on it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    qualname: str
    nth: int
    kind: str
    seed: int
    depth: Annotated[int, Field(ge=0, le=30)]
    inside: bool


class Recipe(BaseModel):
    """A red run of a public project, by its commits.

    `base` is the commit whose source is red, `fix` the one whose source is right; `tests` are the
    paths that are taken from `fix` for the red run. `red` names the tests that fail in it and
    `passed` counts the others, both in a plain environment with `python`. `culprit` is a commit
    up to 30 before `base` that turned them red, where the tests are put in place before it.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: str
    part: Part
    repository: str
    base: Sha
    fix: Sha
    tests: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    python: str
    red: tuple[str, ...]
    passed: int
    seconds: float
    planted: Planted | None = None
    culprit: Sha | None = None

    @property
    def project(self) -> str:
        """The name after the owner, in lower case."""
        return self.repository.rpartition("/")[2].lower()

    @property
    def split(self) -> Split:
        """The half that the project belongs to."""
        return split(self.repository)


def split(name: str) -> Split:
    """The half of a project, by the hash of its name: `held` is measured and never looked at."""
    if name.lower() in moved():
        return "tune"
    return "held" if int(digest(name.lower())[0], 16) % 2 else "tune"


def digest(name: str) -> str:
    """The hash of a name: what splits and orders without looking at a case."""
    return hashlib.sha256(name.encode()).hexdigest()


def load(name: Set) -> tuple[Recipe, ...]:
    """The recipes of a set, in the order of their file."""
    path = FOLDER / f"{name}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return tuple(Recipe.model_validate_json(line) for line in lines)


def save(name: Set, recipes: Iterable[Recipe]) -> None:
    """Write the recipes of a set, sorted by their ids."""
    lines = (
        json.dumps(recipe.model_dump(exclude_defaults=True), ensure_ascii=False)
        for recipe in sorted(recipes, key=lambda recipe: recipe.id)
    )
    (FOLDER / f"{name}.jsonl").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def moved() -> tuple[str, ...]:
    """The projects of `held` that were opened and count to `tune` since."""
    path = FOLDER / "moved.txt"
    return tuple(path.read_text().split()) if path.exists() else ()
