"""What a patched file really changes, recomputed from its two versions and trusted for nothing."""

from __future__ import annotations

import ast
import contextlib
from collections.abc import Collection, Sequence
from dataclasses import replace

from heal_bot.core.errors import HealBotError
from heal_bot.core.model import Edit, Target
from heal_bot.core.outcome import PatchRecord
from heal_bot.ports import Tree
from heal_bot.source import edit, functions, guard, imports, line_targets

# So many lines more than it had a span is looked through for.
_LONGER = 400


class RecheckError(HealBotError):
    """A patched file that differs from its base in more than the targets it names."""


def recover_patch(patch: PatchRecord, tree: Tree) -> tuple[Edit, ...]:
    """The edits of a patch as its files and the tree show them; RecheckError for anything else."""
    if patch.base_sha != tree.sha:
        raise RecheckError(f"the patch is for commit {patch.base_sha[:12]}, not {tree.sha[:12]}")
    found: list[Edit] = []
    for file in patch.files:
        named = {f.qualname for f in patch.functions if f.path == file.path}
        try:
            before = edit.text_of(tree, file.path)
            if tree.blob(file.path) != file.base_blob:
                raise RecheckError(f"{file.path} is another file there")
            found += recover_edits(file.path, before, file.content, named)
        except (edit.EditError, guard.SourceRejected, KeyError) as error:
            raise RecheckError(str(error)) from error
    return tuple(found)


def recover_edits(path: str, before: str, after: str, named: Collection[str]) -> tuple[Edit, ...]:
    """The edits that turn `before` into `after`, all on targets named by qualified name.

    The edits are read off both versions and applied again to `before`: only when that gives
    `after` byte for byte is nothing else changed. Raises RecheckError, or SourceRejected where a
    version cannot be parsed.
    """
    if any(line_targets.find_lines(path, before, name) for name in named):
        return _recover_lines(path, before, after, named)
    new = functions.index_targets(path, after)
    pairs = [
        (old, twin)
        for old in functions.index_targets(path, before)
        if old.qualname in named and (twin := functions.find_same(old, new)) is not None
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


def _recover_lines(path: str, before: str, after: str, named: Collection[str]) -> tuple[Edit, ...]:
    """The edits of spans of lines, and of functions beside them; RecheckError for anything else."""
    guard.parse(after)
    spans = [span for name in named if (span := line_targets.find_lines(path, before, name))]
    with contextlib.suppress(guard.SourceRejected):
        others = (t for t in functions.index_targets(path, before) if t.qualname in named)
        spans += [one for one in others if not any(_overlap(one, span) for span in spans)]
    spans.sort(key=lambda one: one.first_line)
    fresh: tuple[str, ...] = ()
    with contextlib.suppress(guard.SourceRejected):
        fresh = imports.find_missing(before, [ast.unparse(node) for node in _fresh(before, after)])
    # Imports may stand in the lines, or come to the others.
    for added in dict.fromkeys(((), fresh)):
        with contextlib.suppress(edit.EditError, guard.SourceRejected):
            edits = _fit_spans(before, after, spans, added)
            if edit.splice(before, edits) == after:
                return tuple(edits)
    raise RecheckError(f"{path}: something outside the lines named is changed")


def _fit_spans(
    before: str, after: str, spans: Sequence[Target], added: tuple[str, ...]
) -> list[Edit]:
    """The edits of spans that lead to a text, with these imports besides."""
    first = Edit(spans[0], spans[0].source, added)
    old, new = functions.split_lines(before), functions.split_lines(after)
    grown = functions.split_lines(edit.splice(before, [first])) if added else old
    place = next((n for n, line in enumerate(old) if line != grown[n]), len(old))
    more = len(grown) - len(old)
    bounds = [(one.first_line - 1, one.last_line) for one in spans]
    moved = [(a + more, b + more) if a >= place else (a, b) for a, b in bounds]
    pairs = list(zip(spans, _fit(grown, new, moved) or (), strict=False))
    found = [Edit(one, text) for one, text in pairs if text != one.source and text.strip()]
    if not added:
        return found
    return [replace(found[0], imports=added), *found[1:]] if found else [first]


def _overlap(one: Target, other: Target) -> bool:
    return one.first_line <= other.last_line and other.first_line <= one.last_line


def _fit(
    old: Sequence[str], new: Sequence[str], spans: Sequence[tuple[int, int]]
) -> list[str] | None:
    """What stands in `new` in the place of each span of `old`, with all between them unchanged.

    Spans are half-open and in order. Of several ways that where a span keeps its length best; None
    where there is none.
    """
    bounds = [*spans, (len(old), len(old))]
    failed: set[tuple[int, int]] = set()

    def fit(place: int, at: int) -> list[str] | None:
        (start, end), following = spans[place], bounds[place + 1][0]
        between = old[end:following]
        last = place + 1 == len(spans)
        stops = range(at, min(len(new) - len(between), at + end - start + _LONGER) + 1)
        if last:
            stops = range(max(at, len(new) - len(between)), len(new) - len(between) + 1)
        for stop in sorted(stops, key=lambda n: abs(n - at - (end - start))):
            if (place, stop) in failed or new[stop : stop + len(between)] != between:
                continue
            rest = [] if last else fit(place + 1, stop + len(between))
            if rest is not None:
                return ["".join(new[at:stop]), *rest]
            failed.add((place, stop))
        return None

    first = spans[0][0]
    apart = all(end <= start for (_, end), (start, _) in zip(spans, bounds[1:], strict=True))
    return fit(0, first) if apart and new[:first] == old[:first] else None


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
    tree = guard.parse(after)
    added = imports.find_missing(before, [ast.unparse(n) for n in _fresh(before, after)])
    words = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name)
        and any(twin.first_line <= node.lineno <= twin.last_line for twin in twins)
    }
    for single in added:
        if imports.name_bound(single) not in words:
            raise RecheckError(f"{path}: `{single}` is not needed")
    return added


def _fresh(before: str, after: str) -> list[ast.Import | ast.ImportFrom]:
    """The top-level imports only `after` has."""
    nodes = [n for n in guard.parse(after).body if isinstance(n, ast.Import | ast.ImportFrom)]
    known = [ast.dump(n) for n in guard.parse(before).body]
    return [node for node in nodes if ast.dump(node) not in known]
