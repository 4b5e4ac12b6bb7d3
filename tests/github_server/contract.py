"""GitHub's own description of its API, as a judge of every exchange and a source of answers."""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from openapi_schema_validator import OAS30Validator
from referencing import Registry
from referencing.jsonschema import DRAFT4

_BASE = "urn:github"
# Answers any operation may give, whether or not its description lists them.
_ANYWHERE = {"401", "403", "404", "429", "500", "502", "503"}
# Path parameters that hold slashes.
_GREEDY = {"ref", "path", "basehead", "branch"}


@dataclass(frozen=True)
class Operation:
    """One documented operation as a request met it."""

    id: str
    parameters: Mapping[str, str]
    described: Mapping[str, Any]


@lru_cache(maxsize=1)
def description() -> dict[str, Any]:
    """The vendored description, its references made absolute."""
    text = gzip.decompress((Path(__file__).parent / "openapi.json.gz").read_bytes()).decode()
    absolute = text.replace('"$ref": "#/', f'"$ref": "{_BASE}#/')
    return json.loads(absolute, object_hook=_without_discriminator)


def _without_discriminator(node: dict[str, Any]) -> dict[str, Any]:
    """An object whose `oneOf` is judged by what it says: a discriminator repeats that in short."""
    kept = {key: value for key, value in node.items() if key != "discriminator"}
    return kept if "oneOf" in node else node


@lru_cache(maxsize=1)
def _registry() -> Any:
    return Registry().with_resource(_BASE, DRAFT4.create_resource(description()))


@lru_cache(maxsize=1)
def _routes() -> tuple[tuple[re.Pattern[str], dict[str, Any]], ...]:
    routes = []
    for path, methods in description()["paths"].items():
        pattern = re.sub(
            r"\\{(\w+)\\}",
            lambda m: f"(?P<{m[1]}>{'.+' if m[1] in _GREEDY else '[^/]+'})",
            re.escape(path),
        )
        routes.append((path.count("{"), len(path), re.compile(pattern + r"\Z"), methods))
    routes.sort(key=lambda route: (route[0], -route[1]))
    return tuple((pattern, methods) for _, _, pattern, methods in routes)


def match(method: str, path: str) -> Operation | None:
    """The operation of a request, fixed paths before parametrized ones."""
    for pattern, methods in _routes():
        found = pattern.match(path)
        if found and method.lower() in methods:
            described = methods[method.lower()]
            values = {key: unquote(value) for key, value in found.groupdict().items()}
            return Operation(described["operationId"], values, described)
    return None


def resolve(node: Mapping[str, Any]) -> Mapping[str, Any]:
    """The node a reference points to, or itself."""
    while "$ref" in node:
        target: Any = description()
        for part in node["$ref"].partition("#/")[2].split("/"):
            target = target[part.replace("~1", "/").replace("~0", "~")]
        node = target
    return node


def sample(schema: Mapping[str, Any]) -> Any:
    """The smallest value a schema allows: what is required, and nothing interesting in it."""
    schema = resolve(schema)
    if schema.get("nullable"):
        return None
    if "allOf" in schema:
        merged: dict[str, Any] = {}
        for part in schema["allOf"]:
            merged |= sample(part) or {}
        return merged
    for choice in ("oneOf", "anyOf"):
        if choice in schema and "properties" not in schema:
            return sample(schema[choice][0])
    if "enum" in schema:
        return schema["enum"][0]
    if schema.get("type") == "object" or "properties" in schema:
        known = schema.get("properties", {})
        return {name: sample(known.get(name, {})) for name in schema.get("required", ())}
    plain = {"array": [], "boolean": False, "integer": 1, "number": 1.0}
    if schema.get("type") in plain:
        return plain[schema["type"]]
    formats = {"uri": "https://example.invalid/", "date-time": "2026-01-01T00:00:00Z"}
    return formats.get(schema.get("format", ""), "x" * schema.get("minLength", 0))


def component(name: str) -> Any:
    """A sample of a named schema."""
    return sample(description()["components"]["schemas"][name])


def _names(schema: Mapping[str, Any]) -> set[str] | None:
    """The fields a body may have; None when any is allowed."""
    schema = resolve(schema)
    if schema.get("additionalProperties"):
        return None
    names = set(schema.get("properties", ()))
    for part in (*schema.get("oneOf", ()), *schema.get("anyOf", ()), *schema.get("allOf", ())):
        inner = _names(part)
        if inner is None:
            return None
        names |= inner
    return names


def _faults(schema: Mapping[str, Any], value: Any) -> Iterator[str]:
    validator = OAS30Validator(schema, registry=_registry())
    for error in validator.iter_errors(value):
        yield f"{'.'.join(map(str, error.absolute_path)) or 'body'}: {error.message[:200]}"


@dataclass
class Judge:
    """Collects what a client or the loopback server did outside the description."""

    violations: list[str] = field(default_factory=list)

    def _note(self, operation: str, finding: str) -> None:
        self.violations.append(f"{operation}: {finding}")

    def request(self, operation: Operation, query: Mapping[str, str], body: Any) -> None:
        """Check the parameters and the body of a request."""
        described = [resolve(p) for p in operation.described.get("parameters", ())]
        known = {p["name"]: p for p in described if p["in"] == "query"}
        for name, value in query.items():
            if name not in known:
                self._note(operation.id, f"undocumented query parameter {name}")
            elif "enum" in resolve(known[name]["schema"]):
                for fault in _faults(known[name]["schema"], value):
                    self._note(operation.id, f"query {name}: {fault}")
        asked = operation.described.get("requestBody")
        if asked is None:
            if body not in (None, {}, ""):
                self._note(operation.id, "a body where none is documented")
            return
        schema = resolve(asked)["content"]["application/json"]["schema"]
        for fault in _faults(schema, {} if body is None else body):
            self._note(operation.id, f"request {fault}")
        allowed = _names(schema)
        if allowed is not None and isinstance(body, dict):
            for name in sorted(set(body) - allowed):
                self._note(operation.id, f"undocumented field {name}")

    def response(self, operation: Operation, status: int, body: Any) -> None:
        """Check the status and the body of an answer."""
        documented = operation.described["responses"]
        if str(status) not in documented:
            if str(status) not in _ANYWHERE:
                self._note(operation.id, f"undocumented status {status}")
            return
        content = resolve(documented[str(status)]).get("content", {})
        if "application/json" in content and "schema" in content["application/json"]:
            for fault in _faults(content["application/json"]["schema"], body):
                self._note(operation.id, f"{status} {fault}")
