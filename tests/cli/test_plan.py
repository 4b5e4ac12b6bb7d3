"""`heal-bot plan` and `merge`: red tests dealt to jobs, their bundles made one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from heal_bot.cli.plan import deal
from heal_bot.core.model import Failure, Frame, Origin
from tests.github_server import records

pytestmark = pytest.mark.long

CASE = '<testcase classname="{}" name="{}"><failure message="{}">x</failure></testcase>'


def failure(test: str, message: str = "m", function: str = "f") -> Failure:
    frame = Frame("shop/cart.py", 3, function, Origin.PROJECT)
    return Failure(test, "AssertionError", message, (frame,))


def program(*arguments: str, cwd: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", "-m", "heal_bot", *arguments], cwd=cwd,
        env={"PATH": "/usr/bin:/bin", **environ}, capture_output=True, text=True, timeout=600,
    )  # fmt: skip


def commit(folder: Path) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    for arguments in (("init", "-qb", "main"), ("add", "-A"), ("commit", "-qm", "First")):
        subprocess.run(["git", *who, *arguments], cwd=folder, check=True)


def test_failures_of_one_function_stay_together_and_parts_are_balanced() -> None:
    alike = [failure(f"t.py::a[{n}]", f"expected {n}") for n in range(4)]
    others = [failure(f"t.py::b{n}", function=f"g{n}") for n in range(4)]
    parts = deal([*others, *alike], 2)
    assert sorted(len(part) for part in parts) == [4, 4]
    assert set(alike) in [set(part) for part in parts]


def test_what_the_tests_of_a_file_assert_may_have_one_cause_whatever_they_say() -> None:
    asserted = [
        Failure(f"tests/test_cart.py::{name}", "AssertionError", said)
        for name, said in (("tier", "assert 1 == 2"), ("value", "assert Money(5) == Money(4)"))
    ]
    other = Failure("tests/test_stock.py::find", "AssertionError", "assert 1 == 2")
    assert deal([*asserted, other], 3) == (tuple(asserted), (other,))


@pytest.mark.parametrize(("shards", "expected"), [(1, 1), (3, 3), (256, 4)])
def test_there_are_no_more_parts_than_causes(shards: int, expected: int) -> None:
    failures = [failure(f"t.py::{n}", function=f"f{n}") for n in range(4)]
    assert len(deal(failures, shards)) == expected


def test_nothing_to_deal_is_no_part() -> None:
    assert deal([], 8) == ()


def test_a_plan_runs_nothing_and_keeps_names_of_tests_out_of_the_matrix(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    trap = "import pathlib; pathlib.Path('/tmp/heal-bot-plan-sprung').touch()\n"
    (repo / "conftest.py").write_text(trap)
    (repo / "test_it.py").write_text(trap + "def test_a(): pass\n")
    (repo / "test_on.py").write_text(trap + "def test_b(): pass\n")
    commit(repo)
    cases = CASE.format("test_it", "test_a", "one") + CASE.format("test_on", "test_b", "other")
    (tmp_path / "r.xml").write_text(f"<testsuite>{cases}</testsuite>")
    done = program("plan", "--repo", "repo", "--junit", "r.xml", "--shards", "9", "--out", "plan",
                   cwd=tmp_path, GITHUB_OUTPUT=str(tmp_path / "told"))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout == '{"shard": [0, 1]}\n'
    assert "test_" not in (tmp_path / "told").read_text()
    requests = [json.loads((tmp_path / f"plan/shard-{n}.json").read_text()) for n in range(2)]
    assert sorted(r["only"][0] for r in requests) == ["test_it.py::test_a", "test_on.py::test_b"]
    assert not Path("/tmp/heal-bot-plan-sprung").exists()


def test_a_report_without_a_failing_test_is_told_as_no_shard(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    (repo / "test_it.py").write_text("def test_a(): pass\n")
    commit(repo)
    (tmp_path / "r.xml").write_text(
        '<testsuite><testcase classname="test_it" name="test_a"/></testsuite>'
    )
    done = program("plan", "--repo", "repo", "--junit", "r.xml", "--out", "plan",
                   cwd=tmp_path, GITHUB_OUTPUT=str(tmp_path / "told"))  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert re.search(r"^shards<<(\S+)\n0\n\1$", (tmp_path / "told").read_text(), re.MULTILINE)


def monorepo(tmp_path: Path) -> Path:
    """Two projects with a test of the same name each, and a report of one of them."""
    repo = records.write(tmp_path / "repo", dict.fromkeys(
        ("api/tests/test_it.py", "web/tests/test_it.py"), "def test_a(): pass\n"
    ))  # fmt: skip
    commit(repo)
    case = CASE.format("tests.test_it", "test_a", "one")
    (tmp_path / "r.xml").write_text(f"<testsuite>{case}</testsuite>")
    return repo


PLAN = ("plan", "--repo", "repo", "--junit", "r.xml", "--out", "plan")


def test_a_plan_for_a_project_below_the_top_names_its_tests(tmp_path: Path) -> None:
    monorepo(tmp_path)
    done = program(*PLAN, cwd=tmp_path, HEAL_BOT_WORKING_DIRECTORY="web/")
    assert done.returncode == 0, done.stderr
    shard = json.loads((tmp_path / "plan/shard-0.json").read_text())
    assert shard["only"] == ["web/tests/test_it.py::test_a"]
    done = program(*PLAN, cwd=tmp_path, HEAL_BOT_WORKING_DIRECTORY="gone")
    assert done.returncode == 1
    assert "working-directory gone: the commit" in done.stderr


def test_a_plan_lies_where_scratch_is_to_be(tmp_path: Path) -> None:
    monorepo(tmp_path)
    environ = {"HEAL_BOT_WORKING_DIRECTORY": "api", "HEAL_BOT_SCRATCH": str(tmp_path / "gone")}
    done = program(*PLAN, cwd=tmp_path, **environ)
    assert done.returncode == 2
    assert f"HEAL_BOT_SCRATCH {tmp_path / 'gone'}: no folder" in done.stderr


def test_tests_that_only_the_test_command_knows_are_one_job(tmp_path: Path) -> None:
    monorepo(tmp_path)
    case = CASE.format("suite of its own", "step 3", "one")
    (tmp_path / "r.xml").write_text(f"<testsuite>{case}</testsuite>")
    assert program(*PLAN, cwd=tmp_path).stdout == '{"shard": []}\n'
    done = program(*PLAN, cwd=tmp_path, HEAL_BOT_TEST_COMMAND="sh check.sh")
    assert done.returncode == 0, done.stderr
    assert done.stdout == '{"shard": [0]}\n'
    assert "one job heals what is red in the test-command" in done.stderr
    assert json.loads((tmp_path / "plan/shard-0.json").read_text())["only"] == []
    (tmp_path / "r.xml").write_text("<testsuite></testsuite>")
    said = program(*PLAN, cwd=tmp_path, HEAL_BOT_TEST_COMMAND="sh check.sh").stderr
    assert "the report is empty; one job heals" in said


UNITTEST = """import unittest


class TestSub(unittest.TestCase):
    def test_each(self):
        for number in range(3):
            with self.subTest("more", number=number):
                self.assertEqual(number, 0)


class TestShared(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("no server")

    def test_a(self): ...
    def test_b(self): ...
"""


def test_a_plan_names_tests_that_there_are_for_subtests_and_classes_that_cannot_start(
    tmp_path: Path,
) -> None:
    repo = records.write(tmp_path / "repo", {"tests/test_u.py": UNITTEST})
    commit(repo)
    cases = [CASE.format("tests.test_u.TestSub", f"test_each [more] (number={n})", f"{n} != 0")
             for n in (1, 2)]  # fmt: skip
    cases.append(CASE.format("", "setUpClass (tests.test_u.TestShared)", "no server"))
    (tmp_path / "r.xml").write_text(f"<testsuite>{''.join(cases)}</testsuite>")
    done = program(*PLAN, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shards = [json.loads(p.read_text())["only"] for p in sorted(tmp_path.glob("plan/shard-*"))]
    named = sorted(test for only in shards for test in only)
    assert named == ["tests/test_u.py::TestShared", "tests/test_u.py::TestSub::test_each"]
    assert "left out" not in done.stderr


def test_bundles_of_nothing_are_one_line(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    done = program("merge", "empty", "--out", "merged", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1] == "heal-bot: none of the 1 folders is a bundle"
    assert not (tmp_path / "merged").exists()


FILES = {
    "shop/__init__.py": "",
    "shop/price.py": "def total(prices):\n    return sum(prices[1:])\n",
    "shop/stock.py": "def enough(have, wanted):\n    return have > wanted\n",
    "tests/test_price.py": "import pytest\nfrom shop.price import total\n\n\n"
    "@pytest.mark.parametrize(('given', 'sum'), [([], 0), ([5], 5), ([4, 2], 6), ([1, 2, 4], 7)])\n"
    "def test_total(given, sum):\n    assert total(given) == sum\n",
    "tests/test_stock.py": "import pytest\nfrom shop.stock import enough\n\n\n"
    "@pytest.mark.parametrize(('have', 'wanted'), [(1, 1), (2, 2), (7, 7), (3, 2)])\n"
    "def test_enough(have, wanted):\n    assert enough(have, wanted)\n\n\n"
    "@pytest.mark.parametrize(('have', 'wanted'), [(0, 1), (2, 3), (1, 9)])\n"
    "def test_short(have, wanted):\n    assert not enough(have, wanted)\n",
}


@pytest.mark.slow
def test_two_shards_merge_to_one_patch_of_both(tmp_path: Path) -> None:
    repo = records.write(tmp_path / "repo", FILES)
    commit(repo)
    report = ("-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--junitxml=../r.xml")
    subprocess.run([sys.executable, *report], cwd=repo, capture_output=True)
    dealt = ("--junit", "r.xml", "--shards", "2", "--out", "plan")
    planned = program("plan", "--repo", "repo", *dealt, cwd=tmp_path)
    shared = ("--repo", "repo", "--python", sys.executable, "--quiet")
    for shard in json.loads(planned.stdout)["shard"]:
        program("heal", *shared, "--request", f"plan/shard-{shard}.json", "--proposers", "rules",
                "--out", f"shards/{shard}", cwd=tmp_path)  # fmt: skip
    (tmp_path / "shards/broken").mkdir()
    done = program("merge", *shared, "--below", "shards", "--out", "merged", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "left out: no bundle in shards/broken" in done.stderr
    merged = json.loads((tmp_path / "merged/outcome.json").read_text())
    assert merged["status"] == "healed"
    assert [f["path"] for f in merged["patch"]["files"]] == ["shop/price.py", "shop/stock.py"]
    assert {a["proposer"] for a in merged["attempts"]} == {"bundle"}
