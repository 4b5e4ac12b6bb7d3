"""What a commit changed, put back piece by piece in the functions that hold it now."""

from __future__ import annotations

import ast
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field

from heal_bot.core.model import ChangedFile, Edit, Target
from heal_bot.ports import Tree
from heal_bot.source import edit, functions, guard, line_targets, paths
from heal_bot.source.bound_names import list_names
from heal_bot.source.call_arguments import correct_arguments
from heal_bot.source.extracted_functions import (
    compare_extracted,
    find_sources,
    read_extraction,
)
from heal_bot.source.imports import name_bound, split_imports
from heal_bot.source.lost_code import FileVersions, find_lost_code
from heal_bot.source.lost_constants import find_lost, inline_constants
from heal_bot.source.lost_entries import find_lost_entries
from heal_bot.source.missed_places import find_missed_places
from heal_bot.source.parsed_version import encode_lines, line_starts, splice
from heal_bot.source.renamed_variables import follow_renames
from heal_bot.source.restored_definitions import (
    place_definition,
)
from heal_bot.source.tree_diff import Part, align, compare_versions

_WORD = re.compile(r"\w+")
_IMPORTED = re.compile(r"\s*(?:import|from)\b|\s*\Z")
_IMPORTS = ast.Import | ast.ImportFrom

Piece = tuple[Target, Part]


@dataclass(frozen=True, slots=True)
class ReversedChange:
    """What a commit changed, by the targets that have it now, and how many smallest parts it has.

    `imports` are the imports of each file that the commit took away, `texts` the files as they are,
    `added` what it brought to the top of modules, with the path, `brought` the functions and values
    that are new, `versions` the files before, after and now. `constants` are those of each file
    that are gone.
    """

    places: tuple[Piece, ...]
    leaves: int
    imports: Mapping[str, tuple[str, ...]]
    texts: Mapping[str, str]
    added: tuple[tuple[str, str], ...]
    brought: tuple[Target, ...] = ()
    versions: tuple[FileVersions, ...] = ()
    constants: Mapping[str, Mapping[str, str]] = field(default_factory=dict)

    @property
    def targets(self) -> tuple[Target, ...]:
        """The targets that have a part of it, or are one."""
        return tuple(dict.fromkeys((*(target for target, _ in self.places), *self.brought)))

    @property
    def brought_names(self) -> frozenset[str]:
        """The last names of the functions that are new."""
        brought = (target.qualname for target in self.brought if target.kind == "function")
        return frozenset(name.rpartition(".")[2] for name in brought)

    def list_others(self, chosen: Sequence[Piece]) -> list[Piece]:
        """The other statements that use a function which is new, and which goes by these parts."""
        edits = self.put_back(chosen)
        gone = self.brought_names & {w for one in edits for w in _WORD.findall(one.target.source)}
        gone -= {word for one in edits for word in _WORD.findall(one.new_source)}
        return [
            (target, part)
            for target, top in self.places
            for part in top.statements()
            if part.atomic and target not in self.brought and (target, part) not in chosen
            and not gone.isdisjoint(_WORD.findall(read_part(target, part)))
        ]  # fmt: skip

    def is_whole(self, chosen: Sequence[Piece]) -> bool:
        """Whether these parts are all that the commit changed in code.

        What it brought to a module, and nothing uses without these parts, may stay; a public
        function or class is there for others.
        """
        kept = sum(self._is_idle(path, text, chosen) for path, text in self.added)
        return sum(part.leaves for _, part in chosen) + kept == self.leaves

    def _is_idle(self, path: str, text: str, chosen: Sequence[Piece]) -> bool:
        """Whether no name of an addition is used elsewhere in its file, with parts put back."""
        names = _defined(text)
        return bool(names) and names == self._list_idle(path, text, chosen)

    def _list_idle(self, path: str, text: str, chosen: Sequence[Piece]) -> set[str]:
        """The names of an addition that nothing else in its file uses, with parts put back."""
        edits = [one for one in self.put_back(chosen) if one.target.path == path]
        try:
            left = Counter(_WORD.findall(edit.splice(self.texts[path], edits)))
            left.subtract(_WORD.findall(text))
            return {name for name in _defined(text) if left[name] <= 0}
        except (edit.EditError, guard.SourceRejected):
            return set()

    def list_unused(self, chosen: Sequence[Piece]) -> tuple[str, ...]:
        """The names that the code uses now and uses no more with these parts put back."""
        found: set[str] = set()
        for path, text in self.added:
            found |= self._list_idle(path, text, chosen) - self._list_idle(path, text, ())
        edits = self.put_back(chosen)
        for one in edits:
            if one.target.kind != line_targets.KIND:
                found |= _list_unused(one.new_source) - _list_unused(one.target.source)
        gone = Counter(word for one in edits for word in _WORD.findall(one.target.source))
        gone.subtract(word for one in edits for word in _WORD.findall(one.new_source))
        for target in self.brought:
            name = target.qualname.rpartition(".")[2]
            uses = _WORD.findall(self.texts[target.path]).count(name)
            uses -= _WORD.findall(target.source).count(name)
            if name.startswith("_") and 0 < uses <= gone[name]:
                found.add(name)
        return tuple(sorted(name for name in found if name.strip("_")))

    def select_new(
        self, pieces: Iterable[Piece], known: Set[tuple[Edit, ...]]
    ) -> tuple[Piece, ...]:
        """The pieces that make something else, each by itself, than others and what is known."""
        found: dict[tuple[Edit, ...], Piece] = {}
        for piece in pieces:
            found.setdefault(self.put_back((piece,)), piece)
        return tuple(piece for edits, piece in found.items() if edits not in known)

    def put_back(self, chosen: Sequence[Piece]) -> tuple[Edit, ...]:
        """The edits that put parts back, with the imports they need."""
        by_target: dict[Target, list[Part]] = {}
        for target, part in chosen:
            by_target.setdefault(target, []).extend(part.cuts())
        sources = {
            target: inline_constants(_spliced(target, cuts), self.constants.get(target.path, {}))
            for target, cuts in by_target.items()
        }
        return tuple(
            Edit(target, source, self._find_imports(target, sources))
            for target, source in sources.items()
            if source != target.source
        )

    def list_former(self) -> tuple[Edit, ...]:
        """The functions that it changed, each as it was before."""
        return tuple(one for one in self.put_back(self.places) if one.target.kind == "function")

    def _find_imports(self, target: Target, sources: Mapping[Target, str]) -> tuple[str, ...]:
        """The lost imports of which a function uses a name, without those put back as lines."""
        if _IMPORTED.match(sources[target]):
            return ()
        words = set(_WORD.findall(sources[target]))
        back = {
            line
            for one, source in sources.items()
            if (one.path, one.kind) == (target.path, line_targets.KIND) and _IMPORTED.match(source)
            for line in split_imports(guard.parse(source).body)
        }
        lost = self.imports.get(target.path, ())
        return tuple(line for line in lost if line not in back and name_bound(line) in words)


def brought_tests(files: Iterable[ChangedFile]) -> frozenset[str]:
    """The test functions that a commit adds or changes, as `path::Class::function`."""
    found = set()
    for file in files:
        if paths.is_test(file.path):
            old = {(t.qualname, t.source) for t in functions.read(file.path, file.before)}
            new = {(t.qualname, t.source) for t in functions.read(file.path, file.after)}
            found |= {f"{file.path}::{name.replace('.', '::')}" for name, _ in new - old}
    return frozenset(found)


def survey_change(tree: Tree, files: Iterable[ChangedFile]) -> ReversedChange:
    """What the commit that changed these files changed, as far as the tree still has it.

    New names for the variables of a function are no part of it, and none of them is taken back.
    """
    places: list[Piece] = []
    imports: dict[str, tuple[str, ...]] = {}
    constants: dict[str, dict[str, str]] = {}
    texts: dict[str, str] = {}
    added: list[tuple[str, str]] = []
    brought: list[Target] = []
    versions: list[FileVersions] = []
    leaves = 0
    for file in files:
        if paths.is_test(file.path) or not file.path.endswith(".py"):
            continue
        try:
            before, after = guard.check_text(file.before), guard.check_text(file.after)
            now = guard.check_text(tree.read(file.path))
            targets = (
                *functions.index_targets(file.path, now), *_index_imports(file.path, now)
            )  # fmt: skip
            imports[file.path] = _lost_imports(before, now)
            constants[file.path] = find_lost(before, now)
        except (guard.SourceRejected, KeyError, RecursionError):
            broken = [*_list_broken(tree, file)]
            places.extend(broken)
            leaves += len(broken) or 1
            if not file.after:
                text = file.before.decode(errors="replace")
                versions.append(FileVersions(file.path, text, "", ""))
            continue
        texts[file.path] = now
        known = {target.qualname for target in functions.read(file.path, file.before)}
        new = {t.qualname for t in functions.read(file.path, file.after)} - known
        brought += [t for t in targets if t.kind != "default" and t.qualname in new]
        before, renamed = follow_renames(file.path, before, after)
        leaves += renamed
        data = b"".join(encode_lines(after))
        for part in compare_versions(before, after, after):
            leaves += part.leaves
            for one in _additions(part, data):
                text = data[one.start : one.end].decode("utf-8", "surrogatepass")
                added.append((file.path, text))
        starts = line_starts(encode_lines(now))
        for target, part in itertools.chain.from_iterable(
            _placed(one, targets, starts) for one in compare_versions(before, after, now)
        ):
            places.append(place_definition(part, target, file.path, now) or (target, part))
        versions.append(FileVersions(file.path, before, after, now))
    return ReversedChange(
        tuple(places),
        leaves,
        imports,
        texts,
        tuple(added),
        tuple(brought),
        tuple(versions),
        constants,
    )


def read_part(target: Target, part: Part) -> str:
    """What stands where a part is put back."""
    data = target.source.encode("utf-8", "surrogatepass")
    return data[part.start : part.end].decode("utf-8", "surrogatepass")


def list_lines(target: Target, part: Part) -> range:
    """The lines that a part of a target stands in."""
    data = target.source.encode("utf-8", "surrogatepass")
    first, last = (data.count(b"\n", 0, at) for at in (part.start, max(part.start, part.end - 1)))
    return range(target.first_line + first, target.first_line + last + 1)


def place_extracted(change: ReversedChange) -> Iterator[Iterator[Piece]]:
    """What functions lost that a change extracted, by what tells of it, the surest first.

    Where code stands for former code, what their calls give them, and what else is left out.
    """
    extraction = read_extraction(change.versions)
    sources = find_sources(extraction)
    yield _place_parts(change, compare_extracted(sources))
    yield _place_parts(change, correct_arguments(extraction))
    left = (part for one in sources for part in find_lost_code([one], anywhere=True))
    yield _place_parts(change, left)


def place_lost(change: ReversedChange, *, anywhere: bool = False) -> Iterator[Piece]:
    """What a change lost as it moved or rewrote code, by the targets to have it again.

    What sets a variable comes between its former neighbours, or `anywhere`.
    """
    lost = find_lost_code(change.versions, anywhere=anywhere)
    found = *lost, *find_lost_entries(change.versions)
    return _place_parts(change, found)


def place_missed(change: ReversedChange) -> Iterator[Piece]:
    """What a change replaced in some places, by the targets where it left it."""
    return _place_parts(change, find_missed_places(change.versions))


def _place_parts(change: ReversedChange, found: Iterable[tuple[str, Part]]) -> Iterator[Piece]:
    targets = {path: functions.index_targets(path, text) for path, text in change.texts.items()}
    starts = {path: line_starts(encode_lines(text)) for path, text in change.texts.items()}
    for path, part in found:
        yield from _placed(part, targets[path], starts[path])


def _list_broken(tree: Tree, file: ChangedFile) -> Iterator[Piece]:
    """The lines that a commit changed in a file that does not parse since: there is no tree of it.

    Lines that are gone, or new, are put back together with the one above, or below at the top.
    """
    try:
        text = tree.read(file.path).decode()
        old, new = encode_lines(guard.check_text(file.before)), encode_lines(text)
        guard.parse(file.before.decode())
    except (guard.SourceRejected, KeyError, ValueError):
        return
    for tag, a, b, c, d in align(old, new) if text.encode() == file.after else ():
        alone = tag in {"insert", "delete"}
        up, down = int(alone and c > 0), int(alone and c == 0)
        target = line_targets.make_target(file.path, text, c + 1 - up, d + down)
        if tag != "equal" and target is not None:
            before = b"".join(old[a - up : b + down])
            yield target, Part(0, len(b"".join(new[c - up : d + down])), before, atomic=True)


def _placed(part: Part, targets: Sequence[Target], starts: Sequence[int]) -> Iterator[Piece]:
    """The part, or those in it, each with the outermost target around it; bytes from there on."""
    for target in targets if part.start >= 0 else ():
        start, end = starts[target.first_line - 1], starts[target.last_line]
        removed = not part.before and (start, end) == (part.start, part.end)
        if start <= part.start and part.end <= end and target.kind != "default" and not removed:
            yield target, part.shifted(-start)
            return
    for inner in part.parts:
        yield from _placed(inner, targets, starts)


def _spliced(target: Target, cuts: Iterable[Part]) -> str:
    """The source of a target with the cuts made."""
    data = target.source.encode("utf-8", "surrogatepass")
    made = splice(data, ((cut.start, cut.end, cut.before) for cut in cuts))
    return made.decode("utf-8", "surrogatepass")


def _list_unused(source: str) -> set[str]:
    """The names that a target binds and does not read."""
    names = [node for node in ast.walk(guard.parse_part(source)) if isinstance(node, ast.Name)]
    read = {node.id for node in names if isinstance(node.ctx, ast.Load)}
    return {node.id for node in names} - read


def _lost_imports(before: str, now: str) -> tuple[str, ...]:
    """The imports of a module that it has no more, one name a line, nor defines what they bound."""
    was, tree = guard.parse(before), guard.parse(now)
    defined = {name for node in tree.body for name in list_names(node)}
    lost = set(split_imports(was.body)) - set(split_imports(tree.body))
    return tuple(sorted(line for line in lost if name_bound(line) not in defined))


def _index_imports(path: str, text: str) -> Iterator[Target]:
    """The import statements at the top of a module, one by one, then those that stand together."""
    body = guard.parse(text).body
    runs = [tuple(nodes) for found, nodes in itertools.groupby(body, _is_import) if found]
    for nodes in (*((node,) for run in runs for node in run), *runs):
        last = nodes[-1].end_lineno or nodes[-1].lineno
        if target := line_targets.make_target(path, text, nodes[0].lineno, last):
            yield target


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, _IMPORTS)


def _additions(part: Part, data: bytes) -> Iterator[Part]:
    """What a part brought to the top of a module."""
    # Such a part may begin within a line: `if a:` and `el`, in front of an `if` that was there.
    at_top = (
        data[: part.start][-1:] in {b"", b"\n"} and data[part.start : part.start + 1] not in b" \t"
    )
    if part.atomic and not part.before and at_top:
        yield part
    for inner in () if part.atomic else part.parts:
        yield from _additions(inner, data)


def _defined(text: str) -> set[str]:
    """The names that statements at the top of a module bind; none where one is for others."""
    names: set[str] = set()
    for node in guard.parse(text).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            if not node.name.startswith("_"):
                return set()
            names.add(node.name)
        elif isinstance(node, _IMPORTS):
            names |= {(a.asname or a.name).partition(".")[0] for a in node.names}
        else:
            names |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    return names
