"""A test command that is pytest itself: heal-bot runs pytest with its options and variables."""

from __future__ import annotations

import re
import shlex

_ASSIGNED = re.compile(r"([A-Za-z_]\w{0,99})=(.*)", re.DOTALL)
# What steers the interpreter, the loader, git or the run itself is ours to set.
_OURS = re.compile(
    r"(?:PATH|HOME|USER|LOGNAME|SHELL|CI|TMPDIR|(?:LD|GIT|GITHUB|RUNNER|HEAL_BOT|COV|COVERAGE"
    r"|PYTEST|PIP|UV|VIRTUAL)_.*|PYTHON(?!WARNINGS|UTF8|OPTIMIZE|DEVMODE).*"
    # Colours would stand in the messages of failures.
    r"|FORCE_COLOR|PY_COLORS|CLICOLOR_FORCE)\Z"
)
VARIABLE = "PYTEST_ADDOPTS"
_STARTS = (("pytest",), ("py.test",), ("python", "-m", "pytest"), ("python3", "-m", "pytest"))
# Options whose value is the word after them (`pytest --help`, 9.0).
_VALUED = frozenset({
    "-W", "-c", "-k", "-m", "-n", "-o", "-p", "-r", "--basetemp", "--capture", "--color",
    "--confcutdir", "--cov", "--deselect", "--dist", "--durations", "--ignore", "--ignore-glob",
    "--import-mode", "--junit-xml", "--junitxml", "--log-level", "--maxfail", "--override-ini",
    "--pythonwarnings", "--rootdir", "--tb", "--timeout",
})  # fmt: skip


def find_options(command: str) -> str | None:
    """The options as `PYTEST_ADDOPTS` has them; None for a command that is not pytest alone.

    Paths tell pytest where tests lie when nobody names any: `testpaths` does the same.
    """
    try:
        variables, words = _split(command)
    except ValueError:
        return None
    if not all(map(may_set, variables)):
        return None
    start = next((s for s in _STARTS if tuple(words[: len(s)]) == s), None)
    if start is None or any(set(word) & set("|&;<>$`") for word in [*words, *variables.values()]):
        return None
    options, paths = list[str](), list[str]()
    valued = False
    for word in words[len(start) :]:
        (options if valued or word.startswith("-") else paths).append(word)
        valued = not valued and word in _VALUED
    if any("::" in path for path in paths):
        return None
    if paths:
        options += ["-o", f"testpaths={' '.join(paths)}"]
    return shlex.join(options)


def find_variables(command: str) -> dict[str, str]:
    """What a command that is pytest sets in front of it, with or without `env`."""
    return _split(command)[0] if find_options(command) is not None else {}


def may_set(name: str) -> bool:
    """Whether tests may be given a variable of this name."""
    return _ASSIGNED.fullmatch(f"{name}=") is not None and not _OURS.match(name)


def _split(command: str) -> tuple[dict[str, str], list[str]]:
    """The variables in front of a command, and its own words; ValueError for an open quote."""
    words = shlex.split(command)
    words = words[1:] if words[:1] == ["env"] else words
    found: dict[str, str] = {}
    while words and (match := _ASSIGNED.fullmatch(words[0])):
        found[match[1]] = match[2]
        words = words[1:]
    return found, words
