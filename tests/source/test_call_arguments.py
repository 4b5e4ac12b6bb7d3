"""What the calls of extracted functions should give them, and what these copied."""

from __future__ import annotations

import pytest

from heal_bot.source.call_arguments import correct_arguments
from heal_bot.source.extracted_functions import read_extraction
from heal_bot.source.lost_code import FileVersions

BEFORE = """
def get_in(box, path, default=None):
    for key in path:
        try:
            box = box[key]
        except (KeyError, IndexError):
            return default
    return box


def get_lax(box, path, default=None):
    for key in path:
        try:
            box = box[key]
        except (KeyError, TypeError):
            return default
    return box
"""
AFTER = """
def _dig(box, path, default, errors=(KeyError, IndexError)):
    for key in path:
        try:
            box = box[key]
        except errors:
            return default
    return box


def get_in(box, path, default=None):
    return _dig(box, path, default)


def get_lax(box, path, default=None):
    return _dig(box, path, default{more})
"""


def _correct(before: str, after: str, now: str = "") -> list[str]:
    """The texts with each part made."""
    now = now or after
    extraction = read_extraction([FileVersions("m.py", before, after, now)])
    data, texts = now.encode(), []
    for _, part in correct_arguments(extraction):
        texts.append((data[: part.start] + part.before + data[part.end :]).decode())
    return texts


@pytest.mark.parametrize("slip", ["", ", (KeyError, IndexError)", ", errors=KeyError"])
def test_a_call_gets_the_argument_that_its_former_code_had(slip: str) -> None:
    where = "errors=" if "=" in slip or not slip else ""
    whole = AFTER.format(more=f", {where}(KeyError, TypeError)")
    assert whole in _correct(BEFORE, AFTER.format(more=slip))


def test_a_method_gets_what_it_was_made_of() -> None:
    before = """
class Show:
    def show(self, node, value):
        text = self.label(value)
        self.lines.append(text.strip())
        return len(text)
"""
    after = """
class Show:
    def show(self, node, value):
        return self._add(node, "a")

    def _add(self, one, mark):
        text = self.label(one)
        self.lines.append(text.strip())
        return len(text)
"""
    assert after.replace("_add(node", "_add(value") in _correct(before, after)


def test_a_literal_that_was_copied_becomes_the_parameter() -> None:
    before = """
def both(one):
    return {"allOf": [part for part in one]}


def either(one):
    return {"anyOf": [part for part in one]}
"""
    after = """
def both(one):
    return _join(one, "allOf")


def either(one):
    return _join(one, "anyOf")


def _join(one, keyword):
    return {"anyOf": [part for part in one]}
"""
    assert after.replace('{"anyOf"', "{keyword") in _correct(before, after)


def test_what_changed_since_is_left_alone() -> None:
    later = AFTER.format(more="").replace("get_lax(box", "get_lax(box, *more")
    later = later.replace("except errors", "except (errors)").replace("return box", "return None")
    assert _correct(BEFORE, AFTER.format(more=""), later) == [
        later.replace(
            "path, default)\n\n\ndef get_lax",
            "path, default, errors=(KeyError, IndexError))\n\n\ndef get_lax",
        )
    ]


def test_an_argument_comes_behind_the_last_one_whatever_follows_that() -> None:
    call = "_dig(\n        box, path, default,  # as it was\n    )"
    slip = AFTER.replace("_dig(box, path, default{more})", call)
    whole = slip.replace("default,  #", "default, errors=(KeyError, TypeError),  #")
    assert whole in _correct(BEFORE, slip)


def test_a_method_that_is_called_by_its_class_gets_its_object_first() -> None:
    before = """
class Box:
    def put(self, one):
        self.log(one)
        self.items.append(6)
        return one
"""
    after = """
class Box:
    def put(self, one):
        return Box._put(self, one, 5)

    def _put(self, thing, mark):
        self.log(thing)
        self.items.append(mark)
        return thing
"""
    assert _correct(before, after) == [after.replace("one, 5", "one, 6")]


@pytest.mark.parametrize(
    "body", ['    """-"""\n    return f"{one}-"\n',
             "    match one:\n        case '-':\n            return 1\n    return 2\n"],
    ids=["a text that says something", "a pattern"],
)  # fmt: skip
def test_a_literal_that_is_no_value_stays(body: str) -> None:
    before = "def show(one):\n    return one\n"
    after = f"def show(one):\n    return _show(one, '-')\n\n\ndef _show(one, mark):\n{body}"
    assert _correct(before, after) == []
