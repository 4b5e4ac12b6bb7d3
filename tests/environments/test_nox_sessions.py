"""What a noxfile installs for its tests, read without running it."""

from __future__ import annotations

import pytest

from heal_bot.environments.nox_sessions import find_installs


def _installs(body: str, name: str = "tests", mark: str = "@nox.session") -> list[list[str]]:
    return list(find_installs(f"{mark}\ndef {name}(session):\n    {body}\n".encode()))


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ('session.install("pytest", "coverage")', ["pytest", "coverage"]),
        ('session.install("-c", constraints, "pytest")', ["pytest"]),
        ('session.install("-r", str(path), "coverage")', ["coverage"]),
        ('session.install(package, "pytest")', ["pytest"]),
        ('session.run("python", "-m", "pip", "install", "pytest")', ["pytest"]),
    ],
)
def test_words_that_are_written_out_are_known_without_the_options_that_are_not(
    body: str, words: list[str]
) -> None:
    assert _installs(body) == [words]


@pytest.mark.parametrize(
    ("name", "mark"),
    [
        ("docs", "@nox.session"),
        ("build_latest", "@nox.session"),
        ("community_docs", "@nox.session"),
        ("tests", "@cache"),
    ],
)
def test_what_is_no_session_of_tests_installs_nothing(name: str, mark: str) -> None:
    assert _installs('session.install("sphinx")', name, mark) == []


@pytest.mark.parametrize("name", ["tests", "unit_tests", "test", "pytest_min"])
def test_sessions_of_tests_are_known_by_their_names(name: str) -> None:
    assert _installs('session.install("x")', name, "@nox.session(python=['3.12'])") == [["x"]]
