"""pytest's own way from node ids to (classname, name), applied forward to collected tests."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

_ILLEGAL = re.compile("[^\t\n\r\x20-\x7e\x80-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """What pytest writes for characters XML forbids: `#x1B` and `#xD800`."""
    return _ILLEGAL.sub(
        lambda m: f"#x{ord(m[0]):02X}" if ord(m[0]) < 256 else f"#x{ord(m[0]):04X}", text
    )


def mangle(test: str) -> tuple[str, str]:
    """(classname, name) of a node id as pytest 9 writes them, without `--junit-prefix`."""
    path, separator, tail = test.partition("::")
    if not separator:
        return "", xml_text(_dotted(path))
    plain, bracket, parameters = tail.partition("[")
    names = [_dotted(path), *plain.split("::")]
    return ".".join(names[:-1]), xml_text(names[-1] + bracket + parameters)


def mangled_before_9(test: str) -> tuple[str, str]:
    """The same up to pytest 8, which splits at the first bracket even when a folder has it."""
    plain, bracket, parameters = test.partition("[")
    names = plain.split("::")
    names[0] = _dotted(names[0])
    return ".".join(names[:-1]), xml_text(names[-1] + bracket + parameters)


def _dotted(path: str) -> str:
    return path.replace("/", ".").removesuffix(".py")


def split_node_id(test: str) -> tuple[str, str]:
    """The file of a node id and the rest behind the first `::`."""
    path, _, rest = test.partition("::")
    return path, rest


class NodeIdIndex:
    """Collected node ids by the names pytest gives them in XML."""

    def __init__(self, tests: Iterable[str]) -> None:
        self._by_name: dict[str, list[tuple[str, str]]] = {}
        self._classes: dict[str, dict[str, list[str]]] = {}
        self.tests = {test: place for place, test in enumerate(tests)}
        for test in sorted(self.tests):
            for classname, name in {mangle(test), mangled_before_9(test)}:
                self._by_name.setdefault(name, []).append((classname, test))
                alike = self._classes.setdefault(classname.rpartition(".")[2], {})
                alike.setdefault(classname, []).append(test)

    def find(self, classname: str, name: str) -> tuple[str, ...]:
        """The tests of this name whose class name fits best, several when they fit equally.

        An equal class name wins. Else one must end with the other at a dot: the XML's is longer
        by `--junit-prefix` or a folder above the checkout, shorter when the run started in a
        subfolder. Of those that agree the longest wins.
        """
        named = self._by_name.get(name, ())
        equal = [test for ours, test in named if ours == classname]
        if equal:
            return _unique(equal)
        above = [(len(ours), test) for ours, test in named if _ends(classname, ours)]
        if above:
            longest = max(length for length, _ in above)
            return _unique(test for length, test in above if length == longest)
        below = _unique(test for ours, test in named if classname and _ends(ours, classname))
        return below or _closest(classname, named)

    def beneath(self, classname: str) -> tuple[str, ...]:
        """All tests of a class (or module) by its dotted name, equal or ending at a dot."""
        alike = self._classes.get(classname.rpartition(".")[2], {})
        found = {
            ours: tests
            for ours, tests in alike.items()
            if ours == classname or _ends(ours, classname) or _ends(classname, ours)
        }
        best = classname if classname in found else max(found, key=len, default="")
        return _unique(found.get(best, ()))

    def inside(self, path: str) -> tuple[str, ...]:
        """All tests of a file."""
        return tuple(sorted(test for test in self.tests if split_node_id(test)[0] == path))

    def parametrized(self, classname: str, function: str) -> tuple[str, ...]:
        """The parametrised tests of a function in their order, whatever their parameters."""
        found = {
            test
            for name, named in self._by_name.items()
            if name.startswith(f"{function}[")
            for ours, test in named
            if ours == classname or _ends(ours, classname) or _ends(classname, ours)
        }
        return tuple(sorted(found, key=self.tests.__getitem__))


def _closest(classname: str, named: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """With a prefix and a subfolder at once: tests whose folder, file and classes all agree.

    At least one folder has to agree, or a file that moved would be taken for another of its name.
    """
    theirs = classname.split(".")
    found: dict[int, list[str]] = {}
    for ours, test in named:
        parts = ours.split(".")
        shared = 0
        while shared < min(len(parts), len(theirs)) and parts[-1 - shared] == theirs[-1 - shared]:
            shared += 1
        folders = split_node_id(test)[0].count("/")
        if folders and shared > len(parts) - folders:
            found.setdefault(shared, []).append(test)
    return _unique(found[max(found)]) if found else ()


def _ends(longer: str, shorter: str) -> bool:
    return bool(shorter) and longer.endswith(f".{shorter}")


def _unique(tests: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tests))


def select_agreeing(tests: Sequence[str], file: str) -> tuple[str, ...]:
    """Those whose path agrees with the XML's `file` best, or all when `file` says nothing."""
    wanted = file.replace("\\", "/").removeprefix("./")
    if not wanted:
        return tuple(tests)
    same = [t for t in tests if split_node_id(t)[0] == wanted]
    near = same or [t for t in tests if _agree(split_node_id(t)[0], wanted)]
    return tuple(near or tests)


def _agree(ours: str, theirs: str) -> bool:
    return ours.endswith(f"/{theirs}") or theirs.endswith(f"/{ours}")
