"""What stands around a target in its module: functions, classes, constants, imports, siblings."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from heal_bot.core.errors import HealBotError
from heal_bot.core.model import Target
from heal_bot.ports import Tree
from heal_bot.repair.templates.text_edits import MANY, is_short
from heal_bot.source import functions, guard
from heal_bot.source.definitions import Function

_SPELLED = 2000
BUILTINS = frozenset(name for name in dir(builtins) if not name.startswith("_"))


@dataclass(slots=True)
class ModuleContext:
    """Names a target may use beyond its own.

    `siblings` are the functions beside it, the nearest first, as pairs stand together.
    """

    functions: dict[str, Function] = field(default_factory=dict)
    classes: dict[str, ast.ClassDef] = field(default_factory=dict)
    constants: dict[str, ast.expr] = field(default_factory=dict)
    imports: tuple[str, ...] = ()
    methods: dict[str, Function] = field(default_factory=dict)
    attributes: tuple[str, ...] = ()
    spelled: tuple[str, ...] = ()
    enclosing: tuple[Function, ...] = ()
    siblings: tuple[Function, ...] = ()
    lines: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()

    def globals(self) -> tuple[str, ...]:
        """All module-level names, in order of definition by group."""
        groups = (self.functions, self.classes, self.constants, self.imports)
        return tuple(dict.fromkeys(name for group in groups for name in group))

    def segment(self, node: ast.AST) -> str:
        """The source of a node of the module; multi-line nodes keep their later indentation."""
        first, last = getattr(node, "lineno", 1), getattr(node, "end_lineno", 1)
        if first == last:
            raw = self.lines[first - 1].encode()
            begin, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", None)
            return raw[begin:end].decode(errors="replace")
        return ast.unparse(node)


def explore(tree: Tree, target: Target) -> ModuleContext:
    """Read the target's module; empty when it is missing or cannot be parsed."""
    try:
        text = guard.check_text(tree.read(target.path)).removeprefix("\ufeff")
        module = guard.parse(text)
    except (KeyError, HealBotError):
        return ModuleContext()
    around = ModuleContext(lines=tuple(re.split(r"\r\n|\r|\n", text)))
    imported: list[str] = []
    for node in _flat(module.body):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                around.functions[node.name] = node
            case ast.ClassDef():
                around.classes[node.name] = node
            case ast.Import() | ast.ImportFrom():
                imported += [
                    (a.asname or a.name).partition(".")[0] for a in node.names if a.name != "*"
                ]
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                around.constants[name] = value
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                around.constants[name] = value
    around.imports = tuple(imported)
    texts = (n.value for n in ast.walk(module) if isinstance(n, ast.Constant))
    around.texts = tuple(dict.fromkeys(t for t in texts if isinstance(t, str) and is_short(t)))
    around.spelled = tuple(dict.fromkeys(_spelled(module)))[:_SPELLED]
    _enclose(around, module, target)
    return around


def _spelled(module: ast.Module) -> Iterator[str]:
    """The attributes that are read or set in a module, and what its classes define."""
    for node in ast.walk(module):
        match node:
            case ast.Attribute(attr=attr):
                yield attr
            case ast.ClassDef(body=body):
                yield from (n.name for n in body if isinstance(n, Function))
                yield from (
                    n.target.id
                    for n in body
                    if isinstance(n, ast.AnnAssign) and isinstance(n.target, ast.Name)
                )


def _flat(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    for node in body:
        yield node
        if isinstance(node, ast.If | ast.Try):
            yield from _flat(node.body)


def _enclose(around: ModuleContext, module: ast.Module, target: Target) -> None:
    """Find the classes and functions that contain the target, and its sibling functions."""
    body, enclosing = module.body, []
    owner: ast.ClassDef | None = None
    while True:
        inner = next((n for n in _flat(body) if _contains(n, target)), None)
        if inner is None:
            break
        if isinstance(inner, ast.ClassDef):
            owner = inner
        elif isinstance(inner, Function):
            enclosing.append(inner)
        body = inner.body if isinstance(inner, ast.ClassDef | Function) else []
    around.enclosing = tuple(enclosing)
    same = owner.body if owner else module.body
    beside = list(_flat(enclosing[-1].body)) if enclosing else []
    siblings = [
        n
        for n in (*beside, *same)
        if isinstance(n, Function) and not _is(n, target) and n not in enclosing
    ]
    siblings.sort(key=lambda n: abs(n.lineno - target.first_line))
    around.siblings = tuple(siblings)[:MANY]
    if owner:
        around.methods = {n.name: n for n in owner.body if isinstance(n, Function)}
        around.attributes = tuple(_attributes(owner))


def _contains(node: ast.stmt, target: Target) -> bool:
    if not isinstance(node, ast.ClassDef | Function) or _is(node, target):
        return False
    return node.lineno <= target.first_line and target.last_line <= (node.end_lineno or 0)


def _is(node: ast.stmt, target: Target) -> bool:
    first, last = functions.first_line(node), node.end_lineno
    return (first, last) == (target.first_line, target.last_line)


def _attributes(owner: ast.ClassDef) -> list[str]:
    """Attributes that methods use on their first parameter, and names of the class body."""
    names: dict[str, None] = {}
    for node in owner.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                names[name] = None
    for inner in ast.walk(owner):
        match inner:
            case ast.Attribute(value=ast.Name(id="self" | "cls"), attr=attr):
                names[attr] = None
    return list(names)
