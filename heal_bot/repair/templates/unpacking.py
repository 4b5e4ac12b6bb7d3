"""Texts split into too many or too few parts: `k, v = t.split("=")` becomes `t.split("=", 1)`.

The crash names how many parts were expected. Too many: the split ends after one less (1.7 from the
left, 2.3 from the right). Too few of two: `partition` always gives both (2.0).
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from heal_bot.repair.templates.mutation_context import MutationContext
from heal_bot.repair.templates.text_edits import Mutation, Text

_MANY = re.compile(r"too many values to unpack \(expected (\d{1,2})[,)]")
_FEW = re.compile(r"not enough values to unpack \(expected 2, got 1\)")


def splits(scope: MutationContext) -> Iterator[Mutation]:
    """Another way of splitting, where a test failed since the parts did not fit the names."""
    messages = " ".join(message[:2000] for message in scope.evidence.messages)
    many = {int(number) for number in _MANY.findall(messages)}
    few = bool(_FEW.search(messages))
    for node in scope.site.nodes:
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr="split"), args=args, keywords=[]):
                text = scope.site.text(value).at(16)
                given = ", ".join(scope.site.segment(one) for one in args[:1])
            case _:
                continue
        for number in sorted(many):
            if number > 1:
                limit = f"{given or None}, {number - 1}"
                yield scope.site.put(node, Text(f"{text}.split({limit})"), 1.7)
                yield scope.site.put(node, Text(f"{text}.rsplit({limit})"), 2.3)
        if few and given:
            yield scope.site.put(node, Text(f"{text}.partition({given})[::2]"), 2.0)
