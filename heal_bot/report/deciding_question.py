"""The question that a run ends with, and the test that would hold its answer.

All is plain text, to be escaped for where it goes.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heal_bot.source import guard

if TYPE_CHECKING:
    from heal_bot.core.outcome import ChoiceRecord, OutcomeRecord, QuestionRecord

# Where a secret stood in a text, and where something else stands for what nobody sees.
_ALTERED = ("***", "<U+")


@dataclass(frozen=True, slots=True)
class Answer:
    """A choice, what the call gives with it, and the line of a test that holds this, or ''."""

    choice: ChoiceRecord
    result: str
    test: str


def list_answers(record: OutcomeRecord) -> tuple[Answer, ...]:
    """The answers to the question of a run in the order of its choices; none without one."""
    if (asked := record.question) is None:
        return ()
    results = {answer.choice: answer.result for answer in asked.answers}
    pairs = ((choice, results[choice.id]) for choice in record.choices)
    return tuple(Answer(one, said, _write_assertion(asked, one, said)) for one, said in pairs)


def _write_assertion(question: QuestionRecord, choice: ChoiceRecord, result: str) -> str:
    """The line that holds an answer in a test; '' where call or answer is no plain literal."""
    if any(mark in text for mark in _ALTERED for text in (question.call, result)):
        return ""
    try:
        (call,), (answer,) = guard.parse(question.call).body, guard.parse(result).body
    except (guard.SourceRejected, ValueError):
        return ""
    match call, answer:
        case ast.Expr(ast.Call(ast.Name(name)) as made), ast.Expr(value):
            given = [*made.args, *(keyword.value for keyword in made.keywords), value]
            functions = {changed.qualname for changed in choice.functions}
            if name in functions and all(map(_is_literal, given)):
                return f"assert {question.call} == {result}"
    return ""


def _is_literal(node: ast.expr) -> bool:
    try:
        ast.literal_eval(node)
    except (ValueError, TypeError, RecursionError, MemoryError):
        return False
    return True
