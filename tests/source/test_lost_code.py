"""What a commit lost where it moved code or wrote it anew, on sources as people change them."""

from __future__ import annotations

import pytest

from heal_bot.source.lost_code import FileVersions, find_lost_code

POP = """
def pop(box, key, *args):
    if args:
        return args[0]
    item = box[key]
    del box[key]
    return item
"""
NAMES = """
def name(attr):
    if isinstance(attr, tuple):
        attr = "_".join([str(x) for x in attr])
    out = "".join(c for c in attr if c in LETTERS)
    return out or "x"


LETTERS = "abc"
"""
TREE = """
def show(error, path, form):
    lines = []
    for one in error.inner:
        lines.append(form(one))
        lines += show(one.error, path + one.path, form)
    return lines
"""


def _restore(files: dict[str, tuple[str, str]]) -> list[str]:
    """The texts with each part put back, the likeliest first."""
    found = find_lost_code(
        FileVersions(path, before, now, now) for path, (before, now) in files.items()
    )
    texts = []
    for path, part in found:
        data = files[path][1].encode()
        texts.append((data[: part.start] + part.before + data[part.end :]).decode())
    return texts


def test_a_lost_statement_comes_back_between_its_neighbours() -> None:
    now = """
def pop(box, key, *args):
    if key in box:
        item = box[key]
        return item
    return args[0]
"""
    first = _restore({"m.py": (POP, now)})[0]
    assert first == now.replace("        return item", "        del box[key]\n        return item")


def test_what_is_still_set_elsewhere_comes_back_between_its_neighbours_alone() -> None:
    was = """
def send(headers, origin):
    if origin:
        headers["allow"] = "*"
        headers["timing"] = "*"
    return headers
"""
    now = """
def send(headers, origin):
    if origin is True:
        headers["timing"] = "*"
    elif origin:
        headers["allow"] = origin
        headers["timing"] = origin
    return headers
"""
    lost = '        headers["allow"] = "*"\n'
    timing = '        headers["timing"] = "*"\n'
    added = [text for text in _restore({"m.py": (was, now)}) if len(text) == len(now) + len(lost)]
    assert added == [now.replace(timing, lost + timing)]


def test_a_branch_that_is_lost_as_code_moves_comes_back_where_its_names_are_known() -> None:
    moved = NAMES.replace(
        '    if isinstance(attr, tuple):\n        attr = "_".join([str(x) for x in attr])\n', ""
    )
    now = "from names import name as to_name\n\n\ndef name(attr):\n    return to_name(attr)\n"
    texts = _restore({"m.py": (NAMES, now), "names.py": ("", moved)})
    lost = '    if isinstance(attr, tuple):\n        attr = "_".join([str(x) for x in attr])\n'
    assert now.replace("    return", f"{lost}    return") in texts[:4]
    assert moved.replace("    out", f"{lost}    out") in texts[:4]


@pytest.mark.parametrize(
    ("call", "whole"),
    [
        ("show(sub.error, path + sub.path)", "show(sub.error, path + sub.path, form)"),
        ("show(sub.error)", "show(sub.error, path + one.path, form)"),
    ],
    ids=["an argument", "one whose names are unknown"],
)
def test_a_call_gets_the_arguments_it_lost(call: str, whole: str) -> None:
    now = f"""
def show(error, path, form):
    lines = []
    for sub in error.inner:
        lines += [form(sub), *{call}]
    return lines
"""
    texts = _restore({"m.py": (TREE, now)})
    assert (now.replace(call, whole) in texts) is ("one.path" not in whole)


@pytest.mark.parametrize(
    ("before", "now", "wanted"),
    [
        ("    rules = resolve(box[key])\n    return run(rules.get(1), rules.get(2))\n",
         "    return run(**pick(box[key], 1, 2))\n",
         "    return run(**pick(resolve(box[key]), 1, 2))\n"),
        ("    name = key.strip()\n    return box.get(name)\n",
         "    return box.get(key)\n", "    return box.get(key.strip())\n"),
        ("    box = list(box)\n    box.sort()\n    return box\n",
         "    box.sort()\n    return box\n", "    box.sort()\n    return list(box)\n"),
    ],
    ids=["an argument", "a receiver", "a copy"],
)  # fmt: skip
def test_an_expression_gets_the_call_again_that_was_made_of_it(
    before: str, now: str, wanted: str
) -> None:
    head = "from m import resolve, run, pick\n\n\ndef find(box, key):\n"
    assert head + wanted in _restore({"m.py": (head + before, head + now)})


def test_a_call_that_is_still_made_is_made_of_nothing_else() -> None:
    head = "def find(box):\n    return "
    texts = _restore({"m.py": (f"{head}str(box)\n", f"{head}[str(box), box]\n")})
    assert f"{head}[str(box), str(box)]\n" not in texts


def test_a_condition_that_was_written_otherwise_as_it_moved_comes_back() -> None:
    before = "def a(x, y):\n    if x is not None and y:\n        return x.run(y)\n    return y\n"
    now = (
        "def a(x, y):\n    return _run(x, y)\n\n\n"
        "def _run(x, y):\n    if x is not None:\n        return x.run(y)\n    return y\n"
    )
    texts = _restore({"m.py": (before, now)})
    assert now.replace("x is not None", "x is not None and y") in texts


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("def a(x):\n    if x < 0:\n        raise KeyError(x)\n    return x\n",
         "def a(x):\n    if x < 0:\n        raise OSError(x)\n    return x\n"),
        ("def a(x):\n    if x < 0:\n        raise KeyError(x)\n    return x\n",
         "def a(x):\n    if x < 0:\n        x = -x\n        raise OSError(x)\n    return x\n"),
        ("def a(box):\n    box.append(0)\n    return box\n",
         "def a(box):\n    box.append(1)\n    return box\n"),
        ("def a(n):\n    twice = 2 * n\n    return twice\n", "def a(n):\n    return n + n\n"),
        ("def a(n):\n    return n\n", "def a(n):\n    return n\n"),
    ],
    ids=["the branch is there", "it grew", "the call is there", "a variable", "nothing changed"],
)  # fmt: skip
def test_what_was_only_written_otherwise_is_not_added(before: str, now: str) -> None:
    assert not [text for text in _restore({"m.py": (before, now)}) if len(text) > len(now) + 5]


@pytest.mark.parametrize(
    ("before", "now", "wanted"),
    [
        ("def a(b, k):\n\tb.go()\n\tb.run(k)\n", "def a(b, k):\n\tif k:\n\t\tb.run(k)\n",
         "def a(b, k):\n\tif k:\n\t\tb.go()\n\t\tb.run(k)\n"),
        ("def a(b, k):\n    run(b)\n    return run(b, k=k)\n",
         "def a(b, k):\n    run(b)\n    return [run(\n        b,\n    )]\n",
         "def a(b, k):\n    run(b)\n    return [run(\n        b, k=k,\n    )]\n"),
        ("def a(b, k):\n    b.go(k)\n    return b.run(k)\n", "def a(b, k):\n    b.run(k)",
         "def a(b, k):\n    b.run(k)\n    b.go(k)\n"),
        ("def a(b, k):\n    if (b.x is k\n     and k.y):\n        return b.go(k)\n    return k\n",
         "def a(b, k):\n    if b.x is k:\n        return b.go(k)\n    return 0\n",
         "def a(b, k):\n    if b.x is k and k.y:\n        return b.go(k)\n    return 0\n"),
    ],
    ids=["tabs", "a comma at the end", "no line end", "a condition of two lines"],
)  # fmt: skip
def test_what_comes_back_parses_as_people_lay_out_code(before: str, now: str, wanted: str) -> None:
    texts = _restore({"m.py": (before, now)})
    assert wanted in texts
    for text in texts:
        compile(text, "m.py", "exec")


@pytest.mark.parametrize(
    ("before", "now"),
    [
        (POP, "def pop(box, key, *args):\n    return t'{box}'\n"),
        (POP, f"def pop(box, key, *args):\n    return {'+'.join(['key'] * 1500)}\n"),
        ("def a(b):\n    b.go()\n    b.run()\n",
         "def a(b):\n    if b:\n        pass\n    elif b.x:\n        b.run()\n"),
        ('def a(b):\n    b.go("""x\n  y""")\n    b.run()\n', "def a(b):\n    b.run()\n"),
    ],
    ids=["another Python", "a long sum", "an elif", "a text of two lines"],
)  # fmt: skip
def test_what_cannot_be_read_or_moved_is_left_out(before: str, now: str) -> None:
    for text in _restore({"m.py": (before, now)}):
        compile(text, "m.py", "exec")
        assert '"""' not in text


def test_what_a_later_commit_took_is_not_lost_by_this_one() -> None:
    before = "def a(b):\n    b.go()\n    b.run()\n\n\ndef c(b):\n    b.clear()\n    b.run()\n"
    after = before.replace("    b.go()\n", "")
    now = after.replace("    b.clear()\n", "")
    found = find_lost_code([FileVersions("m.py", before, after, now)])
    assert {part.before.strip() for _, part in found} == {b"b.go()"}


def test_a_commit_of_many_functions_is_not_looked_through() -> None:
    many = "".join(f"def f{n}(b):\n    b.go()\n    b.run({n})\n\n\n" for n in range(100))
    assert _restore({"m.py": (many, many.replace("    b.go()\n", ""))}) == []


def test_a_large_file_that_a_commit_deleted_leaves_the_others_to_look_through() -> None:
    many = "".join(f"def f{n}(b):\n    b.run({n})\n\n\n" for n in range(100))
    lost = "def a(b):\n    b.go()\n    b.run()\n"
    now = lost.replace("    b.go()\n", "")
    files = {"old.py": (many, ""), "m.py": (lost, now)}
    assert lost in _restore(files)


def test_what_an_import_of_a_submodule_binds_is_known() -> None:
    lost = "import os.path\n\n\ndef a(b):\n    os.remove(b)\n    b.run()\n"
    assert lost in _restore({"m.py": (lost, lost.replace("    os.remove(b)\n", ""))})
