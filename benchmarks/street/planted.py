"""A fault planted some commits deep: the real commits on it are replayed with the fault in them."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

from benchmarks._mutants import Mutant
from benchmarks.street.faults import ConflictError, mutant
from benchmarks.street.recipes import Planted, Recipe
from heal_bot.source import functions
from tests.github_server.repository import GitCommit, GitRepository

_ADA = ("Ada", "ada@example.invalid", "2026-11-01T00:00:00+00:00")


class Grown(NamedTuple):
    """A history that ends red: what was pushed onto, its head, and what broke it, if known."""

    before: str
    head: str
    culprit: str = ""


def chain(git: GitRepository, head: str, depth: int) -> list[GitCommit]:
    """The commit so deep below `head` along first parents, and those on it, oldest first."""
    shas = git.git("rev-list", "--first-parent", f"--max-count={depth + 1}", head).decode().split()
    return [git.commit(sha) for sha in reversed(shas)]


def grow(git: GitRepository, recipe: Recipe) -> Grown:
    """The history with the fault, from the last commit without it; ConflictError."""
    planted = recipe.planted
    assert planted is not None
    return replay(git, recipe.fix, planted, source_of(git, recipe.fix, planted))


def source_of(git: GitRepository, head: str, planted: Planted) -> str:
    """The file at the fault's depth with the fault, made anew from its seed."""
    deep = chain(git, head, planted.depth)[0]
    text = text_of(git, deep.sha, planted.path)
    return with_mutant(text, mutant(text, planted))


def with_mutant(text: str, mutant: Mutant) -> str:
    """A file with one function replaced by its mutant."""
    lines = list(functions.split_lines(text))
    lines[mutant.first_line - 1 : mutant.last_line] = [mutant.source]
    return "".join(lines)


def text_of(git: GitRepository, sha: str, path: str) -> str:
    """A file at a commit."""
    return git.git("show", "--end-of-options", f"{sha}:{path}").decode()


def replay(git: GitRepository, head: str, planted: Planted, faulty: str) -> Grown:
    """The commits from the fault's on, each with the fault."""
    commits = chain(git, head, planted.depth)
    first, rest = commits[0], commits[1:]
    if planted.inside:
        before, parent = (
            first.parents[0],
            _again(git, first, planted.path, faulty, first.parents[0]),
        )
    else:
        before = first.sha
        tree = _tree(git, first.sha, planted.path, faulty)
        name = planted.qualname.rpartition(".")[2]
        parent = git.save_commit(f"Simplify {name}", tree, [first.sha], _ADA, _ADA)
    culprit, old, ours = parent, text_of(git, first.sha, planted.path), faulty
    for commit in rest:
        theirs = text_of(git, commit.sha, planted.path)
        ours = _merged(ours, old, theirs) if theirs != old else ours
        parent, old = _again(git, commit, planted.path, ours, parent), theirs
    return Grown(before, parent, culprit)


def _again(git: GitRepository, commit: GitCommit, path: str, text: str, parent: str) -> str:
    tree = _tree(git, commit.sha, path, text)
    return git.save_commit(commit.message, tree, [parent], commit.author, commit.committer)


def _tree(git: GitRepository, sha: str, path: str, text: str) -> str:
    mode = next(entry.mode for entry in git.entries(sha, recursive=True) if entry.path == path)
    return git.save_tree(sha, [(mode, path, git.save_blob(text.encode()))])


def _merged(ours: str, old: str, theirs: str) -> str:
    """Git's own merge of a file; ConflictError where both change the same lines."""
    with tempfile.TemporaryDirectory() as name:
        paths = [Path(name, part) for part in ("ours", "old", "theirs")]
        for path, text in zip(paths, (ours, old, theirs), strict=True):
            path.write_text(text, encoding="utf-8")
        done = subprocess.run(
            ["git", "merge-file", "--stdout", *map(str, paths)], capture_output=True, timeout=30
        )
    if done.returncode != 0:
        raise ConflictError("later commits change what the fault changes")
    return done.stdout.decode()
