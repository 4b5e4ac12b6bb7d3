"""The options of a test command that is pytest itself: heal-bot runs pytest with them."""

from __future__ import annotations

import shlex

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
        words = shlex.split(command)
    except ValueError:
        return None
    start = next((s for s in _STARTS if tuple(words[: len(s)]) == s), None)
    if start is None or any(set(word) & set("|&;<>$`") for word in words):
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
