"""What a commit lost as it moved or rewrote code, put back into what it wrote.

Taking such a commit back brings all of the former code with it. Here single statements, conditions
and arguments of the former functions, which stand nowhere now, are put into the functions that the
commit changed or added.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import partial
from itertools import chain, islice
from typing import Any

from heal_bot.source import guard
from heal_bot.source.bound_names import find_globals, find_symbols, list_names
from heal_bot.source.definitions import Function
from heal_bot.source.functions import list_blocks
from heal_bot.source.parsed_version import Version
from heal_bot.source.tree_diff import Part, name_statement

# How many places are told; of a commit of more functions nothing is looked for.
_MOST = 300
_FUNCTIONS = 60
_COMPARED = 100
_GAPS = 600
# How much of two texts has to agree for one to stand for the other: difflib's own cutoff.
_ALIKE = 0.6
_LINES = 3
_ENDS = ast.Return | ast.Raise | ast.Break | ast.Continue
_SIMPLE = (
    ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Return | ast.Delete | ast.Raise
)
_TEXTS = ast.Constant | ast.JoinedStr
UNREADABLE = (guard.SourceRejected, SyntaxError, ValueError, RecursionError)


@dataclass(frozen=True, slots=True)
class FileVersions:
    """A file before a commit, after it, and now."""

    path: str
    before: str
    after: str
    now: str


@dataclass(frozen=True, slots=True)
class _Found:
    """A node of a function, with its text and dump, and the names that mean something there."""

    path: str
    version: Version
    node: Any
    text: str
    dump: str
    known: frozenset[str]

    def stands_for(self, other: _Found) -> bool:
        """Whether this is much like another one, and its names are known there."""
        alike = SequenceMatcher(None, self.text, other.text, autojunk=False)
        much = alike.quick_ratio() >= _ALIKE and alike.ratio() >= _ALIKE
        return much and _is_known(self.text, other.known)


@dataclass(slots=True)
class _Side:
    """What stands in the functions of one side of a change."""

    statements: list[_Found] = field(default_factory=list)
    tests: list[_Found] = field(default_factory=list)
    calls: list[_Found] = field(default_factory=list)
    gaps: list[_Gap] = field(default_factory=list)
    values: list[_Found] = field(default_factory=list)
    functions: list[_Found] = field(default_factory=list)
    count: int = 0

    def read(self, path: str, version: Version, functions: dict[str, Function]) -> None:
        """Take in the functions of a version."""
        self.count += len(functions)
        top = list_known(version.tree)
        for name, function in functions.items() if self.count <= _FUNCTIONS else ():
            known = top | find_symbols(ast.unparse(function))
            make = partial(_make_found, path, version, known)
            self.functions.append(make(function))
            nodes = [*ast.walk(function)]
            self.statements += (make(node) for node in nodes if isinstance(node, _SIMPLE))
            calls = [make(node) for node in nodes if isinstance(node, ast.Call)]
            self.calls += calls
            unused = {
                n.value if isinstance(n, ast.Expr) else n.exc
                for n in nodes
                if isinstance(n, ast.Expr | ast.Raise)
            }
            self.values += (call for call in calls if call.node not in unused)
            self.tests += (make(n.test) for n in nodes if isinstance(n, ast.If | ast.While))
            for block in chain.from_iterable(map(list_blocks, nodes)):
                dumps = ["", *map(ast.dump, block), ""]
                self.gaps += (
                    _Gap(path, version, name, block, at, (dumps[at], dumps[at + 1]), known)
                    for at in range(len(block) + 1)
                )


@dataclass(frozen=True, slots=True)
class _Gap:
    """A place before or after a statement of a block, with the dumps of what is beside it."""

    path: str
    version: Version
    function: str
    block: list[ast.stmt]
    at: int
    beside: tuple[str, str]
    known: frozenset[str]


def _make_found(path: str, version: Version, known: frozenset[str], node: ast.AST) -> _Found:
    return _Found(path, version, node, ast.unparse(node), ast.dump(node), known)


def find_lost_code(
    changes: Iterable[FileVersions], *, anywhere: bool = False
) -> tuple[tuple[str, Part], ...]:
    """The parts by their paths, the likeliest first; files that do not parse have none.

    What only sets a variable comes back between its former neighbours, or `anywhere`; what sets or
    calls something that is set or called elsewhere too comes back between them alone.
    """
    old, new = _Side(), _Side()
    # Of deleted files as many as there is room for beside the others.
    for one in sorted(changes, key=lambda one: not one.after):
        with contextlib.suppress(*UNREADABLE):
            was, then, now = map(Version.of, (one.before, one.after, one.now))
            former, left, present = (list_functions(v.tree) for v in (was, then, now))
            gone = select_changed(former, left)
            if one.after or old.count + len(gone) <= _FUNCTIONS:
                old.read(one.path, was, gone)
            brought = select_changed(left, former)
            still = {n: f for n, f in present.items() if n in brought and _same(f, brought[n])}
            new.read(one.path, now, still)
    if max(old.count, new.count) > _FUNCTIONS:
        return ()
    with contextlib.suppress(*UNREADABLE):
        wrapped = islice(_wrap_again(old, new), _COMPARED)
        ranked = [*_complete_calls(old, new), *_replace_alike(old, new), *wrapped]
        found = [(3, one) for one in ranked] + [*_insert_lost(old, new, anywhere)]
        found.sort(key=lambda one: -one[0])
        return tuple(dict.fromkeys(one for _, one in found))[:_MOST]
    return ()


def list_functions(tree: ast.AST, *, local: bool = False) -> dict[str, Function]:
    """The functions of a module and of its classes, by their names and how often these came.

    `local` functions are those in others as well.
    """
    found: dict[str, Function] = {}
    seen: Counter[str] = Counter()

    def visit(tree: ast.AST, prefix: str) -> None:
        for node in ast.iter_child_nodes(tree):
            if isinstance(node, Function):
                name = f"{prefix}{node.name}"
                found[f"{name} {seen[name]}"] = node
                seen[name] += 1
                if local:
                    visit(node, f"{name}.")
            elif isinstance(node, ast.stmt):
                visit(node, f"{prefix}{node.name}." if isinstance(node, ast.ClassDef) else prefix)

    visit(tree, "")
    return found


def _same(one: ast.AST, other: ast.AST) -> bool:
    return ast.dump(one) == ast.dump(other)


def select_changed(some: dict[str, Function], others: dict[str, Function]) -> dict[str, Function]:
    """Those functions that are not the same in the other version."""
    return {n: node for n, node in some.items() if n not in others or not _same(others[n], node)}


def list_known(tree: ast.Module) -> frozenset[str]:
    """The names that mean something in each function of a module."""
    top = (n for one in tree.body for n in ([one] if isinstance(one, Function) else ast.walk(one)))
    names = (name.partition(".")[0] for node in top for name in list_names(node))
    return frozenset((*dir(builtins), *names))


def _insert_lost(old: _Side, new: _Side, anywhere: bool) -> Iterator[tuple[int, tuple[str, Part]]]:
    """Lost statements in the gaps of blocks; those between their former neighbours come first."""
    stand = [gap.block[gap.at] for gap in new.gaps if gap.at < len(gap.block)]
    kept, dumps = {*map(_name_effect, stand)}, {*map(ast.dump, stand)}
    lost = [
        gap for gap in old.gaps
        if gap.at < len(gap.block) and _is_small(node := gap.block[gap.at])
        and not _has_long_text(node) and ast.dump(node) not in dumps
        and (_name_effect(node) or _sets_variable(node))
    ][:_COMPARED]  # fmt: skip
    ranked = []
    for gap in lost:
        names = find_globals(ast.unparse(gap.block[gap.at]))
        after = ast.dump(gap.block[gap.at + 1]) if gap.at + 1 < len(gap.block) else ""
        near = (gap.beside[0], after)
        # Where something else does the same now, nothing but its neighbours tell that it is lost.
        effect = _name_effect(gap.block[gap.at])
        close = effect in kept if effect else not anywhere
        for place in new.gaps[:_GAPS]:
            if close and (near != place.beside or not any(near)):
                continue
            if names is not None and names <= place.known:
                sides = sum(bool(a) and a == b for a, b in zip(near, place.beside, strict=True))
                ranked.append((2 * sides + (gap.function == place.function), gap, place))
    ranked.sort(key=lambda one: -one[0])
    for rank, gap, place in ranked[:_MOST]:
        if part := _make_insertion(gap, place):
            yield rank, (place.path, part)


def _make_insertion(lost: _Gap, gap: _Gap) -> Part | None:
    """A statement of the former code in a gap of a block; None where there is no place for one."""
    last = gap.at == len(gap.block)
    beside = gap.block[-1] if last else gap.block[gap.at]
    where = gap.version.lines([beside])
    text = _move(lost.version, lost.block[lost.at], gap.version, beside)
    told = gap.at == 0 and isinstance(beside, ast.Expr) and isinstance(beside.value, ast.Constant)
    if where is None or text is None or told or (last and isinstance(beside, _ENDS)):
        return None
    place = where[1] if last else where[0]
    if place == len(gap.version.data) and not gap.version.data.endswith(b"\n"):
        text = b"\n" + text
    return Part(place, place, text, (), atomic=True)


def _move(version: Version, node: ast.stmt, now: Version, beside: ast.stmt) -> bytes | None:
    """The lines of a statement, to stand where another one begins; None for an `elif`."""
    there, here = version.lines([node]), now.lines([beside])
    if there is None or here is None:
        return None
    text = textwrap.dedent(version.data[slice(*there)].decode())
    start = now.data[here[0] : now.span(beside)[0]]
    if text.startswith("elif") or start.strip() or now.data[now.span(beside)[0] :][:4] == b"elif":
        return None
    return textwrap.indent(text, start.decode()).rstrip("\n").encode() + b"\n"


def _replace_alike(old: _Side, new: _Side) -> Iterator[tuple[str, Part]]:
    """Lost statements and conditions in the place of new ones that are much like them."""
    for lost, here in ((old.statements, new.statements), (old.tests, new.tests)):
        kept, known = {one.dump for one in here}, {one.dump for one in lost}
        gone = [o for o in lost if o.dump not in kept and not _has_long_text(o.node)][:_COMPARED]
        come = [o for o in here if o.dump not in known and not _has_long_text(o.node)][:_COMPARED]
        for one in come:
            for former in gone:
                same = name_statement(former.node) == name_statement(one.node)
                whole = isinstance(one.node, ast.stmt)
                if (same or not whole) and former.stands_for(one):
                    part = _replace_statement(former, one) if whole else _replace_test(former, one)
                    if part:
                        yield one.path, part


def _replace_statement(former: _Found, one: _Found) -> Part | None:
    where = one.version.lines([one.node])
    text = _move(former.version, former.node, one.version, one.node)
    return Part(where[0], where[1], text, (), atomic=True) if where and text else None


def _replace_test(former: _Found, one: _Found) -> Part:
    first, end = one.version.span(one.node)
    return Part(first, end, former.text.encode(), (), atomic=True)


def _complete_calls(old: _Side, new: _Side) -> Iterator[tuple[str, Part]]:
    """Calls with the arguments that a lost call of the same name had beyond theirs."""
    kept = {one.dump for one in new.calls}
    lost = [one for one in old.calls if one.dump not in kept][:_COMPARED]
    for one in new.calls[:_COMPARED]:
        for former in lost:
            if name_callee(former.node) == name_callee(one.node) and (
                part := _complete_call(former, one)
            ):
                yield one.path, part


def _complete_call(former: _Found, one: _Found) -> Part | None:
    """A call with what the former one had besides; None where that is nothing, or unknown."""
    node, given = one.node, {keyword.arg for keyword in one.node.keywords}
    more: list[ast.AST] = [k for k in former.node.keywords if k.arg and k.arg not in given]
    more = [*former.node.args[len(node.args) :], *more] if not node.keywords else more
    text = ", ".join(map(ast.unparse, more))
    alone = len(node.args) == 1 and isinstance(node.args[0], ast.GeneratorExp)
    known = _is_known(f"print({text})", one.known)
    if not more or alone or not known or not name_callee(node):
        return None
    return append_argument(one.version, node, text)


def append_argument(version: Version, call: ast.Call, text: str) -> Part:
    """One more argument behind the last one of a call."""
    given = [version.span(one)[1] for one in (*call.args, *call.keywords)]
    end = max(given, default=version.span(call)[1] - 1)
    return Part(end, end, f"{', ' if given else ''}{text}".encode(), (), atomic=True)


def _wrap_again(old: _Side, new: _Side) -> Iterator[tuple[str, Part]]:
    """Expressions inside of the call that was made of them, and is made of them no more."""
    kept = {one.dump for one in new.calls}
    lost = {one.dump: one for one in old.values if one.dump not in kept}
    around: dict[str, list[tuple[bytes, frozenset[str]]]] = {}
    for call in [*lost.values()][:_COMPARED]:
        names = find_globals(call.text)
        receiver = [call.node.func.value] if isinstance(call.node.func, ast.Attribute) else []
        for inner in (*call.node.args, *receiver):
            if names is not None and not isinstance(inner, ast.Constant | ast.Starred):
                around.setdefault(ast.dump(inner), []).append((call.text.encode(), names))
    for place in new.functions if around else ():
        for node in ast.walk(place.node):
            for text, names in around.get(ast.dump(node), ()) if isinstance(node, ast.expr) else ():
                if names <= place.known:
                    yield place.path, Part(*place.version.span(node), text, (), atomic=True)


def _is_known(text: str, known: frozenset[str]) -> bool:
    """Whether the names that code takes from around it are known there."""
    names = find_globals(text)
    return names is not None and names <= known


def _is_small(node: ast.stmt) -> bool:
    """Whether a statement is simple, or a short `if` or `for` around a simple one."""
    if not isinstance(node, ast.If | ast.For):
        return isinstance(node, _SIMPLE)
    short = (node.end_lineno or 0) - node.lineno < _LINES and len(node.body) == 1
    return short and not node.orelse and isinstance(node.body[0], _SIMPLE | _ENDS)


def _has_long_text(node: ast.AST) -> bool:
    """Whether it has a literal of several lines, which other columns would change."""
    texts = (n for n in ast.walk(node) if isinstance(n, _TEXTS))
    return any(text.end_lineno != text.lineno for text in texts)


def _sets_variable(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign) and not _name_effect(node)


def _name_effect(node: ast.AST) -> str:
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
    return ast.unparse(targets[0]) if shared and targets else ""


def name_callee(node: ast.AST) -> str:
    """The last name of what is called."""
    called = node.func if isinstance(node, ast.Call) else None
    return str(getattr(called, "attr", getattr(called, "id", "")))
