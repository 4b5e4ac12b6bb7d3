"""Arguments: `merge(b, a)` becomes `merge(a, b)`.

Two exchange, neighbours first, one drops, one is repeated from a parameter of the function itself,
a keyword appears (`reverse=True`, `key=`), a name stands for a longer expression.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import combinations

from heal_bot.repair.templates.change_tiers import Tier, combine_tiers
from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.target_ast import last_name
from heal_bot.repair.templates.text_edits import FEW, Mutation, Text, TextEdit, says
from heal_bot.source.definitions import Function

_KEYWORDS = {
    "sorted": ("reverse=True", "key=len", "key=str", "key=str.lower", "key=lambda x: x[1]",
               "key=lambda x: x[0]", "key=lambda x: -x"),
    "sort": ("reverse=True", "key=len", "key=str.lower", "key=lambda x: x[1]",
             "key=lambda x: x[0]"),
    "max": ("key=len", "default=0", "default=None"),
    "min": ("key=len", "default=0", "default=None"),
    "round": ("2", "1"),
    "enumerate": ("start=1", "1"),
    "split": ('" "', '","', "1"),
    "rsplit": ("1",),
    "next": ("None",),
    "sum": ("[]", "start=1"),
    "zip": ("strict=True",),
    "open": ('encoding="utf-8"',),
    "dumps": ("sort_keys=True", "indent=2", "ensure_ascii=False"),
    "int": ("2", "16"),
    "pop": ("0", "None"),
    "replace": ("1",),
    "index": ("1",),
}  # fmt: skip
# How regular expressions are read, and how many arguments come before that.
_FLAGS = ("IGNORECASE", "MULTILINE", "DOTALL")
_BEFORE_FLAGS = {"compile": 1, "sub": 4, "subn": 4, "split": 3} | dict.fromkeys(
    ("match", "search", "fullmatch", "findall", "finditer"), 2
)
# Arguments that are often a name in scope, and how many arguments come before them.
_NAMED = {
    "deque": ("maxlen={}", 1), "split": ("{}", 0), "rsplit": ("{}", 0), "strip": ("{}", 0),
    "lstrip": ("{}", 0), "rstrip": ("{}", 0), "round": ("{}", 1), "enumerate": ("start={}", 1),
    "next": ("{}", 1), "get": ("{}", 1), "pop": ("{}", 1), "join": ("{}", 0), "sum": ("{}", 1),
}  # fmt: skip


def exchanges(scope: MutationContext) -> Iterator[Mutation]:
    """Two arguments of a call, elements of a tuple or list, or key and value change places."""
    site = scope.site
    for node in site.nodes:
        match node:
            case ast.Call(args=parts) if len(parts) > 1:
                tier = Tier.USUAL
            case ast.Tuple(elts=parts) | ast.List(elts=parts) if 1 < len(parts) <= FEW:
                # Names that are bound in the wrong order show at once.
                tier = Tier(not isinstance(node.ctx, ast.Load))
            case (
                ast.DictComp(key=ast.expr() as a, value=ast.expr() as b)
                | ast.Subscript(slice=ast.Slice(lower=ast.expr() as a, upper=ast.expr() as b))
            ):
                parts, tier = [a, b], Tier.SELDOM
            case _:
                continue
        line = site.line(node)
        for (i, one), (j, other) in combinations(enumerate(parts), 2):
            first, second = site.segment(one), site.segment(other)
            if first != second and not any(isinstance(x, ast.Starred) for x in (one, other)):
                why = says(f"{first}, {second}", f"{second}, {first}", line)
                far = combine_tiers(tier, Tier(j > i + 1))
                here = site.put(one, site.text(other), far)
                there = site.put(other, site.text(one), far)
                yield Mutation((*here.cuts, *there.cuts), far, line, why)


def drops(scope: MutationContext) -> Iterator[Mutation]:
    """An argument, keyword or element goes."""
    site = scope.site
    for node in site.nodes:
        match node:
            case ast.Call(args=args, keywords=keywords):
                parts: list[ast.expr | ast.keyword] = [*args, *keywords]
                tier = Tier.USUAL
            case ast.List(elts=elements) | ast.Set(elts=elements):
                parts, tier = [*elements], Tier.SELDOM
            case _:
                continue
        if len(parts) > FEW or (isinstance(node, ast.Set) and len(parts) < 2):
            continue
        line = site.line(node)
        for at, part in enumerate(parts):
            start, end = site.start(part), site.end(part)
            gone = site.source[start:end].decode()
            if at + 1 < len(parts):
                end = site.start(parts[at + 1])
            elif at:
                start = site.end(parts[at - 1])
            yield Mutation((TextEdit(start, end, ""),), tier, line, says(gone, "", line))


def additions(scope: MutationContext) -> Iterator[Mutation]:
    """A usual further argument (`sorted(xs, reverse=True)`), or one of the function's own."""
    site = scope.site
    for node in site.each(ast.Call):
        yield from _passed_on(scope, node)
        if any(isinstance(a, ast.Starred) for a in node.args):
            continue
        name = last_name(node.func)
        given = {k.arg for k in node.keywords}
        usual = [k for k in _KEYWORDS.get(name, ()) if k.partition("=")[0] not in given]
        usual += [f"flags=re.{flag}" for flag in _FLAGS if _takes_flags(node, given)]
        options = [(text, Tier.USUAL) for text in usual]
        options += _usual(scope, node, name)
        options += [(text, Tier.SELDOM) for text in _missing(scope, node, name)]
        for text, tier in options:
            yield added(scope, node, text, tier)


def _takes_flags(node: ast.Call, given: set[str | None]) -> bool:
    """Whether a function of `re` is called without flags."""
    match node.func:
        case ast.Attribute(value=ast.Name(id="re"), attr=attr):
            return len(node.args) <= _BEFORE_FLAGS.get(attr, -1) and "flags" not in given
    return False


def _usual(scope: MutationContext, node: ast.Call, name: str) -> Iterator[tuple[str, Tier]]:
    """A name in scope for what a builtin may be given, one that is not read yet first."""
    text, position = _NAMED.get(name, ("", 0))
    count = len(node.args)
    if not text or count > position or node.keywords or (count < position and text == "{}"):
        return
    own = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
    for found in (n for n in scope.visible(node) if n not in own):
        yield text.format(found), Tier(found not in scope.unused)


def _passed_on(scope: MutationContext, node: ast.Call) -> Iterator[Mutation]:
    """`*args` and `**kwargs` of a function around the call, when another star is passed on."""
    if not any(isinstance(a, ast.Starred) for a in node.args) and not any(
        keyword.arg is None for keyword in node.keywords
    ):
        return
    functions = [a for a in scope.ancestors(node) if isinstance(a, Function)]
    for function in [*functions, *scope.around.enclosing]:
        taken, named = function.args.vararg, function.args.kwarg
        if taken is not None and not any(isinstance(a, ast.Starred) for a in node.args):
            yield added(scope, node, f"*{taken.arg}", Tier.USUAL)
        if named is not None and all(k.arg is not None for k in node.keywords):
            yield added(scope, node, f"**{named.arg}", Tier.USUAL)


def _missing(scope: MutationContext, node: ast.Call, name: str) -> list[str]:
    """Names in scope for a parameter that a known callee takes and the call does not give."""
    callee = scope.around.functions.get(name) or scope.around.methods.get(name)
    own = scope.site.function
    if callee is None and own is not None and own.name == name:
        callee = own
    if callee is None:
        return []
    params = [a.arg for a in (*callee.args.posonlyargs, *callee.args.args)]
    bound = isinstance(node.func, ast.Attribute) and params[:1] in (["self"], ["cls"])
    rest = params[len(node.args) + bound :]
    given = {k.arg for k in node.keywords}
    names = scope.visible(node)
    found = [f"{p}={p}" for p in rest if p in names and p not in given]
    if rest and not node.keywords:
        found = [rest[0], *found] if rest[0] in names else found
        found += [n for n in names if n != rest[0]][:FEW]
    return found


def added(scope: MutationContext, node: ast.Call, text: str, tier: Tier) -> Mutation:
    """A further argument of a call, behind the positional ones or as a keyword."""
    site, line = scope.site, scope.site.line(node)
    parts: list[ast.expr | ast.keyword] = [node.func, *node.args, *node.keywords]
    last = max(parts, key=site.end)
    why = f"the call on line {line} gets the argument `{text}`"
    if last is node.func:
        end = site.end(node) - 1
        return Mutation((TextEdit(end, end, text),), tier, line, why)
    if isinstance(last, ast.GeneratorExp) and site.end(last) == site.end(node):
        begin, end = site.start(last), site.end(last)
        cuts = TextEdit(begin, begin, "("), TextEdit(end, end, f", {text})")
        return Mutation(cuts, tier, line, why)
    end = site.end(last)
    tail = site.source[end : site.end(node) - 1]
    if tail.lstrip().startswith(b")"):
        end += tail.index(b")") + 1
    positional = "=" not in text.partition("lambda")[0] and text[:2] != "**"
    if positional and node.keywords:
        first = site.start(node.keywords[0])
        return Mutation((TextEdit(first, first, f"{text}, "),), tier, line, why)
    return Mutation((TextEdit(end, end, f", {text}"),), tier, line, why)


def replaced(scope: MutationContext) -> Iterator[Mutation]:
    """An argument that is more than a name becomes a name in scope: `f(x[1:])` to `f(x)`.

    So does what an attribute is read from: `stay.begin.day` to `night.day`. A name that nothing
    reads is meant to be read somewhere.
    """
    site = scope.site
    for node in site.nodes:
        if isinstance(node, ast.Name | ast.Constant | ast.Starred | ast.Slice):
            continue
        place = site.places[node]
        match place.parent, place.field:
            case (ast.Call(), "args") | (ast.keyword(), "value") | (ast.Subscript(), "slice"):
                tier = Tier.USUAL
            case (ast.Assign() | ast.Return() | ast.Compare() | ast.For() | ast.BinOp(), _):
                tier = Tier.SELDOM
            case ast.Attribute(), _ if isinstance(node, ast.Attribute | ast.Subscript):
                tier = Tier.SELDOM
            case _:
                continue
        if isinstance(getattr(node, "ctx", None), ast.Store):
            continue
        inside = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        read_from = isinstance(place.parent, ast.Attribute)
        for name in scope.visible(node):
            if name in scope.idle:
                yield site.put(node, Text(name), Tier.USUAL)
            elif not read_from or name in _looped(scope, node):
                yield site.put(node, Text(name), combine_tiers(tier, Tier(name not in inside)))


def _looped(scope: MutationContext, node: ast.AST) -> set[str]:
    """The names that the loops around a node go through."""
    loops = (a for a in scope.above(node) if isinstance(a, ast.For | ast.AsyncFor))
    return {n.id for loop in loops for n in ast.walk(loop.target) if isinstance(n, ast.Name)}
