"""The attempts of a run as a small Mermaid diagram, which GitHub draws in a step summary."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from heal_bot.core.text import count, one_line
from heal_bot.report.status_sentences import rate_verdict

if TYPE_CHECKING:
    from heal_bot.core.outcome import AttemptRecord, OutcomeRecord

_CAUSES = 8
_ATTEMPTS = 8
# What has no meaning in a quoted label; Mermaid's own escapes are left out with the rest.
_FOREIGN = re.compile(r"[^\w .,+-]")
_STYLES = (
    "classDef good fill:#dafbe1,stroke:#1a7f37,color:#1f2328",
    "classDef mixed fill:#fff8c5,stroke:#9a6700,color:#1f2328",
    "classDef bad fill:#ffebe9,stroke:#cf222e,color:#1f2328",
    "classDef cause fill:#f6f8fa,stroke:#59636e,color:#1f2328",
)


def draw_attempts(record: OutcomeRecord) -> str:
    """Causes and what was tried on each, coloured by verdict; empty where nothing was tried."""
    if not record.attempts:
        return ""
    lines = ["flowchart LR"]
    for number, cluster in enumerate(record.clusters[:_CAUSES], 1):
        mine = [a for a in record.attempts if a.cluster in {cluster.id, f"{cluster.id}+"}]
        tests = count(len(cluster.tests), "test")
        lines.append(f'  c{number}["cause {number}, {tests}"]:::cause')
        lines += [f"  c{number} --> {_node(a, len(cluster.tests))}" for a in mine[:_ATTEMPTS]]
        if len(mine) > _ATTEMPTS:
            lines.append(f'  c{number} --> m{number}["{len(mine) - _ATTEMPTS} more"]:::cause')
    if len(record.clusters) > _CAUSES:
        lines.append(f'  more["{count(len(record.clusters) - _CAUSES, "more cause")}"]:::cause')
    drawn = "\n".join((*lines, *(f"  {style}" for style in _STYLES)))
    return f"```mermaid\n{drawn}\n```"


def _node(attempt: AttemptRecord, tests: int) -> str:
    """One attempt: its number, who made it, its verdict and how many tests it fixes."""
    who = escape_label(f"{attempt.proposer} {attempt.family}")
    # Mermaid takes a number with a dot for a list.
    said = f"attempt {attempt.number}, {who}: {attempt.word}, {len(attempt.fixed)} of {tests}"
    return f'a{attempt.number}["{said}"]:::{rate_verdict(attempt)}'


def escape_label(text: str, limit: int = 40) -> str:
    """Foreign text as a part of a quoted Mermaid label: letters, digits and plain marks alone."""
    return " ".join(_FOREIGN.sub(" ", one_line(text, 4 * limit)).split())[:limit]
