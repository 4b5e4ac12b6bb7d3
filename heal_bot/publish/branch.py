"""Our branches: made, fast-forwarded, and left alone as soon as somebody else was there."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from heal_bot.core.events import Run
from heal_bot.ports.code_host import ACTIONS, Forge, ForgeCommit, ForgePull
from heal_bot.publish.delivery_options import Options
from heal_bot.publish.recompute import RecomputedChange

_TREE = re.compile(r"^Heal-Bot-Tree: ([0-9a-f]{40})$", re.MULTILINE)
_PATCH = re.compile(r"^Heal-Bot-Patch: ([0-9a-f]{16})$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Pushed:
    """The state a branch was found in or brought to: unchanged | pushed | human; and its commit."""

    state: str
    commit: str = ""


_HUMAN = Pushed("human")


def push(
    run: Run,
    title: str,
    change: RecomputedChange,
    opened: ForgePull | None,
    forge: Forge,
    options: Options,
) -> Pushed:
    """The change on its branch, unless somebody else's commit is there."""
    objects, branch = forge.objects, change.shown.branch
    if opened is None:
        made = _commit(run, title, change, (change.base.sha,), forge, options)
        if objects.create_branch(run, branch, made.sha):
            return Pushed("pushed", made.sha)
    head = opened.head_sha if opened else objects.head(run, branch)
    if head is None:
        return _HUMAN
    ours = objects.ahead(run, change.base_ref, head)
    if ours is None or not all(is_ours(commit) for commit in ours):
        return _HUMAN
    known = _PATCH.search(ours[-1].message) if ours else None
    if known and known[1] == change.shown.digest:
        return Pushed("unchanged", head)
    # The base becomes a parent where the branch lacks it, so that the move stays a fast-forward
    # and the pull request still shows our change alone.
    has_base = objects.contains(run, head, change.base.sha)
    parents = (head,) if has_base else (head, change.base.sha)
    made = _commit(run, title, change, parents, forge, options)
    return _advanced(run, branch, made, forge)


def push_to_head(
    run: Run, title: str, change: RecomputedChange, forge: Forge, options: Options
) -> Pushed:
    """The change as one commit on the pull request's own branch."""
    head = forge.objects.head(run, change.base_ref)
    if head != change.base.sha:
        return _HUMAN
    made = _commit(run, title, change, (change.base.sha,), forge, options)
    return _advanced(run, change.base_ref, made, forge)


def is_ours(commit: ForgeCommit) -> bool:
    """Whether the commit is as we wrote it: an amended one no longer has the tree it names."""
    named = _TREE.search(commit.message)
    return named is not None and named[1] == commit.tree


def all_ours(run: Run, base: str, tip: str, forge: Forge) -> bool:
    """Whether every commit that `tip` has beyond `base` is as we wrote it."""
    commits: Sequence[ForgeCommit] | None = forge.objects.ahead(run, base, tip)
    return commits is not None and all(is_ours(commit) for commit in commits)


def _advanced(run: Run, branch: str, made: ForgeCommit, forge: Forge) -> Pushed:
    if forge.objects.advance_branch(run, branch, made.sha):
        return Pushed("pushed", made.sha)
    run.warn("publish", f"branch {branch} moved meanwhile")
    return _HUMAN


def _commit(
    run: Run,
    title: str,
    change: RecomputedChange,
    parents: tuple[str, ...],
    forge: Forge,
    options: Options,
) -> ForgeCommit:
    tree = forge.objects.save_tree(run, change.base, change.files)
    head = options.commit_message.strip() or title
    trailers = [f"Heal-Bot-Patch: {change.shown.digest}", f"Heal-Bot-Tree: {tree}"]
    if options.signoff:
        me = forge.me(run)
        number = "41898282+" if me == ACTIONS else ""
        trailers.append(f"Signed-off-by: {me} <{number}{me}@users.noreply.github.com>")
    message = f"{head}\n\n" + "\n".join(trailers) + "\n"
    return forge.objects.save_commit(run, message, tree, parents)
