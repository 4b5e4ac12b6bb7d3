"""What of the test files a failing test is shown with."""

from __future__ import annotations

from pathlib import Path

from heal_bot.core.model import Cluster, Failure, Frame, Origin
from heal_bot.repair.llm.failing_test_context import Failing, find_failing
from heal_bot.source.references import References
from tests.fakes import FolderTree

FILES = {
    "shop.py": "def price(value):\n    return value\n",
    "tests/conftest.py": """import pytest


@pytest.fixture(autouse=True)
def clean():
    yield


@pytest.fixture
def stock(shelf):
    return shelf


@pytest.fixture
def shelf():
    return 1


@pytest.fixture
def unused():
    return 2
""",
    "tests/tools.py": """STEP = 2


def doubled(value):
    return value * STEP


def other():
    return 0
""",
    "tests/test_shop.py": """import pytest
from shop import price
from tests.tools import doubled

CASES = [(1, 2), (2, 4)]


class Fake:
    def __init__(self, value):
        self.value = value

    def get(self):
        return self.value


class Base:
    def setUp(self):
        self.fake = Fake(1)

    def check(self, got, value):
        assert got == doubled(value)


@pytest.mark.parametrize("kind", ["a", "b"])
class TestShop(Base):
    @pytest.mark.parametrize("value, want", CASES)
    def test_price(self, kind, value, want, stock):
        self.check(price(Fake(value).get()), value)

    def test_again(self, kind):
        self.check(price(1), 2)

    def unused(self):
        return 0
""",
}


def shown(tmp_path: Path, *tests: str) -> tuple[Failing, ...]:
    references = References.of(FolderTree.of(tmp_path, FILES))
    failures = tuple(Failure(f"tests/test_shop.py::{test}", "E", "") for test in tests)
    return find_failing(Cluster("c", failures, ()), references)


def names(group: Failing) -> list[str]:
    lines = (part.split("\n") for part in group.fixtures)
    return [next(line.strip() for line in part if "@" not in line) for part in lines]


def test_a_test_comes_with_all_of_the_test_files_that_it_stands_on(tmp_path: Path) -> None:
    (group,) = shown(tmp_path, "TestShop::test_price[1-2-a]")
    assert names(group) == [
        "def setUp(self):",
        "def clean():",
        "def stock(shelf):",
        "CASES = [(1, 2), (2, 4)]",
        "def check(self, got, value):",
        "class Fake:",
        "def shelf():",
        "def doubled(value):",
        "STEP = 2",
    ]


def test_the_parameters_that_a_class_gives_its_tests_are_shown(tmp_path: Path) -> None:
    (group,) = shown(tmp_path, "TestShop::test_price[1-2-a]")
    assert group.source.startswith(
        '@pytest.mark.parametrize("kind", ["a", "b"])\nclass TestShop(Base):\n'
        '    @pytest.mark.parametrize("value, want", CASES)\n    def test_price('
    )


def test_what_two_tests_share_is_shown_once(tmp_path: Path) -> None:
    first, second = shown(tmp_path, "TestShop::test_price[1-2-a]", "TestShop::test_again[a]")
    assert "def check(self, got, value):" in names(first)
    assert second.fixtures == ()


def test_a_test_that_cannot_be_found_is_shown_by_its_failure(tmp_path: Path) -> None:
    (group,) = shown(tmp_path, "TestShop::test_gone")
    assert (group.source, group.fixtures, len(group.failures)) == ("", (), 1)


def test_the_line_that_failed_is_marked(tmp_path: Path) -> None:
    path, references = "tests/test_shop.py", References.of(FolderTree.of(tmp_path, FILES))
    line = FILES[path].split("\n").index("        self.check(price(1), 2)") + 1
    frames = (Frame(path, line, "test_again", Origin.TEST),)
    one = Failure(f"{path}::TestShop::test_again[a]", "E", "", frames)
    (group,) = find_failing(Cluster("c", (one,), ()), references)
    assert ">       self.check(price(1), 2)\n" in group.source
    assert group.source.count("\n>") == 1
