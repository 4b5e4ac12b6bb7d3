"""Whether a change does what the maintainers' does: on the fix's suite, then call by call."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.street import plain
from benchmarks.street.plain import PlainError
from heal_bot.core.model import Target
from heal_bot.source import functions

Judgement = Literal["right", "wrong", "unknown"]
# So many answers have to be alike before a change counts as right.
ENOUGH = 20
_RECORDER = Path(__file__).with_name("recorder.py")
_CONFINED = Path(__file__).with_name("confined.py")


@dataclass(frozen=True, slots=True)
class Bench:
    """A job's checkout and environment, in which versions of its files take turns.

    `red` are the tests that fail, `sources` maps paths to their text as the maintainers have it,
    `broken` these paths, and those of the change that is judged, as they are in the red run.
    """

    workspace: Path
    venv: Path
    data: Path
    red: frozenset[str]
    sources: Mapping[str, str]
    broken: Mapping[str, str]

    @property
    def _right(self) -> dict[str, str]:
        """The maintainers' version, with what else is changed as it was."""
        return {**self.broken, **self.sources}

    def judge(self, patched: Mapping[str, str]) -> tuple[Judgement, str]:
        """The judgement of a change, given the texts of the files it changes, and why."""
        if self._alike(patched):
            return "right", "the maintainers' own change"
        texts = {**self.broken, **patched}
        with_patch = self._suite(texts)
        if with_patch:
            return "wrong", with_patch
        wanted = self._changed(patched)
        calls = self._recorded(wanted)
        if not calls:
            return "unknown", "no call of what is changed can be repeated"
        return self._answers(calls, texts)

    def _alike(self, patched: Mapping[str, str]) -> bool:
        """Whether every file reads as the maintainers' but for layout and comments."""
        for path in {*self.sources, *patched}:
            ours = patched.get(path, self.broken.get(path, ""))
            theirs = self.sources.get(path, self.broken.get(path, ours))
            if ours == theirs:
                continue
            if not path.endswith(".py") or _shape(ours) != _shape(theirs):
                return False
        return True

    def _suite(self, texts: Mapping[str, str]) -> str:
        """What the suite of the fix says against the change; '' for nothing."""
        self._write(texts)
        try:
            ran = plain.run(self.workspace, self.venv, self.data, limit=180)
        except PlainError as error:
            return str(error)
        return f"{len(ran.red)} tests fail, first {min(ran.red)}" if ran.red else ""

    def _changed(self, patched: Mapping[str, str]) -> dict[str, list[str]]:
        """The functions that the maintainers' change or ours touches, by path."""
        found: dict[str, list[str]] = {}
        for path in {*self.sources, *patched}:
            broken = self.broken.get(path, "")
            names = functions_changed(broken, self.sources.get(path, broken))
            names |= functions_changed(broken, patched.get(path, broken))
            found[path] = sorted(names)
        return found

    def _recorded(self, wanted: Mapping[str, Sequence[str]]) -> list[object]:
        """The calls that the red tests' files make, with the maintainers' change in place."""
        self._write(self._right)
        calls = self.venv / "calls.json"
        calls.unlink(missing_ok=True)
        environ = plain.environ(self.venv, self.data)
        environ |= {"PYTHONPATH": str(_RECORDER.parent), "STREET_WANTED": json.dumps(wanted),
                    "STREET_CALLS": str(calls)}  # fmt: skip
        files = sorted({test.partition("::")[0] for test in self.red})
        argv = [str(self.venv / "bin/python"), "-m", "pytest", "-q", "-p", "recorder", *files]
        try:
            subprocess.run(argv, cwd=self.workspace, env=environ, capture_output=True, timeout=180)
        except subprocess.TimeoutExpired:
            return []
        return list(json.loads(calls.read_text())) if calls.exists() else []

    def _answers(self, calls: list[object], texts: Mapping[str, str]) -> tuple[Judgement, str]:
        """Compare the answers of both versions, call by call."""
        (self.venv / "calls.json").write_text(json.dumps(calls))
        rows = [self._replayed(self._right), self._replayed(self._right), self._replayed(texts)]
        count, doubt = 0, ""
        for one, again, ours in zip(*rows, strict=False):
            if one != again or "skipped" in (one[0], ours[0]):
                continue
            count += 1
            if one != ours and one[0] == "value":
                return "wrong", f"{ours} for {one}"[:600]
            if one != ours:
                doubt = f"{ours} for {one}"[:600]
        if doubt:
            return "unknown", doubt
        if count < ENOUGH:
            return "unknown", f"only {count} answers could be compared"
        return "right", f"{count} answers alike"

    def _replayed(self, texts: Mapping[str, str]) -> list[list[str]]:
        """The answers of one version; nothing where the replay does not end."""
        self._write(texts)
        scratch = self.workspace / ".scratch"
        scratch.mkdir(exist_ok=True)
        environ = {**plain.environ(self.venv, self.data), "PYTHONHASHSEED": "0",
                   "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(scratch)}  # fmt: skip
        replay = [self.venv / "bin/python", _RECORDER, self.venv / "calls.json"]
        argv = [sys.executable, *map(str, (_CONFINED, self.workspace, *replay))]
        try:
            done = subprocess.run(
                argv, cwd=self.workspace, env=environ, capture_output=True, timeout=240, text=True
            )
            return list(json.loads(done.stdout))
        except (subprocess.TimeoutExpired, json.JSONDecodeError):
            return []

    def _write(self, texts: Mapping[str, str]) -> None:
        for path, text in texts.items():
            target = self.workspace / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")


def functions_changed(before: str, after: str) -> set[str]:
    """The qualified names of the functions that differ between two versions of a file."""
    old, new = dict(_functions(before)), dict(_functions(after))
    return {name for name in old | new if old.get(name) != new.get(name)}


def changed_pairs(
    path: str, before: str, after: str, read: Callable[[str], str] = str
) -> list[tuple[Target, Target]]:
    """The functions of a file that read differently after a change: as they were, and as now."""
    new = functions.index_targets(path, after)
    pairs = ((old, functions.find_same(old, new)) for old in functions.index_targets(path, before))
    return [(old, now) for old, now in pairs if now and read(old.source) != read(now.source)]


def holds(outer: Target, inner: Target) -> bool:
    """Whether a function holds another one, or is it."""
    return outer.first_line <= inner.first_line and inner.last_line <= outer.last_line


def _functions(text: str) -> Iterator[tuple[str, str]]:
    """Each outermost function or method and its shape, without layout and comments."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return
    left: list[tuple[str, ast.AST]] = [("", node) for node in tree.body]
    while left:
        prefix, node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield f"{prefix}{node.name}", ast.dump(node)
        elif isinstance(node, ast.ClassDef):
            left.extend((f"{prefix}{node.name}.", child) for child in node.body)
        elif hasattr(node, "body") and isinstance(node.body, list):
            left.extend((prefix, child) for child in node.body + getattr(node, "orelse", []))


def _shape(text: str) -> str:
    try:
        return ast.dump(ast.parse(text))
    except (SyntaxError, ValueError):
        return text
