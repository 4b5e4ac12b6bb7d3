"""Small suites that hold what test runners name oddly."""

from __future__ import annotations

_PREPARED = """
class TestPrepared(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise OSError("no class")

    def test_one(self):
        pass

    def test_two(self):
        pass
"""
ZOO = {
    "shop/__init__.py": "",
    "shop/core.py": '''
def add(a, b):
    """Add.

    >>> add(1, 2)
    3
    """
    return a - b


class Cart:
    def total(self):
        """Sum.

        >>> Cart().total()
        1
        """
        return {}["price"]

    def checkout(self):
        try:
            return self.total()
        except KeyError as error:
            raise ValueError("no price") from error
''',
    "tests/base.py": """
class Inherited:
    def test_from_base(self):
        assert self.value == 1
""",
    "tests/test_zoo.py": """
import unittest
import pytest
from hypothesis import given, settings, strategies as st
from shop.core import Cart, add
from tests.base import Inherited

def test_plain():
    assert add(1, 2) == 3

def test_passes():
    pass

@pytest.mark.parametrize("value", ["a::b", "x/y.py", "é日", "q]z", "[", "\\n", "\\x1b[0m", "",
                                   "a b", "test_x.py::test_y[1]", "\\ud800", "<&>\\"'", "a" * 300])
def test_ids(value):
    assert value is None

@pytest.mark.parametrize("a", [1, 2])
@pytest.mark.parametrize("b", [1, 2])
def test_some(a, b):
    assert (a, b) != (2, 1)

class TestOuter:
    class TestInner:
        def test_nested(self):
            Cart().checkout()

    def test_nested(self):
        pass

class TestChild(Inherited):
    value = 2

class TestSecondChild(Inherited):
    value = 1

@pytest.fixture
def broken():
    raise RuntimeError("in the fixture")

@pytest.fixture
def untidy():
    yield
    raise OSError("in the teardown")

def test_setup(broken):
    pass

def test_teardown(untidy):
    pass

def test_both(untidy):
    assert False, "in the call"

@pytest.mark.xfail(strict=True, reason="was broken")
def test_strict():
    pass

@pytest.mark.xfail
def test_expected():
    assert False

def test_subtests(subtests):
    for n in range(3):
        with subtests.test(msg="part", n=n):
            assert n == 0

@given(st.integers())
@settings(max_examples=20, database=None)
def test_property(n):
    assert n < 10

def test_group():
    raise ExceptionGroup("several", [ValueError("one"), KeyError("two")])

class Cases(unittest.TestCase):
    def test_sub(self):
        for n in range(3):
            with self.subTest("part", n=n):
                self.assertEqual(n, 0)

    def test_fails(self):
        self.assertEqual(add(1, 1), 2)

"""
    + _PREPARED,
    "tests/test_broken.py": "import nothing_of_this_name\n",
    "tests/test_syntax.py": "def test_x(:\n",
    "tests/test_k.py": "class TestQ:\n    def test_z(self):\n        assert False\n",
    "tests/odd-dir/v1.2/test_hyphen-ated.py": "def test_plain():\n    assert False\n",
    "readme.txt": ">>> 1 + 1\n3\n",
    "pytest.ini": "[pytest]\naddopts = --import-mode=importlib --continue-on-collection-errors\n",
}
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

'''
    + _PREPARED
    + """
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
""",
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
BELOW = {
    "sub/pytest.ini": "[pytest]\n",
    "sub/tests/__init__.py": "",
    "sub/tests/base.py": "class Base:\n    def test_i(self):\n        assert 0\n",
    "sub/tests/test_x.py": (
        "from tests.base import Base\n\nclass TestX(Base):\n    pass\n\n"
        "def test_y():\n    assert 0\n"
    ),
    "other/tests/test_z.py": "def test_y():\n    assert 0\n",
}
CRASH = {
    "tests/test_a.py": "import os\n\ndef test_dies():\n    os._exit(3)\n",
    "tests/test_b.py": "def test_b():\n    assert 0\n\ndef test_c():\n    pass\n",
}
FLAKY = {
    "test_r.py": (
        "import pathlib\n\ndef test_always():\n    assert 0\n\n"
        "def test_flaky(tmp_path_factory):\n"
        "    mark = pathlib.Path('mark')\n"
        "    text = mark.read_text() if mark.exists() else ''\n"
        "    mark.write_text(text + 'x')\n    assert len(text) == 2\n\n"
        "def test_fine():\n    pass\n"
    )
}
DJANGO = {
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
