"""Names in scope at a node, and what kind of value their uses suggest."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.repair.templates.failure_hints import FailureHints
from heal_bot.repair.templates.module_context import ModuleContext
from heal_bot.repair.templates.target_ast import TargetAst
from heal_bot.source.definitions import Function

_UNBOUND = {"NameError", "UnboundLocalError"}
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = (*COMPREHENSIONS, ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
RESULTS = {
    **dict.fromkeys(("len", "int", "sum", "abs", "float", "ord", "round"), "number"),
    **dict.fromkeys(("list", "sorted", "reversed", "range", "tuple"), "sequence"),
    **dict.fromkeys(("str", "repr", "chr"), "text"),
    **dict.fromkeys(("dict", "defaultdict", "Counter", "OrderedDict"), "mapping"),
    **dict.fromkeys(("set", "frozenset"), "set"),
}
_METHODS = {
    **dict.fromkeys(
        ("lower", "upper", "strip", "split", "replace", "startswith", "endswith", "title",
         "lstrip", "rstrip", "format", "encode", "isdigit", "isalpha", "capitalize"), "text"
    ),
    **dict.fromkeys(("append", "extend", "insert", "sort", "reverse"), "sequence"),
    **dict.fromkeys(("items", "keys", "values", "setdefault"), "mapping"),
    **dict.fromkeys(("add", "discard", "union", "difference"), "set"),
}  # fmt: skip
_MADE = {"split": "sequence", "join": "text", "count": "number", "index": "number",
         "find": "number", "startswith": "boolean", "endswith": "boolean"}  # fmt: skip


@dataclass(slots=True)
class MutationContext:
    """Everything a family sees: the site, the module around it, the failures, the names.

    `original` is the fingerprint of the source as it is, `loose` how it was taken; `importable`
    holds names that are missing with lines that import them; `frame` is what stands before and
    after the target in the outermost suspect that contains it; `unused` are the parameters that
    the body does not read: they were meant for something; `idle` are those and the local names
    that nothing reads but what sets them, as `on = not on` does.
    """

    site: TargetAst
    around: ModuleContext
    evidence: FailureHints
    bindings: list[tuple[str, int, ast.AST]] = field(default_factory=list)
    kinds: dict[str, set[str]] = field(default_factory=dict)
    original: int = 0
    loose: bool = False
    importable: tuple[tuple[str, str], ...] = ()
    frame: tuple[str, str] = ("", "")
    unused: tuple[str, ...] = ()
    idle: frozenset[str] = frozenset()

    def visible(self, node: ast.AST) -> list[str]:
        """Parameters and local names that may hold a value at a node, nearest scope first."""
        inside = {id(a) for a in self.ancestors(node)}
        statement = node if isinstance(node, ast.stmt) else self.site.places[node].statement
        last = statement.end_lineno or statement.lineno
        looped = any(isinstance(a, ast.For | ast.While | ast.AsyncFor) for a in self.above(node))
        names = dict.fromkeys(
            name
            for name, line, owner in self.bindings
            if id(owner) in inside and (line <= last or looped)
        )
        for function in reversed(self.around.enclosing):
            names.update(dict.fromkeys([*_parameters(function.args), *_locals(function)]))
        return [n for n in names if n not in {"self", "cls", "_"}]

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The ancestors of a node, innermost first, the module left out."""
        place = self.site.places.get(node)
        while place is not None:
            yield place.parent
            place = self.site.places.get(place.parent)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Like `above`, beginning with the node itself."""
        yield node
        yield from self.above(node)

    def begins(self, node: ast.stmt) -> bool:
        """Whether an assignment is the first of its name: others read it, and nothing was there."""
        if not isinstance(node, ast.Assign):
            return False
        names = {t.id for t in node.targets if isinstance(t, ast.Name)}
        return bool(names - {name for name, line, _ in self.bindings if line < node.lineno})

    def clash(self, one: str, other: str) -> Tier:
        """How unusual one name is for another: they are used alike, nothing is known, or not."""
        first, second = self.kinds.get(one, set()), self.kinds.get(other, set())
        if first and second:
            return Tier.USUAL if first & second else Tier.RARE
        return Tier.SELDOM

    def list_unbound(self) -> list[ast.Name]:
        """Where the target reads a name without a value, if that is how all tests fail."""
        names = self.evidence.unbound() if self.evidence.kinds <= _UNBOUND else ()
        return [node for node in self.site.each(ast.Name) if node.id in names]

    def receiver(self) -> str | None:
        """The name of the instance or class in a method: its first parameter."""
        function = self.site.function
        if function is None or not self.around.methods:
            return None
        first = next(iter(function.args.posonlyargs + function.args.args), None)
        return first.arg if first is not None and first.arg in {"self", "cls"} else None


def _parameters(args: ast.arguments) -> list[str]:
    every = [*args.posonlyargs, *args.args, *args.kwonlyargs]
    every += [a for a in (args.vararg, args.kwarg) if a is not None]
    return [a.arg for a in every]


def _locals(function: Function) -> list[str]:
    """The names that a function's own statements bind, those of functions inside it left out."""
    found: dict[str, None] = {}
    left: list[ast.AST] = list(function.body)
    while left:
        node = left.pop(0)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
        if not isinstance(node, (*_SCOPES, ast.ClassDef)):
            left += ast.iter_child_nodes(node)
    return list(found)


def _unused(site: TargetAst) -> tuple[str, ...]:
    """The parameters that a function's body does not read."""
    if site.function is None:
        return ()
    read = {node.id for node in site.each(ast.Name)} | {"self", "cls", "_"}
    return tuple(name for name in _parameters(site.function.args) if name not in read)


def _idle(scope: MutationContext) -> frozenset[str]:
    """The names bound in a function that nothing reads but what sets them."""
    site = scope.site
    if site.function is None:
        return frozenset()
    read = {
        node.id
        for node in site.each(ast.Name)
        if not isinstance(node.ctx, ast.Store) and node.id not in _set(site.places[node].statement)
    }
    for node in ast.walk(site.root):
        match node:
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                read.update(names)
            case ast.JoinedStr() as part:
                read.update(n.id for n in ast.walk(part) if isinstance(n, ast.Name))
            case ast.For(target=part) | ast.AsyncFor(target=part) | ast.comprehension(target=part):
                read.update(n.id for n in ast.walk(part) if isinstance(n, ast.Name))
    bound = {name for name, _, _ in scope.bindings if name[:1] != "_"}
    return frozenset(bound - read - {"self", "cls"})


def _set(statement: ast.stmt) -> tuple[str, ...]:
    """The name that an assignment sets."""
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)]) | ast.AugAssign(target=ast.Name(id=name)):
            return (name,)
    return ()


def look(site: TargetAst, around: ModuleContext, evidence: FailureHints) -> MutationContext:
    """Bind and type the names of a site."""
    scope = MutationContext(site, around, evidence, unused=_unused(site))
    for node in (site.root, *site.statements, *site.nodes):
        if isinstance(node, Function | ast.Lambda):
            scope.bindings += [(name, node.lineno, node) for name in _parameters(node.args)]
            _hint(scope, node.args)
    for use in site.each(ast.Name):
        if isinstance(use.ctx, ast.Store):
            scope.bindings.append((use.id, use.lineno, _binder(scope, use)))
        kind = usage(site.places[use].parent, site.places[use].field)
        if kind:
            scope.kinds.setdefault(use.id, set()).add(kind)
    scope.idle = _idle(scope)
    return scope


def _hint(scope: MutationContext, args: ast.arguments) -> None:
    """Kinds from annotations and defaults of parameters."""
    words = {"int": "number", "float": "number", "str": "text", "list": "sequence",
             "dict": "mapping", "set": "set", "bool": "boolean"}  # fmt: skip
    for arg in (*args.posonlyargs, *args.args, *args.kwonlyargs):
        if arg.annotation is not None:
            spelled = ast.unparse(arg.annotation).partition("[")[0].lower()
            if spelled in words:
                scope.kinds.setdefault(arg.arg, set()).add(words[spelled])
    with_default = [*args.posonlyargs, *args.args][-len(args.defaults) :] if args.defaults else []
    for arg, default in zip(with_default, args.defaults, strict=False):
        if kind := value_kind(default):
            scope.kinds.setdefault(arg.arg, set()).add(kind)


def _binder(scope: MutationContext, name: ast.Name) -> ast.AST:
    """The scope that a stored name belongs to."""
    for node in scope.above(name):
        if isinstance(node, _SCOPES):
            return node
    return scope.site.root


def value_kind(value: ast.expr) -> str:
    """The kind of value an expression makes, "" when it does not show."""
    match value:
        case ast.Constant(value=bool()):
            return "boolean"
        case ast.Constant(value=int() | float()):
            return "number"
        case ast.Constant(value=str()) | ast.JoinedStr():
            return "text"
        case ast.List() | ast.ListComp() | ast.Tuple():
            return "sequence"
        case ast.Dict() | ast.DictComp():
            return "mapping"
        case ast.Set() | ast.SetComp():
            return "set"
        case ast.Compare():
            return "boolean"
        case ast.BinOp(op=ast.Sub() | ast.FloorDiv() | ast.Div() | ast.Pow()):
            return "number"
        case ast.BoolOp(op=ast.Or(), values=[*_, last]):
            return value_kind(last)
        case ast.IfExp(body=body, orelse=other):
            return value_kind(body) if value_kind(body) == value_kind(other) else ""
        case ast.Call(func=ast.Name(id=name)):
            return RESULTS.get(name, "")
        case ast.Call(func=ast.Attribute(attr=attr)):
            return _MADE.get(attr, "text" if _METHODS.get(attr) == "text" else "")
    return ""


def usage(parent: ast.AST, field: str) -> str:
    """What the use of a value in this field of a node says about its kind, "" when nothing."""
    match parent:
        case ast.Subscript() if field == "slice":
            return "number"
        case ast.Slice() | ast.AugAssign(op=ast.Sub()):
            return "number"
        case ast.BinOp(op=ast.Sub() | ast.Div() | ast.FloorDiv() | ast.Pow() | ast.LShift()):
            return "number"
        case ast.Call(func=ast.Name(id="range")):
            return "number"
        case ast.Call() if field == "func":
            return "callable"
        case ast.Attribute(attr=attr):
            return _METHODS.get(attr, "")
        case ast.Assign(value=value) if field == "targets":
            return value_kind(value)
        case ast.AugAssign(value=value) if field == "target":
            return value_kind(value)
        case (
            ast.For(iter=ast.Call(func=ast.Name(id="range")))
            | ast.comprehension(iter=ast.Call(func=ast.Name(id="range")))
        ) if field == "target":
            return "number"
        case ast.Compare(comparators=[other]) if field == "left":
            return value_kind(other)
    return ""
