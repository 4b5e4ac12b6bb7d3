"""One bounded conversation on a cluster: answers, what they showed or what came of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from heal_bot.core.events import Run
from heal_bot.core.model import Attempt, Candidate, Target
from heal_bot.core.statuses import VerdictStatus
from heal_bot.core.text import hide_values, one_line, printable
from heal_bot.ports import Brief, Tree
from heal_bot.repair.llm.answer_parser import Reading, ReplyError
from heal_bot.repair.llm.code_looks import (
    LookRequest,
    SeenCode,
    find_implicated,
    show_code,
    take_looks,
)
from heal_bot.repair.llm.edit_blocks import list_headings
from heal_bot.repair.llm.file_rewrite import parse_file_answer
from heal_bot.repair.llm.json_answer import take_json
from heal_bot.repair.llm.prompts_fitted import Prompt, Prompter, Turn
from heal_bot.source import edit, patch_policy

_TURNS = 30
# Answers with looks in a row, before something has to be proposed.
_LOOKS = 8
# Of so many pieces that an answer changes unseen it is found out whether they may change.
_PIECES = 8
_LOGGED = 500
_TRANSCRIPT = 6_000


@dataclass(frozen=True, slots=True)
class ConversationAnswer:
    """What a reply holds: a proposal, looks beside or instead of it, or that there is no fault."""

    reading: Reading | None = None
    asked: LookRequest = field(default_factory=LookRequest.model_construct)


@dataclass(slots=True)
class Conversation:
    """What was said so far, the pieces that may change by now, and what is left to look."""

    prompter: Prompter
    before: tuple[Attempt, ...]
    lab: bool
    targets: list[Target]
    texts: dict[str, str]
    turns: list[Turn] = field(default_factory=list)
    _looks: int = 0
    _log: list[str] = field(default_factory=list)

    @classmethod
    def on(cls, prompter: Prompter, brief: Brief) -> Conversation:
        """A conversation that begins with all that was tried before."""
        facts = prompter.facts
        targets, texts = list(facts.targets), dict(facts.texts)
        return cls(prompter, brief.attempts, brief.lab is not None, targets, texts)

    @property
    def over(self) -> bool:
        """Whether nothing more is asked."""
        return len(self.turns) >= _TURNS

    def prompt(self, limit: int, way: str = "") -> Prompt:
        """The prompt for the next answer."""
        return self.prompter.prompt(self.before, self.turns, limit, lab=self.lab, way=way)

    def understood(self, reply: str, brief: Brief) -> ConversationAnswer:
        """What a reply says. A proposal that can be read counts before looks beside it.

        It may change what a look would have opened too. Raises ReplyError with a reason for the
        model.
        """
        known = {(target.path, target.qualname) for target in self.targets}
        new = [place for place in list_headings(reply)[:_PIECES] if place not in known]
        self._open([show_code(path, brief, name) for path, name in new], brief)
        asked, code, flaw = LookRequest.model_construct(), reply, ""
        try:
            asked, code = take_json(reply, LookRequest)
        except ReplyError as error:
            flaw = str(error)
        try:
            return ConversationAnswer(
                parse_file_answer(code, self.targets, self.texts, self.prompter.secrets), asked
            )
        except ReplyError:
            if flaw and not ('"looks"' in reply or '"no_fault"' in reply):
                raise
        if flaw:
            raise ReplyError(flaw)
        if asked.looks and not asked.no_fault and self._looks >= _LOOKS:
            raise ReplyError(f"{_LOOKS} answers in a row were looks; none are left")
        return ConversationAnswer(None, asked)

    def look(self, run: Run, reply: str, asked: LookRequest, brief: Brief) -> None:
        """Take the looks of an answer, and add what they show."""
        self._looks += 1
        seen = tuple(take_looks(run, asked.looks, brief))
        self._note(seen)
        self._open(seen, brief)
        shown = self.prompter.looked("What was found", seen, max(0, _LOOKS - self._looks))
        short = [SeenCode(one_line(one.asked, 160), "(left out for space)") for one in seen]
        self._add(reply, shown, self.prompter.looked("What was looked at", short, None))

    def judge(
        self, run: Run, reply: str, answer: ConversationAnswer, candidate: Candidate, brief: Brief
    ) -> None:
        """Add what came of an answer that became an attempt, and what that points at."""
        # In a tournament it was told its place.
        (attempt, *_) = (
            one for one in reversed(brief.attempts) if replace(one.candidate, rivals=0) == candidate
        )
        verdict = attempt.verdict
        self._looks = 0
        facts, task = self.prompter.judged(attempt, _how(attempt, brief.tree))
        seen = find_implicated(
            (*verdict.newly_failing, *verdict.still_failing), brief, self.targets
        )
        if attempt.candidate.edits and verdict.status != VerdictStatus.REJECTED:
            seen += take_looks(run, answer.asked.looks, brief, attempt.candidate.edits)
        self._note(seen)
        self._open(seen, brief)
        more = self.prompter.looked("What this points at", seen, None) if seen else ""
        self._add(reply, facts + more + task, self.prompter.line(attempt))

    def remark(self, text: str) -> None:
        """Add a sentence of ours that no answer came before."""
        self.turns.append(Turn("", f"{text}\n", f"{text}\n"))

    def transcript(self) -> str:
        """What was looked at since the last proposal, for the log of attempts."""
        said, self._log[:] = "\n".join(self._log), []
        return printable(hide_values(said, self.prompter.secrets))[:_TRANSCRIPT]

    def _add(self, reply: str, result: str, line: str) -> None:
        self.turns.append(Turn(self.prompter.answered(reply), result, line))

    def _note(self, seen: Sequence[SeenCode]) -> None:
        self._log += [f"look: {one.asked}\n{one.shown[:_LOGGED]}" for one in seen]

    def _open(self, seen: Sequence[SeenCode], brief: Brief) -> None:
        """Take what was shown among what may be changed."""
        for one in seen:
            for target in one.targets:
                if target not in self.targets:
                    self.targets.append(target)
                    self.texts[target.path] = edit.text_of(brief.tree, target.path)


def _how(attempt: Attempt, tree: Tree) -> str:
    """What an attempt shows of the change: refuted, not measured, refused and unread differ."""
    verdict = attempt.verdict
    if verdict.status != VerdictStatus.REJECTED:
        return verdict.status if verdict.measured else "unmeasured"
    if not attempt.candidate.edits:
        return "unread"
    candidate = attempt.candidate
    refused = patch_policy.check_candidate(candidate, tree)
    return "refused" if refused or patch_policy.list_reaches(candidate, tree) else "repeated"
