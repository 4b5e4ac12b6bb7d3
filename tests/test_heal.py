"""The main job through the real command line: red tests in, a bundle out, the patch applied."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

SOURCE = '''\
"""Prices."""

RATES = {"food": 7, "other": 19}


def taxed(cents, kind):
    """The price with tax, rounded down."""
    # whole cents only
    return cents - cents * RATES[kind] // 100


class Basket:
    def __init__(self):
        self.items = []

    def add(self, cents, kind):
        self.items.append(taxed(cents, kind))

    @property
    def total(self):
        return sum(self.items)
'''
TESTS = """\
import pytest

from prices import Basket, taxed


@pytest.fixture
def basket():
    made = Basket()
    made.add(100, "food")
    made.add(200, "other")
    return made


def test_the_total_is_taxed(basket):
    assert basket.total == 345


@pytest.mark.parametrize("cents, expected", [(1000, 1070), (1, 1), (0, 0)])
def test_food_is_taxed(cents, expected):
    assert taxed(cents, "food") == expected


def test_an_empty_basket():
    assert Basket().total == 0


def test_an_unknown_kind():
    with pytest.raises(KeyError):
        taxed(1, "toys")
"""


def _heal_bot(*args: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-m", "heal_bot", *args],
        cwd=cwd,
        capture_output=True,
        text=True,
        timeout=300,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin"},
    )


def _git(folder: Path, *args: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    subprocess.run(["git", *who, *args], cwd=folder, check=True, capture_output=True)


pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def healed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the repository `repo`, its report and the bundle `out` of a real run."""
    folder = tmp_path_factory.mktemp("heal")
    repo = folder / "repo"
    (repo / "tests").mkdir(parents=True)
    (repo / "prices.py").write_text(SOURCE)
    (repo / "tests" / "test_prices.py").write_text(TESTS)
    (repo / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    _git(repo, "init", "-q", "-b", "main")
    _git(repo, "add", ".")
    _git(repo, "commit", "-q", "-m", "prices")
    tests = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
    red = subprocess.run([*tests, "--junitxml=../junit.xml"], cwd=repo, capture_output=True)
    assert red.returncode == 1
    mode = "strict" if _heal_bot("doctor", cwd=folder).returncode == 0 else "reduced"
    done = _heal_bot(
        "heal", "--repo", "repo", "--junit", "junit.xml", "--python", sys.executable,
        "--out", "out", "--sandbox", mode, "--memory", "memory.json", "-v", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (folder / "said").write_text(done.stdout)
    return folder


def test_the_guilty_function_is_repaired_although_an_assertion_elsewhere_failed(
    healed: Path,
) -> None:
    outcome = json.loads((healed / "out" / "outcome.json").read_text())
    assert outcome["status"] == "healed"
    assert outcome["patch"]["functions"] == [{"path": "prices.py", "qualname": "taxed"}]
    expected = SOURCE.replace("cents - cents", "cents + cents")
    assert [file["content"] for file in outcome["patch"]["files"]] == [expected]
    assert sorted(outcome["patch"]["fixed"]) == [
        "tests/test_prices.py::test_food_is_taxed[1000-1070]",
        "tests/test_prices.py::test_the_total_is_taxed",
    ]
    assert any("no model key" in note for note in outcome["notes"])


def test_who_watches_sees_the_running_test_and_the_candidate(healed: Path) -> None:
    said = (healed / "said").read_text()
    either = r"^  test (?:[1-6] of 6|[12] of 2): tests/test_prices\.py::test_"
    assert re.search(either, said, re.MULTILINE)
    assert re.search(r"^  candidate \d+: prices\.py::taxed: ", said, re.MULTILINE)
    assert "underway" not in (healed / "out" / "events.jsonl").read_text()


def test_the_certificate_says_what_ran(healed: Path) -> None:
    certificate = json.loads((healed / "out" / "outcome.json").read_text())["certificate"]
    assert certificate["verify_runs"] == 2
    assert certificate["full_suite"]["passed"] == 6
    assert certificate["tests_unchanged"] is True
    assert {row["after"] for row in certificate["before_after"]} == {"passed"}


def test_the_bundle_holds_the_texts_for_people_and_the_memory_for_the_next_run(
    healed: Path,
) -> None:
    assert {p.name for p in (healed / "out").iterdir()} >= {
        "outcome.json", "patch.diff", "attempts.jsonl", "events.jsonl", "pull_request.md",
    }  # fmt: skip
    assert json.loads((healed / "memory.json").read_text())["tried"]
    lines = (healed / "out" / "events.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))


def test_a_bundle_that_is_resumed_is_verified_anew_and_nothing_is_searched_for(
    healed: Path,
) -> None:
    _git(healed, "clone", "-q", "repo", "again")
    mode = json.loads((healed / "out" / "outcome.json").read_text())["certificate"]["isolation"]
    done = _heal_bot(
        "heal", "--repo", "again", "--junit", "junit.xml", "--python", sys.executable,
        "--out", "resumed", "--sandbox", mode["mode"], "--resume", "out", cwd=healed,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    outcome = json.loads((healed / "resumed" / "outcome.json").read_text())
    before = json.loads((healed / "out" / "outcome.json").read_text())
    assert outcome["status"] == "healed"
    assert outcome["patch"] == before["patch"]
    assert before["patch"]["confidence"]["ground"] in outcome["certificate"]["doubts"]
    assert {search["proposer"] for search in outcome["searches"]} == {"bundle"}
    assert outcome["certificate"]["verify_runs"] == 2
    assert {t["digest"] for t in before["memory"]["tried"]} <= {
        t["digest"] for t in outcome["memory"]["tried"]
    } | {t["digest"] for t in before["memory"]["tried"] if t["verdict"] in {"fixed", "improved"}}


def test_explain_tells_the_verdict_and_apply_never_overwrites_a_change(healed: Path) -> None:
    told = _heal_bot("explain", "out", cwd=healed)
    assert "Fix proposed" in told.stdout
    assert "taxed" in told.stdout
    applied = _heal_bot("apply", "--bundle", "out", "--repo", "repo", cwd=healed)
    assert applied.returncode == 0, applied.stderr
    assert "cents + cents" in (healed / "repo" / "prices.py").read_text()
    (healed / "repo" / "prices.py").write_text("# someone was here\n")
    refused = _heal_bot("apply", "--bundle", "out", "--repo", "repo", cwd=healed)
    assert refused.returncode != 0
    assert "--force" in refused.stderr
    assert (healed / "repo" / "prices.py").read_text() == "# someone was here\n"


def test_the_patch_applies_with_git_as_well(healed: Path) -> None:
    fresh = healed / "fresh"
    _git(healed, "clone", "-q", "repo", "fresh")
    _git(fresh, "apply", "../out/patch.diff")
    assert "cents + cents" in (fresh / "prices.py").read_text()


def test_a_dirty_tree_is_refused_by_name(healed: Path) -> None:
    _git(healed, "clone", "-q", "repo", "dirty")
    (healed / "dirty" / "prices.py").write_text("# changed\n")
    done = _heal_bot("heal", "--repo", "dirty", "--out", "none", cwd=healed)
    assert done.returncode == 2
    assert "prices.py" in done.stderr
    assert not (healed / "none").exists()
