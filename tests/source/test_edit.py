"""Splices that leave everything else byte for byte, and diffs that git accepts."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heal_bot.core.model import Edit, Target
from heal_bot.source import edit, functions, guard

TEXT = '''\
#!/usr/bin/env python
"""Doc."""
from __future__ import annotations

import os  # kept


def f(a):  # why
    # inside
    return a

\t
def g(b):
    return b
'''


def _target(text: str, qualname: str, kind: str = "function") -> Target:
    found = functions.find_target(functions.index_targets("m.py", text), qualname, kind)
    assert found is not None
    return found


def _change(text: str, qualname: str, new: str, *imports: str) -> str:
    return edit.splice(text, [Edit(_target(text, qualname), new, imports)])


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["", "\ufeff"])
@pytest.mark.parametrize("final", [True, False])
def test_only_the_targets_lines_change(newline: str, start: str, final: bool) -> None:
    text = start + TEXT.replace("\n", newline)
    text = text if final else text.removesuffix(newline)
    old = _target(text, "g").source
    new = "def g(b):\n    return -b\n"
    expected = text.removesuffix(old) + new.replace("\n", newline)
    assert _change(text, "g", new) == (expected if final else expected.removesuffix(newline))


def test_several_edits_apply_to_one_file_in_any_order() -> None:
    edits = [
        Edit(_target(TEXT, "g"), "def g(b):\n    c = b\n    return c\n"),
        Edit(_target(TEXT, "f"), "def f(a): return 1\n"),
    ]
    assert edit.splice(TEXT, edits) == edit.splice(TEXT, edits[::-1])
    assert edit.splice(TEXT, edits).endswith(
        "def f(a): return 1\n\n\t\ndef g(b):\n    c = b\n    return c\n"
    )


@pytest.mark.parametrize(
    ("wanted", "added"),
    [
        (("import os",), ""),
        (("import re", "import re"), "import re\n"),
        (("from os import path, sep",), "from os import path\nfrom os import sep\n"),
        (("import os.path as p",), "import os.path as p\n"),
        (("from . import x as y",), "from . import x as y\n"),
    ],
)
def test_missing_imports_follow_the_imports_that_are_there(
    wanted: tuple[str, ...], added: str
) -> None:
    changed = _change(TEXT, "f", "def f(a):\n    return 0\n", *wanted)
    assert f"import os  # kept\n{added}\n\ndef f(a):\n    return 0\n" in changed
    guard.parse(changed)


_LONG = "from a import (\n    b,\n    d,\n)\n"


@pytest.mark.parametrize(
    ("there", "wanted", "then"),
    [
        ("from a import b, d\n", "c", "from a import b, c, d\n"),
        ("from a import b, d\r\n", "c", "from a import b, c, d\r\n"),
        ("from a import d, b\n", "c", "from a import d, b, c\n"),
        ("from .a import b as x\n", "c", "from .a import b as x, c\n"),
        (_LONG, "c as e", _LONG.replace("    d", "    c as e,\n    d")),
        (_LONG, "e", _LONG.replace("    d,\n", "    d,\n    e,\n")),
        ("from a import b  # why\n", "c", "from a import b  # why\nfrom a import c\n"),
        ("from a import (b, d)\n", "c", "from a import (b, d)\nfrom a import c\n"),
        (f"from a import {'b' * 64}\n", "c", f"from a import {'b' * 64}\nfrom a import c\n"),
        ("from ab import b\n", "c", "from ab import b\nfrom a import c\n"),
        ("import a\n", "c", "import a\nfrom a import c\n"),
    ],
)
def test_a_name_joins_the_import_of_its_module(there: str, wanted: str, then: str) -> None:
    module = ".a" if "from .a" in there else "a"
    end = there[len(there.rstrip("\r\n")) :]
    function = f"{end}def f(): pass{end}"
    changed = _change(there + function, "f", "def f(): return 1", f"from {module} import {wanted}")
    assert changed == then + function.replace("pass", "return 1")


@pytest.mark.parametrize(
    ("text", "head"),
    [
        ('"""Doc."""\ndef f(): pass\n', '"""Doc."""\n\nimport re\n\ndef f()'),
        ('"""Doc."""', '"""Doc."""'),
        ("# license\n\ndef f(): pass\n", "# license\nimport re\n\ndef f()"),
        ("def f(): pass\n", "import re\n\ndef f()"),
        ("\ufeffdef f(): pass\n", "\ufeffimport re\n\ndef f()"),
        (
            "from a import (\n    b,\n)\ndef f(): pass\n",
            "from a import (\n    b,\n)\nimport re\n\ndef f()",
        ),
    ],
)
def test_imports_find_a_place_in_files_without_any(text: str, head: str) -> None:
    if "def" not in text:
        text += "\ndef f(): pass"
        head += "\n\nimport re\n\ndef f()"
    assert _change(text, "f", "def f(): return 1\n", "import re").startswith(head)


@pytest.mark.parametrize(
    "line",
    [
        "import f",
        "from x import *",
        "from __future__ import division",
        "import os; print(1)",
        "x = 1",
    ],
)
def test_an_import_that_does_more_is_refused(line: str) -> None:
    with pytest.raises(guard.SourceRejected):
        _change(TEXT, "f", "def f(a):\n    return 0\n", line)


def test_a_byte_order_mark_stays_in_front_of_a_changed_first_line() -> None:
    text = "\ufeffdef f(): pass\n"
    assert _change(text, "f", "def f(): return 1\n") == "\ufeffdef f(): return 1\n"


@pytest.mark.parametrize(
    ("cookie", "hidden"),
    [("unicode_escape", "\\x0a    steal()"), ("utf-7", "+AAo-    steal()"), ("latin-1", "é")],
)
def test_a_file_that_python_would_read_as_another_text_is_not_made(
    cookie: str, hidden: str
) -> None:
    text = "def f(a):\n    return a\n"
    new = f"# coding: {cookie}\ndef f(a):\n    # as in RFC 1 {hidden}\n    return -a\n"
    with pytest.raises(edit.EditError, match="encoding"):
        _change(text, "f", new)
    assert _change(text, "f", new.replace(cookie, "utf-8")) == new.replace(cookie, "utf-8")


def test_nested_stale_empty_and_misindented_edits_are_refused() -> None:
    text = "def o():\n    def i():\n        return 1\n    return i\n"
    outer, inner = _target(text, "o"), _target(text, "o.<locals>.i")
    both = [Edit(outer, "def o(): pass\n"), Edit(inner, "    def i(): pass\n")]
    with pytest.raises(edit.EditError, match="overlap"):
        edit.splice(text, both)
    with pytest.raises(edit.EditError, match="not in lines"):
        edit.splice("\n" + text, [Edit(inner, "    def i(): pass\n")])
    with pytest.raises(edit.EditError, match="indentation"):
        edit.splice(text, [Edit(inner, "def i(): pass\n")])
    with pytest.raises(edit.EditError, match="removed"):
        edit.splice(text, [Edit(inner, "\n")])


def test_a_patched_file_knows_its_blob_and_non_utf8_is_refused(tree) -> None:
    made = tree(m=TEXT, n="# coding: latin-1\ndef f(): return 'ä'\n".encode("latin-1"))
    change = Edit(_target(TEXT, "f"), "def f(a):\n    return 2\n")
    (file,) = edit.patch_files(made, (change,))
    assert (file.path, file.base_blob) == ("m.py", "c" * 40)
    assert "return 2" in file.content
    with pytest.raises(edit.EditError, match="UTF-8"):
        edit.text_of(made, "n.py")
    with pytest.raises(edit.EditError, match="not in commit"):
        edit.text_of(made, "missing.py")


PAIRS = [
    ("a\nb\n", "a\nc\n"),
    ("a\nb", "a\nc"),
    ("a\nb", "a\nb\n"),
    ("a\nb\n", "a\nb"),
    ("a\r\nb\r\n", "a\r\nc\r\n"),
    ("a\rb\rc\n", "a\rx\rc\n"),
    ("\ufeffa\n", "\ufeffb\n"),
    ("", "x\n"),
    ("a\u2028b\n\x0cc\n", "a\u2028b\n\x0cd\n"),
    ("-- a\n++ b\n", "-- a\n++ c\n"),
    ("\n" * 50 + "x\n" + "\n" * 50, "\n" * 50 + "y\n" + "\n" * 50),
]


def _git(folder: Path, *argv: str) -> None:
    done = subprocess.run(
        ["git", *argv], cwd=folder, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr


def _apply(folder: Path, name: str, old: str, new: str) -> bytes:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(old.encode())
    (folder / "x.diff").write_bytes(edit.diff(name, old, new).encode())
    _git(folder, "apply", "--whitespace=nowarn", "x.diff")
    return path.read_bytes()


@pytest.mark.parametrize(("old", "new"), PAIRS, ids=range(len(PAIRS)))
def test_git_applies_the_diff_to_the_exact_bytes(tmp_path: Path, old: str, new: str) -> None:
    assert _apply(tmp_path, "d/m.py", old, new) == new.encode()


@pytest.mark.parametrize("name", ["a b.py", "ä.py", 'q"q.py', "b\\s.py", "tab\tx.py", "d/-x.py"])
def test_git_applies_diffs_of_odd_names(tmp_path: Path, name: str) -> None:
    assert _apply(tmp_path, name, "1\n2\n", "1\n3\n") == b"1\n3\n"


def test_an_unchanged_file_has_no_diff() -> None:
    assert edit.diff("m.py", TEXT, TEXT) == ""


_LINE = st.text(alphabet="ab+-@ \\\t\r", max_size=4)


@settings(max_examples=60, deadline=None)
@given(st.lists(_LINE, max_size=3), st.lists(_LINE, max_size=3), st.booleans(), st.booleans())
def test_a_diff_read_back_gives_both_texts(old, new, old_end, new_end) -> None:
    before = "\n".join(old) + ("\n" if old_end and old else "")
    after = "\n".join(new) + ("\n" if new_end and new else "")
    text = edit.diff("m.py", before, after)
    if before == after:
        assert text == ""
        return
    body = text.split("\n", 3)[3].split("\n")[:-1]
    sides = {"-": "", "+": ""}
    last = ""
    for line in body:
        if line.startswith("@@"):
            continue
        for side in {"-": "-", "+": "+", " ": "-+", "\\": last}[line[0]]:
            sides[side] = sides[side][:-1] if line[0] == "\\" else sides[side] + line[1:] + "\n"
        last = {" ": "-+"}.get(line[0], line[0])
    assert sides == {"-": before, "+": after}
