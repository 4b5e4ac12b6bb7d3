"""Words that a function shares with its failing tests, rare ones counting more.

Term frequency and inverse document frequency (Spärck Jones 1972), as bug reports are matched with
source files (Zhou, Zhang and Lo 2012): the functions of a cluster are the documents, and the
failing tests with their messages the query.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import log, sqrt

from heal_bot.core.model import Failure, Target
from heal_bot.fault_localization import failure_evidence
from heal_bot.fault_localization.target_index import Places
from heal_bot.source.tree_files import read_text

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
# What says nothing of what code is about: Python's own words, those of any test, and of English.
_COMMON = frozenset(
    """
    self cls the and def for not in is of to if return assert test tests none true false import
    from class with as or an be it this that else elif raise str int list dict len bool
    has have had can no on at by when then than are was were do does but so its what how any all
    """.split()  # noqa: SIM905
)
_TESTS = 50
_FILES = 200
_FILE = 200_000
_MESSAGE = 3_000
_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Query:
    """The words of failing tests: those of their names and files, and all of them."""

    names: frozenset[str]
    all: frozenset[str]


@dataclass(frozen=True, slots=True)
class Match:
    """How alike a function is to the tests, by its body and its name: 0 for the least, 1 for most.

    `shared` are the rarest words that its body shares with them, and few of the other tests.
    """

    body: float
    name: float
    shared: tuple[str, ...]


def collect_words(failures: Sequence[Failure], places: Places) -> Query:
    """The words of failing tests, their sources and their messages."""
    chosen = failures[:_TESTS]
    names: set[str] = set()
    texts: set[str] = {failure.message[:_MESSAGE] for failure in chosen}
    for failure in chosen:
        path, _, rest = failure.test.partition("::")
        names |= split_words(rest.rpartition("::")[2].partition("[")[0] or rest)
        names |= split_words(path.rpartition("/")[2])
        if (test := failure_evidence.test_function(failure, places)) is not None:
            texts.add(test.source)
    return Query(frozenset(names), frozenset().union(*map(split_words, texts)))


def find_common(places: Places) -> frozenset[str]:
    """The words that more than half of the test files have: they tell nothing of a test."""
    read = (path for path in places.tests()[:_FILES] if path.endswith(".py"))
    documents = [split_words(read_text(places.tree, path)[:_FILE]) for path in read]
    counts = Counter(word for words in documents for word in words)
    most = (1 + len(documents)) / 2
    return frozenset(word for word, files in counts.items() if files > most)


def score_words(
    targets: Iterable[Target], query: Query, common: frozenset[str]
) -> dict[Target, Match]:
    """How alike each function is to the failing tests; `common` words are not shown."""
    bodies = {target: split_words(target.source) for target in targets}
    names = {target: split_words(target.qualname) for target in bodies}
    rare, rare_names = _rarity(bodies.values()), _rarity(names.values())
    by_body = _scaled(
        {
            target: sum(rare[word] for word in words & query.all)
            / sqrt(1 + sum(rare[word] ** 2 for word in words))
            for target, words in bodies.items()
        }
    )
    by_name = _scaled(
        {t: sum(rare_names[word] for word in words & query.names) for t, words in names.items()}
    )
    return {
        target: Match(by_body[target], by_name[target], _rarest(words & query.all - common, rare))
        for target, words in bodies.items()
    }


@lru_cache(maxsize=4096)
def split_words(text: str) -> frozenset[str]:
    """The words of a text, also those inside of names, in lower case."""
    words = (word.lower() for word in _WORD.findall(text) if len(word) > 1)
    return frozenset(words) - _COMMON


def _rarity(documents: Iterable[frozenset[str]]) -> dict[str, float]:
    """What each word weighs: the fewer documents have it, the more."""
    known = tuple(documents)
    counts = Counter(word for words in known for word in words)
    return {word: log((1 + len(known)) / (1 + n)) + 0.1 for word, n in counts.items()}


def _scaled(values: dict[Target, float]) -> dict[Target, float]:
    least, most = min(values.values(), default=0.0), max(values.values(), default=0.0)
    return {t: (value - least) / ((most - least) or 1.0) for t, value in values.items()}


def _rarest(words: Iterable[str], rare: dict[str, float]) -> tuple[str, ...]:
    return tuple(sorted(words, key=lambda word: (-rare[word], word))[:_SHOWN])
