"""What a sandboxed run was and what it showed."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress

from heal_bot.core.model.failures import Failure, Frame
from heal_bot.core.statuses import RED, RunResult, SuiteEnd

# The one test that the exit code of a `test-command` is.
COMMAND = "command"
# How it fails that a command wants to make an environment of its own, for which it has no network.
NO_ENVIRONMENT = "no environment"
# How it fails where every test passes and too few lines are covered.
COVERAGE = "coverage"


@dataclass(frozen=True, slots=True)
class Isolation:
    """What held while code ran: mode strict | reduced, layers present and missing, with reasons."""

    mode: str
    layers: tuple[str, ...]
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Suite:
    """What runs where all tests do; all that pytest collects where nothing says less.

    `command` is what a person has them run by.
    """

    command: str = ""

    @property
    def said(self) -> str:
        """What it is, in words; '' for all that pytest collects."""
        return f"tests of `{self.command}`" if self.command else ""


@dataclass(frozen=True, slots=True)
class Environment:
    """The target's interpreter as the sandbox sees it.

    `python` is the executable, `paths` are checkout-relative entries for sys.path, `roots` the
    absolute folders the sandbox may read and execute from. Hashes are of the lock file and of the
    manifest of installed files; `seal` names these as they lie there, and changes when one does.
    `added` are packages, with versions, that nothing declares and the failing run or its report
    showed to be needed; `network` are the hosts that builds of packages could reach. With
    `doctests`, files of the checkout, examples are collected, from these as well. `variables` are
    those that the job of the failing run sets, `suite` is what runs there where all tests do.
    """

    python: str
    version: str
    prefix: str
    base_prefix: str
    roots: tuple[str, ...]
    paths: tuple[str, ...] = ()
    lock_hash: str = ""
    manifest_hash: str = ""
    notes: tuple[str, ...] = ()
    seal: str = ""
    added: tuple[str, ...] = ()
    network: tuple[str, ...] = ()
    doctests: tuple[str, ...] = ()
    variables: tuple[tuple[str, str], ...] = ()
    suite: Suite = Suite()


@dataclass(frozen=True, slots=True)
class CaseResult:
    """One test of a sandboxed run; phase: setup | call | teardown.

    `skipped` counts the subtests in it that were skipped: it may pass all the same.
    """

    test: str
    outcome: RunResult
    phase: str = "call"
    seconds: float = 0.0
    kind: str = ""
    message: str = ""
    frames: tuple[Frame, ...] = ()
    skipped: int = 0

    @property
    def passed(self) -> bool:
        """Whether it passed, as it was expected to."""
        return self.outcome == RunResult.PASSED

    @property
    def red(self) -> bool:
        """Whether it failed, wherever."""
        return self.outcome in RED

    def as_failure(self, reason: str = "") -> Failure:
        """It as a failure, with a remark of ours."""
        return Failure(self.test, self.kind, self.message, self.frames, reason)


@dataclass(frozen=True, slots=True)
class Spectrum:
    """Which test executed which line.

    `locations[i]` is (path, line); bit i of `hits[test]` says that the test executed it. `gaps`
    names what could not be observed (child processes, a foreign tracer, a spent budget).
    """

    locations: tuple[tuple[str, int], ...]
    hits: Mapping[str, int]
    gaps: tuple[str, ...] = ()

    def list_lines(self, *tests: str) -> dict[str, set[int]]:
        """The lines of each file that tests executed."""
        ran = 0
        for test in tests:
            ran |= self.hits.get(test, 0)
        found: dict[str, set[int]] = {}
        for path, line in (self.locations[at] for at in indices(ran)):
            found.setdefault(path, set()).add(line)
        return found

    def find_hits(self, *places: tuple[str, Container[int]]) -> dict[str, int]:
        """What each test executed of these lines of files; without the tests that did not."""
        inside = (
            at for at, (file, line) in enumerate(self.locations)
            if any(file == path and line in lines for path, lines in places)
        )  # fmt: skip
        mask = bitmap(inside, len(self.locations))
        return {test: ran for test, hits in self.hits.items() if (ran := hits & mask)}

    def joined(self, other: Spectrum, tests: Iterable[str]) -> Spectrum:
        """This one, and what these tests executed in another run besides.

        The tests of the same files are taken to execute as much by themselves: what a process does
        once is then no more suspicious than what each of them does. A test that this run did not
        come to tells nothing of the others.
        """
        index = {place: at for at, place in enumerate(self.locations)}
        moved = [index.setdefault(place, len(index)) for place in other.locations]
        hits = dict(self.hits)
        for test in tests:
            places = (moved[at] for at in indices(other.hits.get(test, 0)))
            more = bitmap(places, len(index)) & ~self.hits.get(test, 0)
            file = test.partition("::")[0]
            near = self.hits if more and test in self.hits else ()
            beside = [t for t in near if t.partition("::")[0] == file]
            for one in {test, *beside}:
                hits[one] = hits.get(one, 0) | more
        return Spectrum(tuple(index), hits, self.gaps)


@dataclass(frozen=True, slots=True)
class OracleAnswers:
    """What the oracle gave to calls of the tests, and to others like them, a mark for each.

    A short one is JSON of the value, and of the arguments where these changed; an exception is ''.
    """

    tests: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SuiteRun:
    """One pytest run in the sandbox.

    Where it is not `finished`, `detail` says what happened; the results are then those that were
    complete. `peak_memory` is in bytes, of all its processes together as far as they were seen.
    `unknown` are keys of pytest's configuration that pytest does not know, `unsteady` functions
    whose tests had other ids than in the first run: these are known by their position. `asked`
    is of a run with an oracle.
    """

    results: tuple[CaseResult, ...]
    collected: tuple[str, ...]
    ended: SuiteEnd
    seconds: float
    isolation: Isolation
    detail: str = ""
    spectrum: Spectrum | None = None
    errors: tuple[tuple[str, str], ...] = ()
    peak_memory: int = 0
    unknown: tuple[str, ...] = ()
    unsteady: tuple[str, ...] = ()
    asked: OracleAnswers = OracleAnswers()

    @property
    def finished(self) -> bool:
        """Whether it came to its end."""
        return self.ended == SuiteEnd.FINISHED

    @property
    def passed(self) -> frozenset[str]:
        """The tests that passed."""
        return frozenset(result.test for result in self.results if result.passed)

    @property
    def red(self) -> tuple[CaseResult, ...]:
        """The results that are red."""
        return tuple(result for result in self.results if result.red)

    def count(self, outcomes: Collection[RunResult]) -> int:
        """How many of the results are among these."""
        return sum(result.outcome in outcomes for result in self.results)

    @property
    def reached(self) -> str:
        """How many of the tests ran before it ended, and how it did."""
        ran = f"{len(self.results)} of {len(self.collected)} tests ran"
        return f"{ran}, {self.detail or self.ended}"


_BITS = bytes.maketrans(b"01", b"\x00\x01")


def indices(bitmap: int) -> Sequence[int]:
    """The positions of the set bits, ascending."""
    width = bitmap.bit_length()
    return list(compress(range(width), flags(bitmap, width)))


def bitmap(positions: Iterable[int], width: int) -> int:
    """The integer with these bits set, all below `width`."""
    digits = bytearray(b"0" * (width or 1))
    for position in positions:
        digits[-1 - position] = 49
    return int(digits, 2)


def flags(bitmap: int, width: int) -> bytes:
    """One byte per position, 0 or 1, lowest position first."""
    return format(bitmap, f"0{width}b").encode().translate(_BITS)[::-1] if width else b""
