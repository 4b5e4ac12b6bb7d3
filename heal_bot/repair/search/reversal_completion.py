"""What goes back along with the parts of a commit that make the tests pass."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from heal_bot.core.model import Edit
from heal_bot.source import change_intent, functions
from heal_bot.source.reversal import Piece, ReversedChange, place_lost
from heal_bot.source.similar_changes import has_effect

Pieces = tuple[Piece, ...]


@dataclass(slots=True)
class ReversalCompletion:
    """Wider sets of parts of a change; `passing` are those with which all tests pass.

    `works` tells whether tests that pass execute what stands at a part. `lost` is what was taken of
    the former code beside the parts of the change.
    """

    change: ReversedChange
    passing: Callable[[Sequence[Pieces]], list[Pieces]]
    works: Callable[[Piece], bool]
    lost: Pieces = ()

    def unmix(self, pieces: Pieces) -> Pieces:
        """The parts, or the whole of a function where its former code would stand beside a call.

        What the commit brought for the former code, and calls in its place, would do it twice.
        """
        brought = self.change.brought_names
        mixed = {
            one.target
            for one in self.change.put_back(pieces)
            if brought & _list_words(one.target.source) & _list_words(one.new_source)
            and one.new_source.count("\n") > one.target.source.count("\n") + 1
            and has_effect(one)
        }
        wider = (
            *(one for one in pieces if one[0] not in mixed),
            *(one for one in self.change.places if one[0] in mixed),
        )
        return wider if mixed and self.passing([wider]) else pieces

    def rejoin(self, pieces: Pieces) -> Pieces:
        """The parts, and what makes a call again that they take away and the former code had too.

        The commit had moved it: that it is made nowhere is neither what was, nor what is.
        """
        edits = {one.target: one for one in self.change.put_back(pieces)}
        moved = {
            one.target: calls
            for one in self.change.list_former()
            if one.target in edits and (calls := _list_dropped(one, edits[one.target]))
        }
        if not moved:
            return pieces
        lost = [
            (target, part)
            for target, part in place_lost(self.change, anywhere=True)
            if any(call in part.before.decode(errors="replace") for call in moved.get(target, ()))
        ]
        whole = (
            *(one for one in pieces if one[0] not in moved),
            *(one for one in self.change.places if one[0] in moved),
        )
        for wider in self.passing([*((*pieces, one) for one in lost), whole]):
            self.lost = (*self.lost, *(one for one in wider if one in lost))
            return wider
        return pieces

    def widen(self, pieces: Pieces) -> Pieces:
        """The parts, and the others that use a function which the commit brought and they use.

        What is wrong with it is wrong at each place that no test executes; where tests pass, the
        fault is in how it is used. Where such parts cannot go back by themselves, the functions
        that they are in do.
        """
        others = [one for one in self.change.list_others(pieces) if not self.works(one)]
        changed = {target for target, _ in others}
        kept = (one for one in pieces if one[0] not in changed)
        whole = (*kept, *(one for one in self.change.places if one[0] in changed))
        # With another parameter the commit meant more of a function than the use that goes.
        if not others or any(map(change_intent.has_new_parameters, self.change.put_back(whole))):
            return pieces
        return next((one for one in ((*pieces, *others), whole) if self.passing([one])), pieces)


def _list_words(source: str) -> set[str]:
    return set(re.findall(r"\w+", source))


def _list_dropped(former: Edit, edit: Edit) -> list[str]:
    """The calls that a function makes now, made before, and makes less often with an edit."""
    before, after = (Counter(_list_calls(one.new_source)) for one in (former, edit))
    now = Counter(_list_calls(edit.target.source))
    return [call for call in now if after[call] < min(now[call], before[call])]


def _list_calls(source: str) -> Iterator[str]:
    node = functions.parse_function(source)
    for inner in ast.walk(node) if node is not None else ():
        if isinstance(inner, ast.Call):
            yield ast.unparse(inner)
