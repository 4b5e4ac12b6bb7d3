"""Who runs the job, and what that user may: root where none was thought of, or not root."""

from __future__ import annotations

from benchmarks.street.own._files import changed, ci, junit, legacy, project
from benchmarks.street.situation import Commit, Situation

_ROOT = ci(job="container: python:3.11")
_KEYS = """\
import os
import stat


def save(path, text):
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o600)


def mode(path):
    return stat.S_IMODE(os.stat(path).st_mode)


def is_private(path):
    return mode(path) & 0o077 == 0
"""

SITUATIONS = (
    Situation(
        name="own/vault-root-reads-all",
        kind="permissions",
        action="explain",
        says=("root", "permission", "container"),
        commits=(
            Commit(
                "Say which files cannot be read",
                {
                    **project("vault", about="files that are closed"),
                    "src/vault/read.py": """\
def read(path):
    try:
        return path.read_text()
    except PermissionError:
        raise ValueError(f"{path.name} is closed") from None


def first_line(text):
    return text.partition("\\n")[0]
""",
                    "tests/test_read.py": """\
import pytest

from vault.read import first_line, read


def test_closed(tmp_path):
    path = tmp_path / "secret"
    path.write_text("x")
    path.chmod(0)
    with pytest.raises(ValueError, match="secret is closed"):
        read(path)


def test_open(tmp_path):
    (tmp_path / "a").write_text("x")
    assert read(tmp_path / "a") == "x"


@pytest.mark.parametrize(("text", "wanted"), [("a\\nb", "a"), ("a", "a"), ("", "")])
def test_first_line(text, wanted):
    assert first_line(text) == wanted
""",
                },
            ),
            Commit("Run the tests in a container", {".github/workflows/ci.yml": _ROOT}),
        ),
    ),
    Situation(
        name="own/drawer-root-writes-anywhere",
        kind="permissions",
        action="explain",
        says=("root", "permission", "writable", "container"),
        commits=(
            Commit(
                "Look where drawers can be written",
                {
                    **legacy("drawer"),
                    "drawer/places.py": """\
import os


def writable(folders):
    return [folder for folder in folders if os.access(folder, os.W_OK)]


def label(folder):
    return os.path.basename(folder.rstrip("/")) or "/"
""",
                    "tests/test_places.py": """\
import os
import tempfile
import unittest

from drawer.places import label, writable


class PlacesTest(unittest.TestCase):
    def test_closed(self):
        with tempfile.TemporaryDirectory() as name:
            os.chmod(name, 0o555)
            self.assertEqual(writable([name]), [])

    def test_open(self):
        with tempfile.TemporaryDirectory() as name:
            self.assertEqual(writable([name]), [name])

    def test_missing(self):
        self.assertEqual(writable(["/no/such/folder"]), [])

    def test_label(self):
        self.assertEqual(label("/srv/data/"), "data")

    def test_label_of_the_top(self):
        self.assertEqual(label("/"), "/")
""",
                },
            ),
            Commit("Run the tests in a container", {".github/workflows/ci.yml": _ROOT}),
        ),
    ),
    Situation(
        name="own/owner-home-is-of-root",
        kind="permissions",
        action="explain",
        says=("root", "user", "uid"),
        commits=(
            Commit(
                "Refuse to serve as root",
                {
                    **project("serving", flat=True),
                    "serving/start.py": """\
import os


def check_user():
    if os.geteuid() == 0:
        raise RuntimeError("refusing to serve as root")
    return os.geteuid()


def port(text):
    number = int(text)
    if not 1024 <= number <= 65535:
        raise ValueError("a port of users is wanted")
    return number
""",
                    "tests/test_start.py": """\
import pytest

from serving.start import check_user, port


def test_user_may_serve():
    assert check_user() > 0


@pytest.mark.parametrize("text", ["1024", "8080", "65535"])
def test_port(text):
    assert port(text) == int(text)


@pytest.mark.parametrize("text", ["80", "70000", "x"])
def test_no_port(text):
    with pytest.raises(ValueError):
        port(text)
""",
                },
            ),
            Commit("Run the tests in a container", {".github/workflows/ci.yml": _ROOT}),
        ),
    ),
    Situation(
        name="own/handover-only-root-may-give",
        kind="permissions",
        action="explain",
        says=("root", "permission", "chown", "privilege"),
        commits=(
            Commit(
                "Hand files over to another user",
                {
                    **project("handover", workflow=ci(job="container: python:3.11")),
                    "src/handover/give.py": """\
import os


def give(path, uid):
    os.chown(path, uid, -1)
    return os.stat(path).st_uid


def parse(text):
    name, _, uid = text.partition(":")
    return name, int(uid or 0)
""",
                    "tests/test_give.py": """\
import pytest

from handover.give import give, parse


def test_give(tmp_path):
    (tmp_path / "a").touch()
    assert give(tmp_path / "a", 1234) == 1234


@pytest.mark.parametrize(
    ("text", "wanted"), [("a:5", ("a", 5)), ("a", ("a", 0)), ("a:", ("a", 0)), (":7", ("", 7))]
)
def test_parse(text, wanted):
    assert parse(text) == wanted
""",
                },
            ),
            Commit("Run the tests without a container", {".github/workflows/ci.yml": ci()}),
        ),
        reports={
            "junit.xml": junit(
                tuple(
                    f"tests.test_give::test_parse[{row}]"
                    for row in ("a:5-wanted0", "a-wanted1", "a:-wanted2", ":7-wanted3")
                ),
                (
                    (
                        "tests.test_give::test_give",
                        "PermissionError: [Errno 1] Operation not permitted:"
                        " PosixPath('/tmp/pytest-of-runner/pytest-0/test_give0/a')",
                        """
tmp_path = PosixPath('/tmp/pytest-of-runner/pytest-0/test_give0')

    def test_give(tmp_path):
        (tmp_path / "a").touch()
>       assert give(tmp_path / "a", 1234) == 1234
               ^^^^^^^^^^^^^^^^^^^^^^^^^^

tests/test_give.py:8: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

path = PosixPath('/tmp/pytest-of-runner/pytest-0/test_give0/a'), uid = 1234

    def give(path, uid):
>       os.chown(path, uid, -1)
E       PermissionError: [Errno 1] Operation not permitted: PosixPath('/tmp/pytest-of-runner/pytest-0/test_give0/a')

src/handover/give.py:5: PermissionError
""",
                    ),
                ),
            )
        },
    ),
    Situation(
        name="own/keys-mode-is-not-octal",
        kind="permissions",
        action="repair",
        commits=(
            Commit(
                "Save keys so that others cannot read them",
                {
                    **project("keys", about="keys in files", workflow=_ROOT),
                    "src/keys/save.py": _KEYS,
                    "tests/test_save.py": """\
import pytest

from keys.save import is_private, mode, save


def test_private(tmp_path):
    save(tmp_path / "k", "secret")
    assert is_private(tmp_path / "k")


def test_text(tmp_path):
    save(tmp_path / "k", "secret")
    assert (tmp_path / "k").read_text() == "secret"


@pytest.mark.parametrize("wanted", [0o600, 0o644, 0o400])
def test_mode(tmp_path, wanted):
    (tmp_path / "k").touch()
    (tmp_path / "k").chmod(wanted)
    assert mode(tmp_path / "k") == wanted
""",
                },
            ),
            Commit("Unify literals", {"src/keys/save.py": changed(_KEYS, ("0o600", "600"))}),
        ),
        right={"src/keys/save.py": _KEYS},
        hidden={
            "tests/test_hidden_save.py": """\
from keys.save import is_private, mode, save


def test_mode(tmp_path):
    save(tmp_path / "k", "x")
    assert mode(tmp_path / "k") == 0o600


def test_again(tmp_path):
    save(tmp_path / "k", "x")
    save(tmp_path / "k", "y")
    assert is_private(tmp_path / "k")
    assert (tmp_path / "k").read_text() == "y"
"""
        },
    ),
)  # fmt: skip
