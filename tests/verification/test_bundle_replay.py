"""`heal-bot verify` on a bundle that is as it was, changed, or of another place."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

# Each run is a whole baseline and confirmation.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def healed(tmp_path_factory: pytest.TempPathFactory, planted: Callable, heal_bot: Callable) -> Path:
    """A folder with a repository and the bundle that repairs it."""
    place = tmp_path_factory.mktemp("verify")
    repo = planted(place / "repo")
    done = heal_bot(place, "heal", "--repo", repo, "--python", sys.executable,
                    "--proposers", "rules", "--out", place / "bundle")  # fmt: skip
    assert done.stdout.count("Fix proposed: ") == 1, done.stdout + done.stderr
    return place


@pytest.fixture
def verify(healed: Path, heal_bot: Callable) -> Callable[[Path], tuple[int, str]]:
    """Exit code and words of `heal-bot verify` for a bundle."""

    def call(bundle: Path) -> tuple[int, str]:
        done = heal_bot(healed, "verify", "--bundle", bundle, "--repo", healed / "repo",
                        "--python", sys.executable, "--quiet")  # fmt: skip
        return done.returncode, done.stdout + done.stderr

    return call


def _changed(healed: Path, tmp_path: Path, change: Callable[[Any], None]) -> Path:
    record = json.loads((healed / "bundle" / "outcome.json").read_text())
    change(record)
    (tmp_path / "outcome.json").write_text(json.dumps(record))
    return tmp_path


def test_a_verification_comes_out_equal_when_nothing_changed(
    healed: Path, verify: Callable
) -> None:
    code, said = verify(healed / "bundle")
    assert code == 0, said
    assert "\nequal: the verification was repeated with the same result" in said


def _claim(record: Any) -> None:
    record["certificate"]["full_suite"]["passed"] += 1


def _shown(record: Any) -> None:
    record["patch"]["diff"] = record["patch"]["diff"].replace("net + tax", "net and tax")


def _worse(record: Any) -> None:
    file = record["patch"]["files"][0]
    file["content"] = file["content"].replace("net + tax", "net + tax + 1")


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (_claim, "DIFFERS   suite"),
        (_shown, "DIFFERS   diff"),
        (_worse, "DIFFERS   confirmation"),
    ],
)
def test_a_claim_that_does_not_hold_is_not_equal(
    healed: Path, verify: Callable, tmp_path: Path, change: Callable[[Any], None], word: str
) -> None:
    code, said = verify(_changed(healed, tmp_path, change))
    assert (code, word in said) == (1, True), said
    assert said.rstrip().endswith("NOT equal")


def _elsewhere(record: Any) -> None:
    record["patch"]["files"][0]["base_blob"] = "1" * 40


def _more(record: Any) -> None:
    record["patch"]["files"][0]["content"] += "x = 1\n"


def _moved(record: Any) -> None:
    record["patch"]["base_sha"] = "2" * 40


def _none(record: Any) -> None:
    record["patch"] = None


@pytest.mark.parametrize(
    ("change", "word"),
    [
        (_elsewhere, "no longer applies"),
        (_more, "something outside the functions named is changed"),
        (_moved, "commit 222222222222 is not in"),
        (_none, "holds no patch"),
    ],
)
def test_a_bundle_that_does_not_fit_is_one_line(
    healed: Path, verify: Callable, tmp_path: Path, change: Callable[[Any], None], word: str
) -> None:
    code, said = verify(_changed(healed, tmp_path, change))
    assert (code, word in said, said.count("\n")) == (2, True, 1), said


def test_a_patch_over_two_commits_names_both_and_is_verified_again(
    tmp_path: Path, planted: Callable, heal_bot: Callable
) -> None:
    sizes = (
        "def most(sizes):\n    return max(sizes)\n\n\ndef least(sizes):\n    return min(sizes)\n"
    )
    tests = "from sizes import most\n\n\ndef test_most():\n    assert most([1, 2]) == 2\n"
    right = "def total(net, tax):\n    return net + tax\n"
    files = {"prices.py": right, "sizes.py": sizes, "test_sizes.py": tests}
    repo, told = planted(tmp_path / "repo", files), tmp_path / "bundle"
    _commit(repo, "Subtract", "prices.py", right.replace("+", "-"))
    wrong = sizes.replace("max(sizes)", "sizes[0]").replace("min(sizes)", "sorted(sizes)[0]")
    _commit(repo, "Sort", "sizes.py", wrong)
    shas = subprocess.run(["git", "log", "--format=%h", "--abbrev=7"], cwd=repo, check=True,
                          capture_output=True, text=True).stdout.split()  # fmt: skip
    done = heal_bot(tmp_path, "heal", "--repo", repo, "--python", sys.executable,
                    "--good", shas[2], "--out", told)  # fmt: skip
    record = json.loads((told / "outcome.json").read_text())
    assert record["reason"].startswith("3 of 3 failing tests"), done.stdout + done.stderr
    assert record["certificate"]["undoes"][:7] == shas[1]
    doubts = "\n".join(record["certificate"]["doubts"])
    assert [doubts.count(f"`{sha}`") for sha in shas] == [1, 1, 0]
    again = heal_bot(tmp_path, "verify", "--bundle", told, "--repo", repo, "--python",
                     sys.executable, "--quiet")  # fmt: skip
    assert again.returncode == 0, again.stdout + again.stderr
    assert f"equal    undoes: {record['certificate']['undoes']}" in again.stdout


def _commit(repo: Path, title: str, name: str, text: str) -> None:
    (repo / name).write_text(text)
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    subprocess.run(["git", *who, "commit", "-qam", title], cwd=repo, check=True)
