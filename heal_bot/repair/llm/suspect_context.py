"""What suspects use and who calls them, as a model is shown it."""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass

from heal_bot.core.model import Target
from heal_bot.repair.llm.failing_test_context import holds
from heal_bot.source import functions, paths
from heal_bot.source.name_resolution import Symbol
from heal_bot.source.references import CLASS, References

_CALLS = 6
# Of the first suspect so many callers are shown whole.
_BODIES = 3
# Of the suspects behind the first one so many things that they use are of interest.
_USED = 12
# A longer class is shown as its outline, a longer caller by the line of its call.
_SHORT = 40
_MEMBERS = 60


@dataclass(frozen=True, slots=True)
class Related:
    """Something that suspect number `near` (from 0) uses; `source` is of it all or an outline."""

    target: Target
    source: str
    near: int

    @property
    def name(self) -> str:
        """How a prompt names it."""
        return f"{self.target.path}::{self.target.qualname}"


def find_related(
    chosen: Sequence[Target], references: References, ran: Mapping[str, Container[int]]
) -> tuple[Related, ...]:
    """What the suspects use, each once: functions, constants, classes and their bases.

    Of a function that the failing tests do not execute, by the lines that `ran`, the header is
    enough: it is another one of the same name, or one that is not at fault.
    """
    found: dict[Target, Related] = {}
    shown: list[Target] = []
    for near, target in enumerate(chosen):
        base = references.overridden(target)
        used = references.uses(target)[: _USED if near else None]
        bases = (one for symbol in used for one in references.names.ancestors(symbol))
        for symbol in filter(None, [base, *used, *bases]):
            if paths.is_test(symbol.path) and not paths.is_test(target.path):
                continue
            for one in references.definitions(symbol):
                around = one.kind == CLASS and holds(one, target)
                if not around and not any(holds(other, one) for other in (*shown, *chosen)):
                    long = one.kind == CLASS and one.last_line - one.first_line >= _SHORT
                    source = "\n".join(outline_class(one, references)) if long else one.source
                    if one.kind == "function" and ran and not _has_run(one, ran):
                        source = write_signature(one)
                    shown += [] if long else [one]
                    found.setdefault(one, Related(one, source, near))
    return tuple(found.values())


def _has_run(one: Target, ran: Mapping[str, Container[int]]) -> bool:
    """Whether any line of a function's body is among those that ran."""
    node, lines = functions.parse_function(one.source), ran.get(one.path, ())
    first = one.first_line + (node.body[0].lineno - 1 if node else 0)
    return any(line in lines for line in range(first, one.last_line + 1))


def outline_class(one: Target, references: References, without: str = "") -> Iterator[str]:
    """A class on a line per member: its header, attributes, the signatures of its methods."""
    node = references.names.first(Symbol(one.path, one.qualname))
    if not isinstance(node, ast.ClassDef):
        return
    bases = ", ".join(ast.unparse(base) for base in (*node.bases, *node.keywords))
    yield f"class {one.qualname}{f'({bases})' if bases else ''}:"
    members = [
        target
        for target in references.targets(one.path)
        if target.qualname.rpartition(".")[0] == one.qualname and target.qualname != without
        if target.kind in {"function", "class_attribute"} and holds(one, target)
    ]
    for member in members[:_MEMBERS]:
        plain = member.source.strip()[:120]
        yield f"    {write_signature(member) if member.kind == 'function' else plain}"
    if len(members) > _MEMBERS:
        yield f"    # and {len(members) - _MEMBERS} more"


def find_owner(target: Target, references: References) -> Target | None:
    """The class that a method belongs to."""
    name = target.qualname.rpartition(".")[0]
    classes = references.definitions(Symbol(target.path, name)) if name else ()
    return next((one for one in classes if one.kind == CLASS and holds(one, target)), None)


def find_callers(chosen: Sequence[Target], references: References) -> Iterator[str]:
    """Where the suspects are called, or used, outside the tests and their own source.

    Each is a line; of the first suspect's callers the short ones are shown.
    """
    verbs = {"function": "calls", "assignment": "uses", "class_attribute": "uses"}
    for target in (one for one in chosen if one.kind in verbs):
        told: set[Target] = set()
        for call in references.calls(target):
            around = call.around
            if around is None or around in told or any(holds(one, around) for one in chosen):
                continue
            if len(told) == _CALLS:
                break
            told.add(around)
            where = f"{call.path}:{call.line} in {around.qualname}"
            said = f"{where} {verbs[target.kind]} {target.qualname}"
            short = around.last_line - around.first_line < _SHORT
            shown = target == chosen[0] and short and len(told) <= _BODIES
            yield f"{said}:\n{around.source.rstrip()}" if shown else f"{said}: {call.text[:200]}"


def write_signature(target: Target) -> str:
    """The header of a function on one line, with the first line of its docstring."""
    if (node := functions.parse_function(target.source)) is None:
        return target.qualname
    marks = "".join(f"@{ast.unparse(mark)} " for mark in node.decorator_list)
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    said = (ast.get_docstring(node) or "").strip().partition("\n")[0][:120]
    name = target.qualname.rpartition(".")[2]
    header = f"{marks}{word} {name}({ast.unparse(node.args)}){returns}"
    return header[:300] + (f"  # {said}" if said else "")
