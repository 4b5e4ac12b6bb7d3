"""What a critic is shown of a patch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import (
    Certificate,
    ChangedFile,
    Cluster,
    Confirmed,
    Cost,
    Edit,
    Failure,
    Opinion,
    Patch,
    Regression,
    SuiteTotals,
)
from heal_bot.ports import Brief, Observed
from heal_bot.ports.language_model import Message, Reply
from heal_bot.repair.llm.budget import Budget
from heal_bot.repair.llm.patch_review import ModelCritic
from heal_bot.source import edit, functions
from tests.fakes import ENVIRONMENT, ISOLATION, FolderTree, quiet_run

SOURCE = "LIMIT = 3\n\n\ndef cut(text, most=5):\n    return text[:most][:LIMIT]\n"
TEST = "tests/test_m.py::test_cut"


@dataclass
class Reader:
    """A model that agrees and keeps what it was shown."""

    provider: str = "own"
    name: str = "reader"
    window: int = 100_000
    max_output: int = 8_000
    read: list[str] = field(default_factory=list)

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        return 0.0

    def ask(
        self, run: Run, system: str, messages: Sequence[Message], max_tokens: int,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:  # fmt: skip
        self.read.append("".join(message.text for message in messages))
        return Reply('{"agrees": true}', Cost(), self.name)


class NoLab:
    """A lab that is not used."""

    def snippet(self, code: str, edits: Sequence[Edit] = ()) -> Observed:
        raise AssertionError(code)


@pytest.mark.parametrize(
    ("name", "kind", "old", "new", "shown"),
    [
        ("cut", "function", "[:LIMIT]", "", "    return text[:most]\n"),
        ("cut.most", "default", "5", "9", "def cut(text, most=9):"),
        ("LIMIT", "assignment", "3", "8", "LIMIT = 8"),
    ],
)
def test_what_is_reviewed_is_shown_as_it_is_with_the_patch(
    tmp_path: Path, name: str, kind: str, old: str, new: str, shown: str
) -> None:
    test = "from m import cut\n\ndef test_cut():\n    assert cut('abcdef')\n"
    tree = FolderTree.of(tmp_path, {"m.py": SOURCE, "tests/test_m.py": test})
    target = functions.find_target(functions.index_targets("m.py", SOURCE), name, kind)
    assert target is not None
    edits = (Edit(target, target.source.replace(old, new), ("import textwrap",)),)
    files = edit.patch_files(tree, edits)
    patch = Patch("1" * 40, files, "(the diff)", edits, (TEST,), (), "The limit was too low")
    totals = SuiteTotals(True, 1, 0, 0, 0.1)
    certificate = Certificate("1" * 40, "", "", ENVIRONMENT, ISOLATION, 2, 2, (), totals, True)
    cluster, reader = Cluster("c", (Failure(TEST, "E", ""),), ()), Reader()
    critic = ModelCritic([reader], Budget())
    confirmed = Confirmed(patch, certificate)
    files_of_commit = (ChangedFile("m.py", b"LIMIT = 9\n", SOURCE.encode()),)
    broke = Regression("2" * 40, "3" * 40, "Shorter cuts", (TEST,), True, files_of_commit)
    brief = Brief(cluster, tree, regressions=(broke,))
    found = critic.opinion(quiet_run()[0], confirmed, brief, NoLab())
    assert found == Opinion()
    (prompt,) = reader.read
    assert shown in prompt
    assert "as it is with the patch" in prompt
    assert prompt.count(shown) == 1
    assert "# m.py\nimport textwrap\n" in prompt
    assert "\nThe limit was too low\n" in prompt
    assert "(Shorter cuts) broke this test" in prompt
