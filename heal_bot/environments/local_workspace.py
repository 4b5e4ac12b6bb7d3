"""The Workspace port on this machine: our repository, a scratch folder, an interpreter found."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from heal_bot.checkout import commits
from heal_bot.checkout.bare_repository import Repository
from heal_bot.checkout.checkout_tree import GitTree, checkout, list_committed
from heal_bot.checkout.git_objects import base_of
from heal_bot.checkout.subproject_tree import narrow_tree
from heal_bot.core.errors import ProvisionError, WorkspaceError
from heal_bot.core.events import Run
from heal_bot.core.model import Bump, ChangedFile, Commit, Environment, PatchedFile, RunHints
from heal_bot.core.text import short_version
from heal_bot.environments.environment_request import Wanted
from heal_bot.environments.provision import provision, seal_of
from heal_bot.environments.target_interpreter import MAKE_ONE, Interpreter, choose
from heal_bot.ports import Tree
from heal_bot.ports.packages import Builder


@dataclass(frozen=True, slots=True)
class LocalWorkspace:
    """Checkouts below `scratch`, environments below `cache`.

    `given` is the path a user gave (it must work), `candidates` are looked at in order without
    it; where none works, or `wanted` asks for it, an environment is made by uv, with `builder`
    for what must be built, and one without pytest gets that laid beside it. `folder` is where the
    project lies, below the top of the repository.
    """

    repository: Repository
    scratch: Path
    cache: Path
    given: Path | None = None
    candidates: tuple[Path, ...] = ()
    wanted: Wanted = field(default_factory=Wanted)
    builder: Builder | None = None
    folder: str = ""
    _laid: dict[tuple[Interpreter, Path], Environment] = field(default_factory=dict)

    def checkout(self, run: Run, sha: str) -> GitTree:
        """A fresh checkout of a commit, a branch, or HEAD."""
        commit = self.repository.resolve(run, sha)
        tree = checkout(run, self.repository, commit, self.scratch)
        for note in tree.notes:
            run.warn("workspace", note)
        return tree

    def date_content(self, run: Run, tree: Tree) -> float:
        """Since when the files of a checkout are as they are, in epoch seconds.

        When the commit was made, or earlier where the user's folder has it and its files are older:
        the tests may have run before the commit, or before it got another title.
        """
        ours = self.repository
        made = self._date_commit(run, tree.sha)
        if tree.sha != ours.head:
            return made
        try:
            changed = [os.lstat(ours.source / self.folder / path).st_mtime for path in tree.paths()]
        except OSError:
            return made
        return min(made, max(changed, default=made))

    def commits(self, run: Run, good: str, bad: str) -> tuple[Commit, ...]:
        """The first-parent line from where `good` branches off (or what is at hand) to `bad`."""
        return commits.list_commits(run, self.repository, good, bad)

    def changes(self, run: Run, good: str, bad: str) -> tuple[ChangedFile, ...]:
        """The Python files and docs that a commit changes, moves or adds."""
        return commits.changed_files(run, self.repository, good, bad)

    def since(self, tree: Tree, sha: str) -> Tree:
        """The same tree, with what was changed counted from another commit than its parent."""
        return tree.since(sha) if isinstance(tree, GitTree) else tree

    def patched(self, run: Run, tree: Tree, files: Sequence[PatchedFile]) -> GitTree:
        """A fresh checkout of the tree's commit with these files replaced."""
        if not isinstance(tree, GitTree):
            raise WorkspaceError(f"{tree.root} was not checked out by this workspace")
        return tree.with_files(run, files, self.scratch)

    def provision(self, run: Run, tree: Tree, hints: RunHints) -> Environment:
        """The target's interpreter and packages, laid out where the sandbox can read them."""
        project = narrow_tree(tree, self.folder)
        given = () if self.wanted.explicit else self.candidates
        python = choose(self.given, given)
        source = self.repository.source
        if python is None:
            if self.builder is None:
                tried = ", ".join(map(str, given)) or "no place was given"
                raise ProvisionError(f"no Python environment found (at {tried}): {MAKE_ONE}")
            from heal_bot.environments.environment_builder import Supplies, assemble

            folders = source, self.cache, self.scratch
            return assemble(run, project, Supplies(self.wanted, hints, self.builder, *folders))
        if hints.python and not f"{python.version}.".startswith(f"{short_version(hints.python)}."):
            here = f"{python.version} ({python.given})"
            run.warn("workspace", f"the failing run had Python {hints.python}, here is {here}")
        added: tuple[str, ...] = ()
        if self.builder is not None and not python.holds("pytest"):
            from heal_bot.environments.pytest_overlay import lay_pytest

            python, added = lay_pytest(
                run, python, source, hints, self.wanted.access, self.builder, self.cache
            )
        # To compare the files of an installation takes as long as a small suite: once for a tree.
        key = python, tree.root
        if key not in self._laid:
            self._laid[key] = provision(run, python, source, project, self.cache)
        return replace(self._laid[key], added=added)

    def former_versions(
        self, run: Run, tree: Tree, env: Environment, hints: RunHints, good: str, green: float
    ) -> tuple[Bump, ...]:
        """The packages that had another version at the last good state."""
        ours = self.repository
        sha = good or base_of(run, ours, tree.sha)
        if not sha:
            raise ProvisionError(
                f"the commit before {tree.sha[:12]} is not here: give checkout a fetch-depth of 2"
            )
        if self.builder is None:
            raise ProvisionError("no package can be fetched here")
        from heal_bot.environments.environment_builder import Supplies, former_versions

        then = narrow_tree(list_committed(run, ours, sha, self.scratch), self.folder)
        moment = green or self._date_commit(run, sha)
        folders = ours.source, self.cache, self.scratch
        supplies = Supplies(self.wanted, hints, self.builder, *folders)
        return former_versions(run, then, supplies, env, moment)

    def with_former(self, run: Run, env: Environment, bumps: Sequence[Bump]) -> Environment:
        """The environment with these packages as they were, in a copy."""
        from heal_bot.environments.former_packages import replace_packages

        return replace_packages(env, bumps, self.repository.source, self.cache, self.scratch)

    def changed(self, env: Environment) -> bool:
        """Whether a file of the environment is another than when it was laid out, or is gone."""
        try:
            return env.seal != seal_of(Path(env.prefix))
        except ProvisionError:
            return True

    def _date_commit(self, run: Run, sha: str) -> float:
        """When a commit that was checked out was made, in epoch seconds."""
        ours = self.repository
        show = ("show", "--no-patch", "--format=%ct", "--end-of-options", sha)
        return float(ours.git.run(run, *show))
