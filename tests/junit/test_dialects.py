"""Reports of every runner, each written by really running it; truth is pytest's own record."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from heal_bot.core.events import Run
from heal_bot.core.model import Collection
from heal_bot.junit import reader, reported_tests
from tests.junit.dialects import Dialect, Recorded, Suite, dialects

pytestmark = pytest.mark.slow


def resolved(run: Run, suite: Suite, seen: Recorded) -> reported_tests.Resolved:
    """What the suite's reports mean in its checkout."""
    report = reader.read_reports(run, suite.root, [suite.dialect.report])
    return reported_tests.resolve(
        run, report, Collection(seen.collected), suite.paths(), suite.read
    )


def test_the_runners_of_the_dialects_extra_are_installed() -> None:
    names = ("pytest_rerunfailures", "xmlrunner", "nose2", "django", "stestr", "subunit", "xdist")
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    assert missing == [], "pip install -e .[dialects]"


@pytest.mark.parametrize("dialect", dialects(), ids=lambda dialect: dialect.name)
def test_the_join_is_exact_and_the_tests_fail_again(
    tmp_path: Path, run: Run, dialect: Dialect
) -> None:
    suite = Suite.made(dialect, tmp_path)
    seen = suite.report()
    found = resolved(run, suite, seen)
    assert {f.test for f in found.failures} == seen.failed
    assert len(found.failures) == len(seen.failed) > 0
    assert found.partial is bool(dialect.beside)
    assert len(found.skipped) == found.partial
    assert suite.again(f.test for f in found.failures) == seen.failed


def test_a_run_of_a_subfolder_names_its_test_and_is_partial(tmp_path: Path, run: Run) -> None:
    (whole,) = [dialect for dialect in dialects() if dialect.name == "xmlrunner"]
    discover = ("-m", "xmlrunner", "discover", "-s", "tests/sub", "-o", "sub")
    part = Dialect("part", whole.files, (), (discover,), "sub/*.xml", more=whole.more)
    suite = Suite.made(part, tmp_path)
    found = resolved(run, suite, suite.report())
    assert [f.test for f in found.failures] == ["tests/sub/test_calc.py::TestCalc::test_add"]
    assert found.partial


def test_rerunfailures_counts_tries_and_believes_the_last(tmp_path: Path, run: Run) -> None:
    (reruns,) = [dialect for dialect in dialects() if dialect.name == "pytest-rerunfailures"]
    suite = Suite.made(reruns, tmp_path)
    found = resolved(run, suite, suite.report())
    assert [f.test for f in found.failures] == ["test_r.py::test_always"]
    assert found.failures[0].reason == "the report shows 3 tries"
    assert "retried" in reader.read_reports(run, suite.root, ["report.xml"]).flags


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pytest 8 with the subtests plugin, beside the one that runs this test."""
    folder = tmp_path_factory.mktemp("older")
    wanted = ("pytest==8.3.5", "pytest-subtests==0.15.0", "hypothesis")
    argv = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), *wanted]
    subprocess.run(argv, check=True, capture_output=True, timeout=300)
    return folder


@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_pytest_8_with_the_subtests_plugin(
    tmp_path: Path, run: Run, older: Path, family: str
) -> None:
    files = {
        "tests/a[1]/test_b.py": "def test_b():\n    assert 0\n",
        "tests/test_p.py": (
            "import pytest\n\n@pytest.mark.parametrize('v', ['x::y', 'é', '\\x1b', '[]'])\n"
            "def test_v(v):\n    assert 0\n\n"
            "def test_subtests(subtests):\n"
            "    for n in range(3):\n"
            "        with subtests.test('part', n=n):\n"
            "            assert n == 0\n\n"
            "class TestK:\n    class TestL:\n        def test_m(self):\n            assert 0\n"
        ),
    }
    plugin = ("-p", "pytest_subtests")
    options = (*plugin, "-o", f"junit_family={family}")
    suite = Suite.made(Dialect("older", files, options, more=plugin, path=str(older)), tmp_path)
    seen = suite.report()
    assert len(seen.failed) == 7
    found = resolved(run, suite, seen)
    assert {f.test for f in found.failures} == seen.failed
    assert found.skipped == ()
    # pytest 8 takes no file in a folder with brackets from its command line.
    plain = {test for test in seen.failed if "a[1]" not in test}
    assert suite.again(plain) == plain
