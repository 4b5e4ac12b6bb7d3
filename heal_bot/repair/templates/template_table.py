"""All families of changes; `template_costs` says what each costs."""

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
    variable,
    wrap_in_if,
)
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation


@dataclass(frozen=True, slots=True)
class Template:
    """A named generator of changes."""

    name: str
    changes: Callable[[MutationContext], Iterator[Mutation]]


FAMILIES: tuple[Template, ...] = (
    Template("comparison", comparison.comparisons),
    Template("boolean constant", constant.booleans),
    Template("number", constant.numbers),
    Template("arithmetic operator", arithmetic.operators),
    Template("augmented assignment", arithmetic.augmented),
    Template("boolean operator", boolean.operators),
    Template("off by one", off_by_one.steps),
    Template("negation", boolean.negations),
    Template("argument order", argument.exchanges),
    Template("function", callee_replacement.swaps),
    Template("method", attribute.swaps),
    Template("branch order", boolean.flipped_branches),
    Template("operand", arithmetic.operands),
    Template("variable", variable.swaps),
    Template("missing call", call_wrap_unwrap.insertions),
    Template("shared default", mutable_default.defaults),
    Template("late binding", late_binding.closures),
    Template("presence", none_check.check_none),
    Template("condition operand", boolean.dropped_operands),
    Template("await", call_wrap_unwrap.awaited),
    Template("placeholder", placeholder.passes),
    Template("text", constant.texts),
    Template("bytes", constant.encodings),
    Template("argument drop", argument.drops),
    Template("attribute for name", variable.attributes_for_names),
    Template("return value", return_value.returns),
    Template("accumulation", arithmetic.accumulations),
    Template("missing argument", argument.additions),
    Template("guard", guard_clauses.early),
    Template("superfluous call", call_wrap_unwrap.removals),
    Template("constant for name", constant.named),
    Template("normalisation", guard_clauses.defaults),
    Template("name for expression", argument.replaced),
    Template("crash", exception_templates.templates),
    Template("import", missing_import.imports),
    Template("handler", exception_handling.types),
    Template("jump", statement_moves.jumps),
    Template("lookup", lookup.gets),
    Template("iteration", loops.iterables),
    Template("statement out", statement_moves.dedents),
    Template("store", lookup.stores),
    Template("deletion", statement_moves.deletions),
    Template("statement order", statement_moves.exchanges),
    Template("missing condition", wrap_in_if.conditions),
    Template("order of branches", elif_chain.orders),
    Template("never filled", never_populated.fills),
    Template("term", ingredient.sums),
    Template("predicate", condition_rewrite.extended),
    Template("last round", loops.flushes),
    Template("ingredient", ingredient.own),
    Template("statement copy", statement_moves.copies),
    Template("sibling", ingredient.siblings),
)
