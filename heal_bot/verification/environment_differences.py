"""What differs between this environment and that of the failing run, by what tests do in both."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

from heal_bot.core.model import Baseline, Environment, Report, SuiteRun
from heal_bot.core.statuses import FailureStatus
from heal_bot.core.text import count, one_line
from heal_bot.ports import Tree
from heal_bot.source import guard, module_names
from heal_bot.verification import dependency_causes

# The local time, where no time zone is given.
_LOCAL = re.compile(
    r"\bfromtimestamp\([^,()]*\)|\blocaltime\(|\bmktime\(|\.astimezone\(\)|tzlocal\("
)
_CLIP = 200


def explain_differences(test: str, suite: SuiteRun, tree: Tree, env: Environment) -> str:
    """What to look at in the failing run: its time zone, a package that the code does without."""
    executed = suite.spectrum.list_lines(test) if suite.spectrum is not None else {}
    for path, lines in sorted(executed.items()):
        try:
            text = guard.check_text(tree.read(path))
        except (guard.SourceRejected, KeyError):
            continue
        shown = text.splitlines()
        for number in sorted(lines):
            if number <= len(shown) and _LOCAL.search(shown[number - 1]):
                return (
                    f"{path}:{number} reads the local time, which is UTC here: set TZ=UTC in the"
                    " job, or the time zone in the test"
                )
        for name, number in _optional(text):
            if dependency_causes.is_installed(name, tree, env):
                return (
                    f"{path}:{number} does without {name} where it is not installed, and it is"
                    " here: install it in the job"
                )
    return ""


def _optional(text: str) -> Iterator[tuple[str, int]]:
    """The packages whose imports a file catches the failure of, with their lines."""
    for node in ast.walk(guard.parse(text)):
        for part in node.body if isinstance(node, ast.Try) and node.handlers else ():
            if isinstance(part, ast.Import):
                yield part.names[0].name.partition(".")[0], part.lineno
            elif isinstance(part, ast.ImportFrom) and part.module and not part.level:
                yield part.module.partition(".")[0], part.lineno


def doubt_environment(report: Report, baseline: Baseline, tree: Tree) -> Baseline:
    """The baseline, with the environment to blame where it fails most tests that the job passed.

    Fewer tests pass here than in the report, and more fail beside those it names than pass.
    """
    suite, green = baseline.suite, len(baseline.suite.passed)
    named = {one.failure.test for one in baseline.reproduced}
    others = [red for red in suite.red if red.test not in named]
    if report.stopped or not suite.finished or green >= min(report.passed, len(others)):
        return baseline
    messages = (f"{red.kind}: {red.message.strip()}".partition("\n")[0] for red in others)
    said, times = Counter(messages).most_common(1)[0]
    reason = (
        f"{count(len(others), 'test')} that the report does not name fail here too, {times} with"
        f" {one_line(said, _CLIP)}: the job has something that this environment lacks"
        f"{_place_module(said, tree)}"
    )
    blamed = (
        replace(one, failure=replace(one.failure, reason=reason), status=FailureStatus.ENVIRONMENT)
        if one.confirmed
        else one
        for one in baseline.reproduced
    )
    return replace(baseline, reproduced=tuple(blamed))


def _place_module(message: str, tree: Tree) -> str:
    """Where the checkout holds a module that is not found, and what puts it on the path; or ''."""
    name = module_names.find_missing(message)[0].partition(".")[0]
    found = module_names.file_of(name, tree.paths()) if name else ""
    folder = found.removesuffix(".py").removesuffix("/__init__").rpartition("/")[0]
    return f"; {folder} holds {name}: set PYTHONPATH to it in the job that tests" if folder else ""
