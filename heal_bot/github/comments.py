"""What is said on GitHub: comments, reactions, reviews, labels, check runs; each thing once."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any

from heal_bot.core.events import Run
from heal_bot.github.client import create, translate_errors
from heal_bot.github.token_identity import Identity
from heal_bot.ports.code_host import Annotation, Check, Remark

if TYPE_CHECKING:
    from github.CheckRun import CheckRun
    from github.Issue import Issue
    from github.IssueComment import IssueComment
    from github.PullRequest import PullRequest
    from github.PullRequestComment import PullRequestComment
    from github.PullRequestReview import PullRequestReview
    from github.Repository import Repository

NAME = "heal-bot"
_ANNOTATIONS = 50
_SUMMARY = 65_535
# Whose words are a hint: those who may write here, by what GitHub says of them.
_MEMBERS = frozenset({"OWNER", "MEMBER", "COLLABORATOR"})
_READ, _TOLD = 100, 20


@dataclass(frozen=True, slots=True)
class Talk:
    """What this token says in one repository."""

    repository: Repository
    identity: Identity
    _said: dict[tuple[int, str], IssueComment] = field(default_factory=dict)
    _checks: dict[str, CheckRun | None] = field(default_factory=dict)

    def comment(
        self,
        run: Run,
        number: int,
        marker: str,
        body: str,
        *,
        new: bool = False,
        keep: bool = False,
    ) -> str:
        """Say it once: edit the comment of ours that begins with `marker`, else make one.

        Two runs that both found none make one each; the later one of the two is taken back.
        """
        issue = self.repository.get_issue(number)
        with translate_errors(f"comment on {number}"):
            there = self._said.get((number, marker))
            if there is None and not new:
                there = self._first(issue, marker)
            if there is None:
                there = self._made(run, issue, marker, body)
            if there.body != body and not keep:
                there.edit(body)
            self._said[number, marker] = there
            return there.html_url

    def _first(self, issue: Issue, marker: str) -> IssueComment | None:
        """The oldest comment with the marker that we wrote."""
        return next((c for c in issue.get_comments() if self._is_ours(c, marker)), None)

    def _is_ours(
        self, said: IssueComment | PullRequestComment | PullRequestReview, marker: str
    ) -> bool:
        """Whether we wrote what bears a marker: whoever reads it could copy it."""
        return said.body.startswith(marker) and said.user.login == self.identity.login()

    def _made(self, run: Run, issue: Issue, marker: str, body: str) -> IssueComment:
        made = create(
            run, "comment", lambda: self._first(issue, marker), lambda: issue.create_comment(body)
        )
        self.identity.learn(made.user.login)
        first = self._first(issue, marker) or made
        if first.id != made.id:
            made.delete()
        return first

    def discussion(self, run: Run, number: int) -> tuple[tuple[str, str], ...]:
        """The newest comments of members on a pull request and its lines: login and text."""
        del run
        with translate_errors(f"discussion of {number}"):
            comments = self.repository.get_issue(number).get_comments().reversed
            remarks = self.repository.get_pull(number).get_review_comments(
                sort="created", direction="desc"
            )
            found: list[IssueComment | PullRequestComment] = [*islice(comments, _READ)]
            found += islice(remarks, _READ)
            told = [one for one in found if one.author_association in _MEMBERS and one.user]
            told.sort(key=lambda one: one.created_at)
            lines = [(one.user.login, one.body or "") for one in told]
        return tuple(one for one in lines if one[0] != self.identity.login())[-_TOLD:]

    def react(self, run: Run, comment: int, content: str, *, review: bool = False) -> None:
        """React to a comment; GitHub itself keeps a second reaction of the same kind away."""
        from github.IssueComment import IssueComment
        from github.PullRequestComment import PullRequestComment

        kind, place = (PullRequestComment, "pulls") if review else (IssueComment, "issues")
        url = f"{self.repository.url}/{place}/comments/{comment}"
        with translate_errors(f"react to comment {comment}"):
            made = kind(self.repository.requester, {}, {"url": url}, completed=True)
            create(run, "reaction", lambda: None, lambda: made.create_reaction(content))

    def review(
        self, run: Run, number: int, sha: str, marker: str, body: str, remarks: Sequence[Remark]
    ) -> str:
        """One review with remarks on lines, then a comment per remark on a whole file."""
        pull = self.repository.get_pull(number)

        def look() -> PullRequestReview | None:
            return next((r for r in pull.get_reviews() if self._is_ours(r, marker)), None)

        def make() -> PullRequestReview:
            return pull.create_review(
                commit=self.repository.get_commit(sha),
                body=body,
                event="COMMENT",
                comments=[_on_lines(remark) for remark in remarks if remark.last],  # type: ignore[misc]
            )

        with translate_errors(f"review {number}"):
            there = look()
            if there is None:
                there = create(run, "review", look, make)
            self._about_files(run, pull, sha, marker, remarks)
            return there.html_url

    def _about_files(
        self, run: Run, pull: PullRequest, sha: str, marker: str, remarks: Sequence[Remark]
    ) -> None:
        """Comments on whole files, each looked for first: they follow the review one by one."""
        whole = [remark for remark in remarks if not remark.last]

        def said() -> set[str]:
            return {c.path for c in pull.get_review_comments() if self._is_ours(c, marker)}

        missing = [remark for remark in whole if remark.path not in said()] if whole else []
        for remark in missing:
            create(
                run,
                "comment on a file",
                lambda path=remark.path: path in said() or None,  # type: ignore[misc]
                lambda remark=remark: bool(  # type: ignore[misc]
                    pull.create_review_comment(
                        f"{marker}\n{remark.body}", sha, remark.path, subject_type="file"
                    )
                ),
            )

    def shown_lines(self, run: Run, number: int) -> Mapping[str, frozenset[int]]:
        """Per file the new lines that the pull request's diff shows."""
        del run
        with translate_errors(f"files of pull request {number}"):
            files = self.repository.get_pull(number).get_files()
            return {file.filename: right_lines(file.patch or "") for file in files}

    def label(self, run: Run, number: int, labels: Sequence[str]) -> None:
        """Add labels; those that are there stay."""
        del run
        # The SDK's own call sends a bare list, which GitHub's description no longer has.
        url = f"{self.repository.url}/issues/{number}/labels"
        with translate_errors(f"label {number}"):
            wanted = {"labels": list(labels)}
            self.repository.requester.requestJsonAndCheck("POST", url, input=wanted)

    def assign(self, run: Run, number: int, who: Sequence[str]) -> None:
        """Assign people; GitHub passes over whom it cannot."""
        del run
        names = [name.removeprefix("@") for name in who]
        with translate_errors(f"assign {number}"):
            self.repository.get_issue(number).add_to_assignees(*names)

    def ask_review(self, run: Run, number: int, who: Sequence[str]) -> None:
        """Ask people (`login`) and teams (`org/team`) for a review."""
        del run
        people = [name for name in who if "/" not in name]
        teams = [name.partition("/")[2] for name in who if "/" in name]
        with translate_errors(f"ask for a review of {number}"):
            pull = self.repository.get_pull(number)
            pull.create_review_request(reviewers=people, team_reviewers=teams)

    def is_checked(self, run: Run, sha: str, about: str) -> bool:
        """Whether the check run of a commit tells this result."""
        del run
        with translate_errors(f"check run of {sha[:12]}"):
            self._checks[sha] = self._find_check(sha)
        there = self._checks[sha]
        return there is not None and there.external_id == about

    def _find_check(self, sha: str) -> CheckRun | None:
        listed = self.repository.get_commit(sha).get_check_runs(check_name=NAME)
        return next(iter(listed), None)

    def check(self, run: Run, check: Check) -> None:
        """Write the one check run of a commit; GitHub takes fifty annotations at a time.

        Of another workflow's failures on the same commit the former text stays below the new one.
        """
        output = {"title": check.title[:200], "summary": check.summary[:_SUMMARY]}
        pages = [
            [_annotation(a) for a in check.annotations[start : start + _ANNOTATIONS]]
            for start in range(0, len(check.annotations), _ANNOTATIONS)
        ]

        def make() -> CheckRun:
            return self.repository.create_check_run(
                NAME,
                check.sha,
                status="completed",
                conclusion=check.conclusion,
                external_id=check.about,
                output={**output, "annotations": pages[0] if pages else []},
            )

        with translate_errors(f"check run of {check.sha[:12]}"):
            known = check.sha in self._checks
            there = self._checks[check.sha] if known else self._find_check(check.sha)
            if there is None:
                there = create(run, "check run", lambda: self._find_check(check.sha), make)
            elif (there.external_id or "", there.output.title) == (check.about, output["title"]):
                return
            else:
                # What is sent is added to the lines that are marked already.
                pages = [] if there.output.annotations_count else pages
                if _failures(there.external_id) != _failures(check.about):
                    below = f"{output['summary']}\n\n---\n\n{there.output.summary or ''}"
                    output["summary"] = below[:_SUMMARY]
                there.edit(
                    conclusion=check.conclusion,
                    external_id=check.about,
                    output={**output, "annotations": pages[0] if pages else []},
                )
            for page in pages[1:]:
                there.edit(output={**output, "annotations": page})


def _failures(about: str | None) -> list[str]:
    """The part of a check run's name that says which failures it tells of."""
    return (about or "").split()[:3]


def _on_lines(remark: Remark) -> dict[str, Any]:
    lines: dict[str, Any] = {"line": remark.last, "side": "RIGHT"}
    if remark.first is not None and remark.first != remark.last:
        lines |= {"start_line": remark.first, "start_side": "RIGHT"}
    return {"path": remark.path, "body": remark.body, **lines}


def _annotation(annotation: Annotation) -> dict[str, str | int]:
    return {
        "path": annotation.path,
        "start_line": annotation.line,
        "end_line": annotation.line,
        "annotation_level": annotation.level,
        "message": annotation.message,
    }


_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+(\d+)(?:,\d+)? @@")


def right_lines(patch: str) -> frozenset[int]:
    """The numbers, from 1, of the lines on the right side of a patch: added ones and context."""
    shown: set[int] = set()
    line = 0
    for text in patch.split("\n"):
        if found := _HUNK.match(text):
            line = int(found[1])
        elif line and text[:1] in {"+", " "}:
            shown.add(line)
            line += 1
    return frozenset(shown)
