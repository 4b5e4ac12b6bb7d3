"""Prompts: reviewed templates, untrusted text in tagged blocks, fitted to the window.

Blocks come in an order that lets a provider reuse its cache: what never changes first, attempts
as they are made, the task last.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import jinja2

from heal_bot.errors import LLMError
from heal_bot.model import Attempt, Cause, Cluster
from heal_bot.model_port import Message
from heal_bot.repair.llm.context import RULES, Facts
from heal_bot.repair.llm.lessons import lessons
from heal_bot.repair.llm.likeness import open_again
from heal_bot.repair.llm.selection import select
from heal_bot.text import Secret, clip, hide_values, one_line, printable

VERSION = "6"
# What kept an attempt from being measured.
_WHY = {
    Cause.CHANGE: "",
    Cause.IDS: "since tests cannot be told apart",
    Cause.ENVIRONMENT: "for the sake of the environment",
    Cause.BUDGET: "since no time was left",
    Cause.FLAKY: "since a test failed that executes nothing of it",
}
_FOLDER = Path(__file__).parent / "prompts"
_TAG = re.compile(r"</?untrusted-[^>\s]{0,64}>?", re.IGNORECASE)
# Characters of the context, roomiest first.
_LEVELS = (40_000, 28_000, 20_000, 14_000, 9_000, 5_000)


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent, and an upper estimate of its tokens."""

    system: str
    messages: tuple[Message, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Prompter:
    """Renders the prompts of one cluster; the nonce tags what is not ours."""

    cluster: Cluster
    facts: Facts
    nonce: str
    secrets: tuple[Secret, ...] = ()
    _kept: dict[tuple[str, int], tuple[Attempt | None, str]] = field(default_factory=dict)

    def prompt(
        self,
        attempts: Sequence[Attempt],
        strategy: str,
        limit: int,
        lines: int = 0,
        findings: Sequence[str] = (),
    ) -> Prompt:
        """The prompt for a proposal within `limit` tokens.

        The `lines` oldest attempts are shown as a line each. Raises LLMError `context_overflow`
        when nothing fits.
        """
        ask = self._render(
            "ask",
            lessons=lessons(self.cluster, attempts),
            strategy=strategy,
            findings=findings,
            again=open_again(attempts),
        )
        return self._fitted(attempts, ask, limit, lines)

    def diagnosis(self, attempts: Sequence[Attempt], limit: int) -> Prompt:
        """The prompt for a diagnosis, which begins like the one for a proposal."""
        found = lessons(self.cluster, attempts)
        ask = self._render("diagnose", lessons=found, again=open_again(attempts))
        return self._fitted(attempts, ask, limit, 0)

    def review(self, diff: str, limit: int) -> Prompt:
        """The prompt for a second opinion on a patch."""
        return self._fitted((), self._render("review", diff=diff), limit, 0)

    def claim(self, claim: str, code: str, limit: int) -> Prompt:
        """The prompt for a second answer on what a check asserts."""
        return self._fitted((), self._render("claim", claim=claim, code=code), limit, 0)

    def _fitted(self, attempts: Sequence[Attempt], ask: str, limit: int, lines: int) -> Prompt:
        """Context, attempts and task; attempts shrink, the oldest first, before anything else.

        What is left out is named.
        """
        # What the rules came upon is told in a paragraph of the context.
        attempts = [attempt for attempt in attempts if attempt.candidate.proposer != RULES]
        system = self._render("system")
        full = [self._attempt("attempt", attempt) for attempt in attempts]
        short = [self._attempt("attempt_line", attempt) for attempt in attempts]
        for level in range(len(_LEVELS)):
            context = self._context(level)
            # Beyond the roomiest level all attempts but the newest are lines already.
            first = lines if level == 0 else max(lines, len(attempts) - 1)
            for shrunk in range(first, len(attempts) + 1):
                blocks = [context, *short[:shrunk], *full[shrunk:], ask]
                tokens = estimate(system, *blocks)
                if tokens <= limit:
                    return Prompt(system, _messages(blocks), tokens)
        least = estimate(system, self._context(len(_LEVELS) - 1), *short, ask)
        raise LLMError(
            "context_overflow",
            f"the smallest prompt has about {least} tokens, {limit} are allowed; "
            "use a model with a larger window",
        )

    def _attempt(self, name: str, attempt: Attempt) -> str:
        """An attempt as it was rendered before, unless its verdict has changed since."""
        known, text = self._kept.get((name, attempt.number), (None, ""))
        if known is not attempt:
            why = _WHY[attempt.verdict.cause]
            text = self._render(name, attempt=attempt, summary=summary(attempt), why=why)
            self._kept[name, attempt.number] = (attempt, text)
        return text

    def _context(self, level: int) -> str:
        """The facts of the cluster, which are the same in all of its prompts."""
        if ("context", level) not in self._kept:
            self._kept["context", level] = (None, self._context_at(level))
        return self._kept["context", level][1]

    def _context_at(self, level: int) -> str:
        facts = self.facts
        return self._render(
            "context",
            shown=select(facts, _LEVELS[level]),
            tried=facts.tried,
            remembered=facts.remembered,
            instruction=facts.instruction,
            python=facts.python,
        )

    def _render(self, name: str, **values: object) -> str:
        return _template(name).render(untrusted=self._tagger(), nonce=self.nonce, **values)

    def _tagger(self) -> Callable[..., str]:
        def untrusted(caller: Callable[[], Any]) -> str:
            """The block a template calls this with, cleaned, between the tags."""
            text = printable(hide_values(str(caller()), self.secrets))
            text = _TAG.sub("", text.replace(self.nonce, "")).strip("\n")
            return f"<untrusted-{self.nonce}>\n{text}\n</untrusted-{self.nonce}>\n"

        return untrusted


def summary(attempt: Attempt) -> str:
    """An attempt in one line: what it changed, what came of it."""
    verdict = attempt.verdict
    changed = ", ".join(edit.target.qualname for edit in attempt.candidate.edits) or "nothing"
    said = [f"{attempt.candidate.family} change of {changed}"]
    if verdict.fixed:
        said.append(f"fixed {len(verdict.fixed)}")
    for word, failures in (
        ("still failing", verdict.still_failing),
        ("newly failing", verdict.newly_failing),
    ):
        if failures:
            text = one_line(f"{failures[0].kind}: {failures[0].message}", 120)
            said.append(f"{word} {len(failures)}, first with {text}")
    if verdict.detail:
        said.append(one_line(verdict.detail, 160))
    return "; ".join(said)


def estimate(*texts: str) -> int:
    """An upper estimate of tokens: a token per three bytes."""
    return sum(len(text.encode("utf-8", "replace")) for text in texts) // 3 + 50


def _messages(blocks: Sequence[str]) -> tuple[Message, ...]:
    """One user turn of blocks, with cache marks behind the context and the newest attempt."""
    marked = {0, len(blocks) - 2}
    return tuple(Message("user", text, number in marked) for number, text in enumerate(blocks))


@lru_cache(maxsize=8)
def _template(name: str) -> jinja2.Template:
    # Prompts are plain text: HTML escapes would falsify the code in them.
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER),
        undefined=jinja2.StrictUndefined,
        autoescape=False,  # noqa: S701
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["clip"] = clip
    environment.filters["line"] = one_line
    environment.filters["last_ones"] = lambda items, most: items[-most:]
    return environment.get_template(f"{name}.j2")
