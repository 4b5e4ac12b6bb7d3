from __future__ import annotations

import pytest

from heal_bot.environments.editable_installs import Editables


@pytest.fixture
def editables(tmp_path):
    (tmp_path / "src/pkg").mkdir(parents=True)
    return Editables(tmp_path)


@pytest.mark.parametrize(
    ("finder", "paths"),
    [
        ("MAPPING = {{'pkg': '{root}/src/pkg'}}", ["src"]),
        ("MAPPING = {{'ns.pkg': '{root}/src/ns/pkg', 'one': '{root}/one.py'}}", ["src", "."]),
        ("F.map_module('pkg', '{root}/src/pkg/__init__.py')", ["src"]),
        ("MAPPING = {{'other': '/elsewhere/other'}}", []),
        ("MAPPING = {{**x, 'pkg': name}}", []),
    ],
)
def test_finders_tell_the_folder_modules_are_imported_from(editables, tmp_path, finder, paths):
    editables.change("__editable___x_finder.py", finder.format(root=tmp_path).encode())
    assert editables.paths == paths


def test_a_package_under_another_name_is_noted(editables, tmp_path):
    code = f"MAPPING = {{'pkg': '{tmp_path}/lib/implementation'}}"
    editables.change("__editable___x_finder.py", code.encode())
    assert editables.paths == []
    assert "maps pkg to implementation" in editables.notes[0]


@pytest.mark.parametrize("code", [b"(" * 5000, b"\0", b"\xff\xfe", b"def"])
def test_a_finder_that_is_no_python_is_noted(editables, code):
    assert editables.change("__editable___x_finder.py", code) == code
    assert editables.notes == ["the editable install __editable___x_finder.py cannot be read"]


def test_other_files_are_left_alone(editables):
    assert editables.change("pkg/__init__.py", b"x = 1") == b"x = 1"
    assert editables.change("a.pth", b"import site\n/usr/lib\n") == b"import site\n/usr/lib\n"


def test_a_folder_whose_name_begins_alike_is_not_the_repository(editables, tmp_path):
    assert not editables.add(tmp_path.with_name(tmp_path.name + "-other"))
    assert editables.add(tmp_path / "src")
