"""Why a test is red where the code is not to blame: the environment, or the test's own marks."""

from __future__ import annotations

import difflib
import re
import sys

from heal_bot.model import COMMAND, CaseResult, Environment, Failure
from heal_bot.ports import Tree
from heal_bot.verify import plugins

# How pytest and unittest call a test that passes although it is marked to fail.
_STRICT = ("[XPASS(strict)]", "XPASS(strict)", "Unexpected success", "UnexpectedSuccess")
_MISSING = frozenset({"ModuleNotFoundError", "ImportError"})
_NO_MODULE = re.compile(r"No module named '([\w.]+)'")
_NO_FILE = re.compile(r"\[Errno 2\] No such file or directory: '([\w.+-]+)'")
_NO_LIBRARY = re.compile(r"([\w.+-]+\.so[\w.]*): cannot open shared object file")
_NO_NAME = re.compile(r"cannot import name '\w+' from '([\w.]+)' \(([^)]*)\)")
# What a test says where the sandbox withholds a socket, a host name or a file.
_WITHHELD = re.compile(
    r"^(?:PermissionError|ConnectionRefusedError|gaierror|NewConnectionError|URLError):"
    r"|\[Errno (?:1|13|101|111)\]|name resolution"
)
# What only a missing service or network says, wherever the tests run.
_SERVICE = re.compile(
    r"^(?:\w+\.)*(?:ConnectionRefusedError|ConnectionError|ConnectError|ConnectTimeout|gaierror"
    r"|NewConnectionError|MaxRetryError|URLError|ServerSelectionTimeoutError|NoBrokersAvailable"
    r"|OperationalError): .*(?:refused|resolution|resolve|not permitted|unreachable|connect|Errno)"
    # Where no path is named, a socket was asked for, or another right of the process.
    r"|^PermissionError: \[Errno (?:1\] Operation not permitted|13\] Permission denied)\Z"
    r"|^OSError: \[Errno (?:99|101|113)\]"
    r"|^(?:NoBrokersAvailable|NoCredentialsError|EndpointConnectionError|DockerException"
    r"|ServerSelectionTimeoutError)\b",
    re.DOTALL,
)
# What tests ask of a machine that the sandbox or the image does not have, by name.
_LACKING = (
    ("a locale that is not installed here", "system-packages: locales-all",
     re.compile(r"^(?:locale\.)?Error: unsupported locale setting")),
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


def environment(seen: CaseResult, reported: Failure, tree: Tree, env: Environment) -> str:
    """What the environment lacks, with the remedy; '' when the failure is not its fault."""
    return (
        _not_started(seen)
        or _lacking(seen, reported)
        or _service(seen, reported)
        or _program(seen, tree)
        or _library(seen)
        or _plugin(seen, tree, env)
        or _package(seen.kind, seen.message, tree)
    )


def _not_started(seen: CaseResult) -> str:
    """A test command that the shell cannot find or may not execute."""
    if seen.test != COMMAND or seen.kind not in {"exit 126", "exit 127"}:
        return ""
    return (
        f"the test-command does not start here ({seen.message}): install what it needs with"
        " setup or system-packages, or name it by its path"
    )


def stale(seen: CaseResult) -> str:
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
                f" {remedy or 'replace it by a fake'}, or leave the test out with --only"
            )
    refused = _REFUSED.search(said)
    if refused is None or refused[1] in _said(reported):
        return ""
    return (
        f"it needs {refused[1]} of the machine, which tests may not use here: replace it by a fake,"
        " or leave the test out with --only"
    )


def _service(seen: CaseResult, reported: Failure) -> str:
    said, told = _said(seen), _said(reported)
    if _WITHHELD.search(said) and told.strip(": ") and not _WITHHELD.search(told):
        return (
            "it fails here for what the sandbox withholds (network, a file or a permission),"
            " and otherwise in the report; not verified here"
        )
    if _SERVICE.search(said):
        return (
            f"it needs a service or the network ({said.splitlines()[0]}), which tests do not"
            " have here: replace it by a fake, or leave the test out with --only"
        )
    return ""


def _program(seen: CaseResult, tree: Tree) -> str:
    """A program that the machine does not have; one of the repository's own is the code's fault."""
    found = _NO_FILE.search(seen.message)
    started = any(frame.path.endswith("/subprocess.py") for frame in seen.frames[-1:])
    if found is None or not started or any(p.rpartition("/")[2] == found[1] for p in tree.paths()):
        return ""
    return f"the program {found[1]} is missing here: replace it by a fake, or leave the test out"


def _library(seen: CaseResult) -> str:
    """A shared library that the machine does not have, as the loader names it."""
    if not (found := _NO_LIBRARY.search(seen.message)):
        return ""
    return (
        f"the shared library {found[1]} is missing here: name its Debian package in "
        "system-packages, or run `heal-bot heal` in the test job itself"
    )


def _plugin(seen: CaseResult, tree: Tree, env: Environment) -> str:
    """A plugin of pytest that gives what the test asks for."""
    lacking = plugins.of(seen, tree, env)
    if not lacking:
        return ""
    return (
        f"pytest's plugin {lacking[0]}, which the test asks for, is missing: install it in the test"
        " environment"
    )


def _said(failure: CaseResult | Failure) -> str:
    """Kind and message, whether or not the message repeats the kind."""
    name = failure.kind.rpartition(".")[2]
    message = failure.message.removeprefix(f"{failure.kind}: ").removeprefix(f"{name}: ")
    return f"{name}: {message}"


def _package(kind: str, message: str, tree: Tree) -> str:
    """A package that is missing, or has another version than the code was written for."""
    if kind not in _MISSING and "No module named" not in message:
        return ""
    if found := _NO_MODULE.search(message):
        top = found[1].partition(".")[0]
        if _is_ours(top, tree) or _is_misspelt(top, tree):
            return ""
        return f"the package that holds {found[1]} is missing: install it in the test environment"
    if found := _NO_NAME.search(message):
        top = found[1].partition(".")[0]
        if "site-packages" in found[2] and not _is_ours(top, tree):
            return f"{message}: another version of {top} is installed than the code expects"
        return ""
    return ""


def _is_ours(top: str, tree: Tree) -> bool:
    """Whether the repository holds a module or package of that name."""
    names = (f"{top}.py", f"{top}/")
    return any(path.startswith(names) or f"/{top}/" in path or path.endswith(f"/{top}.py")
               for path in tree.paths())  # fmt: skip


def _is_misspelt(top: str, tree: Tree) -> bool:
    """Whether the name is close to one that exists: then the code is wrong, not the machine."""
    known = {path.partition("/")[0].removesuffix(".py") for path in tree.paths()}
    known |= sys.stdlib_module_names
    return bool(difflib.get_close_matches(top, known - {top}, n=1, cutoff=0.85))
