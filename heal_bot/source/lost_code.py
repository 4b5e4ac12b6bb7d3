"""What a commit lost as it moved code or wrote it anew, put back into what it wrote.

To take such a commit back brings all of the former code with it. Here single statements,
conditions and arguments of the former functions, which stand nowhere now, are put into the
functions that the commit changed or brought.
"""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property

from heal_bot.source.tree_diff import Part, Version, name_statement

# How many places are told, and how many parts of a kind are compared.
_MOST = 300
_COMPARED = 150
# How much of two texts has to agree for one to stand for the other.
_ALIKE = 0.6
_LINES = 3
_ENDS = ast.Return | ast.Raise | ast.Break | ast.Continue
_SIMPLE = ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Return | ast.Delete
_Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class _Code:
    """The functions of a version that the other one does not have as they are."""

    path: str
    version: Version
    functions: dict[str, _Function]

    @cached_property
    def blocks(self) -> list[tuple[str, list[ast.stmt]]]:
        """The blocks of statements in the functions, with the name of each."""
        return [
            (name, block)
            for name, function in self.functions.items()
            for node in ast.walk(function)
            for field in ("body", "orelse", "finalbody")
            if isinstance(block := getattr(node, field, None), list) and block
        ]

    @cached_property
    def tests(self) -> list[ast.expr]:
        """The conditions of the functions."""
        return [node.test for node in self._walk() if isinstance(node, ast.If | ast.While)]

    @cached_property
    def calls(self) -> list[ast.Call]:
        """The calls in the functions."""
        return [node for node in self._walk() if isinstance(node, ast.Call)]

    @cached_property
    def dumps(self) -> frozenset[str]:
        """All that stands in the functions, as dumps."""
        return frozenset(
            ast.dump(node) for node in self._walk() if isinstance(node, ast.stmt | ast.expr)
        )

    @cached_property
    def named(self) -> dict[str, set[str]]:
        """The names that mean something in each function: its own, the module's, builtins."""
        body = self.version.tree.body
        top = [n for one in body if not isinstance(one, _Function) for n in ast.walk(one)]
        defined = {getattr(node, "name", "") for node in body}.union(dir(builtins))
        defined.update(_list_names(top))
        return {
            name: defined.union(_list_names(ast.walk(function)))
            for name, function in self.functions.items()
        }

    def text(self, node: ast.AST) -> str:
        """What a node says."""
        return self.version.data[slice(*self.version.span(node))].decode()

    def knows(self, function: str, names: set[str]) -> bool:
        """Whether all of the names mean something in a function."""
        return names <= self.named[function]

    def _walk(self) -> Iterator[ast.AST]:
        for function in self.functions.values():
            yield from ast.walk(function)


def find_lost_code(files: Iterable[tuple[str, str, str]]) -> tuple[tuple[str, Part], ...]:
    """The parts by their paths, the likeliest first; `files` are paths, former and present texts.

    SourceRejected or SyntaxError for a text that does not parse.
    """
    old, new = [], []
    for path, before, now in files:
        was, is_ = Version.of(before), Version.of(now)
        former, present = _list_functions(was.tree), _list_functions(is_.tree)
        old.append(_Code(path, was, _select_changed(former, present)))
        new.append(_Code(path, is_, _select_changed(present, former)))
    kept = frozenset().union(*(code.dumps for code in new))
    known = frozenset().union(*(code.dumps for code in old))
    asked = frozenset(ast.dump(node) for code in old for node in code.tests)
    effects = {_name_effect(node) for code in new for _, block in code.blocks for node in block}
    found: list[tuple[int, str, Part]] = []
    for code in new:
        for source in old:
            found += ((3, code.path, part) for part in _complete_calls(source, code, kept))
            found += ((3, code.path, part) for part in _replace_tests(source, code, kept, asked))
            found += ((3, code.path, part) for part in _replace_alike(source, code, kept, known))
            found += ((n, code.path, part) for n, part in _insert_lost(source, code, effects))
    ranked = sorted(found, key=lambda one: -one[0])
    return tuple(dict.fromkeys((path, part) for _, path, part in ranked))[:_MOST]


def _list_functions(tree: ast.AST, prefix: str = "") -> dict[str, _Function]:
    """The functions of a module and of its classes, by their names."""
    found: dict[str, _Function] = {}
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, _Function):
            found[f"{prefix}{node.name}"] = node
        elif isinstance(node, ast.stmt):
            inner = f"{prefix}{node.name}." if isinstance(node, ast.ClassDef) else prefix
            found |= _list_functions(node, inner)
    return found


def _select_changed(
    some: dict[str, _Function], others: dict[str, _Function]
) -> dict[str, _Function]:
    """Those functions that are not the same in the other version."""
    return {
        name: node
        for name, node in some.items()
        if name not in others or ast.dump(others[name]) != ast.dump(node)
    }


def _insert_lost(source: _Code, code: _Code, kept: set[str]) -> Iterator[tuple[int, Part]]:
    """Lost statements in the gaps of blocks; those between their former neighbours come first."""
    lost = [
        (name, _dump_neighbours(block, at, at + 1), node)
        for name, block in source.blocks
        for at, node in enumerate(block)
        if _is_small(node) and _name_effect(node) not in {"", *kept}
    ]
    for name, beside, node in lost[:_COMPARED]:
        names = set(_list_names([*ast.walk(node)]))
        for function in code.functions:
            if not code.knows(function, names):
                continue
            for block in (block for owner, block in code.blocks if owner == function):
                for at in range(len(block) + 1):
                    near = zip(beside, _dump_neighbours(block, at, at), strict=True)
                    rank = 2 * sum(bool(a) and a == b for a, b in near) + (name == function)
                    if part := _make_insertion(source, node, code, block, at):
                        yield rank, part


def _dump_neighbours(block: list[ast.stmt], start: int, end: int) -> tuple[str, str]:
    """The statements before and after a place in a block, as dumps; '' where there is none."""
    before, after = block[max(start - 1, 0) : start], block[end : end + 1]
    return "".join(map(ast.dump, before)), "".join(map(ast.dump, after))


def _make_insertion(
    source: _Code, node: ast.stmt, code: _Code, block: list[ast.stmt], at: int
) -> Part | None:
    """A statement of the former code in a gap of a block; None where there is no place for one."""
    last = at == len(block)
    beside = block[-1] if last else block[at]
    where, text = code.version.lines([beside]), source.version.lines([node])
    first = at == 0 and isinstance(beside, ast.Expr) and isinstance(beside.value, ast.Constant)
    if where is None or text is None or first or (last and isinstance(beside, _ENDS)):
        return None
    place = where[1] if last else where[0]
    return Part(place, place, _move(source, node, beside.col_offset), (), atomic=True)


def _move(source: _Code, node: ast.stmt, column: int) -> bytes:
    """The lines of a statement, to begin in another column."""
    start, end = source.version.lines([node]) or (0, 0)
    text = textwrap.dedent(source.version.data[start:end].decode())
    return textwrap.indent(text, " " * column).rstrip("\n").encode() + b"\n"


def _replace_alike(
    source: _Code, code: _Code, kept: frozenset[str], known: frozenset[str]
) -> Iterator[Part]:
    """Lost statements in the place of new ones that are much like them."""
    lost, new = (
        [(n, name) for name, block in one.blocks for n in block
         if isinstance(n, _SIMPLE) and ast.dump(n) not in others][:_COMPARED]
        for one, others in ((source, kept), (code, known))
    )  # fmt: skip
    for node, function in new:
        if (where := code.version.lines([node])) is None:
            continue
        for former, _ in lost:
            if name_statement(former) == name_statement(node) and _stands_for(
                source, former, code, node, function
            ):
                text = _move(source, former, node.col_offset)
                yield Part(where[0], where[1], text, (), atomic=True)


def _replace_tests(
    source: _Code, code: _Code, kept: frozenset[str], known: frozenset[str]
) -> Iterator[Part]:
    """Lost conditions in the place of new ones that are much like them."""
    lost = [node for node in source.tests if ast.dump(node) not in kept][:_COMPARED]
    for node in code.tests[:_COMPARED]:
        for former in lost if ast.dump(node) not in known else ():
            if _stands_for(source, former, code, node, _find_owner(code, node)):
                first, end = code.version.span(node)
                yield Part(first, end, source.text(former).encode(), (), atomic=True)


def _complete_calls(source: _Code, code: _Code, kept: frozenset[str]) -> Iterator[Part]:
    """Calls with the arguments that a lost call of the same name had beyond theirs."""
    lost = [node for node in source.calls if ast.dump(node) not in kept][:_COMPARED]
    for node in code.calls[:_COMPARED]:
        for former in lost:
            if _name_callee(former) != _name_callee(node) or not _name_callee(node):
                continue
            given = {one.arg for one in node.keywords}
            more: list[ast.AST] = [k for k in former.keywords if k.arg and k.arg not in given]
            more = [*former.args[len(node.args) :], *more] if not node.keywords else more
            names = set(_list_names(n for one in more for n in ast.walk(one)))
            end = code.version.span(node)[1] - 1
            if more and code.knows(_find_owner(code, node), names):
                text = ", ".join(source.text(one) for one in more)
                comma = ", " if node.args or node.keywords else ""
                yield Part(end, end, f"{comma}{text}".encode(), (), atomic=True)


def _stands_for(source: _Code, former: ast.AST, code: _Code, node: ast.AST, function: str) -> bool:
    """Whether a former part is much like a new one, and its names are known there."""
    texts = source.text(former), code.text(node)
    alike = SequenceMatcher(None, *texts, autojunk=False)
    names = set(_list_names(ast.walk(former)))
    return (
        alike.quick_ratio() >= _ALIKE
        and alike.ratio() >= _ALIKE
        and code.knows(function, names)
    )  # fmt: skip


def _find_owner(code: _Code, node: ast.AST) -> str:
    """The function that holds a node."""
    return next(n for n, function in code.functions.items() if node in ast.walk(function))


def _is_small(node: ast.stmt) -> bool:
    """Whether a statement is simple, or a short `if` or `for` around a simple one."""
    if not isinstance(node, ast.If | ast.For):
        return isinstance(node, _SIMPLE)
    short = (node.end_lineno or 0) - node.lineno < _LINES and len(node.body) == 1
    return short and not node.orelse and isinstance(node.body[0], _SIMPLE | _ENDS)


def _name_effect(node: ast.stmt) -> str:
    """What a statement does for others, by what it names; '' for what only sets a variable or ends.

    It sets or deletes an attribute or an item, calls, or asks or repeats something.
    """
    if isinstance(node, ast.If | ast.For):
        head = node.test if isinstance(node, ast.If) else node.iter
        return f"{type(node).__name__} {ast.unparse(head)}"
    if isinstance(node, ast.Expr):
        value = node.value.value if isinstance(node.value, ast.Await) else node.value
        return ast.unparse(value.func) if isinstance(value, ast.Call) else ""
    targets = getattr(node, "targets", [getattr(node, "target", None)])
    shared = all(isinstance(one, ast.Attribute | ast.Subscript) for one in targets)
    return ast.unparse(targets[0]) if shared else ""


def _list_names(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The names of variables among nodes."""
    for node in nodes:
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.alias):
            yield (node.asname or node.name).partition(".")[0]


def _name_callee(node: ast.Call) -> str:
    """The last name of what is called."""
    return getattr(node.func, "attr", getattr(node.func, "id", ""))
