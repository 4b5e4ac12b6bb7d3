"""Candidates for lines that do not parse or import."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from heal_bot.core.model import (
    Attempt,
    Broken,
    Candidate,
    Cluster,
    Edit,
    Failure,
    Removal,
    Suspect,
    Verdict,
)
from heal_bot.ports import Brief
from heal_bot.repair.templates import collection_templates, import_repair
from heal_bot.repair.templates.change_tiers import Tier
from heal_bot.source import edit, edit_recovery, line_targets, patch_policy
from tests.fakes import FolderTree

MONEY = "def price_text(value):\n    return value\n\n\ndef total(values):\n    return sum(values)\n"
STOCK = "from shop.money import {}\n\n\ndef show(value):\n    return format_price(value)\n"


@dataclass(frozen=True)
class Tree(FolderTree):
    """One in whose history `format_price` became another name, and old.py was moved."""

    def removal(self, path: str, name: str) -> Removal | None:
        if (path, name) == ("shop/money.py", "format_price"):
            before = MONEY.replace("price_text", "format_price").encode()
            return Removal("d" * 40, "Rename", path, before)
        if path == "shop/old.py":
            return Removal("e" * 40, "Move", path, b"", "shop/money.py")
        return None


def _first(tmp_path: Path, text: str, line: int, said: str) -> tuple[Tree, Candidate]:
    files = {"shop/__init__.py": "", "shop/money.py": MONEY, "shop/stock.py": text}
    tree = Tree(FolderTree.of(tmp_path, files).root)
    target = line_targets.find_statement("shop/stock.py", text, line)
    assert target is not None
    kind, _, message = said.partition(": ")
    broken = Broken("shop/stock.py", line, said)
    failure = Failure("tests/test_a.py", kind, message, broken=broken)
    brief = Brief(Cluster("c", (failure,), (Suspect(target, 1.0),)), tree)
    return tree, next(collection_templates.candidates(brief, "rules"))


@pytest.mark.parametrize(
    ("text", "line", "said", "mended"),
    [
        pytest.param(
            STOCK.format("format_price"),
            1,
            "ImportError: cannot import name 'format_price' from 'shop.money' (shop/money.py)",
            "from shop.money import price_text as format_price",
            id="a name that a commit renamed",
        ),
        pytest.param(
            "from shop.money import totl\n\nZERO = total([])\n",
            1,
            "ImportError: cannot import name 'totl' from 'shop.money' (shop/money.py)",
            "from shop.money import total",
            id="a name like another",
        ),
        pytest.param(
            "from functools import lru_cahce\n\nkept = lru_cache\n",
            1,
            "ImportError: cannot import name 'lru_cahce' from 'functools' (/usr/functools.py)",
            "from functools import lru_cache",
            id="a name of the standard library",
        ),
        pytest.param(
            "from collections import OrderdDict as Kept\n",
            1,
            "ImportError: cannot import name 'OrderdDict' from 'collections'"
            " (/usr/collections/__init__.py). Did you mean: 'OrderedDict'?",
            "from collections import OrderedDict as Kept",
            id="one of a package",
        ),
        pytest.param(
            "from .old import total\n",
            1,
            "ModuleNotFoundError: No module named 'shop.old'",
            "from .money import total",
            id="a module that a commit moved",
        ),
        pytest.param(
            "ZERO = totl([])\n\n\ndef total(v):\n    return v\n",
            1,
            "NameError: name 'totl' is not defined",
            "ZERO = total([])",
            id="a name in scope",
        ),
        pytest.param(
            "TABLE = defaultdict(int)\n",
            1,
            "NameError: name 'defaultdict' is not defined",
            "from collections import defaultdict",
            id="an import of the standard library",
        ),
        pytest.param(
            "def f(a)\n    return a\n", 1, "SyntaxError: expected ':'", "def f(a):", id="a colon"
        ),
        pytest.param(
            "X = max(1, 2\nY = 1\n",
            1,
            "SyntaxError: '(' was never closed",
            "X = max(1, 2)",
            id="a bracket",
        ),
        pytest.param(
            "X = f(1))\n", 1, "SyntaxError: unmatched ')'", "X = f(1)", id="a bracket too many"
        ),
        pytest.param(
            "def f(a)\n    return a\n\n\nX = f(1))\n",
            1,
            "SyntaxError: expected ':'",
            "def f(a):\n    return a\n\n\nX = f(1)\n",
            id="a colon and a bracket",
        ),
        pytest.param(
            'X = "a\n', 1, "SyntaxError: unterminated string literal", 'X = "a"', id="a quote"
        ),
        pytest.param(
            "def f(a):\n    b = a\n      c = b\n    return c\n",
            3,
            "IndentationError: unexpected indent",
            "    c = b",
            id="an indentation",
        ),
    ],
)
def test_the_first_candidate_mends_the_line_within_the_rails_and_is_read_off_again(
    text: str, line: int, said: str, mended: str, tmp_path: Path
) -> None:
    tree, first = _first(tmp_path, text, line, said)
    assert patch_policy.check_candidate(first, tree) == ""
    (file,) = edit.patch_files(tree, first.edits)
    assert mended in file.content.splitlines() or mended == file.content
    names = {change.target.qualname for change in first.edits}
    (again,) = edit_recovery.recover_edits(file.path, text, file.content, names)
    assert edit.splice(text, [again]) == file.content


@pytest.mark.parametrize(
    ("tiers", "doubted"),
    [
        ((1,), (False,)),
        ((1, 2), (True, True)),
        ((0, 2), (False, True)),
        ((0, 0), (True, True)),
    ],
)
def test_a_change_is_sure_when_history_tells_it_or_nothing_else_passes(
    tiers: tuple[int, ...], doubted: tuple[bool, ...]
) -> None:
    fixes = [
        Attempt(n, "c", Candidate((), "rules", "syntax", f"way {n}", prior=tier), Verdict("fixed"))
        for n, tier in enumerate(tiers)
    ]
    assert tuple(bool(fix.lacks) for fix in collection_templates.ordered(fixes)) == doubted


@pytest.mark.parametrize(
    ("body", "told"), [("return value.year", True), ("return value.hour", False)]
)
def test_a_new_name_is_the_old_one_when_it_is_defined_alike(
    body: str, told: bool, tmp_path: Path
) -> None:
    now = f"def parse_time(value):\n    {body}\n"

    class Renaming(FolderTree):
        def removal(self, path: str, name: str) -> Removal | None:
            before = b"def parse_date(value):\n    return value.year\n"
            return Removal("d" * 40, "Change", path, before)

    files = {
        "shop/__init__.py": "",
        "shop/days.py": now,
        "shop/a.py": "from shop.days import parse_date\n",
    }
    tree = Renaming(FolderTree.of(tmp_path, files).root)
    tiers = [tier for _, tier, _ in import_repair._names(tree, "shop.days", "parse_date")]
    assert (Tier.USUAL in tiers) == told


@pytest.mark.parametrize(
    ("text", "new"),
    [
        ("X = 1\n", "X = 2\n"),
        ("import json\n", "import subprocess\n"),
        ("import json\n", "print(1)\n"),
        ("X = (1\n", "X = (1, 2\n"),
        ("X = (1\n", "import os; os.remove('x')\n"),
        ("X = (1\n", "if 1: open('x')\n"),
        ("X = (1\n", "def f(x=open('x')): pass\n"),
    ],
)
def test_lines_become_nothing_but_what_mends_them(text: str, new: str, tmp_path: Path) -> None:
    tree = FolderTree.of(tmp_path, {"m.py": text})
    target = line_targets.make_target("m.py", text, 1, 1)
    assert target is not None
    candidate = Candidate((Edit(target, new),), "x", "y")
    refused = patch_policy.check_candidate(candidate, tree)
    assert refused or patch_policy.list_reaches(candidate, tree)
