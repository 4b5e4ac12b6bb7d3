"""Folders that a project's CI puts on Python's path."""

from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.source.import_path import find_import_folders
from tests.fakes import FolderTree

CI = ".github/workflows/ci.yml"
RUN = "      - run: python -m pytest\n"
LIBRARY = {"libs/common/shared.py": "", "libs/other/more.py": "", "tool/__init__.py": ""}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (CI, f"env:\n  PYTHONPATH: libs/common\n{RUN}"),
        (CI, "env: { PYTHONPATH: '${{ github.workspace }}/libs/common' }\n" + RUN),
        (CI, "      - run: PYTHONPATH=libs/common pytest\n"),
        (CI, f"      - run: export PYTHONPATH=$PYTHONPATH:$(pwd)/libs/common\n{RUN}"),
        (CI, f'      - run: echo "PYTHONPATH=$GITHUB_WORKSPACE/libs/common" >> $GITHUB_ENV\n{RUN}'),
        ("tox.ini", "[testenv]\nsetenv =\n    PYTHONPATH={toxinidir}/libs/common\n"),
        ("setup.cfg", "[tox:tox]\n[testenv]\nsetenv = PYTHONPATH = ./libs/common/\n"),
        ("pyproject.toml", '[tool.tox.env_run_base]\nset_env = { PYTHONPATH = "libs/common" }\n'),
        ("noxfile.py", 'def tests(s):\n    s.run("pytest", env={"PYTHONPATH": "libs/common"})\n'),
        ("noxfile.py", 'def tests(session):\n    session.env["PYTHONPATH"] = "libs/common"\n'),
        ("tox.ini", "[testenv]\nset_env =\n    PYTHONPATH = {toxinidir}{/}libs{/}common\n"),
        ("Makefile", "test:\n\tPYTHONPATH=libs/common python -m pytest\n"),
        ("Makefile", "export PYTHONPATH := $(CURDIR)/libs/common\n"),
        ("Makefile", "test:\n\tPYTHONPATH=$$PWD/libs/common pytest\n"),
    ],
)
def test_a_folder_that_is_put_on_the_path_is_found(tmp_path: Path, path: str, text: str) -> None:
    tree = FolderTree.of(tmp_path, {**LIBRARY, path: text})
    assert find_import_folders(tree) == ("libs/common",)


def test_several_folders_come_in_their_order(tmp_path: Path) -> None:
    text = f"env:\n  PYTHONPATH: libs/other:libs/common:libs/other\n{RUN}"
    tree = FolderTree.of(tmp_path, {**LIBRARY, CI: text})
    assert find_import_folders(tree) == ("libs/other", "libs/common")


def test_a_folder_is_looked_for_in_the_project_first_and_then_at_the_root(tmp_path: Path) -> None:
    text = f"env:\n  PYTHONPATH: lib:libs/common\n{RUN}"
    tree = FolderTree.of(tmp_path, {**LIBRARY, "app/lib/a.py": "", "lib/a.py": "", CI: text})
    assert find_import_folders(tree, "app") == ("app/lib", "libs/common")


@pytest.mark.parametrize(
    "value", ["/libs/common", "../libs/common", "$HOME/libs/common", "missing", "tool/__init__.py"]
)
def test_what_is_no_folder_of_the_checkout_is_left_out(tmp_path: Path, value: str) -> None:
    tree = FolderTree.of(tmp_path, {**LIBRARY, CI: f"env:\n  PYTHONPATH: {value}\n{RUN}"})
    assert find_import_folders(tree) == ()


@pytest.mark.parametrize(
    "text",
    ["      - run: PYTHONPATH=libs/common python deploy.py\n", f"# PYTHONPATH: libs/common\n{RUN}"],
    ids=["another job's", "a comment's"],
)
def test_a_folder_that_the_tests_do_not_get_is_left_out(tmp_path: Path, text: str) -> None:
    assert find_import_folders(FolderTree.of(tmp_path, {**LIBRARY, CI: text})) == ()
