"""What an expression stands for in a tree: names through imports, classes, assignments."""

from __future__ import annotations

import ast
import builtins
import collections
import contextlib
import datetime
import io
import pathlib
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from heal_bot.ports import Tree
from heal_bot.source import guard, module_names, paths
from heal_bot.source.definitions import Function, Module, find_assigned, read

_FILES = 2_000
_BYTES = 16 << 20
# How far a name is followed through imports, bases and assignments.
_DEEP = 8
_METHOD = re.compile(r"^[ \t]+(?:async[ \t]+)?def[ \t]+(\w+)", re.MULTILINE)
# What values of other types than the project's have: such a method says nothing of its class.
_COMMON = frozenset(
    name
    for kind in (
        str, bytes, list, dict, set, tuple, int, float, type, BaseException, io.TextIOWrapper,
        re.Pattern, re.Match, pathlib.Path, collections.deque, collections.Counter,
        datetime.datetime,
    )
    for name in dir(kind)
)  # fmt: skip


class Symbol(NamedTuple):
    """What a name stands for: a function, a class or a binding; a module where `qualname` is ''."""

    path: str
    qualname: str


class Value(NamedTuple):
    """What is known of an expression: it is a symbol, an instance of a class, or its `super()`."""

    how: str
    symbol: Symbol = Symbol("", "")


# A value that is none of the project's.
_FOREIGN = Value("foreign")


@dataclass(frozen=True, slots=True)
class NameScope:
    """Where an expression stands: the module, the class of `self`, what local names are bound to.

    A list of expressions is what a name is assigned, a value what it is known to be.
    """

    path: str
    prefix: str = ""
    owner: Symbol | None = None
    names: dict[str, Value | list[ast.expr] | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Names:
    """The names of a tree; files are read when first asked for."""

    tree: Tree
    _texts: dict[str, str] = field(default_factory=dict)
    _files: dict[str, str] = field(default_factory=dict)
    _methods: dict[str, set[str]] = field(default_factory=dict)
    _bases: dict[Symbol, list[Symbol]] = field(default_factory=dict)
    _bound: dict[tuple[str, str], Symbol | None] = field(default_factory=dict)

    def text(self, path: str) -> str:
        """A file within the caps; empty for one that cannot be read."""
        if path not in self._texts:
            try:
                self._texts[path] = guard.check_text(self.tree.read(path))
            except (KeyError, guard.SourceRejected):
                self._texts[path] = ""
        return self._texts[path]

    def module(self, path: str) -> Module:
        """What a file defines."""
        return read(self.text(path)) if path else Module()

    def first(self, symbol: Symbol) -> ast.stmt | None:
        """The first statement that defines a symbol."""
        return next(iter(self.module(symbol.path).nodes.get(symbol.qualname, ())), None)

    def sources(self) -> Iterator[str]:
        """The files that are no tests, as many as are read."""
        size = 0
        found = [p for p in self.tree.paths() if p.endswith(".py") and not paths.is_test(p)]
        for path in found[:_FILES]:
            size += len(self.text(path))
            if size > _BYTES:
                return
            yield path

    def bound(self, path: str, name: str, depth: int = 0) -> Symbol | None:
        """What a name at the top level of a file stands for, through imports."""
        if (path, name) not in self._bound:
            # Nothing while it is followed, for modules that import each other.
            self._bound[path, name] = None
            self._bound[path, name] = self._follow(path, name, depth)
        return self._bound[path, name]

    def _follow(self, path: str, name: str, depth: int) -> Symbol | None:
        module = self.module(path)
        if name in module.nodes:
            return Symbol(path, name)
        if depth > _DEEP:
            return None
        if name in module.imports:
            node, alias = module.imports[name]
            if isinstance(node, ast.Import):
                file = self.file(alias.name if alias.asname else name)
                return Symbol(file, "") if file else None
            source = module_names.absolute_name(node, path, self.tree.paths())
            return self._part(source, alias.name, depth)
        for node in module.stars:
            file = self.file(module_names.absolute_name(node, path, self.tree.paths()))
            if file and file != path and (found := self.bound(file, name, depth + 1)):
                return found
        return None

    def member(self, owner: Symbol, name: str) -> Symbol | None:
        """What a name stands for in a class or the first of its bases that has it."""
        for one in (owner, *self.ancestors(owner)):
            if f"{one.qualname}.{name}" in self.module(one.path).nodes:
                return Symbol(one.path, f"{one.qualname}.{name}")
        return None

    def ancestors(self, owner: Symbol) -> list[Symbol]:
        """The bases of a class in the tree, near ones first."""
        if owner in self._bases:
            return self._bases[owner]
        found = self._bases[owner] = []
        queue = [owner]
        while queue and len(found) < 5 * _DEEP:
            node, path = self.first(queue[0]), queue.pop(0).path
            if isinstance(node, ast.ClassDef):
                for base in node.bases:
                    # `Base[int]` is a Base.
                    plain = base.value if isinstance(base, ast.Subscript) else base
                    value = self.value(plain, NameScope(path), 0)
                    if value and value.how == "is" and value.symbol not in [owner, *found]:
                        found.append(value.symbol)
                        queue.append(value.symbol)
        return found

    def around(self, path: str, qualname: str) -> NameScope:
        """The scope that a definition stands in."""
        nodes, scope, name = self.module(path).nodes, NameScope(path), ""
        for part in qualname.split(".")[:-1]:
            name = f"{name}.{part}" if name else part
            node = nodes.get(name, [None])[0]
            if isinstance(node, ast.ClassDef):
                scope = NameScope(path, f"{name}.", Symbol(path, name), scope.names)
            elif isinstance(node, Function):
                scope = self.inside(node, name, scope)
        return scope

    def inside(self, node: Function, name: str, scope: NameScope) -> NameScope:
        """The scope of a function's body: its parameters and what it assigns hide other names."""
        marks = {ast.unparse(mark) for mark in node.decorator_list}
        first, *_ = positional = [*node.args.posonlyargs, *node.args.args, None]
        others = [*positional, *node.args.kwonlyargs, node.args.vararg, node.args.kwarg]
        given: dict[str, Value | list[ast.expr] | None] = {
            one.arg: self._annotated(one.annotation, scope) for one in others if one
        }
        method = scope.owner and scope.prefix == f"{scope.owner.qualname}."
        if method and scope.owner and first and "staticmethod" not in marks:
            how = "is" if "classmethod" in marks else "instance"
            given[first.arg] = Value(how, scope.owner)
        bound: dict[str, list[ast.expr]] = {}
        for local, value in find_assigned(node):
            bound.setdefault(local, []).extend(filter(None, [value]))
        names = {**scope.names, **{local: parts or None for local, parts in bound.items()}, **given}
        return NameScope(scope.path, f"{name}.<locals>.", scope.owner, names)

    def value(
        self, node: ast.expr, scope: NameScope, depth: int = 0, called: bool = True
    ) -> Value | None:
        """What is known of an expression, which may be `called`; None where nothing is."""
        if depth > _DEEP:
            return None
        match node:
            case ast.Name(id=name):
                return self._named(name, scope, depth)
            case ast.Attribute(value=value, attr=attr):
                base = self.value(value, scope, depth + 1)
                return self._attribute(base, attr, scope, depth, called)
            case ast.Call(func=ast.Name(id="super")) if scope.owner:
                return Value("super", scope.owner)
            case ast.Call(func=func):
                return self._result(self.value(func, scope, depth + 1))
            case ast.BoolOp(values=parts):
                return self._first_of(parts, scope, depth)
            case ast.IfExp(body=body, orelse=other):
                return self._first_of([body, other], scope, depth)
            case ast.Await(value=value) | ast.NamedExpr(value=value):
                return self.value(value, scope, depth + 1)
            case (
                ast.Constant() | ast.JoinedStr() | ast.List() | ast.Dict() | ast.Set() | ast.Tuple()
                | ast.ListComp() | ast.DictComp() | ast.SetComp() | ast.GeneratorExp()
            ):  # fmt: skip
                return _FOREIGN
        return None

    def _first_of(self, parts: list[ast.expr], scope: NameScope, depth: int) -> Value | None:
        """The first of several expressions that is known to be the project's."""
        values = [self.value(part, scope, depth + 1) for part in parts]
        return next((one for one in values if one and one.how != "foreign"), values[-1])

    def _named(self, name: str, scope: NameScope, depth: int) -> Value | None:
        if name in scope.names:
            known = scope.names[name]
            if not isinstance(known, list):
                return known
            # Unknown while it is followed, for names that are bound to each other; then known.
            scope.names[name] = None
            found = self._first_of(known, scope, depth)
            scope.names[name] = found
            return found
        nodes, prefix = self.module(scope.path).nodes, scope.prefix
        while prefix:
            # The names of a class are seen in its own body alone.
            seen = prefix == scope.prefix or prefix.endswith("<locals>.")
            if seen and f"{prefix}{name}" in nodes:
                return Value("is", Symbol(scope.path, f"{prefix}{name}"))
            prefix = "".join(prefix[:-1].rpartition(".")[:2])
        if symbol := self.bound(scope.path, name):
            return Value("is", symbol)
        foreign = name in self.module(scope.path).imports or hasattr(builtins, name)
        return _FOREIGN if foreign else None

    def _part(self, module: str, name: str, depth: int = 0) -> Symbol | None:
        """A name of a module of the tree, or a module in its package."""
        file = self.file(module)
        if file and (found := self.bound(file, name, depth + 1)):
            return found
        inner = self.file(f"{module}.{name}" if module else name)
        return Symbol(inner, "") if inner else None

    def file(self, module: str) -> str:
        """The file of a module; in folders that are no packages the only one of that end."""
        if module not in self._files:
            files = self.tree.paths()
            found = module_names.file_of(module, files)
            end = f"/{module.replace('.', '/')}.py"
            ending = [path for path in files if f"/{path}".endswith(end)] if module else []
            self._files[module] = found or (ending[0] if len(ending) == 1 else "")
        return self._files[module]

    def _attribute(
        self, base: Value | None, attr: str, scope: NameScope, depth: int, called: bool
    ) -> Value | None:
        node = self.first(base.symbol) if base and base.how == "is" else None
        if isinstance(node, Function):
            base = self._result(base)
        elif base and isinstance(node, ast.Assign):
            base = self.value(node.value, NameScope(base.symbol.path), depth + 1)
        if base is None:
            found = self._only(attr, called)
            return Value("is", found) if found else None
        if base.how == "foreign":
            return _FOREIGN
        path, qualname = base.symbol
        if base.how == "is" and not qualname:
            module = module_names.dotted_name(path, self.tree.paths())
            part = self.bound(path, attr) or self._part(module, attr)
            return Value("is", part) if part else None
        if not isinstance(self.first(base.symbol), ast.ClassDef):
            return None
        if attr.startswith("__") and not attr.endswith("__") and scope.owner:
            own = Symbol(scope.owner.path, f"{scope.owner.qualname}.{attr}")
            return Value("is", own) if self.first(own) else None
        plain = attr.removeprefix(f"_{qualname.rpartition('.')[2].lstrip('_')}__")
        attr = f"__{plain}" if plain != attr else attr
        if member := self._inherited(base, attr, depth):
            return member
        # A mixin's methods call those of the classes that it is for.
        return None if base.how == "super" else self._attribute(None, attr, scope, depth, called)

    def _inherited(self, base: Value, attr: str, depth: int) -> Value | None:
        """An attribute that a class, one of its bases or its `__init__` gives."""
        owners = self.ancestors(base.symbol) if base.how == "super" else [base.symbol]
        for owner in owners:
            if member := self.member(owner, attr):
                node = self.first(member)
                held = node.annotation if isinstance(node, ast.AnnAssign) else None
                known = self._annotated(held, NameScope(owner.path)) if held else None
                return known if known and known.how == "instance" else Value("is", member)
        return self._held(base.symbol, attr, depth) if base.how == "instance" else None

    def _held(self, owner: Symbol, attr: str, depth: int) -> Value | None:
        """What `__init__` puts into an attribute."""
        found = self.member(owner, "__init__")
        node = self.first(found) if found else None
        if not found or not isinstance(node, Function):
            return None
        inside = self.inside(node, found.qualname, self.around(*found))
        for one in ast.walk(node):
            match one:
                case ast.AnnAssign(target=ast.Attribute(attr=name)) if name == attr:
                    return self._annotated(one.annotation, inside)
                case ast.Assign(targets=targets) if any(
                    isinstance(target, ast.Attribute) and target.attr == attr for target in targets
                ):
                    return self.value(one.value, inside, depth + 1)
        return None

    def _result(self, called: Value | None) -> Value | None:
        """What a call returns, by the class or the annotation."""
        if called is None or called.how != "is":
            return called if called == _FOREIGN else None
        node = self.first(called.symbol)
        if isinstance(node, ast.ClassDef):
            return Value("instance", called.symbol)
        if isinstance(node, Function):
            return self._annotated(node.returns, self.around(*called.symbol))
        return None

    def _annotated(self, node: ast.expr | None, scope: NameScope) -> Value | None:
        """An instance of the class that an annotation names; foreign for one of another class."""
        match node:
            case ast.Constant(value=str(text)):
                with contextlib.suppress(guard.SourceRejected):
                    match guard.parse(text[:200]).body:
                        case [ast.Expr(value=said)] if not isinstance(said, ast.Constant):
                            return self._annotated(said, scope)
            case ast.Subscript(value=value, slice=part):
                if ast.unparse(value).rpartition(".")[2] not in {"Optional", "Union"}:
                    return self._annotated(value, scope)
                return self._either(part.elts if isinstance(part, ast.Tuple) else [part], scope)
            case ast.BinOp(left=left, right=right):
                return self._either([left, right], scope)
            case ast.Name(id="Self") if scope.owner:
                return Value("instance", scope.owner)
            case ast.Name() | ast.Attribute():
                known = self.value(node, NameScope(scope.path))
                if known and isinstance(self.first(known.symbol), ast.ClassDef):
                    return Value("instance", known.symbol)
                name = ast.unparse(node).rpartition(".")[2]
                return known if known == _FOREIGN and name not in {"Any", "object"} else None
        return None

    def _either(self, parts: list[ast.expr], scope: NameScope) -> Value | None:
        known = (self._annotated(part, scope) for part in parts)
        return next((one for one in known if one and one.how == "instance"), None)

    def _only(self, attr: str, called: bool) -> Symbol | None:
        """The only method (property where it is not called) of that name, unless it is common."""
        if attr in _COMMON or attr.startswith("__"):
            return None
        if not self._methods:
            for path in self.sources():
                for name in _method_names(self.text(path)):
                    self._methods.setdefault(name, set()).add(path)
        files = self._methods.get(attr, set())
        if len(files) != 1:
            return None
        (path,) = files
        owned = [
            (name, node)
            for name, (node, *_) in self.module(path).nodes.items()
            if name.endswith(f".{attr}") and isinstance(node, Function)
            if isinstance(self.first(Symbol(path, name.rpartition(".")[0])), ast.ClassDef)
        ]
        name, node = owned[0] if len(owned) == 1 else ("", None)
        marked = node and any("property" in ast.unparse(mark) for mark in node.decorator_list)
        return Symbol(path, name) if name and (called or marked) else None


@lru_cache(maxsize=512)
def _method_names(text: str) -> frozenset[str]:
    return frozenset(_METHOD.findall(text))
