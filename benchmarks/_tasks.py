"""What the model benchmark has repaired: our own small tasks, and the QuixBugs programs.

Our own are functions that are missing their logic, which no single edit brings back. Their
held-out assertions are never shown to a model.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from benchmarks._quixbugs import FRESH

_INI = '[tool.pytest.ini_options]\npythonpath = ["."]\n'


@dataclass(frozen=True, slots=True)
class Task:
    """A project with red tests; `judge` runs on the patched file, and 0 says that it is right."""

    name: str
    path: str
    files: dict[str, str]
    judge: tuple[str, ...]


def _own(name: str, header: str, said: str, body: str, tests: str, held: str) -> Task:
    """A task of one function; tests and held-out claims are asserts, separated by semicolons."""
    source = f'def {header}:\n    """{said}"""\n{body}'
    cases = "".join(
        f"\n\ndef test_{number}():\n    assert {claim.strip()}\n"
        for number, claim in enumerate(tests.split(";"))
    )
    called = header.partition("(")[0]
    check = "\n".join(f"assert {claim.strip()}" for claim in held.split(";"))
    program = f"import sys\nexec(open(sys.argv[1]).read())\n{check}\n"
    files = {
        "pyproject.toml": _INI,
        f"tool/{name}.py": source,
        "tool/__init__.py": "",
        f"tests/test_{name}.py": f"from tool.{name} import {called}\n{cases}",
    }
    return Task(name, f"tool/{name}.py", files, (sys.executable, "-I", "-c", program))


OWN = (
    _own(
        "initials", "initials(name)", "First letters of words as capitals; hyphens part words.",
        "    return name[:1]\n",
        "initials('ada lovelace') == 'AL'; initials('') == ''; initials('mary-jane w') == 'MJW'",
        "initials(' x  y ') == 'XY'; initials('a-b-c') == 'ABC'; initials('Zed') == 'Z'",
    ),
    _own(
        "ranges", "ranges(numbers)", "Numbers once, sorted, as text; runs of three or more as a-b.",
        "    return ','.join(map(str, numbers))\n",
        "ranges([3, 1, 2]) == '1-3'; ranges([1, 2]) == '1,2'; ranges([5, 5, 7, 8, 9]) == '5,7-9'",
        "ranges([]) == ''; ranges([-1, 0, 1]) == '-1-1'; ranges([1, 3, 5]) == '1,3,5';"
        " ranges(range(1, 11)) == '1-10'",
    ),
    _own(
        "seconds", "seconds(text)", "Seconds in a duration such as 1h 5m 3s; else ValueError.",
        "    return int(text.rstrip('s'))\n",
        "seconds('3s') == 3; seconds('1h 5m 3s') == 3903; seconds('2m') == 120",
        "seconds('1h3s') == 3603; seconds('0s') == 0; seconds('10m 10s') == 610",
    ),
    _own(
        "merged", "merged(spans)", "Spans (first, last) that touch or overlap joined, in order.",
        "    return list(spans)\n",
        "merged([(1, 3), (2, 5)]) == [(1, 5)]; merged([(5, 6), (1, 2)]) == [(1, 2), (5, 6)];"
        " merged([(1, 2), (2, 3)]) == [(1, 3)]",
        "merged([]) == []; merged([(1, 9), (2, 3)]) == [(1, 9)];"
        " merged([(3, 4), (1, 2), (2, 3)]) == [(1, 4)]",
    ),
    _own(
        "wrapped", "wrapped(text, width)", "Lines of whole words within width; longer words alone.",
        "    return [text[:width]]\n",
        "wrapped('aa bb cc', 5) == ['aa bb', 'cc']; wrapped('abcdefgh x', 3) == ['abcdefgh', 'x'];"
        " wrapped('', 5) == []",
        "wrapped('a b c', 1) == ['a', 'b', 'c']; wrapped('  a   b ', 9) == ['a b'];"
        " wrapped('ab cd', 4) == ['ab', 'cd']",
    ),
    _own(
        "decoded", "decoded(text)", "Expands counts before letters, also of two digits: 2a10b.",
        "    return text\n",
        "decoded('2a3b') == 'aabbb'; decoded('10x') == 'x' * 10; decoded('abc') == 'abc'",
        "decoded('') == ''; decoded('0ab') == 'b'; decoded('a12b') == 'a' + 'b' * 12",
    ),
)  # fmt: skip


def quixbugs(data: Path) -> Iterator[Task]:
    """The programs of a checkout of jkoppel/QuixBugs, judged on fresh inputs."""
    for name in sorted(FRESH):
        files = {
            path: (data / path).read_text(encoding="utf-8")
            for path in (
                "conftest.py",
                f"python_programs/{name}.py",
                f"python_testcases/test_{name}.py",
                "python_testcases/load_testdata.py",
                f"json_testcases/{name}.json",
                "python_testcases/node.py",
                "python_programs/node.py",
            )
            if (data / path).exists()
        }
        reference = data / "correct_python_programs" / f"{name}.py"
        judge = (sys.executable, "-m", "benchmarks._tasks", name, "{patched}", str(reference))
        yield Task(name, f"python_programs/{name}.py", files, judge)


def commit(task: Task, folder: Path) -> None:
    """The task as a repository."""
    shutil.rmtree(folder, ignore_errors=True)
    for path, text in task.files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    who = ("-c", "user.name=bench", "-c", "user.email=bench@localhost")
    for step in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-qm", "Task"]):
        subprocess.run(["git", *step], cwd=folder, check=True, capture_output=True, timeout=60)


def is_right(task: Task, patched: str, folder: Path) -> bool:
    """Whether a patched file holds what its tests do not say."""
    file = folder / "patched.py"
    file.write_text(patched, encoding="utf-8")
    argv = [part.replace("{patched}", str(file)) for part in task.judge]
    if "{patched}" not in task.judge:
        argv.append(str(file))
    try:
        done = subprocess.run(
            argv, cwd=Path(__file__).parent.parent, capture_output=True, timeout=120, check=False
        )
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


if __name__ == "__main__":
    from benchmarks._quixbugs import differing

    sys.exit(bool(differing(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))[1]))
