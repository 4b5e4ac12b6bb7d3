"""Why a test is red where the code is not to blame: the environment, or the test's own marks."""

from __future__ import annotations

import difflib
import re
from datetime import UTC, datetime
from pathlib import Path

from heal_bot.core.model import (
    COMMAND,
    COVERAGE,
    Baseline,
    CaseResult,
    Environment,
    Failure,
    Origin,
)
from heal_bot.core.statuses import FailureStatus, RunResult
from heal_bot.ports import Tree
from heal_bot.source import paths
from heal_bot.source.tree_files import read_text
from heal_bot.verification import (
    certificate_expiry,
    dependency_causes,
    missing_test_data,
    pytest_causes,
    raise_location,
)

# How pytest and unittest call a test that passes although it is marked to fail.
_STRICT = ("[XPASS(strict)]", "XPASS(strict)", "Unexpected success", "UnexpectedSuccess")
_NO_FILE = re.compile(r"\[Errno 2\] No such file or directory: '([\w.+-]+)'")
_NO_LIBRARY = re.compile(r"([\w.+-]+\.so[\w.]*): cannot open shared object file")
# A package's own words for it.
_UNLOADED = re.compile(
    r"([\w.+-]+) (?:shared )?library (?:is |was |could |can)?not (?:be )?(?:found|installed|loaded)"
)
# A shell's, a library's and a program's own words for another program that is not there.
_NO_COMMAND = (
    re.compile(r"Command '\[?'?([\w.+-]+).{0,2000}' returned non-zero exit status 127"),
    re.compile(r"^ExecutableNotFound: failed to execute \W*(?:PosixPath\(')?([\w.+-]+)"),
    re.compile(
        r"^\w+: (?:sh: \d+: |/bin/sh: )?([\w.+-]+)(?: executable| binary)?:?"
        r" (?:is not installed|(?:was |could )?not (?:be )?found|command not found)"
    ),
)
_SERVES = re.compile(
    r"(?i)HTTPServer\b|socketserver|create_server|start_server|\.listen\(|\.bind\("
    r"|live_server|httpserver|make_server|TestServer|aiohttp_client"
)
_VARIABLE = re.compile(r"\b(?:environment|env) var|\benvvar", re.I)
_UPPER = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b|(?<=['\"$`])[A-Z][A-Z0-9]{2,}(?=['\"`])")
_SETS = re.compile(
    r"\b(?:setenv|delenv)\(|environ\[[^]]+\]\s*=|environ\.(?:update|setdefault)|"
    r"patch\.dict\(\s*[\"']?(?:os\.)?environ"
)
_AS_ROOT = re.compile(
    r"DID NOT RAISE <class '(?:PermissionError|OSError)'>|PermissionError not raised"
)
# A test that takes a right away, and what it says where that changed nothing.
_CLOSES = re.compile(r"\bchmod\(")
_UNMET = re.compile(r"AssertionError|Failed: DID NOT RAISE")
# What Python itself warns of while it compiles.
_ESCAPE = re.compile(r"SyntaxError: (?:invalid escape sequence|\"is(?: not)?\" with )")
# The codec of a locale that is not UTF-8, as its files are read and written.
_CODEC = re.compile(r"^Unicode(?:De|En)codeError: '(ascii|charmap)' codec can't")
# What a test says where the sandbox withholds a socket, a host name or a file.
_WITHHELD = re.compile(
    r"^(?:PermissionError|ConnectionRefusedError|gaierror|NewConnectionError|URLError):"
    r"|\[Errno (?:1|13|101|111)\]|name resolution"
)
# What only a missing service or network says, wherever the tests run.
_SERVICE = re.compile(
    r"^(?:\w+\.)*(?:ConnectionRefusedError|ConnectionError|ConnectError|ConnectTimeout|gaierror"
    r"|NewConnectionError|MaxRetryError|URLError|ServerSelectionTimeoutError|NoBrokersAvailable"
    r"|OperationalError): (?!no such ).*(?:refused|resolution|resolve|not permitted|unreachable"
    r"|connect|Errno)"
    # Where no path is named, a socket was asked for, or another right of the process.
    r"|^PermissionError: \[Errno (?:1\] Operation not permitted|13\] Permission denied)\Z"
    r"|^OSError: \[Errno (?:99|101|113)\]"
    r"|^(?:NoBrokersAvailable|NoCredentialsError|EndpointConnectionError|DockerException"
    r"|ServerSelectionTimeoutError|SocketBlockedError|SocketConnectBlockedError)\b",
    re.DOTALL,
)
_ELSEWHERE = frozenset({FailureStatus.ENVIRONMENT, FailureStatus.EXPLAINED})
# What tests ask of a machine that the sandbox or the image does not have, by name.
_LACKING = (
    ("a locale that is not installed here", "system-packages: locales-all",
     re.compile(r"^(?:locale\.)?Error: unsupported locale setting")),
    ("an identity for git", "set GIT_AUTHOR_NAME, GIT_AUTHOR_EMAIL, GIT_COMMITTER_NAME and"
     " GIT_COMMITTER_EMAIL in the job (env:) or in a fixture",
     # A commit that nothing but this stops ends so, where its words went elsewhere.
     re.compile(r"[Pp]lease tell me who you are|(?:Author|Committer) identity unknown"
                r"|\bgit\b\W{1,6}commit\b.{0,2000} exit status 128")),
    ("a terminal", "run `heal-bot heal` as root, whose jobs have terminals of their own",
     re.compile(r"^\w*Error: (?:out of pty devices|.*'/dev/(?:ptmx|tty|pts/\d+)')"
                r"|^(?:termios\.)?error: \(25, ")),
    ("an entry in the machine's list of users or groups", "",
     re.compile(r"^KeyError: [\"']?get(?:pwuid|grgid|pwnam|grnam)\(\): ")),
    ("a device", "", re.compile(r"^\w*Error: \[Errno (?:1|2|6|13|19)\].*'/dev/(?!shm)[^']+'")),
    ("extended attributes of files", "", re.compile(r"^OSError: \[Errno 95\]")),
)  # fmt: skip
# A file of the machine, and none of a checkout or the folders of a job.
_REFUSED = re.compile(
    r"^\w*Error: \[Errno (?:1|13|30)\].*'(/(?:boot|etc|home|opt|proc|root|run|srv|sys|usr|var)/"
    r"[^']+)'"
)


def explain_environment(seen: CaseResult, reported: Failure, tree: Tree, env: Environment) -> str:
    """What the environment lacks, with the remedy; '' when the failure is not its fault."""
    return (
        _not_started(seen)
        or _lacking(seen, reported)
        or _service(seen, reported, tree)
        or _program(seen, tree)
        or _variable(seen, tree)
        or _library(seen)
        or _coverage(seen)
        or pytest_causes.explain_pytest(seen, tree, env)
        or certificate_expiry.explain_expired(seen, tree, datetime.now(UTC))
        or missing_test_data.explain_missing_data(seen, tree)
        or dependency_causes.explain_dependency(seen, tree, env)
    )


def is_known(seen: CaseResult, reported: Failure, tree: Tree, env: Environment) -> bool:
    """Whether the failing run lacked it too, as its report tells; without one it is taken so.

    A test that starts a server of its own may be refused here for want of a network alone.
    """
    fixtures = (read_text(tree, path) for path in tree.paths() if path.endswith("conftest.py"))
    if _SERVICE.search(_said(seen)) and any(
        map(_SERVES.search, (_test_file(seen, tree), *fixtures))
    ):
        return False
    return is_alike(reported, seen) or bool(
        explain_environment(make_failure(reported), reported, tree, env)
    )


def is_alike(reported: Failure, seen: CaseResult) -> bool:
    """Whether the report names the exception that was seen here, or none."""
    return reported.kind.rpartition(".")[2] in {"", seen.kind.rpartition(".")[2]}


def select_versions(baseline: Baseline, tree: Tree, env: Environment) -> tuple[Failure, ...]:
    """The failures that are explained by words about a package's version, which can be proved."""
    told = (item.failure for item in baseline.reproduced if item.status == FailureStatus.EXPLAINED)
    return tuple(
        failure
        for failure in told
        if dependency_causes.explain_dependency(make_failure(failure), tree, env)
    )


def select_services(baseline: Baseline) -> tuple[Failure, ...]:
    """The failures that are put down to a service or the network which tests do not have here."""
    told = (r.failure for r in baseline.reproduced if r.status in _ELSEWHERE)
    return tuple(f for f in told if _SERVICE.search(_said(f)) or _WITHHELD.search(_said(f)))


def make_failure(failure: Failure) -> CaseResult:
    """A reported failure as if it had been seen here."""
    return CaseResult(failure.test, RunResult.FAILED, kind=failure.kind, message=failure.message,
                      frames=failure.frames)  # fmt: skip


def explain_elsewhere(reported: Failure, tree: Tree, env: Environment) -> str:
    """What the failing run lacked and this machine has, by the report of a test that passes here.

    As root no mode of a file refuses anything; the sandbox runs as another user.
    """
    closes = _CLOSES.search(raise_location.read_test(tree, reported.test))
    if _AS_ROOT.search(reported.message) or (closes and _UNMET.match(_said(reported))):
        return (
            "it ran as root there, whom the mode of a file does not stop, and passes here as"
            " another user: run the job as one (container options: --user 1001), or skip it for"
            " uid 0"
        )
    if codec := _CODEC.match(_said(reported)):
        return (
            f"the locale there had the encoding {codec[1]}, and UTF-8 here: set PYTHONUTF8=1 or"
            " LC_ALL=C.UTF-8 in the job, or name an encoding where files are opened"
        )
    return explain_environment(make_failure(reported), reported, tree, env) if reported.kind else ""


def explain_strictness(reported: Failure) -> str:
    """That a warning was an error in the failing run, and how to have it so here; else ''."""
    escape = _ESCAPE.search(reported.message)
    if not escape and not reported.kind.endswith("Warning"):
        return ""
    return (
        f"warnings were errors there ({escape[0] if escape else reported.kind}): heal with"
        " --test-command 'pytest -W error', or the options it had, to see whose fault that is"
    )


def _not_started(seen: CaseResult) -> str:
    """A test command that the shell cannot find or may not execute."""
    if seen.test != COMMAND or seen.kind not in {"exit 126", "exit 127"}:
        return ""
    return (
        f"the test-command does not start here ({seen.message}): install what it needs with"
        " setup or system-packages, or name it by its path"
    )


def explain_stale(seen: CaseResult) -> str:
    """Why the test itself says that it is out of date; '' when it does not."""
    if seen.kind in _STRICT or seen.message.startswith(_STRICT):
        return "it passes where it is marked to fail: the mark, not the code, is out of date"
    return ""


def _lacking(seen: CaseResult, reported: Failure) -> str:
    """What the sandbox refuses or the image does not hold."""
    said = _said(seen)
    for what, remedy, shows in _LACKING:
        if shows.search(said):
            return (
                f"it needs {what} ({said.splitlines()[0]}):"
                f" {remedy or 'replace it by a fake'}, or name the other tests with --only"
            )
    refused = _REFUSED.search(said)
    if refused is None or refused[1] in _said(reported):
        return ""
    return (
        f"it needs {refused[1]} of the machine, which tests may not use here: replace it by a fake,"
        " or name the other tests with --only"
    )


def _service(seen: CaseResult, reported: Failure, tree: Tree) -> str:
    said, told = _said(seen), _said(reported)
    if raise_location.is_own_raise(tree, seen):
        return ""
    if _WITHHELD.search(said) and told.strip(": ") and not _WITHHELD.search(told):
        return (
            "it fails here for what the sandbox withholds (network, a file or a permission),"
            " and otherwise in the report; not verified here"
        )
    if _SERVICE.search(said):
        return (
            f"it needs a service or the network ({said.splitlines()[0]}), which tests do not"
            " have here: replace it by a fake, or name the other tests with --only"
        )
    return ""


def _program(seen: CaseResult, tree: Tree) -> str:
    """A program that the machine does not have; one of the repository's own is the code's fault."""
    found = _NO_FILE.search(seen.message)
    if found is None or not any(f.path.endswith("/subprocess.py") for f in seen.frames[-1:]):
        found = next(filter(None, (p.search(_said(seen)) for p in _NO_COMMAND)), None)
        # What a test says of its own rows and names is no word of a shell.
        if found is None or seen.kind.rpartition(".")[2] in {"AssertionError", "Failed"}:
            return ""
        if raise_location.is_own_raise(tree, seen) and not _looked_for(seen, tree):
            return ""
    ours = any(path.rpartition("/")[2] == found[1] for path in tree.paths())
    if ours or _is_there(found[1]) or _is_folder(found[1], seen, tree):
        return ""
    return (
        f"the program {found[1]} is missing here: name its Debian package in system-packages,"
        " replace it by a fake, or leave the test out"
    )


def _is_folder(name: str, seen: CaseResult, tree: Tree) -> bool:
    """Whether what is not there may be the folder that a process was to start in."""
    own = [frame for frame in seen.frames if frame.origin is not Origin.LIBRARY]
    call = raise_location.find_statement(tree, own[-1]) if own else ""
    return "cwd=" in call and not re.search(rf"(?<!cwd=)[\"']{re.escape(name)}\b", call)


def _looked_for(seen: CaseResult, tree: Tree) -> bool:
    """Whether the function that raised it asked the machine for a program."""
    last = raise_location.find_function(tree, seen.frames[-1])
    return last is not None and "which(" in last.source


def _is_there(program: str) -> bool:
    """Whether the machine has it, or one that is written almost so: then the name is wrong."""
    folders = filter(Path.is_dir, map(Path, ("/usr/local/bin", "/usr/bin", "/bin")))
    there = {path.name for folder in folders for path in folder.iterdir()}
    close = difflib.get_close_matches(program, there, n=1, cutoff=0.85)
    return bool(close) and program.strip("0123456789.-") != close[0].strip("0123456789.-")


def _variable(seen: CaseResult, tree: Tree) -> str:
    """A variable of the environment that nobody set, and that the test does not set either."""
    said = seen.message
    if seen.kind == "KeyError":
        project = [frame for frame in seen.frames if frame.origin is not Origin.LIBRARY]
        line = raise_location.read_line(tree, project[-1]) if project else ""
        asks = "environ" in line or any(
            f.path.endswith(("/os.py", "<frozen os>")) and f.function == "__getitem__"
            for f in seen.frames[-1:]
        )
    else:
        asks = bool(_VARIABLE.search(said)) and seen.kind != "AssertionError"
    name = _UPPER.search(said) if asks else None
    if name is None or _is_set(name[0], seen, tree) or _was_optional(name[0], seen, tree):
        return ""
    return (
        f"the environment variable {name[0]} is not set where the tests run: set it in the job"
        " (env:) or in a fixture, or leave the test out"
    )


def _was_optional(name: str, seen: CaseResult, tree: Tree) -> bool:
    """Whether the code did without the variable before the commits under test."""
    own = [frame for frame in seen.frames if frame.origin is Origin.PROJECT]
    before = tree.former(own[-1].path) if own else None
    asked = re.compile(rf"(?:environ\.get|getenv)\(\s*[\"']{re.escape(name)}[\"']")
    return before is not None and bool(asked.search(before.decode(errors="replace")))


def _is_set(name: str, seen: CaseResult, tree: Tree) -> bool:
    """Whether the tests set it, or one that is written almost so."""
    text = _test_file(seen, tree)
    if _SETS.search(text):
        return True
    files = [p for p in tree.paths() if p.endswith(("conftest.py", ".ini", ".toml", ".cfg"))]
    text += "".join(read_text(tree, path) for path in files)
    words = set(_UPPER.findall(text)) - {name}
    return bool(difflib.get_close_matches(name, words, n=1, cutoff=0.85))


def _test_file(seen: CaseResult, tree: Tree) -> str:
    path = seen.test.partition("::")[0]
    return read_text(tree, path) if paths.is_test(path) else ""


def _coverage(seen: CaseResult) -> str:
    """A command that fails for the coverage alone."""
    if seen.test != COMMAND or seen.kind != COVERAGE:
        return ""
    return f"no test fails, the coverage does ({seen.message}): add tests, or lower fail-under"


def _library(seen: CaseResult) -> str:
    """A shared library that the machine does not have, as the loader names it."""
    found = _NO_LIBRARY.search(seen.message)
    if not found and seen.frames and seen.frames[-1].origin is Origin.LIBRARY:
        found = _UNLOADED.match(seen.message)
    if not found:
        return ""
    return (
        f"the shared library {found[1]} is missing here: name its Debian package in "
        "system-packages, or run `heal-bot heal` in the test job itself"
    )


def _said(failure: CaseResult | Failure) -> str:
    """Kind and message, whether or not the message repeats the kind."""
    name = failure.kind.rpartition(".")[2]
    message = failure.message.removeprefix(f"{failure.kind}: ").removeprefix(f"{name}: ")
    return f"{name}: {message}"
