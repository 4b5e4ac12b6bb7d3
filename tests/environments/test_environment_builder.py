from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heal_bot.core.errors import ProvisionError
from heal_bot.core.model import RunHints
from heal_bot.core.text import Secret
from heal_bot.environments.environment_builder import date_index
from heal_bot.environments.environment_request import Access, find_programs
from heal_bot.environments.interpreters import list_installed

PROJECT = '[project]\nname = "mine"\nversion = "3.1"\n'
NEWEST = {".".join(p.version.split(".")[:2]): p.version for p in reversed(list_installed())}


def inside(env, code: str) -> str:
    """What the environment's Python prints, as a user who is nobody here when we can."""
    user = 64001 if os.geteuid() == 0 else None
    done = subprocess.run(
        [env.python, "-I", "-c", code], env={"PATH": os.defpath}, cwd="/", user=user,
        group=user, extra_groups=[] if user else None, capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def said(events) -> str:
    return "\n".join(getattr(event, "message", "") for event in events)


@pytest.mark.long
def test_nothing_declared_gives_pytest_alone(assembled, holds):
    env = assembled({})
    assert holds(env) == {"pytest": "8.0"}
    assert inside(env, "import pytest; print(pytest.version)") == "8.0"


@pytest.mark.long
def test_dependencies_extras_and_groups_for_tests_are_installed(assembled, warehouse, holds):
    for name in ("dep", "extra", "deeper", "group", "included", "docs"):
        warehouse.wheel(name)
    env = assembled(
        {
            "pyproject.toml": PROJECT + 'dependencies = ["dep"]\n'
            "[project.optional-dependencies]\n"
            'test = ["mine[more]", "extra"]\nmore = ["deeper"]\ndocs = ["docs"]\n'
            '[dependency-groups]\ndev = ["group", {include-group = "base"}]\nbase = ["included"]\n'
        }
    )
    assert holds(env).keys() == {"dep", "extra", "deeper", "group", "included", "pytest", "mine"}


def test_the_project_has_metadata_though_its_code_stays_in_the_checkout(assembled):
    env = assembled(
        {
            "pyproject.toml": PROJECT + '[project.entry-points.pytest11]\nmine = "pkg.a"\n',
            "src/mine/__init__.py": "",
        }
    )
    assert env.paths == ("src", ".")
    told = inside(
        env,
        "from importlib.metadata import entry_points, version\n"
        "print(version('mine'), [e.value for e in entry_points().get('pytest11', ())]"
        " if isinstance(entry_points(), dict)"
        " else [e.value for e in entry_points(group='pytest11')])",
    )
    assert told == "3.1 ['pkg.a']"


@pytest.mark.long
@pytest.mark.parametrize(
    ("files", "version"),
    [
        ({"uv.lock": '[[package]]\nname = "dep"\nversion = "1.1"\n'
                     'source = { registry = "https://index.invalid/simple" }\n'}, "1.1"),
        ({"poetry.lock": '[[package]]\nname = "dep"\nversion = "1.2"\n'}, "1.2"),
        ({"pdm.lock": '[[package]]\nname = "dep"\nversion = "1.3"\n'}, "1.3"),
        ({"pylock.toml": '[[packages]]\nname = "dep"\nversion = "1.1"\n'}, "1.1"),
        ({"requirements-test.txt": "dep==1.2 \\\n    --hash=sha256:00\n"}, "1.2"),
        ({}, "1.4"),
    ],
    ids=lambda value: next(iter(value), "nothing") if isinstance(value, dict) else value,
)  # fmt: skip
def test_a_lock_decides_the_version(assembled, warehouse, holds, files, version):
    for number in ("1.1", "1.2", "1.3", "1.4"):
        warehouse.wheel("dep", number)
    env = assembled({"pyproject.toml": PROJECT + 'dependencies = ["dep>=1"]\n', **files})
    assert holds(env)["dep"] == version


@pytest.mark.long
def test_what_the_project_requires_wins_over_its_requirements_files(
    assembled, warehouse, holds, events
):
    for number in ("1.1", "1.2", "1.3"):
        warehouse.wheel("dep", number)
    text = PROJECT + 'dependencies = ["dep>=1.2,<1.3"]\n'
    env = assembled({"pyproject.toml": text, "requirements.txt": "dep==1.1\n"})
    assert holds(env)["dep"] == "1.2"
    assert "what the project itself requires is taken" in said(events)


@pytest.mark.long
def test_a_freeze_file_comes_before_a_lock_and_is_taken_as_it_is(
    assembled, warehouse, holds, tmp_path, events
):
    warehouse.wheel("dep", "1.1", requires=["other>=2"])
    warehouse.wheel("dep", "1.2")
    warehouse.wheel("other", "1.0")
    freeze = tmp_path / "freeze.txt"
    freeze.write_text("dep==1.1\nother==1.0\npytest==8.0\n-e git+https://host.invalid/x#egg=mine\n")
    env = assembled(
        {"pyproject.toml": PROJECT, "uv.lock": '[[package]]\nname = "dep"\nversion = "1.2"\n'},
        freeze=freeze,
    )
    assert holds(env) == {"dep": "1.1", "other": "1.0", "pytest": "8.0", "mine": "3.1"}
    assert "contradict each other" in said(events)


def test_versions_of_an_environment_left_in_the_workspace_are_read_and_not_run(
    assembled, warehouse, holds, tmp_path
):
    for number in ("1.1", "1.2"):
        warehouse.wheel("dep", number)
    warehouse.wheel("unnamed", "0.5")
    site = tmp_path / "work/.venv/lib/python3.11/site-packages"
    for name in ("dep-1.1", "unnamed-0.5", "mine-9.9", "pytest-8.0"):
        (site / f"{name}.dist-info").mkdir(parents=True)
    (site / "mine-9.9.dist-info/direct_url.json").write_text("{}")
    (site / "trap.pth").write_text(f"import os; os.mkdir({str(tmp_path / 'sprung')!r})\n")
    (tmp_path / "work/.venv/pyvenv.cfg").write_text("home = /nowhere\nversion = 3.11.2\n")
    text = PROJECT.replace('version = "3.1"', 'dynamic = ["version"]') + 'dependencies = ["dep"]\n'
    env = assembled({"pyproject.toml": text}, folders=(tmp_path / "work",))
    assert holds(env) == {"dep": "1.1", "unnamed": "0.5", "pytest": "8.0", "mine": "9.9"}
    assert not (tmp_path / "sprung").exists()


@pytest.mark.long
def test_a_setup_input_replaces_what_is_declared(assembled, warehouse, holds):
    for name in ("dep", "extra", "wanted", "listed"):
        warehouse.wheel(name)
    env = assembled(
        {
            "pyproject.toml": PROJECT + 'dependencies = ["dep"]\n'
            '[project.optional-dependencies]\ntest = ["extra"]\nci = ["wanted"]\n',
            "ci/reqs.txt": "listed\n",
        },
        setup="pip install -r ci/reqs.txt '.[ci]'",
    )
    assert holds(env).keys() == {"dep", "wanted", "listed", "pytest", "mine"}


@pytest.mark.long
def test_no_declared_version_of_pytest_counts_where_it_is_asked_for_itself(
    assembled, warehouse, holds
):
    warehouse.wheel("pytest", "4.6")
    warehouse.wheel("dep", "1.0")
    warehouse.wheel("dep", "2.0")
    files = {"requirements.txt": "pytest==4.6\ndep==1.0\npy==1.8\n"}
    env = assembled(files, hints=RunHints(plugins=("pytest",)))
    assert holds(env) == {"pytest": "8.0", "dep": "1.0"}


@pytest.mark.long
def test_plugins_of_the_failing_run_are_completed(assembled, warehouse, holds):
    warehouse.wheel("pytest_mock")
    warehouse.wheel("pytest_cov")
    warehouse.wheel("evil")
    env = assembled(
        {"pytest.ini": "[pytest]\naddopts = --cov=mine\n"},
        hints=RunHints(plugins=("pytest-mock-3.1", "evil", "evil @ file:///x")),
    )
    assert holds(env).keys() == {"pytest", "pytest_mock", "pytest_cov"}


@pytest.mark.long
def test_a_project_that_is_a_plugin_is_not_installed_over_itself(assembled, warehouse, holds):
    warehouse.wheel("respx", "9.0")
    text = '[project]\nname = "respx"\nversion = "0.1"\n'
    env = assembled({"pyproject.toml": text}, hints=RunHints(plugins=("respx",)))
    assert (holds(env)["respx"], env.added) == ("0.1", ())


def test_places_and_options_of_the_repository_are_passed_over_and_said(assembled, holds, events):
    env = assembled(
        {
            "requirements.txt": "--index-url https://evil.invalid/simple\n"
            "--extra-index-url https://evil.invalid/simple\n"
            "thing @ https://evil.invalid/thing.whl\n./local\n-e ../up\n",
            "uv.toml": 'index-url = "https://evil.invalid/simple"\n',
            "pip.conf": "[global]\nindex-url = https://evil.invalid/simple\n",
        }
    )
    assert holds(env) == {"pytest": "8.0"}
    text = said(events)
    assert "the option --index-url is not obeyed" in text
    assert "thing comes from an address" in text
    assert "./local is no name with a version" in text


BACKEND = """
import os, pathlib, zipfile
def build_wheel(out, settings=None, metadata=None):
    {before}
    info = "{name}-1.0.dist-info"
    with zipfile.ZipFile(os.path.join(out, "{name}-1.0-py3-none-any.whl"), "w") as wheel:
        wheel.writestr("{name}.py", "built = True\\n")
        wheel.writestr(info + "/METADATA", "Metadata-Version: 2.1\\nName: {name}\\nVersion: 1.0\\n")
        wheel.writestr(info + "/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\n"
                       "Tag: py3-none-any\\n")
        wheel.writestr(info + "/RECORD", "")
    return "{name}-1.0-py3-none-any.whl"
"""
SYSTEM = '[build-system]\nrequires = []\nbuild-backend = "own"\nbackend-path = ["."]\n'


@pytest.mark.long
def test_a_package_without_a_wheel_is_built_in_the_sandbox(assembled, warehouse, holds, tmp_path):
    trap = "import socket\n    {}\n    assert not os.path.exists({!r})".format(
        "try:\n        socket.socket(); raise SystemExit('a socket')\n    except OSError: pass",
        str(tmp_path),
    )
    warehouse.sdist(
        "raw", files={"pyproject.toml": SYSTEM, "own.py": BACKEND.format(name="raw", before=trap)}
    )
    warehouse.wheel("dep", requires=["raw"])
    env = assembled({"requirements.txt": "dep\n"})
    assert holds(env) == {"dep": "1.0", "raw": "1.0", "pytest": "8.0"}
    assert inside(env, "import raw; print(raw.built)") == "True"
    assert "built here: raw 1.0" in env.notes


ASK = """
    import socket
    said = []
    for host in ("localhost", "example.org"):
        with socket.create_connection(("192.0.2.1", 1), 5) as peer:
            peer.sendall(f"CONNECT {host}:443 HTTP/1.1\\r\\n\\r\\n".encode())
            said.append(peer.recv(100).decode().split("\\r")[0][9:])
    assert said == ["403 the name has no public address", "403 this host is not allowed"], said
"""


@pytest.mark.long
def test_a_build_reaches_the_hosts_that_a_person_named_and_the_certificate_names_them(
    assembled, warehouse, holds
):
    own = BACKEND.format(name="raw", before=ASK.strip())
    warehouse.sdist("raw", files={"pyproject.toml": SYSTEM, "own.py": own})
    env = assembled({"requirements.txt": "raw\n"}, hosts=("localhost",))
    assert holds(env)["raw"] == "1.0"
    assert env.network == ("localhost",)
    with pytest.raises(ProvisionError, match=r"raw has no wheel .*PermissionError"):
        assembled({"requirements.txt": "raw\n"})
    assert assembled({"requirements.txt": ""}, hosts=("localhost",)).network == ()


@pytest.mark.long
@pytest.mark.parametrize(
    ("trick", "said"),
    [
        ("os.rmdir(out)", "No such file"),
        ("os.rmdir(out); os.symlink('/etc', out)", "symbolic links"),
        ("os.mkfifo(out + '/raw.whl')", "not a plain file"),
        ("os.symlink('/etc/passwd', out + '/raw.whl')", "symbolic links"),
        ("", "0 wheels"),
    ],
)
def test_a_build_that_leaves_no_wheel_says_so(assembled, warehouse, trick, said):
    own = f"import os\ndef build_wheel(out, *rest):\n    {trick}; raise SystemExit(0)\n"
    own = own.replace("    ; ", "    ")
    warehouse.sdist("raw", files={"pyproject.toml": SYSTEM, "own.py": own})
    with pytest.raises(ProvisionError, match=f"raw has no wheel .*{said}"):
        assembled({"requirements.txt": "raw\n"})


@pytest.mark.long
def test_resolving_runs_no_code_of_a_source_archive(assembled, warehouse, tmp_path):
    trap = f"pathlib.Path({str(tmp_path / 'sprung')!r}).write_text('x')"
    own = BACKEND.format(name="raw", before="raise SystemExit('no gcc here')")
    files = {
        "pyproject.toml": SYSTEM,
        "own.py": f"import pathlib\n{trap}{own}",
        "setup.py": f"import pathlib\n{trap}",
    }
    warehouse.sdist("raw", files=files)
    with pytest.raises(ProvisionError, match=r"raw has no wheel .*cannot be built here"):
        assembled({"requirements.txt": "raw\n"})
    assert not (tmp_path / "sprung").exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("files", "wanted", "message"),
    [
        ({"requirements.txt": "absent-thing\n"}, {}, r"absent-thing was not found .*test job"),
        ({"requirements.txt": "dep>=9\n"}, {}, r"dep.*9.*test job itself"),
        ({"pyproject.toml": '[project]\nname="x"\nversion="1"\nrequires-python = "<3"\n'}, {},
         r"requires-python <3 admits no Python of this machine .*test job itself"),
        ({}, {"python": "3.99"}, r"Python 3.99 is not on this machine \(there is 3\."),
        ({}, {"python": "snake"}, r"python-version snake is not a version such as"),
        ({"pyproject.toml": '[build-system]\nrequires=[]\nbuild-backend="maturin"\n'}, {},
         r"built by maturin, which needs a compiler: run `heal-bot heal` in the test job"),
        ({"setup.py": "setup(ext_modules=[Extension('a', ['a.c'])])"}, {}, r"setup.py compiles"),
        ({"uv.lock": "<<<<<<< ours\n"}, {}, r"uv.lock is not a lock file .*create it again"),
        ({}, {"freeze": Path("/nowhere/freeze.txt")}, r"freeze.txt cannot be read .*pip freeze >"),
    ],
)  # fmt: skip
def test_what_cannot_be_had_is_one_line_with_the_remedy(
    assembled, warehouse, files, wanted, message
):
    warehouse.wheel("dep")
    with pytest.raises(ProvisionError, match=message) as caught:
        assembled(files, **wanted)
    assert "\n" not in str(caught.value)
    assert str(caught.value).count("test job itself") <= 1


@pytest.mark.parametrize("given", ["index.invalid/simple", "https://", "//index.invalid/simple"])
def test_an_index_that_is_no_address_says_how_to_write_one(assembled, warehouse, given):
    warehouse.url = given
    with pytest.raises(ProvisionError, match="index-url is not a URL: write it as https://host"):
        assembled({})


def test_an_index_without_tls_is_refused_beyond_this_machine(assembled, warehouse):
    warehouse.url = "http://user:secret@index.invalid/simple"
    with pytest.raises(ProvisionError, match="not reached by https") as caught:
        assembled({})
    assert "secret" not in str(caught.value)


@pytest.mark.long
def test_two_lock_files_are_told_apart(assembled, events):
    assembled({"uv.lock": "", "poetry.lock": ""})
    assert "versions are those of uv.lock, not of poetry.lock" in said(events)


@pytest.mark.long
def test_a_second_run_finds_the_environment_of_the_first(assembled, warehouse):
    warehouse.wheel("dep")
    first = assembled({"requirements.txt": "dep\n"})
    assert assembled({}) == first
    warehouse.wheel("dep", "1.1")
    assert assembled({}).prefix != first.prefix


@pytest.mark.long
def test_an_absent_python_is_named_as_not_tested(assembled, events):
    env = assembled({".python-version": "3.99\n"})
    assert f"{sys.version_info[0]}.{sys.version_info[1]}." in f"{env.version}."
    assert ".python-version names Python 3.99, which is not on this machine: not tested" in said(
        events
    )


@pytest.mark.parametrize(
    ("access", "started", "until"),
    [
        (Access(), 1_700_000_000.0, "2023-11-14T22:13:20Z"),
        (Access(), 0.0, ""),
        (Access(), 4e9, ""),
        (Access(Secret("https://index.invalid/simple")), 1_700_000_000.0, ""),
    ],
    ids=["known", "unknown", "in the future", "another index"],
)
def test_the_public_index_is_seen_as_the_failing_run_saw_it(access, started, until):
    assert date_index(access, started).until == until


@pytest.mark.slow
@pytest.mark.parametrize("short", sorted(NEWEST))
def test_each_python_of_this_machine_runs_what_is_asked_for(assembled, warehouse, short):
    warehouse.wheel("pytest_mock")
    env = assembled({"pytest.ini": "[pytest]\nmock_use_standalone_module = 1\n"}, python=short)
    assert env.version.startswith(f"{short}.")
    assert inside(env, "import sys, pytest_mock; print('%d.%d' % sys.version_info[:2])") == short


@pytest.mark.long
def test_what_the_test_command_needs_is_installed(assembled, warehouse, holds):
    for name in ("tox", "tox-current-env"):
        warehouse.wheel(name)
    env = assembled({}, programs=find_programs("cd x && tox -e py"))
    assert holds(env).keys() == {"tox", "tox_current_env", "pytest"}
