"""The text of a pull request: rendered from the record, within GitHub's limit, by priority."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from heal_bot.core.text import one_line
from heal_bot.report import outcome_summary, pull_request_memory, sections
from heal_bot.report.causes import list_causes
from heal_bot.report.proposed_change import Shown, render_claimed

if TYPE_CHECKING:
    from heal_bot.core.outcome import OutcomeRecord

LIMIT = 65_536
_TITLE = 200
# What can be asked in a comment on a pull request.
ASK = ("/heal retry <hint>", "/heal explain", "/heal stop")
# A title is also a commit's subject, where GitHub reads mentions and `fixes #1`.
_PLAIN = str.maketrans({"@": "＠", "#": "＃"})


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


def pull_request(
    record: OutcomeRecord, shown: Shown | None = None, title: str = ""
) -> tuple[str, str]:
    """Title and body, with the hidden mark where there is a patch to mark.

    The body remembers the title, our own or what is given, so that a person's edit of it is told.
    """
    shown = shown or render_claimed(record)
    parts = _parts(record, shown)
    if record.patch is not None:
        memory = partial(pull_request_memory.dump, record, shown.change)
        mark, summary = render_mark(record, shown.digest), parts["summary"][0]()
        parts |= {
            "summary": (lambda: f"{mark}\n{summary}",),
            "memory": (memory, partial(memory, 0)),
        }
    title = title or render_title(record, shown)
    body = _fitted(parts, _ORDER, LIMIT - _ROOM)
    return title, f"{body}\n\n{_render_title_mark(title)}"


def is_own_title(body: str, title: str) -> bool:
    """Whether a title is as we wrote it; one that nothing is known of counts as a person's."""
    return _render_title_mark(title) in body


def tell_no_draft(body: str) -> str:
    """The body of what would be a draft, where there are none: behind the hidden first line."""
    first, _, rest = body.partition("\n")
    return f"{first}\n{_NO_DRAFT}\n\n{rest}"


def _render_title_mark(title: str) -> str:
    digest = hashlib.sha256(title.encode("utf-8", "replace")).hexdigest()[:8]
    return f"<!-- heal-bot title {digest} -->"


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
    """Which commit the patch takes back, all its code or a part; '' for none or several causes."""
    found, causes = record.regression, list_causes(record)
    if len(causes) > 1:
        return ""
    undoes = record.certificate.undoes if record.certificate else ""
    if undoes:
        known = found.title if found is not None and found.bad_sha == undoes else ""
        commit = f'"{known}" ({undoes[:7]})' if known else undoes[:7]
        return f"Take back the code of {commit}"
    if found is None or not any(cause.attempt.family == "reversal" for cause in causes):
        return ""
    return f'Take back a part of "{found.title}" ({found.bad_sha[:7]})'


Levels = tuple[Callable[[], str], ...]
_ORDER = ("attempts", "suspects", "attempts", "evidence", "tests", "tests",
          "suggestion", "suggestion", "change", "choices", "commit", "choices",
          "certificate", "reproduce", "memory", "attempts", "suspects", "evidence")  # fmt: skip
# For the hidden last line, and for the one that stands for a draft.
_ROOM = 200
_NO_DRAFT = "**Not ready to merge.** This would be a draft, which this repository's plan lacks."


def render_body(record: OutcomeRecord, shown: Shown) -> str:
    """The summary, then all the rest in folds; never more than GitHub takes.

    What matters least is shortened first: diffs of attempts, suspects, the attempt table, what is
    not proved, messages of tests.
    """
    return _fitted(_parts(record, shown), _ORDER)


def _parts(record: OutcomeRecord, shown: Shown) -> dict[str, Levels]:
    """Each part as it reads in full, then shorter and shorter."""
    log, tests = partial(sections.list_attempts, record), partial(sections.list_tests, record)
    suspects = partial(sections.list_suspects, record)
    doubts = list(outcome_summary.list_doubts(record, shown))[1:]
    evidence = partial(sections.list_evidence, record, doubts)

    def summary() -> str:
        return outcome_summary.summarize(record, shown)

    def gone() -> str:
        return ""

    parts: dict[str, Levels] = {
        "summary": (summary,),
        "tests": (tests, partial(tests, message=0), partial(tests, rows=8, message=0)),
        "evidence": (evidence, partial(evidence, rows=3), gone),
        "attempts": (log, partial(log, diffs=0), partial(log, rows=5, diffs=0), gone),
        "suspects": (suspects, partial(suspects, rows=4), gone),
        "certificate": (partial(sections.show_certificate, record), gone),
    }
    cost = {"cost": (partial(sections.show_cost, record),)}
    if record.patch is None:
        both = partial(sections.show_choices, record)
        commit = {"commit": (partial(sections.show_commit, record), gone)}
        return parts | {"choices": (both, partial(both, 2_000), gone)} | commit | cost
    whole = partial(sections.show_change, shown.diff if shown.by_hand else "")
    beside = partial(sections.show_suggestion, record)
    return parts | {
        "suggestion": (beside, partial(beside, 2_000), gone),
        "change": (whole, partial(sections.show_change, "")),
        "reproduce": (partial(_reproduce, record, shown), gone),
        **cost,
    }


def _reproduce(record: OutcomeRecord, shown: Shown) -> str:
    """How to repeat it on the branch, where there is one."""
    return "" if shown.by_hand else sections.show_reproduction(record, shown.branch)


def _fitted(parts: dict[str, Levels], order: Iterable[str], limit: int = LIMIT - 40) -> str:
    """All parts in order, shortened one step at a time until they fit."""
    level = dict.fromkeys(parts, 0)
    texts = {name: choices[0]() for name, choices in parts.items()}
    steps = iter(order)
    while len(body := "\n\n".join(text for text in texts.values() if text)) > limit:
        if (name := next(steps)) in parts:
            level[name] = min(level[name] + 1, len(parts[name]) - 1)
            texts[name] = parts[name][level[name]]()
    return body
