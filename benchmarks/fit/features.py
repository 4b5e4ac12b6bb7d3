"""What is measured of a patch that passes, in numbers: from these its probability is computed."""

from __future__ import annotations

import io
import keyword
import math
import tokenize
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import lru_cache

from heal_bot.core.model import CallResult, Candidate, Cluster, Edit, Failure, Spectrum
from heal_bot.ports import Tree
from heal_bot.repair.ranking import behavioral_diff
from heal_bot.repair.ranking.patch_pool import Pool
from heal_bot.repair.templates.failure_hints import gather, literals

_LAYOUT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip
# Values that stand in most code say nothing about a test that expects them.
_COMMON = (0, 1, -1, True, False, None, "")
_MOST_TOKENS = 4_000


@dataclass(frozen=True, slots=True)
class Scene:
    """Where patches were found: the failures they fix, the suspects, what the tests execute."""

    cluster: Cluster
    failures: tuple[Failure, ...]
    tree: Tree
    spectrum: Spectrum | None = None


@dataclass(frozen=True, slots=True)
class TokenEdit:
    """What an edit takes out of a function and puts into it, token by token."""

    removed: tuple[str, ...]
    added: tuple[str, ...]
    places: int
    statements: int


def measure_group(pool: Pool, members: Sequence[int], scene: Scene) -> dict[str, float]:
    """The features of patches that behave alike; the first member stands for all of them."""
    first = members[0]
    candidate = pool.fixes[first].candidate
    return {
        "tests": math.log1p(len(scene.failures)),
        "crash": float(bool(pool.crashes)),
        "members": math.log1p(len(members)),
        "prior": candidate.prior,
        **_measure_calls(pool, members),
        **measure_edit(candidate, scene),
        **_measure_place(candidate, scene),
    }


def compute_rivalry(priors: Sequence[float], at: int) -> dict[str, float]:
    """How a group stands among all of its pool, each given by the prior of its first member."""
    least = min(priors)
    weights = [math.exp(least - prior) for prior in priors]
    return {
        "rivals": math.log1p(len(priors) - 1),
        "share": weights[at] / sum(weights),
        "behind": priors[at] - least,
    }


def _measure_calls(pool: Pool, members: Sequence[int]) -> dict[str, float]:
    """What a group does on the tests' calls and on varied ones, beside unchanged code."""
    first = members[0]
    row, unchanged, calls = pool.rows[first], pool.unchanged, pool.calls
    if not row or not pool.called:
        return dict.fromkeys(_CALL_FEATURES, 0.0) | {"uncallable": 1.0}
    recorded = calls.recorded
    other = set(pool.find_changed(first))
    worked = [n for n in calls.worked if n < recorded]
    spoiled = sum(n in other for n in worked)
    varied = list(zip(unchanged[recorded:], row[recorded:], strict=False))
    shown = (
        pool.findings.vacuous.issuperset(members),
        not pool.findings.inert.isdisjoint(members),
        not pool.findings.indifferent.isdisjoint(members),
        behavioral_diff.is_contradicted(pool.examples, 1 + first),
        behavioral_diff.is_flat(unchanged, row),
        behavioral_diff.is_strange(unchanged, row, recorded),
        behavioral_diff.is_sparing(unchanged, row, recorded),
    )
    names = ("vacuous", "inert", "indifferent", "contradicted", "flat", "strange", "sparing")
    return {
        "uncallable": 0.0,
        "inputs": math.log1p(pool.count_inputs(first) or 0),
        "calls": math.log1p(recorded),
        "worked": math.log1p(len(worked)),
        "spoiled": spoiled / len(worked) if worked else 0.0,
        "any_spoiled": float(spoiled > 0),
        "varied": math.log1p(len(varied)),
        "varied_other": _share(varied),
        "crashing": behavioral_diff.crashing_share(row, pool.faults),
        "held": float(any(result.how == "held" for result in pool.examples[1 + first])),
        **{name: float(holds) for name, holds in zip(names, shown, strict=True)},
    }


_CALL_FEATURES = (
    "uncallable", "inputs", "calls", "worked", "spoiled", "any_spoiled", "varied", "varied_other",
    "crashing", "held", "vacuous", "inert", "indifferent", "contradicted", "flat", "strange",
    "sparing",
)  # fmt: skip


def _share(pairs: Sequence[tuple[CallResult, CallResult]]) -> float:
    """Of the calls that returned before, the share that does something else."""
    had = [(one, other) for one, other in pairs if one.how == "returned" and other.how != "skipped"]
    return sum(behavioral_diff.differs(*pair) for pair in had) / len(had) if had else 0.0


def measure_edit(candidate: Candidate, scene: Scene) -> dict[str, float]:
    """What a patch changes in the text: how much, of which kind, and whether it is known here."""
    edits = [diff_tokens(edit.target.source, edit.new_source) for edit in candidate.edits]
    removed = [token for edit in edits for token in edit.removed]
    added = [token for edit in edits for token in edit.added]
    kinds = {_kind(token) for token in (*removed, *added)}
    texts = [edit.target.source for edit in candidate.edits]
    known = {token for text in texts for token in split_tokens(text)}
    names = {token for token in added if _kind(token) == "name"}
    return {
        "removed": math.log1p(len(removed)),
        "added": math.log1p(len(added)),
        "growth": float(len(added) - len(removed)),
        "places": float(sum(edit.places for edit in edits)),
        "statements": float(sum(edit.statements for edit in edits)),
        "functions": float(len(edits)),
        "only_operators": float(kinds == {"operator"}),
        "only_constants": float(kinds == {"constant"}),
        "only_names": float(kinds == {"name"}),
        "only_added": float(not removed),
        "only_removed": float(not added),
        "new_names": float(len(names - known)),
        "fitted": float(_is_fitted(texts, added, scene.failures)),
        "copied": float(_is_copied(candidate.edits, scene.tree)),
        "lost_names": float(len(_lost(candidate.edits))),
    }


def _measure_place(candidate: Candidate, scene: Scene) -> dict[str, float]:
    """How suspicious what a patch changes is, and how well tests that pass know it."""
    target = candidate.edits[0].target
    suspects = scene.cluster.suspects
    rank = next((n for n, s in enumerate(suspects) if s.target == target), len(suspects))
    best = suspects[0].score if suspects else 0.0
    score = suspects[rank].score if rank < len(suspects) else 0.0
    covering = count_covering(candidate.edits, scene)
    red = {failure.test for failure in scene.cluster.failures}
    return {
        "rank": math.log1p(rank),
        "score": score / best if best > 0 else 0.0,
        "passing": math.log1p(len(covering - red)),
        "length": math.log1p(target.source.count("\n") + 1),
    }


def count_covering(edits: Sequence[Edit], scene: Scene) -> set[str]:
    """The tests that execute a line of what the edits change."""
    if scene.spectrum is None:
        return set()
    spans = [(e.target.path, e.target.first_line, e.target.last_line) for e in edits]
    mask = sum(
        1 << bit
        for bit, (path, line) in enumerate(scene.spectrum.locations)
        if any(path == one and first <= line <= last for one, first, last in spans)
    )
    return {test for test, hits in scene.spectrum.hits.items() if hits & mask}


def diff_tokens(before: str, after: str) -> TokenEdit:
    """What one text has and the other has not, in tokens; layout and comments do not count."""
    old, new = split_tokens(before), split_tokens(after)
    if max(len(old), len(new)) > _MOST_TOKENS:
        return TokenEdit((), (), 1, 0)
    removed: list[str] = []
    added: list[str] = []
    places = 0
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag != "equal":
            removed += old[a:b]
            added += new[c:d]
            places += 1
    grown = _count_statements(after) - _count_statements(before)
    return TokenEdit(tuple(removed), tuple(added), places, grown)


@lru_cache(maxsize=256)
def split_tokens(text: str) -> tuple[str, ...]:
    """The tokens of a text without layout; its words where it cannot be read as Python."""
    try:
        tokens = tokenize.generate_tokens(io.StringIO(text.lstrip()).readline)
        return tuple(t.string for t in tokens if t.type not in _LAYOUT)
    except (tokenize.TokenError, IndentationError, SyntaxError):
        return tuple(text.split())


def _count_statements(text: str) -> int:
    lines = (line.strip() for line in text.split("\n"))
    return sum(bool(line) and not line.startswith("#") for line in lines)


def _kind(token: str) -> str:
    if token.isidentifier():
        value = token in {"True", "False", "None"}
        operator = keyword.iskeyword(token) and not value
        return "constant" if value else "operator" if operator else "name"
    return "constant" if token[:1].isdigit() or token[-1:] in {'"', "'"} else "operator"


def _is_fitted(texts: Sequence[str], added: Sequence[str], failures: Sequence[Failure]) -> bool:
    """Whether a value is written in that the tests show and the code did not have."""
    shown = [value for value in gather(failures).constants if value not in _COMMON]
    had = [value for text in texts for value in literals(text)]
    new = [value for value in literals(" ".join(added)) if value not in had]
    return any(type(value) is type(one) and value == one for value in new for one in shown)


def _is_copied(edits: Sequence[Edit], tree: Tree) -> bool:
    """Whether what is put in, two tokens or more with what stands around it, stands elsewhere."""
    for edit in edits:
        old, new = split_tokens(edit.target.source), split_tokens(edit.new_source)
        blocks = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        added = [(c, d) for tag, _, _, c, d in blocks if tag in {"insert", "replace"}]
        if not added or max(len(old), len(new)) > _MOST_TOKENS:
            return False
        text = f" {' '.join(split_tokens(_read(tree, edit.target.path)))} "
        for c, d in added:
            pieces = (new[max(0, c - 1) : d + 1], new[c:d])
            if not any(len(p) > 2 and f" {' '.join(p)} " in text for p in pieces):
                return False
    return True


def _read(tree: Tree, path: str) -> str:
    try:
        return tree.read(path).decode(errors="replace")
    except KeyError:
        return ""


def _lost(edits: Sequence[Edit]) -> set[str]:
    """The names that a function used and does not use any more."""
    found: set[str] = set()
    for edit in edits:
        old, new = set(split_tokens(edit.target.source)), set(split_tokens(edit.new_source))
        found |= {token for token in old - new if _kind(token) == "name"}
    return found


def with_rivals(rows: Sequence[Mapping[str, float]]) -> list[dict[str, float]]:
    """The features of all groups of a pool, with how each stands among them."""
    priors = [row["prior"] for row in rows]
    return [{**row, **compute_rivalry(priors, at)} for at, row in enumerate(rows)]
