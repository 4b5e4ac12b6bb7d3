"""Bad input through the real command line: one line that names the value, and the remedy."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.llm_clients.server import fails, served

FILES = {
    "calc.py": "def add(a, b):\n    return a - b\n",
    "test_calc.py": "from calc import add\n\ndef test_add():\n    assert add(1, 2) == 3\n",
    "pytest.ini": "[pytest]\npythonpath = .\n",
}
GONE = '<testcase classname="test_calc" name="test_gone"><failure>x</failure></testcase>'
REPORTS = {
    "html.xml": "<!DOCTYPE html><html><body>502</body></html>",
    "prose.xml": "no tests ran",
    "empty.xml": "",
    "gone.xml": f"<testsuite>{GONE}</testsuite>",
    "orders.xml": f"<testsuite>{GONE}</testsuite>".replace(
        "test_gone", "a&#10;::error::x&#10;##[error]y"
    ),
}
SHA = "1" * 40
# Where nothing else is said, git and Python are those of the machine.
PATH = "/usr/local/bin:/usr/bin:/bin"
NO_GIT = (
    "import sys\nfrom heal_bot.checkout import git\ngit.PATH = '/nonexistent'\n"
    "from heal_bot.cli.main import main\nmain(sys.argv[1:])\n"
)


def call(argv: list[str], folder: Path, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-I", *argv],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
        env={"PATH": PATH, **env},
    )


@pytest.fixture(scope="module")
def mode() -> str:
    return "strict" if call(["-m", "heal_bot", "doctor"], Path()).returncode == 0 else "reduced"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a repository, broken reports, and what stands in the way."""
    made = tmp_path_factory.mktemp("bad")
    repo = made / "repo"
    repo.mkdir()
    for name, text in FILES.items():
        (repo / name).write_text(text)
    who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    for command in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-qm", "all")):
        subprocess.run(["git", *command], cwd=repo, check=True, capture_output=True)
    subprocess.run(["git", "clone", "-q", "repo", "dirty"], cwd=made, check=True)
    (made / "dirty" / "calc.py").write_text("changed\n")
    for name, text in REPORTS.items():
        (made / name).write_text(text)
    request = {"repo": "o/s", "base_sha": SHA, "trust": "trusted"}
    (made / "request.json").write_text(json.dumps(request))
    (made / "broken.json").write_text("{")
    (made / "file").write_text("a file")
    (made / "full").mkdir()
    (made / "full" / "diary.txt").write_text("mine")
    (made / "empty").mkdir()
    return made


CASES: Mapping[str, tuple[tuple[str, ...], str, str]] = {
    "no report matches": (("--junit", "none-*.xml"), "none-*.xml", "--junitxml"),
    "no report matches an argument": (("none-*.xml",), "none-*.xml", "--junitxml"),
    "a report pattern that is none": (("--junit", ""), "no test report matches", "check the path"),
    "a report that is a page": (("--junit", "html.xml"), "html.xml is not a test report", "give a"),
    "a report that is prose": (("--junit", "prose.xml"), "prose.xml is not well-formed", "give a"),
    "an empty report": (("--junit", "empty.xml"), "empty.xml is empty", "give a JUnit XML"),
    "a commit that is gone": (("--request", "request.json"), SHA[:12], f"git fetch origin {SHA}"),
    "a broken request": (("--request", "broken.json"), "broken.json", "not a heal request"),
    "a request that is not there": (("--request", "no.json"), "no.json", "cannot read"),
    "a dirty tree": (("--repo", "dirty"), "calc.py", "commit or stash"),
    "a folder without git": (("--repo", "empty"), "empty is not a git repository", "give the"),
    "a folder that is not there": (("--repo", "nowhere"), "nowhere", "--repo"),
    "an output that is a file": (("--out", "file"), "file is a file", "--out"),
    "an output below a file": (("--out", "file/out"), "file/out", "--out"),
    "an output nobody can write": (("--out", "/proc/none/out"), "/proc/none/out", "--out"),
    "an output with other files": (("--out", "full"), "full holds files", "--out"),
    "a memory in no folder": (("--memory", "no/m.json"), "--memory no/m.json", "make it first"),
    "a memory that is a folder": (("--memory", "full"), "--memory full", "another file"),
    "a memory that is none": (("--memory", "broken.json"), "broken.json", "delete it"),
    "settings that are not there": (("--config", "no.yml"), "--config no.yml", "No such file"),
    "a tier without its key": (("--proposers", "claude"), "claude", "set ANTHROPIC_API_KEY"),
}


def assert_one_line(
    done: subprocess.CompletedProcess[str], code: int, named: str, remedy: str
) -> None:
    assert done.returncode == code, done.stdout + done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("heal-bot: ")
    assert named in line
    assert remedy in line


def left(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.glob("*")} | {
        str(path.relative_to(folder)) for path in folder.glob("full/*")
    }


# What is found out before the sandbox is started.
EARLY = [name for name in CASES if name.startswith(("an output", "settings"))]


def refused(folder: Path, name: str, *more: str) -> None:
    options, named, remedy = CASES[name]
    before = left(folder)
    given = ["--repo", "repo", "--out", "out", "--python", sys.executable, *more]
    done = call(["-m", "heal_bot", "heal", *given, *options], folder)
    assert_one_line(done, 2, named, remedy)
    assert left(folder) == before


@pytest.mark.parametrize("name", EARLY)
def test_what_cannot_be_written_or_read_ends_at_once_with_one_line(folder: Path, name: str) -> None:
    refused(folder, name)


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CASES if name not in EARLY])
def test_what_cannot_be_done_ends_with_code_2_and_one_line(
    folder: Path, mode: str, name: str
) -> None:
    refused(folder, name, "--sandbox", mode)


@pytest.mark.slow
def test_without_git_the_line_says_what_to_install(folder: Path, mode: str) -> None:
    done = call(["-c", NO_GIT, "heal", "--repo", "repo", "--out", "out", "--sandbox", mode], folder)
    assert_one_line(done, 2, "git cannot be started", "install it")
    assert not (folder / "out").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("report", "named"),
    [("gone.xml", "test_calc::test_gone: test_calc.py is here"), ("orders.xml", "::error::x")],
)
def test_a_test_that_the_repository_does_not_have_is_named(
    folder: Path, mode: str, report: str, named: str
) -> None:
    given = ["--repo", "repo", "--out", "out", "--sandbox", mode, "--python", sys.executable]
    done = call(["-m", "heal_bot", "heal", *given, "--junit", report], folder)
    assert done.returncode == 0
    (line,) = (one for one in done.stdout.splitlines() if one.startswith("Nothing to fix"))
    assert named in line
    assert "check that the report and the commit belong together" in line
    for line in (done.stdout + done.stderr).splitlines():
        assert not line.lstrip().startswith("::")
        assert "##[" not in line


@pytest.mark.slow
@pytest.mark.parametrize(
    ("provider", "key", "address", "code"),
    [
        ("claude", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "authentication_error"),
        ("gemini", "GEMINI_API_KEY", "GEMINI_BASE_URL", "UNAUTHENTICATED"),
        ("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL", "invalid_api_key"),
    ],
)
def test_a_refused_key_is_one_warning_and_no_patch(
    folder: Path, tmp_path: Path, mode: str, provider: str, key: str, address: str, code: str
) -> None:
    secret = "sk-0123456789abcdefghijklmnop"
    with served() as server:
        server.plays(fails(provider, 401, code, f"key {secret} is unknown"))
        done = call(
            ["-m", "heal_bot", "heal", "--repo", "repo", "--out", str(tmp_path / "out"),
             "--sandbox", mode, "--python", sys.executable, "--proposers", provider,
             "--model", "m"],
            folder, **{key: secret, address: f"{server.url}/v1" if provider == "openai" else
                       server.url},
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    warnings = [line for line in done.stdout.splitlines() if line.startswith("warning:")]
    assert len(warnings) == 1
    assert "auth (401)" in warnings[0]
    assert "check the key" in warnings[0]
    outcome = json.loads((tmp_path / "out" / "outcome.json").read_text())
    assert outcome["status"] == "not_healed"
    assert warnings[0].removeprefix("warning: ") in outcome["notes"]
    for path in (tmp_path / "out").iterdir():
        assert secret not in path.read_text()
    assert secret not in done.stdout
