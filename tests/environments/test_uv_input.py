"""What uv reads: names with versions; nothing of a repository is a line, option or variable."""

from __future__ import annotations

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.requirements import InvalidRequirement, Requirement

from heal_bot.core.errors import ProvisionError
from heal_bot.core.model import RunHints
from heal_bot.core.text import Secret
from heal_bot.environments import locked_versions, pytest_plugins, uv_input
from heal_bot.environments.environment_request import Access
from heal_bot.environments.requirements import Lines
from heal_bot.environments.uv_input import Locked, Package
from tests.environments.test_environment_builder import PROJECT, said
from tests.environments.warehouse import Warehouse

SECRET = "ada:pass-0123456789"
ODD = (
    "dep\n-r http://127.0.0.1:9/x",
    "-r",
    "--index-url",
    "dep @ https://${UV_DEFAULT_INDEX}/x.whl",
    "${HOME}",
    "dep\\",
    "dep #",
    "dep;x",
    "../dep",
    "ſix",
    "\u212aey",
    "dep\u2028",
    "dep\r",
    " ",
    "",
)


@given(st.text(max_size=12), st.text(max_size=12), st.text(max_size=12))
def test_no_text_becomes_another_line_than_a_name_with_versions(name, extra, bound) -> None:
    try:
        text = str(Package(name, (extra,), (bound,)))
    except InvalidRequirement:
        return
    assert re.fullmatch(r"[a-z0-9-]+\[[a-z0-9-]+\][=<>!~]+[\w.+!-]+(\.\*)?", text, re.ASCII)


@pytest.mark.parametrize("name", ODD)
def test_a_name_that_is_none_is_left_out_of_a_lock(name: str) -> None:
    text = f'[[package]]\nname = {json.dumps(name)}\nversion = "1.0"\n'
    good = '[[package]]\nname = "Good_One"\nversion = "1.0"\n'
    assert locked_versions.read_lock(text + good) == ({"good-one": "1.0"}, 1)


@pytest.mark.parametrize(
    "version", ["1.0\n-r x", "${HOME}", "1 ; x", "9" * 5_000, "-1", "1.0poſt1"]
)
def test_a_version_that_is_none_is_left_out_of_a_lock(version: str) -> None:
    text = f'[[package]]\nname = "dep"\nversion = {json.dumps(version)}\n'
    found, odd = locked_versions.read_lock(text)
    assert all(str(Package.exactly(*pair)) == "dep==1.0.post1" for pair in found.items())
    assert len(found) + odd == 1


@pytest.mark.parametrize(
    "line",
    [
        *ODD[:-2],
        "dep===${UV_DEFAULT_INDEX}",
        "dep[a_]",
        f"dep=={'9' * 5_000}",
        'dep ; python_version ~= "x"',
        'dep ; "x" ~= "y"',
        f"dep ; {'(' * 3_000}",
        'dep ; os_name == "a\n-r http://127.0.0.1:9/x"',
    ],
)
def test_an_odd_requirement_is_passed_over_in_one_line(line: str) -> None:
    lines = Lines()
    lines.add(line, "pyproject.toml")
    assert lines.requirements == []
    assert len(lines.refused) == 1
    assert "\n" not in lines.refused[0]


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("Dep_One", "dep-one"),
        ("dep [B,a] >=1, <2 ; python_version > '3'", "dep[a,b]<2,>=1"),
        ("dep==1.*,!=1.2.*", "dep!=1.2.*,==1.*"),
        ("dep===1.0+Local_1", "dep===1.0+Local_1"),
        ("dep~=1.0rc1", "dep~=1.0rc1"),
    ],
)
def test_what_an_index_can_be_asked_is_written_as_it_is_meant(line: str, written: str) -> None:
    assert str(Package.of(Requirement(line))) == written


def test_a_resolution_is_read_and_written_again() -> None:
    text = "dep==1.0 \\\n    --hash=sha256:ab \\\n    --hash=sha256:cd\nother==2\n"
    found = uv_input.parse_resolution(text)
    assert found[0] == Locked(Package("dep", (), ("==1.0",)), "1.0", ("sha256:ab", "sha256:cd"))
    assert "".join(f"{each}\n" for each in found) == text


@pytest.mark.parametrize("line", ["-r x", "dep @ https://host/x.whl", "dep==1 ; x", "dep"])
def test_a_resolution_of_anything_else_is_refused(line: str) -> None:
    with pytest.raises(ProvisionError, match="resolved to what is no version"):
        uv_input.parse_resolution(f"good==1.0\n{line}\n")


@pytest.mark.parametrize(
    "name", ["pytest-x\n-r y", "pytest-é", "pytest--x", "pytest-x;y", "pytest-"]
)
def test_a_plugin_of_a_report_has_a_name_that_an_index_knows(name: str) -> None:
    assert pytest_plugins.find_reported([name]) == ()


@pytest.fixture
def trap(tmp_path):
    index = Warehouse(tmp_path / "trap")
    yield index
    index.close()


@pytest.mark.long
def test_what_a_package_says_of_itself_expands_no_variable(assembled, tmp_path, trap) -> None:
    own = Warehouse(tmp_path / "own", SECRET)
    own.wheel("pytest", "8.0")
    try:
        for name in ("UV_DEFAULT_INDEX", "HTTPS_PROXY", "HOME"):
            own.wheel(
                "dep", requires=[f"evil @ {trap.plain}/x/${{{name}}}/evil-1.0-py3-none-any.whl"]
            )
            with pytest.raises(ProvisionError) as caught:
                assembled({"requirements.txt": "dep\n"}, access=Access(Secret(own.url)))
            assert "pass-0123456789" not in str(caught.value)
    finally:
        own.close()
    assert trap.asked == []


@pytest.mark.long
def test_no_line_of_a_repository_reaches_uv_but_as_a_package(
    assembled, warehouse, trap, holds, events
) -> None:
    warehouse.wheel("dep", "1.0")
    warehouse.wheel("dep", "2.0")
    evil = f"x\n-r {trap.plain}/list\n-i {trap.plain}/simple"
    env = assembled(
        {
            "pyproject.toml": PROJECT + f"dependencies = ['dep', {json.dumps(evil)}]\n",
            "uv.lock": '[[package]]\nname = "dep"\nversion = "1.0"\n'
            f'[[package]]\nname = {json.dumps(evil)}\nversion = "1.0"\n'
            '[[package]]\nname = "e @ https://${UV_DEFAULT_INDEX}/"\nversion = "1.0"\n',
            "requirements.txt": "odd ; python_version ~= 'x'\n",
        },
        hints=RunHints(plugins=(f"pytest-x\n-r {trap.plain}/list",)),
    )
    assert holds(env) == {"dep": "1.0", "pytest": "8.0", "mine": "3.1"}
    assert trap.asked == []
    assert "uv.lock: 2 entries whose name or version is none left out" in said(events)
    assert all("\n" not in getattr(event, "message", "") for event in events)


def test_a_project_without_a_proper_name_is_no_error(assembled, holds) -> None:
    env = assembled({"pyproject.toml": '[project]\nname = "not a\\nname"\nversion = "1"\n'})
    assert holds(env) == {"pytest": "8.0"}


def test_a_lock_whose_keys_take_long_is_none() -> None:
    with pytest.raises(ValueError, match="more than 10 parts"):
        locked_versions.read_lock(f"{'.'.join(['a'] * 5_000)} = 1\n")
