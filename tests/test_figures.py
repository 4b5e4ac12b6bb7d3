"""Published figures: what RESULTS.md and the README say is what the benchmarks printed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from benchmarks import _results
from benchmarks.__main__ import names

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")
MEASURED = _results.sections(_results.FILE.read_text(encoding="utf-8"))

LINE = {"healed": 3, "of": 4, "parts": {"names": ["a", "b"], "ratio": 1.0249}, "complete": True}
TEXT = """# Results

## one

- Command: `python -m benchmarks one --json`
- Date: then
- Versions: 1
- Machine: that
- Caveats: none

| figure | value | fields |
| --- | --- | --- |
| healed | 2 of 4 | `healed, of` |
| names, ratio | 1, 0.98 | `parts.names, parts.ratio` |

```json
{"healed": 2, "of": 4, "parts": {"names": ["a"], "ratio": 0.98}, "complete": true}
```

## none
"""


def _rows_of_the_readme() -> list[tuple[str, str, str]]:
    table = README.partition("## Figures")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (.+) \| (.+) \| `(.+)` \|$", table, re.MULTILINE)
    assert rows
    return rows


@pytest.mark.parametrize("name", sorted(MEASURED))
def test_a_section_says_what_its_line_says(name: str) -> None:
    assert list(_results.wrong(MEASURED[name])) == []


@pytest.mark.parametrize("row", _rows_of_the_readme(), ids=lambda row: row[0][:40])
def test_a_figure_of_the_readme_is_one_of_the_results(row) -> None:
    figure, value, command = row
    name = command.split()[3]
    section = MEASURED[name]
    assert f"`{command}`" == section.facts["Command"]
    assert (figure, value) in {(known.figure, known.value) for known in section.rows}


def test_the_shapes_are_of_benchmarks_and_agree_with_themselves() -> None:
    assert set(_results.SHAPES) <= set(names())
    for name in _results.SHAPES:
        section = _results.sections(_results.blank(name))[name]
        assert len(section.rows) == len(_results.SHAPES[name]["rows"])
        for row in section.rows:
            assert len(_results._NUMBER.findall(row.value)) == len(row.fields)


def test_only_sections_with_a_line_count() -> None:
    assert set(_results.sections(TEXT)) == {"one"}
    assert list(_results.wrong(_results.sections(TEXT)["one"])) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("2 of 4 |", "3 of 4 |", "one: healed: 3 of 4, but measured 2 of 4"),
        ('"complete": true', '"complete": false', "one: did not complete"),
        ("- Caveats: none\n", "", "one: no Caveats"),
        ("benchmarks one", "benchmarks two", "one: the command is of another benchmark"),
    ],
)
def test_what_does_not_agree_is_named(old: str, new: str, said: str) -> None:
    assert said in list(_results.wrong(_results.sections(TEXT.replace(old, new))["one"]))


def test_a_value_needs_a_field_for_each_number() -> None:
    with pytest.raises(ValueError, match="needs a field"):
        _results.brought_up(_results.Row("x", "1 of 2", ("healed",)), LINE)


@pytest.mark.parametrize("path", ["complete", "parts.nothing", "parts.ratio.of"])
def test_what_is_no_number_is_refused(path: str) -> None:
    with pytest.raises((TypeError, KeyError)):
        _results.field(LINE, path)


def test_a_new_line_brings_its_section_up_to_date_and_no_other() -> None:
    text = _results.updated(f"{TEXT}\n2 of 4\n", "one", json.dumps(LINE), "now", "this")
    section = _results.sections(text)["one"]
    assert [row.value for row in section.rows] == ["3 of 4", "2, 1.02"]
    assert (section.facts["Date"], section.facts["Machine"]) == ("now", "this")
    assert section.data == LINE
    assert text.endswith("## none\n\n2 of 4\n")


def test_a_section_that_was_never_measured_is_made() -> None:
    noughts = dict.fromkeys(("violations", "duplicates", "lost"), 0)
    counts = {"passed": 2, "scenarios": 3, "requests_full": 9, "requests_noop": 1}
    rows = _results.SHAPES["github"]["rows"]
    fields = {part for row in rows for part in row["fields"].split(", ")}
    life = {name.partition(".")[2]: 4 for name in fields if name.startswith("life.")}
    line = json.dumps({**counts, **noughts, "life": life, "complete": True})
    text = _results.updated(TEXT, "github", line, "now", "this")
    section = _results.sections(text)["github"]
    assert [row.value for row in section.rows] == [
        "2 of 3", "0", "0 doubled, 0 lost", "9; 1", "4, 4; 4, 4, 4, 4; 4.0", "4",
    ]  # fmt: skip
    assert list(_results.wrong(section)) == []
    with pytest.raises(KeyError):
        _results.updated(TEXT, "two", line, "now", "this")


def test_numbers_are_written_like_those_before() -> None:
    assert _results.shown(1.0249, "0.00") == "1.02"
    assert _results.shown(1_000_000, "0") == "1,000,000"
    assert _results.shown(3.6, "12") == "4"
