"""What a patch may not touch or reach for."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from heal_bot.core.model import Candidate, Edit
from heal_bot.source import functions, line_targets, patch_policy

TEXT = """\
import os
import math
import urllib.parse
from collections import OrderedDict as OD

RATE, KEEP = 3, 4
KEPT = os.remove
HELD = [os.unlink]
OPENED = open("log")


class A:
    K = {"a": 1}

    @property
    def p(self):
        return self.x + 1

    def __len__(self):
        return 1

    def __init_subclass__(cls, x):
        cls.x = x


def f(a, b=2):
    return os.getcwd() + a


def g(obj, name):
    try:
        return getattr(obj, name).__dict__
    except:
        return None


async def h(x):
    return x
"""


def _candidate(qualname: str, new: str, kind: str = "function", *imports: str) -> Candidate:
    target = functions.find_target(functions.index_targets("m.py", TEXT), qualname, kind)
    assert target is not None
    return Candidate((Edit(target, new, imports),), "rules", "x")


def _said(candidate: Candidate, made) -> str:
    """Why a candidate may not run, or why a person has to decide on it."""
    refused = patch_policy.check_candidate(candidate, made)
    return refused or "; ".join(patch_policy.list_reaches(candidate, made))


def _f(body: str) -> tuple[str, str]:
    return "f", "def f(a, b=2):\n" + "".join(f"    {line}\n" for line in body.split("\n"))


@pytest.mark.parametrize(
    ("qualname", "new", "reason"),
    [
        (*_f("return os._exit(0)"), "uses os._exit"),
        (*_f("o = os\nreturn o.system('x')"), "uses os"),
        (*_f("import os as o\nreturn o.remove(a)"), "uses os.remove"),
        (*_f("import inspect\nreturn inspect.stack()"), "uses inspect.stack"),
        (*_f("return hasattr(a, eval('b'))"), "uses eval"),
        (*_f("import subprocess\nreturn subprocess.run(a)"), "imports subprocess"),
        (*_f("from os import _exit\n_exit(0)"), "uses os._exit"),
        (*_f("return math.sys.exit()"), "uses math.sys"),
        (*_f("import tokenize\nreturn tokenize.open(a)"), "uses tokenize.open"),
        (*_f("import ctypes\nreturn ctypes.CDLL(a)"), "ctypes"),
        (*_f("return os.EX_LATER.system(a)"), "system"),
        (*_f("return urllib.parse.sys.exit()"), "uses urllib.parse.sys"),
        (*_f("return urllib.request.urlopen(a)"), "uses urllib.request"),
        (*_f("return eval(a)"), "uses eval"),
        (*_f("return open(a)"), "uses open"),
        (*_f("return __import__('x')"), "uses __import__"),
        (*_f("raise SystemExit"), "uses SystemExit"),
        (*_f("exit(0)"), "uses exit"),
        (*_f("try:\n    pass\nexcept BaseException:\n    pass"), "uses BaseException"),
        (*_f("try:\n    pass\nexcept:\n    pass"), "bare except"),
        ("A.p", "    @property\n    def p(self):\n        return self.__dict__\n", "__dict__"),
        ("A.p", "    @property\n    def p(self):\n        return os.getcwd()\n", "os.getcwd"),
        ("g", "def g(obj, name):\n    return os.getpid()\n", "os.getpid"),
        (*_f("return super().__init__.__globals__"), "__globals__"),
        (*_f("return super().__getattribute__(b)"), "__getattribute__"),
        (*_f("return '{0.__init__.__globals__}'.format(a)"), "__globals__"),
        (*_f("return '{0:{1.__globals__}}'.format(a, f)"), "__globals__"),
        (*_f("return ('{0.__cl' + 'ass__}').format(a)"), "uses .format"),
        (*_f("return str.format(a, b)"), "uses .format"),
        (*_f("return getattr(a, '_' + b)"), "uses getattr"),
        (*_f("return a.gi_frame.f_back"), "f_back|gi_frame"),
        (*_f("match a:\n    case object(__globals__=x):\n        return x"), "__globals__"),
        (*_f("math.sqrt = a"), "changes math.sqrt"),
        (*_f("math.x['y'] = a"), "changes math.x"),
        (*_f("setattr(math, 'sqrt', a)"), "changes math.sqrt"),
        (*_f("A.p = a"), "changes A.p"),
        (*_f("global g\ng = 2"), "declares global g"),
        (*_f("class E:\n    def __eq__(s, o): return True\nreturn E()"), "defines __eq__"),
        (*_f("class E:\n    __eq__ = lambda s, o: True\nreturn E()"), "defines __eq__"),
        (*_f("class E:\n    from operator import is_not as __eq__\nreturn E()"), "__eq__"),
        (*_f("return type('E', (), dict(a=max))()"), "uses type"),
        (*_f("return dict(__eq__=max)"), "defines __eq__"),
        (*_f("setattr(a, '__eq__', max)"), "defines __eq__"),
        (*_f("a.__class__ = b"), "defines __class__"),
        (*_f("return math._os.getpid()"), "math._os"),
        (*_f("return [math][0].x"), "uses math"),
        (*_f("return OD.x._getframe(1)"), "f newly uses"),
        (*_f("return getattr(a, 'f_locals')"), "f_locals"),
        (*_f("put = setattr\nput(a, b, 1)"), "uses setattr"),
        (*_f("return list(map(getattr, [a], [b]))"), "uses getattr"),
        (*_f("from test.support import ALWAYS_EQ\nreturn ALWAYS_EQ"), "test.support"),
        (*_f("return getattr(math, 'sys')"), "uses math.sys"),
        (*_f("from typing import get_type_hints\nreturn get_type_hints(a)"), "get_type_hints"),
        (*_f("def i(x: 'eval(1)'): pass\nreturn i"), "uses eval"),
        (*_f("[0 for open in ()]\nreturn open(a)"), "uses open"),
        (*_f("class E:\n    x = open\n    open = 1\nreturn E"), "uses open"),
        (*_f("return a.read_text()"), "uses .read_text"),
        (*_f("return a.replace(b)"), "moves a file by .replace"),
        (*_f("return OPENED.write(a)"), "uses OPENED.write"),
        (*_f("k = A\nk.p = a"), "changes k.p"),
        (*_f("[A][0].p = a"), r"changes \[A\]\[0\].p"),
        (*_f("type(a).p = b"), r"changes type\(a\).p"),
        (*_f("return int.__class__('E', (), {})"), "takes the class of int"),
        (*_f("return type(int)('E', (), {})"), "takes the class of int"),
        (*_f("return type(lambda: 1)(a, b)"), "takes the class of lambda"),
        (*_f("match a:\n    case object(__class__=k):\n        return k"), "takes the class"),
        (*_f("import functools\nreturn functools.wraps(a, (b,))"), "uses functools.wraps"),
        (*_f("import inspect\nreturn inspect.signature(a, eval_str=b)"), "inspect.signature"),
        (*_f("from inspect import signature as s\nreturn s"), "uses inspect.signature"),
        (*_f("import enum\nreturn enum.Enum('E', a)"), "uses enum.Enum"),
        (*_f("import time\nreturn time.clock_settime(a, b)"), "uses time.clock_settime"),
        (*_f("import random\nrandom.seed(a)"), "uses random.seed"),
        (*_f("return KEPT(a)"), "uses os.remove"),
        (*_f("return HELD[0](a)"), "uses os.unlink"),
        (*_f("return " + "a" * 40_000), "at most"),
        ("f", "def f(a, b=2):\n    return 1\nos._exit(0)\n", "exactly one function"),
        ("f", "", "exactly one function"),
        ("f", "# gone\n", "exactly one function"),
        ("f", "def e(a, b=2):\n    return 1\n", "defines e"),
        ("f", "async def f(a, b=2):\n    return 1\n", "same kind"),
        ("h", "def h(x):\n    return x\n", "same kind"),
        ("f", "def f(a, b=2):\n    return '''\n", "parse"),
        ("f", "def f(a, b=2):\n    return 1 \\\n", "parse"),
        ("f", "class f: pass\n", "same kind"),
        ("f", "def f(a, b=2):\n    return os.getcwd() + a\n", "equals"),
        ("A.p", "    def p(self):\n        return 1\n", "decorators"),
        ("A.p", "    @property\n    def p(self):\n        return 1\nos._exit(0)\n", "indentation"),
        ("A.p", "@property\ndef p(self):\n    return 1\n", "indentation"),
        ("f", "[" * 5_000 + "]" * 5_000 + "\n", "brackets"),
    ],
)
def test_what_is_refused_is_refused_in_words(tree, qualname: str, new: str, reason: str) -> None:
    said = _said(_candidate(qualname, new), tree(m=TEXT))
    assert said
    assert re.search(reason, said), said


@pytest.mark.parametrize(
    ("qualname", "new", "kind", "imports"),
    [
        (*_f("return os.getcwd() + b"), "function", ()),
        (*_f("return os.path.join(os.getcwd(), a)"), "function", ()),
        (*_f("return urllib.parse.quote(a)"), "function", ()),
        (*_f("x = OD()\nx['a'] = 1\nreturn x.x"), "function", ()),
        (*_f("return getattr(a, 'p', None)"), "function", ()),
        (*_f("return hasattr(a, '__get__')"), "function", ()),
        (*_f("from tokenize import NAME\nreturn a == NAME"), "function", ()),
        (*_f("from token import OF_ANOTHER_PYTHON\nreturn a == OF_ANOTHER_PYTHON"), "function", ()),
        (*_f("return '{0.x}{}{1[k]:>{2}}'.format(a, a, b)"), "function", ()),
        (*_f("from inspect import isclass\nreturn isclass(a)"), "function", ()),
        (*_f("try:\n    return a\nexcept ValueError:\n    return b"), "function", ()),
        (*_f("try:\n    return a\nexcept (os.error, KeyError):\n    return b"), "function", ()),
        (*_f("return re.sub('a', 'b', a)"), "function", ("import re",)),
        (*_f("from io import StringIO\nreturn StringIO(a)"), "function", ()),
        (*_f("from datetime import datetime as d\nreturn d.now().isoformat()"), "function", ()),
        (*_f("return type(a)(b) if isinstance(a, type) else b"), "function", ()),
        (*_f("return type(a).__name__ + a.__class__.__name__"), "function", ()),
        (*_f("return g(A(), h)"), "function", ()),
        (*_f("global RATE\nRATE = 2"), "function", ()),
        ("f", "def f(a, math=2):\n    return math\n", "function", ()),
        ("f", "def f(a, open=2):\n    return open\n", "function", ()),
        ("g", "def g(obj, name):\n    try:\n        return getattr(obj, name).__dict__['x']\n"
              "    except:\n        return 0\n", "function", ()),
        ("A.p", "    @property\n    def p(self):\n        return self.x\n", "function", ()),
        ("A.p", "    @property\n    def p(self):\n        super().__init__(1)\n"
                "        return self.x\n", "function", ()),
        ("A.p", "    @property\n    def p(self):\n        return self.__len__()\n",
         "function", ()),
        ("A.__init_subclass__", "    def __init_subclass__(cls, x):\n"
         "        super().__init_subclass__()\n", "function", ()),
        ("RATE", "RATE, KEEP = 3, 5\n", "assignment", ()),
        ("A.K", '    K = {"a": 2}\n', "class_attribute", ()),
        ("f.b", "def f(a, b=3):\n", "default", ()),
    ],
)  # fmt: skip
def test_ordinary_repairs_pass(tree, qualname: str, new: str, kind: str, imports) -> None:
    candidate, made = _candidate(qualname, new, kind, *imports), tree(m=TEXT)
    assert _said(candidate, made) == ""


@pytest.mark.parametrize(
    ("qualname", "new", "kind", "imports", "reason"),
    [
        ("RATE", "RATES, KEEP = 3, 4\n", "assignment", (), "more than the value"),
        ("RATE", "RATE, KEEP = 3, 4; X = 1\n", "assignment", (), "more than the value"),
        ("RATE", "RATE, KEEP = eval('3'), 4\n", "assignment", (), "eval"),
        ("A.K", '    K: int = {"a": 2}\n', "class_attribute", (), "more than the value"),
        ("f.b", "def f(a, c=3):\n", "default", (), "more than the value"),
        ("f.b", "def f(a, b=open('x')):\n", "default", (), "open"),
        ("f", "def f(a, b=2):\n    return 1\n", "function", ("import socket",), "socket"),
        ("f", "def f(a, b=2):\n    return 1\n", "function", ("import math as os",), "rebind"),
        ("f", "def f(a, b=2):\n    return 1\n", "function", ("print(1)",), "no import"),
    ],
)
def test_values_defaults_and_imports_have_rails_too(
    tree, qualname: str, new: str, kind: str, imports: tuple[str, ...], reason: str
) -> None:
    assert reason in _said(_candidate(qualname, new, kind, *imports), tree(m=TEXT))


@pytest.mark.parametrize("name", ["tests__m", "setup", "conftest", "test_m", "docs__m"])
def test_protected_files_are_never_changed(tree, name: str) -> None:
    path = name.replace("__", "/") + ".py"
    target = functions.index_targets(path, TEXT)[0]
    edit = Edit(target, "RATE, KEEP = 3, 5\n")
    assert "never changed" in patch_policy.check_candidate(
        Candidate((edit,), "m", "x"), tree(**{name: TEXT})
    )


def test_unknown_and_empty_candidates_are_refused(tree) -> None:
    made = tree(m="def f(): pass\n")
    assert "changes nothing" in patch_policy.check_candidate(Candidate((), "m", "x"), made)
    assert "no such target" in patch_policy.check_candidate(_candidate(*_f("return 1")), made)
    assert "not in commit" in patch_policy.check_candidate(_candidate(*_f("return 1")), tree(n=""))
    many = _candidate(*_f("return 1")).edits * 9
    assert "at most 8" in patch_policy.check_candidate(Candidate(many, "m", "x"), made)


def test_a_method_of_the_project_with_the_name_of_an_effectful_one_is_a_doubt(tree) -> None:
    text = "class Info:\n    def is_dir(self): ...\n\n\ndef f(a):\n    return a\n"
    target = functions.find_target(functions.index_targets("m.py", text), "f", "function")
    candidate = Candidate((Edit(target, "def f(a):\n    return a.is_dir()\n"),), "m", "x")
    assert _said(candidate, tree(m=text)) == ""
    (doubt,) = patch_policy.list_doubts(candidate, tree(m=text))
    assert doubt == "f newly uses .is_dir, a name of the project and of what is not"
    assert "uses .is_dir" in _said(candidate, tree(m=text.replace("is_dir", "is_big")))


def test_an_else_for_the_condition_around_a_function_is_refused(tree) -> None:
    text = "import sys\n\nif sys.platform:\n    def f(x):\n        return x\n"
    target = functions.find_target(functions.index_targets("m.py", text), "f")
    assert target is not None
    new = f"{target.source}else:\n    import os\n    os._exit(0)\n"
    candidate = Candidate((Edit(target, new),), "m", "x")
    assert "indentation" in patch_policy.check_candidate(candidate, tree(m=text))


def test_a_name_that_another_edit_binds_is_known(tree) -> None:
    text = "most = 1\n\n\ndef h():\n    return 1\n"
    target = functions.find_target(functions.index_targets("m.py", text), "h")
    first = line_targets.make_target("m.py", text, 1, 1)
    assert target is not None
    assert first is not None
    use = Edit(target, "def h():\n    return limit\n")
    bind = Edit(first, "limit = 1\n")
    assert "limit is bound nowhere" in _said(Candidate((use,), "m", "x"), tree(m=text))
    assert _said(Candidate((bind, use), "m", "x"), tree(m=text)) == ""


def test_of_two_targets_of_one_name_each_is_read(tree) -> None:
    text = "def f():\n    return 1\n\n\ndef f():\n    return 2\n"
    first, last = functions.index_targets("m.py", text)
    edits = Edit(first, "def f():\n    return limit\n"), Edit(last, "def f():\n    return 3\n")
    assert _said(Candidate(edits, "m", "x"), tree(m=text)) == "f: limit is bound nowhere"


@pytest.mark.parametrize(
    ("text", "new", "refused"),
    [
        ("def f(a):\n    return a\n", "def f(a):\n    return b\n", True),
        ("def f(a):\n    b = a\n    return b\n", "def f(a):\n    c = a\n    return b\n", True),
        ("def f(a):\n    return a\n\n\ndef g():\n    b = 1\n", "def f(a):\n    return b\n", True),
        ("def f(a):\n    return b\n", "def f(a):\n    return b + a\n", False),
        ("def f(a):\n    return a\n\n\nb = 1\n", "def f(a):\n    return b\n", False),
        ("from m import *\n\n\ndef f(a):\n    return a\n", "def f(a):\n    return b\n", False),
        ("def f(a):\n    return a\n\n\ndef g():\n    global b\n    b = 1\n",
         "def f(a):\n    return b\n", False),
        ("def f(a):\n    return a\n\n\ndef g():\n    return b\n",
         "def f(a):\n    return b\n", False),
    ],
    ids=["no such name", "a variable that was renamed in part", "of another function",
         "used before", "of the module", "perhaps imported", "of the module, bound elsewhere",
         "used elsewhere"],
)  # fmt: skip
def test_a_name_that_nothing_binds_is_refused_though_no_test_comes_there(
    tree, text: str, new: str, refused: bool
) -> None:
    target = functions.find_target(functions.index_targets("m.py", text), "f")
    assert target is not None
    said = patch_policy.check_candidate(Candidate((Edit(target, new),), "m", "x"), tree(m=text))
    assert said == ("f: b is bound nowhere" if refused else "")


def test_what_takes_a_commit_back_whole_may_be_as_large_as_a_commit(tree) -> None:
    text = "\n\n".join(f"def f{n}(a):\n    return a\n" for n in range(51))
    made = tree(m=text)
    edits = tuple(
        Edit(one, one.source.replace("return a", "return 1"))
        for one in functions.index_targets("m.py", text)
    )

    def check(count: int, undoes: str) -> str:
        candidate = Candidate(edits[:count], "history", "x", undoes=undoes)
        return patch_policy.check_candidate(candidate, made)

    assert check(50, "b" * 40) == ""
    assert "at most 50" in check(51, "b" * 40)
    assert "at most 8" in check(9, "")


def test_comments_that_another_encoding_makes_code_are_refused(tree) -> None:
    text = "def f(a):\n    return a\n"
    (target, *_) = functions.index_targets("m.py", text)
    new = "# coding: unicode_escape\ndef f(a):\n    # \\x0a    steal()\n    return a\n"
    said = patch_policy.check_candidate(Candidate((Edit(target, new),), "m", "x"), tree(m=text))
    assert "encoding" in said


def test_doubts_name_what_a_reviewer_should_look_at(tree) -> None:
    new = "def f(a, *, b=2):\n    try:\n        return 1\n    except Exception:\n        return 2\n"
    candidate = _candidate("f", new, "function", "import re")
    assert patch_policy.check_candidate(candidate, tree(m=TEXT)) == ""
    assert patch_policy.list_doubts(candidate, tree(m=TEXT)) == (
        "m.py gains `import re`",
        "f changes its signature",
        "f newly catches every Exception",
    )
    assert patch_policy.list_doubts(_candidate(*_f("return 1")), tree(m=TEXT)) == ()


@pytest.mark.parametrize(
    ("head", "told"),
    [
        ("def f(a: int, b: str = 2) -> int:", ("f changes its annotations",)),
        ("def f(a: int, c: str = 2) -> int:", ("f changes its signature",)),
        ("def f(a, b=3):", ("f changes its signature",)),
    ],
)
def test_annotations_are_told_apart_from_how_a_function_is_called(tree, head, told) -> None:
    candidate = _candidate("f", f"{head}\n    return os.getcwd() + a\n")
    assert patch_policy.list_doubts(candidate, tree(m=TEXT)) == told


PROJECT = {
    "pkg/a.py": "import os\nfrom pkg import b\nfrom .b import helper, opened, read_text\n\n\n"
    "def f(x):\n    return x\n",
    "pkg/b.py": "import subprocess\nfrom os import system\nfrom .c import LIMIT\n\n"
    "opened = open\nrun = lambda x: subprocess.run(x)\n\n\n"
    "def helper(x):\n    return x\n\n\nclass Kind:\n    def measure(self): ...\n",
    "pkg/c.py": "LIMIT = 3\n",
}


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("return helper(x)", ""),
        ("return b.helper(x)", ""),
        ("return b.LIMIT", ""),
        ("return x.measure()", ""),
        ("from .c import LIMIT\n    return LIMIT", ""),
        ("from pkg import c\n    return c.LIMIT", ""),
        ("return opened(x)", "uses open"),
        ("return b.system(x)", "uses os.system"),
        ("return b.subprocess.run(x)", "uses subprocess.run"),
        ("return b.run(x)", "uses subprocess.run"),
        ("from .b import system as s\n    return s(x)", "uses os.system"),
        ("return read_text(x)", "which is not defined there"),
        ("return b.missing", "which is not defined there"),
        ("return x.read_text()", "uses .read_text"),
        ("b.helper = x", "changes b.helper"),
        ("return nowhere(x)", "nowhere is bound nowhere"),
    ],
)
@pytest.mark.parametrize("package", [PROJECT, {**PROJECT, "pkg/__init__.py": ""}], ids=len)
def test_a_name_of_the_project_is_followed_to_what_it_stands_for(
    tree, package, body: str, reason: str
) -> None:
    path, text = "pkg/a.py", PROJECT["pkg/a.py"]
    made = replace(tree(), files={name: text.encode() for name, text in package.items()})
    target = functions.find_target(functions.index_targets(path, text), "f", "function")
    edit = Edit(target, f"def f(x):\n    {body}\n")
    said = _said(Candidate((edit,), "m", "x"), made)
    assert (said == "") if reason == "" else (reason in said), said


def test_an_import_that_a_function_lacked_is_no_reach_and_one_under_another_name_is(tree) -> None:
    text = "def f(a):\n    return os.getcwd() + total(a)\n"
    target = functions.index_targets("m.py", text)[0]
    new = text.replace("total(a)", "total(a) * 1")

    def said(line: str) -> str:
        return _said(Candidate((Edit(target, new, (line,)),), "m", "x"), tree(m=text))

    assert said("import os") == ""
    assert said("from pathlib import Path") != ""
    assert "uses os.system" in said("from os import system as total")


def test_what_is_only_unclear_is_a_doubt(tree) -> None:
    text = "import numpy as np\n\n\ndef f(a):\n    return np.array(a)\n"
    target = functions.index_targets("m.py", text)[0]
    new = text.partition("\n\n\n")[2].replace("np.array(a)", "np.sort(np.array(a)).squeeze()")
    candidate = Candidate((Edit(target, new),), "m", "x")
    assert _said(candidate, tree(m=text)) == ""
    assert patch_policy.list_doubts(candidate, tree(m=text)) == (
        "f newly uses .squeeze",
        "f newly uses numpy.sort",
    )


def test_a_person_decides_on_a_change_of_a_plugin_of_pytest(tree) -> None:
    entry = b"[project.entry-points.pytest11]\nmine = 'm'\n"
    made = replace(tree(m=TEXT), files={**tree(m=TEXT).files, "pyproject.toml": entry})
    edits = _candidate(*_f("return a - b")).edits
    said = "m.py takes part in the run of the tests: that they pass says less"
    own, back = (Candidate(edits, "m", "x", undoes=undoes) for undoes in (None, ""))
    assert (_said(own, made), patch_policy.list_doubts(own, made)) == ("", ())
    assert patch_policy.list_decisions(own, made) == (said,)
    assert patch_policy.list_decisions(back, made) == (said,)


def test_what_takes_a_commit_back_may_reach_for_what_the_function_did_before_it(tree) -> None:
    former = TEXT.replace("return os.getcwd() + a", "return os.getlogin() + a")
    made = replace(tree(m=TEXT), earlier={"m.py": former.encode()})
    edit = _candidate(*_f("return os.getlogin() + a")).edits
    assert "os.getlogin" in _said(Candidate(edit, "m", "x"), made)
    back = Candidate(edit, "history", "x", undoes="")
    assert _said(back, made) == ""
    assert patch_policy.list_doubts(back, made) == ("f uses os.getlogin again",)
    assert _said(Candidate(_candidate(*_f("return os.abort()")).edits, "h", "x", undoes=""), made)


@pytest.mark.parametrize(
    "body",
    [
        "return a.replace('x', b)",
        "return a.replace(day=b)",
        "made = A(kind=int)\nmade.x = b\nreturn made",
        "import copy\nmade = copy.copy(a)\nmade.x = b\nreturn made",
        "for one in a:\n    one.x = b\nreturn a",
        "raise TypeError(f'{type(a).__name__} is no {a.__class__.__name__}')",
        "return type(a)(b) if type(a) is not A else None",
        "return a.__class__(b)",
        "import functools\n@functools.wraps(a)\ndef inner():\n    return a()\nreturn inner",
        "from functools import wraps\nreturn wraps(a)(b)",
        "import inspect\nreturn inspect.signature(a).parameters",
        "import enum\nreturn a.value if isinstance(a, enum.Enum) else a",
        "import time\nreturn time.time() - a",
        "import io\nout = io.StringIO()\nout.write(a)\nreturn out.getvalue()",
    ],
)
def test_what_changes_nothing_that_others_have_passes(tree, body: str) -> None:
    assert _said(_candidate(*_f(body)), tree(m=TEXT)) == ""


def test_a_name_in_a_comment_does_not_count_for_the_code_that_takes_its_place(tree) -> None:
    text = "import os\n\n\ndef f(x)\n    # debug: os.remove(x) 'os.unlink'\n    return x\n"
    target = line_targets.make_target("m.py", text, 4, 6)
    for call in ("os.remove(x)", "os.unlink(x)"):
        edit = Edit(target, f"def f(x):\n    {call}\n    return x\n")
        assert call[:9] in _said(Candidate((edit,), "m", "x"), tree(m=text))
