"""What repositories of many makes declare for their tests."""

from __future__ import annotations

import pytest

from heal_bot.workspace.declared import declared

NOX = """import nox


@nox.session
def tests(session):
    {}
"""


class Files:
    """A tree of texts."""

    sha = "0" * 40

    def __init__(self, files: dict[str, str]) -> None:
        self._files = files

    def paths(self) -> tuple[str, ...]:
        return tuple(sorted(self._files))

    def read(self, path: str) -> bytes:
        return self._files[path].encode()


PROJECT = """[project]
name = "mine"
version = "1"
[project.optional-dependencies]
test = ["usual"]
speed = ["named"]
[dependency-groups]
dev = ["grouped"]
lint = ["other"]
"""
CFG = """[metadata]
name = mine
version = 3.1
[options]
python_requires = >=3.10
install_requires =
    dep>=1 ; python_version >= "3.8"
    # remark
    more  # why
[options.extras_require]
test =
    extra
docs = sphinx
[options.entry_points]
console_scripts =
    mine = mine.cli:main
"""
SCRIPT = """from setuptools import setup, find_packages
NEEDS = ["dep>=1", "more"]
setup(name="mine", version=read_version(), install_requires=NEEDS,
      extras_require={"test": ("extra",), "odd": None}, tests_require="late\\nlater",
      python_requires=">=3.10", packages=find_packages())
"""
POETRY2 = """[project]
name = "mine"
version = "1"
dependencies = ["dep"]
[tool.poetry.group.test.dependencies]
more = "^1.2"
"""
TOOLS = """[tool.uv]
dev-dependencies = ["of-uv"]
[tool.pdm.dev-dependencies]
test = ["of-pdm", "-e file:///x"]
[tool.hatch.envs.hatch-test]
extra-dependencies = ["of-hatch"]
"""
TOX = """[testenv]
deps =
    -r{toxinidir}/ci/list.txt
    -r tests/requirements.txt
    plain>=1
    py39: old
    {env:WHAT:}
extras = speed
dependency_groups =
    lint
"""


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ({"pyproject.toml": PROJECT}, "usual grouped"),
        ({"pyproject.toml": PROJECT, "noxfile.py": NOX.format('session.install("-e.[speed]")')},
         "named usual grouped"),
        ({"pyproject.toml": PROJECT,
          "noxfile.py": NOX.format('session.install(".", "--group", "lint")')},
         "usual other grouped"),
        ({"noxfile.py": NOX.format('session.run_always("pip", "install", "late")')}, "late"),
        ({"setup.cfg": CFG}, "dep more extra"),
        ({"setup.py": SCRIPT}, "dep more extra late later"),
        ({"pyproject.toml": "[build-system]\nrequires = []\n", "setup.cfg": CFG}, "dep more extra"),
        ({"pyproject.toml": '[project]\nname = "mine"\nversion = "1"\n', "setup.cfg": CFG}, ""),
        ({"pyproject.toml": '[project]\nname = "mine"\ndynamic = ["dependencies"]\n',
          "setup.cfg": CFG}, "dep more"),
        ({"pyproject.toml": '[tool.setuptools.dynamic]\ndependencies = {file = ["deps.in"]}\n'
          'optional-dependencies.test.file = "ci/t.txt"\n', "deps.in": "dep\n",
          "ci/t.txt": "more\n"}, "dep more"),
        ({"pyproject.toml": POETRY2}, "dep more"),
        ({"pyproject.toml": TOOLS}, "of-uv of-pdm of-hatch"),
        ({"pyproject.toml": PROJECT, "tox.ini": TOX, "ci/list.txt": "listed\n",
          "tests/requirements.txt": "beside\n"}, "listed beside plain named usual other grouped"),
    ],
    ids=["extras and groups", "an extra of nox", "a group of nox", "run_always", "setup.cfg",
         "setup.py", "setup.cfg beside a build system", "setup.cfg that does not count",
         "dynamic by setup.cfg", "dynamic by files", "Poetry 2", "uv, PDM, Hatch", "tox"],
)  # fmt: skip
def test_what_tests_need_is_found(files: dict[str, str], names: str) -> None:
    found = declared(Files(files), "")  # type: ignore[arg-type]
    assert {r.name for r in found.lines.requirements} == set(names.split())


def test_a_project_without_a_table_of_its_own_is_known_by_what_setuptools_reads() -> None:
    found = declared(Files({"setup.cfg": CFG}), "")  # type: ignore[arg-type]
    assert (found.project["name"], found.project["version"]) == ("mine", "3.1")
    assert found.requires == ">=3.10"
    assert found.project["scripts"] == {"mine": "mine.cli:main"}


@pytest.mark.parametrize("text", ["setup(", "setup(*x, **y)", "setup(name=1, install_requires=2)"])
def test_a_setup_py_that_computes_says_nothing(text: str) -> None:
    found = declared(Files({"setup.py": text}), "")  # type: ignore[arg-type]
    assert found.lines.requirements == []


def test_setup_replaces_extras_and_groups_but_those_it_names() -> None:
    files = Files({"pyproject.toml": PROJECT + TOOLS, "tox.ini": TOX})
    found = declared(files, ".[speed] --group lint")  # type: ignore[arg-type]
    assert {r.name for r in found.lines.requirements} == {"named", "other"}
