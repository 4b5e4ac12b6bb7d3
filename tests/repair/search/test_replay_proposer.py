"""Patches of bundles, proposed again by who made them."""

from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.core.model import ChangedFile, Cluster, Edit, Failure, Regression, Suspect
from heal_bot.ports import Brief
from heal_bot.repair.search.replay_proposer import Replay
from heal_bot.source import edit, patch_policy
from heal_bot.source.functions import find_target, index_targets
from tests.fakes import FolderTree, quiet_run
from tests.github_server import records

SOURCE = "def total(prices):\n    return 0\n"


@pytest.mark.parametrize(
    ("maker", "made", "lacks"),
    [
        ("rules", "bundle", ()),
        ("claude", "claude", None),
        ("other", "bundle", ()),
        ("suggestion", "bundle", ("one failing test alone vouches for it",)),
        ("medium", "bundle", ()),
        ("high", "bundle", ()),
    ],
)
def test_evidence_is_weighed_again_for_what_no_model_made(
    tmp_path: Path, maker: str, made: str, lacks: tuple[str, ...] | None
) -> None:
    tree = FolderTree.of(tmp_path, {"shop/pricing.py": SOURCE})
    target = find_target(index_targets("shop/pricing.py", SOURCE), "total")
    assert target is not None
    change = Edit(target, SOURCE.replace("0", "sum(prices)"))
    (file,) = edit.patch_files(tree, (change,))
    diff = edit.diff_all(tree, (file,))
    data = records.data(tree.sha)
    data["patch"] |= {
        "diff": diff,
        "files": [{"path": file.path, "base_blob": file.base_blob, "content": file.content}],
    }
    shown = diff if maker != "other" else diff.replace("sum(prices)", "1")
    rated = maker if maker in {"medium", "high"} else None
    won = data["attempts"][-1] | {
        "proposer": {"other": "claude", rated: "rules"}.get(maker, maker), "diff": shown,
        "functions": ["shop/pricing.py::total"], "verdict": "fixed",
    }  # fmt: skip
    data["attempts"] = [won]
    cluster = Cluster("c", (Failure("t", "", ""),), (Suspect(target, 1.0),))
    if maker == "suggestion":
        data = records.suggested(tree.sha) | {"attempts": data["attempts"], "patch": data["patch"]}
        data["suggestion"]["patch"], data["patch"], data["certificate"] = data["patch"], None, None
    if rated:
        data["patch"]["confidence"] = {"level": rated, "p": 0.8, "ground": "80 of 89 were right"}
    replay = Replay([records.record(data)])
    (found,) = replay.propose(quiet_run()[0], lambda: Brief(cluster, tree))
    assert replay.notes == []
    assert (found.confidence and found.confidence.level) == rated
    assert (found.edits, found.proposer, found.lacks) == ((change,), made, lacks)


@pytest.mark.parametrize("broke", ["its commit", "another", "none"])
def test_a_large_patch_takes_back_the_commit_that_broke_the_tests_here_too(
    tmp_path: Path, broke: str
) -> None:
    old = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(9))
    new = old.replace("return", "return 1 +")
    tree = FolderTree.of(tmp_path, {"shop/pricing.py": new})
    data = records.data(tree.sha, new, old)
    data["patch"]["functions"] = [
        {"path": "shop/pricing.py", "qualname": f"f{n}"} for n in range(9)
    ]
    data["certificate"]["undoes"] = "b" * 40
    files = (ChangedFile("shop/pricing.py", old.encode(), new.encode()),)
    sha = "b" * 40 if broke == "its commit" else "d" * 40
    found = () if broke == "none" else (Regression("a" * 40, sha, "Add", ("t",), True, files),)
    brief = Brief(Cluster("c", (Failure("t", "", ""),), ()), tree, regressions=found)
    (candidate,) = Replay([records.record(data)]).propose(quiet_run()[0], lambda: brief)
    assert (candidate.undoes or "") == ("b" * 40 if broke == "its commit" else "")
    assert patch_policy.check_candidate(candidate, tree).startswith("the candidate has 9") is (
        broke != "its commit"
    )
