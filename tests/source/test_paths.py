"""What counts as test, build or machinery."""

from __future__ import annotations

import pytest

from heal_bot.source import paths


@pytest.mark.parametrize(
    ("path", "test", "protected"),
    [
        ("src/shop/prices.py", False, False),
        ("shop/testing.py", False, False),
        ("contest.py", False, False),
        ("tests/test_a.py", True, False),
        ("pkg/tests/data.py", True, False),
        ("test/support.py", True, False),
        ("a_test.py", True, False),
        ("pkg/conftest.py", True, True),
        ("setup.py", False, True),
        ("noxfile.py", False, True),
        (".github/scripts/x.py", False, True),
        ("src/.hidden.py", False, True),
        ("pyproject.toml", False, True),
        ("Makefile", False, True),
        ("lib/python3/site-packages/x.py", False, True),
        ("/etc/x.py", False, True),
    ],
)
def test_paths_are_told_apart(path: str, test: bool, protected: bool) -> None:
    assert (paths.is_test(path), paths.is_protected(path)) == (test, protected)


def test_collected_files_are_tests_unless_collected_for_doctests() -> None:
    nodes = (
        "checks/prices.py::TestA::test_b[x::y]",
        "src/shop/prices.py::shop.prices.total",
        "shop/net.py::shop.net",
    )
    assert paths.is_test("checks/prices.py", nodes)
    assert not paths.is_test("src/shop/prices.py", nodes)
    assert not paths.is_test("shop/net.py", nodes)


def test_plugins_and_own_build_backends_are_found(tree) -> None:
    made = tree(a="", fix__db="", fix__ini="", plug="", back="", fix__late="")
    files = {
        **made.files,
        "conftest.py": b'pytest_plugins = ["fix.db"]\n',
        "sub/conftest.py": b"pytest_plugins = 'fix.late'\n",
        "pytest.ini": b"[pytest]\naddopts = -q -p fix.ini\n",
        "pyproject.toml": b'[build-system]\nbuild-backend = "back"\nbackend-path = ["."]\n'
        b'[project.entry-points.pytest11]\nplug = "plug:Plugin"\n',
    }
    tree = type(made)(files)
    assert paths.find_plugins(tree) == {"fix/db.py", "fix/late.py", "fix/ini.py", "back.py"}
    assert paths.find_entry_points(tree) == {"plug.py"}


@pytest.mark.parametrize(
    ("text", "loaded"),
    [
        ("commands =\n    py.test -v -p shop\n", True),
        ("addopts =\n    -q\n    -p shop\n", True),
        ("addopts = ['-q', '-p', 'shop']\n", True),
        ("setenv = OPTIONS=-p shop\n", True),
        ("addopts =\n    -n auto -p shop\n", True),
        ("addopts =\n    --cov mypy -p shop\n", True),
        ("    $(PY) -p shop\n", True),
        ("    pytest --cov \\\n      --cov-report xml -p shop\n", True),
        ("session.run('mypy', '-p', 'shop')\n", False),
        ("session.run('pytest', '-p', 'shop')\n", True),
        ("commands =\n    python -m mypy -p shop --non-interactive\n", False),
        ("commands = mkdir -p shop\n", False),
        ("deps = types-p shop\n", False),
        ("      - run: mkdir -p shop\n", False),
    ],
)
def test_an_option_of_another_command_names_no_plugin(tree, text: str, loaded: bool) -> None:
    made = tree(shop="")
    files = {**made.files, "tox.ini": text.encode()}
    assert paths.find_machinery(type(made)(files)) == ({"shop.py"} if loaded else set())


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("pyproject.toml", '[tool.poetry.plugins.pytest11]\na = "own.plug"\n'),
        ("pyproject.toml", '[tool.flit.entrypoints.pytest11]\na = "own.plug"\n'),
        ("setup.cfg", "[options.entry_points]\npytest11 =\n    a = own.plug\n"),
        ("setup.py", "setup(entry_points={'pytest11': ['a = own.plug']})\n"),
    ],
)
def test_entry_points_are_found_wherever_they_are_declared(tree, name: str, text: str) -> None:
    made = tree(own__plug="", plug="")
    files = {**made.files, name: text.encode()}
    assert paths.find_entry_points(type(made)(files)) == {"own/plug.py"}


def test_a_plugin_for_others_is_no_machinery_unless_its_own_tests_are_run_with_it(tree) -> None:
    made = tree(plug="import pytest\n", more="import pytest\n")
    entry = b"[project.entry-points.pytest11]\na = 'plug'\nb = 'more'\n"
    files = {**made.files, "pyproject.toml": entry, "pytest.ini": b"[pytest]\naddopts = -p more\n"}
    assert paths.find_machinery(type(made)(files)) == {"more.py"}


@pytest.mark.parametrize(
    "table",
    [
        '[tool.hatch.build.hooks.custom]\npath = "own/hook.py"\n',
        '[tool.poetry.build]\nscript = "own/hook.py"\n',
        '[tool.poetry]\nbuild = "own/hook.py"\n',
        '[tool.pdm.build]\ncustom-hook = "own/hook.py"\n',
    ],
)
def test_hooks_of_build_tools_are_found(tree, table: str) -> None:
    made = tree(own__hook="", hook="", shop="")
    files = {**made.files, "pyproject.toml": table.encode()}
    assert paths.find_plugins(type(made)(files)) == {"own/hook.py"}


def test_what_tests_plugins_and_ci_name_is_machinery_unless_tests_import_it(tree) -> None:
    test = "pytest_plugins = 'fix.a'\nfrom ci.tool import x\n"
    names = {"fix__b": "", "ci__run": "", "ci__tool": "", "load": "", "tests__test_a": test}
    made = tree(fix__a="pytest_plugins = ['fix.b']", **names)
    runs = b"run: |\n  python ci/run.py\n  python ./ci/tool.py\n  pytest -p load\n"
    told = b"The counter lives in load.py, and ci/tool.py or tests.py use fix/c.py.\n"
    files = {**made.files, ".github/workflows/ci.yml": runs, ".github/hints.md": told,
             "fix/c.py": b""}  # fmt: skip
    assert paths.find_machinery(type(made)(files)) == {
        "fix/a.py",
        "fix/b.py",
        "ci/run.py",
        "load.py",
    }


def test_broken_configuration_names_nothing(tree) -> None:
    made = type(tree())({"pyproject.toml": b"[[[", "conftest.py": b"def (", "x.py": b""})
    assert paths.find_plugins(made) == frozenset()
