from __future__ import annotations

import os
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from heal_bot.checkout.bare_repository import Repository
from heal_bot.core.errors import ProvisionError
from heal_bot.core.model import RunHints
from heal_bot.environments.local_workspace import LocalWorkspace
from heal_bot.environments.provision import must_copy, seal_of
from heal_bot.environments.target_interpreter import find

STRANGER = 64001
as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


@pytest.fixture
def provisioned(run, source, tmp_path, reachable, venv):
    def make(python: Path | None = venv, *candidates: Path):
        repository = Repository.of(run, source, tmp_path / "scratch")
        workspace = LocalWorkspace(
            repository, tmp_path / "trees", reachable / "cache", python, candidates
        )
        return workspace.provision(run, workspace.checkout(run, "HEAD"), RunHints())

    return make


@pytest.mark.parametrize(
    "how",
    ["written", "given back", "mode", "added", "come and gone", "removed", "replaced", "gone"],
)
def test_a_file_of_the_environment_that_is_another_than_before_is_seen(
    run, source, tmp_path, reachable, venv, how
):
    repository = Repository.of(run, source, tmp_path / "scratch")
    cache = reachable / f"cache-{how}"
    workspace = LocalWorkspace(repository, tmp_path / "trees", cache, venv)
    tree = workspace.checkout(run, "HEAD")
    env = workspace.provision(run, tree, RunHints())
    assert workspace.provision(run, tree, RunHints()) == env
    assert not workspace.changed(env)
    package = next(Path(env.prefix).glob("lib/python3*/site-packages/pytest"))
    match how:
        case "written":
            (package / "__init__.py").write_text("import os\n")
        case "given back":
            before = (package / "__init__.py").stat()
            (package / "__init__.py").write_text("import os\n")
            (package / "__init__.py").write_text("")
            os.utime(package / "__init__.py", ns=(before.st_atime_ns, before.st_mtime_ns))
        case "mode":
            (package / "__init__.py").chmod(0o755)
        case "come and gone":
            (package / "more.py").touch()
            (package / "more.py").unlink()
        case "added":
            (package / "more.py").touch()
        case "removed":
            (package / "__init__.py").unlink()
        case "replaced":
            (package / "__init__.py").rename(package / "kept.py")
            shutil.copy2(package / "kept.py", package / "__init__.py")
            (package / "kept.py").unlink()
        case "gone":
            shutil.rmtree(env.prefix)
    assert workspace.changed(env)
    # Asked for again it is what it was, so that a change stays one.
    assert workspace.changed(workspace.provision(run, tree, RunHints()))


def test_an_environment_whose_files_cannot_be_looked_at_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ProvisionError, match=r"gone cannot be read \(No such file"):
        seal_of(tmp_path / "gone")


def inside(env, code: str, user: int | None = None) -> str:
    """What the provisioned interpreter prints, as another user when we can."""
    done = subprocess.run(
        [env.python, "-I", "-c", code],
        env={"PATH": os.defpath},
        cwd="/",
        user=user,
        group=user,
        extra_groups=[] if user else None,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@as_root
def test_another_user_runs_the_copy_with_its_own_library(provisioned, full_venv):
    env = provisioned(full_venv)
    told = inside(
        env,
        "import sys, platform, ssl, sqlite3, ctypes, pytest\n"
        "print(platform.python_version(), sys.prefix, sys.base_prefix, pytest.__file__)\n"
        "print(*[l.split()[-1] for l in open('/proc/self/maps') if 'libpython' in l])",
        STRANGER,
    ).splitlines()
    site = f"{env.prefix}/lib/python{'.'.join(env.version.split('.')[:2])}/site-packages"
    assert told[0] == f"{env.version} {env.prefix} {env.base_prefix} {site}/pytest/__init__.py"
    libraries = told[1].split() if len(told) > 1 else []
    assert all(library.startswith(f"{env.base_prefix}/") for library in libraries)


def test_version_and_prefixes_are_what_the_interpreter_itself_says(provisioned):
    env = provisioned()
    told = inside(
        env, "import sys, platform as p; print(p.python_version(), sys.prefix, sys.base_prefix)"
    )
    assert told == f"{env.version} {env.prefix} {env.base_prefix}"


@as_root
def test_console_scripts_start_the_copy(provisioned, full_venv):
    env = provisioned(full_venv)
    done = subprocess.run(
        [f"{env.prefix}/bin/pytest", "--version"],
        env={"PATH": os.defpath}, cwd="/", user=STRANGER, group=STRANGER, extra_groups=[],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.stdout.startswith("pytest ")
    assert Path(env.prefix, "bin/pytest").read_text().startswith(f"#!{env.python}\n")


def test_the_copy_is_ours_and_writable_by_nobody_else(provisioned):
    env = provisioned()
    for folder, _, files in os.walk(env.prefix):
        for path in (Path(folder), *(Path(folder, name) for name in files)):
            status = path.lstat()
            assert status.st_uid == os.geteuid(), path
            assert path.is_symlink() or not status.st_mode & 0o022, path
            assert status.st_nlink == 1 or path.is_dir(), path


def test_a_second_run_uses_the_copy_that_is_there(provisioned):
    first = provisioned()
    made = Path(first.prefix).stat().st_ctime_ns
    start = time.monotonic()
    assert provisioned() == first
    assert time.monotonic() - start < 2
    assert Path(first.prefix).stat().st_ctime_ns == made


def test_another_package_makes_another_environment(provisioned, venv):
    first = provisioned()
    site = next(venv.glob("lib/python3*/site-packages"))
    (site / "extra.py").write_text("x = 1\n")
    second = provisioned()
    assert second.prefix != first.prefix
    assert second.manifest_hash != first.manifest_hash
    assert inside(second, "import extra; print(extra.x)") == "1"


def test_nothing_of_the_target_runs_while_it_is_copied(provisioned, venv, tmp_path):
    site = next(venv.glob("lib/python3*/site-packages"))
    (site / "trap.pth").write_text(f"import os; os.mkdir({str(tmp_path / 'sprung')!r})\n")
    (site / "sitecustomize.py").write_text(f"import os; os.mkdir({str(tmp_path / 'sprung')!r})\n")
    provisioned()
    assert not (tmp_path / "sprung").exists()


def test_links_out_of_the_environment_are_not_followed(provisioned, venv, tmp_path, events):
    site = next(venv.glob("lib/python3*/site-packages"))
    (tmp_path / "secret").write_text("key")
    (site / "leak.txt").symlink_to(tmp_path / "secret")
    (site / "alias.py").symlink_to("pytest/__init__.py")
    env = provisioned()
    copied = Path(env.prefix) / site.relative_to(venv)
    assert not os.path.lexists(copied / "leak.txt")
    assert (copied / "alias.py").is_symlink()
    assert "1 links of the environment were not copied: leak.txt" in env.notes
    assert any("leak.txt" in getattr(event, "message", "") for event in events)


@pytest.mark.parametrize(
    ("name", "content", "path"),
    [
        ("plain.pth", "{source}/pkg\n", "pkg"),
        ("__editable__.mod-1.pth", "{source}\n", "."),
        ("easy-install.pth", "/usr/share\n{source}/./pkg\n", "pkg"),
    ],
)
def test_an_editable_install_by_path_becomes_a_path_of_the_checkout(
    provisioned, venv, source, name, content, path
):
    site = next(venv.glob("lib/python3*/site-packages"))
    (site / name).write_text(content.format(source=source))
    env = provisioned()
    assert env.paths == tuple(dict.fromkeys((path, ".")))
    copied = (Path(env.prefix) / site.relative_to(venv) / name).read_text()
    assert str(source) not in copied
    assert ("/usr/share" in copied) == ("/usr/share" in content)


def test_an_editable_install_by_finder_becomes_a_path_and_is_not_started(provisioned, venv, source):
    site = next(venv.glob("lib/python3*/site-packages"))
    (site / "__editable___x_finder.py").write_text(
        f"MAPPING: dict[str, str] = {{'b': {str(source / 'pkg/b')!r}}}\nNAMESPACES = {{}}\n"
        "def install():\n    raise SystemError\n"
    )
    (site / "__editable__.x.pth").write_text(
        "import __editable___x_finder; __editable___x_finder.install()\n"
    )
    env = provisioned()
    assert env.paths == ("pkg", ".")
    assert inside(env, "print('started')") == "started"


def test_a_source_layout_without_an_install(provisioned, source, git):
    (source / "src/mod").mkdir(parents=True)
    (source / "src/mod/__init__.py").write_text("")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "Layout")
    assert provisioned().paths == ("src", ".")


def test_lock_files_are_hashed(provisioned, source, git):
    assert provisioned().lock_hash == ""
    (source / "requirements-dev.txt").write_text("pytest==1\n")
    git(source, "add", "-A")
    git(source, "commit", "-qm", "Lock")
    first = provisioned().lock_hash
    (source / "requirements-dev.txt").write_text("pytest==2\n")
    git(source, "commit", "-qam", "Other")
    assert first != provisioned().lock_hash != ""


def test_the_first_candidate_that_exists_is_taken(provisioned, venv, tmp_path):
    assert provisioned(None, tmp_path / "nowhere", venv) == provisioned(venv)


def test_an_environment_inside_the_checkout_is_copied_out_of_it(provisioned, venv, source):
    shutil.copytree(venv, source / ".venv", symlinks=True)
    env = provisioned(None, source / ".venv")
    assert not env.prefix.startswith(str(source))
    assert inside(env, "import pytest; print('found')") == "found"


def test_no_candidate_names_the_remedy(provisioned, tmp_path):
    with pytest.raises(ProvisionError, match=r"make one in the repository .* or give --python"):
        provisioned(None, tmp_path / "nowhere")


def test_a_target_without_pytest_names_the_remedy(provisioned, venv):
    shutil.rmtree(next(venv.glob("lib/python3*/site-packages")) / "pytest")
    with pytest.raises(
        ProvisionError, match=r"pytest is not installed .*bin/python -m pip install"
    ):
        provisioned()


@as_root
def test_an_interpreter_in_a_private_folder_must_be_copied(base_python, source, venv):
    private = not all(p.stat().st_mode & 0o001 for p in base_python.parents)
    assert must_copy(find(venv), source) is private


def test_a_report_of_another_python_is_remarked(run, source, tmp_path, reachable, venv, events):
    repository = Repository.of(run, source, tmp_path / "scratch")
    workspace = LocalWorkspace(repository, tmp_path / "trees", reachable / "cache", venv)
    workspace.provision(run, workspace.checkout(run, "HEAD"), RunHints(python="3.99.1"))
    assert [e.message for e in events if "3.99.1" in getattr(e, "message", "")]
