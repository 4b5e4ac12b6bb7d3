"""Projects with two repairs that their tests do not tell apart, healed as a whole."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from heal_bot import api, wiring
from heal_bot.core import bundle, settings
from heal_bot.core.model import Memory
from heal_bot.core.outcome import OutcomeRecord
from heal_bot.repair.search import attempt_history
from tests.cli import terminal
from tests.github_server import records

pytestmark = pytest.mark.long

SOURCE = '''\
def passed(points, total):
    """Whether half of the points were reached."""
    return points * 2 < total
'''
TESTS = """\
from grades import passed


def test_most_points_pass():
    assert passed(9, 10)


def test_all_points_pass():
    assert passed(4, 4)


def test_few_points_fail():
    assert not passed(1, 10)
"""
# What runs in a process of its own is seen by the cold run alone.
BESIDE = """

def test_half_of_the_points_fail():
    import subprocess, sys

    code = "from grades import passed; assert not passed(4, 8)"
    subprocess.run([sys.executable, "-c", code], check=True)
"""
FILES = {
    "grades.py": SOURCE,
    "tests/test_grades.py": TESTS,
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
}


def _committed(folder: Path, files: dict[str, str]) -> Path:
    repo = records.write(folder / "repo", files)
    for args in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "grades"]):
        who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
        subprocess.run(["git", *who, *args], cwd=repo, check=True)
    return repo


def _healed(folder: Path, files: dict[str, str], memory: Path | None = None) -> OutcomeRecord:
    repo = _committed(folder, files)
    chosen = settings.load({}, options={"proposers": ("rules",), "sandbox": "reduced"})
    job = wiring.HealJob(repo, folder / "out", python=Path(sys.executable), memory=memory)
    api.heal(job, chosen)
    return bundle.read(folder / "out")


def test_where_two_changes_hold_the_run_asks_for_the_answer_that_decides(tmp_path: Path) -> None:
    record = _healed(tmp_path, FILES)
    assert (record.status, record.patch) == ("needs_answer", None)
    assert record.question is not None
    assert record.question.call == "passed(4, 8)"
    assert [(a.choice, a.result) for a in record.question.answers] == [
        ("A", "False"),
        ("B", "True"),
    ]
    held = {choice.id: choice.patch for choice in record.choices}
    assert {name: patch.files[0].content for name, patch in held.items()} == {
        "A": SOURCE.replace("<", ">"), "B": SOURCE.replace("<", ">="),
    }  # fmt: skip
    assert {len(patch.fixed) for patch in held.values()} == {3}


def test_what_a_person_answered_is_not_asked_again(tmp_path: Path) -> None:
    kept = tmp_path / "memory.json"
    answer = attempt_history.digest_answer("passed(4, 8)", "True")
    attempt_history.save(kept, Memory(answers=(answer,)))
    record = _healed(tmp_path, FILES, kept)
    assert (record.status, record.question) == ("healed", None)
    assert record.patch is not None
    assert record.patch.files[0].content == SOURCE.replace("<", ">=")
    assert "a person answered that passed(4, 8) gives True" in record.notes
    assert attempt_history.load(kept).answers == (answer,)


def test_what_does_not_hold_in_the_cold_run_is_no_choice_and_no_rival(tmp_path: Path) -> None:
    record = _healed(tmp_path, {**FILES, "tests/test_grades.py": TESTS + BESIDE})
    assert (record.status, record.question, record.choices) == ("healed", None, ())
    assert record.patch is not None
    assert record.patch.files[0].content == SOURCE.replace("<", ">")
    assert [a.verdict for a in record.attempts] == ["fixed", "unconfirmed"]


@pytest.mark.parametrize(("typed", "held"), [("b\n", ">="), ("\n", "<")])
def test_a_person_at_a_terminal_is_asked_and_the_answer_is_applied(
    tmp_path: Path, typed: str, held: str
) -> None:
    repo, out = _committed(tmp_path, FILES), tmp_path / "out"
    argv = terminal.python(
        "heal_bot", "heal", "--repo", str(repo), "--out", str(out), "--python", sys.executable,
        "--sandbox", "reduced", "--proposers", "rules",
    )  # fmt: skip
    shown = terminal.run(argv, 200, typed=typed)
    rows = [row for row in shown.rows if not row.startswith(("bundle:", "next: heal-bot"))]
    at = rows.index("what should passed(4, 8) give?")
    assert rows[at + 1] == "  A: False"
    asked = next(row for row in rows[at:] if row.startswith("Apply A or B?"))
    assert "Enter to decide later" in asked
    assert (repo / "grades.py").read_text() == SOURCE.replace("<", held)
    test = "keep the answer as a test: assert passed(4, 8) == True"
    assert (test in rows) is (held == ">=")
