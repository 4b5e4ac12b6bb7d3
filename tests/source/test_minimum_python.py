"""Syntax that the lowest Python of a project does not have."""

from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.core.model import Candidate, Edit
from heal_bot.source import functions, patch_policy
from tests.fakes import FolderTree

OLD = "class A:\n    def f(self, a):\n        return a\n"
WALRUS = "    def f(self, a):\n        return (b := a)\n"
MATCH = "    def f(self, a):\n        match a:\n            case 1:\n                return 2\n"
GROUP = "    def f(self, a):\n        try:\n            b()\n        except* E:\n            pass\n"


@pytest.mark.parametrize(
    ("files", "new", "minor"),
    [
        ({"pyproject.toml": '[project]\nrequires-python = ">=3.9"\n'}, MATCH, 9),
        ({"pyproject.toml": '[project]\nrequires-python = ">=3.9,<4"\n'}, GROUP, 9),
        ({"pyproject.toml": '[tool.poetry.dependencies]\npython = "^3.8"\n'}, MATCH, 8),
        ({"setup.cfg": "[options]\npython_requires = >= 3.7\n"}, WALRUS, 7),
        ({"setup.py": "setup(python_requires='>=3.9')\n"}, MATCH, 9),
        ({"setup.py": "'Programming Language :: Python :: 3.9'\n'... Python :: 3.12'"}, MATCH, 9),
        ({"pyproject.toml": '[project]\nrequires-python = ">=3.10"\n'}, MATCH, None),
        ({"pyproject.toml": '[project]\nrequires-python = ">=3.9"\n'}, WALRUS, None),
        ({"pyproject.toml": "[project\n"}, MATCH, None),
        ({}, MATCH, None),
    ],
)
def test_a_patch_has_to_be_read_by_the_lowest_python(
    tmp_path: Path, files: dict[str, str], new: str, minor: int | None
) -> None:
    tree = FolderTree.of(tmp_path, {"shop.py": OLD, **files})
    target = functions.find_target(functions.index_targets("shop.py", OLD), "A.f")
    assert target is not None
    why = patch_policy.check_candidate(Candidate((Edit(target, new),), "openai", "model"), tree)
    assert (f"no syntax of Python 3.{minor}" in why) if minor else why == ""


def test_what_is_newer_already_may_stay_so(tmp_path: Path) -> None:
    old = f"class A:\n{MATCH}"
    files = {"shop.py": old, "pyproject.toml": '[project]\nrequires-python = ">=3.8"\n'}
    tree = FolderTree.of(tmp_path, files)
    target = functions.find_target(functions.index_targets("shop.py", old), "A.f")
    assert target is not None
    new = MATCH.replace("return 2", "return 3")
    assert patch_policy.check_candidate(Candidate((Edit(target, new),), "rules", "x"), tree) == ""
