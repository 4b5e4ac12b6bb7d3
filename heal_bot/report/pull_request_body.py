"""The text of a pull request: rendered from the record, within GitHub's limit, by priority."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

from heal_bot.core.model import PatchedFile
from heal_bot.core.text import one_line
from heal_bot.report import pull_request_memory, sections
from heal_bot.report.causes import list_causes
from heal_bot.report.pull_request_memory import Named

if TYPE_CHECKING:
    from heal_bot.core.outcome import OutcomeRecord

LIMIT = 65_536
_TITLE = 200
# A title is also a commit's subject, where GitHub reads mentions and `fixes #1`.
_PLAIN = str.maketrans({"@": "＠", "#": "＃"})


@dataclass(frozen=True, slots=True)
class Shown:
    """What publishing recomputed, to be shown in place of what the record says.

    `functions` are `path::qualname`; `remarks` are our own sentences in Markdown; `claimed` says
    that only an unprivileged run stands behind the record; `waiting` that GitHub starts no checks
    on what this token pushes; `named` are the digests by which the change is known again.
    """

    diff: str
    functions: tuple[str, ...]
    branch: str
    digest: str
    remarks: tuple[str, ...] = ()
    claimed: bool = False
    waiting: bool = False
    named: Named = field(default_factory=Named)


def render_claimed(record: OutcomeRecord) -> Shown:
    """What the record itself says of its patch, for the copy in the bundle."""
    patch = record.patch
    if patch is None:
        return Shown("", (), f"heal-bot/{record.fingerprint}", "")
    files = (PatchedFile(f.path, f.base_blob, f.content) for f in patch.files)
    names = tuple(f"{f.path}::{f.qualname}" for f in patch.functions)
    branch = f"heal-bot/{record.fingerprint}"
    return Shown(patch.diff, names, branch, digest_patch(files))


def digest_patch(files: Iterable[PatchedFile]) -> str:
    """Sixteen hex digits that name a patch, on whatever commit: the old blobs, the new texts."""
    state = hashlib.sha256()
    for file in sorted(files, key=lambda file: file.path):
        content = file.content.encode("utf-8", "surrogatepass")
        state.update(f"\0{file.path}\0{file.base_blob}\0{len(content)}\0".encode() + content)
    return state.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Mark:
    """The hidden first line of a body: which failures, which patch, which end of the run."""

    fingerprint: str
    patch: str
    news: str

    def __str__(self) -> str:
        return f"<!-- heal-bot {self.fingerprint} {self.patch} {self.news} -->"


_MARK = re.compile(r"<!-- heal-bot ([0-9a-f]{12}) ([0-9a-f]{16}) ([0-9a-f]{8}) -->")


def render_mark(record: OutcomeRecord, patch: str) -> Mark:
    """The mark of a record whose patch has the digest `patch`."""
    told = [record.status, *sorted(f"{f.status} {f.test}" for f in record.failures)]
    # Whether there is a doubt, not its words, which may differ from run to run.
    told += ["in doubt"] if record.certificate and record.certificate.doubts else []
    news = hashlib.sha256("\0".join(told).encode("utf-8", "replace")).hexdigest()[:8]
    return Mark(record.fingerprint, patch, news)


def read_mark(body: str) -> Mark | None:
    """The mark of a body, if it begins with one."""
    found = _MARK.match(body)
    return Mark(*found.groups()) if found else None


def pull_request(record: OutcomeRecord, shown: Shown | None = None) -> tuple[str, str]:
    """Title and body; the body never exceeds what GitHub takes.

    What matters least is shortened first: diffs of attempts, suspects, the attempt table, the
    before/after table, messages, and last of all the verified diff.
    """
    shown = shown or render_claimed(record)
    return render_title(record, shown), _fitted(_parts(record, shown), _ORDER)


def render_title(record: OutcomeRecord, shown: Shown) -> str:
    """`Fix total in shop/pricing.py`, or what commit is taken back, as one line."""
    first = shown.functions[0] if shown.functions else "the failing tests"
    path, _, name = first.partition("::")
    if taken := _taken_back(record):
        return one_line(taken, _TITLE).translate(_PLAIN)
    more = f" and {len(shown.functions) - 1} more" if len(shown.functions) > 1 else ""
    text = f"Fix {name} in {path}{more}" if name else f"Fix {first}"
    if record.status == "partly_healed":
        text += " (some tests still fail)"
    return one_line(text, _TITLE).translate(_PLAIN)


def _taken_back(record: OutcomeRecord) -> str:
    """Which commit the patch takes back, whole or in part; '' where it takes back none."""
    found = record.regression
    undoes = record.certificate.undoes if record.certificate else ""
    if undoes:
        known = found.title if found is not None and found.bad_sha == undoes else ""
        return f'Revert "{known}" ({undoes[:7]})' if known else f"Revert {undoes[:7]}"
    if found is None or not any(c.attempt.proposer == "history" for c in list_causes(record)):
        return ""
    return f'Take back a part of "{found.title}" ({found.bad_sha[:7]})'


Levels = tuple[Callable[[], str], ...]
_ORDER = ("attempts", "suspects", "attempts", "before_after", "failing", "causes", "attempts",
          "suggestion", "suggestion",
          "doubts", "suspects", "before_after", "failing", "change", "change", "causes",
          "findings", "verification", "reproduce", "memory")  # fmt: skip
_WAITING = (
    "Checks on this pull request wait until a maintainer approves them, because `GITHUB_TOKEN`"
    " made it."
)


def _parts(record: OutcomeRecord, shown: Shown) -> dict[str, Levels]:
    """Each part as it reads in full, then shorter and shorter."""
    diff, drawn = shown.diff, partial(sections.change, shown.diff)
    log, tests = partial(sections.attempts, record), partial(sections.still_failing, record)

    found = partial(sections.findings, record, claimed=shown.claimed)

    def gone() -> str:
        return ""

    def long_diff() -> str:
        size = f"{len(diff.splitlines())} lines; the files of this pull request show them."
        return f"### The change\n\n{size}"

    return {
        "head": (partial(_head, record, shown),),
        "findings": (found, partial(found, rows=3, limit=200)),
        "causes": (partial(sections.causes, record), gone),
        "change": (drawn, partial(drawn, limit=8_000), long_diff),
        "before_after": (
            partial(sections.before_after, record),
            partial(sections.before_after, record, rows=10),
            gone,
        ),
        "suggestion": (
            partial(sections.suggestion, record),
            partial(sections.suggestion, record, 2_000),
            gone,
        ),
        "failing": (tests, partial(tests, message=0), partial(tests, rows=8, message=0)),
        "doubts": (partial(sections.doubts, record, shown.remarks), gone),
        "suspects": (
            partial(sections.suspects, record),
            partial(sections.suspects, record, rows=4),
            gone,
        ),
        "attempts": (
            log,
            partial(log, diffs=800),
            partial(log, diffs=0),
            partial(log, rows=5, diffs=0),
        ),
        "verification": (partial(sections.verification, record, claimed=shown.claimed), gone),
        "reproduce": (partial(sections.reproduce, record, shown.branch), gone),
        "cost": (partial(sections.cost, record),),
        "memory": (
            partial(pull_request_memory.dump, record, shown.named),
            partial(pull_request_memory.dump, record, shown.named, 0),
        ),
    }


def _head(record: OutcomeRecord, shown: Shown) -> str:
    """The hidden mark, the verdict, and why there are no checks yet."""
    line = sections.verdict(record, len(shown.functions), claimed=shown.claimed)
    waits = f"\n\n{_WAITING}" if shown.waiting else ""
    return f"{render_mark(record, shown.digest)}\n{line}{waits}"


def _fitted(parts: dict[str, Levels], order: Iterable[str], limit: int = LIMIT - 40) -> str:
    """All parts in order, shortened one step at a time until they fit."""
    level = dict.fromkeys(parts, 0)
    texts = {name: choices[0]() for name, choices in parts.items()}
    steps = iter(order)
    while len(body := "\n\n".join(text for text in texts.values() if text)) > limit:
        name = next(steps)
        level[name] = min(level[name] + 1, len(parts[name]) - 1)
        texts[name] = parts[name][level[name]]()
    return body
