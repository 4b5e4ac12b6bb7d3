"""Reports of the other runners, each written by really running it; truth is pytest's own record."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.intake.conftest import Project, Recorded

pytestmark = pytest.mark.slow

CASES = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "tests/__init__.py": "",
    "tests/test_calc.py": '''
import unittest
import calc

class TestCalc(unittest.TestCase):
    def test_add(self):
        """Adds two numbers."""
        self.assertEqual(calc.add(1, 2), 3)

    def test_ok(self):
        pass

    def test_error(self):
        calc.nope

    def test_sub(self):
        for i, s in ((0, "a.b (c)"), (1, "[x] (y)")):
            with self.subTest("msg", i=i, s=s):
                self.assertEqual(i, 5)

    @unittest.expectedFailure
    def test_unexpected(self):
        pass

    @unittest.skip("not now")
    def test_skipped(self):
        self.fail()

class TestPrepared(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise OSError("no class")

    def test_one(self):
        pass

    def test_two(self):
        pass

class TestLate(unittest.TestCase):
    def tearDown(self):
        raise OSError("late")

    def test_late(self):
        pass

class Base:
    def test_inherited(self):
        self.assertEqual(self.value, 1)

class TestFirst(Base, unittest.TestCase):
    value = 1

class TestSecond(Base, unittest.TestCase):
    value = 2
''',
    "tests/test_module.py": """
import unittest

def setUpModule():
    raise OSError("no module")

class TestModule(unittest.TestCase):
    def test_one(self):
        pass
""",
    "tests/sub/__init__.py": "",
    "tests/sub/test_calc.py": """
import unittest

class TestCalc(unittest.TestCase):
    def test_add(self):
        self.fail("the other one of this name")
""",
    "test_top.py": """
import unittest

class TestTop(unittest.TestCase):
    def test_top(self):
        self.assertTrue(False)
""",
}
BROKEN = {"tests/test_broken.py": "import nothing_of_this_name\n"}
UNEXPECTED = "tests/test_calc.py::TestCalc::test_unexpected"


@pytest.fixture(scope="module")
def cases(new_project: Callable[[str], Project]) -> tuple[Project, Recorded]:
    made = new_project("cases")
    made.write(**CASES, **BROKEN)
    seen = made.pytest("--continue-on-collection-errors", report="own.txt")
    assert len(seen.truth) == 12, seen.truth
    return made, seen


def found(project: Project, seen: Recorded, *patterns: str) -> set[str]:
    resolved = project.resolve(seen.collected, *patterns)
    assert resolved.skipped == ()
    return {f.test for f in resolved.failures}


def test_the_runners_of_the_dialects_extra_are_installed() -> None:
    names = ("pytest_rerunfailures", "xmlrunner", "nose2", "django", "stestr", "subunit")
    missing = [name for name in names if importlib.util.find_spec(name) is None]
    assert missing == [], "pip install -e .[dialects]"


def test_unittest_xml_reporting(cases: tuple[Project, Recorded]) -> None:
    made, seen = cases
    made.python("-m", "xmlrunner", "discover", "-o", "xml-reports")
    assert found(made, seen, "xml-reports/*.xml") == seen.truth


def test_unittest_xml_reporting_from_a_subfolder(cases: tuple[Project, Recorded]) -> None:
    made, seen = cases
    made.python("-m", "xmlrunner", "discover", "-s", "sub", "-o", "../sub-reports", cwd="tests")
    resolved = made.resolve(seen.collected, "sub-reports/*.xml")
    assert [f.test for f in resolved.failures] == ["tests/sub/test_calc.py::TestCalc::test_add"]
    assert resolved.partial


def test_nose2(cases: tuple[Project, Recorded]) -> None:
    made, seen = cases
    made.python("-m", "nose2", "--plugin", "nose2.plugins.junitxml", "--junit-xml")
    assert found(made, seen, "nose2-junit.xml") == seen.truth - {UNEXPECTED}


def test_stestr_through_subunit(new_project: Callable[[str], Project]) -> None:
    made = new_project("stestr")
    made.write(**CASES, **{".stestr.conf": "[DEFAULT]\ntest_path=.\ntop_dir=.\n"})
    seen = made.pytest(report="own.txt")
    done = made.python("-m", "stestr.cli", "run")
    assert "Ran" in done.stdout + done.stderr, done.stderr
    piped = (
        "import subprocess, sys\n"
        "last = [sys.executable, '-m', 'stestr.cli', 'last', '--subunit']\n"
        "subprocess.run(last, stdout=open('last.subunit', 'wb'))\n"
        "from subunit.filter_scripts.subunit2junitxml import main\n"
        "main()\n"
    )
    done = made.python("-c", piped, "--output-to=stestr.xml", "last.subunit")
    assert (made.root / "stestr.xml").exists(), done.stderr
    assert found(made, seen, "stestr.xml") == seen.truth


def test_django_through_xmlrunner(new_project: Callable[[str], Project]) -> None:
    made = new_project("django")
    made.write(
        **{
            "site_settings.py": (
                "SECRET_KEY = 'x'\nINSTALLED_APPS = ['shop']\nDATABASES = {}\nUSE_TZ = True\n"
                "TEST_RUNNER = 'xmlrunner.extra.djangotestrunner.XMLTestRunner'\n"
                "TEST_OUTPUT_DIR = 'out'\n"
            ),
            "conftest.py": "import django\ndjango.setup()\n",
            "shop/__init__.py": "",
            "shop/core.py": "def add(a, b):\n    return a - b\n",
            "shop/tests.py": (
                "from django.test import SimpleTestCase\nfrom shop.core import add\n\n"
                "class TestShop(SimpleTestCase):\n"
                "    def test_add(self):\n        self.assertEqual(add(1, 1), 2)\n"
                "    def test_parts(self):\n"
                "        for n in range(3):\n"
                "            with self.subTest(n=n):\n"
                "                self.assertEqual(n, 0)\n"
                "    def test_fine(self):\n        pass\n"
            ),
            "pytest.ini": "[pytest]\npython_files = tests.py test_*.py\n",
        }
    )
    settings = {"DJANGO_SETTINGS_MODULE": "site_settings"}
    seen = made.pytest(report="own.txt", **settings)
    made.python("-m", "django", "test", "shop", **settings)
    assert len(seen.truth) == 2
    assert found(made, seen, "out/*.xml") == seen.truth


def test_rerunfailures_counts_tries_and_believes_the_last(project: Project) -> None:
    project.write(
        **{
            "test_r.py": (
                "import pathlib\n\ndef test_always():\n    assert 0\n\n"
                "def test_flaky(tmp_path_factory):\n"
                "    mark = pathlib.Path('mark')\n"
                "    text = mark.read_text() if mark.exists() else ''\n"
                "    mark.write_text(text + 'x')\n    assert len(text) == 2\n\n"
                "def test_fine():\n    pass\n"
            )
        }
    )
    seen = project.pytest("-p", "pytest_rerunfailures", "--reruns", "2")
    resolved = project.resolve(seen.collected)
    assert [f.test for f in resolved.failures] == ["test_r.py::test_always"]
    assert resolved.failures[0].reason == "the report shows 3 tries"
    assert "retried" in project.read().flags


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """pytest 8 with the subtests plugin, beside the one that runs this test."""
    folder = tmp_path_factory.mktemp("older")
    wanted = ("pytest==8.3.5", "pytest-subtests==0.15.0", "hypothesis")
    argv = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(folder), *wanted]
    subprocess.run(argv, check=True, capture_output=True, timeout=300)
    return folder


@pytest.mark.parametrize("family", ["xunit1", "xunit2"])
def test_pytest_8_with_the_subtests_plugin(project: Project, older: Path, family: str) -> None:
    project.write(
        **{
            "tests/a[1]/test_p.py": (
                "import pytest\n\n@pytest.mark.parametrize('v', ['x::y', 'é', '\\x1b', '[]'])\n"
                "def test_v(v):\n    assert 0\n\n"
                "def test_subtests(subtests):\n"
                "    for n in range(3):\n"
                "        with subtests.test('part', n=n):\n"
                "            assert n == 0\n\n"
                "class TestK:\n    class TestL:\n        def test_m(self):\n            assert 0\n"
            )
        }
    )
    path = f"{older}:{project.tools}:{project.root}"
    options = ("-p", "pytest_subtests", "-o", f"junit_family={family}")
    seen = project.pytest(*options, PYTHONPATH=path)
    assert len(seen.truth) == 6
    assert found(project, seen) == seen.truth
