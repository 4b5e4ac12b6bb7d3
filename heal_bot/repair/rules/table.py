"""All families, each with the least cost any of its changes has: the order families open in."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from heal_bot.repair.rules import (
    argument,
    arithmetic,
    attribute,
    beginning,
    boolean,
    boundary,
    callee,
    carrying,
    comparison,
    condition,
    constant,
    crash,
    encoding,
    fstring,
    guards,
    handling,
    importing,
    ingredient,
    lookup,
    loop,
    placeholder,
    recursion,
    returning,
    rounding,
    sharing,
    statement,
    unfilled,
    unpacking,
    unread,
    variable,
    wrapping,
    yielding,
)
from heal_bot.repair.rules.scope import Scope
from heal_bot.repair.rules.text import Change


@dataclass(frozen=True, slots=True)
class Family:
    """A named generator of changes; none of them costs less than `floor`.

    `doubt` says how much less its changes are to be believed once they pass, than their cost says:
    of calls that were dropped, conditions that were extended, terms and ingredients only a quarter
    to a half were right in 115 searches, of operators and names three quarters and more.
    """

    name: str
    floor: float
    changes: Callable[[Scope], Iterator[Change]]
    doubt: float = 0.0


FAMILIES: tuple[Family, ...] = (
    Family("comparison", 1.0, comparison.comparisons),
    Family("boolean constant", 1.2, constant.booleans),
    Family("number", 1.3, constant.numbers),
    Family("arithmetic operator", 1.2, arithmetic.operators),
    Family("augmented assignment", 1.2, arithmetic.augmented),
    Family("boolean operator", 1.3, boolean.operators),
    Family("off by one", 1.4, boundary.steps),
    Family("negation", 1.5, boolean.negations),
    Family("argument order", 1.5, argument.exchanges),
    Family("function", 1.5, callee.swaps),
    Family("method", 1.5, attribute.swaps),
    Family("method for function", 1.6, callee.to_methods),
    Family("bound", 1.7, boundary.missing_bounds),
    Family("branch order", 1.8, boolean.flipped_branches),
    Family("operand", 1.8, arithmetic.operands),
    Family("variable", 1.9, variable.swaps),
    Family("missing call", 1.9, wrapping.insertions),
    Family("forgotten return", 1.9, returning.forgotten),
    Family("rounding", 2.0, rounding.upwards),
    Family("shared default", 1.9, sharing.defaults),
    Family("shared attribute", 2.0, sharing.attributes),
    Family("shared row", 1.8, sharing.rows),
    Family("late binding", 1.9, sharing.closures),
    Family("unpacking", 1.7, unpacking.splits),
    Family("unread name", 2.1, unread.combined, 0.3),
    Family("condition operand", 2.0, boolean.dropped_operands),
    Family("await", 2.0, wrapping.awaited),
    Family("f-string", 2.0, fstring.fields),
    Family("threshold", 2.4, comparison.thresholds),
    Family("placeholder", 2.2, placeholder.passes),
    Family("missing raise", 2.4, placeholder.refusals),
    Family("text", 2.2, constant.texts),
    Family("grouping", 2.2, arithmetic.regrouped),
    Family("argument drop", 2.2, argument.drops),
    Family("attribute for name", 2.2, variable.attributes_for_names),
    Family("return value", 2.2, returning.returns),
    Family("name order", 2.4, variable.exchanges),
    Family("accumulation", 2.4, arithmetic.accumulations),
    Family("missing argument", 2.4, argument.additions),
    Family("attribute drop", 2.4, attribute.receivers),
    Family("filter", 2.4, boolean.fixed_conditions),
    Family("guard", 2.2, guards.early, 0.3),
    Family("superfluous call", 2.5, wrapping.removals, 0.5),
    Family("operand order", 2.6, comparison.swapped_operands),
    Family("constant for name", 2.6, constant.named),
    Family("pattern", 2.6, constant.patterns),
    Family("normalisation", 2.6, guards.defaults),
    Family("name for expression", 2.2, argument.replaced),
    Family("attribute read", 3.0, attribute.extensions),
    Family("crash", 1.4, crash.templates),
    Family("import", 1.4, importing.imports),
    Family("attribute never set", 1.4, beginning.attributes),
    Family("encoding", 1.5, encoding.encodings),
    Family("recursion", 1.6, recursion.ends, 0.3),
    Family("handler", 1.8, handling.handlers),
    Family("attempt", 2.8, handling.attempts, 0.3),
    Family("delegation", 1.6, yielding.delegations),
    Family("jump", 1.6, statement.jumps),
    Family("lookup", 1.9, lookup.gets),
    Family("iteration", 2.0, loop.iterables),
    Family("statement out", 2.2, statement.dedents),
    Family("statement in", 2.4, statement.indents),
    Family("branch", 2.4, statement.into_else),
    Family("last branch", 2.4, statement.last_branches),
    Family("item", 2.7, lookup.items),
    Family("width", 2.8, lookup.widths),
    Family("yield", 2.6, yielding.returns),
    Family("store", 2.8, lookup.stores),
    Family("condition", 2.0, condition.replaced),
    Family("carried value", 2.6, carrying.carried),
    Family("method for attribute", 2.6, attribute.methods),
    Family("deletion", 2.8, statement.deletions),
    Family("statement order", 2.8, statement.exchanges),
    Family("step", 3.0, loop.steps),
    Family("reset", 2.8, loop.resets),
    Family("comprehension filter", 3.0, condition.filters),
    Family("never filled", 2.2, unfilled.fills, -0.7),
    Family("never counted", 2.4, unfilled.counts, -0.7),
    Family("term", 3.0, ingredient.sums, 0.3),
    Family("predicate", 2.2, condition.extended, 0.3),
    Family("last round", 3.0, loop.flushes),
    Family("ingredient", 3.2, ingredient.own, 0.3),
    Family("item of container", 3.2, lookup.indexed),
    Family("accumulator", 3.0, loop.accumulators),
    Family("statement copy", 3.6, statement.copies),
    Family("missing statement", 4.0, placeholder.missing_calls),
    Family("sibling", 4.0, ingredient.siblings),
)
