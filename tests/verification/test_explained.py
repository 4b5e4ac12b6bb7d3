"""Red for other reasons: what is told from a fault of the code, and what only looks like it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from heal_bot.core.model import (
    Baseline,
    CaseResult,
    ChangedFile,
    Environment,
    Failure,
    Frame,
    Origin,
    Regression,
    Removal,
    Reproduced,
    Spectrum,
)
from heal_bot.core.statuses import FailureStatus
from heal_bot.verification import (
    dependency_causes,
    non_code_causes,
    stored_expectations,
    unfinished_code,
)
from heal_bot.verification.baseline import reproduce
from tests.fakes import (
    ENVIRONMENT,
    FolderTree,
    ScriptedRunner,
    context_of,
    passed,
    quiet_run,
    suite,
)

T = "tests/test_a.py::test_one"
SITE = "/env/lib/python3.11/site-packages/"
TEST = Frame("tests/test_a.py", 4, "test_one", Origin.TEST)


@dataclass(frozen=True)
class History(FolderTree):
    """A tree whose commits changed these lines, and files that were otherwise before."""

    lines: tuple[tuple[str, frozenset[int]], ...] = ()
    before: tuple[tuple[str, str], ...] = ()

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return dict(self.lines)

    def changed_paths(self) -> tuple[str, ...]:
        return (*dict(self.lines), *(p for p, _ in self.before if p not in dict(self.lines)))

    def former(self, path: str) -> bytes | None:
        found = dict(self.before).get(path)
        return None if found is None else found.encode()


def ours(line: int = 2, path: str = "shop.py") -> Frame:
    return Frame(path, line, "price", Origin.PROJECT)


def theirs(path: str = f"{SITE}lib/core.py", function: str = "get") -> Frame:
    return Frame(path, 9, function, Origin.LIBRARY)


def red(kind: str, message: str, *frames: Frame) -> CaseResult:
    return CaseResult(T, "failed", kind=kind, message=message, frames=(TEST, *frames))


def told(tmp_path: Path, seen: CaseResult, code: str, test: str = "", **files: str) -> str:
    texts = {"shop.py": code, "tests/test_a.py": test, **files}
    tree = FolderTree.of(tmp_path, texts)
    reported = Failure(seen.test, seen.kind, seen.message, seen.frames)
    return non_code_causes.explain_environment(seen, reported, tree, ENVIRONMENT)


TOKEN = "import os\ntoken = os.environ['SHOP_TOKEN']\n"
RAISES = "def price():\n    raise RuntimeError('set the environment variable SHOP_TOKEN')\n"


@pytest.mark.parametrize(
    ("seen", "code", "test", "named"),
    [
        (red("KeyError", "'SHOP_TOKEN'", ours(), Frame("<frozen os>", 680, "__getitem__",
             Origin.LIBRARY)), TOKEN, "", "SHOP_TOKEN is not set"),
        (red("KeyError", "'SHOP_TOKEN'", ours()), TOKEN, "", "SHOP_TOKEN is not set"),
        (red("RuntimeError", "set the environment variable SHOP_TOKEN", ours()), RAISES, "",
         "SHOP_TOKEN is not set"),
        # The test sets it, or one that is written almost so; a dictionary of the code's own.
        (red("KeyError", "'SHOP_TOKEN'", ours()), TOKEN,
         "def test_one(monkeypatch):\n    monkeypatch.setenv('SHOP_KEY', 'x')\n", ""),
        (red("KeyError", "'SHOP_TOKNE'", ours()), TOKEN.replace("KEN", "KNE"),
         "# needs SHOP_TOKEN\n", ""),
        (red("KeyError", "'SHOP_TOKEN'", ours()), "def price():\n    return RATES['SHOP_TOKEN']\n",
         "", ""),
        (red("AssertionError", "environment variable SHOP_TOKEN", ours()), RAISES, "", ""),
    ],
)  # fmt: skip
def test_a_variable_that_nobody_sets(
    tmp_path: Path, seen: CaseResult, code: str, test: str, named: str
) -> None:
    said = told(tmp_path, seen, code, test)
    assert (named in said) if named else said == ""


RUN = Frame("/usr/lib/python3.11/subprocess.py", 1955, "_execute_child", Origin.LIBRARY)
NO_FILE = "[Errno 2] No such file or directory: '{}'"
WHICH = "def price():\n    if not shutil.which('x'): raise RuntimeError('pandoc not found')\n"
ASKS = "def price():\n    if not which('pandoc'):\n        raise RuntimeError('pandoc not found')\n"


@pytest.mark.parametrize(
    ("seen", "code", "named"),
    [
        (red("FileNotFoundError", NO_FILE.format("pandoc-x"), ours(), RUN), "", "program pandoc-x"),
        (red("CalledProcessError", "Command 'pandocx a.md' returned non-zero exit status 127.",
             ours(), RUN), "", "program pandocx"),
        (red("RuntimeError", "pandoc not found", ours(3)), ASKS, "program pandoc"),
        (red("ExecutableNotFound", "failed to execute PosixPath('dotx'), make sure it is there",
             ours(), theirs()), "", "program dotx"),
        # A path that the code built; a name that is misspelt; a customer who is not there.
        (red("FileNotFoundError", NO_FILE.format("data/rates.csv"), ours()), "", ""),
        (red("FileNotFoundError", NO_FILE.format("rates.csv"), ours()), "", ""),
        (red("FileNotFoundError", NO_FILE.format("pythn3"), ours(), RUN), "", ""),
        (red("FileNotFoundError", NO_FILE.format("pandoc-x"), ours(), RUN),
         "def price():\n    run(['pandoc-x', 'a.md'], cwd=OUT)\n", "program pandoc-x"),
        (red("FileNotFoundError", NO_FILE.format("builds"), ours(), RUN),
         "def price():\n    run(['git', 'add'], cwd='builds')\n", ""),
        (red("RuntimeError", "alice not found", ours(2)),
         "def price():\n    raise RuntimeError('alice not found')\n", ""),
        (red("CalledProcessError", "Command 'git x' returned non-zero exit status 1.", ours(), RUN),
         "", ""),
    ],
)  # fmt: skip
def test_a_program_that_is_missing(tmp_path: Path, seen: CaseResult, code: str, named: str) -> None:
    said = told(tmp_path, seen, code)
    assert (named in said) if named else said == ""


REFUSED = "[Errno 111] Connection refused"


@pytest.mark.parametrize(
    ("kind", "message", "frames", "code", "is_known"),
    [
        ("ConnectionRefusedError", REFUSED, (ours(), theirs("/usr/lib/python3.11/socket.py")), "",
         True),
        ("ConnectionRefusedError", REFUSED, (ours(),), "s = socket()\ns.connect(('h', 1))\n", True),
        ("SocketBlockedError", "A test tried to use socket.socket.", (ours(), theirs()), "", True),
        ("ConnectionError", "Error 111 connecting to localhost:6379. Connection refused.",
         (ours(), theirs()), "", True),
        # What a fake raises on purpose, and the code should have handled.
        ("ConnectionError", "connection refused", (ours(),), "def price():\n    raise "
         "ConnectionError('connection refused')\n", False),
        ("ConnectionRefusedError", REFUSED, (ours(), theirs("/lib/unittest/mock.py")), "", False),
        ("PermissionError", "[Errno 13] Permission denied: 'out/a.txt'", (ours(),),
         "os.chmod('out', 0)\nopen('out/a.txt')\n", False),
    ],
)  # fmt: skip
def test_a_service_that_does_not_answer(
    tmp_path: Path, kind: str, message: str, frames: tuple[Frame, ...], code: str, is_known: bool
) -> None:
    assert bool(told(tmp_path, red(kind, message, *frames), code)) is is_known


@pytest.mark.parametrize(
    ("kind", "message", "frames", "named"),
    [
        ("DeprecationWarning", "get() goes", (ours(), theirs()), "DeprecationWarning of lib"),
        ("UserWarning", "this API is deprecated", (ours(), theirs()), "UserWarning of"),
        ("RemovedInDjango60Warning", "x: y", (ours(), theirs()), "ignore:x:RemovedInDjango60"),
        ("DeprecationWarning", "utcnow() is deprecated", (ours(),
         theirs("/usr/lib/python3.12/locale.py")), "of Python 3.11.2"),
        # By the project's own hand, and what is a fault and not a farewell.
        ("DeprecationWarning", "utcnow() is deprecated", (ours(),), ""),
        ("RuntimeWarning", "divide by zero", (ours(), theirs()), ""),
        ("ResourceWarning", "unclosed file", (ours(), theirs()), ""),
        ("UserWarning", "the value is out of bounds", (ours(), theirs()), ""),
        ("Failed", "DID NOT WARN. DeprecationWarning", (theirs(),), ""),
    ],
)  # fmt: skip
def test_a_warning_that_is_an_error(
    tmp_path: Path, kind: str, message: str, frames: tuple[Frame, ...], named: str
) -> None:
    said = told(tmp_path, red(kind, message, *frames), "import lib\nlib.get()\n")
    assert (named in said) if named else said == ""


@pytest.fixture
def installed(tmp_path: Path) -> Environment:
    site = tmp_path / "env/lib/python3.11/site-packages"
    FolderTree.of(site, {"lib/__init__.py": "def total(): ...\nclass Client: ...\n",
                         "lib_kit-2.0.dist-info/top_level.txt": "lib\n"})  # fmt: skip
    return replace(ENVIRONMENT, prefix=str(tmp_path / "env"))


TEXT = "'str' object has no attribute 'decode'"
USES = "import lib\nlib.amount(cents=1)\n"


@pytest.mark.parametrize(
    ("kind", "message", "code", "changed", "named"),
    [
        ("AttributeError", "module 'lib' has no attribute 'amount'", USES, (), "lib_kit 2.0"),
        ("TypeError", "amount() got an unexpected keyword argument 'cents'", USES, (), "lib_kit"),
        ("TypeError", "Client.__init__() got an unexpected keyword argument 'cents'",
         "from lib import Client\nClient(cents=1)\n", (), "lib_kit"),
        ("AttributeError", "module 'lib' has no attribute 'amount'", USES, (9,), "lib_kit"),
        ("AttributeError", TEXT, "import lib\nlib.total(1).decode('ascii')\n", (), "lib_kit 2.0"),
        ("AttributeError", TEXT, "import lib\nlib.total(1).decode('ascii')\n", (2,), ""),
        ("AttributeError", TEXT, "import shop\nshop.total(1).decode('ascii')\n", (), ""),
        ("AttributeError", TEXT, "import lib\nA = lib.total(1)\nA.decode('ascii')\n", (), ""),
        # A name that is misspelt, a call that the commits wrote, a function of the project.
        ("AttributeError", "module 'lib' has no attribute 'totl'", USES, (), ""),
        ("AttributeError", "module 'lib' has no attribute 'totl'", USES, (9,), ""),
        ("AttributeError", "module 'lib' has no attribute 'amount'", USES, (2,), ""),
        ("AttributeError", "module 'shop' has no attribute 'amount'", USES, (), ""),
        ("TypeError", "price() got an unexpected keyword argument 'cents'", USES, (), ""),
        ("ModuleNotFoundError", "No module named 'libb'", USES, (), ""),
    ],
)  # fmt: skip
def test_a_package_that_is_another_than_the_code_was_written_for(
    tmp_path: Path, installed: Environment, kind: str, message: str, code: str,
    changed: tuple[int, ...], named: str,
) -> None:  # fmt: skip
    made = FolderTree.of(tmp_path / "tree", {"shop.py": code})
    lines = (("shop.py", frozenset(changed)),) if changed else ()
    said = dependency_causes.explain_dependency(
        red(kind, message, ours()), History(made.root, lines=lines), installed
    )
    assert (named in said) if named else said == ""


def test_a_module_that_a_commit_took_away_is_no_package(tmp_path: Path) -> None:
    @dataclass(frozen=True)
    class Gone(FolderTree):
        def removal(self, path: str, name: str) -> Removal | None:
            return Removal("a" * 40, "Move rates", f"src/{path}", b"", "src/prices.py")

    seen = red("ModuleNotFoundError", "No module named 'rates'", ours())
    texts = {"src/shop.py": "import rates\n", "src/invoicing.py": ""}
    assert dependency_causes.explain_dependency(seen, FolderTree.of(tmp_path, texts), ENVIRONMENT)
    assert not dependency_causes.explain_dependency(seen, Gone(tmp_path), ENVIRONMENT)
    misspelt = red("ModuleNotFoundError", "No module named 'invoiceing'", ours())
    assert not dependency_causes.explain_dependency(misspelt, FolderTree(tmp_path), ENVIRONMENT)


def test_a_variable_that_a_fixture_reads_is_not_set_by_being_named_there(tmp_path: Path) -> None:
    test = "import os\n\ndef key():\n    return os.environ['SHOP_TOKEN']\n"
    seen = red("KeyError", "'SHOP_TOKEN'", Frame("<frozen os>", 680, "__getitem__", Origin.LIBRARY))
    assert "SHOP_TOKEN is not set" in told(tmp_path, seen, "", test)


def test_a_variable_that_the_code_did_without_before_is_the_code_s_fault(tmp_path: Path) -> None:
    made = FolderTree.of(tmp_path, {"shop.py": TOKEN})
    seen = red("KeyError", "'SHOP_TOKEN'", ours())
    reported = Failure(T, seen.kind, seen.message)
    for before, is_known in ((TOKEN.replace("['SHOP_TOKEN']", ".get('SHOP_TOKEN', '')"), False),
                             ("", True)):  # fmt: skip
        tree = History(made.root, before=(("shop.py", before),))
        assert (
            bool(non_code_causes.explain_environment(seen, reported, tree, ENVIRONMENT)) is is_known
        )


STUB = "def price():\n    '''The price.'''\n    raise NotImplementedError\n"
BASE = f"class Shop:\n    {STUB.replace(chr(10), chr(10) + '    ')}\n"


@pytest.mark.parametrize(
    ("seen", "code", "is_known"),
    [
        (red("NotImplementedError", "", ours(3)), STUB, True),
        (red("NotImplementedError", "TODO: xml", ours(3)),
         "def price(x):\n    if x:\n        raise NotImplementedError('TODO: xml')\n", True),
        # A refusal that is older than the commits.
        (red("NotImplementedError", "TODO: xml", ours(3, "old.py")),
         "def price(x):\n    if x:\n        raise NotImplementedError('TODO: xml')\n", False),
        (red("NotImplementedError", "no xml", ours(3)),
         "def price(x):\n    if x:\n        raise NotImplementedError('no xml')\n", False),
        (red("NotImplementedError", "", ours(4)), f"{BASE}\nclass Own(Shop):\n    pass\n", False),
        (red("NotImplementedError", "", ours(2), theirs()), "def price():\n    f()\n", False),
        (red("AssertionError", "TODO"), "", True),
        (red("ValueError", "TODO", ours(1)), "raise ValueError('TODO')\n", False),
    ],
)  # fmt: skip
def test_what_is_not_written_yet(
    tmp_path: Path, seen: CaseResult, code: str, is_known: bool
) -> None:
    test = "\n\n\n    assert False, 'TODO'\n"
    made = FolderTree.of(tmp_path, {"shop.py": code, "old.py": code, "tests/test_a.py": test})
    tree = History(made.root, lines=(("shop.py", frozenset({3})),))
    assert bool(unfinished_code.explain_unfinished(seen, tree)) is is_known


def test_a_stand_in_of_a_test_that_nothing_may_call_is_no_code_to_be_written(
    tmp_path: Path,
) -> None:
    test = "def test_one():\n    price(fake)\n\ndef fake():\n    raise NotImplementedError\n"
    tree = FolderTree.of(tmp_path, {"shop.py": STUB, "tests/test_a.py": test})
    called = Frame("tests/test_a.py", 5, "fake", Origin.PROJECT)
    seen = red("NotImplementedError", "", ours(1), called)
    assert unfinished_code.explain_unfinished(seen, tree) == ""


def test_a_test_that_waits_for_code_below_a_decorator_of_the_tests_is_unfinished(
    tmp_path: Path,
) -> None:
    test = "def test_it():\n    raise NotImplementedError\n"
    tree = FolderTree.of(tmp_path, {"tests/test_a.py": test})
    outer = Frame("tests/tools.py", 4, "inner", Origin.TEST)
    own = Frame("tests/test_a.py", 2, "test_it", Origin.TEST)
    seen = replace(
        red("NotImplementedError", ""), test="tests/test_a.py::test_it", frames=(outer, own)
    )
    assert "not written yet" in unfinished_code.explain_unfinished(seen, tree)


BRANCH = "def price(a):\n    if a:\n        return 1\n    return 2{}\n"


@pytest.mark.parametrize(
    ("note", "lines", "test_lines", "ran", "is_known"),
    [
        ("  # TODO a discount", {4}, {2}, {2, 4}, True),
        ("  # todo: discount", {4}, {2}, {2}, True),
        ("  # a discount", {4}, {2}, {2, 4}, False),
        ("  # HTTP calls it Not Implemented", {4}, {2}, {2, 4}, False),
        ("  # TODO a discount", {2}, {2}, {2, 4}, False),
        ("  # TODO a discount", {4}, set(), {2, 4}, False),
        ("  # TODO a discount", {4}, {2}, set(), False),
        ("\n    'TODO'", {5}, {2}, {2, 4}, False),
    ],
    ids=["noted", "elsewhere in it", "no such note", "what a value means",
         "an older note", "an older test", "not executed", "a text"],
)  # fmt: skip
def test_a_test_that_came_with_code_whose_author_noted_what_it_lacks(
    tmp_path: Path, note: str, lines: set[int], test_lines: set[int], ran: set[int], is_known: bool
) -> None:
    texts = {"shop.py": BRANCH.format(note), "tests/test_a.py": "def test_one():\n    price(0)\n"}
    changed = (("shop.py", frozenset(lines)), ("tests/test_a.py", frozenset(test_lines)))
    tree = History(FolderTree.of(tmp_path, texts).root, lines=changed)
    places = tuple(("shop.py", line) for line in sorted(ran))
    observed = replace(suite(), spectrum=Spectrum(places, {T: (1 << len(places)) - 1}))
    item = Reproduced(Failure(T, "AssertionError", "assert 2 == 3"), "confirmed")
    (found,) = unfinished_code.mark_unfinished([item], observed, tree)
    assert (found.status == "explained") is is_known
    assert ("is not written yet" in found.failure.reason) is is_known


@pytest.mark.parametrize(
    "body", ["assert price(0) == 3  # TODO more", "def one():\n        pass\n    price(one)"]
)
def test_what_a_test_notes_or_does_nothing_in_is_no_code_to_be_written(
    tmp_path: Path, body: str
) -> None:
    text = f"def test_one():\n    {body}\n"
    changed = (("tests/test_a.py", frozenset(range(1, 5))),)
    tree = History(FolderTree.of(tmp_path, {"tests/test_a.py": text}).root, lines=changed)
    places = tuple(("tests/test_a.py", line) for line in range(1, 5))
    observed = replace(suite(), spectrum=Spectrum(places, {T: 0b1111}))
    item = Reproduced(Failure(T, "AssertionError", "assert 2 == 3"), "confirmed")
    (found,) = unfinished_code.mark_unfinished([item], observed, tree)
    assert found.status == "confirmed"


@pytest.mark.parametrize(
    ("name", "body", "is_known"),
    [("one", "pass", True), ("_one", '"Later."\n    pass', True), ("other", "pass", False),
     ("one", "return 0", False)],
    ids=["nothing", "a docstring", "not what the test is about", "something"],
)  # fmt: skip
def test_a_function_that_does_nothing_yet_is_not_written_yet(
    tmp_path: Path, name: str, body: str, is_known: bool
) -> None:
    texts = {"shop.py": f"def {name}():\n    {body}\n", "tests/test_a.py": "def test_one(): ...\n"}
    changed = (("shop.py", frozenset({1, 2})), ("tests/test_a.py", frozenset({1})))
    tree = History(FolderTree.of(tmp_path, texts).root, lines=changed)
    observed = replace(suite(), spectrum=Spectrum((("shop.py", 2),), {T: 1}))
    item = Reproduced(Failure(T, "AssertionError", "assert None == 1"), "confirmed")
    (found,) = unfinished_code.mark_unfinished([item], observed, tree)
    assert (found.status == "explained") is is_known


@pytest.mark.parametrize(
    ("message", "code", "is_known"),
    [
        ("'Bed' object has no attribute 'water'", "class Bed:\n    def area(self): ...\n", True),
        ("type object 'Bed' has no attribute 'water'", "class Bed: ...\n", True),
        ("'Bed' object has no attribute 'water'", "class Bed:\n    def watr(self): ...\n", False),
        ("'Bed' object has no attribute 'water'", "class Bed:\n    __getattr__ = get\n", False),
        ("'NoneType' object has no attribute 'water'", "class Bed: ...\n", False),
        ("a.Bed.dig() got an unexpected keyword argument 'water'", "def dig(): ...\n", True),
        ("dig() got an unexpected keyword argument 'water'", "def dig(): ...\n", True),
        ("Bed.__init__() got an unexpected keyword argument 'water'", "class Bed: ...\n", True),
        ("Popen.__init__() got an unexpected keyword argument 'water'", "class Bed: ...\n", False),
        ("dig() got an unexpected keyword argument 'water'", "def dig(watr): ...\n", False),
        ("cannot import name 'water' from 'shop' (/a/shop.py)", "def dig(): ...\n", True),
        ("cannot import name 'water' from 'lib.shop' (/b/lib/shop.py)", "def dig(): ...\n", False),
    ],
    ids=["a method", "of the class", "misspelt", "made when asked for", "another object",
         "a parameter", "of an older Python", "of a class", "of another class", "misspelt too",
         "an import", "of another package"],
)  # fmt: skip
def test_a_method_or_parameter_that_nobody_has_written_is_not_written_yet(
    tmp_path: Path, message: str, code: str, is_known: bool
) -> None:
    texts = {"shop.py": code, "tests/test_a.py": "def test_one():\n    Bed().water()\n"}
    made = FolderTree.of(tmp_path, texts)
    item = Reproduced(Failure(T, "AttributeError", message, (TEST,)), "confirmed")
    tree = History(made.root, lines=(("tests/test_a.py", frozenset({2})),))
    (found,) = unfinished_code.mark_unfinished([item], suite(), tree)
    assert (found.status == "explained") is is_known
    # A file of tests that cannot import is called outdated before anybody looks at the name.
    stale = replace(item, status=FailureStatus.STALE_TEST)
    (found,) = unfinished_code.mark_unfinished([stale], suite(), tree)
    assert (found.status == "explained") is (is_known and "import" in message)
    before = replace(tree, before=(("shop.py", "class Bed:\n    def water(self): ...\n"),))
    (found,) = unfinished_code.mark_unfinished([item], suite(), before)
    assert found.status == "confirmed"


SYRUPY = "assert [+ received] == [- snapshot]\n  - 1\n  + 2"
INLINE = "from inline_snapshot import snapshot\n\ndef test_one():\n    assert {}\n"
GOLDEN = """from pathlib import Path

def test_one(pytestconfig):
    assert page() == (Path(__file__).parent / 'golden' / 'page.html').read_text()
"""


@pytest.mark.parametrize(
    ("kind", "message", "test", "files", "named"),
    [
        ("AssertionError", SYRUPY, "", {}, "pytest --snapshot-update"),
        ("AssertionError", "FILES DIFFER:\na.yml\nb.yml", "", {}, "pytest --force-regen"),
        ("ApprovalMismatchException", "Approval Mismatch, received", "", {}, ".received"),
        ("AssertionError", "assert 2 == 1", INLINE.format("f() == snapshot(\n        1\n    )"), {},
         "pytest --inline-snapshot=fix"),
        ("AssertionError", "assert 2 == 1", INLINE.format("f() == 1"), {}, ""),
        ("AssertionError", "assert 'b' == 'a'", GOLDEN, {"tests/golden/page.html": "a"},
         "write the new output to tests/golden/page.html"),
        ("AssertionError", "assert 'b' == 'a'", GOLDEN, {"tests/golden/page.html": "a",
         "tests/conftest.py": "parser.addoption('--update-golden')\n"}, "pytest --update-golden"),
        ("DocTestFailure", "Expected:\n    {'a', 'b'}\nGot:\n    {'b', 'a'}\n", "", {},
         "correct the docstring"),
        ("DocTestFailure", "Expected:\n    1.10\nGot:\n    1.1\n", "", {}, "correct the docstring"),
        # The code stumbles, or an order that means something is another.
        ("KeyError", "'a'", GOLDEN, {"tests/golden/page.html": "a"}, ""),
        ("AssertionError", "assert 'b' == 'a'", GOLDEN, {"docs/golden-age/expected.txt": "a"}, ""),
        ("AssertionError", "assert 'b' == 'a'", "def test_one():\n    assert f() == 'a'\n", {}, ""),
        ("DocTestFailure", "Expected:\n    [1, 2]\nGot:\n    [2, 1]\n", "", {}, ""),
        ("DocTestFailure", "Expected:\n    4\nGot:\n    3\n", "", {}, ""),
    ],
)  # fmt: skip
def test_an_expectation_that_is_kept_elsewhere(
    tmp_path: Path, kind: str, message: str, test: str, files: dict[str, str], named: str
) -> None:
    tree = FolderTree.of(tmp_path, {"shop.py": "", "tests/test_a.py": test, **files})
    (item,) = _stored(tree, (Failure(T, kind, message, (TEST,)),))
    assert item.status == ("stale_test" if named else "confirmed")
    assert named in item.failure.reason


def _stored(
    tree: FolderTree, failures: tuple[Failure, ...], regressions: tuple[Regression, ...] = ()
) -> tuple[Reproduced, ...]:
    ran = replace(suite(), spectrum=Spectrum((("shop.py", 1),), {T: 1}))
    red = tuple(Reproduced(failure, "confirmed") for failure in failures)
    stored = stored_expectations.find_stored(red, ran, tree)
    baseline = Baseline(red, ran, 1, stored=stored)
    return stored_expectations.mark_stale(baseline, regressions).reproduced


@pytest.mark.parametrize(
    ("title", "tests", "status"),
    [
        ("Show more", "", "stale_test"),
        ("Clean up render()", "", "confirmed"),
        ("perf: render once", "", "confirmed"),
        ("Show more", "def test_new(): ...", "confirmed"),
    ],
)
def test_an_expectation_is_not_called_stale_where_its_commit_may_have_slipped(
    tmp_path: Path, title: str, tests: str, status: str
) -> None:
    texts = {"shop.py": "", "tests/test_a.py": GOLDEN, "tests/golden/page.html": "a"}
    changes = (ChangedFile("tests/test_b.py", b"", tests.encode()),)
    broke = Regression("a" * 40, "b" * 40, title, (T,), True, changes)
    failure = Failure(T, "AssertionError", "assert 'b' == 'a'", (TEST,))
    (item,) = _stored(FolderTree.of(tmp_path, texts), (failure,), (broke,))
    assert item.status == status


@pytest.mark.parametrize(
    ("lines", "before", "status"),
    [
        ((("shop.py", frozenset({1})),), (), "stale_test"),
        # The commits changed what is expected, or nothing that the test runs.
        ((("shop.py", frozenset({1})),), (("tests/test_a.py", "x"),), "confirmed"),
        ((("other.py", frozenset({1})),), (), "confirmed"),
    ],
)
def test_a_snapshot_is_left_behind_where_the_code_is_newer(
    tmp_path: Path, lines: tuple[tuple[str, frozenset[int]], ...],
    before: tuple[tuple[str, str], ...], status: str,
) -> None:  # fmt: skip
    made = FolderTree.of(tmp_path, {"shop.py": "", "tests/test_a.py": ""})
    tree = History(made.root, lines=lines, before=before)
    assert _stored(tree, (Failure(T, "AssertionError", SYRUPY),))[0].status == status


def test_another_test_that_fails_as_well_speaks_for_a_fault_of_the_code(tmp_path: Path) -> None:
    tree = FolderTree.of(tmp_path, {"shop.py": "", "tests/test_a.py": ""})
    plain = Failure("tests/test_b.py::test_two", "AssertionError", "assert 1 == 2")
    found = _stored(tree, (Failure(T, "AssertionError", SYRUPY), plain))
    assert {item.status for item in found} == {"confirmed"}


@pytest.mark.parametrize(
    ("kind", "message", "status"),
    [
        ("Failed", "DID NOT RAISE <class 'ValueError'>", "explained"),
        ("KeyError", "'mode'", "not_reproduced"),
        ("Failed", "DID NOT RAISE <class 'PermissionError'>", "explained"),
        ("ConnectionRefusedError", REFUSED, "explained"),
        ("Error", "unsupported locale setting", "explained"),
        ("UnicodeDecodeError", "'ascii' codec can't decode byte 0xc3 in position 1", "explained"),
        ("UnicodeDecodeError", "'utf-8' codec can't decode byte 0xc3 in", "not_reproduced"),
        ("AssertionError", "assert 1 == 2", "not_reproduced"),
    ],
)
def test_what_the_failing_run_lacked_and_this_machine_has(
    tmp_path: Path, kind: str, message: str, status: str
) -> None:
    closes = "path.chmod(0)" if "ValueError" in message or kind == "KeyError" else "pass"
    test = f"def test_one(path):\n    {closes}\n"
    tree = FolderTree.of(tmp_path, {"shop.py": "", "tests/test_a.py": test})
    run, _ = quiet_run()
    reported = (Failure(T, kind, message),)
    runner = ScriptedRunner([suite(passed(T))])
    item = reproduce(context_of(run, runner, tree), reported).reproduced[0]
    assert item.status == status
    assert "passes here" in item.failure.reason or status == "not_reproduced"


@pytest.mark.parametrize(
    ("kind", "message", "told"),
    [
        ("DeprecationWarning", "utcnow() is deprecated", "DeprecationWarning"),
        ("MatplotlibDeprecationWarning", "gone in 3.9", "MatplotlibDeprecationWarning"),
        ("collection failure", "E  SyntaxError: invalid escape sequence", "invalid escape"),
        ("collection failure", 'SyntaxError: "is not" with a literal', '"is not" with'),
        ("collection failure", "E  SyntaxError: invalid syntax", ""),
    ],
)
@pytest.mark.parametrize("test", [T, T.partition("::")[0]])
def test_warnings_that_were_errors_there_are_named_with_the_option_and_nobody_is_blamed(
    tmp_path: Path, test: str, kind: str, message: str, told: str
) -> None:
    tree = FolderTree.of(tmp_path, {"shop.py": "", "tests/test_a.py": "def test_one(): ...\n"})
    run, _ = quiet_run()
    runner = ScriptedRunner([suite(passed(T))])
    failure = Failure(test, kind, message)
    item = reproduce(context_of(run, runner, tree), (failure,)).reproduced[0]
    assert item.status == "not_reproduced"
    assert told in item.failure.reason
    assert ("'pytest -W error'" in item.failure.reason) == bool(told)


@pytest.mark.parametrize(
    ("reported", "status"), [("UnicodeEncodeError", "explained"), ("KeyError", "confirmed")]
)
def test_what_the_failing_run_lacked_explains_a_test_that_fails_here_for_something_else(
    tmp_path: Path, reported: str, status: str
) -> None:
    tree = FolderTree.of(tmp_path, {"shop.py": "", "tests/test_a.py": "def test_one(): ...\n"})
    run, _ = quiet_run()
    failure = Failure(T, reported, "'ascii' codec can't encode character 'x'")
    runner = ScriptedRunner([suite(red("AssertionError", "assert 1 == 2"))])
    item = reproduce(context_of(run, runner, tree), (failure,)).reproduced[0]
    assert item.status == status
    assert ("AssertionError: assert 1 == 2" in item.failure.reason) == (status == "explained")


NOSE = """class TestTill:
    def setup(self):
        self.coins = [1, 2]

    def setup_method(self):
        self.notes = 1

    def test_one(self):
        assert self.coins
"""


@pytest.mark.parametrize(
    ("version", "message", "named"),
    [
        ("8.3.4", "'TestTill' object has no attribute 'coins'", "pytest 8.3.4"),
        ("7.4.0", "'TestTill' object has no attribute 'coins'", ""),
        ("8.3.4", "'TestTill' object has no attribute 'notes'", ""),
        ("8.3.4", "'Till' object has no attribute 'coins'", ""),
    ],
)
def test_a_setup_of_nose_that_pytest_no_longer_calls_is_named(
    tmp_path: Path, version: str, message: str, named: str
) -> None:
    site = f"env/lib/python3.11/site-packages/pytest-{version}.dist-info/METADATA"
    tree = FolderTree.of(tmp_path, {"tests/test_a.py": NOSE, site: ""})
    env = replace(ENVIRONMENT, prefix=str(tmp_path / "env"))
    seen = CaseResult("tests/test_a.py::TestTill::test_one", "failed",
                      kind="AttributeError", message=message, frames=(TEST,))  # fmt: skip
    said = non_code_causes.explain_environment(
        seen, Failure(seen.test, seen.kind, message), tree, env
    )
    assert (named in said and "setup_method" in said) if named else said == ""


@pytest.mark.parametrize(
    ("kind", "message", "frames", "phase", "named"),
    [
        ("pytest.PytestRemovedIn10Warning", "Class-scoped fixtures", (), "setup", "of pytest"),
        ("AssertionError", "", (), "setup", "pytest itself fails in the setup"),
        ("AssertionError", "", (), "call", ""),
        ("AssertionError", "", (TEST,), "setup", ""),
        ("AssertionError", "no shop", (), "setup", ""),
        ("PytestUnraisableExceptionWarning", "DeprecationWarning: old", (), "call", ""),
    ],
)
def test_what_pytest_itself_raises_is_no_fault_of_the_code(
    tmp_path: Path, kind: str, message: str, frames: tuple[Frame, ...], phase: str, named: str
) -> None:
    seen = CaseResult(T, "error", kind=kind, message=message, frames=frames, phase=phase)
    said = told(tmp_path, seen, "")
    assert named in said
    assert bool(said) is bool(named)


def test_a_test_with_a_server_of_its_own_is_refused_here_alone(tmp_path: Path) -> None:
    test = "import http.server\nhttp.server.HTTPServer(('', 0), None)\n"
    tree = FolderTree.of(tmp_path, {"shop.py": "", "tests/test_a.py": test})
    here = red("ConnectionRefusedError", REFUSED)
    reported = Failure(T, here.kind, here.message)
    assert not non_code_causes.is_known(here, reported, tree, ENVIRONMENT)
    assert non_code_causes.is_known(replace(here, test="x.py::t"), reported, tree, ENVIRONMENT)
    FolderTree.of(tmp_path, {"tests/conftest.py": test})
    assert not non_code_causes.is_known(replace(here, test="x.py::t"), reported, tree, ENVIRONMENT)
