"""One reported case to runnable node ids: forward join first, static search where it fails."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heal_bot.core.model import Collection, ReportedCase, stable_test_ids
from heal_bot.core.text import one_line
from heal_bot.junit import dialects
from heal_bot.junit.ast_lookup import Sources
from heal_bot.junit.dialects import Name
from heal_bot.junit.junit_names import NodeIdIndex, select_agreeing, split_node_id
from heal_bot.junit.path_mapping import Layout

_NAMED = 4


@dataclass(frozen=True, slots=True)
class Joined:
    """The tests a case means; `reason` names the candidates when it fits several equally."""

    tests: tuple[str, ...] = ()
    reason: str = ""


class Join:
    """Finds tests by reported names in one checkout."""

    def __init__(
        self, collection: Collection, layout: Layout, sources: Sources, *, ordered: bool = True
    ) -> None:
        self._ordered = ordered
        self._index = NodeIdIndex(collection.tests)
        self._files = frozenset(split_node_id(test)[0] for test in collection.tests)
        self._layout = layout
        self._sources = sources

    def find(self, case: ReportedCase) -> Joined:
        """The tests that a case names; never a guess between several."""
        if (crashed := dialects.crashed_test(case)) and crashed in self._index.tests:
            return Joined((crashed,))
        for name in dialects.read_names(case):
            joined = self._named(name, case)
            if joined.tests or joined.reason:
                return joined
        return Joined(self._placed(case))

    def _named(self, name: Name, case: ReportedCase) -> Joined:
        if name.kind in {"file", "module"}:
            files = self._modules(name.classname, case.file)
            if name.kind == "module" and len(files) == 1:
                return Joined(self._index.inside(files[0]) or files)
            return self._one_of(files, "file")
        if name.kind == "class":
            tests = self._index.beneath(name.classname)
            if len({split_node_id(test)[0] for test in tests}) > 1:
                tests = select_agreeing(tests, case.file)
            if tests:
                return Joined(tests)
            return self._one_of(self._open(self._sources.classes(name.classname), case), "class")
        found = self._index.find(name.classname, name.test)
        if len(found) > 1:
            found = select_agreeing(found, case.file)
        if not found and name.kind == "test":
            found = self._static(name, case)
        return self._one_of(found, "test")

    def _placed(self, case: ReportedCase) -> tuple[str, ...]:
        """By its place among the parameter sets of its function, where ids change with each run."""
        for name in dialects.read_names(case) if case.place and self._ordered else ():
            others = self._index.parametrized(name.classname, name.test.partition("[")[0])
            if len(others) == case.places and len(set(map(stable_test_ids.function, others))) == 1:
                return (others[case.place - 1],)
        return ()

    def _modules(self, dotted: str, file: str) -> tuple[str, ...]:
        """The file of a module, or of the module that holds a class of this dotted name."""
        found = self._sources.modules(dotted)
        while not found and "." in dotted:
            dotted = dotted.rpartition(".")[0]
            found = self._sources.modules(dotted)
        return select_agreeing(found, file) if len(found) > 1 else found

    def _static(self, name: Name, case: ReportedCase) -> tuple[str, ...]:
        """By names in the source."""
        found = self._sources.find(name.classname, name.test)
        if not found and (path := self._layout.find(case.file)):
            classes = [part for part in name.classname.split(".") if part]
            while classes:
                if self._sources.defines(path, classes, name.test.partition("[")[0]):
                    found = ("::".join((path, *classes, name.test)),)
                    break
                del classes[0]
        return self._open(found, case)

    def _open(self, found: Sequence[str], case: ReportedCase) -> tuple[str, ...]:
        """Those in files that could not be collected; all where nothing is collected at all."""
        blind = not self._index.tests
        open_ones = [t for t in found if blind or split_node_id(t)[0] not in self._files]
        return select_agreeing(open_ones, case.file) if len(open_ones) > 1 else tuple(open_ones)

    @staticmethod
    def _one_of(found: Sequence[str], what: str) -> Joined:
        if len(found) <= 1:
            return Joined(tuple(found))
        shown = ", ".join(one_line(test, 120) for test in found[:_NAMED])
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        return Joined(reason=f"fits more than one {what}: {shown}{more}")

    def why(self, case: ReportedCase) -> str:
        """Why no test fits a case, in words a person can act on."""
        if "<locals>" in case.classname:
            return "its class is made inside a function, so no runner can address it"
        if runner := dialects.name_foreign_runner(case):
            return f"it comes from {runner}, whose tests pytest cannot run"
        for name in dialects.read_names(case):
            function = name.test.partition("[")[0]
            others = self._index.parametrized(name.classname, function) if function else ()
            if others:
                return (
                    "no parameter set of this name is collected here;"
                    f" there are {len(others)} others, as {one_line(others[0], 160)}"
                )
        if dialects.is_doctest(case):
            return "it is a doctest; the checkout's pytest options do not collect it"
        for name in dialects.read_names(case):
            if name.classname and (paths := self._sources.modules(name.classname)):
                return f"{one_line(paths[0], 160)} is here but has no such test"
        return "the checkout has no such test"
