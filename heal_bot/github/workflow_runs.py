"""Workflow runs and their artifacts: which run was red or green, and the reports it left."""

from __future__ import annotations

import contextlib
import os
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from heal_bot.core.errors import ForgeError, ForgeForbiddenError
from heal_bot.core.events import Run
from heal_bot.core.text import Secret, describe_fault, one_line
from heal_bot.github.client import DIRECT, Route, find_or_none, translate_errors
from heal_bot.github.download import download

if TYPE_CHECKING:
    from github.Artifact import Artifact
    from github.Repository import Repository
    from github.WorkflowRun import WorkflowRun

_LISTED = 100
_MOST = 60
_BYTES = 256 << 20
_TOGETHER = 1 << 30
_DIRECTORY = 4 << 20
_UNNAMED = 10
_READ = "give the job `actions: read`"
_Moment = Annotated[
    AwareDatetime,
    Field(gt=datetime(1970, 1, 2, tzinfo=UTC), lt=datetime(3000, 1, 1, tzinfo=UTC)),
]


class _Shown(BaseModel):
    # A run has a hundred fields; the ones read here must have their form.
    model_config = ConfigDict(defer_build=True, extra="ignore", frozen=True, from_attributes=True)


class _Repository(_Shown):
    full_name: str


class _ShownRun(_Shown):
    id: int
    workflow_id: int
    head_sha: Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{40}$")]
    head_branch: str | None
    head_repository: _Repository | None
    created_at: _Moment
    run_started_at: _Moment


class _ShownRuns(_Shown):
    workflow_runs: tuple[_ShownRun, ...]


Form = TypeVar("Form", bound=_Shown)


@dataclass(frozen=True, slots=True)
class RunFacts:
    """A finished workflow run as the API shows it; `event` is what started it."""

    id: int
    sha: str
    branch: str
    event: str
    conclusion: str
    repo: str


@dataclass(frozen=True, slots=True)
class GreenRun:
    """A run that passed: its commit, and when its latest attempt began, in epoch seconds."""

    sha: str
    started: float


@dataclass(frozen=True, slots=True)
class Runs:
    """The workflow runs of one repository."""

    repo: str
    repository: Repository
    token: Secret
    api_url: str
    route: Route = DIRECT
    _known: dict[int, _ShownRun] = field(default_factory=dict)

    def learn(self, shown: object) -> None:
        """Keep a run as an event or the SDK shows it, so that it is not asked for again.

        One of another form is asked for where it is needed.
        """
        with contextlib.suppress(ValidationError):
            run = _ShownRun.model_validate(shown)
            self._known[run.id] = run

    def facts(self, number: int) -> RunFacts | None:
        """A run by its id."""

        def look() -> RunFacts:
            run = self.repository.get_workflow_run(number)
            found = _facts(run)
            self.learn(run)
            return found

        return find_or_none(f"run {number}", look)

    def last_red(self, branch: str, but: int | None = None) -> RunFacts | None:
        """The branch's newest red run whose workflow has not been green since.

        `but` is the run that asks.
        """
        with translate_errors(f"runs of {branch}"):
            listed = self.repository.get_workflow_runs(branch=branch, status="completed")  # type: ignore[arg-type]
            runs = [run for run in islice(listed, _LISTED) if run.id != but]
        newest: dict[int, WorkflowRun] = {}
        for run in runs:
            newest.setdefault(run.workflow_id, run)
        red = next((run for run in newest.values() if run.conclusion == "failure"), None)
        if red is None:
            return None
        self.learn(red)
        return _facts(red)

    def red_of(self, sha: str) -> int | None:
        """The newest red run of a commit."""
        with translate_errors(f"runs of {sha[:12]}"):
            listed = self.repository.get_workflow_runs(head_sha=sha, status="failure")
            return next((run.id for run in islice(listed, 1)), None)

    def last_green(self, number: int) -> GreenRun | None:
        """The newest green run of the workflow and branch of a run, made before that one."""
        what, place = f"green runs before run {number}", f"{self.repository.url}/actions"
        red = self._known.get(number) or self._shown(_ShownRun, what, f"{place}/runs/{number}")
        if red is None or not red.head_branch:
            return None
        made = red.created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        query = {"branch": red.head_branch, "status": "success", "created": f"<{made}"}
        url = f"{place}/workflows/{red.workflow_id}/runs"
        green = self._shown(_ShownRuns, what, url, query)
        for run in green.workflow_runs if green else ():
            # A fork's branch may have the name of one of ours.
            if run.head_repository and run.head_repository.full_name.lower() == self.repo.lower():
                return GreenRun(run.head_sha, run.run_started_at.timestamp())
        return None

    def _shown(
        self, form: type[Form], what: str, url: str, query: dict[str, str] | None = None
    ) -> Form | None:
        """What the API answers, held to its form; None where there is no such thing."""
        ask = self.repository.requester.requestJsonAndCheck
        try:
            said = find_or_none(what, lambda: ask("GET", url, query)[1])
            return form.model_validate(said) if said is not None else None
        except ForgeForbiddenError as error:
            raise ForgeForbiddenError(f"{what}: not allowed; {_READ}") from error
        except ValidationError as error:
            told = describe_fault(error)
            raise ForgeError(f"{what}: unexpected answer from GitHub: {told}") from error

    def reports(
        self, run: Run, number: int, pattern: str, folder: Path, *, own: bool = False
    ) -> tuple[Path, ...]:
        """Download the artifacts of a run that are named like `pattern`, newest attempt first.

        Without one of that name, and unless it is the run that asks (`own`), the ten newest are
        looked into for members that end in .xml. The zip files are kept as they are; one that
        cannot be had is a warning, and the others count.
        """
        with translate_errors(f"artifacts of run {number}"):
            listed = self._run(number).get_artifacts()
            usable = _newest([a for a in islice(listed, 3 * _LISTED) if not a.expired])
        patterns = [part.strip() for part in pattern.split(",") if part.strip()]
        named = [a for a in usable if any(fnmatchcase(a.name, p) for p in patterns)]
        if len(named) > _MOST:
            message = f"{len(named) - _MOST} artifacts beyond the first {_MOST} are not read"
            run.warn("intake", message)
        kept: list[Path] = []
        room = _TOGETHER
        unnamed = [] if own else usable[:_UNNAMED]
        for artifact in (named or unnamed)[:_MOST]:
            if artifact.size_in_bytes > room:
                run.warn("intake", f"artifacts beyond {_TOGETHER >> 20} MiB together are not read")
                break
            room -= artifact.size_in_bytes
            path = folder / f"{_plain(artifact.name)}-{artifact.id}.zip"
            try:
                fetched = self._download(run, artifact, path)
            except ForgeError as error:
                run.warn("intake", str(error))
                continue
            if fetched and (named or _has_xml(path)):
                kept.append(path)
        return tuple(kept)

    def _run(self, number: int) -> WorkflowRun:
        """A run of which nothing but its address is known, so that nothing is asked."""
        from github.WorkflowRun import WorkflowRun

        url = f"{self.repository.url}/actions/runs/{number}"
        known = {"url": url, "artifacts_url": f"{url}/artifacts"}
        return WorkflowRun(self.repository.requester, {}, known, completed=True)

    def _download(self, run: Run, artifact: Artifact, path: Path) -> bool:
        """Fetch one artifact; False when it is too large."""
        name = one_line(artifact.name, 80)
        if artifact.size_in_bytes > _BYTES:
            run.warn("intake", f"artifact {name} is larger than {_BYTES >> 20} MiB and is not read")
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        place = f"{self.api_url.rstrip('/')}/repos/{self.repo}"
        url = f"{place}/actions/artifacts/{artifact.id}/zip"
        download(f"artifact {name}", url, self.token, path, self.route)
        return True


def _facts(run: WorkflowRun) -> RunFacts:
    repo = run.head_repository.full_name if run.head_repository else ""
    return RunFacts(run.id, run.head_sha, run.head_branch, run.event, run.conclusion or "", repo)


def _newest(artifacts: Sequence[Artifact]) -> list[Artifact]:
    """The newest of each name: a run's later attempts leave the earlier ones' artifacts."""
    newest: dict[str, Artifact] = {}
    for artifact in sorted(artifacts, key=lambda a: (a.created_at, a.id), reverse=True):
        newest.setdefault(artifact.name, artifact)
    return list(newest.values())


def _plain(name: str) -> str:
    """The artifact's name as a file name; intake reads the leg of a matrix off it."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", name)[:100].lstrip(".") or "artifact"


def _has_xml(path: Path) -> bool:
    """Whether a zip file lists a member that ends in .xml; nothing is unpacked.

    One whose list alone is larger than that of any reports is not looked into.
    """
    if _listing(path) > _DIRECTORY:
        return False
    try:
        with zipfile.ZipFile(path) as archive:
            listed = islice(archive.infolist(), 10_000)
            return any(member.filename.lower().endswith(".xml") for member in listed)
    except (zipfile.BadZipFile, NotImplementedError, ValueError):
        return False


def _listing(path: Path) -> int:
    """How large a zip file says its list of members is; 0 where it has none."""
    with path.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - (1 << 16) - 22))
        tail = file.read()
    at = tail.rfind(b"PK\x05\x06")
    if at < 0 or len(tail) < at + 16:
        return 0
    return int.from_bytes(tail[at + 12 : at + 16], "little")
