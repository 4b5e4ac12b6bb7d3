"""Entries that a collection lacks which a commit wrote: literals that the code before had.

Who makes a table of what stood in conditions, in texts or in another table may forget one line.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

from heal_bot.source.lost_code import UNREADABLE, FileVersions
from heal_bot.source.parsed_version import Version
from heal_bot.source.tree_diff import Part

_WORD = re.compile(r"\w+")
# So many parts are told at the most, of so many of each collection, with texts up to this length.
_MOST, _EACH = 60, 12
_LONGEST = 40
# How many lost values are held against the entries of a collection.
_COMPARED = 200


@dataclass(frozen=True, slots=True)
class _Collection:
    """A collection of several entries, each with a key; in a list the entry is its own key."""

    version: Version
    dump: str
    keys: tuple[ast.Constant, ...]
    values: tuple[ast.expr, ...]

    @property
    def is_dict(self) -> bool:
        """Whether the entries have keys beside them."""
        return self.keys != self.values

    def write_entries(self) -> dict[object, str]:
        """The entries by their keys, as they stand in the file."""
        found: dict[object, str] = {}
        for key, value in zip(self.keys, self.values, strict=True):
            first, end = self.version.span(key)[0], self.version.span(value)[1]
            found[key.value] = self.version.data[first:end].decode()
        return found

    def append(self, text: str) -> Part | None:
        """An entry after the last one, on a line of its own where that one has one.

        None where the last one is not plainly to be seen, as behind a bracket.
        """
        first, end = self.version.span(self.keys[-1])[0], self.version.span(self.values[-1])[1]
        if not self.version.data[:first].rstrip().endswith(b","):
            return None
        indent = self.version.data[self.version.data.rfind(b"\n", 0, first) + 1 : first]
        apart = b", " if indent.strip() else b",\n" + indent
        return Part(end, end, apart + text.encode(), (), atomic=True)


def find_lost_entries(changes: Iterable[FileVersions]) -> tuple[tuple[str, Part], ...]:
    """The parts by their paths, a few of each collection; none where a file does not parse."""
    with suppress(*UNREADABLE):
        files = [(o.path, Version.of(o.before), Version.of(o.now)) for o in changes if o.after]
        was = Counter(value for _, before, _ in files for value in _list_values(before))
        still = Counter(value for _, _, now in files for value in _list_values(now))
        # What is nowhere now comes before what stands less often.
        lost = sorted(was - still, key=lambda value: value in still)[:_COMPARED]
        former = [one for _, before, _ in files for one in _list_collections(before)]
        known = {one.dump for one in former}
        tables = [one.write_entries() for one in former if one.is_dict]
        found = (
            (path, part)
            for path, _, now in files
            for one in _list_collections(now)
            if one.dump not in known
            for text in islice(_complete(one, tables, lost), _EACH)
            if (part := one.append(text))
        )
        return tuple(dict.fromkeys(islice(found, _MOST)))
    return ()


def _list_values(version: Version) -> Iterator[str | int]:
    """The numbers and texts that code has as literals, and the words of the texts."""
    for node in ast.walk(version.tree):
        value = node.value if isinstance(node, ast.Constant) else None
        if isinstance(value, str):
            yield from dict.fromkeys((value, *_WORD.findall(value)))
        elif type(value) is int:
            yield value


def _list_collections(version: Version) -> Iterator[_Collection]:
    """The collections whose entries are literals of one type, or are found by such."""
    for node in ast.walk(version.tree):
        if isinstance(node, ast.Dict):
            keys, values = tuple(node.keys), tuple(node.values)
        elif isinstance(node, ast.Tuple | ast.List | ast.Set):
            keys = values = tuple(node.elts)
        else:
            continue
        plain = tuple(key for key in keys if isinstance(key, ast.Constant))
        kinds = {type(key.value) for key in plain}
        if len(plain) == len(keys) > 1 and kinds in ({str}, {int}):
            yield _Collection(version, ast.dump(node), plain, values)


def _complete(
    one: _Collection, tables: Sequence[dict[object, str]], lost: Sequence[str | int]
) -> Iterator[str]:
    """The entries that a collection may lack, as code.

    Of a dictionary, those of former ones with a key in common whose own key is missing; else the
    lost values that look like its entries: numbers, words or other texts.
    """
    known = {key.value for key in one.keys}
    if one.is_dict:
        for entries in tables:
            if not known.isdisjoint(entries):
                yield from (text for key, text in entries.items() if key not in known)
        return
    plain = {bool(_WORD.fullmatch(str(value))) for value in known}
    quoted = one.version.data[one.version.span(one.keys[-1])[0] :][:1] == b'"'
    for value in lost:
        alike = type(value) is type(one.keys[0].value) and value not in known
        if alike and bool(_WORD.fullmatch(str(value))) in plain and len(str(value)) <= _LONGEST:
            text = repr(value)
            yield f'"{value}"' if quoted and text == f"'{value}'" and '"' not in text else text
