"""What a pull request remembers for the next run: hashes, enums and counts, no free text.

Whoever may edit the body may forge it; a forged one can at worst skip or repeat an attempt, or
have a draft of ours marked ready.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field, ValidationError

from heal_bot.core.model import Memory
from heal_bot.core.statuses import LASTING
from heal_bot.report.proposed_change import Closed, Digest, ProposedChange, Sha

if TYPE_CHECKING:
    from heal_bot.core.outcome import OutcomeRecord

_LINE = re.compile(r"^<!-- heal-bot memory ([A-Za-z0-9+/=]{1,40000}) -->\r?$", re.MULTILINE)
_WITHDRAWN = "<!-- heal-bot withdrawn -->"
_INFLATED = 200_000
_KEPT = 150
_TESTS = 100

_Verdict = Literal["regression", "rejected", "unconfirmed", "unchanged"]


class _Written(Closed):
    base: Sha
    attempts: Annotated[int, Field(ge=0, le=10**6)]
    tried: Annotated[dict[_Verdict, list[Digest]], Field(max_length=4)]
    doubts: Annotated[int, Field(ge=0, le=10**6)] = 0
    change: ProposedChange | None = None


@dataclass(frozen=True, slots=True)
class Notebook:
    """What a body remembers: the commit it was verified on, how many attempts, which changes.

    `doubts` counts those of the certificate, for which the pull request became a draft; `change`
    is the proposal itself, where no older version wrote the body.
    """

    base_sha: str
    attempts: int
    memory: Memory
    doubts: int = 0
    change: ProposedChange | None = None


def dump(record: OutcomeRecord, change: ProposedChange | None = None, kept: int = _KEPT) -> str:
    """The hidden line for a record; empty without a patch. `kept` caps the changes it names."""
    if record.patch is None:
        return ""
    tried: dict[_Verdict, list[str]] = {}
    lasting = [t for t in record.memory.tried if t.verdict in LASTING and len(t.digest) == 64]
    for item in lasting[len(lasting) - kept :] if kept else []:
        tried.setdefault(item.verdict, []).append(item.digest)  # type: ignore[arg-type]
    written = _Written(
        base=record.patch.base_sha[:40],
        attempts=len(record.attempts),
        tried=tried,
        doubts=len(record.certificate.doubts) if record.certificate else 0,
        change=change and _shortened(change),
    )
    packed = zlib.compress(written.model_dump_json(exclude_defaults=True).encode(), 9)
    return f"<!-- heal-bot memory {base64.b64encode(packed).decode()} -->"


def read(body: str) -> Notebook | None:
    """The notebook in a body; None without one, and for whatever was not written like this."""
    found = _LINE.search(body)
    if found is None:
        return None
    try:
        engine = zlib.decompressobj()
        text = engine.decompress(base64.b64decode(found[1], validate=True), _INFLATED)
        if not engine.eof:
            return None
        written = _Written.model_validate_json(text)
    except (binascii.Error, zlib.error, ValidationError):
        return None
    tried = tuple((d, verdict) for verdict, listed in written.tried.items() for d in listed)
    memory = Memory(tried[:_KEPT])
    return Notebook(written.base, written.attempts, memory, written.doubts, written.change)


def _shortened(change: ProposedChange) -> ProposedChange:
    """The change with as many tests as a body has room for."""
    return change.model_copy(update={
        "reported": change.reported[:_TESTS], "fixed": change.fixed[:_TESTS],
    })  # fmt: skip


def withdraw(body: str) -> str:
    """A body that says that we closed the pull request ourselves."""
    return body if is_withdrawn(body) else f"{body}\n\n{_WITHDRAWN}"


def is_withdrawn(body: str) -> bool:
    """Whether a body says so."""
    return body.rstrip().endswith(_WITHDRAWN)
