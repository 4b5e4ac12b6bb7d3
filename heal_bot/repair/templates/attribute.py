"""Attributes and methods: `items.append(x)` becomes `items.extend(x)`, `a.first` `a.last`.

Usual is what is taken for each other (methods that do nearly the same, opposites such as `left`
and `right`), and what the same class has that is spelled alike.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from heal_bot.repair.templates.change_tiers import Tier, combine_tiers, is_spelled_alike
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


def swaps(scope: MutationContext) -> Iterator[Mutation]:
    """Another attribute or method on the same object."""
    site = scope.site
    used = {n.attr for n in site.each(ast.Attribute)}
    beside = _beside(scope, used)
    methods = scope.around.methods
    fields = [name for name in scope.around.attributes if name not in methods]
    for node in site.each(ast.Attribute):
        if isinstance(node.ctx, ast.Del):
            continue
        called = site.is_called(node)
        relatives = (name for group in _FAMILIES if node.attr in group for name in group)
        options = dict.fromkeys(relatives, Tier.USUAL)
        if isinstance(node.value, ast.Name) and node.value.id in {"self", "cls"}:
            near: Iterable[str] = methods if called else fields
            far: Iterable[str] = ()
        else:
            near = () if called else beside.get(node.attr, ())
            far = sorted(used)
        for tier, names in ((Tier.USUAL, near), (Tier.SELDOM, far)):
            for name in names:
                alike = Tier.USUAL if is_spelled_alike(name, node.attr) else Tier.SELDOM
                options.setdefault(name, combine_tiers(tier, alike))
        options.pop(node.attr, None)
        end, line = site.end(node), site.line(node)
        for name, tier in options.items():
            cut = TextEdit(end - len(node.attr.encode()), end, name)
            yield Mutation((cut,), tier, line, says(f".{node.attr}", f".{name}", line))


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
