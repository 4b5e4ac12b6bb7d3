"""What functions that a commit extracted lost, against the code they were extracted from."""

from __future__ import annotations

import pytest

from heal_bot.source.extracted_functions import (
    compare_extracted,
    find_sources,
    read_extraction,
)
from heal_bot.source.lost_code import FileVersions

BEFORE = '''
class Meter:
    def read(self, text):
        """What a meter says."""
        text = text.strip()
        if text.startswith("-"):
            sign, text = -1, text[1:]
        else:
            sign, text = 1, text
        if not text:
            value = None
        elif text.isdigit() and len(text) < self.rules.most:
            value = int(text) * sign
        else:
            value = float(text) * sign
        self.values.append(value)
        return value
'''
CALLED = '''
class Meter:
    def read(self, text):
        """What a meter says."""
        text = text.strip()
        value = self._convert(text, self.rules.most)
        self.values.append(value)
        return value

    def _convert(self, digits, most):
        """A number."""
'''
BODY = """
        if digits.startswith("-"):
            sign, digits = -1, digits[1:]
        else:
            sign, digits = 1, digits
        if not digits:
            return None
        elif digits.isdigit() and len(digits) < most:
            return int(digits) * sign
        else:
            return float(digits) * sign
"""


def _restore(before: str, after: str, now: str = "") -> list[str]:
    """The texts with each part put back."""
    now = now or after
    data, texts = now.encode(), []
    extraction = read_extraction([FileVersions("m.py", before, after, now)])
    for path, part in compare_extracted(find_sources(extraction)):
        assert path == "m.py"
        texts.append((data[: part.start] + part.before + data[part.end :]).decode())
    return texts


def test_a_function_that_lost_nothing_has_nothing_to_put_back() -> None:
    assert _restore(BEFORE, CALLED + BODY[1:]) == []


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("        else:\n            sign, digits = 1, digits\n", ""),
        ("sign, digits = -1, digits[1:]", "sign, digits = -1, digits"),
        ("digits.isdigit() and len(digits) < most", "digits.isdigit()"),
        ("len(digits) < most", "len(digits) <= most"),
        ("        if not digits:\n            return None\n        elif", "        if"),
        ("float(digits) * sign", "float(digits)"),
    ],
    ids=["an else", "a value", "a condition", "an operator", "a branch", "a factor"],
)
def test_what_it_lost_comes_back_with_the_names_of_its_parameters(right: str, wrong: str) -> None:
    whole = CALLED + BODY[1:]
    assert whole in _restore(BEFORE, whole.replace(right, wrong))


def test_what_it_lost_has_the_new_names_of_variables() -> None:
    whole = CALLED + BODY[1:].replace("sign", "factor")
    slip = whole.replace(" * factor\n        else", "\n        else")
    assert slip != whole
    assert whole in _restore(BEFORE, slip)


def test_it_comes_back_where_the_function_stands_since() -> None:
    slip = CALLED + BODY[1:].replace("float(digits) * sign", "float(digits)")
    later = f"import math\n{slip}".replace("strip()", "lstrip()")
    assert later.replace("float(digits)", "float(digits) * sign") in _restore(BEFORE, slip, later)


def test_nothing_is_compared_with_code_that_is_other_than_it() -> None:
    other = "\n\ndef show(value):\n    print(value)\n    return str(value)\n"
    assert _restore(BEFORE, BEFORE.replace("strip()", "lstrip()") + other) == []


@pytest.mark.parametrize("text", ["def broken(:\n", "", "def f(): return 1\n"])
def test_files_without_former_functions_have_nothing_to_put_back(text: str) -> None:
    assert _restore(text, CALLED + BODY[1:]) == []


STORE = """
def store(x):
    log(x)
    check(x)
    save(x)
    return x
"""
STORED = """
def store(x):
    return _store(x)


def _store(x):
    log(x)
    save(x)
    return x
"""


def test_statements_that_call_other_functions_are_not_the_same() -> None:
    assert _restore(STORE, STORED) == [STORED.replace("    save", "    check(x)\n    save")]


@pytest.mark.parametrize(
    ("old", "new"),
    [("    ", "\t"), ("\n", "\r\n"), ("    return x\n", "    return x"), ("x", "größe")],
    ids=["tabs", "line ends", "no end of the last line", "other letters"],
)
def test_it_comes_back_in_whatever_layout(old: str, new: str) -> None:
    before, after = (text.replace(old, new) for text in (STORE, STORED))
    lost = "    check(x)\n    save".replace(old, new)
    assert _restore(before, after) == [after.replace("    save".replace(old, new), lost)]


def test_the_body_of_a_loop_returns_nothing_that_it_did_not_return() -> None:
    before = """
def last(items):
    value = 0
    for one in items:
        value = parse(one)
    print(value)
    return value
"""
    after = """
def last(items):
    value = _last(items)
    print(value)
    return value


def _last(items):
    value = 0
    for one in items:
        value = parse(one)
    return 0
"""
    assert not any("return parse" in text for text in _restore(before, after))


def test_a_name_of_its_own_stays_in_a_lambda() -> None:
    before = STORE.replace("check(x)", "check(sorted(x, key=lambda x: x.n))").replace("x", "x")
    slip = STORED.replace("_store(x):", "_store(xs):").replace(
        "    log(x)\n    save(x)\n    return x", "    log(xs)\n    save(xs)\n    return xs"
    )
    lost = "    check(sorted(xs, key=lambda x: x.n))\n"
    assert slip.replace("    save", f"{lost}    save") in _restore(before, slip)
