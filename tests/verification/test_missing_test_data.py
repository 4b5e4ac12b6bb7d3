"""Files that tests read and that nobody committed."""

from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.core.model import CaseResult, Frame, Origin
from heal_bot.core.statuses import RunResult
from heal_bot.verification.missing_test_data import explain_missing_data
from tests.fakes import FolderTree

FILES = {
    ".gitignore": "# downloads\n*.csv\n!kept.csv\n/build/\n",
    ".gitmodules": '[submodule "shared"]\n\tpath = tests/shared\n\turl = ../shared\n',
    "tests/test_rates.py": "def test_it(): ...\n",
    "tests/data/kept.json": "{}",
    "src/rates.py": "",
}
FORCED = "; .gitignore has `*.csv`, so add it with git add --force"


def _explain(tmp_path: Path, path: str, raised: str = "tests/test_rates.py") -> str:
    origin = Origin.TEST if raised.startswith("tests") else Origin.PROJECT
    frame = Frame(raised, 1, "it", origin)
    library = Frame("/usr/lib/python3/pathlib.py", 9, "open", Origin.LIBRARY)
    message = f"[Errno 2] No such file or directory: '{path}'"
    seen = CaseResult(
        "tests/test_rates.py::test_it", RunResult.ERROR, "setup", kind="FileNotFoundError",
        message=message, frames=(frame, library),
    )  # fmt: skip
    return explain_missing_data(seen, FolderTree.of(tmp_path, FILES))


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("/ci/job/repo/tests/data/2023.csv", f"tests/data/2023.csv, {{}}{FORCED}"),
        ("tests/data/2023.json", "tests/data/2023.json, {}: add it"),
        ("/ci/src/src/tests/data/2023.json", "tests/data/2023.json, {}: add it"),
    ],
)
def test_a_file_of_the_tests_that_the_commit_lacks_is_named(
    tmp_path: Path, path: str, said: str
) -> None:
    expected = said.format("which is not in the commit")
    assert _explain(tmp_path, path) == f"the tests read {expected}"


def test_a_file_of_a_submodule_is_to_be_checked_out(tmp_path: Path) -> None:
    assert "submodules: true" in _explain(tmp_path, "tests/shared/cases.json")


@pytest.mark.parametrize(
    ("path", "raised"),
    [
        ("/tmp/pytest-0/test_it0/out.csv", "tests/test_rates.py"),
        ("tests/data/kept.json", "tests/test_rates.py"),
        ("/ci/src/src/tests/data/kept.json", "tests/test_rates.py"),
        ("src/data/table.csv", "tests/test_rates.py"),
        ("tests/data/2023.csv", "src/rates.py"),
        ("pandoc", "tests/test_rates.py"),
    ],
    ids=[
        "elsewhere",
        "that is there",
        "that is there, below a folder of that name",
        "of the project",
        "asked for by the code",
        "a program",
    ],
)
def test_what_the_code_may_be_to_blame_for_is_not_explained(
    tmp_path: Path, path: str, raised: str
) -> None:
    assert _explain(tmp_path, path, raised) == ""
