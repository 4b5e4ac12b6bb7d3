from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from heal_bot.core.errors import ProvisionError
from heal_bot.environments.elf_rpath import read_linkage, relink
from heal_bot.environments.target_interpreter import find


def test_what_is_read_is_what_the_interpreter_says(base_python):
    python = find(base_python)
    told = subprocess.run(
        [base_python, "-I", "-c", "import sys,platform,os;print(platform.python_version(),"
         "sys.base_prefix,os.path.dirname(os.__file__))"],
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert [python.version, str(python.base), str(python.library)] == told


def test_an_environment_names_the_interpreter_below_it(venv, base_python):
    python = find(venv)
    assert (python.venv, python.program) == (venv, base_python)
    assert python.packages == (venv / "lib" / python.library.name / "site-packages",)


def test_an_environment_is_found_from_its_executable(venv):
    assert find(venv / "bin/python").venv == venv


def test_an_environment_that_sees_the_system_lists_both_folders(venv):
    config = venv / "pyvenv.cfg"
    config.write_text(config.read_text().replace("= false", "= true"))
    python = find(venv)
    assert python.packages[0].is_relative_to(venv)
    assert all(folder.is_relative_to(python.base) for folder in python.packages[1:])


def test_an_environment_made_with_copies_names_the_real_interpreter(tmp_path, base_python):
    folder = tmp_path / "copies"
    subprocess.run([base_python, "-m", "venv", "--copies", "--without-pip", folder], check=True)
    assert find(folder).program == base_python


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("#!/bin/sh\nexec python3\n", "is a script that starts a Python, such as a pyenv shim"),
        ("MZ", "is not a 64-bit Linux program"),
        ("", "is not a 64-bit Linux program"),
    ],
)
def test_what_is_no_interpreter_is_said(tmp_path, content, said):
    path = tmp_path / "python3"
    path.write_text(content)
    with pytest.raises(ProvisionError, match=said):
        find(path)


def test_a_program_without_a_library_is_said(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/python3").write_bytes(Path("/bin/true").read_bytes())
    with pytest.raises(ProvisionError, match="has no standard library beside it"):
        find(tmp_path / "bin/python3")


def test_a_missing_path_is_said(tmp_path):
    with pytest.raises(ProvisionError, match="does not exist: give --python"):
        find(tmp_path / "python")


def test_an_environment_whose_python_is_gone_is_said(venv):
    link = venv / "bin/python"
    for name in list((venv / "bin").glob("python*")):
        name.unlink()
    link.write_bytes(Path("/bin/true").read_bytes())
    (venv / "pyvenv.cfg").write_text("home = /nowhere/bin\n")
    with pytest.raises(ProvisionError, match="was made from is gone from /nowhere/bin"):
        find(venv)


def test_the_linkage_of_a_program_names_the_c_library():
    link = read_linkage(Path("/bin/true").read_bytes())
    assert link is not None
    assert any(name.startswith("libc.so") for name in link.needed)


@pytest.mark.parametrize("cut", [0, 5, 63, 64, 200, 4000])
def test_a_truncated_program_has_no_linkage_or_an_empty_one(cut):
    link = read_linkage(Path("/bin/true").read_bytes()[:cut])
    assert link is None or link.search == ""


def test_a_search_path_is_rewritten_in_place(base_python):
    data = base_python.read_bytes()
    link = read_linkage(data)
    assert link is not None
    if not link.search:
        with pytest.raises(ValueError, match="has no room"):
            relink(data, "$ORIGIN")
        return
    changed = relink(data, "$ORIGIN")
    assert len(changed) == len(data)
    again = read_linkage(changed)
    assert again is not None
    assert again.search == "$ORIGIN"
    with pytest.raises(ValueError, match="has no room"):
        relink(data, "x" * 10_000)
