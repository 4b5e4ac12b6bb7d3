"""What may have been otherwise in the failing run, where its test is green here."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from heal_bot.core.model import Environment, Failure, Spectrum
from heal_bot.verification import environment_differences
from heal_bot.verification.baseline import reproduce
from tests.fakes import (
    ENVIRONMENT,
    FolderTree,
    ScriptedRunner,
    context_of,
    passed,
    quiet_run,
    suite,
)

T = "tests/test_a.py::test_one"
OPTIONAL = "try:\n    import fastlib as json\nexcept Exception:\n    import json\nA = 1\n"


@pytest.fixture
def env(tmp_path: Path) -> Environment:
    FolderTree.of(tmp_path / "env/lib/python3.11/site-packages", {"fastlib/__init__.py": ""})
    return replace(ENVIRONMENT, prefix=str(tmp_path / "env"))


@pytest.mark.parametrize(
    ("code", "line", "named"),
    [
        ("def f(x):\n    return datetime.fromtimestamp(x)\n", 2, "shop.py:2 reads the local time"),
        ("def f(x):\n    return time.mktime(x)\n", 2, "set TZ=UTC"),
        ("def f(x):\n    return datetime.fromtimestamp(x, UTC)\n", 2, ""),
        # The test does not come to that line.
        ("def f(x):\n    return datetime.fromtimestamp(x)\n", 1, ""),
        (OPTIONAL, 5, "shop.py:2 does without fastlib"),
        (OPTIONAL.replace("fastlib", "otherlib"), 5, ""),
        ("import fastlib\n", 1, ""),
    ],
)
def test_the_time_zone_or_a_package_that_the_code_does_without_is_named(
    tmp_path: Path, env: Environment, code: str, line: int, named: str
) -> None:
    tree = FolderTree.of(tmp_path / "tree", {"shop.py": code})
    ran = replace(suite(passed(T)), spectrum=Spectrum((("shop.py", line),), {T: 1}))
    said = environment_differences.explain_differences(T, ran, tree, env)
    assert (named in said) if named else said == ""
    runner, (run, _) = ScriptedRunner([ran]), quiet_run()
    found = reproduce(context_of(run, runner, tree, env=env), (Failure(T, "AssertionError", ""),))
    assert found.reproduced[0].status == "not_reproduced"
    assert found.reproduced[0].failure.reason.endswith(said)
