"""What the environment lacks, read off a failure."""

from __future__ import annotations

import pytest

from heal_bot.core.model import COMMAND, CaseResult, Failure, Frame, Origin
from heal_bot.verification.non_code_causes import explain_environment
from tests.fakes import ENVIRONMENT


class Tree:
    """A tree without files."""

    def paths(self) -> tuple[str, ...]:
        return ()

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return {}

    def read(self, path: str) -> bytes:
        raise KeyError(path)


@pytest.mark.parametrize(
    ("kind", "message", "named"),
    [
        ("ImportError", "libpq.so.5: cannot open shared object file: No such file or directory",
         "libpq.so.5"),
        ("OSError", "libGL.so: cannot open shared object file: No such file or directory",
         "libGL.so"),
        ("E", "OSError: libstdc++.so.6: cannot open shared object file: No such file",
         "libstdc++.so.6"),
        ("OSError", "[Errno 2] No such file or directory: 'prices.so'", ""),
    ],
)  # fmt: skip
def test_a_shared_library_that_is_missing_is_named_with_the_remedy(
    kind: str, message: str, named: str
) -> None:
    seen = CaseResult("tests/test_a.py", "error", kind=kind, message=message)
    said = explain_environment(seen, Failure("tests/test_a.py", kind, message), Tree(), ENVIRONMENT)  # type: ignore[arg-type]
    if named:
        assert f"the shared library {named} is missing here" in said
        assert "system-packages, or run `heal-bot heal` in the test job" in said
    else:
        assert "shared library" not in said


@pytest.mark.parametrize(
    ("message", "origin", "named"),
    [
        ("PortAudio library not found", Origin.LIBRARY, "PortAudio"),
        ("libmagic shared library could not be loaded", Origin.LIBRARY, "libmagic"),
        ("PortAudio library not found", Origin.PROJECT, ""),
        ("no library was found", Origin.LIBRARY, ""),
    ],
)
def test_a_package_says_in_its_own_words_which_library_is_missing(
    message: str, origin: Origin, named: str
) -> None:
    frames = (Frame("x.py", 1, "load", origin),)
    seen = CaseResult("tests/test_a.py::t", "failed", kind="OSError", message=message,
                      frames=frames)  # fmt: skip
    said = explain_environment(seen, Failure(seen.test, seen.kind, message), Tree(), ENVIRONMENT)  # type: ignore[arg-type]
    assert (f"the shared library {named} is missing here" in said) == bool(named)


@pytest.mark.parametrize(
    ("kind", "message", "named"),
    [
        ("Error", "unsupported locale setting", "a locale that is not installed here"),
        ("locale.Error", "locale.Error: unsupported locale setting", "locales-all"),
        ("CalledProcessError", "(['git', 'commit'], 128, b'*** Please tell me who you are.')",
         "GIT_AUTHOR_NAME"),
        ("CalledProcessError",
         "Command '('git', 'commit', '-m1')' returned non-zero exit status 128.",
         "GIT_AUTHOR_NAME"),
        ("CalledProcessError", "Command '('git', 'commit')' returned non-zero exit status 1.", ""),
        ("OSError", "out of pty devices", "a terminal"),
        ("PermissionError", "[Errno 13] Permission denied: '/dev/ptmx'", "a terminal"),
        ("OSError", "[Errno 6] No such device or address: '/dev/tty'", "a terminal"),
        ("termios.error", "(25, 'Inappropriate ioctl for device')", "a terminal"),
        ("KeyError", "'getpwuid(): uid not found: 60012'", "list of users"),
        ("FileNotFoundError", "[Errno 2] No such file or directory: '/dev/video0'", "a device"),
        ("PermissionError", "[Errno 13] Permission denied: '/dev/kvm'", "a device"),
        ("OSError", "[Errno 95] Operation not supported", "extended attributes"),
        ("PermissionError", "[Errno 13] Permission denied: '/var/log/app.log'", "/var/log/app.log"),
        ("Error", "unsupported currency", ""),
        ("KeyError", "'uid'", ""),
        ("PermissionError", "[Errno 13] Permission denied: '/tmp/heal-bot-x/slot-1/tmp/a'", ""),
        ("FileNotFoundError", "[Errno 2] No such file or directory: '/var/log/app.log'", ""),
        ("FileNotFoundError", "[Errno 2] No such file or directory: '/dev/shm/x'", ""),
    ],
)  # fmt: skip
def test_what_the_sandbox_lacks_is_named(kind: str, message: str, named: str) -> None:
    seen = CaseResult("tests/test_a.py::test_it", "failed", kind=kind, message=message)
    other = Failure(seen.test, "AssertionError", "assert 1 == 2")
    said = explain_environment(seen, other, Tree(), ENVIRONMENT)  # type: ignore[arg-type]
    assert "\n" not in said
    if named:
        assert named in said
        assert "--only" in said
    else:
        assert "it needs" not in said


def test_a_refused_file_that_the_report_names_too_is_the_codes_matter() -> None:
    message = "[Errno 13] Permission denied: '/var/log/app.log'"
    seen = CaseResult("tests/test_a.py::test_it", "failed", kind="PermissionError", message=message)
    told = Failure(seen.test, "PermissionError", message)
    assert explain_environment(seen, told, Tree(), ENVIRONMENT) == ""  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("test", "kind", "message"),
    [
        ("t", "PermissionError", "[Errno 13] Permission denied: '/dev/kvm" + "a" * 300 + "'"),
        ("t", "ConnectionRefusedError", "refused by " + "a" * 300),
        (COMMAND, "exit 127", "not found: " + "a" * 300),
    ],
)
def test_what_was_said_is_whole_for_who_hides_secrets_in_it(
    test: str, kind: str, message: str
) -> None:
    seen = CaseResult(test, "failed", kind=kind, message=message)
    said = explain_environment(seen, Failure(test, "", ""), Tree(), ENVIRONMENT)  # type: ignore[arg-type]
    assert message in said


@pytest.mark.parametrize(
    ("kind", "message"),
    [
        ("AssertionError", "row3 not found in the table"),
        ("Failed", "row3 not found"),
        ("OperationalError", "no such table: connections"),
    ],
)
def test_what_a_test_or_a_database_says_of_its_own_rows_is_no_lack(kind: str, message: str) -> None:
    seen = CaseResult("tests/test_a.py::test_a", "failed", kind=kind, message=message)
    failure = Failure("tests/test_a.py::test_a", kind, message)
    assert explain_environment(seen, failure, Tree(), ENVIRONMENT) == ""  # type: ignore[arg-type]
