"""What a patched file really changes, recomputed from its two versions and trusted for nothing."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Collection, Sequence

from heal_bot.core.errors import HealBotError
from heal_bot.core.model import Edit, Target
from heal_bot.source import edit, functions, guard, imports, line_targets


class RecheckError(HealBotError):
    """A patched file that differs from its base in more than the targets it names."""


def recover_edits(path: str, before: str, after: str, named: Collection[str]) -> tuple[Edit, ...]:
    """The edits that turn `before` into `after`, all on targets named by qualified name.

    The edits are read off both versions and applied again to `before`: only when that gives
    `after` byte for byte is nothing else changed. Raises RecheckError, or SourceRejected where a
    version cannot be parsed.
    """
    if spans := [span for name in named if (span := line_targets.find_lines(path, before, name))]:
        return _lines(path, before, after, spans)
    new = functions.index_targets(path, after)
    pairs = [
        (old, twin)
        for old in functions.index_targets(path, before)
        if old.qualname in named
        and (twin := functions.find_target(new, old.qualname, old.kind, old.nth)) is not None
    ]
    changed = [(old, twin) for old, twin in pairs if twin.source != old.source]
    if _fresh(before, after):
        # Functions that stay as they are may lack nothing but imports, which the first stands for.
        changed = changed or pairs[:1]
    if not changed:
        raise RecheckError(f"{path}: none of the functions named is changed")
    outer = [(old, twin) for old, twin in changed if not _inside(old, changed)]
    added = _added(path, before, after, [twin for _, twin in pairs])
    found = tuple(
        Edit(old, twin.source, added if place == 0 else ())
        for place, (old, twin) in enumerate(outer)
    )
    try:
        again = edit.splice(before, found)
    except edit.EditError as error:
        raise RecheckError(f"{path}: {error}") from error
    if again != after:
        raise RecheckError(f"{path}: something outside the functions named is changed")
    return found


def _lines(path: str, before: str, after: str, spans: Sequence[Target]) -> tuple[Edit, ...]:
    """The edit of one span of lines; RecheckError where anything else is changed."""
    guard.parse(after)
    span, old, new = spans[0], functions.split_lines(before), functions.split_lines(after)
    source = "".join(new[span.first_line - 1 : len(new) - (len(old) - span.last_line)])
    found = [Edit(span, source)] if source.strip() else []
    with contextlib.suppress(guard.SourceRejected):
        fresh = imports.find_missing(before, [ast.unparse(node) for node in _fresh(before, after)])
        found.append(Edit(span, span.source, fresh))
    for one in found if len(spans) == 1 else ():
        with contextlib.suppress(edit.EditError, guard.SourceRejected):
            if edit.splice(before, [one]) == after:
                return (one,)
    raise RecheckError(f"{path}: something outside the lines named is changed")


def _inside(target: Target, changed: Sequence[tuple[Target, Target]]) -> bool:
    """Whether another changed target holds this one."""
    return any(
        other is not target
        and other.first_line <= target.first_line
        and target.last_line <= other.last_line
        and (other.last_line - other.first_line, other.kind != "function")
        > (target.last_line - target.first_line, target.kind != "function")
        for other, _ in changed
    )


def _added(path: str, before: str, after: str, twins: Sequence[Target]) -> tuple[str, ...]:
    """The top-level imports only `after` has; each must bind a name that the new code reads."""
    tree, fresh = guard.parse(after), _fresh(before, after)
    added = imports.find_missing(before, [ast.unparse(n) for n in fresh])
    words = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
        and any(twin.first_line <= node.lineno <= twin.last_line for twin in twins)
    }
    for node in fresh:
        for alias in node.names:
            if (alias.asname or alias.name).partition(".")[0] not in words:
                raise RecheckError(f"{path}: the import of {alias.name} is not needed")
    return added


def _fresh(before: str, after: str) -> list[ast.Import | ast.ImportFrom]:
    """The top-level imports only `after` has."""
    nodes = [n for n in guard.parse(after).body if isinstance(n, ast.Import | ast.ImportFrom)]
    known = [ast.dump(n) for n in guard.parse(before).body]
    return [node for node in nodes if ast.dump(node) not in known]
