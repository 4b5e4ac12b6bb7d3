from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heal_bot.pytest_plugin import plugin
from tests.cli import terminal

pytestmark = pytest.mark.long

MODULE = "def add(a, b):\n    return a - b\n\n\ndef half(a):\n    return a / 2\n"
TESTS = """\
import pytest
from calc import add, half


@pytest.fixture
def pair():
    return 2, 3


@pytest.mark.heal(target="calc:add")
def test_a_pair(pair):
    assert add(*pair) == 5


class TestAdd:
    @pytest.mark.parametrize("a", [1, 7])
    def test_zero(self, a):
        assert add(0, a) == a


def test_half():
    assert half(4) == 2
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "calc.py").write_text(MODULE)
    (tmp_path / "test_calc.py").write_text(TESTS)
    (tmp_path / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["."]\n')
    for args in (["init", "-q", "-b", "main"], ["add", "."], ["commit", "-q", "-m", "calc"]):
        who = ["-c", "user.name=t", "-c", "user.email=t@example.invalid"]
        subprocess.run(["git", *who, *args], cwd=tmp_path, check=True)
    return tmp_path


def _pytest(project: Path, *args: str, path: str = "") -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if not k.startswith("PYTEST")}
    bin_first = str(Path(sys.executable).parent)
    env |= {"PATH": f"{path}{bin_first}:{env['PATH']}", "PYTHONDONTWRITEBYTECODE": "1"}
    env["HEAL_BOT_SANDBOX"] = _mode()
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *args],
        cwd=project,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
    )


def _mode() -> str:
    doctor = [sys.executable, "-I", "-m", "heal_bot", "doctor"]
    strict = subprocess.run(doctor, capture_output=True, timeout=60).returncode == 0
    return "strict" if strict else "reduced"


def test_without_the_option_nothing_happens(project: Path) -> None:
    done = _pytest(project)
    assert done.returncode == 1
    assert "heal-bot" not in done.stdout


def _said(folder: Path, code: str, *args: str) -> str:
    argv = [sys.executable, "-c", code, "-q", "-p", "no:cacheprovider", *args]
    return subprocess.run(argv, cwd=folder, capture_output=True, text=True, timeout=120).stdout


@pytest.mark.long
def test_unused_it_loads_nothing_that_pytest_does_not_load_itself(tmp_path: Path) -> None:
    code = "import pytest, sys\npytest.main(sys.argv[1:])\nprint('loaded', *sys.modules)"
    with_it, without = (
        set(_said(tmp_path, code, *given).partition("loaded ")[2].split())
        for given in ((), ("-p", "no:heal-bot"))
    )
    packages = {"heal_bot", "heal_bot.core", "heal_bot.pytest_plugin"}
    assert with_it - without == {*packages, "heal_bot.pytest_plugin.plugin"}


@pytest.mark.long
def test_a_red_session_is_healed_shown_and_applied(project: Path) -> None:
    done = _pytest(project, "--heal-apply")
    assert done.returncode == 1
    assert "Fix proposed: 3 of 3 failing tests are fixed" in done.stdout
    assert "+    return a + b" in done.stdout
    assert (project / "calc.py").read_text() == MODULE.replace("a - b", "a + b")
    assert "report: heal-bot-bundle/report.html" in done.stdout
    assert _pytest(project).returncode == 0


@pytest.mark.long
def test_what_heal_bot_shows_is_seen_while_it_works(project: Path, tmp_path: Path) -> None:
    bin = tmp_path / "bin"
    bin.mkdir()
    (bin / "heal-bot").write_text(
        "#!/bin/sh\nif [ -t 1 ] && [ -t 2 ]; then echo on a terminal; else echo in a pipe; fi\n"
    )
    (bin / "heal-bot").chmod(0o755)
    environ = {"PATH": f"{bin}:{os.environ['PATH']}"}
    argv = [sys.executable, "-c", "import pytest; pytest.main()", "--heal", "-q", str(project)]
    shown = terminal.run(argv, 80, environ)
    assert shown.rows[-2:] == ["=== heal-bot", "on a terminal"]
    assert _pytest(project, "--heal", path=f"{bin}:").stdout.endswith("in a pipe\n")


def test_a_heal_bot_of_its_own_environment_comes_before_the_plugin_s(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    beside = str(Path(sys.executable).parent)
    monkeypatch.setenv("PATH", f"{beside}{os.pathsep}{tmp_path}")
    assert plugin._heal_bot() == [sys.executable, "-I", "-m", "heal_bot"]
    (tmp_path / "heal-bot").write_text("#!/bin/sh\n")
    (tmp_path / "heal-bot").chmod(0o755)
    assert plugin._heal_bot() == [str(tmp_path / "heal-bot")]


def test_a_plugin_without_its_packages_names_no_program(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(plugin, "find_spec", lambda name: None)
    assert plugin._heal_bot() == []


@pytest.mark.slow
def test_it_works_with_xdist_and_leaves_the_tree_alone_without_apply(project: Path) -> None:
    done = _pytest(project, "--heal", "-n", "2")
    assert "+    return a + b" in done.stdout
    assert "next: heal-bot apply --bundle heal-bot-bundle" in done.stdout
    assert (project / "calc.py").read_text() == MODULE
    assert sorted(p.name for p in project.iterdir() if p.name != ".git") == [
        "calc.py",
        "heal-bot-bundle",
        "pyproject.toml",
        "test_calc.py",
    ]
    shown = subprocess.run(
        ["git", "status", "--porcelain"], cwd=project, capture_output=True, text=True
    )
    assert shown.stdout == ""


@pytest.mark.slow
@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_the_hint_of_a_failing_test_reaches_heal_bot(
    project: Path, tmp_path_factory: pytest.TempPathFactory, workers: tuple[str, ...]
) -> None:
    bin = tmp_path_factory.mktemp("bin")
    (bin / "heal-bot").write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" > {bin}/given\n')
    (bin / "heal-bot").chmod(0o755)
    _pytest(project, "--heal", *workers, path=f"{bin}:")
    given = (bin / "given").read_text().splitlines()
    assert given[given.index("--target") + 1] == "calc.py::add"
    assert given[given.index("--repo") + 1] == str(project)


@pytest.mark.slow
def test_a_tree_with_changes_is_not_written(project: Path) -> None:
    changed = MODULE + "\n# not committed\n"
    (project / "calc.py").write_text(changed)
    done = _pytest(project, "--heal-apply")
    assert "1 file changed since commit" in done.stderr
    assert (project / "calc.py").read_text() == changed


def test_a_green_session_starts_nothing(project: Path) -> None:
    (project / "calc.py").write_text(MODULE.replace("a - b", "a + b"))
    done = _pytest(project, "--heal")
    assert done.returncode == 0
    assert "heal-bot" not in done.stdout
