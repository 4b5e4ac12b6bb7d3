"""The former code where a condition holds, and what a commit wrote where it does not.

That is for a commit of which a part cannot go back, because a test that it brought needs it.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections import deque
from collections.abc import Iterator, Sequence
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
from heal_bot.source import functions, guard, patch_policy
from heal_bot.source.reversal import Piece, ReversedChange, read_part

PROPOSER = "history"
_OTHER = "its condition asks for nothing that the commit brought"
# How many of the changes that pass are compared.
_COMPARED = 8
# So many conditions are tried on one part, and so many parts.
_CONDITIONS = 48
_PARTS = 4
_ATTRIBUTE = re.compile(r"\bself\.(\w+)\b(?!\s*\()")
# Where the former code runs, and where the new one does.
_Condition = tuple[str, str]


def find_guarded(
    run: Run,
    cluster: Cluster,
    session: Session,
    ledger: AttemptLog,
    change: ReversedChange,
    parts: Sequence[Piece],
    regression: Regression,
) -> Iterator[Attempt]:
    """The likeliest change of one of the parts with which the tests of both sides pass, if any."""
    passing: list[Attempt] = []
    offered: deque[Candidate] = deque()
    brought: set[Candidate] = set()

    def feed() -> Iterator[Candidate]:
        for candidate, new in _guard_parts(change, parts, regression.bad_sha[:7]):
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
    change: ReversedChange, parts: Sequence[Piece], commit: str
) -> Iterator[tuple[Candidate, bool]]:
    """Candidates that keep a part of a change and its former code, the likeliest condition first.

    What the commit brought comes before what the function had, a comparison with None before truth.
    Beside each stands whether its condition asks for what the commit brought.
    """
    former = {one.target: one.new_source for one in change.list_former()}
    for target, part in parts[:_PARTS]:
        now, before = read_part(target, part), part.before.decode("utf-8", "surrogatepass")
        old = former.get(target, "") or "\n".join(one.before for one in change.versions)
        names = _list_names(target, f"{now}\n{before}", change)
        new = [name for name in names if not re.search(rf"\b{name.removeprefix('self.')}\b", old)]
        ordered = (*new, *(name for name in names if name not in new))
        for number, condition in enumerate(_list_conditions(ordered)[:_CONDITIONS]):
            text = _join(now, before, condition)
            source = _splice(target, part.start, part.end, text) if text else ""
            if source and source != target.source:
                why = f"does what it did before `{commit}` where `{condition[0]}`"
                edit = Edit(target, source)
                family, prior = "guarded reversal", float(number)
                candidate = Candidate((edit,), PROPOSER, family, why, prior=prior)
                yield candidate, number < len(_list_conditions(new))


def _list_names(target: Target, near: str, change: ReversedChange) -> list[str]:
    """Parameters and attributes that a condition can ask for, those in the part itself first."""
    node = functions.parse_function(target.source)
    if node is None:
        return []
    given = [a.arg for a in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
    text = f"{target.source}\n{change.texts.get(target.path, '')}"
    own = [f"self.{name}" for name in _ATTRIBUTE.findall(text)] if "self" in given else []
    nearest = [name for name in given if re.search(rf"\b{name}\b", near)]
    names = dict.fromkeys((*nearest, *given, *own))
    return [name for name in names if name not in {"self", "cls"}]


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
    last = f"{first}else:\n{inner(now)}" if now.strip() else ""
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


def _splice(target: Target, start: int, end: int, text: str) -> str:
    """The source of a target with a part replaced, without brackets that nothing needs; or ''."""
    data = target.source.encode("utf-8", "surrogatepass")
    head, tail = (one.decode("utf-8", "surrogatepass") for one in (data[:start], data[end:]))
    whole, bare = f"{head}{text}{tail}", f"{head}{text[1:-1]}{tail}"
    wanted = _dump(whole)
    return bare if text.startswith("(") and _dump(bare) == wanted else whole if wanted else ""


def _dump(source: str) -> str:
    try:
        return ast.dump(guard.parse_part(source))
    except guard.SourceRejected:
        return ""
