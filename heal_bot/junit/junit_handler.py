"""The SAX target that keeps what did not pass, and counts the rest, in bounded memory."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from lxml import etree

DEPTH = 256
_FAILURES = frozenset({"failure", "error"})
_RESULTS = _FAILURES | {"skipped"}
_RETRIES = frozenset({"rerunFailure", "rerunError", "flakyFailure", "flakyError"})
_HEAD, _TAIL = 40 << 10, 24 << 10
_BUDGET = 16 << 20
_SPARE = 1 << 10
_MESSAGE = 8 << 10
_NAME = 16 << 10
_CASES = 20_000
_SKIPPED = 1_000
_EVERY = 200_000
_KEYS = 4_000_000
_PROPERTIES = 200

Key = tuple[int, str, str, str]
"""Suite number, class name, name, file: what the tries of one test have in common."""


class TooDeep(Exception):
    """Elements are nested deeper than any report nests them."""


class HasDoctype(Exception):
    """A document type declaration; the document is read again without it."""


@dataclass(slots=True)
class _Text:
    """Character data of one element: its head and its tail, the middle is counted."""

    head: list[str] = field(default_factory=list)
    tail: str = ""
    room: int = _HEAD
    cut: int = 0

    def add(self, data: str) -> None:
        if len(data) <= self.room:
            self.head.append(data)
            self.room -= len(data)
            return
        if self.room:
            self.head.append(data[: self.room])
            data, self.room = data[self.room :], 0
        joined = self.tail + data
        self.tail = joined[-_TAIL:]
        self.cut += len(joined) - len(self.tail)

    def value(self) -> str:
        gap = f"\n[…{self.cut} characters cut…]\n" if self.cut else ""
        return "".join(self.head) + gap + self.tail


@dataclass(slots=True)
class FoundCase:
    """A non-passing case as a pruned element, with what its tries have in common."""

    key: Key
    element: etree._Element
    retries: int
    place: int = 0


def _plain(value: str | None) -> str:
    """An attribute's value: libxml2 leaves `&amp;` as `&#38;` when entities are not to be resolved.

    No other reference can be left, because documents that declare entities are refused.
    """
    return value.replace("&#38;", "&") if value else ""


class Suites:
    """Target of an lxml parser: `kept` gets each non-passing case as soon as it is complete.

    With `every` passing cases are handed on as well, as long as there is room.
    Attributes to read afterwards: `cases` and `passed` (counts), `properties`, `root` (the first
    element's name), `stamps` (the time stamps of suites), `times` and `told` (seconds and failures,
    of the outermost suites that tell them), `shown` (failures of cases), `broken` (what suites
    that failed as a whole say), `last_failed` (whether the last case failed), `modules` (files
    or class names of all cases) and `flags`.
    """

    def __init__(self, kept: Callable[[FoundCase], None], *, every: bool = False) -> None:
        self._kept = kept
        self._every = every
        self._depth = 0
        self._opened = 0
        self._suite = 0
        self._suites: list[int] = []
        self._telling: list[tuple[bool, bool]] = []
        self._case: Mapping[str, str] | None = None
        self._case_depth = 0
        self._results: list[tuple[str, Mapping[str, str], _Text]] = []
        self._retries = 0
        self._text: _Text | None = None
        self._left = _BUDGET
        self._keys = array("q")
        self._failed: dict[Key, bool] = {}
        self._places: dict[int, tuple[int, str]] = {}
        self._room = {True: _CASES, False: _SKIPPED}
        self.cases = 0
        self.passed = 0
        self.root = ""
        self.stamps: dict[str, None] = {}
        self.times: list[str] = []
        self.told = 0
        self.shown = 0
        self.broken: list[str] = []
        self.last_failed = False
        self.modules: dict[str, None] = {}
        self.flags: dict[str, None] = {}
        self.properties: dict[str, str] = {}

    def doctype(self, name: str, public: str | None, system: str | None) -> None:
        """Called before any declaration of an entity is read."""
        raise HasDoctype

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """An element begins; namespaces are ignored."""
        self._depth += 1
        if tag[0] == "{":
            tag = tag.rpartition("}")[2]
        if self._case is None:
            if tag == "testcase":
                self._case = attributes
                self._case_depth = self._depth
            else:
                self._container(tag, attributes)
        elif self._depth == self._case_depth + 1:
            self._result(tag, attributes)
        if self._depth > DEPTH:
            raise TooDeep

    def _container(self, tag: str, attributes: Mapping[str, str]) -> None:
        self.root = self.root or tag[:80]
        if tag in {"testsuite", "testsuites"}:
            self._opened += 1
            self._suites.append(self._suite)
            self._suite = self._opened
            if len(self.stamps) < _CASES:
                self.stamps[attributes.get("timestamp", "")[:64]] = None
            # What a suite tells holds that of the suites inside of it.
            timed, counted = self._telling[-1] if self._telling else (False, False)
            time = attributes.get("time", "")
            if time and not timed and len(self.times) < _CASES:
                self.times.append(time[:32])
            counts = [attributes.get(key, "")[:9] for key in ("failures", "errors")]
            if not counted:
                self.told += sum(int(n) for n in counts if n.isascii() and n.isdigit())
            self._telling.append((timed or bool(time), counted or any(counts)))
        elif tag in _FAILURES and self._suites and len(self.broken) < _PROPERTIES:
            said = attributes.get("message") or attributes.get("type") or tag
            self.broken.append(_plain(said)[:_MESSAGE])
        elif tag == "property" and len(self.properties) < _PROPERTIES:
            name, value = attributes.get("name"), attributes.get("value")
            if name and value:
                self.properties.setdefault(_plain(name)[:200], _plain(value)[:2000])

    def _result(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag in _RESULTS:
            self._text = _Text()
            if len(self._results) < _PROPERTIES:
                self._results.append((tag, attributes, self._text))
        elif tag in _RETRIES:
            self._retries += 1

    def data(self, data: str) -> None:
        """Character data, in pieces of any size."""
        if self._text is not None:
            self._text.add(data)

    def end(self, tag: str) -> None:
        """An element ends."""
        depth = self._depth
        self._depth = depth - 1
        case = self._case
        if case is None:
            if self._suites and tag.endswith(("testsuite", "testsuites")):
                self._suite = self._suites.pop()
                self._telling.pop()
        elif depth == self._case_depth:
            self._case = None
            self.cases += 1
            place = self._place(case.get("classname", ""), case.get("name", ""))
            if len(self.modules) < _CASES:
                self.modules[(case.get("file") or case.get("classname", ""))[:_NAME]] = None
            if self._results:
                self._keep(case, place)
            else:
                self._pass(case, place)
            self._retries = 0
        elif depth == self._case_depth + 1:
            self._text = None

    def _place(self, classname: str, name: str) -> int:
        """Which of the parameter sets of its function a case is; its tries follow each other."""
        function, bracket, _ = name.partition("[")
        key = hash((self._suite, classname, function))
        if not bracket or (len(self._places) >= _EVERY and key not in self._places):
            return 0
        count, last = self._places.get(key, (0, ""))
        count += name != last
        self._places[key] = count, name
        return count

    def places(self, key: Key) -> int:
        """How many parameter sets the function of a case has, by the key of the case."""
        suite, classname, name, _ = key
        return self._places.get(hash((suite, classname, name.partition("[")[0])), (0, ""))[0]

    def _pass(self, case: Mapping[str, str], place: int) -> None:
        """Count a passing case; pytest writes one without any name when it is interrupted."""
        classname, name = case.get("classname", ""), case.get("name", "")
        self.last_failed = False
        if not name and not classname:
            self.flags["interrupted"] = None
            return
        self.passed += 1
        if len(self._keys) < _KEYS:
            self._keys.append(hash((self._suite, classname, name)))
        if not (self._failed or self._every):
            return
        key = (self._suite, classname, name, case.get("file", ""))
        if key in self._failed:
            self._failed[key] = True
        if self._every and self.passed <= _EVERY:
            self._kept(FoundCase(key, self._pruned(case), self._retries, place))

    def _keep(self, case: Mapping[str, str], place: int) -> None:
        """Hand on a case that did not pass, as long as there is room."""
        failures = sum(tag != "skipped" for tag, _, _ in self._results)
        failed = failures > 0
        self.shown += failures
        self.last_failed = failed
        classname, name, file = (case.get(k, "")[:_NAME] for k in ("classname", "name", "file"))
        key: Key = (self._suite, classname, name, file)
        if failed:
            self._failed[key] = False
        if self._room[failed] > 0:
            self._room[failed] -= 1
            self._kept(FoundCase(key, self._pruned(case), self._retries, place))
        else:
            self.flags["capped" if failed else "skips capped"] = None
        self._results = []

    def close(self) -> None:
        """The document ends."""

    def cut(self) -> None:
        """The document ended early: an open case that already shows a failure is kept."""
        case, self._case, self._text = self._case, None, None
        if case is not None and any(tag != "skipped" for tag, _, _ in self._results):
            self.cases += 1
            self._keep(case, 0)

    @property
    def depth(self) -> int:
        """How many elements are open."""
        return self._depth

    def _pruned(self, case: Mapping[str, str]) -> etree._Element:
        """The case as a small tree of its own: capped attributes, results and texts."""
        element = etree.Element("testcase")
        for key in ("classname", "name", "file", "line", "time"):
            if (value := case.get(key)) is not None:
                element.set(key, _plain(value)[:_NAME])
        for tag, attributes, text in self._results:
            child = etree.SubElement(element, tag)
            for key in ("message", "type"):
                if (value := attributes.get(key)) is not None:
                    child.set(key, self._afford(_plain(value)[:_MESSAGE]))
            child.text = "" if tag == "skipped" else self._afford(text.value())
        return element

    def _afford(self, text: str) -> str:
        """The text within what the document's budget leaves, and a little beyond it."""
        if len(text) > self._left:
            self.flags["clipped"] = None
            text = text[: max(_SPARE, self._left)]
        self._left = max(0, self._left - len(text))
        return text

    def passed_last(self, key: Key) -> bool:
        """Whether a case of this key passed after it had failed."""
        return self._failed.get(key, False)

    def passes(self) -> dict[int, int]:
        """How often each failing (suite, class name, name) passed as well, by the hash of it."""
        wanted = {hash(key[:3]): 0 for key in self._failed}
        if wanted:
            for key in self._keys:
                if key in wanted:
                    wanted[key] += 1
        return wanted
