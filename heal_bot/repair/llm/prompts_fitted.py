"""Prompts: reviewed templates, untrusted text in tagged blocks, fitted to the window.

A conversation grows at its end alone, so that a provider can reuse its cache: what never changes
first, attempts of others, the task, then each answer with what came of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar, cast

import jinja2

from heal_bot.core.errors import LLMError
from heal_bot.core.model import Attempt, Cause, Cluster
from heal_bot.core.text import Secret, clip, hide_values, one_line, printable
from heal_bot.ports.language_model import Message
from heal_bot.repair.llm.code_block_parser import THOUGHT
from heal_bot.repair.llm.code_looks import SeenCode, cut_text
from heal_bot.repair.llm.context_selection import select_facts
from heal_bot.repair.llm.prompt_context import ContextFacts

VERSION = "10"
_RULES = "rules"
# What kept an attempt from being measured.
_WHY = {
    Cause.CHANGE: "",
    Cause.IDS: "since tests cannot be told apart",
    Cause.ENVIRONMENT: "for the sake of the environment",
    Cause.BUDGET: "since no time was left",
    Cause.FLAKY: "since a test failed that executes nothing of it",
}
_ANSWER = 24_000
_FOLDER = Path(__file__).parent / "prompts"
_TAG = re.compile(r"</?untrusted-[^>\s]{0,64}>?", re.IGNORECASE)
# Characters of the context, roomiest first.
_LEVELS = (40_000, 28_000, 20_000, 14_000, 9_000, 5_000)
# Whoever judges a patch needs less around it than whoever looks for one.
_JUDGED = 2

Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Prompt:
    """What is sent, and an upper estimate of its tokens."""

    system: str
    messages: tuple[Message, ...]
    tokens: int


@dataclass(frozen=True, slots=True)
class Turn:
    """An answer and what came of it; and what is left of both where there is no room."""

    answer: str
    result: str
    line: str

    @property
    def messages(self) -> list[Message]:
        """The turn as it is sent."""
        said = [Message("assistant", self.answer)] if self.answer else []
        return [*said, Message("user", self.result)]


@dataclass(frozen=True, slots=True)
class Prompter:
    """Renders the prompts of one cluster; the nonce tags what is not ours."""

    cluster: Cluster
    facts: ContextFacts
    nonce: str
    secrets: tuple[Secret, ...] = ()
    _kept: dict[tuple[str, int], tuple[Attempt | None, str]] = field(default_factory=dict)

    def prompt(
        self,
        attempts: Sequence[Attempt],
        turns: Sequence[Turn],
        limit: int,
        *,
        lab: bool = True,
        way: str = "",
    ) -> Prompt:
        """The prompt for the next answer within `limit` tokens, after earlier attempts and turns.

        `way` is what to do in this answer alone. Raises LLMError `context_overflow` when nothing
        fits.
        """
        system = self._render("system", kind="propose", lab=lab)
        return self._fitted(system, attempts, self._render("ask"), limit, turns, way)

    def review(self, diff: str, reason: str, limit: int) -> Prompt:
        """The prompt for a second opinion on a patch, for which its author gives a reason."""
        system = self._render("system", kind="review")
        task = self._render("review", diff=diff, reason=reason)
        return self._fitted(system, (), task, limit, start=_JUDGED)

    def claim(self, claim: str, code: str, limit: int) -> Prompt:
        """The prompt for a second answer on what a check asserts."""
        system = self._render("system", kind="claim")
        task = self._render("claim", claim=claim, code=code)
        return self._fitted(system, (), task, limit, start=_JUDGED)

    def judged(self, attempt: Attempt, how: str) -> tuple[str, str]:
        """What came of an attempt, and what to do next."""
        said = self._render("attempt", attempt=attempt, why=_WHY[attempt.verdict.cause], own=True)
        return said, self._render("next", attempt=attempt, how=how)

    def looked(self, title: str, seen: Sequence[SeenCode], left: int | None) -> str:
        """What looks showed."""
        opened = [target for one in seen for target in one.targets]
        opened = [target for target in opened if target not in self.facts.targets]
        return self._render("looked", title=title, seen=seen, opened=opened, left=left)

    def line(self, attempt: Attempt) -> str:
        """An attempt in a line."""
        return self._attempt("attempt_line", attempt)

    def answered(self, text: str) -> str:
        """An answer as it is sent back: without thoughts, secrets and our tags."""
        bare = _TAG.sub("", hide_values(THOUGHT.sub("", text), self.secrets))
        return cut_text(bare.replace(self.nonce, ""), _ANSWER).strip() or "(nothing)"

    def _fitted(
        self,
        system: str,
        attempts: Sequence[Attempt],
        task: str,
        limit: int,
        turns: Sequence[Turn] = (),
        way: str = "",
        start: int = 0,
    ) -> Prompt:
        """Context, attempts, task and turns; the oldest shrink first, before anything else.

        What is left out is named.
        """
        # Where rules fix some tests and break others is no sign that the fault is there.
        attempts = [attempt for attempt in attempts if attempt.candidate.proposer != _RULES]
        many = len(attempts) + len(turns)
        last = len(_LEVELS) - 1
        for level in range(start, len(_LEVELS)):
            # Beyond the roomiest level all but the newest are lines already, which is one at last.
            most = many if level == last or not many else many - 1
            for shrunk in range(max(0, many - 1) if level else 0, most + 1):
                said = [Message("user", self._context(level))]
                for number, attempt in enumerate(attempts):
                    name = "attempt_line" if number < shrunk else "attempt"
                    said.append(Message("user", self._attempt(name, attempt)))
                said.append(Message("user", task))
                for number, turn in enumerate(turns, len(attempts)):
                    said += [Message("user", turn.line)] if number < shrunk else turn.messages
                said[0] = replace(said[0], cached=True)
                said[-1] = replace(said[-1], cached=True)
                said += [Message("user", way)] if way else []
                tokens = estimate(system, *(message.text for message in said))
                if tokens <= limit:
                    return Prompt(system, tuple(said), tokens)
        raise LLMError(
            "context_overflow",
            f"the smallest prompt has about {tokens} tokens, {limit} are allowed; "
            "use a model with a larger window",
        )

    def _attempt(self, name: str, attempt: Attempt) -> str:
        """An attempt as it was rendered before, unless its verdict has changed since."""
        known, text = self._kept.get((name, attempt.number), (None, ""))
        if known is not attempt:
            why = _WHY[attempt.verdict.cause]
            text = self._render(name, attempt=attempt, why=why, own=False)
            self._kept[name, attempt.number] = (attempt, text)
        return text

    def _context(self, level: int) -> str:
        """The facts of the cluster, which are the same in all of its prompts."""
        if ("context", level) not in self._kept:
            self._kept["context", level] = (None, self._context_at(level))
        return self._kept["context", level][1]

    def _context_at(self, level: int) -> str:
        # Before anything is cut: of what lies across a cut a part would stay.
        facts = _hidden(self.facts, self.secrets) if self.secrets else self.facts
        return self._render("context", shown=select_facts(facts, _LEVELS[level]))

    def _render(self, name: str, **values: object) -> str:
        return _template(name).render(untrusted=self._tagger(), nonce=self.nonce, **values)

    def _tagger(self) -> Callable[..., str]:
        def untrusted(caller: Callable[[], Any]) -> str:
            """The block a template calls this with, cleaned, between the tags."""
            text = printable(hide_values(str(caller()), self.secrets))
            text = _TAG.sub("", text.replace(self.nonce, "")).strip("\n")
            return f"<untrusted-{self.nonce}>\n{text}\n</untrusted-{self.nonce}>\n"

        return untrusted


def _hidden(value: Value, secrets: Sequence[Secret]) -> Value:
    """A value with all its texts, those of its parts too, without secrets."""
    made: object = value
    if isinstance(value, str):
        made = hide_values(value, secrets)
    elif isinstance(value, tuple):
        made = tuple(_hidden(one, secrets) for one in value)
    elif is_dataclass(value) and not isinstance(value, type):
        parts = {part.name: getattr(value, part.name) for part in fields(value)}
        made = replace(value, **{name: _hidden(part, secrets) for name, part in parts.items()})
    return cast(Value, made)


def estimate(*texts: str) -> int:
    """An upper estimate of tokens: a token per three bytes."""
    return sum(len(text.encode("utf-8", "replace")) for text in texts) // 3 + 50


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
