"""GitHub's other API: queries judged by its own schema and answered from the loopback's world."""

from __future__ import annotations

import gzip
import json
import re
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from tests.github_server.world import Refused, World

_TOKENS = re.compile(r'\.\.\.|[{}():!$]|"[^"\\]*"|[A-Za-z_]\w*|\d+')
_SCALARS = {"String": str, "ID": str, "GitObjectID": str, "Boolean": bool, "Int": int}
_EMAIL = re.compile(r"^author-mail <(.*)>$", re.MULTILINE)


@lru_cache(maxsize=1)
def schema() -> dict[str, Any]:
    """Per type its fields, as GitHub publishes them."""
    data = (Path(__file__).parent / "graphql.json.gz").read_bytes()
    return json.loads(gzip.decompress(data))


class Fault(Exception):
    """A document, a variable or an answer against the schema."""


@dataclass
class Field:
    """A field that is asked for, its arguments, and what is asked of it; `on` narrows the type."""

    name: str
    on: str
    arguments: dict[str, str] = field(default_factory=dict)
    inner: list[Field] = field(default_factory=list)


class Document:
    """One operation: its kind, its variables' types, and what it selects."""

    def __init__(self, text: str) -> None:
        self.tokens = _TOKENS.findall(text)
        self.kind = {"query": "Query", "mutation": "Mutation"}[self._next()]
        self.variables: dict[str, str] = {}
        if self.tokens[0] not in {"{", "("}:
            self._next()
        if self.tokens[0] == "(":
            self._next()
            while self.tokens[0] != ")":
                self._next("$")
                name = self._next()
                self._next(":")
                self.variables[name] = self._next()
                if self.tokens[0] == "!":
                    self.variables[name] += self._next()
            self._next(")")
        self.fields = self._selection(self.kind)
        if self.tokens:
            raise Fault(f"{self.tokens[0]!r} after the end")

    def _next(self, wanted: str = "") -> str:
        if not self.tokens or (wanted and self.tokens[0] != wanted):
            raise Fault(f"{self.tokens[:1]} where {wanted or 'more'} is due")
        return self.tokens.pop(0)

    def _selection(self, on: str) -> list[Field]:
        """What stands between braces; every name is one of the schema."""
        self._next("{")
        found: list[Field] = []
        while self.tokens[0] != "}":
            if self.tokens[0] == "...":
                self._next()
                self._next("on")
                found += self._selection(self._next())
                continue
            name = self._next()
            known = schema().get(on, {}).get(name)
            if known is None:
                raise Fault(f"{on} has no field {name}")
            one = Field(name, on, self._arguments(on, name, known["args"]))
            if (base := re.sub(r"[\[\]!]", "", known["type"])) in schema():
                one.inner = self._selection(base)
            found.append(one)
        self._next("}")
        return found

    def _arguments(self, on: str, name: str, known: dict[str, str]) -> dict[str, str]:
        given: dict[str, str] = {}
        if self.tokens[0] == "(":
            self._next()
            while self.tokens[0] != ")":
                argument = self._next()
                self._next(":")
                self._next("$")
                given[argument] = self._next()
                declared = self.variables.get(given[argument], "")
                if declared.rstrip("!") != known.get(argument, "?").rstrip("!"):
                    raise Fault(f"{on}.{name}({argument}) is no {declared}")
                if known[argument].endswith("!") and not declared.endswith("!"):
                    raise Fault(f"{on}.{name}({argument}) may not be null")
            self._next(")")
        if missing := {a for a, kind in known.items() if kind.endswith("!")} - given.keys():
            raise Fault(f"{on}.{name} lacks {sorted(missing)}")
        return given

    def judge(self, given: dict[str, Any]) -> None:
        """Raise Fault unless the variables are those that are declared, of their types."""
        if extra := given.keys() - self.variables.keys():
            raise Fault(f"undeclared variables {sorted(extra)}")
        for name, kind in self.variables.items():
            _fits(f"${name}", kind, given.get(name))


def _fits(where: str, kind: str, value: Any) -> None:
    base = kind.rstrip("!")
    if value is None:
        if kind.endswith("!"):
            raise Fault(f"{where} may not be null")
        return
    if base in schema():
        for name, known in schema()[base].items():
            _fits(f"{where}.{name}", known["type"], value.get(name))
        if extra := value.keys() - schema()[base].keys():
            raise Fault(f"{where} has no {sorted(extra)}")
    elif not isinstance(value, _SCALARS.get(base, str)):
        raise Fault(f"{where} is no {base}: {value!r}")


def answer(
    world: World, document: Document, given: dict[str, Any], login: str = ""
) -> dict[str, Any]:
    """The data for a document; Refused for what is not there, Fault for an answer of our own
    against the schema."""
    root = _query(world, login) if document.kind == "Query" else _mutation(world)
    return _selected(root, document.fields, given)


def _selected(value: Any, fields: list[Field], given: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for one in fields:
        got = value[one.name]
        if callable(got):
            got = got(**{name: given[variable] for name, variable in one.arguments.items()})
        kind = schema()[one.on][one.name]["type"]
        if isinstance(got, list):
            found[one.name] = [_selected(item, one.inner, given) for item in got]
        elif got is not None and one.inner:
            found[one.name] = _selected(got, one.inner, given)
        else:
            _fits(f"{one.on}.{one.name}", kind, got)
            found[one.name] = got
    return found


def _query(world: World, login: str) -> dict[str, Any]:
    def repository(owner: str, name: str) -> Any:
        return {"object": commit} if f"{owner}/{name}".lower() == world.name.lower() else None

    def commit(oid: str) -> Any:
        if world.git.kind(oid) != "commit":
            return None
        return {"blame": lambda path: {"ranges": _ranges(world, oid, path)}}

    return {"repository": repository, "viewer": {"login": login}}


def _ranges(world: World, sha: str, path: str) -> list[dict[str, Any]]:
    """One range a line, as git itself blames them; `login@example.invalid` is the account."""
    text = world.git.git("blame", "--line-porcelain", sha, "--", path).decode()
    found = []
    for number, mail in enumerate(_EMAIL.findall(text), 1):
        name, _, host = mail.partition("@")
        user = {"login": name} if host == "example.invalid" else None
        commit = {"author": {"user": user}}
        found.append({"startingLine": number, "endingLine": number, "commit": commit})
    return found


def _mutation(world: World) -> dict[str, Any]:
    def become(draft: bool) -> Any:
        def change(input: dict[str, Any]) -> Any:
            number = input["pullRequestId"].removeprefix("PR_")
            pull = world.pulls.get(int(number)) if number.isdigit() else None
            if pull is None:
                raise Refused(404, "Could not resolve to a node")
            pull.draft = draft
            shown = {"isDraft": draft}
            return {"clientMutationId": None, "pullRequest": shown}

        return change

    return {
        "convertPullRequestToDraft": become(True),
        "markPullRequestReadyForReview": become(False),
    }
