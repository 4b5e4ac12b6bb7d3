"""State that several calls, instances or rows share by mistake.

`def f(items=[])` gets `None` and a list of its own, 1.9; a list of the class one of each instance
in `__init__`, 2.0; a list of the caller, which a method changes, becomes a copy of it, 2.0;
`[[0] * w] * h` a row for each, 1.8.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext, value_kind
from heal_bot.repair.templates.statement_insertion import after, before
from heal_bot.repair.templates.text_edits import Mutation, Text, TextEdit, call
from heal_bot.source import functions

_MADE = {"list", "dict", "set", "defaultdict", "deque", "Counter", "OrderedDict"}
_COPIES = {"sequence": "list", "mapping": "dict", "set": "set"}
_CHANGING = {
    **dict.fromkeys(("append", "extend", "insert", "remove", "sort", "reverse"), "list"),
    **dict.fromkeys(("add", "discard"), "set"),
    **dict.fromkeys(("setdefault", "popitem", "update"), "dict"),
}


def defaults(scope: MutationContext) -> Iterator[Mutation]:
    """A default that is made once becomes None, and is made in each call that needs it."""
    site, function = scope.site, scope.site.function
    first = next(iter(site.body), None)
    if function is None or first is None:
        return
    for arg, default in functions.list_defaults(function.args):
        name = arg.arg
        if not _mutable(default):
            continue
        made = site.segment(default)
        if "\n" in made:
            continue
        for put in before(site, first, (f"if {name} is None:", f"\t{name} = {made}"), 1.9):
            signature = TextEdit(site.start(default), site.end(default), "None")
            why = f"each call without `{name}` makes its own `{made}`"
            yield Mutation((signature, *put.cuts), 1.9, put.line, why)


def attributes(scope: MutationContext) -> Iterator[Mutation]:
    """A value of the class, or of a caller, that an instance changes becomes its own."""
    yield from _of_class(scope)
    yield from _of_caller(scope)


def _of_caller(scope: MutationContext) -> Iterator[Mutation]:
    """What is passed to a method, kept and changed by one is copied before it is kept."""
    site, function = scope.site, scope.site.function
    if function is None or scope.receiver() != "self":
        return
    given = {arg.arg for arg in (*function.args.args, *function.args.kwonlyargs)}
    for statement in site.statements:
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id="self"), attr=attr)],
                value=(ast.Name() as passed)
                | ast.BoolOp(op=ast.Or(), values=[ast.Name() as passed, _])
                | ast.IfExp(body=ast.Name() as passed) as value,
            ) if passed.id in given:
                kind = value_kind(value)
            case _:
                continue
        changed = _changed(scope, attr)
        if changed and kind in _COPIES:
            changed = [_COPIES[kind]]
        for rank, made in enumerate(changed):
            yield site.put(value, call(made, site.text(value)), 2.0 + 0.2 * rank)


def _changed(scope: MutationContext, attr: str) -> list[str]:
    """What may copy an attribute that methods change; nothing where none does."""
    found: dict[str, None] = {}
    unclear = False
    for node in (n for method in scope.around.methods.values() for n in ast.walk(method)):
        match node:
            case ast.Call(
                func=ast.Attribute(
                    value=ast.Attribute(value=ast.Name(id="self"), attr=name), attr=changing
                )
            ) if name == attr and changing in _CHANGING:
                found[_CHANGING[changing]] = None
            case (
                ast.Subscript(
                    value=ast.Attribute(value=ast.Name(id="self"), attr=name),
                    ctx=ast.Store() | ast.Del(),
                )
                | ast.Call(
                    func=ast.Attribute(
                        value=ast.Attribute(value=ast.Name(id="self"), attr=name),
                        attr="pop" | "clear",
                    )
                )
            ) if name == attr:
                unclear = True
    return list(found) or (["dict", "list"] if unclear else [])


def _of_class(scope: MutationContext) -> Iterator[Mutation]:
    function = scope.site.function
    if function is None or function.name != "__init__" or scope.receiver() != "self":
        return
    own = scope.around.classes.get(scope.site.target.qualname.rpartition(".")[0])
    for statement in own.body if own is not None else ():
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if _mutable(value):
                made = scope.around.segment(value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value) if _mutable(
                value
            ):
                made = scope.around.segment(value)
            case _:
                continue
        for anchor in function.body[-1:]:
            yield from after(scope.site, anchor, (f"self.{name} = {made}",), 2.0)


def rows(scope: MutationContext) -> Iterator[Mutation]:
    """One value that is repeated becomes several equal ones."""
    site = scope.site
    for node in site.nodes:
        match node:
            case ast.BinOp(left=ast.List(elts=[row]), op=ast.Mult(), right=count) if _mutable(row):
                each = f"[{site.segment(row)} for _ in range({site.text(count).at(1)})]"
                yield site.put(node, Text(each), 1.8)
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="dict"), attr="fromkeys"), args=[keys, value]
            ) if _mutable(value):
                each = f"{{key: {site.segment(value)} for key in {site.text(keys).at(3)}}}"
                yield site.put(node, Text(each), 1.8)


def _mutable(value: ast.expr) -> bool:
    match value:
        case ast.List() | ast.Dict() | ast.Set() | ast.ListComp() | ast.DictComp() | ast.SetComp():
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name in _MADE
        case ast.BinOp(left=ast.List(), op=ast.Mult()):
            return True
    return False
