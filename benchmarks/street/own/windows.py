"""The Windows leg alone is red, or it is and the cause is a bug everywhere; reports by hand."""

from __future__ import annotations

from benchmarks.street.own._files import ci, junit, legacy, project
from benchmarks.street.situation import Commit, Situation

_LEGS = ci(systems=("ubuntu-latest", "windows-latest"))
_HOST = "runnervmf4ws1"

SITUATIONS = (
    Situation(
        name="own/sitemap-backslashes-in-links",
        kind="windows",
        action="explain",
        says=("windows", "backslash", "separator", "posix"),
        commits=(
            Commit(
                "List the pages of a site",
                {
                    **project("sitemap", workflow=ci()),
                    "src/sitemap/pages.py": """\
from pathlib import Path


def pages(folder):
    root = Path(folder)
    return sorted(str(path.relative_to(root)) for path in root.rglob("*.html"))


def title(page):
    return Path(page).stem.replace("-", " ").capitalize()
""",
                    "tests/test_pages.py": """\
import pytest

from sitemap.pages import pages, title


def test_pages(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "start.html").touch()
    (tmp_path / "index.html").touch()
    assert pages(tmp_path) == ["docs/start.html", "index.html"]


def test_no_pages(tmp_path):
    assert pages(tmp_path) == []


@pytest.mark.parametrize(
    ("page", "wanted"), [("index.html", "Index"), ("docs/first-steps.html", "First steps")]
)
def test_title(page, wanted):
    assert title(page) == wanted
""",
                },
            ),
            Commit("Test on Windows too", {".github/workflows/ci.yml": _LEGS}),
        ),
        variables={"RUNNER_OS": "Windows"},
        reports={
            "junit.xml": junit(
                (
                    "tests.test_pages::test_no_pages", "tests.test_pages::test_title[index.html-Index]",
                    "tests.test_pages::test_title[docs/first-steps.html-First steps]",
                ),
                (
                    (
                        "tests.test_pages::test_pages",
                        "AssertionError: assert ['docs\\\\start.html', 'index.html'] == "
                        "['docs/start.html', 'index.html']\n  \n  At index 0 diff: "
                        "'docs\\\\start.html' != 'docs/start.html'\n  Use -v to get more diff",
                        r"""
tmp_path = WindowsPath('C:/Users/runneradmin/AppData/Local/Temp/pytest-of-runneradmin/pytest-0/test_pages0')

    def test_pages(tmp_path):
        (tmp_path / "docs").mkdir()
        (tmp_path / "docs" / "start.html").touch()
        (tmp_path / "index.html").touch()
>       assert pages(tmp_path) == ["docs/start.html", "index.html"]
E       AssertionError: assert ['docs\\start.html', 'index.html'] == ['docs/start.html', 'index.html']
E         
E         At index 0 diff: 'docs\\start.html' != 'docs/start.html'
E         Use -v to get more diff

tests\test_pages.py:10: AssertionError
""",
                    ),
                ),
                host=_HOST,
            )
        },
    ),
    Situation(
        name="own/poems-read-in-the-code-page",
        kind="windows",
        action="explain",
        says=("encoding", "utf-8", "cp1252", "charmap", "windows"),
        commits=(
            Commit(
                "Count verses",
                {
                    **legacy("poems", workflow=_LEGS),
                    "poems/verses.py": """\
def read(path):
    with open(path) as file:
        return file.read()


def verses(text):
    return [line for line in text.splitlines() if line.strip()]


def stanzas(text):
    return len([part for part in text.split("\\n\\n") if part.strip()])
""",
                    "tests/data/aepfel.txt": "Der Äpfel Rot „glüht“ im Gras,\nÍsland liegt so fern.\n",
                    "tests/test_verses.py": """\
import os
import unittest

from poems.verses import read, stanzas, verses

FILE = os.path.join(os.path.dirname(__file__), "data", "aepfel.txt")


class VersesTest(unittest.TestCase):
    def test_read(self):
        self.assertEqual(len(verses(read(FILE))), 2)

    def test_verses(self):
        self.assertEqual(verses("a\\n\\nb"), ["a", "b"])

    def test_no_verses(self):
        self.assertEqual(verses(""), [])

    def test_stanzas(self):
        self.assertEqual(stanzas("a\\nb\\n\\nc"), 2)
""",
                },
            ),
            Commit("Name the poet", {"README.rst": "poems\n=====\n\nVerses of an unknown poet.\n"}),
        ),
        variables={"RUNNER_OS": "Windows"},
        reports={
            "junit.xml": junit(
                tuple(
                    f"tests.test_verses.VersesTest::{name}"
                    for name in ("test_no_verses", "test_stanzas", "test_verses")
                ),
                (
                    (
                        "tests.test_verses.VersesTest::test_read",
                        "UnicodeDecodeError: 'charmap' codec can't decode byte 0x8d in position 39:"
                        " character maps to <undefined>",
                        r"""
self = <tests.test_verses.VersesTest testMethod=test_read>

    def test_read(self):
>       self.assertEqual(len(verses(read(FILE))), 2)
                                    ^^^^^^^^^^

tests\test_verses.py:11: 
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _
poems\verses.py:3: in read
    return file.read()
           ^^^^^^^^^^^
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

self = <encodings.cp1252.IncrementalDecoder object at 0x000001F3B2C4D590>
input = b'Der \xc3\x84pfel Rot \xe2\x80\x9egl\xc3\xbcht\xe2\x80\x9c im Gras,\r\n\xc3\x8dsland liegt so fern.\r\n'
final = True

    def decode(self, input, final=False):
>       return codecs.charmap_decode(input,self.errors,decoding_table)[0]
               ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
E       UnicodeDecodeError: 'charmap' codec can't decode byte 0x8d in position 39: character maps to <undefined>

C:\hostedtoolcache\windows\Python\3.11.9\x64\Lib\encodings\cp1252.py:23: UnicodeDecodeError
""",
                    ),
                ),
                host=_HOST,
            )
        },
    ),
)  # fmt: skip
