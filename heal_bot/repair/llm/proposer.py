"""The model tier as a proposer: a call, repairs with memory, a fresh start, the next model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from heal_bot.errors import LLMError
from heal_bot.events import ModelSpoke, Noted, Run
from heal_bot.model import Attempt, Candidate, Cost
from heal_bot.ports import Brief, Model, Recall, Reply
from heal_bot.repair.llm.budget import Budget
from heal_bot.repair.llm.context import gather
from heal_bot.repair.llm.likeness import twin
from heal_bot.repair.llm.prompting import Prompter
from heal_bot.repair.llm.reply import ReplyError, read
from heal_bot.text import Secret, clip, one_line, redact

# How each round opens; sampling parameters are gone, so variety comes from the task.
STRATEGIES = ("minimal", "fresh", "elsewhere")
_PATIENCE = 2
_TRIES = 3
_LAST = frozenset({"auth", "out_of_credit", "gone", "bad_request"})
_AGAIN = frozenset({"transient", "bad_gateway", "overloaded"})
# What another strategy may avoid; any other failure rests the model for the rest of the cluster.
_ITS_OWN = frozenset({"refusal", "truncated"})


@dataclass(slots=True)
class ModelProposer:
    """Proposes what models answer; the first model leads, the others take over when it is stuck.

    `secrets` are hidden in all that is sent. `notes` says what a person should know afterwards:
    a refused key, an unknown price, a spent budget.
    """

    models: Sequence[Model]
    budget: Budget = field(default_factory=Budget)
    secrets: tuple[Secret, ...] = ()
    prompt_tokens: int = 40_000
    answer_tokens: int = 16_000
    notes: list[str] = field(default_factory=list)
    _lost: set[int] = field(default_factory=set)
    _resting: set[int] = field(default_factory=set)
    _set_aside: int = 0

    streams = False

    @property
    def name(self) -> str:
        """The provider of the leading model."""
        return self.models[0].provider

    def spent(self) -> Cost:
        """All calls, failed ones included."""
        return self.budget.spent()

    def propose(self, run: Run, recall: Recall) -> Iterator[Candidate]:
        """One candidate at a time; ends when every model is stuck, lost, or over budget."""
        brief = recall()
        facts = gather(brief)
        if not facts.suspects:
            return
        self._resting, self._set_aside = set(self._lost), 0
        nonce = f"{run.rng.getrandbits(64):016x}"
        prompter = Prompter(brief.cluster, facts, nonce, self.secrets)
        try:
            for strategy in STRATEGIES:
                for place, model in enumerate(self.models):
                    if place not in self._resting and not run.over():
                        self._open(run, model, strategy)
                        yield from self._round(run, recall, prompter, place, strategy)
        except LLMError as error:
            # Only a spent budget ends all rounds.
            self._note(run, str(error))

    def _round(
        self, run: Run, recall: Recall, prompter: Prompter, place: int, strategy: str
    ) -> Iterator[Candidate]:
        """Ask one model until two attempts in a row brought nothing, or it fails."""
        stuck = 0
        if strategy == "fresh":
            # A new start is not to be drawn to old ideas; their outcomes stay in view.
            self._set_aside = len(recall().attempts)
        while stuck < _PATIENCE and not run.over():
            brief = recall()
            best = _best(brief.attempts)
            try:
                reply = self._answer(run, prompter, brief, self.models[place], strategy)
            except LLMError as error:
                if error.kind == "budget":
                    raise
                if error.kind in _LAST:
                    self._lost.add(place)
                if error.kind not in _ITS_OWN:
                    self._resting.add(place)
                self._note(run, str(error))
                return
            candidate = self._candidate(run, recall, prompter, brief, reply, place, strategy)
            if candidate is not None:
                yield candidate
            stuck = 0 if _best(recall().attempts) > best else stuck + 1
            strategy = "repair"

    def _answer(
        self, run: Run, prompter: Prompter, brief: Brief, model: Model, strategy: str
    ) -> Reply:
        """A complete answer within the budget; a smaller prompt or more room where that helps."""
        most = min(self.answer_tokens, model.max_output)
        limit = min(self.prompt_tokens, model.window - most)
        for remaining in reversed(range(_TRIES)):
            prompt = prompter.prompt(brief.attempts, strategy, limit, self._set_aside)
            held = self.budget.reserve(run, model, prompt.tokens, most)
            try:
                reply = model.ask(run, prompt.system, prompt.messages, held.max_tokens)
            except LLMError as error:
                self.budget.settle_failed(run, held, error)
                if not remaining or run.over():
                    raise
                if error.kind in {"context_overflow", "over_tpm"}:
                    limit = min(limit, prompt.tokens) // 2
                elif error.kind == "truncated" and most < model.max_output:
                    most = min(2 * most, model.max_output)
                elif error.kind not in _AGAIN or error.billed == (0, 0):
                    raise
            else:
                self.budget.settle(run, held, reply.cost)
                return reply
        raise AssertionError("unreachable: the last try returns or raises")

    def _candidate(
        self,
        run: Run,
        recall: Recall,
        prompter: Prompter,
        brief: Brief,
        reply: Reply,
        place: int,
        strategy: str,
    ) -> Candidate | None:
        """The candidate of a reply; None when it is unusable or a twin, which is recorded."""
        facts, provider = prompter.facts, self.models[place].provider
        said = clip(redact(reply.text, self.secrets), 1_500)
        try:
            reading = read(reply.text, facts.targets, facts.texts, self.secrets)
        except ReplyError as error:
            self._speak(run, place, "reject", str(error))
            recall.reject(Candidate((), provider, strategy, said, reply.cost), str(error))
            return None
        if reading.salvaged:
            self._speak(run, place, "salvage", "the code was found outside a proper fence")
        reason = one_line(redact(reading.rationale, self.secrets), 300)
        candidate = Candidate(reading.edits, provider, strategy, reason, reply.cost)
        if (earlier := twin(reading.edits, brief.attempts)) is not None:
            refusal = f"the same change as attempt {earlier.number}, which was not run again"
            self._speak(run, place, "reject", refusal)
            recall.reject(candidate, refusal)
            return None
        names = ", ".join(edit.target.qualname for edit in reading.edits)
        self._speak(run, place, "candidate", names)
        return candidate

    def _open(self, run: Run, model: Model, strategy: str) -> None:
        leads = model is self.models[0] and strategy == STRATEGIES[0]
        if not leads:
            self._speak(run, self.models.index(model), "switch", f"{model.name}: {strategy}")

    def _speak(self, run: Run, place: int, kind: str, detail: str) -> None:
        model = self.models[place]
        run.emit(ModelSpoke(kind=kind, provider=model.provider, model=model.name, detail=detail))

    def _note(self, run: Run, message: str) -> None:
        if message not in self.notes:
            self.notes.append(message)
            run.emit(Noted(stage="repair", message=message, level="warning"))


def _best(attempts: Sequence[Attempt]) -> int:
    """The most tests an attempt fixed without breaking another."""
    return max((len(a.verdict.fixed) for a in attempts if not a.verdict.newly_failing), default=0)
