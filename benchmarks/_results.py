"""`benchmarks/RESULTS.md` as data: a section per benchmark, its figures, and its last line.

`python -m benchmarks._results NAME OUTPUT`: put the last line of a benchmark's output into its
section, with today's date, this machine, and the figures of its table brought up to date. A section
that is not there is made from `cases/figures.yaml`.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks._cases import read_cases

FILE = Path(__file__).parent / "RESULTS.md"
SHAPES: dict[str, Any] = read_cases("figures")
FACTS = ("Command", "Date", "Versions", "Machine", "Caveats")

_SECTION = re.compile(r"^## (\w+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_FACT = re.compile(r"^- ([A-Z]\w+): (.+)$", re.MULTILINE)
_ROW = re.compile(r"^\| (?!figure|---)(.+?) \| (.+?) \| `(.+?)` \|$", re.MULTILINE)
_RAW = re.compile(r"^```json\n(.+)\n```$", re.MULTILINE)
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")


@dataclass(frozen=True, slots=True)
class Row:
    """A figure: what it is, its value as text, and the fields of the last line that it shows."""

    figure: str
    value: str
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Section:
    """What was measured by one benchmark."""

    name: str
    facts: dict[str, str]
    rows: tuple[Row, ...]
    data: dict[str, Any]


def sections(text: str) -> dict[str, Section]:
    """The sections of RESULTS.md that hold a last line."""
    found = {}
    for name, body in _SECTION.findall(text):
        if raw := _RAW.search(body):
            rows = tuple(
                Row(figure, value, tuple(fields.split(", ")))
                for figure, value, fields in _ROW.findall(body)
            )
            found[name] = Section(name, dict(_FACT.findall(body)), rows, json.loads(raw[1]))
    return found


def field(data: dict[str, Any], path: str) -> float:
    """A number in the last line, by its dotted path; of a list or an object its length."""
    value: Any = data
    for key in path.split("."):
        value = value[key]
    if isinstance(value, list | dict):
        return len(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError(f"{path} is {value!r}, no number")
    return value


def shown(value: float, like: str) -> str:
    """A number written like another one: as many decimals, commas if that has some."""
    decimals = len(like.partition(".")[2])
    return f"{value:{',' if ',' in like or value >= 10_000 else ''}.{decimals}f}"


def brought_up(row: Row, data: dict[str, Any]) -> str:
    """The value of a row with the numbers that its fields have; ValueError for another count."""
    numbers = iter(row.fields)
    if len(_NUMBER.findall(row.value)) != len(row.fields):
        raise ValueError(f"{row.figure}: {row.value!r} needs a field for each number")
    return _NUMBER.sub(lambda at: shown(field(data, next(numbers)), at[0]), row.value)


def wrong(section: Section) -> Iterator[str]:
    """What does not agree in a section, in sentences."""
    for fact in FACTS:
        if not section.facts.get(fact):
            yield f"{section.name}: no {fact}"
    if f"benchmarks {section.name}" not in section.facts.get("Command", ""):
        yield f"{section.name}: the command is of another benchmark"
    if section.data.get("complete") is not True:
        yield f"{section.name}: did not complete"
    for row in section.rows:
        if (value := brought_up(row, section.data)) != row.value:
            yield f"{section.name}: {row.figure}: {row.value}, but measured {value}"


def blank(name: str) -> str:
    """A section that nothing was measured for yet."""
    shape = SHAPES[name]
    facts = {
        "Command": f"`python -m benchmarks {name}{shape['options']} --json`",
        "Date": "-",
        "Versions": shape["versions"],
        "Machine": "-",
        "Caveats": shape["caveats"],
    }
    said = "".join(f"- {fact}: {facts[fact]}\n" for fact in FACTS)
    rows = "".join("| {figure} | {value} | `{fields}` |\n".format(**row) for row in shape["rows"])
    head = "| figure | value | fields |\n| --- | --- | --- |\n"
    return f"## {name}\n\n{said}\n{head}{rows}\n```json\n{{}}\n```\n"


def updated(text: str, name: str, raw: str, date: str, machine: str) -> str:
    """The text with a new last line of one benchmark; KeyError for one that is not published."""
    if name not in sections(text):
        text = f"{text.rstrip()}\n\n{blank(name)}"
    data, known = json.loads(raw), sections(text)[name]
    (at,) = (match for match in _SECTION.finditer(text) if match[1] == name)
    body = _RAW.sub(lambda found: f"```json\n{raw}\n```", at[0])
    for row in known.rows:
        old = f"| {row.figure} | {row.value} |"
        body = body.replace(old, f"| {row.figure} | {brought_up(row, data)} |")
    for fact, said in (("Date", date), ("Machine", machine)):
        body = re.sub(rf"^- {fact}: .*$", lambda at: f"- {fact}: {said}", body, flags=re.MULTILINE)  # noqa: B023
    return text[: at.start()] + body + text[at.end() :]


def here() -> str:
    """The shape of this machine."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 30
    cores, release = len(os.sched_getaffinity(0)), platform.release().partition("-")[0]
    return f"{cores} cores, {memory} GiB, Linux {release}, Python {platform.python_version()}"


def main(name: str, output: str) -> int:
    """Bring one section up to date."""
    raw = Path(output).read_text(encoding="utf-8").strip().splitlines()[-1]
    asked = ["git", "rev-parse", "--short", "HEAD"]
    commit = subprocess.run(asked, cwd=FILE.parent, capture_output=True, text=True, check=True)
    today = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    date = f"{today}, commit {commit.stdout.strip()}"
    FILE.write_text(updated(FILE.read_text("utf-8"), name, raw, date, here()), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
