"""The Windows leg alone is red by what it does with files and users; or by our bug."""

from __future__ import annotations

from benchmarks.street.own._files import changed, ci, junit, project
from benchmarks.street.situation import Commit, Situation

_LEGS = ci(systems=("ubuntu-latest", "windows-latest"))
_HOST = "runnervmf4ws1"
_DOSES = """\
def parse(line):
    name, _, amount = line.rpartition(" ")
    return name.strip(), float(amount)


def read(text):
    return [parse(line) for line in text.splitlines() if line.strip()]
"""

SITUATIONS = (
    Situation(
        name="own/scratch-file-is-still-open",
        kind="windows",
        action="explain",
        says=("windows", "winerror 32", "open", "close"),
        commits=(
            Commit(
                "Write through a scratch file",
                {
                    **project("scratch", flat=True, workflow=_LEGS),
                    "scratch/write.py": """\
import os
import tempfile


def write(path, text):
    handle, name = tempfile.mkstemp(dir=os.path.dirname(path), text=True)
    os.write(handle, text.encode())
    os.replace(name, path)


def lines(path):
    with open(path) as file:
        return file.read().splitlines()
""",
                    "tests/test_write.py": """\
import pytest

from scratch.write import lines, write


def test_written(tmp_path):
    write(str(tmp_path / "a"), "one")
    assert (tmp_path / "a").read_text() == "one"


@pytest.mark.parametrize(
    ("text", "wanted"), [("", []), ("a", ["a"]), ("a\\n", ["a"]), ("a\\nb", ["a", "b"])]
)
def test_lines(tmp_path, text, wanted):
    (tmp_path / "b").write_text(text)
    assert lines(tmp_path / "b") == wanted
""",
                },
            ),
            Commit("Say why", {"README.md": "# scratch\n\nNobody sees half a file.\n"}),
        ),
        variables={"RUNNER_OS": "Windows"},
        reports={
            "junit.xml": junit(
                ("tests.test_write::test_lines[-wanted0]", "tests.test_write::test_lines[a-wanted1]"),
                (
                    (
                        "tests.test_write::test_written",
                        "PermissionError: [WinError 32] The process cannot access the file because"
                        " it is being used by another process: 'C:\\\\Users\\\\runneradmin\\\\AppData"
                        "\\\\Local\\\\Temp\\\\pytest-of-runneradmin\\\\pytest-0\\\\test_written0\\\\tmp8w1k3f2a'"
                        " -> 'C:\\\\Users\\\\runneradmin\\\\AppData\\\\Local\\\\Temp\\\\pytest-of-runneradmin"
                        "\\\\pytest-0\\\\test_written0\\\\a'",
                        r"""
tmp_path = WindowsPath('C:/Users/runneradmin/AppData/Local/Temp/pytest-of-runneradmin/pytest-0/test_written0')

    def test_written(tmp_path):
>       write(str(tmp_path / "a"), "one")

tests\test_write.py:7: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

path = 'C:\\Users\\runneradmin\\AppData\\Local\\Temp\\pytest-of-runneradmin\\pytest-0\\test_written0\\a'
text = 'one'

    def write(path, text):
        handle, name = tempfile.mkstemp(dir=os.path.dirname(path), text=True)
        os.write(handle, text.encode())
>       os.replace(name, path)
E       PermissionError: [WinError 32] The process cannot access the file because it is being used by another process: 'C:\\Users\\runneradmin\\AppData\\Local\\Temp\\pytest-of-runneradmin\\pytest-0\\test_written0\\tmp8w1k3f2a' -> 'C:\\Users\\runneradmin\\AppData\\Local\\Temp\\pytest-of-runneradmin\\pytest-0\\test_written0\\a'

scratch\write.py:8: PermissionError
""",
                    ),
                ),
                host=_HOST,
            )
        },
    ),
    Situation(
        name="own/visitors-have-no-uid-there",
        kind="windows",
        action="explain",
        says=("windows", "getuid", "platform"),
        commits=(
            Commit(
                "Name the lock by its user",
                {
                    **project("visitors", workflow=_LEGS),
                    "src/visitors/lock.py": """\
import os


def lock_name(project):
    return f"{project}-{os.getuid()}.lock"


def project_of(name):
    return name.rpartition("-")[0]
""",
                    "tests/test_lock.py": """\
import pytest

from visitors.lock import lock_name, project_of


def test_lock_name():
    assert lock_name("shop").startswith("shop-")


@pytest.mark.parametrize(
    ("name", "wanted"), [("shop-1.lock", "shop"), ("a-b-2.lock", "a-b"), ("x", ""), ("-1.lock", "")]
)
def test_project(name, wanted):
    assert project_of(name) == wanted
""",
                },
            ),
            Commit("Tell of locks", {"README.md": "# visitors\n\nEach user has a lock.\n"}),
        ),
        variables={"RUNNER_OS": "Windows"},
        reports={
            "junit.xml": junit(
                ("tests.test_lock::test_project[shop-1.lock-shop]", "tests.test_lock::test_project[x-]"),
                (
                    (
                        "tests.test_lock::test_lock_name",
                        "AttributeError: module 'os' has no attribute 'getuid'. Did you mean: 'getpid'?",
                        r"""
    def test_lock_name():
>       assert lock_name("shop").startswith("shop-")
               ^^^^^^^^^^^^^^^^^

tests\test_lock.py:7: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

project = 'shop'

    def lock_name(project):
>       return f"{project}-{os.getuid()}.lock"
                            ^^^^^^^^^
E       AttributeError: module 'os' has no attribute 'getuid'. Did you mean: 'getpid'?

src\visitors\lock.py:5: AttributeError
""",
                    ),
                ),
                host=_HOST,
            )
        },
    ),
    Situation(
        name="own/doses-wrong-on-every-system",
        kind="windows",
        action="repair",
        commits=(
            Commit(
                "Read doses",
                {
                    **project("doses", flat=True, workflow=_LEGS),
                    "doses/read.py": _DOSES,
                    "tests/test_read.py": """\
import pytest

from doses.read import parse, read


@pytest.mark.parametrize(
    ("line", "wanted"),
    [("iron 2", ("iron", 2.0)), ("vitamin c 0.5", ("vitamin c", 0.5)), ("zinc  1", ("zinc", 1.0))],
)
def test_parse(line, wanted):
    assert parse(line) == wanted


def test_read():
    assert read("iron 2\\n\\nzinc 1\\n") == [("iron", 2.0), ("zinc", 1.0)]


def test_nothing():
    assert read("") == []
""",
                },
            ),
            Commit("Tell of doses", {"README.md": "# doses\n\nA name and an amount per line.\n"}),
            Commit(
                "Use partition for lines",
                {"doses/read.py": changed(_DOSES, (".rpartition(", ".partition("))},
            ),
        ),
        variables={"RUNNER_OS": "Windows"},
        reports={
            "junit.xml": junit(
                (
                    "tests.test_read::test_parse[iron 2-wanted0]",
                    "tests.test_read::test_parse[zinc  1-wanted2]",
                    "tests.test_read::test_read", "tests.test_read::test_nothing",
                ),
                (
                    (
                        "tests.test_read::test_parse[vitamin c 0.5-wanted1]",
                        "ValueError: could not convert string to float: 'c 0.5'",
                        r"""
line = 'vitamin c 0.5', wanted = ('vitamin c', 0.5)

    @pytest.mark.parametrize(
        ("line", "wanted"),
        [("iron 2", ("iron", 2.0)), ("vitamin c 0.5", ("vitamin c", 0.5)), ("zinc  1", ("zinc", 1.0))],
    )
    def test_parse(line, wanted):
>       assert parse(line) == wanted
               ^^^^^^^^^^^

tests\test_read.py:11: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

line = 'vitamin c 0.5'

    def parse(line):
        name, _, amount = line.partition(" ")
>       return name.strip(), float(amount)
                             ^^^^^^^^^^^^^
E       ValueError: could not convert string to float: 'c 0.5'

doses\read.py:3: ValueError
""",
                    ),
                ),
                host=_HOST,
            )
        },
        right={"doses/read.py": _DOSES},
        hidden={
            "tests/test_hidden_read.py": """\
import pytest

from doses.read import parse, read


@pytest.mark.parametrize("name", ["a", "fish oil", "oil of the fish"])
def test_names(name):
    assert parse(f"{name} 3") == (name, 3.0)


def test_read():
    assert read("fish oil 1.5\\nsalt 2") == [("fish oil", 1.5), ("salt", 2.0)]
"""
        },
    ),
)  # fmt: skip
