"""Which names count the same: `n > self.tokens` and `now - self.last` tell two groups apart.

Names and attributes that a module adds, compares or assigns to each other go together. A sum of
two that go with different ones mixes what is counted differently, as pieces and seconds.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass, field

_KEPT = {"min", "max", "abs", "round", "int", "float"}


@dataclass(slots=True)
class Units:
    """Groups of names and attributes (with a dot before them), each by one of its members."""

    leaders: dict[str, str] = field(default_factory=dict)

    def differ(self, one: str, other: str) -> bool:
        """Whether two names go with others, and not with each other."""
        if one not in self.leaders or other not in self.leaders:
            return False
        return self._leader(one) != self._leader(other)

    def join(self, *nodes: ast.expr) -> None:
        """Put the expressions together; those that do not show what they count are left out."""
        found = [name for name in map(infer_unit, nodes) if name]
        if len(set(found)) > 1:
            first = self._leader(found[0])
            for name in found:
                self.leaders[self._leader(name)] = first

    def _leader(self, name: str) -> str:
        while self.leaders.setdefault(name, name) != name:
            name = self.leaders[name]
        return name


def infer_unit(node: ast.expr) -> str:
    """The name or attribute that says what an expression counts; '' where none does."""
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        right = node.right
        if isinstance(right, ast.Name | ast.Attribute):
            return infer_unit(right)
        node = node.left
    match node:
        case ast.Name(id=name):
            return name
        case ast.Attribute(attr=name):
            return f".{name}"
        case ast.UnaryOp(op=ast.USub(), operand=inner):
            return infer_unit(inner)
        case ast.Call(func=ast.Name(id=name), args=args) if name in _KEPT:
            return next(filter(None, map(infer_unit, args)), "")
    return ""


def gather_units(tree: ast.AST) -> Units:
    """What a module says of its names."""
    found = Units()
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(left=left, op=ast.Add() | ast.Sub(), right=right):
                found.join(left, right)
            case ast.AugAssign(target=left, op=ast.Add() | ast.Sub(), value=right):
                found.join(left, right)
            case ast.Assign(targets=[left], value=right):
                found.join(left, right)
            case ast.Compare(left=left, comparators=others):
                if not any(isinstance(op, ast.In | ast.NotIn) for op in node.ops):
                    found.join(left, *others)
            case ast.Call(func=ast.Name(id="min" | "max"), args=args):
                found.join(*args)
    return found
