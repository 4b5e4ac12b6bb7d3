"""Which function of the project a line belongs to, and which files may hold suspects at all."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from heal_bot.core.events import Run
from heal_bot.core.model import Target
from heal_bot.ports import Tree
from heal_bot.source import edit, functions, guard, paths
from heal_bot.source.references import References

# How test cases name their own assertions, and what these call.
_ASSERTION = re.compile(r"assert[A-Z_]")
_ASSERTS = re.compile(r"\bself\.(?:assert[A-Z]\w*|fail|subTest)\(")


@dataclass(slots=True)
class Places:
    """The tree as localization sees it; files are read and indexed when first asked for.

    `unread` says per path why a file could not be indexed.
    """

    tree: Tree
    collected: Iterable[str] = ()
    unread: dict[str, str] = field(default_factory=dict)
    references: References = field(init=False)
    _files: frozenset[str] = field(init=False)
    _tests: frozenset[str] = field(init=False)
    _plugins: frozenset[str] = field(init=False)
    _entries: dict[str, tuple[functions.IndexEntry, ...]] = field(default_factory=dict)
    _painted: dict[str, dict[int, Target]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._files = frozenset(self.tree.paths())
        self._tests = paths.test_files(self.collected)
        self._plugins = paths.find_machinery(self.tree)
        self.references = References.of(self.tree)

    def is_project(self, path: str) -> bool:
        """Whether a patch may change the file."""
        return (
            path in self._files
            and not self.is_test(path)
            and not paths.is_protected(path)
            and path not in self._plugins
        )

    def is_test(self, path: str) -> bool:
        """Whether the file is a test or test support."""
        return path in self._files and (path in self._tests or paths.is_test(path))

    def tests(self) -> tuple[str, ...]:
        """All files of tests and test support."""
        return tuple(path for path in sorted(self._files) if self.is_test(path))

    def project(self) -> tuple[str, ...]:
        """All files a patch may change."""
        return tuple(path for path in sorted(self._files) if self.is_project(path))

    def entries(self, path: str) -> tuple[functions.IndexEntry, ...]:
        """The targets of a file; none for a file that cannot be read, which `unread` then names."""
        if path not in self._entries:
            try:
                found = functions.index_entries(path, edit.text_of(self.tree, path))
            except (edit.EditError, guard.SourceRejected) as error:
                self.unread[path] = str(error)
                found = ()
            self._entries[path] = tuple(one for one in found if not _is_assertion(one.target))
        return self._entries[path]

    def running(self, path: str, line: int) -> Target | None:
        """The innermost function that runs when the line is executed.

        None on a nested function's header: the function around it executes it, and tracers report
        it as well when the nested one starts, so it says nothing about either.
        """
        if path not in self._painted:
            painted: dict[int, Target] = {}
            # Outer functions come first in source order, so inner ones paint over them.
            for entry in self.entries(path):
                if entry.target.kind == "function":
                    for number in range(entry.target.first_line, entry.body_line):
                        painted.pop(number, None)
                    for number in range(entry.body_line, entry.target.last_line + 1):
                        painted[number] = entry.target
            self._painted[path] = painted
        return self._painted[path].get(line)

    def statement(self, path: str, line: int) -> Target | None:
        """The assignment, class attribute or default argument on a line of import-time code."""
        inside = [
            entry.target
            for entry in self.entries(path)
            if entry.target.kind != "function"
            and entry.target.first_line <= line <= entry.target.last_line
        ]
        return min(inside, key=lambda t: t.last_line - t.first_line, default=None)


def find_hinted(run: Run, hints: Iterable[str], places: Places) -> tuple[Target, ...]:
    """The targets that a person named as `path::qualname`, as far as a patch may change them."""
    found: list[Target] = []
    for hint in hints:
        path, _, qualname = hint.partition("::")
        wanted = qualname.replace("::", ".")
        matches = [
            entry.target
            for entry in (places.entries(path) if places.is_project(path) else ())
            if entry.target.qualname == wanted
        ]
        found.extend(matches)
        if not matches:
            message = f"no function {hint!r} that a patch may change; the hint is not used"
            run.warn("locate", message)
    return tuple(dict.fromkeys(found))


def _is_assertion(target: Target) -> bool:
    """Whether a function is an assertion method: it reports what fails, and is not at fault."""
    name = target.qualname.rpartition(".")[2]
    return bool(_ASSERTION.match(name) and _ASSERTS.search(target.source))
