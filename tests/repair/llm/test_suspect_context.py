"""What suspects use and who calls them."""

from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.core.model import Target
from heal_bot.repair.llm.suspect_context import (
    find_callers,
    find_owner,
    find_related,
    outline_class,
    write_signature,
)
from heal_bot.source import functions
from heal_bot.source.references import References
from tests.fakes import FolderTree

LONG = "class Long:\n    size = 1\n" + "".join(
    f"\n    def f{n}(self):\n        '''Number {n}.'''\n        return {n}\n" for n in range(20)
)
FILES = {
    "a.py": f"""import re

WORD = re.compile(r"\\w+")


class Base:
    def run(self, text):
        return text


class Sub(Base):
    limit = 3

    @property
    def first(self):
        return WORD.match("a")

    def run(self, text):
        def inner():
            return Small(), Long()

        return self.again(self.first, inner)

    def again(self, *parts):
        return self.run(parts[: self.limit])


class Root:
    kind = 1


class Small(Root):
    size = 2


{LONG}""",
    "b.py": "from a import Sub\n\n\ndef use():\n    return Sub().run('x')\n",
}


@pytest.fixture
def references(tmp_path: Path) -> References:
    return References.of(FolderTree.of(tmp_path, FILES))


def target(name: str) -> Target:
    found = functions.find_target(functions.index_targets("a.py", FILES["a.py"]), name)
    assert found is not None
    return found


def test_related_are_the_replaced_method_callees_and_classes_with_their_bases(
    references: References,
) -> None:
    found = find_related([target("Sub.run"), target("Sub.first")], references, {})
    names = ["Base.run", "Small", "Long", "Sub.again", "Root", "WORD"]
    assert [one.target.qualname for one in found] == names
    assert [one.near for one in found] == [0, 0, 0, 0, 0, 1]
    sources = {one.target.qualname: one.source for one in found}
    assert sources["Small"] == "class Small(Root):\n    size = 2\n"
    assert sources["Long"].startswith("class Long:\n    size = 1\n    def f0(self)  # Number 0.\n")
    assert "return" not in sources["Long"]


def test_of_what_the_failing_tests_do_not_execute_the_header_is_shown(
    references: References,
) -> None:
    again = target("Sub.again")
    for line, shown in ((again.last_line, again.source), (1, "def again(self, *parts)")):
        found = find_related([target("Sub.run")], references, {"a.py": {line}})
        assert {one.target.qualname: one.source for one in found}["Sub.again"] == shown


def test_callers_are_those_outside_of_what_is_shown(references: References) -> None:
    told = list(find_callers([target("Sub.run"), target("Sub.again")], references))
    assert told == ["b.py:5 in use calls Sub.run:\ndef use():\n    return Sub().run('x')"]


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        ("WORD", "assignment", " in Sub.first uses WORD:\n"),
        ("Sub.limit", "class_attribute", " in Sub.again uses Sub.limit:\n"),
    ],
)
def test_who_uses_a_constant_is_told(
    references: References, name: str, kind: str, said: str
) -> None:
    targets = functions.index_targets("a.py", FILES["a.py"])
    constant = functions.find_target(targets, name, kind)
    assert constant is not None
    (told,) = find_callers([constant], references)
    assert said in told


def test_an_outline_has_bases_and_decorators_and_leaves_the_suspect_out(
    references: References,
) -> None:
    home = find_owner(target("Sub.run"), references)
    assert home is not None
    assert list(outline_class(home, references, "Sub.run")) == [
        "class Sub(Base):",
        "    limit = 3",
        "    @property def first(self)",
        "    def again(self, *parts)",
    ]
    assert find_owner(target("Sub.run.<locals>.inner"), references) is None


def test_a_signature_of_what_does_not_parse_is_its_name() -> None:
    assert write_signature(Target("a.py", "f", 0, "function", 1, 1, "def f(:\n")) == "f"
