"""What real pytest says where a plugin is missing, and what is read off it."""

from __future__ import annotations

import pytest

from heal_bot.core.errors import ProvisionError
from heal_bot.core.model import Report, ReportedCase
from heal_bot.verification import missing_plugins

pytestmark = pytest.mark.long
REPORT = Report((ReportedCase("test_z", "test_z", "failed", message="assert 1 == 2"),))
TEST = "def test_it(): assert 0\n\n\ndef test_other(): assert 0\n"


@pytest.mark.parametrize(
    ("files", "package"),
    [
        ({"pytest.ini": "[pytest]\naddopts = --cov=m -n 2\n", "test_a.py": TEST}, "pytest-cov"),
        ({"pytest.ini": "[pytest]\naddopts = -p pytest_mock\n", "test_a.py": TEST}, "pytest-mock"),
        ({"pytest.ini": "[pytest]\nrequired_plugins = pytest-cov>=4\n", "test_a.py": TEST},
         "pytest-cov"),
        ({"conftest.py": "import pytest_asyncio\n", "test_a.py": TEST}, "pytest-asyncio"),
        ({"pytest.ini": "[pytest]\naddopts = --strict-config\nasyncio_mode = auto\n",
          "test_a.py": TEST}, "pytest-asyncio"),
        ({"pytest.ini": "[pytest]\nenv =\n    A=1\n", "test_a.py": TEST}, "pytest-env"),
        ({"pytest.ini": "[pytest]\naddopts = --strict-markers\n",
          "test_a.py": f"import pytest\n@pytest.mark.django_db\n{TEST}"}, "pytest-django"),
        ({"test_a.py": "def test_it(mocker): pass\n"}, "pytest-mock"),
        ({"test_a.py": "async def test_it(): pass\n"}, "pytest-asyncio"),
        ({"test_a.py": "import pytest_benchmark\n"}, "pytest-benchmark"),
    ],
    ids=["option", "-p", "required", "conftest", "strict key", "key", "mark", "fixture", "async",
         "import"],
)  # fmt: skip
def test_a_missing_plugin_is_read_off_the_run(
    run, runner, env, folder, tmp_path, files, package
) -> None:
    tree = folder(tmp_path / "tree", files)
    suite = runner.run(run, tree, env)
    assert missing_plugins.find_missing(REPORT, suite, tree, env)[0] == package, suite
    if suite.ended == "crashed":
        with pytest.raises(ProvisionError) as caught:
            runner.collect(run, tree, env)
        assert missing_plugins.find_named(str(caught.value))[0] == package


def test_a_fixture_that_nobody_brings_is_told_in_one_line(run, runner, env, folder, tmp_path):
    tree = folder(tmp_path / "tree", {"test_a.py": "def test_it(stock): pass\n"})
    (result,) = runner.run(run, tree, env).results
    assert (result.outcome, result.message) == ("error", "fixture 'stock' not found")
    assert missing_plugins.find_missing(REPORT, runner.run(run, tree, env), tree, env) == ()
