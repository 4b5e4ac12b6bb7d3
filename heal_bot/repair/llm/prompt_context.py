"""What a model should know of a cluster: failing tests, suspects, their surroundings."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from heal_bot.core.errors import HealBotError
from heal_bot.core.model import ChangedFile, Cluster, Failure, Origin, Target
from heal_bot.ports import Brief
from heal_bot.repair.llm import collection_context
from heal_bot.repair.llm.attempt_feedback import word_lesson
from heal_bot.repair.llm.failing_test_context import Failing, find_failing, find_passing
from heal_bot.repair.llm.local_variable_trace import SHOWN, WHOLE, make_watcher
from heal_bot.repair.llm.shown_docstring import shorten_docstring
from heal_bot.repair.llm.suspect_context import (
    Related,
    find_callers,
    find_owner,
    find_related,
    outline_class,
)
from heal_bot.source import edit, functions, guard, minimum_python
from heal_bot.source.references import References

# Of so many suspects is told what they use, which may be changed too, and who calls them; those
# behind can be minor.
FOLLOWED = 3
# Characters of an `if` or `try` around imports that is shown.
_CHOSEN = 800
_OVERLOAD = re.compile(r"(?:\s*@.*\n)*?\s*@(?:\w+\.)?overload\s*\n")


@dataclass(frozen=True, slots=True)
class ShownTarget:
    """A suspect as it is shown; `outline` is of its class, with the first suspect of that.

    A `minor` one is a constant or `__init__` of which only its rank speaks, or an overload.
    """

    target: Target
    evidence: tuple[str, ...]
    outline: tuple[str, ...]
    minor: bool = False

    @property
    def source(self) -> str:
        """Its source, without the middle of a very long docstring."""
        return shorten_docstring(self.target.source)


@dataclass(frozen=True, slots=True)
class ContextFacts:
    """All that does not change while a cluster is worked on.

    `texts` are the suspects' files, `files` what those import, `neighbours` the lines that call
    suspects, `related` what these use. `base` is the diff of what is confirmed already, `broken`
    what is known of source that does not parse or import, `history` the commit that broke the
    tests, `python` the version they run on, `passing` tests of the likeliest suspect that pass.
    Where a part is selected, `others` are failures without their tests, and `missing` says in
    words what is not shown.
    """

    failing: tuple[Failing, ...]
    suspects: tuple[ShownTarget, ...]
    texts: dict[str, str]
    files: tuple[tuple[str, str], ...]
    neighbours: tuple[str, ...]
    remembered: tuple[str, ...]
    instruction: str
    base: str = ""
    values: str = ""
    broken: tuple[str, ...] = ()
    history: str = ""
    related: tuple[Related, ...] = ()
    python: str = ""
    passing: tuple[Target, ...] = ()
    others: tuple[Failure, ...] = ()
    missing: tuple[str, ...] = ()

    @property
    def targets(self) -> tuple[Target, ...]:
        """What may be changed, the most likely first."""
        return tuple(shown.target for shown in self.suspects)


def gather_facts(brief: Brief) -> ContextFacts:
    """The facts of a cluster as they stand before the first call."""
    source = collection_context.find_broken(brief)
    lines = tuple(collection_context.find_targets(brief, source)) if source else ()
    texts = _texts(brief, lines or tuple(s.target for s in brief.cluster.suspects))
    references = References.of(brief.tree)
    suspects = tuple(ShownTarget(one, (), ()) for one in lines)
    suspects = suspects or tuple(_suspects(brief, texts, references))
    chosen = [shown.target for shown in suspects[:FOLLOWED]]
    values, whole = _values(brief)
    tests = find_failing(_with_message(brief.cluster, whole), references)
    names = [failure.test for failure in brief.cluster.failures]
    ran = brief.spectrum.list_lines(*names) if brief.spectrum else {}
    return ContextFacts(
        failing=tests,
        suspects=suspects,
        texts=texts,
        files=list_imports(texts),
        neighbours=tuple(find_callers(chosen, references)),
        remembered=tuple(filter(None, map(word_lesson, brief.lessons))),
        instruction=brief.instruction,
        base=_made(brief),
        values=values,
        broken=tuple(collection_context.describe_error(brief, source)) if source else (),
        history=_history(brief),
        related=find_related(chosen, references, ran),
        python=_python(brief),
        passing=find_passing(brief, chosen[0], references) if chosen else (),
    )


def _python(brief: Brief) -> str:
    """The Python that runs the tests, and the lowest that the project admits."""
    lowest = minimum_python.find_lowest(brief.tree)
    admits = f" (the project admits 3.{lowest})" if lowest and brief.python else ""
    return f"{brief.python}{admits}"


def _with_message(cluster: Cluster, whole: str) -> Cluster:
    """The cluster with the whole message of its first failure, where that is known."""
    if not whole:
        return cluster
    first, *others = cluster.failures
    return replace(cluster, failures=(replace(first, message=whole), *others))


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
        return edit.diff(file.path, guard.check_text(file.before), guard.check_text(file.after))
    except guard.SourceRejected as error:
        return f"{file.path}: {error}"


def _values(brief: Brief) -> tuple[str, str]:
    """Parameters of the first failing test, variables where it failed, and its whole message.

    Both come from one more run of its test.
    """
    failure = brief.cluster.failures[0] if brief.cluster.failures else None
    frames = [f for f in failure.frames if f.origin is not Origin.LIBRARY] if failure else []
    if failure is None or failure.broken or not frames or brief.lab is None:
        return "", ""
    where = frames[-1]
    try:
        seen = brief.lab.snippet(make_watcher(where.path, where.line, failure.test), brief.base)
    except HealBotError:
        # The prompt is good without them, and what broke here breaks the attempts as well.
        return "", ""
    if (seen.how, seen.code) != ("exited", 0):
        return "", ""
    values, _, whole = seen.output.partition(WHOLE)
    # What the test itself wrote stands before that.
    _, shown, rows = values.partition(SHOWN)
    told = f"{where.path}:{where.line} in {where.function}\n{rows.strip()}"
    return told if shown else "", whole.strip()


def _made(brief: Brief) -> str:
    """The diff of the confirmed edits that every proposal stands on."""
    if not brief.base:
        return ""
    return edit.diff_all(brief.tree, edit.patch_files(brief.tree, brief.base))


def _texts(brief: Brief, targets: Sequence[Target]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for path in dict.fromkeys(target.path for target in targets):
        try:
            texts[path] = edit.text_of(brief.tree, path)
        except HealBotError:
            continue
    return texts


def _suspects(brief: Brief, texts: dict[str, str], references: References) -> Iterator[ShownTarget]:
    """Each suspect once; a default argument as the function that has it."""
    seen: set[Target] = set()
    outlined: set[Target | None] = set()
    for suspect in brief.cluster.suspects:
        target = suspect.target
        if target.path not in texts:
            continue
        if target.kind == "default":
            name = target.qualname.rpartition(".")[0]
            target = functions.find_target(references.targets(target.path), name) or target
        if target in seen or target.kind == "default":
            continue
        late = len(seen) >= FOLLOWED
        minor = (late and _is_minor(target, brief)) or bool(_OVERLOAD.match(target.source))
        seen.add(target)
        home = find_owner(target, references) if target.kind == "function" and not minor else None
        told = (
            outline_class(home, references, target.qualname)
            if home and home not in outlined
            else ()
        )
        outlined.add(home)
        yield ShownTarget(target, suspect.evidence, tuple(told), minor)


def _is_minor(target: Target, brief: Brief) -> bool:
    """Whether it is a constant or an `__init__`, not on a traceback and not changed."""
    if target.kind == "function" and not target.qualname.endswith(".__init__"):
        return False
    frames = {(f.path, f.line) for failure in brief.cluster.failures for f in failure.frames}
    changed = brief.tree.changed_lines().get(target.path, frozenset())
    lines = range(target.first_line, target.last_line + 1)
    return not any((target.path, line) in frames or line in changed for line in lines)


def list_imports(texts: Mapping[str, str]) -> tuple[tuple[str, str], ...]:
    """What files import, by their paths; without those that import nothing."""
    return tuple((path, head) for path, text in texts.items() if (head := _imports(text)))


def _imports(text: str) -> str:
    """The import statements at the top level of a file, one per module."""
    try:
        tree = guard.parse(text)
    except guard.SourceRejected:
        return "\n".join(re.findall(r"^(?:import|from)[ ].*", text, re.MULTILINE))
    kept: defaultdict[str, list[str]] = defaultdict(list)
    chosen = []
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            head, _, names = ast.unparse(node).rpartition("import ")
            kept[f"{head}import "].append(names)
        elif isinstance(node, ast.If | ast.Try) and "__main__" not in (said := ast.unparse(node)):
            # Names that depend on the version, or on what is installed.
            inner = any(isinstance(one, ast.Import | ast.ImportFrom) for one in ast.walk(node))
            chosen += [said] if inner and len(said) <= _CHOSEN else []
    return "\n".join((*(f"{head}{', '.join(names)}" for head, names in kept.items()), *chosen))
