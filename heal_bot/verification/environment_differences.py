"""What a test that is green here may have had otherwise in the failing run, by what it executes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from heal_bot.core.model import Environment, SuiteRun
from heal_bot.ports import Tree
from heal_bot.source import guard
from heal_bot.verification import dependency_causes

# The local time, where no time zone is given.
_LOCAL = re.compile(
    r"\bfromtimestamp\([^,()]*\)|\blocaltime\(|\bmktime\(|\.astimezone\(\)|tzlocal\("
)


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
