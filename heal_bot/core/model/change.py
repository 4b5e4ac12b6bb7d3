"""What may be changed and how: targets, edits, candidates, patches."""

from __future__ import annotations

from dataclasses import dataclass

from heal_bot.core.statuses import ConfidenceLevel


@dataclass(frozen=True, slots=True)
class Target:
    """An addressable piece of source: the only things a patch may change.

    kind: function | class_attribute | assignment | default | lines (where a file does not parse or
    import; `qualname` is then `line 3` or `lines 3-5`). `nth` counts equal qualnames of one
    kind in a file from 0 (property setters, overloads, conditional definitions). Lines count
    from 1 and include decorators; `source` is the exact text of these lines.
    """

    path: str
    qualname: str
    nth: int
    kind: str
    first_line: int
    last_line: int
    source: str

    @property
    def is_value(self) -> bool:
        """Whether it is a value of a module or a class, which no test is seen to execute."""
        return self.kind in {"assignment", "class_attribute"}


@dataclass(frozen=True, slots=True)
class Edit:
    """Replaces `target.source` by `new_source` (same first indentation) and adds `imports`."""

    target: Target
    new_source: str
    imports: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cost:
    """What something cost; `usd` is None where the price is unknown."""

    usd: float | None = 0.0
    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Confidence:
    """How likely a patch that passes is to be right, and how often patches rated so were."""

    level: ConfidenceLevel
    p: float
    ground: str

    @property
    def rank(self) -> tuple[int, float]:
        """What orders ratings, the least sure first."""
        return [*reversed(ConfidenceLevel)].index(self.level), self.p


@dataclass(frozen=True, slots=True)
class Candidate:
    """A proposed change. `family` names the rule family, `rationale` says why, and after
    an empty line what was looked at before.

    `prior` is how unlikely it is before any test (the larger, the less likely; logarithmic),
    `rivals` how many candidates of its tournament are still to come. `lacks` is what the evidence
    lacked where it was found among many before, None where it was not, and `confidence` how it was
    rated there. `undoes` is the commit that it takes back whole, '' where it puts back a part of
    one, None where nobody looked.
    """

    edits: tuple[Edit, ...]
    proposer: str
    family: str
    rationale: str = ""
    cost: Cost = Cost()
    prior: float = 0.0
    rivals: int = 0
    lacks: tuple[str, ...] | None = None
    undoes: str | None = None
    confidence: Confidence | None = None


@dataclass(frozen=True, slots=True)
class PatchedFile:
    """A file after the patch; `base_blob` is the git blob id it replaces."""

    path: str
    base_blob: str
    content: str


@dataclass(frozen=True, slots=True)
class Removal:
    """A commit that took a name or a file away: the file before it, and where it was moved."""

    sha: str
    title: str
    path: str
    before: bytes
    moved: str = ""


@dataclass(frozen=True, slots=True)
class Patch:
    """The verified change: what the pull request commits. `reason` is what its proposers say."""

    base_sha: str
    files: tuple[PatchedFile, ...]
    diff: str
    edits: tuple[Edit, ...]
    fixed: tuple[str, ...]
    still_failing: tuple[str, ...]
    reason: str = ""
