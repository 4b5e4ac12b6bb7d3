"""A plain virtual environment of a project, and plain runs of `python -m pytest` in it."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks._cases import read_cases

UV = str(Path(sys.executable).with_name("uv"))
_WANTED = re.compile(r"^(?:unit[-_]?)?(?:tests?|testing|pytest|dev|develop|development)$")
_TABLE = read_cases("plain")
_NO_MODULE = re.compile(r"No module named '(\w+)")
_UNKNOWN = re.compile(r"unrecognized arguments: (.+)|Unknown config option: (\w+)")


class PlainError(Exception):
    """An environment that cannot be made, or tests that do not start; the message says why."""


@dataclass(frozen=True, slots=True)
class Ran:
    """A run of tests: what failed, how many did not, the seconds, the exit code of pytest."""

    red: frozenset[str]
    passed: int
    seconds: float
    said: str = ""
    code: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """What a job gives its tests beside the environment; `prefix` is a program that starts them."""

    arguments: Sequence[str] = ()
    environment: Mapping[str, str] = field(default_factory=dict)
    prefix: Sequence[str] = ()


PLAIN = Job()


def environ(folder: Path, data: Path) -> dict[str, str]:
    """The variables of a plain job, with the environment's programs first."""
    kept = ("SSL_CERT_FILE", "PIP_CERT", "PIP_INDEX_URL", "UV_INDEX_URL", "UV_DEFAULT_INDEX")
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "PATH": f"{folder / 'bin'}:/usr/local/bin:/usr/bin:/bin",
        "HOME": str(data / "home"), "LANG": "C.UTF-8", "CI": "true",
        "UV_CACHE_DIR": str(data / "uv-cache"), "UV_PYTHON_PREFERENCE": "only-system",
        "VIRTUAL_ENV": str(folder), "GIT_TERMINAL_PROMPT": "0", "UV_SYSTEM_CERTS": "true",
    }  # fmt: skip


def interpreter(version: str) -> str:
    """The program of a Python of this machine; PlainError where there is none."""
    from heal_bot.environments.interpreters import list_installed

    found = next((p for p in list_installed() if p.version.startswith(f"{version}.")), None)
    if found is None:
        raise PlainError(f"no Python {version} on this machine")
    return str(found.program)


def make(checkout: Path, folder: Path, python: str, data: Path) -> None:
    """An environment with the project and what it declares for its tests."""
    create(folder, interpreter(python), data)
    for wanted in _wanted(checkout):
        if _install(folder, data, checkout, *wanted):
            return
    raise PlainError("the project cannot be installed")


def create(folder: Path, program: str, data: Path) -> None:
    """An environment of that Python with nothing but pip in it."""
    (data / "home").mkdir(parents=True, exist_ok=True)
    _uv(folder, data, data, "venv", "--quiet", "--seed", "--clear", "--python", program,
        str(folder))  # fmt: skip


def complete(checkout: Path, folder: Path, data: Path) -> None:
    """Add what the tests import or the configuration asks for and nobody declared."""
    for _ in range(5):
        done = _pytest(checkout, folder, data, ("--collect-only", "-q"), 120)
        text = done.stdout + done.stderr
        modules = {_TABLE["modules"].get(n, n.replace("_", "-")) for n in _NO_MODULE.findall(text)}
        options = [a or b for a, b in _UNKNOWN.findall(text)]
        plugins = {p for o in options for key, p in _TABLE["options"].items() if key in o}
        if not modules | plugins or not _install(
            folder, data, checkout, *sorted(modules | plugins)
        ):
            return


def run(
    checkout: Path, folder: Path, data: Path, paths: Sequence[str] = (), limit: float = 90,
    job: Job = PLAIN, codes: tuple[int, ...] = (0, 1),
) -> Ran:  # fmt: skip
    """One run of the tests below `paths`; PlainError where it ends with none of the codes."""
    report = folder / "report.xml"
    report.unlink(missing_ok=True)
    argv = ("-q", f"--junitxml={report}", "-o", "junit_family=xunit1", *paths)
    done = _pytest(checkout, folder, data, argv, limit, job)
    if done.returncode not in codes or not report.exists():
        tail = " ".join((done.stdout + done.stderr).split())[-300:]
        raise PlainError(f"pytest ends with {done.returncode}: {tail}")
    return _read(report, done.returncode)


def report(
    checkout: Path, folder: Path, data: Path, path: Path, limit: float = 180, job: Job = PLAIN
) -> None:
    """The report that a job leaves: `python -m pytest --junitxml=PATH` and what the job gives.

    PlainError where pytest leaves none: packages of today may keep it from starting.
    """
    done = _pytest(checkout, folder, data, (f"--junitxml={path}",), limit, job)
    if not path.exists():
        last = (done.stderr or done.stdout).strip().rpartition("\n")[2]
        raise PlainError(f"pytest left no report: {last[:200]}")


def _pytest(
    checkout: Path, folder: Path, data: Path, arguments: Sequence[str], limit: float,
    job: Job = PLAIN,
) -> subprocess.CompletedProcess[str]:  # fmt: skip
    argv = [*job.prefix, str(folder / "bin/python"), "-m", "pytest", *job.arguments, *arguments]
    process = subprocess.Popen(
        argv, cwd=checkout, env={**environ(folder, data), **job.environment},
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        errors="replace", start_new_session=True,
    )  # fmt: skip
    try:
        out, err = process.communicate(timeout=limit)
    except subprocess.TimeoutExpired:
        raise PlainError(f"the tests take more than {limit:.0f} s") from None
    finally:
        _end(process)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def _end(process: subprocess.Popen[str]) -> None:
    """The whole group of a run ends with it."""
    import signal

    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait(30)


def _read(report: Path, code: int) -> Ran:
    """What a report of pytest's own older family says, by node ids."""
    red, passed, seconds = set(), 0, 0.0
    for suite in ElementTree.parse(report).iter("testsuite"):
        seconds += float(suite.get("time", 0))
        for case in suite.iter("testcase"):
            bad = case.find("failure") is not None or case.find("error") is not None
            if bad:
                red.add(_id(case))
            elif case.find("skipped") is None:
                passed += 1
    return Ran(frozenset(red), passed, seconds, code=code)


def failures(path: Path) -> dict[tuple[str, str], str]:
    """The messages of the failing tests of any report, by class and name; none without a report."""
    found: dict[tuple[str, str], str] = {}
    for case in ElementTree.parse(path).iter("testcase") if path.exists() else ():
        bad = next((one for kind in ("failure", "error") for one in case.iter(kind)), None)
        if bad is not None:
            name = case.get("classname", ""), case.get("name", "")
            found.setdefault(name, bad.get("message") or "")
    return found


def _id(case: ElementTree.Element) -> str:
    """The node id of a test: its file, the classes after the module's name, its own name."""
    name, file = case.get("name", ""), case.get("file", "")
    group = case.get("classname", "")
    module = file.removesuffix(".py").replace("/", ".")
    inner = group.removeprefix(module).strip(".") if group.startswith(module) else ""
    return "::".join([file, *filter(None, inner.split(".")), name])


def _wanted(checkout: Path) -> Iterator[tuple[str, ...]]:
    """What to install, the fullest first."""
    project = _toml(checkout / "pyproject.toml")
    extras = [n for n in _extras(project, checkout) if _WANTED.match(n)]
    groups = [n for n in project.get("dependency-groups", {}) if _WANTED.match(n)]
    named = [part for name in groups for part in ("--group", name)]
    files = sorted({str(p) for glob in _TABLE["lists"] for p in checkout.glob(glob)})
    listed = [part for path in files for part in ("-r", path)]
    itself = ("-e", f".[{','.join(extras)}]" if extras else ".")
    tool = tuple(_tool(project))
    yield (*itself, "pytest", *named, *listed, *tool)
    yield (*itself, "pytest", *named, *tool)
    yield (*itself, "pytest", *listed)
    for name in extras:
        yield ("-e", f".[{name}]", "pytest")
    yield ("-e", ".", "pytest")
    yield (".", "pytest")


def _toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, tomllib.TOMLDecodeError, UnicodeDecodeError):
        return {}


def _extras(project: dict[str, Any], checkout: Path) -> list[str]:
    """The extras that pyproject.toml, setup.cfg or setup.py name."""
    found = list(project.get("project", {}).get("optional-dependencies", {}))
    found += list(project.get("tool", {}).get("poetry", {}).get("extras", {}))
    cfg = checkout / "setup.cfg"
    text = cfg.read_text(errors="replace") if cfg.exists() else ""
    _, _, section = text.partition("[options.extras_require]")
    found += re.findall(r"^(\w[\w-]*)\s*=", section.partition("\n[")[0], re.MULTILINE)
    setup = checkout / "setup.py"
    if setup.exists():
        text = setup.read_text(errors="replace")
        found += re.findall(r"""['"](tests?|testing|dev)['"]\s*:""", text)
    return list(dict.fromkeys(found))


def _tool(project: dict[str, Any]) -> Iterator[str]:
    """The names that poetry, pdm, uv and hatch list for development."""
    tool = project.get("tool", {})
    poetry = tool.get("poetry", {})
    groups = [poetry.get("dev-dependencies", {})]
    groups += [g.get("dependencies", {}) for g in poetry.get("group", {}).values()]
    for group in groups:
        yield from group
    for listed in tool.get("pdm", {}).get("dev-dependencies", {}).values():
        yield from (item for item in listed if not item.startswith("-e"))
    yield from tool.get("uv", {}).get("dev-dependencies", ())
    for name, env in tool.get("hatch", {}).get("envs", {}).items():
        if _WANTED.match(name) or name in {"default", "hatch-test"}:
            yield from env.get("dependencies", ()) or ()
            yield from env.get("extra-dependencies", ()) or ()


def install(checkout: Path, folder: Path, data: Path, *wanted: str) -> None:
    """Install these, whatever else is there; PlainError where they cannot be."""
    python = str(folder / "bin/python")
    _uv(folder, data, checkout, "pip", "install", "--quiet", "--python", python, *wanted)


def uninstall(checkout: Path, folder: Path, data: Path, *names: str) -> None:
    """Take packages out of the environment."""
    python = str(folder / "bin/python")
    _uv(folder, data, checkout, "pip", "uninstall", "--quiet", "--python", python, *names)


def _install(folder: Path, data: Path, checkout: Path, *wanted: str) -> bool:
    """Whether uv could install that."""
    try:
        install(checkout, folder, data, *wanted)
    except (PlainError, subprocess.TimeoutExpired):
        return False
    return True


def _uv(folder: Path, data: Path, cwd: Path, *arguments: str) -> None:
    done = subprocess.run(
        [UV, *arguments], cwd=cwd, env=environ(folder, data), capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    if done.returncode:
        raise PlainError(f"uv {arguments[0]}: {done.stderr.strip()[-300:]}")
