"""What a patch may never touch or newly reach for. A filter on proposals, not a boundary."""

from __future__ import annotations

import ast
import difflib
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from heal_bot.core.model import Candidate, Edit, Target
from heal_bot.ports import Tree
from heal_bot.source import (
    capability_scan,
    confusables,
    functions,
    guard,
    imports,
    line_targets,
    minimum_python,
    paths,
)
from heal_bot.source import edit as editing

MAX_EDITS = 8
# What takes a commit back whole is as large as the commit, and never more than a draft.
MAX_UNDONE = 50
_WORD = re.compile(r"\w+")
_OF_MODULE = re.compile(r"uses \w+\.")
MAX_SOURCE = 32_000
is_test = paths.is_test
is_protected = paths.is_protected


def check_candidate(candidate: Candidate, tree: Tree) -> str:
    """Why the candidate is refused, or '' when it may run."""
    if not candidate.edits:
        return "the candidate changes nothing"
    most = MAX_UNDONE if candidate.undoes else MAX_EDITS
    if len(candidate.edits) > most:
        return f"the candidate has {len(candidate.edits)} edits; at most {most} are allowed"
    plugins = paths.find_plugins(tree)
    for edit in candidate.edits:
        path = edit.target.path
        if is_test(path) or is_protected(path) or path in plugins:
            return f"{path} is never changed: it belongs to tests, build or configuration"
        try:
            reason = _check_edit(
                edit, editing.text_of(tree, path)
            ) or minimum_python.explain_too_new(edit, tree)
        except (editing.EditError, guard.SourceRejected) as error:
            return str(error)
        if reason:
            return f"{edit.target.qualname}: {reason}"
    return ""


def list_doubts(candidate: Candidate, tree: Tree) -> tuple[str, ...]:
    """What a reviewer should look at although it is allowed: signatures, imports, wide excepts."""
    found: list[str] = []
    for edit in candidate.edits:
        name = edit.target.qualname
        text = editing.text_of(tree, edit.target.path)
        gained = imports.find_missing(text, edit.imports) if edit.imports else ()
        found.extend(f"{edit.target.path} gains `{line}`" for line in gained)
        if edit.target.kind == line_targets.KIND:
            continue
        old, new = _bodies(edit, text)
        if edit.target.kind == "function" and _signature(old) != _signature(new):
            found.append(f"{name} changes its signature")
        if edit.target.kind == "default":
            found.append(f"{name} changes a default argument, which callers may rely on")
        if _wide_excepts(new) > _wide_excepts(old):
            found.append(f"{name} newly catches every Exception")
    return tuple(found)


def _check_edit(edit: Edit, text: str) -> str:
    target = edit.target
    if len(edit.new_source) > MAX_SOURCE:
        return f"new source of {len(edit.new_source):,} characters; at most {MAX_SOURCE:,}"
    spans = target.kind == line_targets.KIND
    known = (
        line_targets.find_lines(target.path, text, target.qualname)
        if spans
        else functions.find_target(
            functions.index_targets(target.path, text), target.qualname, target.kind, target.nth
        )
    )
    if known != target:
        return "no such target in the commit"
    if edit.new_source == target.source and not edit.imports:
        return "the new source equals the old one"
    if not spans and functions.find_indentation(edit.new_source) != functions.find_indentation(
        target.source
    ):
        return "the new source starts at another indentation"
    if reason := confusables.explain_gained(
        target.source, "\n".join((*edit.imports, edit.new_source)), text
    ):
        return reason
    if spans:
        return _check_lines(edit, text)
    old, new = _bodies(edit, text)
    reason = _same_shape(target, old, new)
    if reason:
        return reason
    return _risk(edit, text, old, new)


def _check_lines(edit: Edit, text: str) -> str:
    """Whether lines become what they may; what the new ones reach for, the rest does already."""
    after = editing.splice(text, (edit,))
    if reason := line_targets.explain_refusal(edit.target, text, after, edit.new_source):
        return reason
    new = guard.parse(after)
    aliases = capability_scan.find_imported(new)
    found = {line_targets.find_innermost(new, line) for line in _worded(text, after)}
    inside = [node for node in found if node is not None]
    gained = {
        fact
        for one in inside
        for fact in capability_scan.list_capabilities(ast.Module([one], []), aliases)
    }
    _Without(inside).visit(new)
    fresh = gained - capability_scan.list_capabilities(new, aliases)
    return f"the new code {min(fresh)}, which the old code does not" if fresh else ""


def _worded(text: str, after: str) -> Iterator[int]:
    """The new lines that have words which those in their place did not have."""
    old, new = functions.split_lines(text), functions.split_lines(after)
    for _, a, b, c, d in difflib.SequenceMatcher(None, old, new).get_opcodes():
        if set(_WORD.findall("".join(new[c:d]))) - set(_WORD.findall("".join(old[a:b]))):
            yield from range(c + 1, d + 1)


class _Without(ast.NodeTransformer):
    """Takes statements out of a tree."""

    def __init__(self, nodes: Sequence[ast.stmt]) -> None:
        self.nodes = nodes

    def visit(self, node: ast.AST) -> ast.AST | None:
        return None if node in self.nodes else self.generic_visit(node)


def _risk(edit: Edit, text: str, old: ast.Module, new: ast.Module) -> str:
    """The first thing the new code reaches for and neither the old code nor the module did.

    Of the module what it uses of others counts, of the class what it defines by itself.
    """
    added = imports.find_missing(text, edit.imports) if edit.imports else ()
    wanted = guard.parse("\n".join(added))
    aliases = {**capability_scan.find_aliases(text), **capability_scan.find_imported(wanted)}
    after = capability_scan.list_capabilities(new, aliases) | capability_scan.list_capabilities(
        wanted, {}
    )
    fresh = after - _reached(old, text, added) if after else after
    fresh = fresh - _customary(edit.target, text) if fresh else fresh
    return f"the new code {min(fresh)}, which the old code does not" if fresh else ""


@lru_cache(maxsize=256)
def _reached(old: ast.Module, text: str, added: tuple[str, ...]) -> frozenset[str]:
    """What the old code reaches for, by the names of its file and of the imports added to it."""
    wanted = guard.parse("\n".join(added))
    return capability_scan.list_capabilities(
        old, {**capability_scan.find_aliases(text), **capability_scan.find_imported(wanted)}
    )


@lru_cache(maxsize=256)
def _customary(target: Target, text: str) -> frozenset[str]:
    """What the module uses of other modules, and the special methods of the target's class."""
    module = capability_scan.list_capabilities(
        guard.parse(text), capability_scan.find_aliases(text)
    )
    used = (fact for fact in module if _OF_MODULE.match(fact))
    owner = target.qualname.rpartition(".")[0]
    own = (t.qualname.removeprefix(f"{owner}.") for t in functions.index_targets(target.path, text)
           if owner and t.qualname.startswith(f"{owner}."))  # fmt: skip
    return frozenset((*used, *(f"uses .{name}" for name in own)))


def _bodies(edit: Edit, text: str) -> tuple[ast.Module, ast.Module]:
    """The target before and after as trees; a default argument as the function it belongs to."""
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
        return _alone(around[0].source), _alone("".join(body))
    return _alone(target.source), _alone(new_source)


@lru_cache(maxsize=1024)
def _alone(source: str) -> ast.Module:
    """The statements of a target, parsed without the file around it."""
    first = functions.find_indentation(source)
    tree = guard.parse(f"if 1:\n{source}" if first else source)
    if first and len(tree.body) == 1 and isinstance(tree.body[0], ast.If):
        return ast.Module(body=tree.body[0].body, type_ignores=[])
    if first:
        raise guard.SourceRejected("the new source leaves its indentation")
    return tree


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

    class Blank(ast.NodeTransformer):
        def generic_visit(self, node: ast.AST) -> ast.AST:
            node = super().generic_visit(node)
            if kind == "default" and isinstance(node, ast.arguments):
                node.defaults = [blank] * len(node.defaults)
                node.kw_defaults = [d and blank for d in node.kw_defaults]
            elif kind != "default" and isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                node.value = blank
            return node

    copied = ast.parse(ast.unparse(tree))
    return ast.dump(Blank().visit(copied))


def _signature(tree: ast.Module) -> str:
    node = tree.body[0]
    assert isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    return ast.dump(node.args) + (ast.dump(node.returns) if node.returns else "")


def _wide_excepts(tree: ast.Module) -> int:
    return sum(
        isinstance(node, ast.ExceptHandler)
        and isinstance(node.type, ast.Name)
        and node.type.id == "Exception"
        for node in ast.walk(tree)
    )
