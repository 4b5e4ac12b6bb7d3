"""A model's reply turned into new lines of a file that does not parse or import."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile

from heal_bot.core.model import Edit, Target
from heal_bot.core.text import Secret
from heal_bot.repair.llm.answer_parser import Reading, ReplyError, replace_targets, restore_lines
from heal_bot.repair.llm.answer_parser import parse_answer as functions_of
from heal_bot.repair.llm.code_block_parser import find_prose
from heal_bot.source import edit, functions, guard, line_targets

_FENCE = re.compile(r"^[ \t]{0,3}(?:`{3,}|~{3,})")


def parse_file_answer(
    reply: str,
    targets: Sequence[Target],
    texts: Mapping[str, str],
    secrets: Sequence[Secret] = (),
) -> Reading:
    """The lines that change in the last block of a reply that is headed as one of the targets.

    Where the targets are no lines it is read as functions. Raises ReplyError with a reason for the
    model.
    """
    if any(target.kind != line_targets.KIND for target in targets):
        return functions_of(reply, targets, texts, secrets)
    made, rest = replace_targets(reply, targets, secrets)
    rows = rest.splitlines()
    heads = {f"# {one.path}::{one.qualname}": one for one in targets}
    found = [(at, heads[row.strip()]) for at, row in enumerate(rows) if row.strip() in heads]
    changes = [one for at, target in found if (one := _change(rows, at, target, texts, secrets))]
    changes += [one for t, (new, _) in made.items() if (one := _narrowed(texts[t.path], t, new))]
    if not found and not made:
        raise ReplyError(f"no block begins with {' or '.join(heads)}")
    if not changes:
        raise ReplyError("the proposed lines are the same as the current ones")
    if len({change.target.path for change in changes}) > 1:
        raise ReplyError("lines of several files change; change one file")
    return Reading((changes[-1],), " ".join(find_prose(rest).split()), salvaged=False)


def _change(
    rows: Sequence[str],
    head: int,
    target: Target,
    texts: Mapping[str, str],
    secrets: Sequence[Secret],
) -> Edit | None:
    """The lines below a heading, up to the first fence with which the file parses."""
    text = texts[target.path]
    made = []
    for end in _ends(rows, head + 1):
        new = "".join(f"{row}\n" for row in rows[head + 1 : end])
        if not new.strip():
            raise ReplyError(f"the block of {target.qualname} holds no lines")
        made.append(_narrowed(text, target, restore_lines(new, target, secrets)))
        if made[-1] is None or _parses(text, made[-1]):
            return made[-1]
    return made[0]


def _ends(rows: Sequence[str], first: int) -> Iterator[int]:
    ends = [at for at in range(first, len(rows)) if _FENCE.match(rows[at])]
    yield from ends or [len(rows)]


def _narrowed(text: str, target: Target, new: str) -> Edit | None:
    """The edit of the lines that differ, and of one beside them where those are none."""
    old = [row.rstrip("\r\n") for row in functions.split_lines(target.source)]
    rows = [row.rstrip("\r\n") for row in functions.split_lines(new)]
    if old == rows:
        return None
    head = _alike(old, rows)
    tail = _alike(old[head:][::-1], rows[head:][::-1])
    while head + tail and not all("".join(x[head : len(x) - tail]).strip() for x in (old, rows)):
        head, tail = (head - 1, tail) if head else (head, tail - 1)
    # What is put in ends with code: blank lines at its end are not kept.
    while tail and not rows[len(rows) - tail - 1].strip():
        tail -= 1
    first = target.first_line + head
    span = line_targets.make_target(target.path, text, first, target.last_line - tail)
    return Edit(span, "\n".join(rows[head : len(rows) - tail]) + "\n") if span else None


def _alike(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines they begin with alike."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(old, new, strict=False)))


def _parses(text: str, change: Edit) -> bool:
    try:
        guard.parse(edit.splice(text, [change]))
    except (guard.SourceRejected, edit.EditError):
        return False
    return True
