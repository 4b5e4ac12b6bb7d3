"""What repositories of many makes declare for their tests."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from heal_bot.checkout.bare_repository import Repository
from heal_bot.checkout.checkout_tree import checkout
from heal_bot.environments import project_install
from heal_bot.environments.environment_builder import _locked, _Plan
from heal_bot.environments.project_metadata import read_declared
from heal_bot.environments.provision import _lock_hash
from heal_bot.source import paths


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
    {[base]deps}
    {env:WHAT:}
extras = speed
dependency_groups =
    lint
[base]
deps = based
    {[base]deps}
"""
POETRY = """[tool.poetry]
name = "mine"
version = "2.1"
[tool.poetry.dependencies]
dep = "^1"
asked = {version = "*", optional = true}
other = {version = "*", optional = true}
[tool.poetry.extras]
test = ["asked"]
docs = ["other"]
[tool.poetry.scripts]
mine = "mine.cli:main"
old = {callable = "mine.cli:old"}
[tool.poetry.plugins.pytest11]
mine = "mine.plugin"
"""
FLAKE = "[flake8]\nmax-line-length = 100\n"
COLONS = """[metadata]
name: mine
[options]
install_requires:
    dep
[bdist_wheel]
universal
"""
UV = """[project]
name = "mine"
version = "1"
dependencies = ["dep", "Lib.One", "far", "mirrored"]
[tool.uv.sources]
lib-one = {workspace = true}
far = [{git = "https://example.invalid/far", marker = "sys_platform == 'linux'"}]
mirrored = {index = "ours"}
"""
HATCH = """[project]
name = "mine"
version = "1"
[project.optional-dependencies]
speed = ["named"]
lint = ["other"]
[tool.hatch.envs.default]
features = ["speed"]
"""


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ({"pyproject.toml": PROJECT}, "usual grouped"),
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
          "tests/requirements.txt": "beside\n"},
         "listed beside plain based named usual other grouped"),
        ({"pyproject.toml": POETRY, "setup.cfg": FLAKE}, "dep asked"),
        ({"setup.cfg": COLONS}, "dep"),
        ({"setup.cfg": "[options]\ninstall_requires = file: deps.in, gone.in\n",
          "deps.in": "dep\nmore\n"}, "dep more"),
        ({"pyproject.toml": UV}, "dep mirrored"),
        ({"pyproject.toml": HATCH}, "named"),
        ({"test.txt": "a", "tests.txt": "a", "dev.txt": "a", "ci.txt": "a", "ci.in": "a",
          "dev.in": "a", "develop.txt": "a"}, ""),
        ({"requirements.in": "top", "requirements-dev.txt": "dev", "test-requirements.txt": "test",
          "requirements/prod.txt": "prod", "requirements/ci.in": "ci",
          "requirements/docs.txt": "docs"}, "top dev test ci"),
        ({"requirements/production.txt": "prod", "requirements/test.txt": "test"}, "prod test"),
        ({"requirements.in": "loose", "requirements.txt": "exact==1"}, "exact"),
    ],
    ids=["extras and groups", "setup.cfg", "setup.py", "setup.cfg beside a build system",
         "setup.cfg that does not count", "dynamic by setup.cfg", "dynamic by files",
         "Poetry 2", "uv, PDM, Hatch", "tox", "Poetry's extras", "setup.cfg with colons",
         "files of setup.cfg", "sources of uv", "features of Hatch", "lists of words",
         "names of requirements", "production alone", "in beside txt"],
)  # fmt: skip
def test_what_tests_need_is_found(files: dict[str, str], names: str) -> None:
    found = read_declared(Files(files), "")  # type: ignore[arg-type]
    assert {r.name for r in found.lines.requirements} == set(names.split())


def test_a_project_without_a_table_of_its_own_is_known_by_what_setuptools_reads() -> None:
    found = read_declared(Files({"setup.cfg": CFG}), "")  # type: ignore[arg-type]
    assert (found.project["name"], found.project["version"]) == ("mine", "3.1")
    assert found.requires == ">=3.10"
    assert found.project["scripts"] == {"mine": "mine.cli:main"}


@pytest.mark.parametrize("text", ["setup(", "setup(*x, **y)", "setup(name=1, install_requires=2)"])
def test_a_setup_py_that_computes_says_nothing(text: str) -> None:
    found = read_declared(Files({"setup.py": text}), "")  # type: ignore[arg-type]
    assert found.lines.requirements == []


def test_setup_replaces_extras_and_groups_but_those_it_names() -> None:
    files = Files({"pyproject.toml": PROJECT + TOOLS, "tox.ini": TOX})
    found = read_declared(files, ".[speed] --group lint")  # type: ignore[arg-type]
    assert {r.name for r in found.lines.requirements} == {"named", "other"}


def test_a_project_of_poetry_keeps_its_name_beside_a_setup_cfg_of_other_tools() -> None:
    files = Files({"pyproject.toml": POETRY, "setup.cfg": FLAKE})
    found = read_declared(files, "").project  # type: ignore[arg-type]
    assert (found["name"], found["version"]) == ("mine", "2.1")
    assert found["scripts"] == {"mine": "mine.cli:main", "old": "mine.cli:old"}
    assert found["entry-points"] == {"pytest11": {"mine": "mine.plugin"}}


@pytest.mark.parametrize(
    "given",
    ["dict(pytest11=['mine=mine.plugin'], console_scripts='run=mine:run')",
     "{'pytest11': 'mine=mine.plugin', 'console_scripts': ['run=mine:run']}",
     "'[pytest11]\\nmine=mine.plugin\\n[console_scripts]\\nrun=mine:run'"],
)  # fmt: skip
def test_entry_points_of_a_setup_py_are_read_where_they_are_written_out(given: str) -> None:
    text = f"from setuptools import setup\nsetup(name='mine', entry_points={given})\n"
    found = read_declared(Files({"setup.py": text}), "")  # type: ignore[arg-type]
    if given.startswith("dict"):
        assert found.lines.refused == [COMPUTED.format("entry-points")]
    else:
        assert found.project["scripts"] == {"run": "mine:run"}
        assert found.project["entry-points"] == {"pytest11": {"mine": "mine.plugin"}}


def test_a_package_that_setup_names_is_asked_of_the_index_whatever_uv_takes_it_from() -> None:
    found = read_declared(Files({"pyproject.toml": UV}), "far")  # type: ignore[arg-type]
    assert {r.name for r in found.lines.requirements} == {"far", "dep", "mirrored"}


COMPUTED = "setup.py: {} is computed, which is not run: name it with setup or freeze"
COMPUTES = "setup(name='mine', install_requires=open('r').read().split(), extras_require=x())"


@pytest.mark.parametrize(
    ("files", "setup", "keys"),
    [
        ({"setup.py": COMPUTES}, "", ("dependencies", "optional-dependencies")),
        ({"setup.py": COMPUTES}, "dep", ()),
        ({"setup.py": COMPUTES, "setup.cfg": CFG}, "", ()),
        ({"setup.py": COMPUTES, "pyproject.toml": '[project]\nname = "mine"\n'}, "", ()),
        ({"setup.py": COMPUTES,
          "pyproject.toml": '[project]\nname = "mine"\ndynamic = ["dependencies"]\n'},
         "", ("dependencies",)),
    ],
    ids=["alone", "with setup", "setup.cfg says it", "not asked", "left to it"],
)  # fmt: skip
def test_what_a_setup_py_computes_is_told_where_it_counts(
    files: dict[str, str], setup: str, keys: tuple[str, ...]
) -> None:
    found = read_declared(Files(files), setup)  # type: ignore[arg-type]
    assert sorted(found.lines.refused) == [COMPUTED.format(key) for key in keys]


@pytest.mark.parametrize(
    ("files", "remark"),
    [
        ({"pyproject.toml": UV}, "pyproject.toml: far comes from an address, not from the index"),
        ({"tox.ini": TOX}, "tox.ini: {env:WHAT:} is known to tox alone"),
        ({"setup.cfg": "[options]\ninstall_requires = file: no.txt"},
         "no.txt is named by setup.cfg but not in the repository"),
        ({"setup.cfg": "name = mine\n"}, "setup.cfg cannot be read"),
    ],
)  # fmt: skip
def test_what_is_passed_over_is_told(files: dict[str, str], remark: str) -> None:
    found = read_declared(Files(files), "")  # type: ignore[arg-type]
    assert remark in (*found.lines.refused, *found.notes)


LINKED = (
    "pyproject.toml", "setup.cfg", "setup.py", "tox.ini", "pytest.ini", "conftest.py",
    ".python-version", ".github/workflows/ci.yml", "requirements-dev.txt", "poetry.lock",
    "mine/alias.py",
)  # fmt: skip


@pytest.mark.parametrize("path", LINKED)
def test_a_link_among_what_declares_is_told_and_not_followed(
    path: str, run, source: Path, git, tmp_path: Path
) -> None:
    (source / "real").write_text("real==1\n")
    (source / path).parent.mkdir(parents=True, exist_ok=True)
    (source / path).symlink_to("../" * path.count("/") + "real")
    (source / "requirements.txt").write_text("plain\n")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "Link")
    repository = Repository.of(run, source, tmp_path / "scratch")
    tree = checkout(run, repository, repository.head, tmp_path / "scratch")
    found = read_declared(tree, "")
    plan = _Plan()
    assert (project_install.explain_compiled(tree, ""), _locked(tree, plan)) == ("", {})
    assert _lock_hash(tree)
    assert paths.find_machinery(tree) == frozenset()
    assert [str(r) for r in found.lines.requirements] == ["plain"]
    silent = {"conftest.py", "mine/alias.py"}
    assert (f"{path} is a link and is not read" in (*found.notes, *plan.notes)) is (
        path not in silent
    )


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("python-version: '3.11'  # as 3.9", ["3.11"]),
        ("python-version: 3.12.1", ["3.12.1"]),
        ("python-version: [3.9, '3.10', \"3.11\"]", ["3.9", "3.10", "3.11"]),
        ("python-versions: [\n  '3.9',\n  '3.13',\n]", ["3.9", "3.13"]),
        ("python:\n  - 3.9\n  # the newest\n  - '3.13'\n  os: [x]", ["3.9", "3.13"]),
        ("python_version: ['pypy-3.9', '3.14-dev', '3.14t', '3.14.0-rc.1', '3.12']", ["3.12"]),
        ("python-version: ${{ matrix.python }}", []),
        ("python-version-file: .python-version", []),
        ("run: echo 3.9", []),
    ],
)
def test_a_workflow_names_the_pythons_of_its_jobs(text: str, versions: list[str]) -> None:
    tree = Files({".github/workflows/ci.yml": text})
    assert [one for versions, _ in read_declared(tree, "").pythons for one in versions] == versions


def test_a_workflow_of_two_megabytes_is_read_in_seconds() -> None:
    began = time.process_time()
    read_declared(Files({".github/workflows/ci.yml": "python: [" * 200_000}), "")
    read_declared(Files({".github/workflows/ci.yml": "python:" + "\n" * 1_900_000}), "")
    assert time.process_time() - began < 10


DEEP = f"a==1 ; {'(' * 200}"


@pytest.mark.parametrize(
    "files",
    [
        {"requirements.txt": f"{DEEP}\n" * 8_000},
        {"requirements.txt": f"a==1 ; {'(' * 50}\n" * 30_000},
        {"requirements.txt": "?\n" * 900_000},
        {"setup.cfg": "[options]\ninstall_requires =\n" + f"  {DEEP}\n" * 8_000},
        {"pyproject.toml": f"[project.optional-dependencies]\ntest = {[DEEP] * 8_000}"},
        {
            "requirements.txt": "-r 0.txt\n" * 100,
            **{f"{n}.txt": f"-r {n + 1}.txt\n-c {n + 1}.txt\n" * 100 for n in range(9)},
        },
    ],
    ids=["markers", "many", "lines", "setup", "extras", "includes"],
)
def test_declarations_that_are_none_are_read_in_seconds(files: dict[str, str]) -> None:
    began = time.process_time()
    assert read_declared(Files(files), "").lines.requirements == []
    assert time.process_time() - began < 5


def test_the_workflow_that_runs_tests_names_its_pythons_first() -> None:
    tree = Files(
        {
            ".github/workflows/docs.yml": "python-version: '3.13'\nrun: mkdocs build\n",
            ".github/workflows/tests.yml": "python-version: ['3.10']\nrun: python -m pytest\n",
        }
    )
    assert [one for versions, _ in read_declared(tree, "").pythons for one in versions] == [
        "3.10",
        "3.13",
    ]
