"""Projects whose tests tox, nox, Django or a script drives, healed through the real tools."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

TOOLS = ("tox", "tox-current-env", "nox", "pytest", "django")
TESTS = (
    "from pricing import total\n\n\n"
    "def test_one():\n    assert total([4]) == 4\n\n\n"
    "def test_none():\n    assert total([]) == 0\n\n\n"
    "def test_some():\n    assert total([1, 2, 3]) == 6\n"
)
CASES = (
    "from django.test import SimpleTestCase\n\nfrom pricing import total\n\n\n"
    "class Totals(SimpleTestCase):\n"
    "    def test_one(self):\n        self.assertEqual(total([4]), 4)\n\n"
    "    def test_none(self):\n        self.assertEqual(total([]), 0)\n\n"
    "    def test_some(self):\n        self.assertEqual(total([1, 2, 3]), 6)\n"
)
MANAGE = (
    "import os\nimport sys\n\nos.environ['DJANGO_SETTINGS_MODULE'] = 'settings'\n\n"
    "if __name__ == '__main__':\n"
    "    from django.core.management import execute_from_command_line\n\n"
    "    execute_from_command_line(sys.argv)\n"
)
FILES = {
    ".gitignore": ".tox/\n.nox/\njunit.xml\n__pycache__/\n",
    "pyproject.toml": '[project]\nname = "pricing"\nversion = "1.0"\n',
    "pricing.py": "def total(prices):\n    return sum(prices[1:])\n",
    "test_pricing.py": TESTS,
}
TOX = {
    "tox.ini": "[testenv]\ndeps = pytest\n"
    "commands = python -m pytest --junitxml=junit.xml {posargs}\n"
}
NOX = {
    "noxfile.py": "import nox\n\n\n@nox.session\ndef tests(session):\n"
    "    session.install('pytest')\n"
    "    session.run('python', '-m', 'pytest', '--junitxml=junit.xml')\n"
}
SILENT = {"noxfile.py": NOX["noxfile.py"].replace(", '--junitxml=junit.xml'", ", '-q'")}
DJANGO = {
    "manage.py": MANAGE,
    "settings.py": "SECRET_KEY = 'no secret'\nINSTALLED_APPS = []\nDATABASES = {}\n",
    "test_pricing.py": CASES,
}
SCRIPT = {
    "check.sh": "set -e\n"
    "python -c 'from pricing import total; assert total([4]) == 4'\n"
    "python -c 'from pricing import total; assert total([1, 2]) == 3'\n"
}
BY_NAME = ["test_pricing.py::test_one", "test_pricing.py::test_some"]


@pytest.fixture(scope="module")
def tools(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment that holds the tools, from the index."""
    folder = tmp_path_factory.mktemp("tools") / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    python = folder / "bin/python"
    pip = (str(python), "-m", "pip", "install", "-q", *TOOLS)
    subprocess.run(pip, check=True, timeout=600, env=dict(os.environ))
    return python


def healed(folder: Path, files: Mapping[str, str], command: str, python: Path) -> dict[str, object]:
    """The outcome of healing a repository of these files."""
    repo = folder / "repo"
    repo.mkdir()
    for name, text in {**FILES, **files}.items():
        (repo / name).write_text(text)
    who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    for words in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-qm", "all")):
        subprocess.run(["git", *words], cwd=repo, check=True, capture_output=True)
    heal_bot = (sys.executable, "-I", "-m", "heal_bot")
    env = {"PATH": "/usr/local/bin:/usr/bin:/bin"}
    doctor = subprocess.run([*heal_bot, "doctor"], env=env, capture_output=True, timeout=120)
    mode = "reduced" if doctor.returncode else "strict"
    done = subprocess.run(
        [*heal_bot, "heal", "--repo", "repo", "--out", "out", "--python", str(python),
         "--sandbox", mode, "--test-command", command],
        cwd=folder, env=env, capture_output=True, text=True, timeout=1000,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, object] = json.loads((folder / "out/outcome.json").read_text())
    return found


@pytest.mark.parametrize(
    ("files", "command", "fixed"),
    [
        (TOX, "tox -e py", BY_NAME),
        (NOX, "nox --no-venv --no-install -s tests", BY_NAME),
        (SILENT, "nox --no-venv --no-install -s tests", ["command"]),
        (DJANGO, "python manage.py test", ["command"]),
        (SCRIPT, "sh check.sh", ["command"]),
    ],
    ids=["tox", "nox", "nox without a report", "manage.py", "script"],
)
def test_what_drives_the_tests_drives_the_repair(
    tmp_path: Path, tools: Path, files: Mapping[str, str], command: str, fixed: list[str]
) -> None:
    outcome = healed(tmp_path, files, command, tools)
    if fixed == ["command"]:
        # A command that tells of no tests is one failing test: a person decides.
        suggestion = outcome["suggestion"]
        assert isinstance(suggestion, dict), outcome["reason"]
        assert (suggestion["fixed"], suggestion["why"]) == (
            fixed, ["one failing test alone vouches for it"],
        )  # fmt: skip
        assert [file["path"] for file in suggestion["patch"]["files"]] == ["pricing.py"]
        return
    assert outcome["status"] == "healed", outcome["reason"]
    patch, certificate = outcome["patch"], outcome["certificate"]
    assert isinstance(patch, dict)
    assert isinstance(certificate, dict)
    assert patch["fixed"] == fixed
    assert [file["path"] for file in patch["files"]] == ["pricing.py"]
    gates = {gate["name"]: gate["result"] for gate in certificate["gates"]}
    assert gates["test-command"].startswith(command)


@pytest.mark.parametrize(
    ("files", "command", "named"),
    [
        (NOX, "nox -s tests", "-m virtualenv"),
        (NOX, "nox --no-venv -s tests", "does not have a virtual environment"),
        (SCRIPT, "python -m pip install absent-thing && sh check.sh", "absent-thing"),
    ],
    ids=["nox", "nox --no-venv", "pip install"],
)
def test_a_command_that_makes_its_own_environment_is_told_how_to_use_the_one_that_is_there(
    tmp_path: Path, tools: Path, files: Mapping[str, str], command: str, named: str
) -> None:
    outcome = healed(tmp_path, files, command, tools)
    assert outcome["status"] == "environment_error"
    assert named in str(outcome["reason"])
    assert "with nox, say nox --no-venv --no-install" in str(outcome["reason"])
