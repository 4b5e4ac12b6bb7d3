"""What a patch may not touch or reach for."""

from __future__ import annotations

import pytest

from heal_bot.core.model import Candidate, Edit
from heal_bot.source import functions, patch_policy

TEXT = """\
import os
import math
import urllib.parse
from collections import OrderedDict as OD

RATE, KEEP = 3, 4


class A:
    K = {"a": 1}

    @property
    def p(self):
        return self.x + 1

    def __len__(self):
        return 1


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


def _f(body: str) -> tuple[str, str]:
    return "f", "def f(a, b=2):\n" + "".join(f"    {line}\n" for line in body.split("\n"))


@pytest.mark.parametrize(
    ("qualname", "new", "reason"),
    [
        (*_f("return os._exit(0)"), "_exit"),
        (*_f("o = os\nreturn o.system('x')"), "uses os"),
        (*_f("import os as o\nreturn o.abort()"), "imports os"),
        (*_f("import inspect\nreturn inspect.stack()"), "inspect"),
        (*_f("return hasattr(a, eval('b'))"), "computed name"),
        (*_f("return getattr(a, '__class__')"), "__class__"),
        (*_f("import subprocess\nreturn subprocess.run(a)"), "subprocess"),
        (*_f("from os import _exit\n_exit(0)"), "os._exit"),
        (*_f("return math.sys.exit()"), "math.sys.exit"),
        (*_f("return urllib.parse.sys.exit()"), "sys.exit"),
        (*_f("return urllib.request.urlopen(a)"), "urllib.request"),
        (*_f("return eval(a)"), "eval"),
        (*_f("return open(a)"), "open"),
        (*_f("return __import__('x')"), "__import__"),
        (*_f("raise SystemExit"), "SystemExit"),
        (*_f("exit(0)"), "exit"),
        (*_f("try:\n    pass\nexcept BaseException:\n    pass"), "BaseException"),
        (*_f("try:\n    pass\nexcept:\n    pass"), "bare except"),
        (*_f("return a.__class__"), "__class__"),
        (*_f("return a.__len__()"), "__len__"),
        ("A.p", "    @property\n    def p(self):\n        return self.__dict__\n", "__dict__"),
        ("g", "def g(obj, name):\n    return os.getpid()\n", "os.getpid"),
        (*_f("return super().__init__.__globals__"), "__globals__"),
        (*_f("return super().__getattribute__(b)"), "__getattribute__"),
        (*_f("return a.__init__(b)"), "__init__"),
        (*_f("return f'{a.__class__}'"), "__class__"),
        (*_f("return '{0.__class__}'.format(a)"), "__class__"),
        (*_f("return getattr(a, '_' + b)"), "computed"),
        (*_f("return a.gi_frame.f_back"), "f_back|gi_frame"),
        (*_f("math.sqrt = a"), "changes math.sqrt"),
        (*_f("math.x['y'] = a"), "changes math.x"),
        (*_f("global RATE\nRATE = 2"), "global"),
        (*_f("class E:\n    def __eq__(s, o): return True\nreturn E()"), "__eq__"),
        (*_f("class E:\n    __eq__ = lambda s, o: True\nreturn E()"), "__eq__"),
        (*_f("class E:\n    from operator import is_not as __eq__\nreturn E()"), "__eq__"),
        (*_f("return type('E', (), dict(__eq__=max))()"), "type with three"),
        (*_f("return type('E', (), {'_' * 2 + 'eq': max})()"), "type with three"),
        (*_f("return dict(__eq__=max)"), "__eq__"),
        (*_f("return math._os.getpid()"), "math._os"),
        (*_f("m = math\nreturn m.x"), "uses math"),
        (*_f("return OD.x._getframe(1)"), "_getframe"),
        (*_f("return getattr(a, 'f_locals')"), "f_locals"),
        (*_f("put = setattr\nput(a, b, 1)"), "passes setattr on"),
        (*_f("return list(map(getattr, [a], [b]))"), "passes getattr on"),
        (*_f("from test.support import ALWAYS_EQ\nreturn ALWAYS_EQ"), "test.support"),
        (*_f("return getattr(math, 'sys')"), "uses math"),
        (*_f("from typing import get_type_hints\nreturn get_type_hints(a)"), "get_type_hints"),
        (*_f("return a.read_text()"), "opens files"),
        (*_f("return a / 'tests/test_m.py'"), "test_m"),
        (*_f("if 'PYTEST_CURRENT_TEST' in a: return 1"), "PYTEST"),
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
    said = patch_policy.check_candidate(_candidate(qualname, new), tree(m=TEXT))
    assert said
    import re

    assert re.search(reason, said), said


@pytest.mark.parametrize(
    ("qualname", "new", "kind", "imports"),
    [
        (*_f("return os.getcwd() + b"), "function", ()),
        (*_f("return os.path.join(os.getcwd(), a)"), "function", ()),
        (*_f("return urllib.parse.quote(a)"), "function", ()),
        (*_f("x = OD()\nx['a'] = 1\nreturn x.a"), "function", ()),
        (*_f("return getattr(a, 'b', None)"), "function", ()),
        (*_f("return hasattr(a, '__get__')"), "function", ()),
        (*_f("from inspect import isclass\nreturn isclass(a)"), "function", ()),
        (*_f("try:\n    return a\nexcept ValueError:\n    return b"), "function", ()),
        (*_f("return re.sub('a', 'b', a)"), "function", ("import re",)),
        (*_f("from io import StringIO\nreturn StringIO(a)"), "function", ()),
        (*_f("return type(a)(b)"), "function", ()),
        ("f", "def f(a, math=2):\n    return math\n", "function", ()),
        ("g", "def g(obj, name):\n    try:\n        return getattr(obj, name).__dict__['x']\n"
              "    except:\n        return 0\n", "function", ()),
        ("A.p", "    @property\n    def p(self):\n        return self.x\n", "function", ()),
        ("A.p", "    @property\n    def p(self):\n        super().__init__(1)\n"
                "        return self.x\n", "function", ()),
        ("A.p", "    @property\n    def p(self):\n        return self.__len__()\n",
         "function", ()),
        ("g", "def g(obj, name):\n    return os.getcwd() + name\n", "function", ()),
        ("RATE", "RATE, KEEP = 3, 5\n", "assignment", ()),
        ("A.K", '    K = {"a": 2}\n', "class_attribute", ()),
        ("f.b", "def f(a, b=3):\n", "default", ()),
    ],
)  # fmt: skip
def test_ordinary_repairs_pass(tree, qualname: str, new: str, kind: str, imports) -> None:
    assert (
        patch_policy.check_candidate(_candidate(qualname, new, kind, *imports), tree(m=TEXT)) == ""
    )


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
    assert reason in patch_policy.check_candidate(
        _candidate(qualname, new, kind, *imports), tree(m=TEXT)
    )


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


def test_what_takes_a_commit_back_whole_may_be_as_large_as_a_commit(tree) -> None:
    made = tree(m=TEXT)
    edit = _candidate(*_f("return 1")).edits
    assert (
        patch_policy.check_candidate(Candidate(edit * 50, "history", "x", undoes="b" * 40), made)
        == ""
    )
    assert "at most 50" in patch_policy.check_candidate(
        Candidate(edit * 51, "history", "x", undoes="b" * 40), made
    )
    assert "at most 8" in patch_policy.check_candidate(
        Candidate(edit * 9, "history", "x", undoes=""), made
    )


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
