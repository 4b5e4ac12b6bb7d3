"""The self-test from inside."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from click.testing import CliRunner

from heal_bot.cli.doctor import command
from heal_bot.core.errors import SandboxError
from heal_bot.sandbox import preflight

PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or "/usr/bin/python3"


def facts() -> dict[str, str]:
    code = "import sys; print(sys.version.split()[0], sys.prefix, sys.base_prefix)"
    told = subprocess.run([PYTHON, "-I", "-c", code], capture_output=True, text=True).stdout
    return dict(zip(("version", "prefix", "base_prefix"), told.split(), strict=True))


def test_ten_escapes_fail_and_the_interpreter_is_the_same(sandbox) -> None:
    isolation = preflight.run_self_test(sandbox, PYTHON, facts())
    assert isolation.layers[-1] == "preflight 10/10"
    assert preflight.run_self_test(sandbox, PYTHON, facts()) is isolation


@pytest.mark.parametrize(
    ("name", "value"), [("version", "2.7.18"), ("prefix", "/opt/x"), ("base_prefix", "/opt/x")]
)
def test_another_interpreter_is_refused_by_name(sandbox, name, value) -> None:
    with pytest.raises(SandboxError, match=value):
        preflight.run_self_test(sandbox, PYTHON, {**facts(), name: value})


def test_an_interpreter_that_cannot_be_read_is_refused(sandbox) -> None:
    with pytest.raises(SandboxError, match="/root/none/python"):
        preflight.run_self_test(sandbox, "/root/none/python", {})


def test_doctor_prints_the_layers() -> None:
    result = CliRunner().invoke(command, [])
    assert result.exit_code == 0, result.output
    assert "landlock-" in result.output
    assert "10 of 10 escape attempts blocked" in " ".join(result.output.split())
