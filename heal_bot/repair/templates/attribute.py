"""Attributes and methods: `items.append(x)` becomes `items.extend(x)`, `a.first` `a.last`.

What is taken for each other costs 1.6 (methods that do nearly the same, opposites such as `left`
and `right`), attributes of the same class 2.4 to 2.9 by how alike they are spelt, and an attribute
that becomes a plain read or a call 3.0. What a class holds beside it costs 1.9 to 2.5.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from difflib import SequenceMatcher

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.none_check import is_asked
from heal_bot.repair.templates.text_edits import Mutation, Text, TextEdit, says

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


def receivers(scope: MutationContext) -> Iterator[Mutation]:
    """An attribute or an empty call goes: `node.next` becomes `node`, 2.4 to 3.8."""
    site = scope.site
    for node in site.each(ast.Attribute):
        if not isinstance(node.ctx, ast.Load):
            continue
        place = site.places[node]
        if isinstance(place.parent, ast.Call) and place.field == "func":
            if isinstance(place.parent.func, ast.Attribute) and not place.parent.args:
                yield site.put(place.parent, site.text(node.value), 2.4)
            continue
        # Whether there is an object at all is seldom what a question about it was meant to be.
        negated = isinstance(place.parent, ast.UnaryOp) and isinstance(place.parent.op, ast.Not)
        asked = negated or is_asked(scope, node)
        yield site.put(node, site.text(node.value), 3.8 if asked else 2.8)


def methods(scope: MutationContext) -> Iterator[Mutation]:
    """What a method of the class works out is read plainly: `a.total` becomes `a.full_total()`."""
    site, own = scope.site, scope.site.function
    plain = [
        name
        for name, method in scope.around.methods.items()
        if len(method.args.args) == 1 and not method.decorator_list and not name.startswith("__")
    ]
    for node in site.each(ast.Attribute):
        if not isinstance(node.ctx, ast.Load):
            continue
        if site.is_called(node) or node.attr not in scope.around.attributes:
            continue
        endless = isinstance(node.value, ast.Name) and node.value.id == scope.receiver()
        for name in plain:
            if endless and own is not None and name == own.name:
                continue
            cost = 2.6 if node.attr in name or name in node.attr else 3.0
            yield site.put(node, Text(f"{site.text(node.value).at(16)}.{name}()"), cost)


def extensions(scope: MutationContext) -> Iterator[Mutation]:
    """An attribute the function uses is read from a name: `node` to `node.next`, 3.0."""
    site = scope.site
    reads = dict.fromkeys(
        node.attr
        for node in site.each(ast.Attribute)
        if isinstance(node.ctx, ast.Load) and not site.is_called(node)
    )
    for node in site.each(ast.Name):
        if not isinstance(node.ctx, ast.Load):
            continue
        if site.is_called(node):
            continue
        above = site.places[node].parent
        for attr in reads:
            if not (isinstance(above, ast.Attribute) and above.attr == attr):
                yield site.put(node, Text(f"{node.id}.{attr}"), 3.0)


def exchange_calls(scope: MutationContext) -> Iterator[Mutation]:
    """Two methods called one after the other change places, as in `s.strip().split()`: 1.9."""
    site = scope.site
    for node in site.nodes:
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Call(func=ast.Attribute(value=first)) as inner)
            ):
                begin, middle, end = site.end(first), site.end(inner), site.end(node)
            case _:
                continue
        one = site.source[begin:middle].decode()
        other = site.source[middle:end].decode()
        if one != other and "\n" not in one + other and one[:1] == other[:1] == ".":
            why = says(one + other, other + one, site.line(node))
            yield Mutation((TextEdit(begin, end, other + one),), 1.9, site.line(node), why)
