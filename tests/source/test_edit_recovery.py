"""What a patched file changes is read off both versions."""

from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.core.model import Candidate, Edit
from heal_bot.source import patch_policy
from heal_bot.source.edit import splice
from heal_bot.source.edit_recovery import RecheckError, recover_edits, recover_patch
from heal_bot.source.functions import index_targets
from heal_bot.source.guard import SourceRejected
from heal_bot.source.line_targets import make_target
from tests.fakes import SHA, FolderTree
from tests.github_server import records

BEFORE = '''"""Doc."""

import re

LIMIT = 3


class Cart:
    size = 1

    def total(self, rate=1):
        def inner():
            return 0

        return inner()


def plain(x):
    return x
'''


def changed(old: str, new: str) -> str:
    assert old in BEFORE
    return BEFORE.replace(old, new)


@pytest.mark.parametrize(
    ("after", "named", "found"),
    [
        (changed("return x", "return x + 1"), {"plain"}, ["plain"]),
        (changed("return inner()", "return inner() + 1"), {"Cart.total"}, ["Cart.total"]),
        (changed("size = 1", "size = 2"), {"Cart.size"}, ["Cart.size"]),
        (changed("LIMIT = 3", "LIMIT = 4"), {"LIMIT"}, ["LIMIT"]),
        (
            changed("return 0", "return 1"),
            {"Cart.total", "Cart.total.<locals>.inner"},
            ["Cart.total"],
        ),
        (
            changed("return x", "return x + 1").replace("return 0", "return 1"),
            {"plain", "Cart.total.<locals>.inner"},
            ["Cart.total.<locals>.inner", "plain"],
        ),
        (
            changed("import re\n", "import re\nimport math\n").replace(
                "return x", "return math.floor(x)"
            ),
            {"plain"},
            ["plain"],
        ),
        (changed("import re\n", "import re\nimport x\n"), {"plain"}, ["plain"]),
        (changed("import re\n", "import re\nimport y\n"), {"plain"}, None),
        (changed("return x\n", "return x + 1\n").replace("\n", "\r\n"), {"plain"}, None),
    ],
)
def test_the_outermost_named_targets_that_differ_are_found(
    after: str, named: set[str], found: list[str] | None
) -> None:
    if found is None:
        with pytest.raises(RecheckError):
            recover_edits("a.py", BEFORE, after, named)
        return
    assert [e.target.qualname for e in recover_edits("a.py", BEFORE, after, named)] == found


@pytest.mark.parametrize(
    ("after", "named"),
    [
        (BEFORE, {"plain"}),
        (changed("return x", "return 2"), {"Cart.total"}),
        (changed("return x", "return 2") + "\nX = 1\n", {"plain"}),
        (changed("return x", "return 2").replace("Doc", "Dock"), {"plain"}),
        (changed("def plain(x):\n    return x\n", ""), {"plain"}),
        (changed("def plain", "def other"), {"plain", "other"}),
        (changed("return x", "return 2").replace("import re\n", ""), {"plain"}),
        (changed("return x", "return 2").replace("import re\n", "import re\nimport os\n"),
         {"plain"}),
        (changed("return x", "return 2").replace("\n\n\nclass", "\n\nclass"), {"plain"}),
        (changed("return x\n", "return 2"), {"plain"}),
    ],
)  # fmt: skip
def test_any_other_change_is_refused(after: str, named: set[str]) -> None:
    with pytest.raises(RecheckError, match=r"a\.py: "):
        recover_edits("a.py", BEFORE, after, named)


@pytest.mark.parametrize(
    ("path", "before", "sha", "said"),
    [
        ("shop/pricing.py", records.BROKEN, SHA, ""),
        ("shop/pricing.py", records.BROKEN, "e" * 40, "the patch is for commit eeeeeeeeeeee, not"),
        ("shop/pricing.py", f"{records.BROKEN}\n", SHA, "is another file there"),
        ("pricing.py", records.BROKEN, SHA, "shop/pricing.py is not in commit"),
    ],
)
def test_a_patch_is_read_off_the_files_that_it_names(
    tmp_path: Path, path: str, before: str, sha: str, said: str
) -> None:
    tree = FolderTree.of(tmp_path, {path: before})
    patch = records.record(records.data(sha)).patch
    assert patch is not None
    if said:
        with pytest.raises(RecheckError, match=said):
            recover_patch(patch, tree)
        return
    assert [one.target.qualname for one in recover_patch(patch, tree)] == ["total"]


@pytest.mark.parametrize("line", ["import x", "import x\nimport inner"])
def test_an_import_alone_that_two_functions_lack_is_a_change_rails_allow(tree, line: str) -> None:
    after = changed("import re\n", f"import re\n{line}\n")
    found = recover_edits("a.py", BEFORE, after, {"Cart.total", "plain"})
    assert patch_policy.check_candidate(Candidate(found, "bundle", "bundle"), tree(a=BEFORE)) == ""


@pytest.mark.parametrize(
    "imports",
    [
        "import re\n",
        "from math import ceil\n",
        "from math import ceil, sqrt\n",
        "from math import (\n    ceil,\n    sqrt,\n)\n",
        "from math import (\n    ceil,\n    sqrt as root\n)\n",
        "from math import ceil; import re\n",
        "from math import *\n",
        "import re\nfrom math import \\\n    ceil\n",
    ],
)
@pytest.mark.parametrize("wanted", [("from math import floor",), ("import os", "import x.y")])
def test_an_import_is_read_back_wherever_an_edit_puts_it(imports: str, wanted: tuple[str, ...]):
    before = changed("import re\n", imports)
    (plain,) = (t for t in index_targets("a.py", before) if t.qualname == "plain")
    code = plain.source.replace("return x", "return floor(x), os, x.y")
    made = Edit(plain, code, wanted)
    (found,) = recover_edits("a.py", before, splice(before, [made]), {"plain"})
    assert (found.new_source, set(found.imports)) == (code, set(wanted))


@pytest.mark.parametrize(
    "line", ["from math import *", "from __future__ import annotations", "import os as re"]
)
def test_an_import_that_is_never_added_is_refused(line: str) -> None:
    after = changed("import re\n", f"import re\n{line}\n").replace("return x", "return re")
    with pytest.raises((RecheckError, SourceRejected)):
        recover_edits("a.py", BEFORE, after, {"plain"})


BROKEN = BEFORE.replace("def plain(x):", "def plain(x)").replace("size = 1", "size = (1")


@pytest.mark.parametrize(
    ("before", "changes", "named"),
    [
        (BROKEN, [(9, 9, "    size = 1\n"), (18, 18, "def plain(x):\n")], ()),
        (
            BROKEN,
            [(9, 9, "    size = 1\n    more = 2\n"), (18, 19, "def plain(x):\n\n    y = 1\n")],
            (),
        ),
        (BEFORE, [(3, 3, "import sre\n")], ("plain",)),
        (BEFORE, [(3, 3, "import re\nimport os\n")], ("Cart.total", "plain")),
        (BEFORE, [(3, 3, "import re\n\nimport os\n")], ("Cart.size", "plain")),
    ],
)
def test_lines_and_functions_beside_them_are_found(
    before: str, changes: list[tuple[int, int, str]], named: tuple[str, ...]
) -> None:
    targets = [make_target("m.py", before, first, last) for first, last, _ in changes]
    edits = [Edit(one, new) for one, (*_, new) in zip(targets, changes, strict=True) if one]
    for target in index_targets("m.py", before) if named else ():
        if target.qualname in named:
            new = target.source.replace("return inner()", "x = 1\n\n        return inner()")
            edits.append(Edit(target, new.replace("return x", "return 2").replace("1\n", "3\n")))
    after = splice(before, edits)
    assert after != before
    found = recover_edits("m.py", before, after, {one.target.qualname for one in edits})
    assert splice(before, found) == after
    assert {one.target.qualname for one in found} == {one.target.qualname for one in edits}


def test_lines_and_something_beside_them_are_refused() -> None:
    after = BEFORE.replace("import re", "import sre").replace("LIMIT = 3", "LIMIT = 4")
    with pytest.raises(RecheckError, match="outside the lines"):
        recover_edits("m.py", BEFORE, after, {"line 3"})
    with pytest.raises(RecheckError, match="outside the lines"):
        recover_edits("m.py", BEFORE, after, {"line 3", "plain"})


def test_many_spans_of_a_long_file_are_told_apart_in_time() -> None:
    before = "x = (\n" * 20 + "\n" * 5_000 + "y = 1\n\n" * 40
    after = before.replace("x = (\n", "x = 1\n") + "z = 2\n"
    names = {f"line {5_021 + 2 * n}" for n in range(40)}
    with pytest.raises(RecheckError):
        recover_edits("m.py", before, after, names)
