"""What a bundle really changes, read off the base commit on the forge, not off the bundle."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from heal_bot.core.errors import HealBotError
from heal_bot.core.events import Run
from heal_bot.core.model import Candidate, ChangedFile, Edit, HealRequest, PatchedFile, Removal
from heal_bot.core.outcome import FileRecord, OutcomeRecord, PatchRecord, RegressionRecord
from heal_bot.ports.code_host import Forge, ForgeCommit, ForgeFile, is_branch
from heal_bot.publish import change_identity
from heal_bot.report import pull_request_body
from heal_bot.report.proposed_change import FileChange, Shown, digest_patch
from heal_bot.source import edit, edit_recovery, functions, guard, patch_policy, reversal_check
from heal_bot.source.edit import blob_id

_SHA = re.compile(r"[0-9a-f]{40}\Z")
# Configuration deeper than this cannot name plugins: pytest takes them from the top folders only.
_CONFIG_DEPTH = 2


class BundleRefused(HealBotError):
    """A bundle that disagrees with the commit, the event, or what a patch may be."""


class Superseded(HealBotError):
    """The branch moved to `head` and changed what the patch replaces."""

    def __init__(self, message: str, head: str) -> None:
        super().__init__(message)
        self.head = head


@dataclass(frozen=True, slots=True)
class RecomputedChange:
    """The change as recomputed from the base commit.

    `before` are the texts that `files` replace, `doubts` are those of the patch policy; `foreign`
    says that a fork's code is involved, of which nothing is ever written into this repository.
    """

    base: ForgeCommit
    base_ref: str
    files: tuple[ForgeFile, ...]
    before: tuple[str, ...]
    shown: Shown
    foreign: bool = False
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _BaseTree:
    """The base commit as the rails read it: the Tree port over the forge."""

    run: Run
    forge: Forge
    commit: ForgeCommit
    since: str = ""
    root: Path = Path("/nonexistent")

    @property
    def sha(self) -> str:
        return self.commit.sha

    @property
    def tree_sha(self) -> str:
        return self.commit.tree

    def paths(self) -> tuple[str, ...]:
        listed = self.forge.objects.paths(self.run, self.sha)
        return tuple(p for p in listed if p.endswith(".py") or p.count("/") < _CONFIG_DEPTH)

    def read(self, path: str) -> bytes:
        return self.file(path).data

    def blob(self, path: str) -> str:
        return self.file(path).blob

    def changed_lines(self) -> dict[str, frozenset[int]]:
        return {}

    def changed_paths(self) -> tuple[str, ...]:
        return ()

    def former(self, path: str) -> bytes | None:
        file = self.forge.objects.file(self.run, self.since, path) if self.since else None
        return file.data if file else None

    def changed_by(self, path: str) -> str:
        return ""

    def blamed(self, path: str, line: int) -> tuple[str, str]:
        return "", ""

    def removal(self, path: str, name: str) -> Removal | None:
        return None

    def file(self, path: str) -> ForgeFile:
        file = self.forge.objects.file(self.run, self.sha, path)
        if file is None:
            raise KeyError(path)
        return file


def recompute(
    run: Run,
    record: OutcomeRecord,
    patch: PatchRecord,
    request: HealRequest,
    forge: Forge,
    *,
    claimed: bool = False,
    prefix: str = "heal-bot/",
    project: str = "",
) -> RecomputedChange:
    """The change of a record read off the base commit; Refused or Superseded when it is none.

    Renames, new files, deletions, mode changes, links, and whatever lies outside the functions
    named and the imports they need cannot be expressed by what this returns. `prefix` begins the
    name of the branch it is meant for, `project` is the folder whose tests it is about.
    """
    foreign = bool(request.head_repo) and request.head_repo.lower() != forge.repo.lower()
    of = _fork_base if foreign else _base
    base, base_ref, head = of(run, record, patch, request, forge)
    broke = record.regression
    tree = _BaseTree(run, forge, base, _find_good(run, broke, base, forge) if broke else "")
    if len({file.path for file in patch.files}) != len(patch.files):
        raise BundleRefused("the bundle names a file twice")
    try:
        changed = [_changed(tree, patch, file) for file in patch.files]
    except (edit_recovery.RecheckError, guard.SourceRejected, edit.EditError) as error:
        raise BundleRefused(str(error)) from error
    edits = [e for each in changed for e in each[0]]
    undoes = record.certificate.undoes if record.certificate else None
    candidate = Candidate(tuple(edits), "bundle", "bundle", undoes=undoes)
    if refusal := patch_policy.check_candidate(candidate, tree, patch_policy.MAX_EDITS_OF_ALL):
        raise BundleRefused(refusal)
    if decisions := patch_policy.list_decisions(candidate, tree):
        raise BundleRefused(f"{decisions[0]}: a person has to decide on that")
    if undoes and len(edits) > patch_policy.MAX_EDITS:
        _check_reversal(tree, undoes, edits)
    if broke is not None and tree.since:
        _check_restored(tree, broke.bad_sha, candidate)
    moved = _moved(run, patch, base_ref, head, forge) if head and head != base.sha else ""
    files = (PatchedFile(f.path, f.base_blob, f.content) for f in patch.files)
    new = tuple(_patched(tree, f) for f in patch.files)
    blobs = (
        FileChange(path=f.path, before=f.base_blob, after=now.blob)
        for f, now in zip(patch.files, new, strict=True)
    )
    shown = Shown(
        "".join(diff for _, diff in changed),
        tuple(dict.fromkeys(f"{e.target.path}::{e.target.qualname}" for e in edits)),
        f"{prefix}{record.fingerprint}",
        digest_patch(files),
        (moved,) if moved else (),
        claimed,
        change=change_identity.identify(base.sha, edits, blobs, patch, project),
        run_url=f"{forge.page}/actions/runs/{request.run_id}" if request.run_id else "",
        commands=() if foreign else pull_request_body.ASK,
    )
    before = tuple(edit.text_of(tree, f.path) for f in patch.files)
    doubts = patch_policy.list_doubts(candidate, tree)
    return RecomputedChange(base, base_ref, new, before, shown, foreign, doubts)


def _find_good(run: Run, broke: RegressionRecord, base: ForgeCommit, forge: Forge) -> str:
    """The commit before the one that broke the tests, if both are in the history of base; or ''."""
    bad = forge.objects.commit(run, broke.bad_sha) if broke.bad_sha else None
    known = bad is not None and bad.parents[:1] == (broke.good_sha,)
    return broke.good_sha if known and forge.objects.contains(run, base.sha, broke.bad_sha) else ""


def _check_restored(tree: _BaseTree, bad: str, candidate: Candidate) -> None:
    """Refused unless each function that comes back was taken away by the commit that broke tests.

    What another commit took away went for a reason of its own.
    """
    for one in patch_policy.list_restored(candidate, tree):
        file = tree.forge.objects.file(tree.run, bad, one.path)
        known = functions.read(one.path, file.data) if file else (one,)
        if functions.find_target(known, one.qualname, one.kind, one.nth):
            raise BundleRefused(f"{one.qualname} was not taken away by commit {bad}")


def _check_reversal(tree: _BaseTree, undoes: str, edits: Sequence[Edit]) -> None:
    """Refused unless all edits but those of other causes take back what a commit did."""
    objects = tree.forge.objects
    commit = objects.commit(tree.run, undoes)
    parent = objects.commit(tree.run, commit.parents[0]) if commit and commit.parents else None
    if not commit or not parent or not objects.contains(tree.run, tree.sha, undoes):
        raise BundleRefused(
            f"commit {undoes}, which is to be taken back, is not in the history of base"
        )
    old, new = replace(tree, commit=parent), replace(tree, commit=commit)
    paths = {one.target.path for one in edits} & {*old.paths()} & {*new.paths()}
    files = [ChangedFile(path, old.read(path), new.read(path)) for path in paths]
    if reason := reversal_check.explain_others(edits, files, undoes, patch_policy.MAX_EDITS):
        raise BundleRefused(reason)


def _changed(tree: _BaseTree, patch: PatchRecord, file: FileRecord) -> tuple[tuple[Edit, ...], str]:
    """The edits of one file and its diff; Refused when anything else would change."""
    before = _text(tree, file)
    named = {f.qualname for f in patch.functions if f.path == file.path}
    found = edit_recovery.recover_edits(file.path, before, file.content, named)
    return found, edit.diff(file.path, before, file.content)


def _base(
    run: Run, record: OutcomeRecord, patch: PatchRecord, request: HealRequest, forge: Forge
) -> tuple[ForgeCommit, str, str]:
    """The commit, the branch and its newest commit, by the request and the forge."""
    if request.repo.lower() != forge.repo.lower():
        raise BundleRefused(f"the request is for {request.repo}, the token for {forge.repo}")
    base_ref = request.base_ref or forge.default_branch(run)
    if not is_branch(base_ref):
        raise BundleRefused(f"{base_ref[:80]!r} is not a branch that a pull request can target")
    head = forge.objects.head(run, base_ref) or ""
    sha = request.base_sha or head
    _agree(record, patch, sha)
    if request.reply_to is not None and head != sha:
        raise Superseded(
            f"{base_ref} moved from {sha[:12]} to {head[:12] or 'nothing'} meanwhile", head
        )
    if not head:
        raise BundleRefused(f"branch {base_ref} is gone; nothing was written")
    base = forge.objects.commit(run, sha)
    if base is None or not (head == sha or forge.objects.contains(run, base_ref, sha)):
        raise BundleRefused(f"commit {sha[:12]} is not on branch {base_ref} of {forge.repo}")
    return base, base_ref, head


def _fork_base(
    run: Run, record: OutcomeRecord, patch: PatchRecord, request: HealRequest, forge: Forge
) -> tuple[ForgeCommit, str, str]:
    """The head of a fork's open pull request: that the forge knows a commit proves nothing."""
    pull = forge.pull(run, request.pull_number) if request.pull_number else None
    if pull is None or pull.state != "open":
        raise BundleRefused(
            f"the code is from {request.head_repo}, and no open pull request holds it"
        )
    sha = request.base_sha or pull.head_sha
    _agree(record, patch, sha)
    if pull.head_repo.lower() != request.head_repo.lower():
        raise BundleRefused(f"pull request {pull.number} is not from {request.head_repo}")
    if pull.head_sha != sha:
        raise Superseded(f"the pull request moved from {sha[:12]} to {pull.head_sha[:12]}", "")
    base = forge.objects.commit(run, sha)
    if base is None:
        raise BundleRefused(f"commit {sha[:12]} cannot be read")
    return base, "", sha


def _agree(record: OutcomeRecord, patch: PatchRecord, sha: str) -> None:
    """Refused unless the bundle is about this commit throughout."""
    certified = record.certificate.base_sha if record.certificate else ""
    if not _SHA.match(sha) or sha != patch.base_sha or certified != sha:
        raise BundleRefused(
            f"the bundle is about commit {patch.base_sha[:12]}, asked is {sha[:12] or 'none'};"
            " give the commit that was healed with --base-sha"
        )


def _text(tree: _BaseTree, file: FileRecord) -> str:
    """The base text of a patched file, if it is exactly the file the bundle says it replaces."""
    parts = file.path.split("/")
    if not file.path or any(part in {"", ".", "..", ".git"} for part in parts):
        raise BundleRefused(f"{file.path[:80]!r} is no path of a repository")
    if file.path not in tree.paths():
        raise BundleRefused(f"{file.path} is not in commit {tree.sha[:12]}; no file is ever added")
    try:
        blob = tree.blob(file.path)
    except KeyError as error:
        raise BundleRefused(
            f"{file.path} is not a regular file; links are never written"
        ) from error
    if blob != file.base_blob:
        raise BundleRefused(
            f"{file.path} is blob {blob[:12]}, the bundle replaces {file.base_blob[:12]}"
        )
    return edit.text_of(tree, file.path)


def _patched(tree: _BaseTree, file: FileRecord) -> ForgeFile:
    data = file.content.encode("utf-8", "surrogatepass")
    return replace(tree.file(file.path), blob=blob_id(data, file.base_blob), data=data)


def _moved(run: Run, patch: PatchRecord, base_ref: str, head: str, forge: Forge) -> str:
    """The remark that the branch moved; Superseded where it changed what the patch replaces."""
    for file in patch.files:
        now = forge.objects.file(run, head, file.path)
        if now is None or now.blob != file.base_blob:
            raise Superseded(
                f"{file.path} changed on {base_ref} since {patch.base_sha[:12]}; heal again", head
            )
    return (
        f"The branch has moved to `{head[:12]}` since; the files changed here are the same there,"
        f" the verification is of `{patch.base_sha[:12]}`."
    )
