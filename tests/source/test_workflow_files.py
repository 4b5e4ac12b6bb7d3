"""Variables that workflows give to the tests of a job."""

from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.source.workflow_files import find_variables, list_jobs, select_known
from tests.fakes import FolderTree

CI = """\
on: push
env: { SHARED: "1", PATH: /evil, LD_PRELOAD: x.so, PYTHONPATH: lib, PYTHONWARNINGS: error,
       FORCE_COLOR: "1" }
jobs:
  test:
    strategy:
      matrix:
        tz: [UTC0, EST5EDT]
        include: [{ tz: CET-1, python: "3.12" }]
    env: { TOKEN: "${{ secrets.TOKEN }}", MODE: fast }
    steps:
      - run: pip install .
        env: { PIP_INDEX_URL: https://example.org, BUILD: "1" }
      - run: python -m pytest
        env: { TZ: "${{ matrix.tz }}" }
  other:
    steps:
      - run: tox -e py
        env: { MODE: slow }
  lint:
    env: { LINT: "1" }
    steps: [{ run: ruff check }]
"""


def _tree(folder: Path, text: str) -> FolderTree:
    return FolderTree.of(folder, {".github/workflows/ci.yml": text})


def test_all_jobs_that_test_agree_on_what_is_given(tmp_path: Path) -> None:
    found = find_variables(_tree(tmp_path, CI), "")
    assert found.fixed == (("PYTHONWARNINGS", "error"), ("SHARED", "1"))


def test_the_job_that_failed_is_asked_where_it_is_known(tmp_path: Path) -> None:
    found = find_variables(_tree(tmp_path, CI), "test")
    assert dict(found.fixed) == {"MODE": "fast", "PYTHONWARNINGS": "error", "SHARED": "1"}


def test_a_job_that_runs_no_tests_asks_those_it_needs(tmp_path: Path) -> None:
    heal = f"{CI}  heal:\n    needs: [test]\n    steps: [{{ uses: heal-bot/heal-bot@v1 }}]\n"
    assert dict(find_variables(_tree(tmp_path, heal), "heal").fixed)["MODE"] == "fast"
    alone = heal.replace("needs: [test]", "if: always()")
    assert "MODE" not in dict(find_variables(_tree(tmp_path, alone), "heal").fixed)


def test_what_jobs_disagree_on_is_a_choice(tmp_path: Path) -> None:
    found = find_variables(_tree(tmp_path, CI), "")
    assert found.choices[3:] == ((("MODE", "fast"),), (("MODE", "slow"),))


def test_values_of_a_matrix_are_choices(tmp_path: Path) -> None:
    found = find_variables(_tree(tmp_path, CI), "test")
    assert found.choices == ((("TZ", "UTC0"),), (("TZ", "EST5EDT"),), (("TZ", "CET-1"),))


def test_a_bundle_takes_only_what_the_workflows_say(tmp_path: Path) -> None:
    told = ("TZ=EST5EDT", "MODE=slow", "MODE=evil", "LD_PRELOAD=x.so", "TOKEN=${{ secrets.TOKEN }}")
    assert select_known(_tree(tmp_path, CI), told) == (("MODE", "slow"), ("TZ", "EST5EDT"))


@pytest.mark.parametrize(
    "text",
    ["", "jobs: 3", "jobs: {a: 1}", "jobs: [", "a: &x {b: *x}", "\x00",
     "jobs: {t: {steps: 1, env: 2}}",
     "jobs: {t: {steps: [{run: pytest, env: [1]}], strategy: {matrix: {include: 3, a: 4}}}}"],
)  # fmt: skip
def test_what_is_no_workflow_gives_nothing(tmp_path: Path, text: str) -> None:
    found = find_variables(_tree(tmp_path, text), "t")
    assert (found.fixed, found.choices) == ((), ())


def test_workflows_beyond_the_cap_are_not_read(tmp_path: Path) -> None:
    assert list_jobs(_tree(tmp_path, CI + "#" * 200_000)) == ()
