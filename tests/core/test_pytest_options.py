"""Which test commands are pytest itself, and with which options."""

from __future__ import annotations

import pytest

from heal_bot.core.pytest_options import find_options, find_variables
from heal_bot.core.settings import Settings


@pytest.mark.parametrize(
    ("command", "options"),
    [
        ("pytest", ""),
        ("pytest -W error", "-W error"),
        ("python -m pytest -q -Werror::DeprecationWarning", "-q -Werror::DeprecationWarning"),
        ("py.test -m 'not slow' --strict-markers", "-m 'not slow' --strict-markers"),
        ("pytest tests/unit -W error tests/api", "-W error -o 'testpaths=tests/unit tests/api'"),
        ("pytest --tb=short .", "--tb=short -o testpaths=."),
        ("pytest tests/test_a.py::test_one", None),
        ("pytest -q && mypy .", None),
        ("pytest -k $NAME", None),
        ("pytest 'unclosed", None),
        ("tox -e py -- pytest", None),
        ("python -W error -m pytest", None),
        ("coverage run -m pytest", None),
        ("python manage.py test", None),
        ("SQLITE=1 pytest -q", "-q"),
        ("env TZ=UTC SQLITE=1 python -m pytest", ""),
        ("PYTHONPATH=src pytest", None),
        ("SQLITE=$HOME pytest", None),
        ("SQLITE=1 tox", None),
        ("", None),
    ],
)
def test_the_options_of_pytest_alone_are_found(command: str, options: str | None) -> None:
    assert find_options(command) == options
    other = Settings(test_command=command).other_command
    assert other == (command if options is None else "")


@pytest.mark.parametrize(
    ("command", "variables"),
    [
        ("env TZ=UTC SQLITE='a b=c' pytest -q A=1", {"TZ": "UTC", "SQLITE": "a b=c"}),
        ("pytest", {}),
        ("GIT_DIR=/x TZ=UTC pytest", {}),
        ("TZ=UTC tox", {}),
    ],
)
def test_the_variables_in_front_of_pytest_are_those_of_the_tests(
    command: str, variables: dict[str, str]
) -> None:
    assert find_variables(command) == variables
