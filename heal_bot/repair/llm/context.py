"""What a model should know of a cluster: failing tests, suspects, their surroundings."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from heal_bot.errors import HealBotError
from heal_bot.model import Candidate, ChangedFile, Cluster, Failure, Origin, Search, Target
from heal_bot.ports import Brief, Tree
from heal_bot.repair.llm import uncollected
from heal_bot.repair.llm.lessons import worded
from heal_bot.repair.llm.values import REACHED, watching
from heal_bot.source import edit, functions, guard, paths

_FILES = 2_000
_BYTES = 16 << 20
_CALLS = 6
_Definition = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Failing:
    """Failing cases of one test function, its source and the fixtures it names."""

    failures: tuple[Failure, ...]
    hidden: int
    source: str
    fixtures: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """A suspect as it is shown; `outline` are the signatures of its class."""

    target: Target
    evidence: tuple[str, ...]
    outline: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Facts:
    """All that does not change while a cluster is worked on.

    `texts` are the suspects' files, `base` the diff of what is confirmed already, `broken` what is
    known of source that does not parse or import, `history` the commit that broke the tests.
    """

    failing: tuple[Failing, ...]
    suspects: tuple[Shown, ...]
    texts: dict[str, str]
    files: tuple[tuple[str, str], ...]
    neighbours: tuple[str, ...]
    tried: tuple[str, ...]
    remembered: tuple[str, ...]
    instruction: str
    base: str = ""
    values: str = ""
    broken: tuple[str, ...] = ()
    history: str = ""

    @property
    def targets(self) -> tuple[Target, ...]:
        """What may be changed, the most likely first."""
        return tuple(shown.target for shown in self.suspects)


def gather(brief: Brief) -> Facts:
    """The facts of a cluster as they stand before the first call."""
    source = uncollected.broken(brief)
    lines = tuple(uncollected.targets(brief, source)) if source else ()
    texts = _texts(brief, lines or tuple(s.target for s in brief.cluster.suspects))
    suspects = tuple(Shown(one, (), ()) for one in lines) or tuple(_suspects(brief, texts))
    chosen = [shown.target for shown in suspects[:3]]
    return Facts(
        failing=_failing(brief.cluster, brief.tree),
        suspects=suspects,
        texts=texts,
        files=tuple((path, head) for path, text in texts.items() if (head := _imports(text))),
        neighbours=(*_callees(chosen, brief.tree, texts), *_callers(chosen, brief.tree)),
        tried=_tried(brief.searches, len(brief.cluster.failures)),
        remembered=tuple(filter(None, map(worded, brief.lessons))),
        instruction=brief.instruction,
        base=_made(brief),
        values=_values(brief),
        broken=tuple(uncollected.told(brief, source)) if source else (),
        history=_history(brief),
    )


def _history(brief: Brief) -> str:
    """The commit that broke the tests, and what it changed in the suspects' files."""
    files = {suspect.target.path for suspect in brief.cluster.suspects}
    tests = {failure.test for failure in brief.cluster.failures}
    told = []
    for one in brief.regressions:
        if tests & set(one.tests):
            told += [one.said, *(_diff(file) for file in one.files if file.path in files)]
    return "\n".join(told)


def _diff(file: ChangedFile) -> str:
    try:
        return edit.diff(file.path, guard.check(file.before), guard.check(file.after))
    except guard.SourceRejected as error:
        return f"{file.path}: {error}"


def _values(brief: Brief) -> str:
    """The local variables where the first failure was raised, from one run of its test."""
    failure = brief.cluster.failures[0] if brief.cluster.failures else None
    frames = [f for f in failure.frames if f.origin is not Origin.LIBRARY] if failure else []
    if failure is None or failure.broken or not frames or brief.lab is None:
        return ""
    where = frames[-1]
    try:
        seen = brief.lab.snippet(watching(where.path, where.line, failure.test), brief.base)
    except HealBotError:
        # The prompt is good without them, and what broke here breaks the attempts as well.
        return ""
    whole = (seen.how, seen.code) == ("exited", 0) and REACHED in seen.output
    return f"{where.path}:{where.line} in {where.function}\n{seen.output.strip()}" if whole else ""


def _made(brief: Brief) -> str:
    """The diff of the confirmed edits that every proposal stands on."""
    if not brief.base:
        return ""
    made = edit.patched(brief.tree, Candidate(brief.base, "heal-bot", "base"))
    return edit.diff_all(brief.tree, made)


def _text(tree: Tree, path: str) -> str:
    """A file within the caps; empty for one that cannot be read."""
    try:
        return guard.check(tree.read(path))
    except (KeyError, guard.SourceRejected):
        return ""


def _index(tree: Tree, path: str) -> tuple[Target, ...]:
    try:
        return functions.index(path, _text(tree, path))
    except guard.SourceRejected:
        return ()


def _texts(brief: Brief, targets: Sequence[Target]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for path in dict.fromkeys(target.path for target in targets):
        try:
            texts[path] = edit.text_of(brief.tree, path)
        except HealBotError:
            continue
    return texts


def _suspects(brief: Brief, texts: dict[str, str]) -> Iterator[Shown]:
    """Each suspect once; a default argument as the function that has it."""
    seen: set[Target] = set()
    for suspect in brief.cluster.suspects:
        target = suspect.target
        if target.path not in texts:
            continue
        targets = _index(brief.tree, target.path)
        if target.kind == "default":
            owner = functions.find(targets, target.qualname.rpartition(".")[0])
            target = owner or target
        if target not in seen and target.kind != "default":
            seen.add(target)
            yield Shown(target, suspect.evidence, tuple(_outline(target, targets)))


def _outline(target: Target, targets: Sequence[Target]) -> Iterator[str]:
    """Signatures of the other methods of a method's class."""
    owner = target.qualname.rpartition(".")[0]
    if target.kind != "function" or not owner or owner.endswith("<locals>"):
        return
    for other in targets:
        if other != target and other.qualname.rpartition(".")[0] == owner:
            if other.kind == "function":
                yield f"    {signature(other)}"
            elif other.kind == "class_attribute":
                yield f"    {other.source.strip()[:120]}"


def signature(target: Target) -> str:
    """The header of a function on one line, with the first line of its docstring."""
    try:
        margin = target.source[: len(target.source) - len(target.source.lstrip(" \t"))]
        lines = (line.removeprefix(margin) for line in functions.lines(target.source))
        node = guard.parse("".join(lines)).body[0]
    except (guard.SourceRejected, IndexError):
        return target.qualname
    if not isinstance(node, _Definition):
        return target.qualname
    word = "async def" if isinstance(node, ast.AsyncFunctionDef) else "def"
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    said = (ast.get_docstring(node) or "").strip().partition("\n")[0][:120]
    header = f"{word} {target.qualname}({ast.unparse(node.args)}){returns}"
    return header[:300] + (f"  # {said}" if said else "")


def _failing(cluster: Cluster, tree: Tree) -> tuple[Failing, ...]:
    groups: defaultdict[str, list[Failure]] = defaultdict(list)
    for failure in cluster.failures:
        groups[failure.test.partition("[")[0]].append(failure)
    found = []
    for name, failures in groups.items():
        path, *parts = name.split("::")
        targets = _index(tree, path)
        test = functions.find(targets, ".".join(parts))
        fixtures = tuple(_fixtures(test, path, tree)) if test else ()
        source = test.source if test else ""
        found.append(Failing(tuple(failures[:3]), max(0, len(failures) - 3), source, fixtures))
    return tuple(found)


def _fixtures(test: Target, path: str, tree: Tree) -> Iterator[str]:
    """Sources of the fixtures a test takes, from its file and the conftests above it."""
    match = re.search(r"def\s+\w+\s*\(([^)]*)\)", test.source)
    wanted = re.findall(r"\w+", match[1]) if match else []
    folders = path.split("/")[:-1]
    above = range(len(folders), -1, -1)
    places = [path, *("/".join([*folders[:depth], "conftest.py"]) for depth in above)]
    for name in wanted[:6]:
        for place in places:
            found = functions.find(_index(tree, place), name)
            if found is not None and "fixture" in found.source.partition("def ")[0]:
                yield found.source
                break


def _imports(text: str) -> str:
    """The import statements at the top level of a file."""
    try:
        tree = guard.parse(text)
    except guard.SourceRejected:
        return "\n".join(re.findall(r"^(?:import|from)[ ].*", text, re.MULTILINE))
    kept = [ast.unparse(n) for n in tree.body if isinstance(n, ast.Import | ast.ImportFrom)]
    return "\n".join(kept)


def _callees(chosen: Sequence[Target], tree: Tree, texts: dict[str, str]) -> Iterator[str]:
    """Signatures of the project's functions that the suspects call, by name."""
    for target in chosen:
        called = set(re.findall(r"\b([A-Za-z_]\w*)\s*\(", target.source))
        homes = [target.path, *_imported(texts.get(target.path, ""), tree)]
        told = 0
        for path in dict.fromkeys(homes):
            for other in _index(tree, path):
                known = other.kind == "function" and other.qualname != target.qualname
                if known and other.qualname.rpartition(".")[2] in called and told < _CALLS:
                    told += 1
                    yield f"{target.qualname} calls {path}: {signature(other)}"


def _imported(text: str, tree: Tree) -> Iterator[str]:
    """Files of the tree that a module imports from."""
    names = re.findall(r"^\s*(?:from|import)\s+\.*([\w.]+)", text, re.MULTILINE)
    endings = tuple(f"{name.replace('.', '/')}.py" for name in names[:40])
    if endings:
        yield from [p for p in tree.paths() if f"/{p}".endswith(tuple(f"/{e}" for e in endings))]


def _callers(chosen: Sequence[Target], tree: Tree) -> Iterator[str]:
    """Lines outside the tests that call the suspects, with the function they are in."""
    sources = [p for p in tree.paths() if p.endswith(".py") and not paths.is_test(p)]
    told = dict.fromkeys(chosen, 0)
    read = 0
    for path in sources[:_FILES]:
        if read > _BYTES:
            return
        text = _text(tree, path)
        read += len(text)
        for target, count in told.items():
            name = target.qualname.rpartition(".")[2]
            if count >= _CALLS or name.startswith("__") or name not in text:
                continue
            call = re.compile(rf"(?<!def )\b{re.escape(name)}\s*\(")
            for number, line in enumerate(functions.lines(text), 1):
                if told[target] < _CALLS and call.search(line):
                    around = functions.at(_index(tree, path), number)
                    if around is not None and around.qualname != target.qualname:
                        told[target] += 1
                        where = f"{path}:{number} in {around.qualname}"
                        yield f"{where} calls {target.qualname}: {line.strip()[:200]}"


def _tried(searches: Sequence[Search], failing: int) -> tuple[str, ...]:
    """What the rules tried, by target; not where an edit passes, so that the model is not led."""
    counts: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
    for search in searches:
        if search.proposer == "rules" and search.best_fixed < failing:
            row = counts[f"{search.target.path}::{search.target.qualname}"]
            row[0] += search.tried
            row[1] = max(row[1], search.best_fixed)
    return tuple(
        f"{name}: {tried} small edits fail; the best one fixes {best} of {failing} tests"
        for name, (tried, best) in counts.items()
    )
