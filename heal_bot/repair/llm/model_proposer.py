"""The model tier as a proposer: one conversation on a cluster, taken on by the next model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from heal_bot.core.errors import LLMError
from heal_bot.core.events import ModelSpoke, Run
from heal_bot.core.model import Attempt, Candidate, Cost, Verdict
from heal_bot.core.statuses import VerdictStatus
from heal_bot.core.text import Secret, clip, hide_values, one_line, printable
from heal_bot.ports import Brief, Recall
from heal_bot.ports.language_model import Model, Replies, Reply
from heal_bot.repair.llm.answer_parser import ReplyError
from heal_bot.repair.llm.attempt_feedback import most_fixed
from heal_bot.repair.llm.budget import Budget
from heal_bot.repair.llm.conversation import Conversation, ConversationAnswer
from heal_bot.repair.llm.model_request import Sizes, answer_key, ask
from heal_bot.repair.llm.patch_equivalence import find_twin, given_up
from heal_bot.repair.llm.prompt_context import gather_facts
from heal_bot.repair.llm.prompts_fitted import Prompter
from heal_bot.repair.search.attempt_history import digest

# What more answers to one question are asked for; sampling parameters are gone.
_WAYS = (
    "",
    "Start anew: derive from the tests what the code must do, and write the faulty"
    " function again from that, keeping its signature.\n",
    "The cause may lie in another suspect than the first, or in several together.\n",
)
_ROUNDS = 3
_PATIENCE = 2
# What another request meets as well; a call that timed out took half of the time that was left.
_LAST = frozenset({"auth", "out_of_credit", "gone", "bad_request", "timeout"})
# What another request may avoid; any other failure rests the model for the rest of the cluster.
_ITS_OWN = frozenset({"refusal", "truncated"})
_FAMILY = "model"


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
    _spent: bool = False
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
        facts = gather_facts(brief)
        if not facts.suspects:
            return
        self._resting = set(self._lost)
        self._stuck = self._spent = False
        nonce = f"{run.rng.getrandbits(64):016x}"
        prompter = Prompter(brief.cluster, facts, nonce, self.secrets)
        for place in range(len(self.models)):
            yield from self._kept(run, recall, prompter, place)
        talk = Conversation.on(prompter, recall())
        yield from self._rounds(run, recall, talk)
        if said := talk.transcript():
            candidate = Candidate((), self.name, _FAMILY, _joined("", said))
            recall.reject(candidate, "looked, and proposed nothing")
        if self._spent:
            recall.end("budget", self.budget.limit)
        elif unmeasured := self._given_up(recall()):
            recall.end("stuck")
            said = f"attempt {unmeasured.number} may be right, but was not measured again"
            self._note(run, f"{said}: {unmeasured.verdict.detail}")
        elif self._stuck or talk.over:
            recall.end("stuck")
            where = f"{brief.cluster.id}: {len(recall().attempts)} attempts"
            self._note(run, f"the models are stuck at cluster {where}")

    def _rounds(self, run: Run, recall: Recall, talk: Conversation) -> Iterator[Candidate]:
        """Each model in its turn, three times around."""
        first = True
        for place in [*range(len(self.models))] * _ROUNDS:
            if self._given_up(recall()):
                return
            if place in self._resting or run.over() or talk.over:
                continue
            if not first:
                self._speak(run, place, "switch", f"{self.models[place].name} goes on")
            first = False
            yield from self._round(run, recall, talk, place)

    def _round(
        self, run: Run, recall: Recall, talk: Conversation, place: int
    ) -> Iterator[Candidate]:
        """Ask one model until two proposals in a row brought nothing, or it fails."""
        stuck, key = 0, answer_key(self.models[place], recall(), talk.prompter.facts)
        while stuck < _PATIENCE and not (talk.over or run.over() or self._given_up(recall())):
            best = most_fixed(recall().attempts)
            try:
                replies = self._answers(run, talk, place)
            except LLMError as error:
                self._fail(run, talk, place, error)
                return
            heat: list[tuple[Candidate, str]] = []
            judged: list[tuple[str, ConversationAnswer, Candidate]] = []
            for reply in replies:
                answer, candidate = self._understood(run, recall, talk, reply, place, heat)
                if answer.asked.no_fault and candidate is None:
                    self._rest(run, recall, talk, place, reply, answer.asked.no_fault)
                elif candidate is None:
                    talk.look(run, reply.text, answer.asked, recall())
                else:
                    judged.append((reply.text, answer, candidate))
            yield from self._offered(recall, heat, key)
            for text, answer, candidate in judged:
                talk.judge(run, text, answer, candidate, recall())
            if place in self._resting:
                return
            if judged:
                stuck = 0 if most_fixed(recall().attempts) > best else stuck + 1
        self._stuck = self._stuck or stuck >= _PATIENCE

    def _fail(self, run: Run, talk: Conversation, place: int, error: LLMError) -> None:
        """Take it that a model did not answer: it rests for the cluster, or for the run."""
        self._note(run, str(error))
        if error.kind in _LAST:
            self._lost.add(place)
        self._spent = self._spent or error.kind == "budget"
        if error.kind not in _ITS_OWN:
            self._resting.add(place)
        if error.kind == "truncated":
            talk.remark("The last answer was cut at its limit. Be brief, and change long functions"
                        " by search and replace alone.")  # fmt: skip

    def _rest(
        self, run: Run, recall: Recall, talk: Conversation, place: int, reply: Reply, why: str
    ) -> None:
        """Record that a model takes nothing in the code for the fault; it is asked no more."""
        model = self.models[place]
        reason = one_line(hide_values(why, self.secrets), 600)
        said = _joined(reason, talk.transcript())
        verdict = f"{model.name} says that this is no fault of the code: {reason}"
        recall.reject(Candidate((), model.provider, _FAMILY, said, reply.cost), verdict)
        self._resting.add(place)
        self._note(run, f"{talk.prompter.cluster.id}: {verdict}")

    def _given_up(self, brief: Brief) -> Attempt | None:
        """The newest attempt, where one more would not be measured either."""
        return given_up(brief.attempts, {model.provider for model in self.models})

    def _answers(self, run: Run, talk: Conversation, place: int) -> list[Reply]:
        """The answer to the question; of a tournament also to the same one put in other ways."""
        found: list[Reply] = []
        for way in _WAYS[: self.candidates]:
            compose = partial(talk.prompt, way=way)
            try:
                found.append(ask(run, self.models[place], self.budget, self.sizes, compose))
            except LLMError as error:
                if not found:
                    raise
                # What was paid for is judged first; the next question meets the same error.
                self._note(run, str(error))
                break
        return found

    def _kept(
        self, run: Run, recall: Recall, prompter: Prompter, place: int
    ) -> Iterator[Candidate]:
        """The answer that fixed the same thing before; it is read and judged like any other."""
        key = answer_key(self.models[place], recall(), prompter.facts)
        text = self.replies.get(key) if self.replies is not None else None
        if text is None:
            return
        self._speak(run, place, "kept", "an earlier run's answer to the same question is tried")
        heat: list[tuple[Candidate, str]] = []
        reply = Reply(text, Cost(), self.models[place].name)
        self._understood(run, recall, Conversation.on(prompter, recall()), reply, place, heat)
        yield from self._offered(recall, heat, key)

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
                    (len(a.diff), texts[offers.index(a.candidate)])
                    for a in recall().attempts
                    if a.candidate in offers
                    and (a.verdict.status == VerdictStatus.FIXED or not a.verdict.measured)
                ]
                if judged:
                    self.replies.put(key, min(judged)[1])
                else:
                    self.replies.drop(key)

    def _understood(
        self,
        run: Run,
        recall: Recall,
        talk: Conversation,
        reply: Reply,
        place: int,
        heat: list[tuple[Candidate, str]],
    ) -> tuple[ConversationAnswer, Candidate | None]:
        """What a reply holds, and its candidate, which joins the heat unless it is refused.

        What cannot be read, or was proposed before, is recorded as a candidate that was refused.
        """
        provider = self.models[place].provider
        try:
            answer = talk.understood(reply.text, recall())
        except ReplyError as error:
            self._speak(run, place, "reject", str(error))
            said = clip(printable(hide_values(reply.text, self.secrets)), 1_500)
            candidate = Candidate((), provider, _FAMILY, said, reply.cost)
            recall.reject(candidate, str(error))
            return ConversationAnswer(), candidate
        reading = answer.reading
        if reading is None:
            looks = ", ".join(look.tool for look in answer.asked.looks)
            self._speak(run, place, "look", one_line(looks, 200))
            return answer, None
        if reading.salvaged:
            self._speak(run, place, "salvage", "the code was found outside a proper fence")
        reason = one_line(hide_values(reading.rationale, self.secrets), 300)
        said = _joined(reason, talk.transcript())
        candidate = Candidate(reading.edits, provider, _FAMILY, said, reply.cost)
        refusal = ""
        if any(digest(candidate) == digest(other) for other, _ in heat):
            refusal = "the same change as another candidate of this round"
        elif (earlier := find_twin(candidate, recall().attempts)) is not None:
            refusal = f"the same change as attempt {earlier.number}: {_word(earlier.verdict)}"
        if refusal:
            self._speak(run, place, "reject", refusal)
            recall.reject(candidate, refusal)
        else:
            names = ", ".join(edit.target.qualname for edit in reading.edits)
            self._speak(run, place, "candidate", names)
            heat.append((candidate, reply.text))
        return answer, candidate

    def _speak(self, run: Run, place: int, kind: str, detail: str) -> None:
        model = self.models[place]
        run.emit(ModelSpoke(kind=kind, provider=model.provider, model=model.name, detail=detail))

    def _note(self, run: Run, message: str) -> None:
        if message not in self.notes:
            self.notes.append(message)
            run.warn("repair", message)


def _word(verdict: Verdict) -> str:
    """What came of an attempt, in a line; attempts of rules are shown nowhere else."""
    broke = f"breaks {verdict.newly_failing[0].test}" if verdict.newly_failing else ""
    return one_line(", ".join(filter(None, [verdict.word, broke, verdict.detail])), 400)


def _joined(reason: str, transcript: str) -> str:
    """Why something is proposed, and after it what was looked at before."""
    return f"{reason}\n\n{transcript}" if transcript else reason
