"""What code reaches for beyond what is pure and what its project defines: facts, in words."""

from __future__ import annotations

import ast
import builtins
import contextlib
import re
import string
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from heal_bot.source import bound_names, guard, module_names, pure_names
from heal_bot.source.bound_names import Import
from heal_bot.source.name_resolution import Names, Symbol
from heal_bot.source.shared_objects import SharedObjects

_DUNDER = re.compile(r"__\w+__")
# What changes the class or function that it is handed.
_REMAKING = frozenset({"dataclass", "no_type_check", "total_ordering", "update_abstractmethods"})
# How far a name is followed through the modules of a project.
_DEEP = 6
# How many files around one are looked through for the definition of an attribute.
_NEAR = 60
_OURS = ", a name of the project and of what is not"
# What a name reaches, if that is a fact, and the attributes behind it.
Reach = tuple[str, Sequence[str]]


class Step(NamedTuple):
    """An attribute of something; `name` is the function that takes it by a text."""

    base: ast.expr
    attr: str
    stored: bool
    name: ast.expr | None


def list_facts(body: ast.AST, source: str, place: Place) -> frozenset[str]:
    """What the code reaches for, one fact each; `source` is its text, or that of all around it."""
    return frozenset(
        _Scan(
            place, bound_names.find_globals(source), bound_names.list_imports(ast.walk(body))
        ).read(body)
    )


def is_unclear(fact: str, known: frozenset[str]) -> bool:
    """Whether a fact may be harmless.

    That is an attribute that is no module and that nothing effectful has, or that the project has
    too, or another name of a package that the code uses already, as far as that is `known`.
    """
    name = fact.removeprefix("uses ")
    if name == fact:
        return False
    if name.endswith(_OURS):
        return True
    if name.startswith("."):
        known = pure_names.list_effects() | sys.stdlib_module_names
        return known.isdisjoint({name[1:], name.strip("._")}) and not name.endswith("__")
    package = name.partition(".")[0]
    ours = package not in sys.stdlib_module_names and "." in name
    return ours and any(other.startswith(f"uses {package}.") for other in known)


@dataclass(frozen=True, slots=True)
class Place:
    """Where code stands: a file of a tree, imports that are added to it, names bound by others."""

    names: Names
    path: str
    added: Mapping[str, Sequence[Import]] = field(default_factory=dict)
    others: frozenset[str] = frozenset()
    depth: int = 0

    def bindings(self, name: str) -> Sequence[Import]:
        """The imports that bind a name anywhere in the file, or are added."""
        found = bound_names.imports_of(self.names.text(self.path))
        return [*found.get(name, ()), *self.added.get(name, ())]

    def permits(self, attr: str, *, own: bool = False) -> bool:
        """Whether an attribute is one of plain values, or a name of the file or near it.

        One that files, programs and the like have as well is only its `own` if the file defines it.
        """
        if attr in pure_names.list_methods():
            return True
        text = self.names.text(self.path)
        if attr in pure_names.list_effects():
            return own and attr in bound_names.defined(text)
        if attr in (
            bound_names.defined(text) if _DUNDER.fullmatch(attr) else bound_names.mentioned(text)
        ):
            return True
        return self.defines(attr)

    def defines(self, attr: str) -> bool:
        """Whether the file or one near it defines an attribute."""
        paths = (self.path, *self._near())
        return any(attr in bound_names.defined(self.names.text(path)) for path in paths)

    def module(self, node: ast.Import | ast.ImportFrom, alias: ast.alias) -> str:
        """The module that an import is from: the one itself, or that which has the name."""
        if isinstance(node, ast.ImportFrom):
            return module_names.absolute_name(node, self.path, self.names.tree.paths())
        return alias.name if alias.asname else alias.name.partition(".")[0]

    def file(self, module: str) -> str:
        """The file of a module of the project; '' for others, whatever files are called."""
        ours = module.partition(".")[0] not in sys.stdlib_module_names
        return self.names.file(module) if module and ours else ""

    def _near(self) -> Iterator[str]:
        """The modules of the project that the file imports, then those beside and above it."""
        for bound in bound_names.imports_of(self.names.text(self.path)).values():
            for node, alias in bound:
                module = self.module(node, alias)
                yield from filter(None, (self.file(module), self.file(f"{module}.{alias.name}")))
        folder = self.path.rpartition("/")[0]
        above = [path for path in self.names.tree.paths() if path.endswith(".py")
                 and f"{folder}/".startswith(f"{path.rpartition('/')[0]}/")]  # fmt: skip
        yield from sorted(above, key=len, reverse=True)[:_NEAR]


@dataclass(frozen=True, slots=True)
class _Scan:
    """One reading of a piece of code: the names that it does not bind itself, None for all."""

    place: Place
    free: frozenset[str] | None = None
    own: Mapping[str, Sequence[Import]] = field(default_factory=dict)

    def read(self, body: ast.AST) -> Iterator[str]:
        """The facts of all of the code."""
        nodes = [*ast.walk(body)]
        steps = [step for node in nodes if (step := _step(node))]
        inner = {id(step.base) for step in steps} | {id(step.name) for step in steps}
        kinds = {id(kind) for node in nodes for kind in _compared(node)}
        plain = {id(func) for node in nodes for func in _called_with_one(node)}
        shared = SharedObjects.find(nodes, self._is_shared)
        for node in nodes:
            if isinstance(node, ast.Name) or _step(node):
                if id(node) not in inner:
                    yield from self.chain(node, kind=id(node) in kinds, plain=id(node) in plain)
            elif isinstance(node, ast.Import | ast.ImportFrom):
                yield from self._import(node)
            yield from _list_changes(node, shared)
            yield from self._other(node)
            for text in _annotations(node):
                with contextlib.suppress(guard.SourceRejected):
                    yield from replace(self, free=None).read(guard.parse(text))

    def chain(self, node: ast.AST, *, kind: bool = False, plain: bool = False) -> Iterator[str]:
        """A name and the attributes behind it, as far as they lead through modules.

        What is but a `kind` to compare with may be of any package; some functions have to be
        called in the `plain` way.
        """
        attrs: list[str] = []
        last = _step(node)
        while step := _step(node):
            attrs.insert(0, step.attr)
            node = step.base
        stored = last is not None and last.stored
        if stored and _DUNDER.fullmatch(attrs[-1]):
            yield f"defines {attrs[-1]}"
        found: list[Reach] = [("", attrs)]
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            found = [*self._resolved(node.id, attrs)]
            if attrs and attrs[-1] in pure_names.list_stream_methods() and self._is_value(node.id):
                yield f"uses {'.'.join([node.id, *attrs])}"
        for fact, rest in found:
            harmless = (kind and ("." in fact or fact == "type")) or (
                plain and fact in pure_names.WITH_ONE
            )
            if fact and not harmless:
                yield f"uses {fact}"
            own = rest == attrs and isinstance(node, ast.Name) and node.id in {"self", "cls"}
            yield from self._attributes(rest[:-1] if stored else rest, own=own)

    def _attributes(self, attrs: Sequence[str], *, own: bool = False) -> Iterator[str]:
        for place, attr in enumerate(attrs):
            if not self.place.permits(attr, own=own and not place):
                ours = not _DUNDER.fullmatch(attr) and self.place.defines(attr)
                yield f"uses .{attr}{_OURS if ours else ''}"

    def _is_free(self, name: str) -> bool:
        return self.free is None or name in self.free

    def _is_shared(self, name: str) -> bool:
        """Whether a name is an import, a function or a class, which others see changed."""
        if name in self.own or not self._is_free(name):
            return name in self.own
        return not self._is_value(name)

    def _is_value(self, name: str) -> bool:
        """Whether a name is a variable of the module."""
        names = self.place.names
        symbol = names.bound(self.place.path, name) if self._is_free(name) else None
        return isinstance(symbol and names.first(symbol), ast.Assign | ast.AnnAssign)

    def _resolved(self, name: str, attrs: Sequence[str]) -> Iterator[Reach]:
        """What a name and its attributes reach."""
        free, place = self._is_free(name), self.place
        imports = self.own.get(name) or (place.bindings(name) if free else ())
        for node, alias in imports:
            yield from self._imported(node, alias, attrs)
        symbol = place.names.bound(place.path, name) if free else None
        if symbol and symbol.qualname and (symbol.path == place.path or not imports):
            yield from self._ours(symbol, attrs)
        elif not imports:
            known = not free or name in pure_names.BUILTINS
            anywhere = bound_names.all_bound(place.names.text(place.path)) | place.others
            known |= not hasattr(builtins, name) and name in anywhere
            yield "" if known else name, attrs

    def _import(self, node: ast.Import | ast.ImportFrom) -> Iterator[str]:
        """What an import reaches by itself, whatever is done with it."""
        for alias in node.names:
            dotted = self.place.module(node, alias)
            if self.place.file(dotted) or self.place.file(f"{dotted}.{alias.name}"):
                yield from (f"uses {fact}" for fact, _ in self._imported(node, alias, ()) if fact)
                continue
            dotted = f"{dotted}.{alias.name}" if isinstance(node, ast.ImportFrom) else alias.name
            pure = pure_names.split_pure(dotted) or dotted in pure_names.WITH_ONE
            if not pure and not pure_names.leads_to_pure(dotted):
                yield f"{'uses' if isinstance(node, ast.ImportFrom) else 'imports'} {dotted}"

    def _imported(
        self, node: ast.Import | ast.ImportFrom, alias: ast.alias, attrs: Sequence[str]
    ) -> Iterator[Reach]:
        module, named = self.place.module(node, alias), isinstance(node, ast.ImportFrom)
        if file := self.place.file(module):
            yield from self._ours(Symbol(file, ""), [alias.name, *attrs] if named else attrs)
        elif named and (file := self.place.file(f"{module}.{alias.name}")):
            yield from self._ours(Symbol(file, ""), attrs)
        else:
            yield _foreign(f"{module}.{alias.name}" if named else module, attrs, named=named)

    def _ours(self, symbol: Symbol, attrs: Sequence[str]) -> Iterator[Reach]:
        """A symbol of the project: what it carries, or what a module of the project leads to."""
        names, place = self.place.names, self.place
        inside = _Scan(replace(place, path=symbol.path, added={}, depth=place.depth + 1))
        if inside.place.depth > _DEEP:
            yield f"{symbol.path}, which leads too far", ()
        elif symbol.qualname:
            yield from ((fact, ()) for fact in inside.carried(names.first(symbol)))
            yield "", attrs
        elif not attrs:
            yield "", ()
        elif imports := inside.place.bindings(attrs[0]):
            for one in imports:
                yield from inside._imported(*one, attrs[1:])
        elif found := names.bound(symbol.path, attrs[0]):
            yield from self._ours(found, attrs[1:])
        else:
            name = f"{module_names.dotted_name(symbol.path, names.tree.paths())}.{attrs[0]}"
            if file := place.file(name):
                yield from self._ours(Symbol(file, ""), attrs[1:])
            else:
                yield f"{name}, which is not defined there", ()

    def carried(self, node: ast.AST | None) -> Iterator[str]:
        """What the value of an assignment is or holds, without what was called to make it."""
        match node:
            case ast.Assign(value=value) | ast.AnnAssign(value=value):
                yield from self.carried(value)
            case ast.Name() | ast.Attribute() | ast.Lambda():
                facts = self.read(node) if isinstance(node, ast.Lambda) else self.chain(node)
                told = (fact.removeprefix("uses ") for fact in facts)
                yield from (fact for fact in told if not fact.startswith("."))
            case ast.Call(args=args, keywords=keywords):
                for part in (*args, *(keyword.value for keyword in keywords)):
                    yield from self.carried(part)
            case ast.Tuple() | ast.List() | ast.Dict() | ast.BoolOp() | ast.IfExp() | ast.Starred():
                for inner in ast.iter_child_nodes(node):
                    yield from self.carried(inner)

    def _other(self, node: ast.AST) -> Iterator[str]:
        match node:
            case ast.Subscript(value=value, ctx=ast.Store() | ast.Del()):
                told = (fact.removeprefix("uses ") for fact in self.chain(value))
                yield from (f"changes {fact}" for fact in told if not fact.startswith("."))
            case ast.ExceptHandler(type=None):
                yield "has a bare except"
            case ast.Call(func=ast.Attribute(value=ast.Constant(value=str(text)), attr="format")):
                yield from self._attributes([*_formatted(text)])
            case ast.MatchClass(kwd_attrs=attrs):
                yield from self._attributes(attrs)
                yield from ("takes the class of a match" for attr in attrs if attr == "__class__")
            case ast.Call(func=ast.Attribute(attr="replace"), args=[_], keywords=[]):
                yield "moves a file by .replace"
            case ast.Global(names=names):
                for name in names:
                    if self._is_shared(name):
                        yield f"declares global {name}"
        yield from (
            f"defines {name}" for name in bound_names.list_names(node) if _DUNDER.fullmatch(name)
        )


def _foreign(dotted: str, attrs: Sequence[str], *, named: bool) -> Reach:
    """A name of another package; of a module that is not `named` behind it at least one part."""
    if pure := pure_names.split_pure(".".join([dotted, *attrs])):
        return "", pure[1]
    rest = [*attrs]
    while rest and (not named or pure_names.leads_to_pure(dotted)):
        dotted, named = f"{dotted}.{rest.pop(0)}", True
    return dotted, rest


def _step(node: ast.AST) -> Step | None:
    """An attribute of something, by its name or by a text that is written out."""
    match node:
        case ast.Attribute(value=base, attr=attr, ctx=ctx):
            plain = attr == "format" and isinstance(base, ast.Constant)
            return None if plain else Step(base, attr, not isinstance(ctx, ast.Load), None)
        case ast.Call(
            func=ast.Name(id="getattr" | "setattr" | "delattr" as how) as name,
            args=[ast.expr() as base, ast.Constant(value=str(attr)), *_],
        ) if attr.isidentifier():
            return Step(base, attr, how != "getattr", name)
    return None


def _compared(node: ast.AST) -> Iterator[ast.expr]:
    """The classes that are caught or asked for, and `type` where it tells a class.

    With more arguments, or handed on, it makes classes.
    """
    match node:
        case ast.Call(func=ast.Name(id="type") as kind, args=[_], keywords=[]):
            yield kind
        case (
            ast.ExceptHandler(type=ast.expr() as kind)
            | ast.Call(func=ast.Name(id="isinstance" | "issubclass"), args=[_, kind])
        ):
            yield from kind.elts if isinstance(kind, ast.Tuple) else [kind]


def _called_with_one(node: ast.AST) -> Iterator[ast.expr]:
    """What is called with one argument and no more."""
    match node:
        case ast.Call(func=func, args=[arg], keywords=[]) if not isinstance(arg, ast.Starred):
            yield func


def _list_changes(node: ast.AST, shared: SharedObjects) -> Iterator[str]:
    """Attributes that others see changed, and the class of what may be one itself."""
    step = _step(node)
    if step and step.stored and shared.may_be(step.base):
        yield f"changes {ast.unparse(step.base)}.{step.attr}"
    if step and step.attr == "__class__" and shared.may_be(step.base, own=True):
        yield f"takes the class of {ast.unparse(step.base)}"
    match node:
        case ast.Call(func=ast.Name(id="type"), args=[one]) if shared.may_be(one, own=True):
            yield f"takes the class of {ast.unparse(one)}"
        case ast.Call(func=ast.Attribute(attr=attr) | ast.Name(id=attr)) if attr in _REMAKING:
            yield from (f"changes {ast.unparse(one)}" for one in node.args if shared.may_be(one))


def _formatted(text: str) -> Iterator[str]:
    """The attributes that a format reads."""
    with contextlib.suppress(ValueError):
        for _, name, spec, _ in string.Formatter().parse(text):
            yield from re.findall(r"\.([^.\[\]]+)", name or "")
            yield from _formatted(spec or "")


def _annotations(node: ast.AST) -> Iterator[str]:
    """The texts in an annotation, which may be evaluated."""
    for part in ("annotation", "returns"):
        for inner in ast.walk(getattr(node, part, None) or ast.Pass()):
            if isinstance(inner, ast.Constant) and isinstance(inner.value, str):
                yield inner.value
