"""Which expressions may be a module, a class or a function: what others see when it is changed."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

from heal_bot.source.definitions import Function

# What is handed to a class stays inside of what it makes.
_CLASSES = frozenset({"cls", "super"})


@dataclass(frozen=True, slots=True)
class SharedObjects:
    """The local names of code that may be one, and what says of other names that they are.

    A name may be all that is assigned to it anywhere, a parameter of an inner function all that is
    handed to it; `f()` stands for what an inner function returns. `local` are the functions and
    classes that the code defines itself, of which `owned` names may be as well.
    """

    bound: frozenset[str]
    local: frozenset[str]
    is_shared: Callable[[str], bool]
    marked: set[str] = field(default_factory=set)
    owned: set[str] = field(default_factory=set)

    @classmethod
    def find(cls, nodes: Sequence[ast.AST], is_shared: Callable[[str], bool]) -> SharedObjects:
        """Those of the nodes of a piece of code."""
        values = _list_values(nodes, is_shared)
        local = {n.name for n in nodes if isinstance(n, Function | ast.ClassDef)}
        found = cls(frozenset(values), frozenset(local), is_shared)
        owned = partial(found.may_be, own=True)
        for names, says in ((found.marked, found.may_be), (found.owned, owned)):
            size = -1
            while size < len(names):
                size = len(names)
                rest = ((name, parts) for name, parts in values.items() if name not in names)
                names |= {name for name, parts in rest if any(map(says, parts))}
        return found

    def may_be(self, node: ast.AST, *, own: bool = False) -> bool:
        """Whether an expression may be one of them, or hold one; with `own` a local one as well."""
        match node:
            case ast.Name(id=name):
                if name in (self.owned if own else self.marked):
                    return True
                if name in self.local or name == "cls":
                    return own
                return name not in self.bound and self.is_shared(name)
            case ast.Attribute(value=base, attr=attr):
                return attr == "__class__" or self.may_be(base, own=own)
            case ast.Call(func=ast.Name(id="type")):
                return True
            case ast.Lambda():
                return own
        if isinstance(node, ast.Call) and f"{_last(node.func)}()" in (
            self.owned if own else self.marked
        ):
            return True
        parts = self._given(node) if isinstance(node, ast.Call) else _held(node)
        return any(self.may_be(part, own=own) for part in parts)

    def _given(self, call: ast.Call) -> Iterator[ast.expr]:
        """What a call may give: what a function is handed, what a container holds."""
        name = _last(call.func)
        if isinstance(call.func, ast.Lambda):
            yield call.func.body
        if isinstance(call.func, ast.Attribute):
            root = _root(call.func)
            if not isinstance(root, ast.Name) or root.id in self.bound:
                yield call.func.value
        if not name[:1].isupper() and name not in _CLASSES:
            yield from call.args
            yield from (keyword.value for keyword in call.keywords)


def _list_values(
    nodes: Sequence[ast.AST], is_shared: Callable[[str], bool]
) -> dict[str, list[ast.expr]]:
    """What each name may be, and with `()` what each inner function returns."""
    values: dict[str, list[ast.expr]] = defaultdict(list)
    inner = [node for node in nodes if isinstance(node, Function)]
    for node in nodes:
        for target, value in _bound(node):
            for part in ast.walk(target):
                if name := _captured(part):
                    values[name].append(value)
        if isinstance(node, ast.Call):
            handed = [*node.args, *(keyword.value for keyword in node.keywords)]
            root = _root(node.func)
            called = () if isinstance(root, ast.Name) and is_shared(root.id) else (node.func,)
            used = {n for part in (*called, *handed) for n in _mentioned(part)}
            for one in [n for n in inner if n.name in used] + _lambdas(node):
                for name in _parameters(one):
                    values[name].extend(handed)
    for one in inner:
        returned = (n.value for n in ast.walk(one) if isinstance(n, ast.Return | ast.Yield))
        values[f"{one.name}()"].extend(value for value in returned if value)
    return values


def _held(node: ast.AST) -> Sequence[ast.AST]:
    """The expressions of which another may be one, or hold one."""
    match node:
        case ast.Compare() | ast.JoinedStr():
            return ()
        case ast.IfExp(body=body, orelse=orelse):
            return body, orelse
        case ast.Subscript(value=value):
            return (value,)
        case ast.ListComp(elt=one) | ast.SetComp(elt=one) | ast.GeneratorExp(elt=one):
            return (one,)
        case ast.DictComp(key=key, value=value):
            return key, value
    return [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]


def _bound(node: ast.AST) -> Iterator[tuple[ast.AST, ast.expr]]:
    """What a node binds, and what to."""
    match node:
        case ast.Assign(targets=targets, value=value):
            yield from ((target, value) for target in targets)
        case ast.AnnAssign(target=target, value=ast.expr() as value):
            yield target, value
        case ast.NamedExpr(target=target, value=value):
            yield target, value
        case (
            ast.For(target=target, iter=value)
            | ast.AsyncFor(target=target, iter=value)
            | ast.comprehension(target=target, iter=value)
        ):
            yield target, value
        case ast.withitem(context_expr=value, optional_vars=ast.expr() as target):
            yield target, value
        case ast.Match(subject=value, cases=cases):
            yield from ((case.pattern, value) for case in cases)
        case ast.arguments():
            places = [*node.posonlyargs, *node.args][::-1]
            yield from zip(places, node.defaults[::-1], strict=False)
            yield from ((a, v) for a, v in zip(node.kwonlyargs, node.kw_defaults, strict=True) if v)


def _captured(node: ast.AST) -> str:
    """The name that a target, a pattern or a parameter gives to a value."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.arg(arg=name):
            return name
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return name
        case ast.MatchMapping(rest=str(name)):
            return name
    return ""


def _mentioned(node: ast.expr) -> Iterator[str]:
    """The last names of what an expression mentions."""
    return (name for part in ast.walk(node) if (name := _last(part)))


def _last(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


def _root(node: ast.AST) -> ast.AST:
    """What stands before the attributes and items of an expression."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return node


def _lambdas(call: ast.Call) -> list[ast.Lambda]:
    return [node for node in ast.walk(call) if isinstance(node, ast.Lambda)]


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[str]:
    return [one.arg for one in ast.walk(node.args) if isinstance(one, ast.arg)]
