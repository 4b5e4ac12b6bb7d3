"""Bugs that look as if a service, a variable or a program were missing."""

from __future__ import annotations

from benchmarks.street.own._files import changed, ci, project
from benchmarks.street.situation import Commit, Situation

_MAILER = """\
import os


def sender():
    return os.environ["MAILER_FROM"]


def retries():
    return int(os.environ.get("MAILER_RETRIES", "3"))


def headers(to, subject):
    return {"From": sender(), "To": to, "Subject": subject.strip() or "(none)"}
"""
_THEMES = """\
from pathlib import Path

_FOLDER = Path(__file__).parent / "data"


def names():
    return sorted(path.stem for path in _FOLDER.glob("*.ini"))


def read(name):
    text = (_FOLDER / f"{name}.ini").read_text(encoding="utf-8")
    pairs = (line.partition("=") for line in text.splitlines() if line.strip())
    return {key.strip(): value.strip() for key, _, value in pairs}
"""
_RUNNER = """\
import shlex
import subprocess
import sys


def command(text):
    first, *rest = shlex.split(text)
    return [sys.executable if first == "python" else first, *rest]


def output(text):
    done = subprocess.run(command(text), capture_output=True, text=True, check=True)
    return done.stdout.strip()
"""

SITUATIONS = (
    Situation(
        name="own/mailer-reads-another-name",
        kind="missing",
        action="repair",
        commits=(
            Commit(
                "Read the sender from the environment",
                {
                    **project("mailer", workflow=ci(env="MAILER_RETRIES: 3")),
                    "src/mailer/config.py": _MAILER,
                    "tests/test_config.py": """\
import pytest

from mailer.config import headers, retries, sender


@pytest.fixture(autouse=True)
def environment(monkeypatch):
    monkeypatch.setenv("MAILER_FROM", "post@example.org")


def test_sender():
    assert sender() == "post@example.org"


@pytest.mark.parametrize(("subject", "wanted"), [(" Tea ", "Tea"), ("", "(none)")])
def test_subject(subject, wanted):
    assert headers("a@example.org", subject)["Subject"] == wanted


@pytest.mark.parametrize("count", [0, 1, 5])
def test_retries(monkeypatch, count):
    monkeypatch.setenv("MAILER_RETRIES", str(count))
    assert retries() == count
""",
                },
            ),
            Commit("Document the variables", {"README.md": "# mailer\n\nMAILER_FROM is the sender.\n"}),
            Commit(
                "Tidy the names of settings",
                {"src/mailer/config.py": changed(_MAILER, ('"MAILER_FROM"', '"MAIL_FROM"'))},
            ),
        ),
        right={"src/mailer/config.py": _MAILER},
        hidden={
            "tests/test_hidden_config.py": """\
import pytest

from mailer.config import headers, sender


@pytest.mark.parametrize("address", ["a@example.org", "b@example.org"])
def test_sender(monkeypatch, address):
    monkeypatch.setenv("MAILER_FROM", address)
    monkeypatch.setenv("MAIL_FROM", "nobody@example.org")
    assert sender() == headers("x", "y")["From"] == address


def test_no_sender(monkeypatch):
    monkeypatch.delenv("MAILER_FROM", raising=False)
    with pytest.raises(KeyError):
        sender()
"""
        },
    ),
    Situation(
        name="own/themes-path-has-a-typo",
        kind="missing",
        action="repair",
        commits=(
            Commit(
                "Read themes from files",
                {
                    **project("themes", flat=True),
                    "themes/files.py": _THEMES,
                    "themes/data/dark.ini": "ground = black\nink = white\n",
                    "themes/data/light.ini": "ground = white\nink = black\n",
                    "tests/test_files.py": """\
import pytest

from themes.files import names, read


def test_names():
    assert names() == ["dark", "light"]


@pytest.mark.parametrize(
    ("name", "key", "wanted"),
    [("dark", "ink", "white"), ("light", "ink", "black"), ("dark", "ground", "black")],
)
def test_read(name, key, wanted):
    assert read(name)[key] == wanted


def test_unknown():
    with pytest.raises(FileNotFoundError):
        read("pink")
""",
                },
            ),
            Commit(
                "Join paths in one way",
                {
                    "themes/files.py": changed(
                        _THEMES,
                        ('(_FOLDER / f"{name}.ini").read_text', '_FOLDER.with_name(f"{name}.ini").read_text'),
                    )
                },
            ),
        ),
        right={"themes/files.py": _THEMES},
        hidden={
            "tests/test_hidden_files.py": """\
import pytest

from themes.files import names, read


@pytest.mark.parametrize("name", names())
def test_each_has_both(name):
    assert set(read(name)) == {"ground", "ink"}


def test_light():
    assert read("light") == {"ground": "white", "ink": "black"}
"""
        },
    ),
    Situation(
        name="own/runner-program-is-misspelt-by-us",
        kind="missing",
        action="repair",
        commits=(
            Commit(
                "Run commands of a text",
                {
                    **project("errands", about="commands of a text"),
                    "src/errands/run.py": _RUNNER,
                    "tests/test_run.py": """\
import sys

import pytest

from errands.run import command, output


def test_python_is_ours():
    assert command("python -V") == [sys.executable, "-V"]


@pytest.mark.parametrize(
    ("text", "wanted"), [("echo tea", "tea"), ("echo 'two words'", "two words"), ("echo", "")]
)
def test_output(text, wanted):
    assert output(text) == wanted


def test_output_of_python():
    assert output("python -c 'print(3)'") == "3"
""",
                },
            ),
            Commit(
                "Keep the words of a command as they are",
                {"src/errands/run.py": changed(_RUNNER, ("shlex.split(text)", "[text]"))},
            ),
        ),
        right={"src/errands/run.py": _RUNNER},
        hidden={
            "tests/test_hidden_run.py": """\
import pytest

from errands.run import command, output


@pytest.mark.parametrize(
    ("text", "wanted"), [("ls -l 'a b'", ["ls", "-l", "a b"]), ('x "1 2" 3', ["x", "1 2", "3"])]
)
def test_command(text, wanted):
    assert command(text) == wanted


def test_output():
    assert output('printf "%s-%s" a b') == "a-b"
"""
        },
    ),
)  # fmt: skip
