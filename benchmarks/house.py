"""The house in numbers: how large it is, and how well things are found and told apart.

Read from the syntax trees of `heal_bot`; nothing is run. `complex_functions` are those that ruff's
C901 counts above ten outside of the repair templates, `ambiguous_stems` module names that stand in
more than one package, `tiny_modules` those under 30 lines but `__init__`, `duplicates` pairs of
places with six lines alike (no imports, no decorators, no docstrings among them).
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from pathlib import Path

from benchmarks._cases import options_of

ROOT = Path(__file__).parent.parent
_TINY = 30
_ALIKE = 6
_TEMPLATES = "heal_bot/repair/templates/"


def main(argv: list[str]) -> int:
    """Count, and print one JSON object."""
    options_of("house").parse_args(argv)
    print(json.dumps(measure(ROOT)))
    return 0


def measure(root: Path) -> dict[str, object]:
    """The figures of a checkout."""
    package = root / "heal_bot"
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(package.rglob("*.py"))}
    lines = {path: len(text.splitlines()) for path, text in texts.items()}
    repair = sum(n for path, n in lines.items() if path.is_relative_to(package / "repair"))
    bench = sum(len(p.read_text().splitlines()) for p in (root / "benchmarks").rglob("*.py"))
    plain = [path for path in texts if path.name != "__init__.py"]
    return {
        "benchmark": "house",
        "lines": sum(lines.values()),
        "lines_outside_repair": sum(lines.values()) - repair,
        "benchmark_lines": bench,
        "files": len(texts),
        "top_level_modules": sum(path.parent == package for path in texts),
        "circles": len(find_circles(root, texts)),
        "complex_functions": count_complex(root),
        "ambiguous_stems": find_ambiguous(plain),
        "tiny_modules": sum(lines[path] < _TINY for path in plain),
        "duplicates": count_duplicates(texts.values()),
        "complete": True,
    }


def find_ambiguous(paths: list[Path]) -> list[str]:
    """The names that modules of several packages have."""
    homes: defaultdict[str, set[Path]] = defaultdict(set)
    for path in paths:
        homes[path.stem].add(path.parent)
    return sorted(stem for stem, found in homes.items() if len(found) > 1)


def find_circles(root: Path, texts: Mapping[Path, str]) -> list[set[str]]:
    """Groups of modules that import each other, at their top or within functions."""
    names = {_dotted(root, path): path for path in texts}
    graph = {name: set(_imports(texts[path], names)) - {name} for name, path in names.items()}
    reached = {name: _reach(name, graph) for name in graph}
    groups = {frozenset(o for o in reached[n] if n in reached[o]) for n in graph}
    return [set(group) for group in groups if group]


def _dotted(root: Path, path: Path) -> str:
    parts = path.relative_to(root).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imports(text: str, names: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                dotted = f"{node.module}.{alias.name}"
                yield from (n for n in (dotted, node.module) if n in names and n != "heal_bot")
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in names)


def _reach(start: str, graph: Mapping[str, set[str]]) -> set[str]:
    """The modules that one leads to in at least one step."""
    seen: set[str] = set()
    waiting = [*graph[start]]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += graph[name]
    return seen


def count_complex(root: Path) -> int:
    """The functions of cyclomatic complexity over ten outside of the templates."""
    argv = [sys.executable, "-m", "ruff", "check", "--select", "C901", "--isolated",
            "--config", "lint.mccabe.max-complexity = 10", "--output-format", "json",
            "heal_bot"]  # fmt: skip
    done = subprocess.run(argv, cwd=root, capture_output=True, text=True, timeout=120)
    found = [one["filename"] for one in json.loads(done.stdout)]
    return sum(_TEMPLATES not in Path(name).as_posix() for name in found)


def count_duplicates(texts: Iterable[str]) -> int:
    """The pairs of places that share six lines, each run of lines counted once."""
    places: defaultdict[tuple[str, ...], list[tuple[int, int]]] = defaultdict(list)
    for number, text in enumerate(texts):
        rows = [row.strip() for row in text.splitlines()]
        rows = [row for row in rows if row and not row.startswith(("from ", "import ", "@", '"""'))]
        for at in range(len(rows) - _ALIKE + 1):
            places[tuple(rows[at : at + _ALIKE])].append((number, at))
    pairs = sorted(
        (a[0], b[0], a[1] - b[1], a[1])
        for found in places.values()
        for a, b in pairwise(found)
        if a[0] != b[0] or b[1] - a[1] >= _ALIKE
    )
    # Windows that follow each other in the same two files are one run.
    return sum(
        one[:3] != before[:3] or one[3] - before[3] > 1
        for before, one in pairwise([(-1, -1, 0, -9), *pairs])
    )
