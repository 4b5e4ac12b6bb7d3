"""What a model is shown of source that does not parse or import, and how its answer is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from heal_bot.core.model import Broken, Candidate, Cluster, Failure, Frame, Origin, Removal, Suspect
from heal_bot.ports import Brief
from heal_bot.repair.llm import file_rewrite
from heal_bot.repair.llm.answer_parser import ReplyError
from heal_bot.repair.llm.prompt_context import ContextFacts, gather_facts
from heal_bot.repair.llm.prompts_fitted import Prompter
from heal_bot.source import edit, edit_recovery, line_targets, patch_policy
from tests.fakes import FolderTree

MONEY = "from shop.stock import LIMIT\n\n\ndef price(value):\n    return min(value, LIMIT)\n"
STOCK = "from shop.money import price\n\nLIMIT = 3\n\n\ndef show(value):\n    return price(value)\n"
MOVED = (
    "LIMIT = 3\n\n\ndef show(value):\n    from shop.money import price\n\n    return price(value)"
)
TWICE = "def f(a)\n    return a\n\n\ndef g(a):\n    return f(a\n"
CIRCLE = (
    "cannot import name 'LIMIT' from partially initialized module 'shop.stock'"
    " (most likely due to a circular import) (shop/stock.py)"
)
NAME = "cannot import name 'cost' from 'shop.money' (shop/money.py)"


@dataclass(frozen=True)
class Tree(FolderTree):
    """One in whose history `cost` became `price`, and show was another one."""

    def former(self, path: str) -> bytes | None:
        return STOCK.replace("show", "tell").encode() if path == "shop/stock.py" else None

    def removal(self, path: str, name: str) -> Removal | None:
        before = MONEY.replace("price", "cost").encode()
        return Removal("d" * 40, "Rename", path, before) if name == "cost" else None


def _brief(
    folder: Path, path: str, line: int, said: str, text: str = "", kind: str = "ImportError"
) -> Brief:
    files = {"shop/__init__.py": "", "shop/money.py": MONEY, "shop/stock.py": STOCK}
    if text:
        files[path] = text
    tree = Tree(FolderTree.of(folder, files).root)
    target = line_targets.find_statement(path, files[path], line)
    assert target is not None
    frames = tuple(Frame(f"shop/{name}.py", 1, "<module>", Origin.PROJECT)
                   for name in ("stock", "money"))  # fmt: skip
    broken = Broken(path, line, f"{kind}: {said}", "b" * 40, "Bring it")
    failure = Failure("tests/test_a.py", kind, said, frames, broken=broken)
    return Brief(Cluster("c", (failure,), (Suspect(target, 1.0),)), tree)


def _prompt(brief: Brief, facts: ContextFacts) -> str:
    prompt = Prompter(brief.cluster, facts, "0123456789abcdef").prompt((), (), 40_000)
    return prompt.messages[0].text


@pytest.mark.parametrize(
    ("path", "said", "shown", "told"),
    [
        pytest.param(
            "shop/money.py",
            CIRCLE,
            ["shop/money.py::lines 1-5", "shop/stock.py::lines 1-7"],
            ["since bbbbbbbbbbbb (Bring it)", "line 1: from shop.stock import LIMIT"],
            id="every file of a circle",
        ),
        pytest.param(
            "shop/stock.py",
            NAME,
            ["shop/stock.py::lines 1-7", "shop/money.py::lines 1-5"],
            ["shop.money (shop/money.py) has: LIMIT, price", "dddddddddddd (Rename)",
             "-def cost(value):", "-def tell(value):"],
            id="the module that lacks a name, its names and what took it away",
        ),
    ],
)  # fmt: skip
def test_the_error_is_shown_with_the_files_that_take_part(
    path: str, said: str, shown: list[str], told: list[str], tmp_path: Path
) -> None:
    brief = _brief(tmp_path, path, 1, said)
    facts = gather_facts(brief)
    assert [f"{one.path}::{one.qualname}" for one in facts.targets] == shown
    text = _prompt(brief, facts)
    assert all(one in text for one in [*shown, *told, MONEY, STOCK])


def test_of_a_long_file_the_lines_around_the_error_and_the_imports_are_shown(
    tmp_path: Path,
) -> None:
    text = "import json\n" + "\n".join(f"NAME_{n} = {n}" for n in range(2_000)) + "\nX = (\n"
    brief = _brief(tmp_path, "shop/stock.py", 1_000, "'(' was never closed", text, "SyntaxError")
    facts = gather_facts(brief)
    assert [one.qualname for one in facts.targets] == ["lines 940-1060"]
    assert facts.files == (("shop/stock.py", "import json"),)


def _block(head: str, body: str) -> str:
    return f"The cause.\n```python\n# {head}\n{body}\n```\nThat is all."


@pytest.mark.parametrize(
    ("text", "answer", "changed"),
    [
        pytest.param(STOCK, MOVED, "lines 1-7", id="an import that moves"),
        pytest.param(
            STOCK,
            STOCK.replace("price", "cost"),
            "lines 1-7",
            id="a name",
        ),
        pytest.param(
            STOCK,
            "from typing import TYPE_CHECKING\n\nif TYPE_CHECKING:\n    " + STOCK,
            "line 1",
            id="an import for type checkers",
        ),
        pytest.param(
            TWICE,
            TWICE.replace("f(a)\n", "f(a):\n", 1).replace("f(a\n", "f(a)\n"),
            "lines 1-6",
            id="two errors",
        ),
        pytest.param(
            "def f(a)\n    '''\n```\n    '''\n",
            "def f(a):\n    '''\n```\n    '''\n",
            "line 1",
            id="a fence in a docstring",
        ),
        pytest.param("import json\nimport jsn\n", "import json\n", "lines 1-2", id="one less"),
    ],
)
def test_an_answer_becomes_the_lines_that_differ_within_the_rails_and_is_read_off_again(
    text: str, answer: str, changed: str, tmp_path: Path
) -> None:
    brief = _brief(tmp_path, "shop/stock.py", 1, "invalid syntax", text, "SyntaxError")
    facts = gather_facts(brief)
    (target,) = facts.targets
    reply = _block(f"{target.path}::{target.qualname}", answer.rstrip("\n"))
    reading = file_rewrite.parse_file_answer(reply, facts.targets, facts.texts)
    (change,) = reading.edits
    assert change.target.qualname == changed
    assert reading.rationale.startswith("The cause.")
    assert (
        patch_policy.check_candidate(Candidate(reading.edits, "claude", "minimal"), brief.tree)
        == ""
    )
    (file,) = edit.patch_files(brief.tree, reading.edits)
    assert file.content.rstrip() == answer.rstrip()
    (again,) = edit_recovery.recover_edits(file.path, text, file.content, [change.target.qualname])
    assert edit.splice(text, [again]) == file.content


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        ("I do not know.", "no block begins with # shop/money.py::lines 1-5 or # shop/stock.py"),
        (_block("shop/stock.py::lines 1-7", STOCK.rstrip()), "same as the current"),
        (_block("shop/stock.py::lines 1-7", ""), "holds no lines"),
        (
            _block("shop/stock.py::lines 1-7", MOVED)
            + _block("shop/money.py::lines 1-5", "import json\n" + MONEY.rstrip()),
            "change one file",
        ),
    ],
)
def test_an_answer_that_cannot_be_used_says_why(reply: str, why: str, tmp_path: Path) -> None:
    facts = gather_facts(_brief(tmp_path, "shop/money.py", 1, CIRCLE))
    with pytest.raises(ReplyError, match=why):
        file_rewrite.parse_file_answer(reply, facts.targets, facts.texts)


@pytest.mark.parametrize(
    ("text", "answer", "why"),
    [
        (STOCK, STOCK.replace("LIMIT = 3", "LIMIT = 4"), "more than imports or a name"),
        (STOCK, STOCK.replace("LIMIT", "ROOF").replace("show", "tell"), "more than imports"),
        (STOCK, STOCK.replace("price(value)", "cost(limit)"), "more than imports or a name"),
        (STOCK, MOVED.replace("    from", "    import subprocess\n    from"), "subprocess"),
        (TWICE, "def g(a):\n    return f(a)\n", "do not define f"),
        (TWICE, "def f(a):\n    return a\n\n\ndef g(a):\n    return f(open(a))\n", "uses open"),
        (TWICE, TWICE.replace("f(a)\n", "f(a):\n", 1), "does not parse"),
    ],
)
def test_an_answer_beyond_the_rails_is_refused(
    text: str, answer: str, why: str, tmp_path: Path
) -> None:
    brief = _brief(tmp_path, "shop/stock.py", 1, "invalid syntax", text, "SyntaxError")
    facts = gather_facts(brief)
    reply = _block(f"shop/stock.py::{facts.targets[0].qualname}", answer.rstrip())
    reading = file_rewrite.parse_file_answer(reply, facts.targets, facts.texts)
    candidate = Candidate(reading.edits, "claude", "minimal")
    reaches = patch_policy.list_reaches
    refused = patch_policy.check_candidate(candidate, brief.tree)
    assert why in (refused or "".join(reaches(candidate, brief.tree)))
