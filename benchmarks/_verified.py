"""What verification is tried on: changes for the gates, unsteady suites, histories, repairs."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks._cases import read_cases


@dataclass(frozen=True, slots=True)
class Gated:
    """A function before and after, the body of the test it satisfies, and the right answer."""

    name: str
    old: str
    new: str
    test: str
    right: str


@dataclass(frozen=True, slots=True)
class Unsteady:
    """`right` are the statuses that are true of `test`; `message` is what CI reported."""

    kind: str
    text: str
    right: list[str]
    test: str = "test_it"
    message: str = "AssertionError: assert False"


@dataclass(frozen=True, slots=True)
class History:
    """`old` and `new` are `m.py` at two commits; the second turns a test red that it did not touch.

    What is right: an intended change is called a stale test or undecided, or its repair is labelled
    as taking the commit back; a regression is searched.
    """

    name: str
    intended: bool
    old: str
    new: str
    tests: list[str]
    also: str = ""


@dataclass(frozen=True, slots=True)
class Honest:
    """`wrong` occurs once in `right`'s place; `tests` are the bodies of test functions."""

    name: str
    code: str
    wrong: str
    right: str
    tests: list[str]
    plain: bool = True


GATED = [Gated(**row) for row in read_cases("gated")]
UNSTEADY = [Unsteady(**row) for row in read_cases("unsteady")]
HISTORIES = [History(**row) for row in read_cases("histories")]
HONEST = [Honest(**row) for row in read_cases("honest")]
