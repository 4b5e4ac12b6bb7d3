"""Source that does not parse or import, as a model is shown it: the error, the lines, history."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from heal_bot.core.errors import HealBotError
from heal_bot.core.model import Broken, Failure, Origin, Target
from heal_bot.ports import Brief, Tree
from heal_bot.source import edit, functions, line_targets, module_names, paths

_WHOLE = 12_000
_AROUND = 60
_DIFF = 4_000
_CIRCULAR = "circular import"


def find_broken(brief: Brief) -> Broken | None:
    """The source that keeps the tests of a cluster from being collected, where that is it."""
    return next((f.broken for f in brief.cluster.failures[:1] if brief.cluster.suspects), None)


def find_targets(brief: Brief, source: Broken) -> Iterator[Target]:
    """What may be changed, whole files where they fit: the source itself, then who takes part."""
    places = {source.path: source.line, **_partners(brief.tree, brief.cluster.failures[0])}
    for path, line in places.items():
        if paths.is_test(path) or paths.is_protected(path):
            continue
        with contextlib.suppress(HealBotError):
            text = edit.text_of(brief.tree, path)
            last = len(functions.split_lines(text.removeprefix("\ufeff")))
            first = 1
            if len(text) > _WHOLE:
                first, last = max(1, line - _AROUND), min(last, line + _AROUND)
            if found := line_targets.make_target(path, text, first, last):
                yield found


def describe_error(brief: Brief, source: Broken) -> Iterator[str]:
    """The error with the line it names, what brought it, and the names of who lacks one."""
    tree, failure = brief.tree, brief.cluster.failures[0]
    yield source.said
    with contextlib.suppress(HealBotError):
        text = edit.text_of(tree, source.path)
        if line := line_targets.make_target(source.path, text, source.line, source.line):
            yield f"line {source.line}: {line.source.strip()}"
        former = tree.former(source.path)
        yield from _diff(source.path, former, text)
    module, name = module_names.find_missing(failure.message)
    path = module_names.file_of(module, tree.paths()) if name else ""
    if path:
        now = tree.read(path)
        bound = ", ".join(sorted(module_names.find_bound(now)))
        yield f"{module} ({path}) has: {bound or 'no names'}"
    circular = _CIRCULAR in failure.message
    if not circular and (removal := module_names.find_removal(failure.message, tree)) is not None:
        what = f"`{name}` out of {path}" if path else removal.path
        yield f"{removal.sha[:12]} ({removal.title}) took {what}, moved to {removal.moved or '?'}"
        if path:
            yield from _diff(path, removal.before, now.decode("utf-8", "replace"))


def _partners(tree: Tree, failure: Failure) -> dict[str, int]:
    """The files of a circle, and the module that lacks a name, with a line of each."""
    if _CIRCULAR in failure.message:
        return {f.path: f.line for f in reversed(failure.frames) if f.origin is Origin.PROJECT}
    module, name = module_names.find_missing(failure.message)
    path = module_names.file_of(module, tree.paths()) if name else ""
    return {path: 1} if path else {}


def _diff(path: str, before: bytes | None, now: str) -> Iterator[str]:
    """What became of a file since, where that is short."""
    found = edit.diff(path, before.decode("utf-8", "replace"), now) if before else ""
    if 0 < len(found) <= _DIFF:
        yield f"changed since:\n{found}"
