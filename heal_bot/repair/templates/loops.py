"""Loops: a missing step, accumulator, end or the way of iterating.

`while low < high:` gets `low += 1` at its end (3.0), `for x in d` becomes `for x in d.items()`
(2.2), a loop over a container runs over a copy (2.4), an accumulation after it is added (3.4).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile

from heal_bot.repair.templates.mutation_context import LOOPS, MutationContext
from heal_bot.repair.templates.statement_insertion import after, before
from heal_bot.repair.templates.text_edits import Mutation, Text

# What the module counts differently is not added up.
_MIXED = 2.0
_JUMPS = ast.Break | ast.Continue | ast.Return | ast.Raise


def iterables(scope: MutationContext) -> Iterator[Mutation]:
    """Another way through the same values."""
    site = scope.site
    for node in site.nodes:
        place = site.places[node]
        if place.field != "iter":
            continue
        value, target = site.text(node), getattr(place.parent, "target", None)
        head = value.at(16)
        pair = isinstance(target, ast.Tuple) and len(target.elts) == 2
        options = [(f"list({value.at(1)})", 2.4), (f"reversed({value.at(1)})", 2.4),
                   (f"sorted({value.at(1)})", 2.3), (f"{head}[1:]", 3.3), (f"{head}[:-1]", 3.4),
                   (f"range(len({value.at(1)}))", 2.6), (f"range({value.at(1)})", 2.4),
                   (f"set({value.at(1)})", 3.0), (f"{head}[::-1]", 3.0),
                   (f"{value.at(3)} or []", 3.0), (f"{head}.values()", 2.8),
                   (f"{head}.split()", 3.0)]  # fmt: skip
        if pair:
            options += [(f"{head}.items()", 2.0), (f"enumerate({value.at(1)})", 2.0),
                        (f"zip({value.at(1)}, {head}[1:])", 3.0)]  # fmt: skip
        for name in scope.visible(node):
            kinds = scope.kinds.get(name, set())
            if name != value.code and ("number" in kinds or not kinds):
                extra = 0.0 if kinds else 0.4
                options += [(f"{head}[{name}:]", 2.6 + extra), (f"{head}[:{name}]", 2.7 + extra)]
        for code, cost in options:
            level = 3 if " or " in code else 16
            yield site.put(node, Text(code, level), cost)


def steps(scope: MutationContext) -> Iterator[Mutation]:
    """A `while` loop gets a step of a name in its condition, before or after its last statement."""
    site = scope.site
    for node in site.each(ast.While):
        names = dict.fromkeys(n.id for n in ast.walk(node.test) if isinstance(n, ast.Name))
        names.update(dict.fromkeys(n for n in scope.visible(node)[:6]))
        for rank, name in enumerate(names):
            for code, cost in ((f"{name} += 1", 3.0), (f"{name} -= 1", 3.0),
                               (f"{name} //= 2", 3.8), (f"{name} = {name}[1:]", 4.0)):  # fmt: skip
                for put in (after, before):
                    yield from put(site, node.body[-1], (code,), cost + 0.15 * rank)


def remainders(scope: MutationContext) -> Iterator[Mutation]:
    """What a loop divides and never sets goes on with the rest: `n %= size` after `n // size`."""
    site = scope.site
    for node in site.nodes:
        match node:
            case ast.BinOp(
                left=ast.Name(id=name),
                op=ast.FloorDiv() | ast.Mod() as sign,
                right=ast.Name() | ast.Attribute() | ast.Constant(value=int()) as divisor,
            ) if "text" not in scope.kinds.get(name, set()):
                loops = _loops_within(scope, node)
            case _:
                continue
        inside = {n.id for loop in loops for n in ast.walk(loop)
                  if isinstance(n, ast.Name) and not isinstance(n.ctx, ast.Load)}  # fmt: skip
        statement = site.places[node].statement
        if not loops or name in inside or statement in loops or isinstance(statement, ast.Return):
            continue
        if name not in scope.visible(statement):
            continue
        rest = "%" if isinstance(sign, ast.FloorDiv) else "//"
        code = f"{name} {rest}= {site.segment(divisor)}"
        for anchor in dict.fromkeys((statement, loops[0].body[-1])) if "\n" not in code else ():
            yield from after(site, anchor, (code,), 2.6)


def _loops_within(
    scope: MutationContext, node: ast.AST
) -> list[ast.For | ast.While | ast.AsyncFor]:
    """The loops around a node in the function or lambda it stands in, innermost first."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
    within = takewhile(lambda above: not isinstance(above, inner), scope.above(node))
    return [above for above in within if isinstance(above, LOOPS)]


def accumulators(scope: MutationContext) -> Iterator[Mutation]:
    """A container or number of the function takes in another value: `result.append(item)`, 3.4."""
    site = scope.site
    containers = _looked_into(scope)
    for anchor in site.anchors:
        names = scope.visible(anchor)[:7]
        for into in names:
            kinds = scope.kinds.get(into, set())
            for value in names:
                if value == into:
                    continue
                codes: list[str] = []
                if "sequence" in kinds or not kinds:
                    codes += [f"{into}.append({value})", f"{into}.extend({value})"]
                if "set" in kinds:
                    codes.append(f"{into}.add({value})")
                if "number" in kinds:
                    codes.append(f"{into} += {value}")
                if {"number", "boolean", "text"} & kinds or not kinds:
                    codes.append(f"{into} = {value}")
                if (into, value) in containers:
                    for code in (f"{into}[{value}] = {o}" for o in names if o not in {into, value}):
                        yield from after(site, anchor, (code,), 3.0)
                elif "mapping" in kinds:
                    codes += [f"{into}[{value}] = {o}" for o in names if o not in {into, value}]
                mixed = _MIXED if scope.around.units.differ(into, value) else 0.0
                for code in codes:
                    for put in (after, before):
                        yield from put(
                            site, anchor, (code,), 3.8 + (mixed if "+=" in code else 0.0)
                        )
            if "number" in kinds:
                for code in (f"{into} += 1", f"{into} -= 1", f"{into} = 0"):
                    yield from after(site, anchor, (code,), 3.5)
            if "sequence" in kinds:
                for code in (f"{into}.sort()", f"{into}.reverse()", f"{into}.pop()"):
                    yield from after(site, anchor, (code,), 3.9)


def resets(scope: MutationContext) -> Iterator[Mutation]:
    """What began empty and grows begins anew: `current = []` in a loop, `self.failed = 0`."""
    site = scope.site
    begun: dict[str, str] = {}
    for statement in site.statements:
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                pairs = [(name, value)]
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Tuple(elts=values)):
                pairs = [(n.id, v) for n, v in zip(names, values, strict=False)
                         if isinstance(n, ast.Name)]  # fmt: skip
            case _:
                continue
        for name, value in pairs:
            if not any(isinstance(a, LOOPS) for a in scope.above(statement)) and _is_first(value):
                begun.setdefault(name, site.segment(value))
    for anchor in site.statements:
        loops = [a for a in scope.above(anchor) if isinstance(a, LOOPS)]
        if loops:
            used = {n.id for n in ast.walk(loops[-1]) if isinstance(n, ast.Name)}
            for name in (n for n in begun if n in used):
                yield from after(site, anchor, (f"{name} = {begun[name]}",), 2.8)
            if isinstance(anchor, ast.If) and not anchor.orelse:
                grown = {ast.unparse(n.target) for n in anchor.body if isinstance(n, ast.AugAssign)}
                for name in (n for n in begun if n in grown):
                    lines = ("else:", f"\t{name} = {begun[name]}")
                    yield from after(site, anchor, lines, 2.8)
    for code in _only_grown(scope):
        for anchor in site.statements:
            for put in (before, after):
                yield from put(site, anchor, (code,), 2.4)


def _only_grown(scope: MutationContext) -> Iterator[str]:
    """Numbers of the instance that a method compares and that only grow, begun anew."""
    begin = scope.around.methods.get("__init__")
    receiver = scope.receiver()
    nodes = [n for method in scope.around.methods.values() for n in ast.walk(method)]
    compared = {
        ast.unparse(part)
        for node in nodes
        if isinstance(node, ast.Compare)
        for part in (node.left, *node.comparators)
    }
    used = {ast.unparse(node) for node in scope.site.each(ast.Attribute)}
    grown = {ast.unparse(n.target) for n in nodes if isinstance(n, ast.AugAssign)}
    stored = [ast.unparse(t) for n in nodes if isinstance(n, ast.Assign) for t in n.targets]
    for statement in begin.body if begin is not None else ():
        match statement:
            case ast.Assign(
                targets=[ast.Attribute(value=ast.Name(id=owner)) as target],
                value=ast.Constant(value=int()),
            ) if owner == receiver:
                name = ast.unparse(target)
                if name in compared & grown & used and stored.count(name) == 1:
                    yield ast.unparse(statement)


def _is_first(value: ast.expr) -> bool:
    match value:
        case ast.Constant() | ast.List(elts=[]) | ast.Dict(keys=[]) | ast.Tuple(elts=[]):
            return True
        case ast.Call(func=ast.Name(id="set" | "list" | "dict"), args=[]):
            return True
    return False


def _looked_into(scope: MutationContext) -> set[tuple[str, str]]:
    """Names with the names of keys that are looked up in them: `key in kept`, `kept[key]`."""
    found: set[tuple[str, str]] = set()
    for node in scope.site.nodes:
        match node:
            case ast.Compare(
                left=ast.Name(id=key),
                ops=[ast.In() | ast.NotIn()],
                comparators=[ast.Name(id=name)],
            ):
                found.add((name, key))
            case ast.Subscript(value=ast.Name(id=name), slice=ast.Name(id=key)):
                found.add((name, key))
    return found


def flushes(scope: MutationContext) -> Iterator[Mutation]:
    """After a loop its last state is taken in: `if current: result.append(current)`, 3.4."""
    site = scope.site
    for node in site.statements:
        if not isinstance(node, ast.For | ast.While):
            continue
        for inner in ast.walk(node):
            match inner:
                case ast.Expr(
                    value=ast.Call(func=ast.Attribute(attr="append" | "add" | "extend") as taking)
                ):
                    code = site.segment(inner)
                    if "\n" in code:
                        continue
                    yield from after(site, node, (code,), 3.2)
                    yield from _remainders(scope, node, taking)
                    yield from _flushed(scope, node, inner, code)
                case ast.Expr(value=ast.Yield(value=ast.expr())):
                    yield from _flushed(scope, node, inner, site.segment(inner))


def _flushed(
    scope: MutationContext, loop: ast.stmt, taken: ast.AST, code: str
) -> Iterator[Mutation]:
    """A statement of a loop after it, where there is something; most likely what it takes in."""
    own = {n.id for n in ast.walk(taken) if isinstance(n, ast.Name)}
    for name in scope.visible(loop)[:7] if "\n" not in code else ():
        cost = 3.0 if name in own else 3.9
        for test in (name, f"{name} is not None"):
            yield from after(scope.site, loop, (f"if {test}:", f"\t{code}"), cost)
            cost += 0.2


def _remainders(
    scope: MutationContext, loop: ast.For | ast.While, taking: ast.expr
) -> Iterator[Mutation]:
    """What the loop took from is taken in as a whole: `parts.append(rest)` after it."""
    changed = {
        node.id
        for node in ast.walk(loop)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    function = scope.site.segment(taking)
    for name in scope.visible(loop):
        if name in changed:
            yield from after(scope.site, loop, (f"{function}({name})",), 3.0)


def missing_jumps(scope: MutationContext) -> Iterator[Mutation]:
    """A branch in a loop ends with a jump, `break` or `continue`: 2.6."""
    site = scope.site
    for node in site.each(ast.If):
        if isinstance(node.body[-1], _JUMPS):
            continue
        loop = next((a for a in scope.above(node) if isinstance(a, LOOPS)), None)
        if loop is None:
            continue
        # After the last statement of a round, to go on is what happens anyway.
        words = ("break",) if loop.body[-1] is node and not node.orelse else ("break", "continue")
        for word in words:
            yield from after(site, node.body[-1], (word,), 2.6)


def carry_values(scope: MutationContext) -> Iterator[Mutation]:
    """A loop goes on from where it began: `yield step(x)` to `x = step(x)` and `yield x`, 2.6.

    Only where the loop makes a value of a name, and never sets that name.
    """
    site = scope.site
    for loop in site.statements:
        if not isinstance(loop, LOOPS):
            continue
        names = (node for node in ast.walk(loop) if isinstance(node, ast.Name))
        changed = {node.id for node in names if not isinstance(node.ctx, ast.Load)}
        for statement in loop.body:
            value = _passed_on(statement)
            if value is None or "\n" in site.segment(value):
                continue
            made = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
            for name in sorted(made & set(scope.visible(loop)) - changed):
                for step in before(site, statement, (f"{name} = {site.segment(value)}",), 2.6):
                    (cut,) = site.put(value, Text(name), 2.6).cuts
                    yield replace(step, cuts=(*step.cuts, cut))


def _passed_on(statement: ast.stmt) -> ast.expr | None:
    """The call or sum that a statement yields or gives to a method; None for other ones."""
    match statement:
        case ast.Expr(value=ast.Yield(value=ast.Call() | ast.BinOp() as value)):
            return value
        case ast.Expr(
            value=ast.Call(func=ast.Attribute(), args=[ast.Call() | ast.BinOp() as value])
        ):
            return value
    return None
