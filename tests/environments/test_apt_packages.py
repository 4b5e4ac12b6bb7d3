"""System packages: names only, and only where a runner's container is."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from heal_bot.core.errors import ProvisionError, UsageError
from heal_bot.environments.apt_packages import install, parse_names
from tests.fakes import quiet_run

RUNNER = {"GITHUB_ACTIONS": "true"}


def apt(folder: Path, script: str) -> str:
    """A program of that name which keeps what it was asked; the PATH to find it."""
    program = folder / "apt-get"
    program.write_text(f'#!/bin/sh\necho "$@" >> {folder}/asked\n{script}\n')
    program.chmod(0o755)
    return f"{folder}:{os.defpath}"


def test_names_are_split_and_each_is_taken_once() -> None:
    assert parse_names("libpq5, tzdata\n libpq5 git=1:2.39.5-0+deb12u2") == (
        "libpq5", "tzdata", "git=1:2.39.5-0+deb12u2",
    )  # fmt: skip


@pytest.mark.parametrize("text", ["-o=APT::Update", "./evil.deb", "a;id", "$(id)", "x/../y", "é"])
def test_what_is_no_name_of_a_package_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="is not the name of a Debian package"):
        parse_names(text)


def test_they_are_installed_after_an_update(tmp_path: Path) -> None:
    run, _ = quiet_run()
    install(run, ("libpq5", "tzdata"), apt(tmp_path, "exit 0"), RUNNER)
    update, asked = (tmp_path / "asked").read_text().splitlines()
    assert update == "--quiet update"
    assert asked.endswith("--no-install-recommends -- libpq5 tzdata")


def test_what_apt_says_is_the_error(tmp_path: Path) -> None:
    run, _ = quiet_run()
    path = apt(tmp_path, "echo 'E: Unable to locate package nosuch' >&2; exit 100")
    with pytest.raises(ProvisionError, match="Unable to locate package nosuch"):
        install(run, ("nosuch",), path, RUNNER)


def test_a_machine_that_is_no_runner_is_left_alone(tmp_path: Path) -> None:
    run, _ = quiet_run()
    with pytest.raises(UsageError, match="install them yourself"):
        install(run, ("libpq5",), apt(tmp_path, "exit 0"), {})
    assert not (tmp_path / "asked").exists()
