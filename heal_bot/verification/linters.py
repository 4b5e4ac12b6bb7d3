"""The repository's own formatter, linter and type checker on the changed files, in the sandbox."""

from __future__ import annotations

import configparser
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from heal_bot.core.model import PatchedFile
from heal_bot.core.text import one_line
from heal_bot.core.toml import read_toml
from heal_bot.ports import RunContext, Tree
from heal_bot.source import edit
from heal_bot.source.tree_files import read_text

_SECONDS = 15
_SHOWN = 5
# Prints [name, exit code or None, findings] per tool as its last line. A finding is kept when it is
# on one of `lines` (by path), or without them when its text is one of `texts`.
_PROGRAM = """
import importlib.util, json, re, subprocess, sys
orders, lines, texts = json.loads({given!r})
finding = re.compile(r"([^:\\n]+):(\\d+):(?:\\d+:)? ?(.+)")
found = []
for name, arguments in orders:
    if importlib.util.find_spec(name) is None:
        found.append([name, None, []])
        continue
    try:
        done = subprocess.run([sys.executable, "-m", name, *arguments], capture_output=True,
                              text=True, timeout={seconds})
    except subprocess.TimeoutExpired:
        found.append([name, -1, []])
        continue
    kept = []
    for path, line, text in finding.findall(done.stdout):
        path, text = path[2:] if path.startswith("./") else path, text[:160]
        if int(line) in lines.get(path, ()) if lines else text in texts:
            kept.append([path[-80:], int(line), text])
    found.append([name, done.returncode, kept[:8]])
sys.stdout.write("\\n" + json.dumps(found) + "\\n")
"""


@dataclass(frozen=True, slots=True)
class Tool:
    """A module to run with `-m`; `formats` when its exit code alone says whether a file is fine."""

    name: str
    arguments: tuple[str, ...]
    formats: bool = False

    @property
    def shown(self) -> str:
        """How a person calls it."""
        return f"{self.name} {self.arguments[0]}" if self.name == "ruff" else self.name


_RUFF = Tool("ruff", ("check", "--no-cache", "--output-format=concise", "--force-exclude"))
_RUFF_FORMAT = Tool("ruff", ("format", "--no-cache", "--check", "--force-exclude"), formats=True)
_BLACK = Tool("black", ("--check", "--quiet"), formats=True)
_FLAKE8 = Tool("flake8", ())
_MYPY = Tool("mypy", ("--no-color-output", "--no-error-summary", "--hide-error-context"))


def find_configured(tree: Tree) -> tuple[Tool, ...]:
    """The tools that the repository's configuration names."""
    tables = _tables(tree)
    present = set(tree.paths())
    found = []
    if "ruff" in tables or present & {"ruff.toml", ".ruff.toml"}:
        found.append(_RUFF)
    if "ruff.format" in tables or "ruff-format" in read_text(tree, ".pre-commit-config.yaml"):
        found.append(_RUFF_FORMAT)
    if "black" in tables:
        found.append(_BLACK)
    if "flake8" in tables or ".flake8" in present:
        found.append(_FLAKE8)
    if "mypy" in tables or present & {"mypy.ini", ".mypy.ini"}:
        found.append(_MYPY)
    return tuple(found)


def run_linters(
    context: RunContext, fresh: Tree, files: Sequence[PatchedFile]
) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
    """Gates (name, result) and doubts: what the tools say of the patched files and did not before.

    A tool that is configured and not installed is named; findings elsewhere are not the patch's.
    """
    tree = context.tree
    tools = find_configured(tree)
    if not tools:
        return (), ()
    names = [file.path for file in files]
    lines = {file.path: _changed(edit.text_of(tree, file.path), file.content) for file in files}
    after = _say(context, fresh, tools, names, lines, ())
    texts = [text for _, _, kept in after for _, _, text in kept]
    suspect = texts or any(t.formats and said[1] == 1 for t, said in zip(tools, after, strict=True))
    before = _say(context, tree, tools, names, {}, texts) if suspect else after
    gates, doubts = [], []
    for tool, old, new in zip(tools, before, after, strict=True):
        result, found = _compared(tool, old, new)
        gates.append((tool.shown, result))
        doubts += [f"{tool.shown}: {text}" for text in found[:_SHOWN]]
    return tuple(gates), tuple(doubts)


Said = tuple[str, int | None, list[tuple[str, int, str]]]


def _say(
    context: RunContext, tree: Tree, tools: Sequence[Tool], names: Sequence[str],
    lines: dict[str, list[int]], texts: Sequence[str],
) -> tuple[Said, ...]:  # fmt: skip
    """What each tool says: name, exit code (None: not installed, -1: could not run), findings."""
    orders = [[tool.name, [*tool.arguments, *names]] for tool in tools]
    given = json.dumps([orders, lines, list(texts)])
    code = _PROGRAM.format(given=given, seconds=_SECONDS)
    observed = context.runner.snippet(context.run, tree, context.env, code)
    try:
        rows = json.loads(observed.output.rstrip().rpartition("\n")[2])
        return tuple(
            (tool.name, row[1], [(str(p), int(n), str(t)) for p, n, t in row[2]])
            for tool, row in zip(tools, rows, strict=True)
        )
    except (ValueError, IndexError, TypeError):
        return tuple((tool.name, -1, []) for tool in tools)


def _compared(tool: Tool, old: Said, new: Said) -> tuple[str, list[str]]:
    """The result of one tool in words, and what it newly finds on changed lines."""
    if new[1] is None:
        return "configured, not installed in the test environment", []
    if new[1] < 0 or old[1] is None or old[1] < 0:
        return "could not be run", []
    if tool.formats:
        worse = new[1] == 1 and old[1] == 0
        return (
            ("would change the patched file", ["it formats the patched file otherwise"])
            if worse
            else ("nothing new", [])
        )
    known = Counter(text for _, _, text in old[2]) if old is not new else Counter()
    fresh = []
    for path, line, text in new[2]:
        if known[text] > 0:
            known[text] -= 1
        else:
            fresh.append(one_line(f"{path}:{line}: {text}", 200))
    return (f"{len(fresh)} new findings" if fresh else "nothing new"), fresh


def _changed(old: str, new: str) -> list[int]:
    """The lines of `new` that are not in `old`."""
    kept = Counter(old.splitlines())
    changed = []
    for number, line in enumerate(new.splitlines(), 1):
        if kept[line] > 0:
            kept[line] -= 1
        else:
            changed.append(number)
    return changed


def _tables(tree: Tree) -> frozenset[str]:
    """The names of the tools with a section of their own."""
    found: set[str] = set()
    try:
        tools = read_toml(read_text(tree, "pyproject.toml")).get("tool")
    except ValueError:
        tools = None
    if isinstance(tools, dict):
        found |= set(tools)
        ruff = tools.get("ruff")
        found |= {"ruff.format"} if isinstance(ruff, dict) and "format" in ruff else set()
    for name in ("setup.cfg", "tox.ini"):
        parser = configparser.RawConfigParser(strict=False)
        try:
            parser.read_string(read_text(tree, name))
        except configparser.Error:
            continue
        found |= {section for section in parser.sections() if section in {"flake8", "mypy"}}
    return frozenset(found)
