"""What two versions of a function share: their nodes in a tree, their code objects in pairs."""

from __future__ import annotations

import ast
import types

DEF = (ast.FunctionDef, ast.AsyncFunctionDef)


def first_line(node):
    return min([node.lineno] + [d.lineno for d in node.decorator_list])


def chain_to(tree, first, name):
    """The nodes from the outside to the function that starts at a line, or None."""

    def walk(node, path):
        for child in ast.iter_child_nodes(node):
            inside = [*path, child] if isinstance(child, (*DEF, ast.ClassDef)) else path
            if isinstance(child, DEF) and child.name == name and first_line(child) == first:
                return inside
            found = walk(child, inside)
            if found:
                return found
        return None

    return walk(tree, [])


def find_code(code, name, first):
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            if const.co_name == name and const.co_firstlineno == first:
                return const
            found = find_code(const, name, first)
            if found is not None:
                return found
    return None


def _inner(code):
    """Code constants by name, in order."""
    names = {}
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            names.setdefault(const.co_name, []).append(const)
    return names


def pair(old, new, mapping):
    """Old code to new code by name and position, as far as their numbers agree."""
    mapping[id(old)] = old, new
    olds, news = _inner(old), _inner(new)
    for name, group in olds.items():
        others = news.get(name, [])
        if len(others) == len(group):
            for one, other in zip(group, others):
                pair(one, other, mapping)


def descendants(code):
    for const in code.co_consts:
        if isinstance(const, types.CodeType):
            yield const
            yield from descendants(const)


def own(code):
    """What a code object does itself, its inner ones and its line numbers left out."""
    consts = [
        const.co_name if isinstance(const, types.CodeType) else (type(const).__name__, repr(const))
        for const in code.co_consts
    ]
    return (
        code.co_code,
        code.co_names,
        code.co_varnames,
        code.co_freevars,
        code.co_cellvars,
        code.co_argcount,
        code.co_posonlyargcount,
        code.co_kwonlyargcount,
        code.co_flags,
        consts,
    )


def dumps(nodes):
    return [ast.dump(node) for node in nodes]


def _arguments(node):
    args = node.args
    every = args.posonlyargs + args.args + args.kwonlyargs
    return every + [extra for extra in (args.vararg, args.kwarg) if extra]


def annotations(node):
    notes = [(a.arg, ast.dump(a.annotation)) for a in _arguments(node) if a.annotation]
    return notes, ast.dump(node.returns) if node.returns else None


def defaults(node):
    return dumps(node.args.defaults), dumps(d for d in node.args.kw_defaults if d)


def parameters(node):
    args = node.args
    return (
        [a.arg for a in args.posonlyargs],
        [a.arg for a in args.args],
        [a.arg for a in args.kwonlyargs],
        args.vararg and args.vararg.arg,
        args.kwarg and args.kwarg.arg,
        [d is None for d in args.kw_defaults],
    )
