"""What a patch may never touch or newly reach for. A filter on proposals, not a boundary."""

from __future__ import annotations

import ast
import contextlib
import difflib
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from heal_bot.core.model import Candidate, Edit, Target
from heal_bot.ports import Tree
from heal_bot.source import (
    bound_names,
    capability_scan,
    confusables,
    functions,
    guard,
    imports,
    line_targets,
    minimum_python,
    paths,
    restored_definitions,
)
from heal_bot.source import edit as editing
from heal_bot.source.name_resolution import Names

MAX_EDITS = 8
# What takes a commit back whole is as large as the commit, and a patch of several causes as large
# as all of them: each is never more than a draft.
MAX_EDITS_OF_ALL = 50
_WORD = re.compile(r"\w+")
MAX_SOURCE = 32_000
_Facts = tuple[frozenset[str], frozenset[str]]


def check_candidate(candidate: Candidate, tree: Tree, most: int = MAX_EDITS) -> str:
    """Why the candidate, with at most so many edits, is refused; '' when it may run."""
    if not candidate.edits:
        return "the candidate changes nothing"
    most = MAX_EDITS_OF_ALL if candidate.undoes else most
    if len(candidate.edits) > most:
        return f"the candidate has {len(candidate.edits)} edits; at most {most} are allowed"
    plugins = paths.find_plugins(tree)
    for edit in candidate.edits:
        path = edit.target.path
        if paths.is_test(path) or paths.is_protected(path) or path in plugins:
            return f"{path} is never changed: it belongs to tests, build or configuration"
        try:
            reason = _check_edit(edit, editing.text_of(tree, path), candidate, tree)
            reason = reason or minimum_python.explain_too_new(edit, tree)
        except (editing.EditError, guard.SourceRejected) as error:
            return str(error)
        if reason:
            return f"{edit.target.qualname}: {reason}"
    try:
        return _explain_unbound(candidate.edits, tree)
    except (editing.EditError, guard.SourceRejected) as error:
        return str(error)


def _explain_unbound(edits: Sequence[Edit], tree: Tree) -> str:
    """The name that functions newly use and that nothing binds: it fails where no test comes."""
    for path in dict.fromkeys(edit.target.path for edit in edits):
        mine = [edit for edit in edits if edit.target.path == path]
        text = editing.text_of(tree, path)
        after = editing.splice(text, mine)
        fresh = [(edit.target.qualname, _gained_globals(edit)) for edit in mine]
        if not any(gained for _, gained in fresh):
            continue
        # What a module makes by other means is used there already.
        unbound = bound_names.find_unbound(after) - bound_names.find_unbound(text)
        for name, gained in fresh:
            if missing := gained & unbound:
                return f"{name}: {min(missing)} is bound nowhere"
    return ""


def _gained_globals(edit: Edit) -> frozenset[str]:
    """The names that a target newly takes from its module; none where it is no whole statement."""
    old, new = (bound_names.find_globals(text) for text in (edit.target.source, edit.new_source))
    return new - old if new and old is not None else frozenset()


def list_doubts(candidate: Candidate, tree: Tree) -> tuple[str, ...]:
    """What a reviewer should look at although it is allowed: size, signatures, wide excepts."""
    found: list[str] = []
    if (places := len(candidate.edits)) > MAX_EDITS and not candidate.undoes:
        found.append(f"it changes {places} places, more than {MAX_EDITS}")
    for path in dict.fromkeys(edit.target.path for edit in candidate.edits):
        mine = [edit for edit in candidate.edits if edit.target.path == path]
        gained = editing.find_added_imports(editing.text_of(tree, path), mine)
        found.extend(f"{path} gains `{line}`" for line in gained)
    for edit in candidate.edits:
        name = edit.target.qualname
        text = editing.text_of(tree, edit.target.path)
        if edit.target.kind == line_targets.KIND:
            continue
        (old, _), (new, _) = _bodies(edit, text)
        if edit.target.kind == "function" and (head := functions.compare_heads(old, new)):
            found.append(f"{name} changes its {head}")
        if edit.target.kind == "default":
            found.append(f"{name} changes a default argument, which callers may rely on")
        if _wide_excepts(new) > _wide_excepts(old):
            found.append(f"{name} newly catches every Exception")
    return (*found, *(told for told, unclear in _reaches(candidate, tree).items() if unclear))


def list_restored(candidate: Candidate, tree: Tree) -> tuple[Target, ...]:
    """The functions that a candidate brings back from the history, as they were."""
    return tuple(one for _, gone in _drop_each(candidate, tree).values() for one in gone)


def _drop_each(candidate: Candidate, tree: Tree) -> dict[Edit, tuple[str, tuple[Target, ...]]]:
    """For each edit of lines its file without the functions that come back, and these."""
    return {
        one: _drop_restored(one, editing.text_of(tree, one.target.path), candidate, tree)
        for one in candidate.edits
        if one.target.kind == line_targets.KIND
    }


def _drop_restored(
    edit: Edit, text: str, candidate: Candidate, tree: Tree
) -> tuple[str, tuple[Target, ...]]:
    """A file with lines changed but for the functions that come back as they were, and these."""
    after = _splice_lines(edit, text, candidate.edits)
    if candidate.undoes is None:
        return after, ()
    restored = restored_definitions.list_restored(text, after, edit.target.path, tree)
    return restored_definitions.drop_lines(after, restored), restored


def _check_edit(edit: Edit, text: str, candidate: Candidate, tree: Tree) -> str:
    target = edit.target
    if len(edit.new_source) > MAX_SOURCE:
        return f"new source of {len(edit.new_source):,} characters; at most {MAX_SOURCE:,}"
    spans = target.kind == line_targets.KIND
    known = (
        line_targets.find_lines(target.path, text, target.qualname)
        if spans
        else functions.find_same(target, functions.index_targets(target.path, text))
    )
    if known != target:
        return "no such target in the commit"
    if edit.new_source == target.source and not edit.imports:
        return "the new source equals the old one"
    old, new = map(functions.find_indentation, (target.source, edit.new_source))
    if not spans and old != new:
        return "the new source starts at another indentation"
    gained = "\n".join((*edit.imports, edit.new_source))
    if reason := confusables.explain_gained(target.source, gained, text):
        return reason
    if spans:
        after, _ = _drop_restored(edit, text, candidate, tree)
        return line_targets.explain_refusal(target, text, after, edit.new_source)
    if edit.imports:
        imports.find_missing(text, edit.imports)
    (was, _), (now, _) = _bodies(edit, text)
    return _same_shape(target, was, now)


def list_reaches(candidate: Candidate, tree: Tree) -> tuple[str, ...]:
    """What functions newly reach for that is not on the allow list: a person decides on that."""
    return tuple(told for told, unclear in _reaches(candidate, tree).items() if not unclear)


def list_decisions(candidate: Candidate, tree: Tree) -> tuple[str, ...]:
    """Why a person has to decide on what passes: what it reaches for, and where it is.

    A plugin of pytest could have the tests pass by other means.
    """
    told = "takes part in the run of the tests: that they pass says less"
    changed = {edit.target.path for edit in candidate.edits}
    plugins = sorted(changed & paths.find_entry_points(tree))
    return (*(f"{path} {told}" for path in plugins), *list_reaches(candidate, tree))


def _reaches(candidate: Candidate, tree: Tree) -> dict[str, bool]:
    """What targets newly reach for, in words, and whether that is no more than unclear.

    So is what the target reached for before the commits under test, where the candidate takes one
    of them back or a part of it.
    """
    names, found = Names(tree), dict[str, bool]()
    sources = [one.new_source for one in candidate.edits[1:] and candidate.edits]
    others = frozenset().union(*map(bound_names.all_bound, sources))
    # What comes back from the history may reach for anything: to use it is to reach for that.
    dropped = _drop_each(candidate, tree)
    others -= {one.qualname.rpartition(".")[2] for _, gone in dropped.values() for one in gone}
    for edit in candidate.edits:
        path, name = edit.target.path, edit.target.qualname
        text = editing.text_of(tree, path)
        spans = edit.target.kind == line_targets.KIND
        place = capability_scan.Place(names, path, others=others)
        after, restored = dropped.get(edit, ("", ()))
        fresh, known = (
            _lines_reach(after, text, place) if spans else _edit_reaches(edit, text, place)
        )
        for one in restored:
            facts = _former_facts(one, restored_definitions.read_former(one, tree), names)
            found |= {f"{one.qualname} {fact} again": True for fact in sorted(facts)}
        history = fresh and candidate.undoes is not None and not spans
        before = tree.former(path) if history else None
        former = _former_facts(edit.target, before, names) if before else frozenset[str]()
        for fact in sorted(fresh):
            unclear = fact in former or capability_scan.is_unclear(fact, known)
            found[f"{name} {fact} again" if fact in former else f"{name} newly {fact}"] = unclear
    return found


def _former_facts(target: Target, before: bytes, names: Names) -> frozenset[str]:
    """What a target reached for before the commits that are under test."""
    with contextlib.suppress(guard.SourceRejected):
        text = guard.check_text(before)
        found = functions.index_targets(target.path, text)
        if old := functions.find_same(target, found):
            bound = bound_names.list_imports(ast.walk(guard.parse(text)))
            place = capability_scan.Place(names, target.path, bound)
            return capability_scan.list_facts(_alone(old.source), old.source, place)
    return frozenset()


def _edit_reaches(edit: Edit, text: str, place: capability_scan.Place) -> _Facts:
    """The facts of the new code that the old code of the same function does not have, and its own.

    An import that is added counts for the old code where it gives it a name that it lacked.
    """
    added = imports.find_missing(text, edit.imports) if edit.imports else ()
    wanted = guard.parse("\n".join(added))
    bound = bound_names.list_imports(wanted.body)
    same = {name: found for name, found in bound.items() if not any(a.asname for _, a in found)}
    (old, before), (new, after) = _bodies(edit, text)
    fresh = capability_scan.list_facts(new, after, replace(place, added=bound))
    fresh |= capability_scan.list_facts(wanted, "", place)
    if not fresh:
        return fresh, fresh
    lacked = {n.id for n in ast.walk(old) if isinstance(n, ast.Name)} & set(same)
    given = ast.Module([node for name in lacked for node, _ in same[name]], [])
    known = capability_scan.list_facts(given, "", place)
    known |= capability_scan.list_facts(old, before, replace(place, added=same))
    # A method may be called on what it is a method of by other means: a base, a wrapped object.
    known |= {f"uses .{edit.target.qualname.rpartition('.')[2]}"}
    return fresh - known, known


def _splice_lines(edit: Edit, text: str, edits: Sequence[Edit]) -> str:
    """A file with lines changed: where it does not parse all of them, as one may not be enough."""
    alike = (edit.target.path, line_targets.KIND)
    whole = [one for one in edits if (one.target.path, one.target.kind) == alike]
    return editing.splice(text, (edit,) if _read(text) else whole)


def _read(text: str) -> ast.Module | None:
    """A file as a tree; None for one that does not parse."""
    with contextlib.suppress(guard.SourceRejected):
        return guard.parse(text)
    return None


def _lines_reach(after: str, text: str, place: capability_scan.Place) -> _Facts:
    """The facts of statements with new words that the rest of their function lacks, and its own.

    What stands in no function is held against all that stands in none; an import may move.
    """
    new, lines = guard.parse(after), {*_worded(text, after)}
    nodes = [node for node in ast.walk(new) if isinstance(node, ast.stmt)]
    inside = [n for n in nodes if lines & {*range(n.lineno, functions.find_head_end(n) + 1)}]
    bound = bound_names.list_imports(nodes)
    place = replace(place, added=bound)
    heads = ast.Module([functions.copy_head(node) for node in inside], [])
    fresh = capability_scan.list_facts(heads, after, place)
    if not fresh:
        return fresh, fresh
    defined = [n for n in ast.walk(new) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    around = [n for n in defined if lines & {*range(n.lineno, (n.end_lineno or 0) + 1)}]
    without = _Without([*inside, *(() if around else defined)])
    rest = [part for node in around for part in node.body] if around else new.body
    kept = [part for part in rest if without.visit(part)]
    known = capability_scan.list_facts(ast.Module([*kept, *_imports(text)], []), after, place)
    return fresh - known, known


def _imports(text: str) -> list[ast.stmt]:
    """The imports of a file, if it can be read."""
    found = ast.walk(_read(text) or ast.Module([], []))
    return [node for node in found if isinstance(node, ast.Import | ast.ImportFrom)]


def _worded(text: str, after: str) -> Iterator[int]:
    """The new lines that have words which those in their place did not have.

    What stays in a file that could not be read was no code before.
    """
    old, new = functions.split_lines(text), functions.split_lines(after)
    known = _read(text) is not None
    for tag, a, b, c, d in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if known and tag == "equal":
            continue
        if set(_WORD.findall("".join(new[c:d]))) - _names_in(old[a:b]):
            yield from range(c + 1, d + 1)


def _names_in(lines: Sequence[str]) -> set[str]:
    """The names in lines that may not parse, without what stands in comments and strings."""
    found = set[str]()
    for line in lines:
        with contextlib.suppress(tokenize.TokenError, SyntaxError):
            for token in tokenize.generate_tokens(iter([line.strip()]).__next__):
                if token.type == tokenize.NAME:
                    found.add(token.string)
    return found


class _Without(ast.NodeTransformer):
    """Takes statements out of a tree."""

    def __init__(self, nodes: Sequence[ast.stmt]) -> None:
        self.nodes = nodes

    def visit(self, node: ast.AST) -> ast.AST | None:
        return None if node in self.nodes else self.generic_visit(node)


def _bodies(edit: Edit, text: str) -> tuple[tuple[ast.Module, str], tuple[ast.Module, str]]:
    """The target before and after, tree and text; a default as the function it belongs to."""
    target, new_source = edit.target, edit.new_source
    if target.kind == "default":
        owner = target.qualname.rpartition(".")[0]
        around = [
            t
            for t in functions.index_targets(target.path, text)
            if (t.qualname, t.kind) == (owner, "function")
            and t.first_line <= target.first_line <= t.last_line
        ]
        first = target.first_line - around[0].first_line
        body = list(functions.split_lines(around[0].source))
        body[first : first + target.last_line - target.first_line + 1] = [
            new_source.rstrip("\r\n") + "\n"
        ]
        before, after = around[0].source, "".join(body)
    else:
        before, after = target.source, new_source
    return (_alone(before), before), (_alone(after), after)


@lru_cache(maxsize=1024)
def _alone(source: str) -> ast.Module:
    """The statements of a target, parsed without the file around it."""
    if not functions.find_indentation(source):
        return guard.parse(source)
    match guard.parse(f"if 1:\n{source}").body:
        case [ast.If(body=body, orelse=[])]:
            return ast.Module(body, [])
    raise guard.SourceRejected("the new source leaves its indentation")


def _same_shape(target: Target, old: ast.Module, new: ast.Module) -> str:
    """Whether only what the target's kind allows to change has changed."""
    if target.kind != "function":
        same = _without_values(old, target.kind) == _without_values(new, target.kind)
        return "" if same else "more than the value changes"
    before, after = old.body[0], new.body[0] if len(new.body) == 1 else None
    if type(after) is not type(before):
        return "the new source is not exactly one function of the same kind"
    assert isinstance(before, ast.FunctionDef | ast.AsyncFunctionDef)
    assert isinstance(after, ast.FunctionDef | ast.AsyncFunctionDef)
    if before.name != after.name:
        return f"the new source defines {after.name}"
    if list(map(ast.dump, before.decorator_list)) != list(map(ast.dump, after.decorator_list)):
        return "the decorators change"
    return ""


def _without_values(tree: ast.Module, kind: str) -> str:
    blank = ast.Constant(None)
    copied = ast.parse(ast.unparse(tree))
    for node in ast.walk(copied):
        if kind == "default" and isinstance(node, ast.arguments):
            node.defaults = [blank] * len(node.defaults)
            node.kw_defaults = [d and blank for d in node.kw_defaults]
        elif kind != "default" and isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
            node.value = blank
    return ast.dump(copied)


def _wide_excepts(tree: ast.Module) -> int:
    return sum(
        isinstance(node, ast.ExceptHandler)
        and isinstance(node.type, ast.Name)
        and node.type.id == "Exception"
        for node in ast.walk(tree)
    )
