"""Candidates in their order, but for those that take the judge long: of them one now and then."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from heal_bot.core.model import Candidate, Target

# A candidate for which the project is imported anew takes as long as about fifty others.
_EACH = 25
_WAITING = 600


@dataclass(slots=True)
class CandidateThrottle:
    """An iterator over `source`; `delay` names targets whose changes have to wait from then on."""

    source: Iterable[Candidate]
    _slow: set[Target] = field(default_factory=set)
    _waiting: deque[Candidate] = field(default_factory=deque)
    _since: int = 0

    def delay(self, candidate: Candidate) -> None:
        """One turn in twenty-six is for changes of these targets, unless no others are left."""
        self._slow.update(edit.target for edit in candidate.edits)

    def is_delayed(self, candidate: Candidate) -> bool:
        """Whether it is a change of a target that was named."""
        return any(edit.target in self._slow for edit in candidate.edits)

    def __iter__(self) -> Iterator[Candidate]:
        for candidate in self.source:
            if self.is_delayed(candidate):
                self._waiting.append(candidate)
            else:
                self._since += 1
                yield candidate
            if self._waiting and (self._since >= _EACH or len(self._waiting) >= _WAITING):
                self._since = 0
                yield self._waiting.popleft()
        while self._waiting:
            yield self._waiting.popleft()
