"""What a build writes beside the sources is there in a checkout too."""

from __future__ import annotations

import pytest

from heal_bot.checkout.bare_repository import Repository
from heal_bot.checkout.checkout_tree import checkout
from heal_bot.checkout.version_file import version_files


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("pyproject.toml", '[tool.setuptools_scm]\nwrite_to = "src/pkg/_version.py"\n'),
        ("pyproject.toml", "[tool.setuptools_scm]\nversion_file = './src/pkg/_version.py'\n"),
        ("pyproject.toml", '[tool.hatch]\nbuild.hooks.vcs.version-file = "src/pkg/_version.py"\n'),
        ("setup.py", 'setup(use_scm_version={"write_to": "src/pkg/_version.py"})\n'),
        ("setup.cfg", "[tool:scm]\nversion_file = src/pkg/_version.py\n"),
    ],
)
def test_the_module_is_found_where_it_is_declared(tmp_path, file, text):
    found = version_files(tmp_path, {file: text.encode()}, ("src/pkg/__init__.py",))
    assert list(found) == ["src/pkg/_version.py"]
    values: dict[str, object] = {}
    exec(found["src/pkg/_version.py"], values)
    assert values["__version__"] == values["version"] == "0.0.0"


@pytest.mark.parametrize(
    ("path", "there"),
    [
        ("pkg/_version.py", ("pkg/__init__.py", "pkg/_version.py")),
        ("other/_version.py", ("pkg/__init__.py",)),
        ("../_version.py", ("pkg/__init__.py",)),
        ("/pkg/_version.py", ("pkg/__init__.py",)),
        ("pkg/../../_version.py", ("pkg/__init__.py",)),
        ("pkg/version.txt", ("pkg/__init__.py",)),
    ],
)
def test_what_is_committed_or_lies_elsewhere_is_not_written(tmp_path, path, there):
    text = f'version_file = "{path}"\n'.encode()
    assert version_files(tmp_path, {"pyproject.toml": text}, there) == {}


@pytest.mark.parametrize("built", [True, False])
def test_a_checkout_has_the_module_that_the_failing_run_built(run, source, git, tmp_path, built):
    (source / "pyproject.toml").write_text('[tool.setuptools_scm]\nwrite_to = "pkg/_version.py"\n')
    (source / ".gitignore").write_text("_version.py\n")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "Declare where the version goes")
    if built:
        (source / "pkg/_version.py").write_text('__version__ = "1.2"\n')
    repository = Repository.of(run, source, tmp_path / "scratch")
    tree = checkout(run, repository, repository.head, tmp_path / "trees")
    assert ("1.2" if built else "0.0.0") in (tree.root / "pkg/_version.py").read_text()
    assert "pkg/_version.py" not in tree.paths()
