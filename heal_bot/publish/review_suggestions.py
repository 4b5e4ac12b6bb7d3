"""A review on a pull request: suggestions on the lines its diff shows, the rest per file."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator

from heal_bot.core.events import Run
from heal_bot.core.outcome import OutcomeRecord
from heal_bot.core.text import fence
from heal_bot.ports.code_host import Forge, Remark
from heal_bot.publish.delivery_options import Published
from heal_bot.publish.recompute import RecomputedChange
from heal_bot.report import status_comment
from heal_bot.source import edit


def suggest(
    run: Run, record: OutcomeRecord, change: RecomputedChange, number: int, forge: Forge
) -> Published:
    """One review with a suggestion per changed block; blocks outside the diff go per file."""
    shown = forge.talk.shown_lines(run, number)
    remarks: list[Remark] = []
    for file, before in zip(change.files, change.before, strict=True):
        after = file.data.decode("utf-8", "surrogateescape")
        blocks = list(_blocks(before, after))
        visible = shown.get(file.path, frozenset())
        if all(set(range(first, last + 1)) <= visible for first, last, _ in blocks):
            remarks += [
                Remark(file.path, _suggestion(text), first, last) for first, last, text in blocks
            ]
        else:
            diff = fence(edit.diff(file.path, before, after), "diff")
            remarks.append(Remark(file.path, f"The verified change of this file:\n\n{diff}"))
    mark = f"<!-- heal-bot patch {change.shown.digest} -->"
    text = status_comment.render_review(mark, record, change.shown)
    url = forge.talk.review(run, number, change.base.sha, mark, text, remarks)
    return Published("suggested", "suggested in a review", url, number)


def _blocks(before: str, after: str) -> Iterator[tuple[int, int, str]]:
    """(first line, last line, new text) per changed block; an insertion takes its neighbour in."""
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    for kind, i1, i2, j1, j2 in matcher.get_opcodes():
        if kind == "equal":
            continue
        if i1 == i2 and i1:
            yield i1, i1, "".join([old[i1 - 1], *new[j1:j2]])
        elif i1 == i2:
            yield 1, 1, "".join([*new[j1:j2], old[0] if old else ""])
        else:
            yield i1 + 1, i2, "".join(new[j1:j2])


def _suggestion(text: str) -> str:
    ticks = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", text)), default=0))
    return (
        f"{ticks}suggestion\n{text.removesuffix(chr(10))}\n{ticks}"
        if text
        else (f"{ticks}suggestion\n{ticks}")
    )
