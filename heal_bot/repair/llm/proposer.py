"""The model tier as a proposer: a call, repairs with memory, a fresh start, the next model."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from heal_bot.errors import LLMError
from heal_bot.events import ModelSpoke, Noted, Run
from heal_bot.model import Attempt, Candidate, Cost
from heal_bot.model_port import Model, Replies, Reply
from heal_bot.ports import Brief, Recall
from heal_bot.repair.llm.budget import Budget
from heal_bot.repair.llm.context import gather
from heal_bot.repair.llm.diagnosis import Diagnosis, findings
from heal_bot.repair.llm.exchange import Sizes, answer_key, ask
from heal_bot.repair.llm.lessons import most_fixed
from heal_bot.repair.llm.likeness import given_up, shape, twin
from heal_bot.repair.llm.prompting import Prompt, Prompter
from heal_bot.repair.llm.reply import ReplyError
from heal_bot.repair.llm.rewriting import read
from heal_bot.repair.llm.structured import parse
from heal_bot.text import Secret, clip, hide_values, one_line, printable

# How each round opens; sampling parameters are gone, so variety comes from the task.
STRATEGIES = ("minimal", "fresh", "elsewhere")
_PATIENCE = 2
# How often a model is asked in one cluster whose calls end at their limit of time.
_CALLS = 3
_LAST = frozenset({"auth", "out_of_credit", "gone", "bad_request"})
# Below this confidence of a diagnosis other suspects come before a fresh start.
_SURE = 0.5
# What another strategy may avoid; any other failure rests the model for the rest of the cluster.
_ITS_OWN = frozenset({"refusal", "truncated"})


@dataclass(slots=True)
class ModelProposer:
    """Proposes what models answer; the first model leads, the others take over when it is stuck.

    `secrets` are hidden in all that is sent; `replies` keeps what fixed something. `notes` says
    what a person should know afterwards: a refused key, an unknown price, a spent budget. With
    `candidates` each question is put in so many ways before an answer is judged.
    """

    models: Sequence[Model]
    budget: Budget = field(default_factory=Budget)
    secrets: tuple[Secret, ...] = ()
    replies: Replies | None = None
    sizes: Sizes = field(default_factory=Sizes)
    notes: list[str] = field(default_factory=list)
    candidates: int = 1
    _lost: set[int] = field(default_factory=set)
    _resting: set[int] = field(default_factory=set)
    _late: Counter[int] = field(default_factory=Counter)
    _set_aside: int = 0
    _findings: tuple[str, ...] = ()
    _stuck: bool = False

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
        self._resting, self._set_aside, self._findings = set(self._lost), 0, ()
        self._stuck, self._late = False, Counter()
        nonce = f"{run.rng.getrandbits(64):016x}"
        prompter = Prompter(brief.cluster, facts, nonce, self.secrets)
        try:
            left: tuple[str, ...] = STRATEGIES
            while left and not self._given_up(recall()):
                strategy, *others = left
                yield from self._rounds(run, recall, prompter, strategy)
                first = strategy == STRATEGIES[0]
                left = self._look(run, recall, prompter) if first else tuple(others)
        except LLMError as error:
            # Only a spent budget ends all rounds.
            recall.end("budget")
            self._note(run, str(error))
        else:
            if unmeasured := self._given_up(recall()):
                recall.end("stuck")
                said = f"attempt {unmeasured.number} may be right, but was not measured again"
                self._note(run, f"{said}: {unmeasured.verdict.detail}")
            elif self._stuck:
                recall.end("stuck")
                where = f"{brief.cluster.id}: {len(recall().attempts)} attempts"
                self._note(run, f"the models are stuck at cluster {where}")

    def _rounds(
        self, run: Run, recall: Recall, prompter: Prompter, strategy: str
    ) -> Iterator[Candidate]:
        """A round of each model; one whose call ended at its limit comes again after the others."""
        waiting = deque(range(len(self.models)))
        while waiting:
            place = waiting.popleft()
            if place in self._resting or run.over():
                continue
            if (place, strategy) != (0, STRATEGIES[0]):
                self._speak(run, place, "switch", f"{self.models[place].name}: {strategy}")
            late = self._late[place]
            yield from self._round(run, recall, prompter, place, strategy)
            if self._late[place] > late:
                waiting.append(place)

    def _round(
        self, run: Run, recall: Recall, prompter: Prompter, place: int, strategy: str
    ) -> Iterator[Candidate]:
        """Ask one model until two attempts in a row brought nothing, or it fails."""
        stuck, key = 0, answer_key(self.models[place], recall(), prompter.facts)
        if strategy == "fresh":
            # A new start is not to be drawn to old ideas; their outcomes stay in view.
            self._set_aside = len(recall().attempts)
        while stuck < _PATIENCE and not run.over() and not self._given_up(recall()):
            brief = recall()
            best = most_fixed(brief.attempts)
            try:
                replies = self._answers(run, prompter, brief, place, strategy, key)
            except LLMError as error:
                if error.kind == "budget":
                    raise
                if error.kind in _LAST:
                    self._lost.add(place)
                self._late[place] += error.kind == "timeout"
                again = error.kind == "timeout" and self._late[place] < _CALLS
                if error.kind not in _ITS_OWN and not again:
                    self._resting.add(place)
                self._note(run, str(error))
                return
            heat = self._heat(run, recall, prompter, brief, replies, place)
            yield from self._offered(recall, heat, key)
            stuck = 0 if most_fixed(recall().attempts) > best else stuck + 1
            strategy = "repair"
        self._stuck = self._stuck or stuck >= _PATIENCE

    def _given_up(self, brief: Brief) -> Attempt | None:
        """The newest attempt, where one more would not be measured either."""
        return given_up(brief.attempts, {model.provider for model in self.models})

    def _answers(
        self, run: Run, prompter: Prompter, brief: Brief, place: int, strategy: str, key: str
    ) -> list[tuple[str, Reply]]:
        """The answer to the question; of a tournament also to the same one put in other ways."""
        if strategy == STRATEGIES[0] and (reply := self._kept(run, place, key)):
            return [(strategy, reply)]
        ways = tuple(dict.fromkeys((strategy, *STRATEGIES)))[: self.candidates]
        found: list[tuple[str, Reply]] = []
        for way in ways:

            def compose(limit: int, way: str = way) -> Prompt:
                return prompter.prompt(brief.attempts, way, limit, self._set_aside, self._findings)

            try:
                found.append((way, ask(run, self.models[place], self.budget, self.sizes, compose)))
            except LLMError as error:
                if not found:
                    raise
                # What was paid for is judged first; the next question meets the same error.
                self._note(run, str(error))
                break
        return found

    def _heat(
        self,
        run: Run,
        recall: Recall,
        prompter: Prompter,
        brief: Brief,
        replies: Sequence[tuple[str, Reply]],
        place: int,
    ) -> list[tuple[Candidate, str]]:
        """The usable candidates of a tournament with the answers they come from."""
        heat: list[tuple[Candidate, str]] = []
        for way, reply in replies:
            found = self._candidate(run, recall, prompter, brief, reply, place, way)
            if found is None:
                continue
            if any(shape(found.edits) == shape(other.edits) for other, _ in heat):
                refusal = "the same change as another candidate of this round"
                self._speak(run, place, "reject", refusal)
                recall.reject(found, refusal)
            else:
                heat.append((found, reply.text))
        return heat

    def _kept(self, run: Run, place: int, key: str) -> Reply | None:
        """The answer that fixed the same thing before; it is read and judged like any other."""
        text = self.replies.get(key) if self.replies is not None else None
        if text is None:
            return None
        self._speak(run, place, "kept", "an earlier run's answer to the same question is tried")
        return Reply(text, Cost(), self.models[place].name)

    def _offered(
        self, recall: Recall, heat: Sequence[tuple[Candidate, str]], key: str
    ) -> Iterator[Candidate]:
        """Offer the candidates; keep an answer only while it is what fixed the cluster.

        A winner that holds ends the search right at the offer, so the end of the generator is
        where its verdict is read.
        """
        offers = [replace(one, rivals=len(heat) - n) for n, (one, _) in enumerate(heat, 1)]
        try:
            yield from offers
        finally:
            if self.replies is not None:
                texts = [text for _, text in heat]
                judged = [
                    (len(attempt.diff), texts[offers.index(attempt.candidate)])
                    for attempt in recall().attempts
                    if attempt.candidate in offers
                    and (attempt.verdict.status == "fixed" or not attempt.verdict.measured)
                ]
                if judged:
                    self.replies.put(key, min(judged)[1])
                else:
                    self.replies.drop(key)

    def _look(self, run: Run, recall: Recall, prompter: Prompter) -> tuple[str, ...]:
        """Have a model say what it takes for the cause, look for it in the sandbox, and widen.

        The strategies that are left, in the order that its confidence suggests.
        """
        brief = recall()
        place = next((n for n in range(len(self.models)) if n not in self._resting), None)
        if brief.lab is None or place is None or run.over() or self._given_up(brief):
            return STRATEGIES[1:]
        model = self.models[place]
        self._speak(run, place, "switch", f"{model.name}: diagnosis")
        try:
            reply = ask(
                run, model, self.budget, self.sizes,
                lambda limit: prompter.diagnosis(brief.attempts, limit),
                Diagnosis.model_json_schema(),
            )  # fmt: skip
            diagnosis = parse(reply.text, Diagnosis)
        except ReplyError as error:
            self._speak(run, place, "reject", str(error))
            return STRATEGIES[1:]
        except LLMError as error:
            if error.kind == "budget":
                raise
            self._note(run, str(error))
            return STRATEGIES[1:]
        self._findings = findings(run, diagnosis, brief)
        return STRATEGIES[1:] if diagnosis.confidence >= _SURE else STRATEGIES[:0:-1]

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
        said = clip(printable(hide_values(reply.text, self.secrets)), 1_500)
        try:
            reading = read(reply.text, facts.targets, facts.texts, self.secrets)
        except ReplyError as error:
            self._speak(run, place, "reject", str(error))
            recall.reject(Candidate((), provider, strategy, said, reply.cost), str(error))
            return None
        if reading.salvaged:
            self._speak(run, place, "salvage", "the code was found outside a proper fence")
        reason = one_line(hide_values(reading.rationale, self.secrets), 300)
        candidate = Candidate(reading.edits, provider, strategy, reason, reply.cost)
        if (earlier := twin(reading.edits, brief.attempts)) is not None:
            refusal = f"the same change as attempt {earlier.number}, which was not run again"
            self._speak(run, place, "reject", refusal)
            recall.reject(candidate, refusal)
            return None
        names = ", ".join(edit.target.qualname for edit in reading.edits)
        self._speak(run, place, "candidate", names)
        return candidate

    def _speak(self, run: Run, place: int, kind: str, detail: str) -> None:
        model = self.models[place]
        run.emit(ModelSpoke(kind=kind, provider=model.provider, model=model.name, detail=detail))

    def _note(self, run: Run, message: str) -> None:
        if message not in self.notes:
            self.notes.append(message)
            run.emit(Noted(stage="repair", message=message, level="warning"))
