"""Import statements: which of the wanted ones are missing, and where they go."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from heal_bot.source import functions, guard

# The line length of PEP 8: no formatter asks for shorter lines.
_WIDTH = 79


def find_missing(text: str, wanted: Sequence[str]) -> tuple[str, ...]:
    """Import statements, one per name, that the module does not have at its top level yet.

    Raises SourceRejected when `wanted` holds anything but absolute or relative imports, a star or
    `__future__`, or a name that the module binds otherwise.
    """
    tree = guard.parse(text)
    present = {*split_imports(tree.body)}
    taken = {_name(single) for single in present} | _defined(tree)
    found: list[str] = []
    for statement in wanted:
        for single in _wanted(statement):
            if single in present or single in found:
                continue
            if _name(single) in taken:
                raise guard.SourceRejected(f"{single!r} would rebind a name of the module")
            taken.add(_name(single))
            found.append(single)
    return tuple(found)


def find_place(text: str) -> int:
    """How many lines come before the place for new imports.

    After the imports the module starts with; without any after its docstring; without that
    after the comment block at the top.
    """
    tree = guard.parse(text)
    last = 0
    for number, node in enumerate(tree.body):
        docstring = number == 0 and isinstance(node, ast.Expr) and _is_text(node.value)
        if not docstring and not isinstance(node, ast.Import | ast.ImportFrom):
            break
        last = node.end_lineno or node.lineno
    if last:
        return last
    lines = functions.split_lines(text)
    for number, line in enumerate(lines):
        if not line.removeprefix("\ufeff").startswith("#"):
            return number
    return len(lines)


def join_line(lines: list[str], single: str) -> bool:
    """Put a `from` import of one name into the line or block that imports from its module.

    False where none does, or where it is written otherwise than `from m import a, b` or with one
    name a line between brackets: the import then needs a line of its own.
    """
    head, _, name = single.rpartition("import ")
    for node in guard.parse("".join(lines)).body:
        singles = [*split_imports([node])] if isinstance(node, ast.ImportFrom) else []
        if [one.rpartition("import ")[0] for one in singles[:1]] != [head]:
            continue
        names = [one.rpartition("import ")[2] for one in singles]
        if names == ["*"]:
            continue
        place = sum(other < name for other in names) if names == sorted(names) else len(names)
        first, last = node.lineno - 1, node.end_lineno or node.lineno
        line = lines[first].rstrip("\r\n")
        longer = f"{head}import {', '.join([*names[:place], name, *names[place:]])}"
        if line == f"{head}import {', '.join(names)}" and len(longer) <= _WIDTH:
            lines[first] = lines[first].replace(line, longer)
            return True
        if [each.strip() for each in lines[first + 1 : last - 1]] == [f"{one}," for one in names]:
            like = lines[first + 1]
            lines.insert(first + 1 + place, like.replace(f"{names[0]},", f"{name},"))
            return True
    return False


def _wanted(statement: str) -> Iterator[str]:
    body = guard.parse(statement.strip()).body
    for node in body:
        singles = tuple(split_imports([node]))
        if not singles or any(s.endswith(" *") or "__future__" in s for s in singles):
            raise guard.SourceRejected(f"{statement.strip()[:80]!r} is no import of names")
        yield from singles


def split_imports(body: Sequence[ast.stmt]) -> Iterator[str]:
    """The imports among statements as such that import one name each, in normal form."""
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            head = ""
            if isinstance(node, ast.ImportFrom):
                head = f"from {'.' * node.level}{node.module or ''} "
            yield from (f"{head}import {alias.name}{_as(alias)}" for alias in node.names)


def name_bound(single: str) -> str:
    """The name that an import of one name binds."""
    return single.rsplit(maxsplit=1)[-1].partition(".")[0]


def _as(alias: ast.alias) -> str:
    return f" as {alias.asname}" if alias.asname and alias.asname != alias.name else ""


def _name(single: str) -> str:
    """The name a single import binds; a dotted `import a.b` binds `a`, which may be bound twice."""
    last = single.rsplit(maxsplit=1)[-1]
    return single if single.startswith("import ") and "." in last else last


def _defined(tree: ast.Module) -> set[str]:
    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    defined = {node.name for node in tree.body if isinstance(node, definitions)}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign):
            names = (n.id for n in ast.walk(node) if isinstance(n, ast.Name))
            stored = node.targets if isinstance(node, ast.Assign) else [node.target]
            defined |= set(names) & {t.id for t in stored if isinstance(t, ast.Name)}
    return defined


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)
