"""Functions that a commit extracted, against the code that they were extracted from.

A new function has no former version of its own. The statements of a former function that are most
like its body are one: what they lost or changed on the way can be put back where it stands now.
"""

from __future__ import annotations

import ast
import contextlib
import itertools
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher

from heal_bot.source import functions
from heal_bot.source.definitions import Function
from heal_bot.source.lost_code import (
    UNREADABLE,
    FileVersions,
    list_functions,
    name_callee,
    select_changed,
)
from heal_bot.source.parsed_version import BLOCKS, Version, parse_code, splice
from heal_bot.source.renamed_variables import follow_renames
from heal_bot.source.tree_diff import Part, compare_versions, name_statement

_HEAD = re.compile(rb"\s*(?:@|(?:async\s+)?def\b|class\b)")
_RETURNS = re.compile(r"^return\b", re.MULTILINE)
# A variable in the dump of a tree, but for one that is called.
_VARIABLE = re.compile(r"(?<=Name\(id=')(?<!func=Name\(id=')\w+")
# How much of a new function has to stand in the former code, and of how many functions one is told.
_MUCH = 0.4
_HOLE = "\0"
_MOST = 20
_FUNCTIONS = 60


@dataclass(frozen=True, slots=True)
class Holder:
    """A function of one side of a change, with its file."""

    file: FileVersions
    name: str
    node: Function


@dataclass(frozen=True, slots=True)
class Extraction:
    """The functions that a commit brought, changed or took, as they were and as it left them.

    `gone` are the statements that a former function has no more, `called` the names of what it
    calls now, both by its path and name.
    """

    brought: tuple[Holder, ...]
    callers: tuple[Holder, ...]
    former: tuple[Holder, ...]
    gone: Mapping[tuple[str, str], tuple[ast.AST, ...]]
    called: Mapping[tuple[str, str], frozenset[str]]

    def list_sources(self, name: str) -> list[Holder]:
        """The former functions that call one of this name now, or are gone; else any."""
        called = ((old, self.called.get((old.file.path, old.name))) for old in self.former)
        found = [old for old, names in called if names is None or name in names]
        return (found or [*self.former])[:_FUNCTIONS]


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a new function: parameters by the dumps of what they get, and where it stands.

    `holder` is the dump of the statement with a zero byte for the call.
    """

    parameters: Mapping[str, str]
    holder: str = ""

    @classmethod
    def of(cls, function: Function, call: ast.Call, holder: ast.stmt | None = None) -> Call:
        """A call, told by the parameters of what it calls."""
        given = read_arguments(function, call)
        variables = {name: one.id for name, one in given.items() if isinstance(one, ast.Name)}
        stored = {ast.dump(ast.Name(one, ast.Store())): name for name, one in variables.items()}
        around = ast.dump(holder).replace(ast.dump(call), _HOLE) if holder else ""
        return cls({ast.dump(one): name for name, one in given.items()} | stored, around)

    def find_result(self, node: ast.AST) -> ast.expr | None:
        """What stands for the call in a former statement that is else the same; None in others."""
        value = getattr(node, "value", None)
        if not self.holder or not isinstance(value, ast.expr):
            return None
        text, inner = ast.dump(node), (n for n in ast.walk(value) if isinstance(n, ast.expr))
        return next((n for n in inner if text.replace(ast.dump(n), _HOLE, 1) == self.holder), None)


def read_extraction(changes: Iterable[FileVersions]) -> Extraction:
    """What a change did to functions; of files that do not parse it is nothing."""
    brought: list[Holder] = []
    callers: list[Holder] = []
    former: list[Holder] = []
    gone: dict[tuple[str, str], tuple[ast.AST, ...]] = {}
    for one in changes:
        with contextlib.suppress(*UNREADABLE):
            trees = (Version.of(text).tree for text in (one.before, one.after))
            was, left = (list_functions(tree, local=True) for tree in trees)
            changed = select_changed(was, left)
            kept = [Holder(one, n, left[n]) for n in changed if n in left]
            new = [Holder(one, name, left[name]) for name in left if name not in was]
            # A function may have the name of another one that is gone into it.
            brought += [*new, *kept] if len(kept) < len(changed) else new
            callers += [*new, *kept]
            former += (Holder(one, name, node) for name, node in changed.items())
            gone |= {(one.path, n): _list_gone(f, left.get(n)) for n, f in changed.items()}
    called = {
        (one.file.path, one.name): frozenset(
            name_callee(node) for node in ast.walk(one.node) if isinstance(node, ast.Call)
        )
        for one in callers
    }
    return Extraction(tuple(brought[:_MOST]), tuple(callers), tuple(former), gone, called)


def find_sources(extraction: Extraction) -> tuple[FileVersions, ...]:
    """A file for each new function, where that has its former code before; the others have none."""
    found = []
    for one in extraction.brought if extraction.former else ():
        with contextlib.suppress(*UNREADABLE):
            if text := _write_former(one, extraction):
                found.append(replace(one.file, before=text))
    return tuple(found)


def compare_extracted(sources: Iterable[FileVersions]) -> Iterator[tuple[str, Part]]:
    """The parts in which new functions differ from their former code, by their paths."""
    for one in sources:
        # Functions and classes stay: what is put back is in one that is new.
        for part in compare_versions(one.before, one.after, one.now):
            found = (p for p in part.walk() if p.start >= 0 and not _HEAD.match(p.before))
            yield from ((one.path, inner) for inner in found)


def read_arguments(function: Function, call: ast.Call) -> dict[str, ast.expr]:
    """What a call gives for the parameters of a function."""
    names = [one.arg for one in (*function.args.posonlyargs, *function.args.args)]
    bound = isinstance(call.func, ast.Attribute) and names[:1] in (["self"], ["cls"])
    # Called by the class, a method is given its object like anything else.
    names = names[bound:] if len(call.args) < len(names) else names
    given = dict(zip(names, call.args, strict=False))
    return given | {one.arg: one.value for one in call.keywords if one.arg}


def list_body(function: Function) -> list[ast.stmt]:
    """The statements of a function without its docstring."""
    return function.body[ast.get_docstring(function) is not None :]


def _write_former(one: Holder, extraction: Extraction) -> str:
    """The file with the former code as the body of a function that a commit brought; or ''."""
    now, body, function = Version.of(one.file.after), list_body(one.node), one.node
    where = now.lines(body) if body else None
    if where is None:
        return ""
    call = _find_call(function, (caller.node for caller in extraction.callers))
    found = [
        (*_compare(old.node.body, extraction.gone[old.file.path, old.name], body, call), old)
        for old in extraction.list_sources(function.name)
    ]
    much, block, old = max(found, key=lambda found: found[0])
    if much < _MUCH or (old.file.path, old.name) == (one.file.path, one.name):
        return ""
    text = _write(Version.of(old.file.before), block, call)
    if text is None:
        return ""
    start = now.starts[function.lineno - 1]
    heads, rest = (_decode(now.data[slice(*at)]) for at in ((start, where[0]), where))
    moved = textwrap.indent(text, functions.find_indentation(rest))
    was, new = (textwrap.dedent(heads + part) for part in (moved, rest))
    named, _ = follow_renames(one.file.path, was, new)
    source = textwrap.indent(named, functions.find_indentation(heads)).encode()
    source = source.replace(b"\n", b"\r\n") if b"\r\n" in now.data else source
    # What the extraction itself had to add stays.
    last = now.lines(body[-1:]) if isinstance(body[-1], ast.Return) else None
    tail = now.data[slice(*last)] if last and not _RETURNS.search(text) else b""
    return (now.data[:start] + source + tail + now.data[where[1] :]).decode()


def _decode(data: bytes) -> str:
    """Whole lines that end as Python's own do, the last one too."""
    text = data.decode().replace("\r\n", "\n")
    return text if text.endswith("\n") else f"{text}\n"


def _find_call(function: Function, callers: Iterable[Function]) -> Call:
    """The first call of a function by its name; one of nothing where there is none."""
    nodes = itertools.chain.from_iterable(map(ast.walk, callers))
    for holder in (node for node in nodes if isinstance(node, ast.stmt)):
        for node in _list_own(holder):
            if isinstance(node, ast.Call) and name_callee(node) == function.name:
                return Call.of(function, node, holder)
    return Call({})


def _list_own(holder: ast.stmt) -> Iterator[ast.AST]:
    """The nodes of a statement that stand in none of its blocks."""
    for name, value in ast.iter_fields(holder):
        for one in value if isinstance(value, list) else [value]:
            if name not in BLOCKS and isinstance(one, ast.AST):
                yield from ast.walk(one)


def _list_gone(was: Function, now: Function | None) -> tuple[ast.AST, ...]:
    """The statements of a function that its later version has not."""
    kept = {ast.dump(node) for one in now.body for node in _flatten(one)} if now else set()
    old = (node for one in was.body for node in _flatten(one))
    return tuple(node for node in old if ast.dump(node) not in kept)


def align(
    gone: Sequence[ast.AST], body: Sequence[ast.stmt], call: Call
) -> Iterator[tuple[ast.AST, ast.AST, bool]]:
    """Former statements, each with the one that stands for it in a body, and if it is the same."""
    new = [*itertools.chain.from_iterable(map(_flatten, body))]
    texts = [_name(node, call) for node in gone], [_name(node) for node in new]
    for tag, a, b, c, d in SequenceMatcher(None, *texts, autojunk=False).get_opcodes():
        if b - a == d - c:
            pairs = zip(gone[a:b], new[c:d], strict=True)
            yield from ((one, other, tag == "equal") for one, other in pairs)


def _compare(
    former: list[ast.stmt], gone: Sequence[ast.AST], body: Sequence[ast.stmt], call: Call
) -> tuple[float, list[ast.stmt]]:
    """How much of a body stands in a former function, and the statements of that around it."""
    pairs = [(one, other) for one, other, same in align(gone, body, call) if same]
    if not pairs:
        return 0.0, []
    new = [*itertools.chain.from_iterable(map(_flatten, body))]
    block, first, end = _find_block(former, {id(node) for node, _ in pairs})
    alike = {id(node) for _, node in pairs}
    held = [n for n, one in enumerate(body) if any(id(s) in alike for s in _flatten(one))]
    # What follows has changed, but is of the same kind.
    for one, other in zip(block[end:], body[held[-1] + 1 :], strict=False):
        result = call.find_result(one)
        if name_statement(ast.Return(result) if result else one) != name_statement(other):
            break
        end += 1
    return len(pairs) / len(new), block[first:end]


def _find_block(block: list[ast.stmt], matched: set[int]) -> tuple[list[ast.stmt], int, int]:
    """The innermost block around all that are matched, and the first and the end of them."""
    held = [n for n, one in enumerate(block) if any(id(s) in matched for s in _flatten(one))]
    inside = block[held[0]]
    if len(held) == 1 and id(inside) not in matched:
        for name in BLOCKS:
            inner = getattr(inside, name, [])
            nodes = {id(s) for one in inner for s in _flatten(one)}
            if matched <= nodes:
                return _find_block(inner, matched)
    return block, held[0], held[-1] + 1


def _flatten(node: ast.AST) -> Iterator[ast.AST]:
    """A statement and those inside of it, in their order, and what is caught."""
    yield node
    for name in BLOCKS:
        for inner in getattr(node, name, []):
            yield from _flatten(inner)


def _name(node: ast.AST, call: Call | None = None) -> str:
    """A statement without its blocks and the names of variables, parameters in their places.

    What is called keeps its name.
    """
    kind = type(node).__name__
    if isinstance(node, ast.Assign | ast.Return) and node.value:
        # What is stored there may be returned here.
        kind, node = "", node.value
    fields = (_dump(getattr(node, name)) for name in node._fields if name not in BLOCKS)
    text = f"{kind} {' '.join(fields)}"
    # A variable is without its name on both sides.
    given = call.parameters.items() if call else ()
    for dump, name in (one for one in given if not one[0].startswith("Name(")):
        text = text.replace(dump, ast.dump(ast.Name(name, ast.Load())))
    return _VARIABLE.sub("", text)


def _dump(value: object) -> str:
    if isinstance(value, list):
        return " ".join(map(_dump, value))
    return ast.dump(value) if isinstance(value, ast.AST) else repr(value)


def _write(version: Version, block: Sequence[ast.stmt], call: Call) -> str | None:
    """Statements as the body of the new function would have them; None where they cannot move."""
    where = version.lines(block)
    if where is None:
        return None
    data = version.data[slice(*where)]
    alone = ast.dump(parse_code(textwrap.dedent(_decode(data))))
    # A text of several lines would be another one at another depth.
    if alone != ast.dump(ast.Module([*block], [])):
        return None
    ends = [*_list_returns(version, block, call)]
    named = _list_swaps(version, block, call)
    swaps = [*ends, *(s for s in named if not any(a <= s[0] < b for a, b, _ in ends))]
    cuts = ((first - where[0], end - where[0], text) for first, end, text in swaps)
    return textwrap.dedent(_decode(splice(data, cuts)))


def _list_swaps(
    version: Version, nodes: Iterable[ast.AST], call: Call
) -> Iterator[tuple[int, int, bytes]]:
    """Where parameters stand for what is given for them."""
    for node in nodes:
        # Places in f-strings are told by newer Pythons only; what has names of its own keeps them.
        if isinstance(node, ast.JoinedStr | ast.Lambda | ast.comprehension | Function):
            continue
        name = call.parameters.get(ast.dump(node))
        if name is not None and name != getattr(node, "id", ""):
            yield *version.span(node), name.encode()
        else:
            yield from _list_swaps(version, ast.iter_child_nodes(node), call)


def _list_returns(
    version: Version, block: Sequence[ast.stmt], call: Call
) -> Iterator[tuple[int, int, bytes]]:
    """Where former code ends with what stands around the call of the function now."""
    ends = {id(one) for one in _list_last(block)}
    for node in itertools.chain.from_iterable(map(_flatten, block)):
        if not (isinstance(node, ast.Return) or id(node) in ends):
            continue
        if (result := call.find_result(node)) is not None:
            (first, end), (start, stop) = version.span(node), version.span(result)
            yield first, start, b"return "
            yield stop, end, b""


def _list_last(block: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that a block may end with."""
    yield block[-1]
    match block[-1]:
        case ast.If(body=body, orelse=orelse):
            inner = [body, orelse]
        case ast.With(body=body) | ast.AsyncWith(body=body):
            inner = [body]
        case ast.Try(body=body, handlers=handlers, orelse=orelse):
            inner = [orelse or body, *(one.body for one in handlers)]
        case _:
            inner = []
    for body in filter(None, inner):
        yield from _list_last(body)
