"""Fresh inputs for QuixBugs programs, and the strict comparison of a program with its reference.

Run as a program (`python -m benchmarks._quixbugs NAME PATCHED REFERENCE`), it prints one JSON
object: how many inputs were compared, and the first one that told the two apart; then it ends with
2, and else with 0.
"""

from __future__ import annotations

import copy
import itertools
import json
import random
import resource
import signal
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

INPUTS = 2_000
_SECONDS = 2.0
_LETTERS = "abcde"


class Node:
    """A node of the graph and list programs, as their own `Node` class has it."""

    def __init__(self, value: object) -> None:
        self.value = value
        self.successor: Node | None = None
        self.successors: list[Node] = []
        self.incoming_nodes: list[Node] = []
        self.outgoing_nodes: list[Node] = []


def _ints(rng: random.Random, most: int = 10, low: int = -20, high: int = 20) -> list[int]:
    return [rng.randint(low, high) for _ in range(rng.randrange(most + 1))]


def _unique(rng: random.Random, most: int = 9, least: int = 0) -> list[int]:
    return rng.sample(range(-30, 30), rng.randint(least, most))


def _word(rng: random.Random, most: int, letters: str = _LETTERS) -> str:
    return "".join(rng.choice(letters) for _ in range(rng.randrange(most + 1)))


def _searched(rng: random.Random) -> tuple[object, ...]:
    some = sorted(_ints(rng, 12, -8, 8))
    return some, rng.choice([*some, rng.randint(-10, 10)])


def _nested(rng: random.Random, depth: int = 3) -> list[object]:
    return [
        _nested(rng, depth - 1) if depth and rng.random() < 0.4 else rng.randint(0, 9)
        for _ in range(rng.randrange(5))
    ]


def _almost_sorted(rng: random.Random) -> tuple[object, ...]:
    """Unique numbers, each at most k places from where sorting puts it."""
    some, k = sorted(_unique(rng)), rng.randint(0, 4)
    keyed = [(at + rng.uniform(0, k + 0.999), value) for at, value in enumerate(some)]
    moved = [value for _, value in sorted(keyed)]
    far = max((abs(some.index(v) - at) for at, v in enumerate(moved)), default=0)
    return moved, max(far, min(k, len(some)))


def _palindrome(rng: random.Random) -> tuple[object, ...]:
    half = [rng.choice((0, 1, 4, 8, 9, 9, 9)) for _ in range(rng.randint(1, 4))]
    half[0] = half[0] or 9
    return ([*half, *reversed(half[: len(half) - rng.randrange(2)])],)


def _permutation(rng: random.Random) -> tuple[object, ...]:
    while True:
        some = _unique(rng, 8, 2)
        if some != sorted(some, reverse=True):
            return (some,)


def _postfix(rng: random.Random) -> tuple[object, ...]:
    tokens: list[object] = [float(rng.randint(1, 9))]
    for _ in range(rng.randrange(6)):
        tokens += [round(rng.uniform(1, 9), 2), rng.choice("+-*/")]
        if rng.random() < 0.4:
            tokens += [
                float(rng.randint(1, 9)),
                float(rng.randint(1, 9)),
                *rng.choices("+-*/", k=2),
            ]
    return (tokens,)


def _infix(rng: random.Random) -> tuple[object, ...]:
    tokens: list[object] = [rng.randint(0, 50)]
    for _ in range(rng.randrange(8)):
        tokens += [rng.choice("+-*/"), rng.randint(0, 50)]
    return (tokens,)


def _wrapped(rng: random.Random) -> tuple[object, ...]:
    """Text the reference program ends on: words shorter than a line, or one word without end."""
    cols = rng.randint(3, 20)
    if rng.random() < 0.2:
        return _word(rng, 60), cols
    words = ["x" * rng.randint(1, cols - 2) for _ in range(rng.randrange(14))]
    return " ".join(words), cols


def _chain(rng: random.Random, looped: bool) -> tuple[object, ...]:
    nodes = [Node(value) for value in range(rng.randint(1, 9))]
    for one, other in itertools.pairwise(nodes):
        one.successor = other
    if looped:
        nodes[-1].successor = rng.choice(nodes)
    return (nodes[0],)


def _reached(rng: random.Random) -> tuple[Node, Node]:
    nodes = [Node(value) for value in range(rng.randint(1, 8))]
    for node in nodes:
        node.successors = rng.sample(nodes, rng.randrange(min(3, len(nodes)) + 1))
    return rng.choice(nodes), rng.choice(nodes)


def _distances(rng: random.Random) -> tuple[object, ...]:
    start, goal = _reached(rng)
    nodes, todo = [start, goal], [start, goal]
    while todo:
        for node in todo.pop().successors:
            if node not in nodes:
                nodes.append(node)
                todo.append(node)
    # Equal distances would compare nodes, which the reference cannot.
    lengths = {(n, m): rng.randint(1, 10**9) for n in nodes for m in n.successors}
    return lengths, start, goal


def _acyclic(rng: random.Random) -> tuple[object, ...]:
    nodes = [Node(value) for value in range(rng.randint(1, 8))]
    for low, high in itertools.combinations(range(len(nodes)), 2):
        if rng.random() < 0.35:
            nodes[low].outgoing_nodes.append(nodes[high])
            nodes[high].incoming_nodes.append(nodes[low])
    rng.shuffle(nodes)
    return (nodes,)


def _connected(rng: random.Random) -> tuple[object, ...]:
    count = rng.randint(2, 7)
    pairs = {(rng.randrange(node), node) for node in range(1, count)}
    for _ in range(rng.randrange(8)):
        low, high = sorted(rng.sample(range(count), 2))
        pairs.add((low, high))
    some = rng.sample(sorted(pairs), len(pairs))
    return ({pair: rng.randint(1, 12) for pair in some},)


def _directed(rng: random.Random, count: int) -> dict[tuple[int, int], int]:
    """Edges without a cycle of negative length: potentials make some of them negative."""
    height = [rng.randint(0, 6) for _ in range(count)]
    return {
        (a, b): rng.randint(0, 8) + height[a] - height[b]
        for a in range(count)
        for b in range(count)
        if a != b and rng.random() < 0.4
    }


def _shortest(rng: random.Random) -> tuple[object, ...]:
    while True:
        edges = _directed(rng, rng.randint(2, 6))
        if edges:
            return rng.choice(sorted(edges))[0], edges


def _lengths(rng: random.Random) -> tuple[object, ...]:
    count = rng.randint(1, 6)
    return count, _directed(rng, count)


def _items(rng: random.Random) -> tuple[object, ...]:
    some = [(rng.randint(1, 15), rng.randint(1, 30)) for _ in range(rng.randrange(7))]
    return rng.randint(0, 40), some


def _bucketed(rng: random.Random) -> tuple[object, ...]:
    k = rng.randint(1, 12)
    return _ints(rng, 12, 0, k - 1), k


def _kth(rng: random.Random) -> tuple[object, ...]:
    some = [rng.randint(-9, 9) for _ in range(rng.randint(1, 10))]
    return some, rng.randrange(len(some))


FRESH: dict[str, Callable[[random.Random], tuple[object, ...]]] = {
    "bitcount": lambda r: (r.choice((r.randrange(300), r.randrange(1 << 40))),),
    "breadth_first_search": _reached,
    "bucketsort": _bucketed,
    "depth_first_search": _reached,
    "detect_cycle": lambda r: _chain(r, r.random() < 0.5),
    "find_first_in_sorted": _searched,
    "find_in_sorted": _searched,
    "flatten": lambda r: (_nested(r),),
    "gcd": lambda r: (r.randrange(400), r.randrange(400)),
    "get_factors": lambda r: (r.randint(1, 3_000),),
    "hanoi": lambda r: (r.randrange(7), r.randint(1, 3), r.randint(1, 3)),
    "is_valid_parenthesization": lambda r: (_word(r, 9, "()"),),
    "kheapsort": _almost_sorted,
    "knapsack": _items,
    "kth": _kth,
    "lcs_length": lambda r: (_word(r, 9), _word(r, 9)),
    "levenshtein": lambda r: (_word(r, 5), _word(r, 5)),
    "lis": lambda r: (_unique(r),),
    "longest_common_subsequence": lambda r: (_word(r, 7), _word(r, 7)),
    "max_sublist_sum": lambda r: (_ints(r),),
    "mergesort": lambda r: (_ints(r),),
    "minimum_spanning_tree": _connected,
    "next_palindrome": _palindrome,
    "next_permutation": _permutation,
    "pascal": lambda r: (r.randint(1, 14),),
    "possible_change": lambda r: (r.sample(range(1, 30), r.randint(0, 4)), r.randrange(60)),
    "powerset": lambda r: (_unique(r, 6),),
    "quicksort": lambda r: (_ints(r, 10, -5, 5),),
    "reverse_linked_list": lambda r: _chain(r, looped=False),
    "rpn_eval": _postfix,
    "shortest_path_length": _distances,
    "shortest_path_lengths": _lengths,
    "shortest_paths": _shortest,
    "shunting_yard": _infix,
    "sieve": lambda r: (r.randrange(200),),
    "sqrt": lambda r: (r.uniform(1, 500), 10 ** r.uniform(-6, 0)),
    "subsequences": lambda r: (r.randrange(6), r.randrange(10), r.randint(1, 5)),
    "to_base": lambda r: (r.randint(1, 10**6), r.randint(2, 36)),
    "topological_ordering": _acyclic,
    "wrap": _wrapped,
}


class Late(BaseException):
    """A call took too long; no `except Exception` of a program stops it."""


def _ring(number: int, frame: types.FrameType | None) -> None:
    raise Late


def load(path: Path, name: str) -> Callable[..., object]:
    """The function of that name in a file."""
    space: dict[str, Any] = {"__name__": name}
    exec(compile(path.read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True), space)
    found: Callable[..., object] = space[name]
    return found


def observed(function: Callable[..., object], arguments: tuple[object, ...]) -> object:
    """Result (generators in full) or exception type, and the arguments afterwards."""
    signal.setitimer(signal.ITIMER_REAL, _SECONDS)
    try:
        value = function(*arguments)
        if isinstance(value, types.GeneratorType):
            value = list(value)
        how: tuple[str, object] = ("returned", value)
    except (Exception, Late) as error:  # noqa: BLE001  (a program may raise anything)
        how = ("raised", type(error).__name__)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return shape((how, arguments), {})


def shape(value: object, seen: dict[int, int]) -> object:
    """A value with the type of each part; nodes and shared parts by their number."""
    kind = type(value).__name__
    if isinstance(value, float | int | str | bool | None | type(None)):
        return kind, repr(value)
    if id(value) in seen:
        return kind, seen[id(value)]
    seen[id(value)] = len(seen)
    match value:
        case list() | tuple():
            return kind, tuple(shape(v, seen) for v in value)
        case set() | frozenset():
            return kind, tuple(sorted(map(repr, (shape(v, {}) for v in value))))
        case dict():
            # In order of insertion for node keys; otherwise sorted, since equal dicts may differ.
            rows = [(shape(k, seen), shape(v, seen)) for k, v in value.items()]
            return kind, tuple(
                rows if any("Node" in repr(r) for r in rows) else sorted(rows, key=repr)
            )
        case Node():
            return kind, value.value, tuple((k, shape(v, seen)) for k, v in vars(value).items())
    return kind, repr(value)


def _arguments(name: str) -> Iterator[tuple[object, ...]]:
    rng = random.Random(name)
    return (FRESH[name](rng) for _ in range(INPUTS))


def differing(name: str, patched: Path, reference: Path) -> tuple[int, str]:
    """Inputs compared, and in words the first on which program and reference differ."""
    resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
    signal.signal(signal.SIGALRM, _ring)
    wrong, right = load(patched, name), load(reference, name)
    for number, arguments in enumerate(_arguments(name), 1):
        one = observed(right, copy.deepcopy(arguments))
        other = observed(wrong, copy.deepcopy(arguments))
        if one != other:
            return number, f"{name}{arguments!r}: {str(other)[:200]} is not {str(one)[:200]}"
    return INPUTS, ""


if __name__ == "__main__":
    compared, difference = differing(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    print(json.dumps({"inputs": compared, "difference": difference}))
    sys.exit(2 if difference else 0)
