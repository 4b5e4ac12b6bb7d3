from __future__ import annotations

import pytest

from heal_bot.core.model import Candidate, Target
from heal_bot.core.text import Secret
from heal_bot.repair.llm.answer_parser import ReplyError, parse_answer
from heal_bot.source import edit, functions

PATH = "shop/stock.py"
SOURCE = '''"""Stock."""

import os
from functools import lru_cache

LIMIT = 10
SQL = """
select 1
"""


def count(items):
    """Count.

    All of them.
    """
    # keep this
    text = """
a
    b
"""
    return len(items) - 1, text


@lru_cache
@staticmethod
def cached(key):
    return key + 1


async def fetch(key):
    return key - 1


class Shelf:
    size = 3

    def name(self):
        return "shelf"  # why

    @property
    def full(self):
        def near(n):
            return n > 1
        return near(self.size)


class Box:
    def name(self):
        return "bix" + self.suffix


def secret():
    token = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    return token + "x"
'''
TARGETS = tuple(t for t in functions.index_targets(PATH, SOURCE) if t.kind != "default")


def patched(reply: str, targets: tuple[Target, ...] = TARGETS, **options: object) -> str:
    """The file after the reply, as the workspace would write it."""
    reading = parse_answer(reply, targets, {PATH: SOURCE}, **options)  # type: ignore[arg-type]
    assert Candidate(reading.edits, "claude", "minimal").edits
    return edit.splice(SOURCE, reading.edits)


def changed(reply: str, **options: object) -> list[str]:
    """Removed and added lines of the file's diff."""
    diff = edit.diff(PATH, SOURCE, patched(reply, **options))  # type: ignore[arg-type]
    return [line for line in diff.splitlines()[3:] if line[0] in "+-"]


COUNT = "def count(items):\n    return len(items)\n"
FETCH = "async def fetch(key):\n    return key\n"
FETCHED = ["-    return key - 1", "+    return key"]


@pytest.mark.parametrize(
    "reply",
    [
        f"```python\n{FETCH}```",
        f"```py\n{FETCH}```",
        f"```Python title=x\n{FETCH}```",
        f"~~~\n{FETCH}~~~",
        f"````python\n{FETCH}````",
        f"Sure.\n\n```python\n{FETCH}```\nDone. def well",
        f"Cut off\n```python\n{FETCH}",
        f"No fence:\n\n{FETCH}\nThat is it.",
        f"{FETCH}",
        "1. like so\n    ```python\n    async def fetch(key):\n        return key\n    ```",
        f"```python\n# {PATH}::fetch\n{FETCH}```",
        f"```python\n# fetch\n{FETCH}```",
        f"```diff\n-x\n+y\n```\n```python\n{FETCH}```",
        f"<think>\n```python\ndef fetch(key):\n    return 'draft'\n```\n</think>\n```\n{FETCH}```",
        f"```python\nasync def fetch(key):\n    return 'draft'\n```\nNo:\n```python\n{FETCH}```",
        f"```python\r\n{FETCH}```".replace("\n", "\r\n").replace("\r\r", "\r"),
        "```python\n" + SOURCE.replace("key - 1", "key") + "```",
        f"> ```python\n{FETCH}> ```",
    ],
)
def test_code_is_found_however_it_is_wrapped(reply) -> None:
    assert changed(reply) == FETCHED


def test_a_fence_inside_a_docstring_does_not_end_the_code() -> None:
    docstring = '    """Like\n    ```\n    fetch(1)\n    ```\n    """\n'
    code = f"async def fetch(key):\n{docstring}    return key\n"
    assert "+    return key" in changed(f"```python\n{code}```")


def test_a_method_on_its_own_is_indented_and_keeps_its_comment() -> None:
    reply = f'```python\n# {PATH}::Shelf.name\ndef name(self):\n    return "Shelf"\n```'
    assert changed(reply) == ['-        return "shelf"  # why', '+        return "Shelf"  # why']


@pytest.mark.parametrize(
    ("reply", "line"),
    [
        (f'# {PATH}::Box.name\ndef name(self):\n    return "box"', '+        return "box"'),
        ('# Box.name\ndef name(self):\n    return "box"', '+        return "box"'),
        ('class Box:\n    def name(self):\n        return "box"', '+        return "box"'),
        ('def name(self):\n    return "box" + self.suffix', '+        return "box" + self.suffix'),
    ],
)
def test_of_two_methods_of_one_name_the_meant_one_changes(reply, line) -> None:
    lines = changed(f"```python\n{reply}\n```")
    assert lines == ['-        return "bix" + self.suffix', line]


def test_decorators_that_a_reply_forgot_stay() -> None:
    assert changed("```python\ndef cached(key):\n    return key + 2\n```") == [
        "-    return key + 1",
        "+    return key + 2",
    ]
    assert "@property" in patched("```python\ndef full(self):\n    return True\n```")


def test_a_nested_function_is_replaced_in_its_place() -> None:
    reply = f"```python\n# {PATH}::Shelf.full.<locals>.near\ndef near(n):\n    return n > 2\n```"
    assert changed(reply) == ["-            return n > 1", "+            return n > 2"]


def test_strings_over_several_lines_keep_their_text() -> None:
    target = functions.find_target(TARGETS, "count")
    assert target is not None
    text = target.source.replace("len(items) - 1", "len(items)")
    lines = changed(f"```python\n{text}```")
    assert lines == ["-    return len(items) - 1, text", "+    return len(items), text"]


def test_several_functions_and_a_class_attribute_in_one_reply() -> None:
    reply = f"```python\n{COUNT}\n{FETCH}```\n```python\n# {PATH}::Shelf.size\nsize = 4\n```"
    with pytest.raises(ReplyError, match="nothing that may change"):
        parse_answer("```python\nsize = 4\n```", TARGETS, {PATH: SOURCE})
    lines = changed(reply)
    assert "+    return len(items)" in lines
    assert "+    return key" in lines
    assert lines[-2:] == ["-    size = 3", "+    size = 4"]


def test_a_piece_that_may_not_change_is_not_left_out_of_what_is_judged() -> None:
    closed = "```python\n# shop/rates.py::rate\ndef rate():\n    return 2\n```"
    with pytest.raises(ReplyError, match="rate is no suspect"):
        parse_answer(f"```python\n{COUNT}```\n{closed}", TARGETS, {PATH: SOURCE})


def test_a_module_constant_can_change() -> None:
    assert changed("```python\nLIMIT = 11\n```") == ["-LIMIT = 10", "+LIMIT = 11"]


def test_needed_imports_come_along_and_others_do_not() -> None:
    imports = (
        "from __future__ import annotations\nimport math\nimport os\nfrom re import sub, match\n"
    )
    code = "async def fetch(key):\n    return math.floor(key) + match('a', os.sep)\n"
    reading = parse_answer(f"```python\n{imports}\n{code}```", TARGETS, {PATH: SOURCE})
    assert reading.edits[0].imports == ("import math", "from re import match")


TABBED = (
    "class Cart:\n\tdef total(self, prices):\n\t\treturn sum(prices) - 1\n\n"
    "\t@staticmethod\n\tdef cents(price):\n\t\treturn price * 100\n"
)
TOTAL = "\tdef total(self, prices):\n\t\treturn math.fsum(prices)"
CENTS = "\t@staticmethod\n\tdef cents(price):\n\t\treturn math.floor(price * 100 + 0.5)"


@pytest.mark.parametrize(
    ("reply", "qualname"),
    [
        (f"```python\n# cart.py::Cart.total\nimport math\n{TOTAL}\n```", "Cart.total"),
        (f"```python\nimport math\n# cart.py::Cart.total\n\n{TOTAL}\n```", "Cart.total"),
        (f"```python\n# cart.py::Cart.total\n\timport math\n{TOTAL}\n```", "Cart.total"),
        (f"```python\n# cart.py::Cart.cents\nimport math\n\n{CENTS}\n```", "Cart.cents"),
        (f"```python\n# cart.py::Cart.cents\nimport math\n{CENTS}\n```", "Cart.cents"),
        (f"```python\nimport math\n```\n\n```python\n# Cart.cents\n{CENTS}\n```", "Cart.cents"),
        (f"import math\n\n{CENTS}\n", "Cart.cents"),
        (f"```python\nimport math\n```\nand then\n{CENTS}\n", "Cart.cents"),
    ],
    ids=["above", "first", "indented", "decorated", "close", "own fence", "prose", "half fenced"],
)
def test_an_import_survives_wherever_it_stands_above_a_method(reply: str, qualname: str) -> None:
    targets = functions.index_targets("cart.py", TABBED)
    (edit,) = parse_answer(reply, targets, {"cart.py": TABBED}).edits
    assert (edit.target.qualname, edit.imports) == (qualname, ("import math",))
    assert edit.new_source.startswith("\t")


def test_a_class_with_tabs_around_a_method_keeps_its_depth() -> None:
    targets = functions.index_targets("cart.py", TABBED)
    reply = f"```python\nimport math\nclass Cart:\n{TOTAL}\n```"
    (edit,) = parse_answer(reply, targets, {"cart.py": TABBED}).edits
    assert (edit.new_source, edit.imports) == (f"{TOTAL}\n", ("import math",))


def test_an_import_over_several_lines_survives() -> None:
    targets = functions.index_targets("cart.py", TABBED)
    head = "from math import (\n    floor,\n    fsum,\n)\n"
    reply = f"```python\n# cart.py::Cart.total\n{head}{TOTAL.replace('math.', '')}\n```"
    (edit,) = parse_answer(reply, targets, {"cart.py": TABBED}).edits
    assert edit.imports == ("from math import fsum",)


def test_an_import_alone_is_a_change() -> None:
    text = TABBED.replace("sum(prices) - 1", "math.fsum(prices)")
    targets = functions.index_targets("cart.py", text)
    reply = f"```python\n# cart.py::Cart.total\nimport math\n{TOTAL}\n```"
    (edit,) = parse_answer(reply, targets, {"cart.py": text}).edits
    assert (edit.new_source, edit.imports) == (edit.target.source, ("import math",))


def test_an_import_that_would_rebind_a_name_is_refused() -> None:
    code = "from x import count\nasync def fetch(key):\n    return count(key)\n"
    with pytest.raises(ReplyError, match="rebind"):
        parse_answer(f"```python\n{code}```", TARGETS, {PATH: SOURCE})


IN_SOURCE = Secret("ghp_0123456789abcdefghijABCDEFGHIJ012345")


def test_a_hidden_secret_comes_back_and_never_as_stars() -> None:
    reply = '```python\ndef secret():\n    token = "***"\n    return token\n```'
    lines = changed(reply, secrets=(IN_SOURCE,))
    assert lines == ['-    return token + "x"', "+    return token"]
    stars = '```python\ndef secret():\n    return "***"\n```'
    with pytest.raises(ReplyError, match="hidden"):
        parse_answer(stars, TARGETS, {PATH: SOURCE}, (IN_SOURCE,))
    limit = Secret("b" + "ix" + "shelf" * 3)
    with pytest.raises(ReplyError, match="same as the current"):
        parse_answer("```python\nLIMIT = 10\n```", TARGETS, {PATH: SOURCE}, (limit,))


def test_where_nothing_was_hidden_stars_are_text_like_any_other() -> None:
    reply = '```python\ndef secret():\n    return "***"\n```'
    assert '+    return "***"' in changed(reply, secrets=(Secret("another-secret"),))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_what_nobody_sees_comes_back_and_is_never_spelled_out(end: str) -> None:
    text = f"def f():{end}    a = 'x\u200by'{end}    return a + 1{end}"
    targets = functions.index_targets("m.py", text)
    line = "    a = 'x<U+200B>y'\n"
    (edit,) = parse_answer(
        f"```python\ndef f():\n{line}    return a\n```", targets, {"m.py": text}
    ).edits
    assert "'x\u200by'" in edit.new_source
    assert "<U+" not in edit.new_source
    other = "```python\ndef f():\n    return 'x<U+200B>y'\n```"
    with pytest.raises(ReplyError, match="leave that line alone"):
        parse_answer(other, targets, {"m.py": text})


def test_only_suspects_are_changed() -> None:
    only = tuple(t for t in TARGETS if t.qualname == "fetch")
    reading = parse_answer(f"```python\n{COUNT}\n{FETCH}```", only, {PATH: SOURCE})
    assert [e.target.qualname for e in reading.edits] == ["fetch"]


def test_the_reason_is_the_prose_on_one_line() -> None:
    reading = parse_answer(f"Off by\none.\n```python\n{FETCH}```\nDone.", TARGETS, {PATH: SOURCE})
    assert (reading.rationale, reading.salvaged) == ("Off by one. Done.", False)
    assert parse_answer(FETCH, TARGETS, {PATH: SOURCE}).salvaged


def test_the_reason_is_whole_for_who_hides_secrets_in_it() -> None:
    said = "The value is " + "a" * 400 + " here."
    reading = parse_answer(f"{said}\n```python\n{FETCH}```", TARGETS, {PATH: SOURCE})
    assert reading.rationale == said


def test_a_function_of_the_reply_that_nothing_calls_is_left_out() -> None:
    helper = "def test_count():\n    assert count([]) == 0\n"
    assert "def test_count" not in patched(f"```python\n{COUNT}\n\n{helper}```")
