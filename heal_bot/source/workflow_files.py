"""GitHub workflows of a checkout: their jobs, matrices, and the variables that tests get."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from heal_bot.core.pytest_options import may_set
from heal_bot.ports import Tree

WORKFLOW = re.compile(r"\.github/workflows/[^/]+\.ya?ml\Z")
_MOST, _MOST_BYTES = 50, 200_000
TESTING = re.compile(r"\b(?:pytest|tox|nox|unittest|coverage run|(?:make|hatch) test)\b")
# A comment of YAML, of INI files or of a shell, to the end of its line.
COMMENT = re.compile(r"(?:^|(?<=\s))#.*")
_OF_MATRIX = re.compile(r"\$\{\{ {0,9}matrix\.([\w-]{1,60}) {0,9}\}\}")
_CHOICES = 6

Variables = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class JobVariables:
    """What the jobs that test all set, and what one job or value of a matrix sets besides."""

    fixed: Variables = ()
    choices: tuple[Variables, ...] = ()


def list_jobs(tree: Tree) -> tuple[tuple[str, Mapping[str, Any]], ...]:
    """The jobs of all workflows by id, each with the variables of its workflow in its own."""
    found = [path for path in tree.paths() if WORKFLOW.match(path)]
    texts = [tree.read(path) for path in found] if len(found) <= _MOST else []
    if sum(map(len, texts)) > _MOST_BYTES:
        return ()
    return tuple(job for text in texts for job in _read(text))


def read_matrix(job: Mapping[str, Any]) -> Mapping[str, Any]:
    """The matrix of a job as it is written; empty where it has none."""
    return _map(_map(job.get("strategy")).get("matrix"))


def list_values(job: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The values that the matrix of a job combines, each with its name."""
    for key, values in read_matrix(job).items():
        if key not in {"include", "exclude"} and isinstance(values, list):
            yield from ((key, str(value)) for value in values)


def list_rows(job: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The rows that a matrix includes besides."""
    rows = read_matrix(job).get("include")
    yield from (row for row in rows if isinstance(row, dict)) if isinstance(rows, list) else ()


def find_variables(tree: Tree, job: str) -> JobVariables:
    """What the job of that id, or those it needs, set for tests, else what all jobs that test do.

    Only what is written out counts: an expression may be a secret, but for a value of the matrix.
    """
    read = [(name, one, _read_variables(one)) for name, one in list_jobs(tree)]
    jobs = [(name, one, given) for name, one, given in read if given is not None]
    needed = {need for name, one, _ in read if name == job for need in _list_needs(one)}
    testing = (
        [(one, given) for name, one, given in jobs if name == job]
        or [(one, given) for name, one, given in jobs if name in needed]
        or [(one, given) for _, one, given in jobs]
    )
    if not testing:
        return JobVariables()
    common = set.intersection(*(set(given.items()) for _, given in testing))
    choices = dict.fromkeys(row for one, given in testing for row in _choose(one, given))
    choices |= dict.fromkeys(_keep_written(given.items() - common) for _, given in testing)
    choices.pop((), None)
    return JobVariables(_keep_written(common), tuple(choices)[:_CHOICES])


def _list_needs(job: Mapping[str, Any]) -> list[str]:
    """The jobs that have to end before one begins."""
    needs = job.get("needs")
    return needs if isinstance(needs, list) else [str(needs)]


def _keep_written(variables: Iterable[tuple[str, str]]) -> Variables:
    return tuple(sorted(one for one in variables if "${{" not in one[1]))


def select_known(tree: Tree, told: Collection[str]) -> Variables:
    """Those of the variables, as `NAME=value`, that a job which tests sets."""
    jobs = [(job, _read_variables(job) or {}) for _, job in list_jobs(tree)]
    known = [one for _, given in jobs for one in given.items() if "${{" not in one[1]]
    known += [one for job, given in jobs for row in _choose(job, given) for one in row]
    return tuple(one for one in dict.fromkeys(known) if "=".join(one) in told)


def _choose(job: Mapping[str, Any], given: Mapping[str, str]) -> Iterator[Variables]:
    """What each value of the matrix sets that a variable is made of."""
    rows = [*list_values(job), *(
        (str(key), str(value)) for row in list_rows(job) for key, value in row.items()
    )]  # fmt: skip
    for key, value in dict.fromkeys(rows):
        of_matrix = ((name, _OF_MATRIX.fullmatch(text)) for name, text in sorted(given.items()))
        names = [name for name, found in of_matrix if found and found[1] == key]
        if names and "${{" not in value:
            yield tuple((name, value) for name in names)


def _read_variables(job: Mapping[str, Any]) -> dict[str, str] | None:
    """What a job and its steps that run tests set; None where none of them does."""
    steps = job.get("steps")
    known = [step for step in steps if isinstance(step, dict)] if isinstance(steps, list) else []
    testing = [step for step in known if TESTING.search(str(step.get("run", "")))]
    found = dict(_map(job.get("env")))
    for step in testing:
        found.update(_map(step.get("env")))
    usable = {
        str(name): str(value)
        for name, value in found.items()
        if may_set(str(name)) and len(str(value)) < 1000 and "\0" not in str(value)
    }  # fmt: skip
    return usable if testing else None


def _read(data: bytes) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The jobs of a workflow; none of one that cannot be read."""
    import yaml

    try:
        text = data.decode()
        # An alias may stand for millions of values.
        tokens = yaml.scan(text, yaml.BaseLoader)
        known = any(isinstance(token, yaml.AliasToken) for token in tokens)
        loaded = _map(None if known else yaml.BaseLoader(text).get_single_data())
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError, ValueError):
        return
    for name, job in _map(loaded.get("jobs")).items():
        if isinstance(job, dict):
            yield str(name), {**job, "env": {**_map(loaded.get("env")), **_map(job.get("env"))}}


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
