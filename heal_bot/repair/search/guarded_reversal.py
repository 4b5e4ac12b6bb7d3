"""The former code where a condition holds, and what a commit wrote where it does not.

That is for a commit of which a part cannot go back, because a test that it brought needs it.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from heal_bot.core.events import Run
from heal_bot.core.model import (
    Attempt,
    Candidate,
    Cluster,
    Edit,
    Regression,
    Target,
    doubt_reversal,
)
from heal_bot.core.statuses import VerdictStatus
from heal_bot.ports import Session
from heal_bot.repair.ranking.offer import rank_fixes
from heal_bot.repair.search.attempt_log import AttemptLog
from heal_bot.repair.search.reversal_completion import Pieces
from heal_bot.source import functions, guard, patch_policy
from heal_bot.source.reversal import ReversedChange, read_part
from heal_bot.source.tree_diff import Part

PROPOSER = "history"
_OTHER = "its condition asks for nothing that the commit brought"
# How many of the changes that pass are compared.
_COMPARED = 8
# So many conditions are tried on a set of parts, and so many sets.
_CONDITIONS = 48
_SETS = 4
_FAMILY = "guarded reversal"
_ATTRIBUTE = re.compile(r"\bself\.(\w+)\b(?!\s*\()")
# Where the former code runs, and where the new one does.
_Condition = tuple[str, str]


def find_guarded(
    run: Run,
    cluster: Cluster,
    session: Session,
    ledger: AttemptLog,
    change: ReversedChange,
    sets: Sequence[Pieces],
    regression: Regression,
) -> Iterator[Attempt]:
    """The likeliest change with which the tests of both sides pass, if any.

    `sets` are the parts that make the failing tests pass, and that break tests of the commit.
    """
    passing: list[Attempt] = []
    offered: deque[Candidate] = deque()
    brought: set[Candidate] = set()

    def feed() -> Iterator[Candidate]:
        for candidate, new in _guard_parts(change, sets, regression.bad_sha[:7]):
            brought.update([candidate] if new else [])
            if run.over() or len(passing) >= _COMPARED:
                return
            if not patch_policy.check_candidate(candidate, ledger.tree):
                offered.append(candidate)
                yield candidate

    for verdict in session.judge(feed()):
        candidate = offered.popleft()
        ledger.count(candidate, verdict)
        if verdict.status == VerdictStatus.FIXED:
            passing.append(ledger.record(run, cluster, candidate, verdict, 0.0))
    for found in islice(rank_fixes(cluster, session, ledger, passing), 1):
        other = () if found.candidate in brought else (_OTHER,)
        what = f"keeps a part of `{regression.bad_sha[:7]}` ({regression.title}) under a condition"
        doubts = (*found.doubts, doubt_reversal(what))
        told = replace(found, lacks=(*(found.lacks or ()), *other), doubts=doubts)
        ledger.weigh([told])
        yield told


def _guard_parts(
    change: ReversedChange, sets: Sequence[Pieces], commit: str
) -> Iterator[tuple[Candidate, bool]]:
    """Candidates that keep parts of a change and their former code, the likeliest condition first.

    What the commit brought comes before what the functions had, a comparison with None before
    truth. Beside each stands whether its condition asks for what the commit brought.
    """
    former = {one.target: one.new_source for one in change.list_former()}
    text = "\n".join(one.before for one in change.versions)
    for pieces in sets[:_SETS]:
        by_target: dict[Target, list[Part]] = {}
        for target, part in pieces:
            by_target.setdefault(target, []).extend(part.cuts())
        old = "\n".join(former.get(target, text) for target in by_target)
        names = _list_names(by_target, change)
        new = [name for name in names if not re.search(rf"\b{name.removeprefix('self.')}\b", old)]
        ordered = (*new, *(name for name in names if name not in new))
        for number, condition in enumerate(_list_conditions(ordered)[:_CONDITIONS]):
            sources = {t: _guard(t, parts, condition) for t, parts in by_target.items()}
            if all(source and source != target.source for target, source in sources.items()):
                edits = tuple(
                    Edit(target, source, change.find_imports(target, sources))
                    for target, source in sources.items()
                )
                why = f"does what it did before `{commit}` where `{condition[0]}`"
                candidate = Candidate(edits, PROPOSER, _FAMILY, why, prior=float(number))
                yield candidate, number < len(_list_conditions(new))


def _list_names(parts: Mapping[Target, Sequence[Part]], change: ReversedChange) -> list[str]:
    """What a condition can ask for in each function, what the parts themselves name first."""
    found: list[list[str]] = []
    for target, own in parts.items():
        node = functions.parse_function(target.source)
        if node is None:
            return []
        given = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        text = f"{target.source}\n{change.texts.get(target.path, '')}"
        fields = [f"self.{name}" for name in _ATTRIBUTE.findall(text)] if "self" in given else []
        near = "\n".join(
            f"{read_part(target, p)}\n{p.before.decode(errors='replace')}" for p in own
        )
        nearest = [name for name in given if re.search(rf"\b{name}\b", near)]
        found.append([*nearest, *given, *fields])
    common = set(found[0]).intersection(*found) - {"self", "cls"}
    return [name for name in dict.fromkeys(found[0]) if name in common]


def _list_conditions(names: Sequence[str]) -> list[_Condition]:
    return [
        pair
        for name in names
        for absent, there in ((f"{name} is None", f"{name} is not None"), (f"not {name}", name))
        for pair in ((absent, there), (there, absent))
    ]


def _join(now: str, before: str, condition: _Condition) -> str:
    """Both under a condition, as an expression or as statements; '' where neither fits."""
    where, elsewhere = condition
    if _is_expression(now) and _is_expression(before):
        return f"({before.strip()} if {where} else {now.strip()})"
    if '"""' in now + before or "'''" in now + before:
        return ""
    if not (_are_statements(now) and _are_statements(before)):
        return ""
    margin = re.match(r"[ \t]*", now or before)
    first = margin[0] if margin else ""
    unit = "\t" if first.startswith("\t") else "    "

    def inner(code: str) -> str:
        return textwrap.indent(textwrap.dedent(code), first + unit)

    if not before.strip():
        return f"{first}if {elsewhere}:\n{inner(now)}"
    ends = isinstance(ast.parse(textwrap.dedent(before)).body[-1], ast.Return | ast.Raise)
    last = now if ends or not now.strip() else f"{first}else:\n{inner(now)}"
    return f"{first}if {where}:\n{inner(before)}{last}"


def _is_expression(code: str) -> bool:
    try:
        ast.parse(code.strip(), mode="eval")
    except (SyntaxError, ValueError):
        return False
    return "\n" not in code.strip() and not code.endswith("\n")


def _are_statements(code: str) -> bool:
    """Whether code is whole lines of statements, or nothing."""
    try:
        guard.parse_part(code)
    except guard.SourceRejected:
        return False
    return not code.strip() or code.endswith("\n")


def _guard(target: Target, parts: Sequence[Part], condition: _Condition) -> str:
    """A target with both codes in the places of parts; '' where they fit in no such place."""
    source = target.source
    # A statement in which one expression is another one is a matter of that expression.
    inner = (one.parts[0] if one.atomic and len(one.parts) == 1 else one for one in parts)
    for part in sorted(inner, key=lambda one: -one.start):
        now, before = read_part(target, part), part.before.decode("utf-8", "surrogatepass")
        text = _join(now, before, condition)
        source = _splice(source, part, text) if text and source else ""
    return source


def _splice(source: str, part: Part, text: str) -> str:
    """A source with a part replaced, without brackets that nothing needs; '' for no code."""
    data = source.encode("utf-8", "surrogatepass")
    ends = data[: part.start], data[part.end :]
    head, tail = (one.decode("utf-8", "surrogatepass") for one in ends)
    whole, bare = f"{head}{text}{tail}", f"{head}{text[1:-1]}{tail}"
    wanted = _dump(whole)
    return bare if text.startswith("(") and _dump(bare) == wanted else whole if wanted else ""


def _dump(source: str) -> str:
    try:
        return ast.dump(guard.parse_part(source))
    except guard.SourceRejected:
        return ""
