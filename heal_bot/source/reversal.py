"""What a commit changed, put back piece by piece in the functions that hold it now."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from heal_bot.model import ChangedFile, Edit, Target
from heal_bot.ports import Tree
from heal_bot.source import functions, guard, paths
from heal_bot.source.tree_diff import Part, compare_versions, encode_lines, line_starts


@dataclass(frozen=True, slots=True)
class Change:
    """What a commit changed, by the targets that have it now, and how many smallest parts it has.

    `imports` are the imports of each file that the commit took away.
    """

    places: tuple[tuple[Target, Part], ...]
    leaves: int
    imports: Mapping[str, tuple[str, ...]]

    @property
    def targets(self) -> tuple[Target, ...]:
        """The targets that have a part of it."""
        return tuple(dict.fromkeys(target for target, _ in self.places))

    def is_whole(self, chosen: Iterable[Part]) -> bool:
        """Whether these parts are all that the commit changed in code."""
        return sum(part.leaves for part in chosen) == self.leaves

    def put_back(self, chosen: Sequence[tuple[Target, Part]]) -> tuple[Edit, ...]:
        """The edits that put parts back, with the imports they need."""
        by_target: dict[Target, list[Part]] = {}
        for target, part in chosen:
            by_target.setdefault(target, []).extend(part.cuts())
        return tuple(
            Edit(target, source, self._imports(target.path, source))
            for target, cuts in by_target.items()
            if (source := _spliced(target, cuts)) != target.source
        )

    def _imports(self, path: str, source: str) -> tuple[str, ...]:
        """The lost imports of which a name is used."""
        words = set(re.findall(r"\w+", source))
        return tuple(line for line in self.imports.get(path, ()) if words & _bound(line))


def brought_tests(files: Iterable[ChangedFile]) -> frozenset[str]:
    """The test functions that a commit adds or changes, as `path::Class::function`."""
    found = set()
    for file in files:
        if paths.is_test(file.path):
            old = {(t.qualname, t.source) for t in _functions(file.path, file.before)}
            new = {(t.qualname, t.source) for t in _functions(file.path, file.after)}
            found |= {f"{file.path}::{name.replace('.', '::')}" for name, _ in new - old}
    return frozenset(found)


def _functions(path: str, data: bytes) -> tuple[Target, ...]:
    try:
        return functions.index(path, guard.check(data))
    except guard.SourceRejected:
        return ()


def survey_change(tree: Tree, files: Iterable[ChangedFile]) -> Change:
    """What the commit that changed these files changed, as far as the tree still has it."""
    places: list[tuple[Target, Part]] = []
    imports: dict[str, tuple[str, ...]] = {}
    leaves = 0
    for file in files:
        if paths.is_test(file.path):
            continue
        try:
            before, after = guard.check(file.before), guard.check(file.after)
            now = guard.check(tree.read(file.path))
            targets = functions.index(file.path, now)
        except (guard.SourceRejected, KeyError):
            leaves += 1
            continue
        leaves += sum(part.leaves for part in compare_versions(before, after, after))
        starts = line_starts(encode_lines(now))
        for part in compare_versions(before, after, now):
            places.extend(_placed(part, targets, starts))
        imports[file.path] = _lost_imports(before, now)
    return Change(tuple(places), leaves, imports)


def _placed(
    part: Part, targets: Sequence[Target], starts: Sequence[int]
) -> Iterator[tuple[Target, Part]]:
    """The part, or those in it, each with the outermost target around it; bytes from there on."""
    for target in targets if part.start >= 0 else ():
        start, end = starts[target.first_line - 1], starts[target.last_line]
        if start <= part.start and part.end <= end and target.kind != "default":
            yield target, part.shifted(-start)
            return
    for inner in part.parts:
        yield from _placed(inner, targets, starts)


def _spliced(target: Target, cuts: Iterable[Part]) -> str:
    """The source of a target with the cuts made."""
    data = target.source.encode("utf-8", "surrogatepass")
    for cut in sorted(cuts, key=lambda cut: (cut.start, cut.end), reverse=True):
        data = data[: cut.start] + cut.before + data[cut.end :]
    return data.decode("utf-8", "surrogatepass")


def _lost_imports(before: str, now: str) -> tuple[str, ...]:
    """The imports of a module that it has no more, one name a line."""
    old, new = (set(_import_lines(guard.parse(text))) for text in (before, now))
    return tuple(sorted(old - new))


def _import_lines(tree: ast.Module) -> Iterator[str]:
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                one = type(node)(**{**dict(ast.iter_fields(node)), "names": [alias]})
                yield ast.unparse(one)


def _bound(line: str) -> set[str]:
    """The name that an import binds."""
    return {line.replace(" as ", " import ").rpartition(" ")[2].partition(".")[0]}
