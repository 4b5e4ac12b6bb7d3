"""One leg of a matrix alone is red by a bug of the code."""

from __future__ import annotations

from benchmarks.street.own._files import changed, ci, project
from benchmarks.street.situation import Commit, Situation

_LABELS = """\
def attach(labels, places):
    labels, places = list(labels), list(places)
    if len(labels) != len(places):
        raise ValueError("a place for each label is wanted")
    return dict(zip(labels, places))


def bare(label):
    return label[4:] if label.startswith("no. ") else label
"""
_STORES = """\
import json
import os


class MemoryStore:
    def __init__(self):
        self.kept = {}

    def put(self, key, value):
        self.kept[key] = json.dumps(value)

    def get(self, key, fallback=None):
        return json.loads(self.kept[key]) if key in self.kept else fallback


class FileStore:
    def __init__(self, folder):
        self.folder = folder

    def put(self, key, value):
        (self.folder / key).write_text(json.dumps(value))

    def get(self, key, fallback=None):
        path = self.folder / key
        return json.loads(path.read_text()) if path.exists() else fallback


def store(folder):
    return MemoryStore() if os.environ.get("STORE") == "memory" else FileStore(folder)
"""

SITUATIONS = (
    Situation(
        name="own/labels-zip-of-newer-python",
        kind="matrix",
        action="repair",
        python="3.9",
        commits=(
            Commit(
                "Attach labels to places",
                {
                    **project("labels", flat=True, workflow=ci(pythons=("3.9", "3.11"))),
                    "labels/attach.py": _LABELS,
                    "tests/test_attach.py": """\
import pytest

from labels.attach import attach, bare


@pytest.mark.parametrize(("label", "wanted"), [("no. 7", "7"), ("7", "7"), ("", ""), ("no.", "no.")])
def test_bare(label, wanted):
    assert bare(label) == wanted


def test_attach():
    assert attach(["a", "b"], [1, 2]) == {"a": 1, "b": 2}


@pytest.mark.parametrize(("labels", "places"), [(["a"], []), ([], [1]), ("ab", [1, 2, 3])])
def test_a_place_for_each(labels, places):
    with pytest.raises(ValueError):
        attach(labels, places)
""",
                },
            ),
            Commit("Describe labels", {"README.md": "# labels\n\nPython 3.9 and newer.\n"}),
            Commit(
                "Let zip count labels and places",
                {
                    "labels/attach.py": changed(
                        _LABELS,
                        (
                            "    labels, places = list(labels), list(places)\n"
                            "    if len(labels) != len(places):\n"
                            '        raise ValueError("a place for each label is wanted")\n',
                            "",
                        ),
                        ("zip(labels, places)", "zip(labels, places, strict=True)"),
                    )
                },
            ),
        ),
        right={"labels/attach.py": _LABELS},
        hidden={
            "tests/test_hidden_attach.py": """\
import pytest

from labels.attach import attach


def test_iterators():
    assert attach(iter("xyz"), iter(range(3))) == {"x": 0, "y": 1, "z": 2}


@pytest.mark.parametrize(("labels", "places"), [("abc", [1, 2]), ("", "x"), (iter("a"), iter(""))])
def test_too_few(labels, places):
    with pytest.raises(ValueError):
        attach(labels, places)
"""
        },
    ),
    Situation(
        name="own/stores-memory-leg-forgets",
        kind="matrix",
        action="repair",
        variables={"STORE": "memory"},
        commits=(
            Commit(
                "Keep values in memory or files",
                {
                    **project(
                        "stores",
                        workflow=ci(matrix="store: [memory, file]", env="STORE: ${{ matrix.store }}"),
                    ),
                    "src/stores/stores.py": _STORES,
                    "tests/test_stores.py": """\
import pytest

from stores.stores import store


@pytest.mark.parametrize("value", [1, "x", [1, 2], {"a": None}, False, 0])
def test_kept(tmp_path, value):
    kept = store(tmp_path)
    kept.put("k", value)
    assert kept.get("k", "nothing") == value


def test_fallback(tmp_path):
    assert store(tmp_path).get("k", 7) == 7


def test_a_copy_is_kept(tmp_path):
    kept, value = store(tmp_path), [1]
    kept.put("k", value)
    value.append(2)
    assert kept.get("k") == [1]
""",
                },
            ),
            Commit(
                "Look up once in memory",
                {
                    "src/stores/stores.py": changed(
                        _STORES,
                        (
                            "return json.loads(self.kept[key]) if key in self.kept else fallback",
                            'return json.loads(self.kept.get(key, "null")) or fallback',
                        ),
                    )
                },
            ),
        ),
        right={"src/stores/stores.py": _STORES},
        hidden={
            "tests/test_hidden_stores.py": """\
import pytest

from stores.stores import MemoryStore


@pytest.mark.parametrize("value", ["", [], {}, 0.0, None])
def test_empty_values(value):
    kept = MemoryStore()
    kept.put("k", value)
    assert kept.get("k", "nothing") == value


def test_no_value():
    assert MemoryStore().get("k", "nothing") == "nothing"
"""
        },
    ),
)  # fmt: skip
