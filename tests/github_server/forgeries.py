"""Bundles as an attacker would write them: each changes one thing of a good one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.github_server import records

Forgery = Callable[[dict[str, Any]], None]
EVIL = records.FIXED.replace("RATE = 2", "RATE = 3")


def _file(**changes: str) -> Forgery:
    return lambda values: values["patch"]["files"][0].update(changes)


def _content(old: str, new: str) -> Forgery:
    return _file(content=records.FIXED.replace(old, new))


def _another(path: str, content: str = "X = 1\n", base: str = "0" * 40) -> Forgery:
    def forge(values: dict[str, Any]) -> None:
        values["patch"]["files"].append({"path": path, "base_blob": base, "content": content})
        values["patch"]["functions"].append({"path": path, "qualname": "X"})

    return forge


def _base(values: dict[str, Any]) -> None:
    values["patch"]["base_sha"] = "f" * 40


def _certified(values: dict[str, Any]) -> None:
    values["certificate"]["base_sha"] = "f" * 40


def _unnamed(values: dict[str, Any]) -> None:
    values["patch"]["functions"][0]["qualname"] = "discount"


def _test_changed(values: dict[str, Any]) -> None:
    weaker = records.TEST.replace("== 3", "== 2")
    _another("tests/test_pricing.py", weaker, records.blob(records.TEST))(values)
    values["patch"]["functions"][1]["qualname"] = "test_total"


FORGERIES: dict[str, Forgery] = {
    "a change outside the functions named": _content("RATE = 2", "RATE = 3"),
    "a changed function that is not named": _content("price - percent", "price"),
    "a named function that is not the changed one": _unnamed,
    "code added after the functions": _file(content=records.FIXED + "\nprint('mine')\n"),
    "code added to the line of a function": _content(
        "return sum(prices)", "return sum(prices)\nimport os"
    ),
    "an import nobody needs": _content("RATE = 2", "import json\n\nRATE = 2"),
    "a changed docstring of the module": _content("Prices.", "Other."),
    "a new file": _another("shop/new.py"),
    "a workflow": _another(".github/workflows/ci.yml", "on: push\n"),
    "a path that climbs": _another("shop/../../etc/x.py"),
    "an absolute path": _another("/etc/x.py"),
    "a path into .git": _another(".git/hooks/x.py"),
    "a link followed": _another("shop/link.py", "X = 2\n", records.blob("pricing.py")),
    "a changed test": _test_changed,
    "another base blob": _file(base_blob="f" * 40),
    "another base commit": _base,
    "a certificate for another commit": _certified,
    "a file named twice": lambda v: v["patch"]["files"].append(v["patch"]["files"][0]),
    "no change at all": _file(content=records.BROKEN),
    "text that is no Python": _content("return sum(prices)", "return sum(prices"),
    "a call that reaches the system": _content(
        "return sum(prices)", "return __import__('os').system('id')"
    ),
    "a decorator added": _content("def total", "@print\ndef total"),
    "brackets without end": _content("return sum(prices)", "return " + "(" * 5000 + ")" * 5000),
    "a function defined twice": _file(
        content=records.FIXED + "\n\ndef total(prices):\n    return 0\n"
    ),
    "a function under another name": _content("def total", "def totals"),
    "a function made asynchronous": _content("def total", "async def total"),
    "a class added": _file(content=records.FIXED + "\n\nclass Extra:\n    pass\n"),
    "code in front of everything": _file(content="import os\n" + records.FIXED),
    "an expression that is evaluated": _content("sum(prices)", "eval(prices)"),
    "a file that is opened": _content("sum(prices)", "len(open('/etc/passwd').read())"),
    "a socket": _content("    return sum", "    import socket\n    return sum"),
    "the environment read": _content(
        "    return sum", "    import os\n    os.environ\n    return sum"
    ),
    "other ends of all lines": _file(content=records.FIXED.replace("\n", "\r\n")),
    "a byte order mark": _file(content="\ufeff" + records.FIXED),
    "a byte that ends strings": _content("return sum(prices)", "return sum(prices)\0"),
    "a file emptied": _file(content=""),
    "a path in capitals": _file(path="shop/Pricing.py"),
    "a path with a backslash": _file(path="shop\\pricing.py"),
    "a path with a line break": _file(path="shop/pricing.py\n"),
    "a path that ends in a slash": _file(path="shop/pricing.py/"),
    "a folder": _file(path="shop"),
    "no path": _file(path=""),
    "a bidi mark in a comment": _content("sum(prices)", "sum(prices)  # \u202e own"),
    "a sentence in plane 14": _content("sum(prices)", "sum(prices)  # \U000e0041\U000e0042"),
    "a space that is none": _content("return sum", "return\u3164sum"),
    "an escape sequence": _content("sum(prices)", "sum(prices)  # \x1b[2K"),
    "a letter of another script": _content("sum(prices)", "sum(p\u0433ices := prices)"),
    "a line of a megabyte": _content("sum(prices)", "sum(prices) + " + "1 + " * 300_000 + "1"),
}
