"""A name or module that an import, or code that runs at import, asks for and does not find."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Iterator
from difflib import get_close_matches

from heal_bot.core.model import Edit, Failure, Target
from heal_bot.ports import Tree
from heal_bot.repair.templates import missing_import
from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.failure_hints import gather
from heal_bot.source import functions, guard, module_names, paths
from heal_bot.source.definitions import Function

_UNDEFINED = re.compile(r"name '(\w{1,80})' is not defined")
# What history says is usual, what the same name says seldom, what a likeness says rare.
_Found = Iterator[tuple[str, Tier, str]]


def repairs(
    tree: Tree, target: Target, text: str, failure: Failure
) -> Iterator[tuple[Edit, Tier, str]]:
    """Edits of the statement that asks, with their tier and why."""
    module, name = module_names.find_missing(failure.message)
    node = _statement(target)
    if undefined := _UNDEFINED.search(failure.message):
        yield from _undefined(tree, target, text, undefined[1], failure)
    elif module and isinstance(node, ast.ImportFrom):
        found = _names(tree, module, name) if name else _modules(tree, module)
        for other, tier, why in found:
            new = (
                _renamed(node, name, other, target, text)
                if name and not other.startswith("from ")
                else _moved(node, name, other[5:], target, tree)
                if name
                else _from(node, module, other, target, tree)
            )
            if new:
                yield Edit(target, new), tier, why
    elif module and name:
        for other, tier, why in _names(tree, module, name):
            new = re.sub(rf"\.{name}\b", f".{other}", target.source)
            if new != target.source and not other.startswith("from "):
                yield Edit(target, new), tier, why
    elif module and isinstance(node, ast.Import):
        for other, tier, why in _modules(tree, module):
            new = re.sub(rf"\b{re.escape(module)}\b(?= as )", other, target.source)
            if new != target.source:
                yield Edit(target, new), tier, why


def _statement(target: Target) -> ast.stmt | None:
    try:
        body = guard.parse_part(target.source).body
    except guard.SourceRejected:
        return None
    one = body[0] if len(body) == 1 else None
    return one.body[0] if isinstance(one, ast.If) and target.source[:1].isspace() else one


def _names(tree: Tree, module: str, name: str) -> _Found:
    """Names of a module in place of one, `from other` for another module that has it."""
    path = module_names.file_of(module, tree.paths())
    if not path:
        known = (one for one in module_names.list_standard(module) if one[:1] != "_")
        yield from _alike(module, name, known)
        return
    now = module_names.find_bound(tree.read(path)) | _submodules(module, tree)
    removal = tree.removal(path, name)
    fresh = _same_body(removal.before, tree.read(path), name) if removal else frozenset()
    since = f"commit {removal.sha[:12]} took `{name}` out of {path}" if removal else ""
    homes = [dotted for dotted, file in _sources(tree) if _defines(tree.read(file), name)]
    for home in homes:
        yield f"from {home}", Tier.USUAL if since else Tier.SELDOM, f"`{name}` is in {home} now"
    for other in sorted(fresh):
        yield other, Tier.USUAL, f"{since} and calls it `{other}`"
    yield from _alike(module, name, now - fresh)


def _alike(module: str, name: str, known: Iterable[str]) -> _Found:
    """Those of the names of a module that are like one, the likest first."""
    for other in get_close_matches(name, [*known]):
        yield other, Tier.RARE, f"{module} has `{other}` and no `{name}`"


def _modules(tree: Tree, module: str) -> _Found:
    """Modules of the project in place of one that is not there."""
    every = dict(_sources(tree))
    end = module.replace(".", "/")
    removal = tree.removal(f"{end}.py", "") or tree.removal(f"{end}/__init__.py", "")
    if removal and removal.moved in every.values():
        other = module_names.dotted_name(removal.moved, tree.paths())
        moved = f"commit {removal.sha[:12]} moved {removal.path} to {removal.moved}"
        yield other, Tier.USUAL, moved
    last = module.rpartition(".")[2]
    for other in [m for m in every if m.rpartition(".")[2] == last and m != module]:
        yield other, Tier.SELDOM, f"{module} is not there, {other} is"
    for other in get_close_matches(module, every, cutoff=0.75):
        yield other, Tier.RARE, f"{module} is not there, {other} is"


def _sources(tree: Tree) -> Iterator[tuple[str, str]]:
    """The project's modules that are no tests, by name."""
    known = frozenset(tree.paths())
    for path in known:
        if path.endswith(".py") and not paths.is_test(path) and not paths.is_protected(path):
            yield module_names.dotted_name(path, known), path


def _submodules(module: str, tree: Tree) -> frozenset[str]:
    names = (dotted for dotted, _ in _sources(tree) if dotted.rpartition(".")[0] == module)
    return frozenset(name.rpartition(".")[2] for name in names)


def _same_body(before: bytes, after: bytes, name: str) -> frozenset[str]:
    """The definitions that a module has for one of another name, and did not have before."""
    old = _definitions(before)
    new = {other: told for other, told in _definitions(after).items() if other not in old}
    return frozenset(other for other, told in new.items() if name in old and told == old[name])


def _definitions(data: bytes) -> dict[str, str]:
    """What a module defines at its top level, each without its own name."""
    try:
        body = guard.parse(data.decode("utf-8", "replace")).body
    except guard.SourceRejected:
        return {}
    found = [n for n in body if isinstance(n, Function | ast.ClassDef)]
    told = {node.name: re.sub(rf"\b{node.name}\b", "", ast.dump(node)) for node in found}
    values = [n for n in body if isinstance(n, ast.Assign) and isinstance(n.targets[0], ast.Name)]
    return told | {
        n.targets[0].id: ast.dump(n.value) for n in values if isinstance(n.targets[0], ast.Name)
    }


def _defines(data: bytes, name: str) -> bool:
    """Whether a module itself defines a name at its top level, and does not just import it."""
    pattern = rf"(?m)^(?:(?:async )?def |class ){name}\b|^{name}\s*[:=]".encode()
    return re.search(pattern, data) is not None


def _renamed(node: ast.ImportFrom, name: str, other: str, target: Target, text: str) -> str:
    """The import of another name, under the old one where the module uses that."""
    alias = next((a for a in node.names if a.name == name), None)
    if alias is None:
        return ""
    outside = text.replace(target.source, "", 1)
    old, new = (re.search(rf"\b{word}\b", outside) is not None for word in (name, other))
    keep = alias.asname is None and (old or not new)
    return re.sub(rf"(?<=[\s(,]){name}\b", f"{other} as {name}" if keep else other, target.source)


def _moved(node: ast.ImportFrom, name: str, home: str, target: Target, tree: Tree) -> str:
    """The import of a name from another module; its neighbours stay where they are."""
    alias = next((a for a in node.names if a.name == name), None)
    if alias is None or home == module_names.dotted_name(target.path, tree.paths()):
        return ""
    if len(node.names) == 1:
        return _from(
            node, module_names.absolute_name(node, target.path, tree.paths()), home, target, tree
        )
    margin = functions.find_indentation(target.source)
    rest = ast.unparse(
        ast.ImportFrom(node.module, [a for a in node.names if a is not alias], node.level)
    )
    one = ast.unparse(ast.ImportFrom(_written(node, home, target, tree), [alias], 0))
    return f"{margin}{rest}\n{margin}{one}\n"


def _from(node: ast.ImportFrom, module: str, other: str, target: Target, tree: Tree) -> str:
    """The statement with another module to import from."""
    if module_names.absolute_name(node, target.path, tree.paths()) != module:
        return ""
    written = _written(node, other, target, tree)
    return re.sub(r"(?<=from )\s*[.\w]+(?=\s+import)", written, target.source, count=1)


def _written(node: ast.ImportFrom, other: str, target: Target, tree: Tree) -> str:
    """A module as the statement writes its own: from its package, or from the top."""
    package = module_names.absolute_name(
        ast.ImportFrom(None, [], node.level), target.path, tree.paths()
    )
    if node.level and other.startswith(f"{package}."):
        return "." * node.level + other.removeprefix(f"{package}.")
    return other


def _undefined(
    tree: Tree, target: Target, text: str, name: str, failure: Failure
) -> Iterator[tuple[Edit, Tier, str]]:
    """The import that a name lacks, or the name that is meant."""
    for _, line in missing_import.lines(tree, target.path, gather([failure])):
        yield Edit(target, target.source, (line,)), Tier.SELDOM, f"`{line}` is missing"
    for home in [dotted for dotted, path in _sources(tree) if _defines(tree.read(path), name)]:
        if home != module_names.dotted_name(target.path, tree.paths()):
            line = f"from {home} import {name}"
            yield Edit(target, target.source, (line,)), Tier.SELDOM, f"`{line}` is missing"
    known = module_names.find_bound(text) | set(dir(builtins))
    for other in get_close_matches(name, known - {name}, cutoff=0.7):
        new = re.sub(rf"\b{name}\b", other, target.source)
        yield Edit(target, new), Tier.RARE, f"`{name}` is not defined, `{other}` is"
