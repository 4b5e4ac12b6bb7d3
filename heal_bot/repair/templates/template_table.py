"""All families, each with the least cost any of its changes has: the order families open in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from heal_bot.repair.templates import (
    argument,
    arithmetic,
    attribute,
    boolean,
    call_wrap_unwrap,
    callee_replacement,
    comparison,
    condition_rewrite,
    constant,
    elif_chain,
    exception_handling,
    exception_templates,
    guard_clauses,
    ingredient,
    late_binding,
    lookup,
    loops,
    missing_import,
    mutable_default,
    never_populated,
    none_check,
    off_by_one,
    placeholder,
    return_value,
    statement_moves,
    unpacking,
    variable,
    wrap_in_if,
)
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation


@dataclass(frozen=True, slots=True)
class Template:
    """A named generator of changes; none of them costs less than `floor`.

    `doubt` says how much less its changes are to be believed once they pass, than their cost says:
    of calls that were dropped, conditions that were extended, terms and ingredients only a quarter
    to a half were right in 115 searches, of operators and names three quarters and more.
    """

    name: str
    floor: float
    changes: Callable[[MutationContext], Iterator[Mutation]]
    doubt: float = 0.0


FAMILIES: tuple[Template, ...] = (
    Template("comparison", 1.0, comparison.comparisons),
    Template("boolean constant", 1.2, constant.booleans),
    Template("number", 1.3, constant.numbers),
    Template("arithmetic operator", 1.2, arithmetic.operators),
    Template("augmented assignment", 1.2, arithmetic.augmented),
    Template("boolean operator", 1.3, boolean.operators),
    Template("off by one", 1.4, off_by_one.steps),
    Template("negation", 1.5, boolean.negations),
    Template("argument order", 1.5, argument.exchanges),
    Template("function", 1.5, callee_replacement.swaps),
    Template("method", 1.5, attribute.swaps),
    Template("branch order", 1.8, boolean.flipped_branches),
    Template("operand", 1.8, arithmetic.operands),
    Template("variable", 1.9, variable.swaps),
    Template("missing call", 1.9, call_wrap_unwrap.insertions),
    Template("shared default", 1.9, mutable_default.defaults),
    Template("late binding", 1.9, late_binding.closures),
    Template("unpacking", 1.7, unpacking.splits),
    Template("presence", 1.9, none_check.check_none),
    Template("condition operand", 2.0, boolean.dropped_operands),
    Template("await", 2.0, call_wrap_unwrap.awaited),
    Template("threshold", 2.4, comparison.thresholds),
    Template("placeholder", 2.2, placeholder.passes),
    Template("text", 2.2, constant.texts),
    Template("argument drop", 2.2, argument.drops),
    Template("attribute for name", 2.2, variable.attributes_for_names),
    Template("return value", 2.2, return_value.returns),
    Template("accumulation", 2.4, arithmetic.accumulations),
    Template("missing argument", 2.4, argument.additions),
    Template("guard", 2.2, guard_clauses.early, 0.3),
    Template("superfluous call", 2.5, call_wrap_unwrap.removals, 0.5),
    Template("constant for name", 2.6, constant.named),
    Template("normalisation", 2.6, guard_clauses.defaults),
    Template("name for expression", 2.2, argument.replaced),
    Template("crash", 1.4, exception_templates.templates),
    Template("import", 1.4, missing_import.imports),
    Template("handler", 1.8, exception_handling.types),
    Template("attempt", 2.8, exception_handling.attempts, 0.3),
    Template("jump", 1.6, statement_moves.jumps),
    Template("lookup", 1.9, lookup.gets),
    Template("iteration", 2.0, loops.iterables),
    Template("statement out", 2.2, statement_moves.dedents),
    Template("item", 2.7, lookup.items),
    Template("store", 2.8, lookup.stores),
    Template("condition", 2.0, condition_rewrite.replaced),
    Template("deletion", 2.8, statement_moves.deletions),
    Template("statement order", 1.8, statement_moves.exchanges),
    Template("missing condition", 2.6, wrap_in_if.conditions, 0.3),
    Template("order of branches", 2.2, elif_chain.orders),
    Template("never filled", 2.2, never_populated.fills, -0.7),
    Template("term", 3.0, ingredient.sums, 0.3),
    Template("predicate", 2.2, condition_rewrite.extended, 0.3),
    Template("last round", 3.0, loops.flushes),
    Template("ingredient", 3.2, ingredient.own, 0.3),
    Template("statement copy", 3.6, statement_moves.copies),
    Template("sibling", 4.0, ingredient.siblings),
)
