"""Attributes and methods: `items.append(x)` becomes `items.extend(x)`, `a.first` `a.last`.

What is taken for each other costs 1.6 (methods that do nearly the same, opposites such as `left`
and `right`), attributes of the same class 2.4 to 2.9 by how alike they are spelt.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation, TextEdit, says

_FAMILIES = (
    ("append", "extend", "insert", "add", "remove", "appendleft"),
    ("add", "update", "discard", "remove", "union"),
    ("lower", "upper", "title", "capitalize", "casefold", "swapcase", "strip"),
    ("strip", "lstrip", "rstrip", "split"),
    ("split", "rsplit", "splitlines", "partition", "rpartition"),
    ("find", "rfind", "index", "rindex", "count"),
    ("startswith", "endswith"),
    ("ljust", "rjust", "center", "zfill"),
    ("keys", "values", "items", "copy"),
    ("pop", "popleft", "popitem", "remove", "get"),
    ("get", "pop", "setdefault"),
    ("intersection", "union", "difference", "symmetric_difference", "issubset", "issuperset"),
    ("isdigit", "isalpha", "isalnum", "isspace", "isnumeric", "isdecimal", "isidentifier"),
    ("isupper", "islower", "istitle"),
    ("removeprefix", "removesuffix", "strip", "lstrip", "rstrip"),
    ("match", "search", "fullmatch", "findall", "finditer"),
    ("group", "groups"),
    ("days", "seconds", "total_seconds"),
    ("floor", "ceil", "trunc"),
    ("heappush", "heappop", "heappushpop", "heapreplace"),
    ("now", "utcnow", "today"),
    ("encode", "decode"),
    ("isoformat", "strftime"),
    ("sort", "reverse"),
    ("read", "readline", "readlines"),
    # Opposites, which are written side by side and confused at the same place.
    ("left", "right"),
    ("prev", "next"),
    ("previous", "next"),
    ("first", "last"),
    ("head", "tail"),
    ("start", "stop", "end"),
    ("begin", "end"),
    ("key", "value"),
    ("min", "max"),
    ("minimum", "maximum"),
    ("lower", "upper"),
    ("before", "after"),
    ("above", "below"),
    ("top", "bottom"),
    ("width", "height"),
    ("rows", "columns"),
    ("row", "column"),
    ("source", "target"),
    ("push", "pop"),
    ("enter", "exit"),
    ("open", "close"),
    ("predecessors", "successors"),
    ("predecessor", "successor"),
    ("incoming", "outgoing"),
)


def _relatives(name: str) -> list[str]:
    found = (m for group in _FAMILIES if name in group for m in group if m != name)
    return list(dict.fromkeys(found))


def swaps(scope: MutationContext) -> Iterator[Mutation]:
    """Another attribute or method on the same object."""
    site = scope.site
    used = {n.attr for n in site.each(ast.Attribute)}
    beside = _beside(scope, used)
    for node in site.each(ast.Attribute):
        if isinstance(node.ctx, ast.Del):
            continue
        called = site.is_called(node)
        options = dict.fromkeys(_relatives(node.attr), 1.6)
        own = isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}
        callables = set(scope.around.methods)
        for name in scope.around.attributes if own else used:
            if (name in callables) == called or not own:
                alike = SequenceMatcher(None, name.lower(), node.attr.lower()).ratio()
                options.setdefault(name, (2.6 if own else 3.0) - 0.8 * alike)
        for name in () if own or called else beside.get(node.attr, ()):
            alike = SequenceMatcher(None, name.lower(), node.attr.lower()).ratio()
            options[name] = min(options.get(name, 9.0), 2.5 - 0.6 * alike)
        if own and called:
            for name in callables:
                alike = SequenceMatcher(None, name.lower(), node.attr.lower()).ratio()
                options.setdefault(name, 2.8 - 0.8 * alike)
        options.pop(node.attr, None)
        end, line = site.end(node), site.line(node)
        for name, cost in sorted(options.items()):
            cut = TextEdit(end - len(node.attr.encode()), end, name)
            yield Mutation((cut,), cost, line, says(f".{node.attr}", f".{name}", line))


def _beside(scope: MutationContext, used: set[str]) -> dict[str, dict[str, None]]:
    """What classes of the module hold beside attributes: fields, what methods set, properties."""
    found: dict[str, dict[str, None]] = {}
    for owner in scope.around.classes.values():
        names = dict.fromkeys(_held(owner))
        for attr in used.intersection(names):
            others = dict.fromkeys(name for name in names if name != attr)
            found.setdefault(attr, {}).update(others)
    return found


def _held(owner: ast.ClassDef) -> Iterator[str]:
    for node in ast.walk(owner):
        match node:
            case ast.Attribute(value=ast.Name(id="self"), attr=name, ctx=ast.Store()):
                yield name
            case ast.AnnAssign(target=ast.Name(id=name)) if node in owner.body:
                yield name
            case ast.FunctionDef(name=name, decorator_list=[*marks]) if any(
                isinstance(mark, ast.Name) and mark.id.endswith("property") for mark in marks
            ):
                yield name
