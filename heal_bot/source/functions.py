"""The index of a source file: every target a patch could change, with its lines and exact text."""

from __future__ import annotations

import ast
import copy
import io
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from heal_bot.core.model import Target
from heal_bot.source import guard

_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """A target with what the index knows beyond it.

    `body_line` is the first line that runs when the target itself runs: a function's header
    (decorators, defaults, annotations) runs in the scope around it. `names` are the names an
    assignment binds.
    """

    target: Target
    body_line: int
    names: tuple[str, ...] = ()


@dataclass(slots=True)
class _Scope:
    """Where the walk is: the prefix of qualified names, and what kind of scope it is."""

    prefix: str
    kind: str
    globals: frozenset[str] = frozenset()


@dataclass(slots=True)
class _Walk:
    path: str
    lines: tuple[str, ...]
    seen: Counter[tuple[str, str]] = field(default_factory=Counter)

    def entry(
        self, qualname: str, kind: str, first: int, last: int, names: tuple[str, ...] = ()
    ) -> IndexEntry:
        nth = self.seen[qualname, kind]
        self.seen[qualname, kind] += 1
        source = "".join(self.lines[first - 1 : last])
        return IndexEntry(Target(self.path, qualname, nth, kind, first, last, source), first, names)

    def statements(self, body: Sequence[ast.AST], scope: _Scope) -> Iterator[IndexEntry]:
        for node in body:
            if isinstance(node, _Function):
                yield from self.function(node, scope)
            elif isinstance(node, ast.ClassDef):
                name = _qualified(scope, node.name)
                yield from self.statements(node.body, _Scope(f"{name}.", "class"))
            elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                yield from self.assignment(node, scope)
            elif isinstance(node, ast.stmt | ast.ExceptHandler | ast.match_case):
                yield from self.statements(list_inner(node), scope)

    def function(self, node: _Function, scope: _Scope) -> Iterator[IndexEntry]:
        qualname = _qualified(scope, node.name)
        last = node.end_lineno or node.lineno
        entry = self.entry(qualname, "function", first_line(node), last)
        yield IndexEntry(entry.target, node.body[0].lineno)
        for name, default in list_defaults(node.args):
            lines = (name.lineno, default.end_lineno or default.lineno)
            yield self.entry(f"{qualname}.{name.arg}", "default", *lines, (name.arg,))
        declared = (n.names for n in ast.walk(node) if isinstance(n, ast.Global))
        inner = _Scope(f"{qualname}.<locals>.", "function", frozenset().union(*declared))
        yield from self.statements(node.body, inner)

    def assignment(
        self, node: ast.Assign | ast.AnnAssign | ast.AugAssign, scope: _Scope
    ) -> Iterator[IndexEntry]:
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        names = tuple(name for target in targets for name in _bound(target))
        if scope.kind == "function" or node.value is None or not names:
            return
        kind = "class_attribute" if scope.kind == "class" else "assignment"
        last = node.end_lineno or node.lineno
        yield self.entry(f"{scope.prefix}{names[0]}", kind, node.lineno, last, names)


def read(path: str, data: bytes) -> tuple[Target, ...]:
    """All targets in the bytes of a file; none where they are no Python that can be parsed."""
    try:
        return index_targets(path, guard.check_text(data))
    except guard.SourceRejected:
        return ()


def index_targets(path: str, text: str) -> tuple[Target, ...]:
    """All targets of a file in source order; SourceRejected when the text cannot be parsed.

    Functions of every nesting by their `__qualname__`; class attributes as `Class.name`; module
    assignments by the first name they bind; default arguments as `function.parameter`. A byte
    order mark belongs to the file, not to its first target.
    """
    return tuple(entry.target for entry in index_entries(path, text))


@lru_cache(maxsize=512)
def index_entries(path: str, text: str) -> tuple[IndexEntry, ...]:
    """What `index` returns, each with its body line and bound names."""
    tree = guard.parse(text)
    try:
        body = split_lines(text.removeprefix("\ufeff"))
        return tuple(_Walk(path, body).statements(tree.body, _Scope("", "module")))
    except RecursionError as error:
        raise guard.SourceRejected(f"{path}: nested too deeply to index") from error


def split_lines(text: str) -> tuple[str, ...]:
    """The lines as Python counts them, each with its end (form feeds do not end a line)."""
    return tuple(io.StringIO(text, newline=""))


def find_indentation(source: str) -> str:
    """The white space before the first line that is not blank."""
    first = next((line for line in split_lines(source) if line.strip()), "")
    return first[: len(first) - len(first.lstrip(" \t\f"))].rpartition("\f")[2]


def find_target(
    targets: Sequence[Target], qualname: str, kind: str = "function", nth: int = 0
) -> Target | None:
    """The target of that address, or None."""
    wanted = (qualname, kind, nth)
    return next((t for t in targets if (t.qualname, t.kind, t.nth) == wanted), None)


def find_same(one: Target, targets: Sequence[Target]) -> Target | None:
    """The target with the address of another one, or None."""
    return find_target(targets, one.qualname, one.kind, one.nth)


def body_lines(text: str, target: Target) -> range:
    """The lines of a target of the text that run when it does, without its header."""
    entries = index_entries(target.path, text)
    first = next(e.body_line for e in entries if e.target == target)
    return range(first, target.last_line + 1)


def find_running(path: str, text: str, line: int) -> Target | None:
    """The innermost function that runs when `line` is executed; None for module and class code.

    The header of a function is executed by the scope around it.
    """
    inside = [
        e.target
        for e in index_entries(path, text)
        if e.target.kind == "function" and e.body_line <= line <= e.target.last_line
    ]
    return min(inside, key=lambda t: (t.last_line - t.first_line, -t.first_line), default=None)


def _qualified(scope: _Scope, name: str) -> str:
    return name if name in scope.globals else f"{scope.prefix}{name}"


def list_inner(node: ast.AST) -> list[ast.AST]:
    """Statements, handlers and cases directly inside a compound statement."""
    parts = ("body", "handlers", "orelse", "finalbody", "cases")
    return [child for part in parts for child in getattr(node, part, ())]


def list_blocks(node: ast.AST, *names: str) -> list[list[ast.stmt]]:
    """The lists of statements that a node itself holds, in fields of these names or in any."""
    found = (getattr(node, name, None) for name in names or ("body", "orelse", "finalbody"))
    return [block for block in found if isinstance(block, list) and block]


def list_defaults(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr]]:
    """The parameters that have a default, each with it."""
    positional = [*arguments.posonlyargs, *arguments.args]
    if arguments.defaults:
        yield from zip(positional[-len(arguments.defaults) :], arguments.defaults, strict=True)
    for name, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if default is not None:
            yield name, default


def _bound(target: ast.expr) -> Iterator[str]:
    """The names an assignment target binds or, for attributes and items, changes."""
    while isinstance(target, ast.Attribute | ast.Subscript | ast.Starred):
        target = target.value
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for element in target.elts:
            yield from _bound(element)


def parse_function(source: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """A function as it stands in its file, lines counted from its first; None for what is none."""
    try:
        node, *_ = guard.parse_part(source).body
    except (guard.SourceRejected, ValueError):
        return None
    if isinstance(node, ast.If):
        node = node.body[0]
    return node if isinstance(node, _Function) else None


def read_docstring(source: str) -> str:
    """What a function says of itself; '' where it says nothing, or is none."""
    found = parse_function(source)
    return (found and ast.get_docstring(found)) or ""


def first_line(node: ast.AST) -> int:
    """The first line of a statement, with its decorators."""
    return min(int(n.lineno) for n in (node, *getattr(node, "decorator_list", ())))


def find_head_end(node: ast.stmt) -> int:
    """The last line of a statement before those inside it."""
    inner = list_inner(node)
    first = min((n.lineno for n in inner if isinstance(n, ast.stmt)), default=0)
    return max(node.lineno, first - 1) if first else node.end_lineno or node.lineno


def copy_head(node: ast.stmt) -> ast.stmt:
    """A statement without those inside it."""
    inner = ("body", "orelse", "finalbody", "handlers", "cases")
    head = copy.copy(node)
    for part in inner:
        if hasattr(node, part):
            setattr(head, part, [])
    return head


def compare_heads(before: ast.Module, after: ast.Module) -> str:
    """What differs between the heads of two functions: "signature", "annotations" or ""."""
    (old, told), (new, telling) = _read_head(before), _read_head(after)
    return "signature" if old != new else "annotations" if told != telling else ""


def _read_head(tree: ast.Module) -> tuple[str, list[str]]:
    """How a function is called, and its annotations."""
    node = tree.body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    head = copy.deepcopy(node.args)
    found = [node.returns]
    for one in ast.walk(head):
        if isinstance(one, ast.arg):
            found.append(one.annotation)
            one.annotation = None
    return ast.dump(head), [ast.dump(one) if one else "" for one in found]
