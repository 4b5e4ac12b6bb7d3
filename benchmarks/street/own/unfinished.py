"""Work in progress: tests before their code, half a feature; and one that only looks so."""

from __future__ import annotations

from benchmarks.street.own._files import changed, legacy, project
from benchmarks.street.situation import Commit, Situation

_SHAPES = """\
import math


class Shape:
    def area(self):
        raise NotImplementedError

    def fits(self, room):
        return self.area() <= room


class Square(Shape):
    def __init__(self, side):
        self.side = side

    def area(self):
        return self.side ** 2


class Circle(Shape):
    def __init__(self, radius):
        self.radius = radius

    def area(self):
        return math.pi * self.radius ** 2
"""
_SAYS = ("not implemented", "notimplemented", "unfinished", "in progress", "not written", "missing",
         "not yet", "to be written")  # fmt: skip

SITUATIONS = (
    Situation(
        name="own/export-csv-is-to-come",
        kind="unfinished",
        action="explain",
        says=_SAYS,
        commits=(
            Commit(
                "Export rows as text",
                {
                    **project("export", about="rows for others"),
                    "src/export/rows.py": 'def as_text(rows):\n    return "\\n".join(" ".join(r) for r in rows)\n',
                    "tests/test_rows.py": """\
import pytest

from export.rows import as_text


@pytest.mark.parametrize(
    ("rows", "wanted"), [([], ""), ([["a"]], "a"), ([["a", "b"]], "a b"), ([["a"], ["b"]], "a\\nb")]
)
def test_text(rows, wanted):
    assert as_text(rows) == wanted
""",
                },
            ),
            Commit(
                "WIP: begin the export as CSV",
                {
                    "src/export/csv.py": """\
def quoted(cell):
    return f'"{cell}"' if "," in cell else cell


def as_csv(rows, header=None):
    raise NotImplementedError("as_csv: needs the decision on line ends")
""",
                    "tests/test_csv.py": """\
from export.csv import as_csv, quoted


def test_quoted():
    assert quoted("a,b") == '"a,b"'


def test_csv():
    assert as_csv([["a", "b,c"]]) == 'a,"b,c"\\r\\n'


def test_header():
    assert as_csv([["1"]], header=["n"]) == "n\\r\\n1\\r\\n"
""",
                },
            ),
        ),
    ),
    Situation(
        name="own/loans-tests-come-first",
        kind="unfinished",
        action="explain",
        says=(*_SAYS, "no module", "loans.reminders", "does not exist"),
        commits=(
            Commit(
                "Reckon when loans are due",
                {
                    **legacy("loans"),
                    "loans/due.py": "def overdue(day, due):\n    return max(0, day - due)\n",
                    "tests/test_due.py": """\
import unittest

from loans.due import overdue


class DueTest(unittest.TestCase):
    def test_late(self):
        self.assertEqual(overdue(9, 5), 4)

    def test_on_the_day(self):
        self.assertEqual(overdue(5, 5), 0)

    def test_early(self):
        self.assertEqual(overdue(1, 5), 0)
""",
                },
            ),
            Commit(
                "Describe reminders by tests first; the module follows",
                {
                    "tests/test_reminders.py": """\
import unittest

from loans.reminders import Reminder


class ReminderTest(unittest.TestCase):
    def test_first(self):
        self.assertEqual(Reminder("Ada", 1).subject(), "A book is due")

    def test_third(self):
        self.assertEqual(Reminder("Ada", 3).fee(), 250)
"""
                },
            ),
        ),
    ),
    Situation(
        name="own/queue-priorities-half-done",
        kind="unfinished",
        action="explain",
        says=(*_SAYS, "todo"),
        commits=(
            Commit(
                "Keep jobs in a queue",
                {
                    **project("jobs", flat=True, about="jobs in their order"),
                    "jobs/queue.py": """\
class Queue:
    def __init__(self):
        self.jobs = []

    def put(self, job):
        self.jobs.append(job)

    def take(self):
        return self.jobs.pop(0)

    def __len__(self):
        return len(self.jobs)
""",
                    "tests/test_queue.py": """\
from jobs.queue import Queue


def filled(*jobs):
    queue = Queue()
    for job in jobs:
        queue.put(job)
    return queue


def test_empty():
    assert len(Queue()) == 0


def test_order():
    assert filled("a", "b").take() == "a"


def test_length():
    assert len(filled("a", "b")) == 2
""",
                },
            ),
            Commit(
                "wip: priorities, first half (put takes one, take does not heed it yet)",
                {
                    "jobs/queue.py": """\
class Queue:
    def __init__(self):
        self.jobs = []

    def put(self, job, priority=0):
        self.jobs.append((priority, job))

    def take(self):
        # TODO: heed the priority; equal ones in their order
        raise NotImplementedError

    def __len__(self):
        return len(self.jobs)
""",
                    "tests/test_priority.py": """\
from jobs.queue import Queue


def test_higher_first():
    queue = Queue()
    queue.put("low")
    queue.put("high", priority=5)
    assert queue.take() == "high"


def test_equal_in_order():
    queue = Queue()
    queue.put("a", priority=1)
    queue.put("b", priority=1)
    assert queue.take() == "a"
""",
                },
            ),
        ),
    ),
    Situation(
        name="own/garden-methods-still-to-write",
        kind="unfinished",
        action="explain",
        says=(*_SAYS, "attribute"),
        commits=(
            Commit(
                "Lay out beds",
                {
                    **project("garden", about="beds of a garden"),
                    "src/garden/bed.py": """\
class Bed:
    def __init__(self, width, length):
        self.width, self.length = width, length

    def area(self):
        return self.width * self.length
""",
                    "tests/test_bed.py": """\
import pytest

from garden.bed import Bed


@pytest.mark.parametrize(("width", "length", "wanted"), [(1, 2, 2), (3, 3, 9), (0, 4, 0)])
def test_area(width, length, wanted):
    assert Bed(width, length).area() == wanted
""",
                },
            ),
            Commit(
                "Add tests for watering and sowing\n\nDraft: Bed.water and Bed.sow are written next.",
                {
                    "tests/test_work.py": """\
from garden.bed import Bed


def test_water():
    bed = Bed(2, 2)
    bed.water(litres=8)
    assert bed.litres_per_area() == 2


def test_sow():
    bed = Bed(2, 2)
    bed.sow("peas", every=0.5)
    assert bed.plants() == {"peas": 16}
"""
                },
            ),
        ),
    ),
    Situation(
        name="own/shapes-method-lost-its-name",
        kind="unfinished",
        action="repair",
        commits=(
            Commit(
                "Reckon with shapes",
                {
                    **project("shapes", flat=True, about="shapes and rooms"),
                    "shapes/area.py": _SHAPES,
                    "tests/test_area.py": """\
import math

import pytest

from shapes.area import Circle, Shape, Square


@pytest.mark.parametrize(("side", "wanted"), [(0, 0), (2, 4), (3, 9)])
def test_square(side, wanted):
    assert Square(side).area() == wanted


def test_circle():
    assert Circle(1).area() == math.pi


def test_fits():
    assert Circle(1).fits(4)


def test_bare_shape():
    with pytest.raises(NotImplementedError):
        Shape().area()
""",
                },
            ),
            Commit(
                "Order the methods of circles",
                {
                    "shapes/area.py": changed(
                        _SHAPES,
                        (
                            "    def area(self):\n        return math.pi",
                            "    def aera(self):\n        return math.pi",
                        ),
                    )
                },
            ),
        ),
        right={"shapes/area.py": _SHAPES},
        hidden={
            "tests/test_hidden_area.py": """\
import math

import pytest

from shapes.area import Circle


@pytest.mark.parametrize("radius", [0, 0.5, 2])
def test_circle(radius):
    assert Circle(radius).area() == pytest.approx(math.pi * radius * radius)


def test_too_big():
    assert not Circle(2).fits(12)
"""
        },
    ),
)  # fmt: skip
