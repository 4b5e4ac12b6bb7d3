"""What is rare: missing rights, limits that last, storms of errors, things gone meanwhile."""

from __future__ import annotations

import time

from benchmarks._github_events import red_comment, red_of_pull
from benchmarks._github_stage import BOT, BRANCH, Stage, zipped
from tests.github_server import records
from tests.github_server.server import Fault

LONG = 3600


def _said(stage: Stage) -> str:
    return "".join(stage.said)


def _summary(stage: Stage) -> str:
    return (stage.folder / "summary").read_text()


def _step(stage: Stage) -> None:
    """A delivered proposal whose run ended well although something beside it failed."""
    assert (stage.status, stage.delivery) == ("partly_healed", "created"), stage.said
    assert len(stage.ours()) == 1
    assert "failed:" not in _said(stage)


def comments_not_allowed(stage: Stage) -> None:
    event = red_comment(stage)
    stage.github.world.denied |= {"issues/create-comment", "reactions/create-for-issue-comment"}
    stage.act(event)
    _step(stage)
    assert "issues: write" in _said(stage)


def conversation_locked(stage: Stage) -> None:
    stage.inputs["pull-requests"] = "auto"
    locked = "Unable to create comment because issue is locked."
    stage.github.faults.append(Fault("issues/create-comment", status=403, times=9, message=locked))
    stage.act(red_of_pull(stage))
    _step(stage)
    assert "issue is locked" in _said(stage)


def refusal_not_allowed(stage: Stage) -> None:
    event = stage.comment(actor="mallory")
    stage.github.world.denied.add("issues/create-comment")
    stage.act(event)
    assert stage.status == "refused", stage.said
    assert "needs write permission" in _summary(stage)


def storm_on_checks(stage: Stage) -> None:
    stage.github.faults.append(Fault("checks/create", status=502, times=99))
    stage.act(stage.pushed())
    _step(stage)
    assert "::notice file=shop/pricing.py,line=" in _said(stage), stage.said


def lines_where_a_check_shows_them(stage: Stage) -> None:
    stage.act(stage.pushed())
    assert " file=" not in _said(stage), stage.said
    assert sum(stage.github.world.annotated.values()) > 0


def storm_on_the_answer(stage: Stage) -> None:
    event = red_comment(stage)
    stage.github.faults.append(Fault("issues/update-comment", status=503, times=99))
    stage.act(event)
    _step(stage)
    stage.github.faults.clear()
    stage.act(event, attempt=2)
    assert stage.delivery == "unchanged", stage.said
    assert any("Fix proposed** in" in body for body in stage.bodies())


def storm_on_the_pull_request(stage: Stage) -> None:
    stage.github.faults.append(Fault("pulls/create", status=502, times=9))
    event = stage.finished(stage.red())
    stage.act(event)
    assert stage.delivery == "branch_only", stage.said
    assert "GitHub answered 502" in _summary(stage)
    stage.github.faults.clear()
    stage.act(event)
    _step(stage)


def storm_before_the_branch(stage: Stage) -> None:
    stage.github.faults.append(Fault("git/create-tree", status=500, times=9))
    stage.act(stage.finished(stage.red()))
    assert (stage.status, stage.delivery) == ("failed", "summary"), stage.said
    assert "git apply" in _summary(stage)
    assert "write the tree: GitHub answered 500" in _said(stage)


def reviewers_unknown(stage: Stage) -> None:
    stage.github.world.permissions["gone"] = "missing"
    stage.inputs |= {"reviewers": "gone", "labels": "red"}
    stage.act(stage.pushed())
    _step(stage)
    assert stage.ours()[0].labels == ["red"]
    assert "only be requested from collaborators" in _said(stage)


def labels_not_allowed(stage: Stage) -> None:
    stage.inputs |= {"reviewers": "ada", "labels": "red"}
    stage.github.world.denied.add("issues/add-labels")
    stage.act(stage.pushed())
    _step(stage)
    assert stage.ours()[0].asked == ["ada"]


def branch_differs_in_workflows(stage: Stage) -> None:
    stage.inputs["pull-requests"] = "auto"
    told = ("refusing to allow a GitHub App to create or update workflow"
            " `.github/workflows/ci.yml` without `workflows` permission")  # fmt: skip
    event = red_of_pull(stage)
    stage.github.faults.append(Fault("git/create-ref", status=422, times=9, message=told))
    stage.act(event)
    assert (stage.status, stage.delivery) == ("partly_healed", "commented"), stage.said
    assert any("workflows: write" in body for body in stage.bodies())


def writes_are_not_found(stage: Stage) -> None:
    stage.github.faults.append(Fault("git/create-tree", status=404, times=9, message="Not Found"))
    stage.act(stage.pushed())
    assert (stage.status, stage.delivery) == ("partly_healed", "summary"), stage.said
    assert "contents: write" in _summary(stage)


def archived(stage: Stage) -> None:
    told = "Repository was archived so is read-only."
    stage.github.faults.append(Fault("git/create-tree", status=403, times=9, message=told))
    stage.act(stage.pushed())
    assert stage.delivery == "summary", stage.said
    assert "archived" in _summary(stage)


def limit_used_up(stage: Stage) -> None:
    reset = int(time.time()) + LONG
    headers = {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(reset)}
    stage.github.faults.append(
        Fault("git/create-tree", status=403, times=9, headers=headers,
              message="API rate limit exceeded for installation ID 1.")
    )  # fmt: skip
    begin = time.monotonic()
    stage.act(stage.pushed())
    assert time.monotonic() - begin < 5
    assert (stage.status, stage.delivery) == ("failed", "summary"), stage.said
    at = time.strftime("%H:%M:%S", time.gmtime(reset))
    assert f"used up until {at} UTC" in _said(stage)
    assert sum(e.operation == "git/create-tree" for e in stage.github.exchanges) == 1


def reading_is_limited(stage: Stage) -> None:
    told = "You have exceeded a secondary rate limit"
    stage.github.faults.append(
        Fault("pulls/list", status=403, headers={"Retry-After": "1"}, message=told)
    )
    stage.act(stage.pushed())
    _step(stage)


def many_comments(stage: Stage) -> None:
    event = red_comment(stage)
    pull = stage.github.world.pulls[1]
    for number in range(1000):
        stage.github.world.add_comment(pull.number, "ada", f"remark {number}")
    stage.act(event)
    stage.act(event, attempt=2)
    assert stage.delivery == "unchanged", stage.said
    assert sum(c.user == BOT for c in stage.github.world.comments.values()) == 1


def artifact_expired(stage: Stage) -> None:
    run = stage.red()
    run.artifacts = {"junit-old": zipped(), "junit-new": zipped()}
    stage.github.faults.append(
        Fault("actions/download-artifact", status=410, message="Artifact has expired")
    )
    stage.act(stage.finished(run))
    _step(stage)
    assert len(stage.healed[0].downloaded) == 1
    assert "answered 410; it has expired" in _said(stage)


def own_proposal_is_red(stage: Stage) -> None:
    stage.act(stage.finished(stage.red()))
    for event in (stage.finished(stage.red(BRANCH)), stage.pull_event(stage.ours()[0])):
        stage.act(event)
        assert stage.status == "nothing_to_do", stage.said
    assert "heal-bot's own" in _said(stage)
    assert (len(stage.ours()), len(stage.healed)) == (1, 1)


def own_proposal_is_asked_for(stage: Stage) -> None:
    stage.act(stage.finished(stage.red()))
    stage.values = lambda sha: (
        records.data(sha, before=records.FIXED, after=records.BROKEN) | {"fingerprint": "a" * 12}
    )
    stage.act(stage.comment(pull=stage.ours()[0]))
    assert len(stage.healed) == 2, stage.said


def line_that_was_deleted(stage: Stage) -> None:
    event = stage.line_comment(stage.pull(), "shop/pricing.py", 8)
    event[1]["comment"] |= {"side": "LEFT"}
    stage.act(event)
    _step(stage)
    assert stage.healed[0].place is None


def line_that_moved_on(stage: Stage) -> None:
    event = stage.line_comment(stage.pull(), "shop/pricing.py", 8)
    event[1]["comment"] |= {"line": None, "position": None}
    stage.act(event)
    assert stage.healed[0].place is None


def diff_moved_under_a_suggestion(stage: Stage) -> None:
    stage.inputs["mode"] = "suggest"
    event = red_of_pull(stage)
    told = "Unprocessable Entity: Line could not be resolved"
    stage.github.faults.append(Fault("pulls/create-review-comment", status=422, message=told))
    stage.github.faults.append(Fault("pulls/create-review", status=422, message=told))
    stage.act(event)
    assert stage.delivery == "commented", stage.said
    assert any("git apply" in body for body in stage.bodies())


def invisible_and_carriage_returns(stage: Stage) -> None:
    pull = stage.pull()
    stage.act(
        stage.comment("\u200b/heal retry sum\u202e them\r\nall \U000e0041of them\r\n", pull=pull)
    )
    _step(stage)
    assert stage.healed[0].request.instruction == "sum them all of them"


def edited_comment(stage: Stage) -> None:
    event = red_comment(stage)
    event[1]["action"] = "edited"
    stage.act(event)
    assert (stage.status, stage.github.exchanges) == ("nothing_to_do", [])


def comment_edited_by_another(stage: Stage) -> None:
    event = red_comment(stage)
    event[1]["comment"]["user"] = {"login": "mallory", "type": "User"}
    stage.act(event)
    assert (stage.status, stage.github.exchanges) == ("nothing_to_do", [])


def person_named_like_a_listed_bot(stage: Stage) -> None:
    stage.inputs["bots"] = "renovate"
    stage.act(stage.comment(actor="renovate"))
    assert stage.status == "refused", stage.said


def bot_that_answers_ours(stage: Stage) -> None:
    bot = "helper[bot]"
    stage.inputs["bots"] = bot
    stage.github.world.permissions[bot] = "write"
    pull = stage.pull()

    def said() -> int:
        return sum(c.user == BOT for c in stage.github.world.comments.values())

    asked = 0
    for words in ("/heal", "/heal retry", "/heal explain", "/heal xyz::", "/heal aply"):
        # It answers whatever is new; an answer of ours that is edited is not.
        for _ in range(5):
            before = said()
            stage.act(stage.comment(words, bot, pull))
            asked += 1
            if said() == before:
                break
        else:
            raise AssertionError(f"the two never end with {words}")
    assert asked <= 8, stage.bodies()
    before = said()
    stage.act(stage.comment("/heal explain", "ada", pull))
    assert said() == before + 1, "what a person asks is answered apart"


def custom_role(stage: Stage) -> None:
    stage.github.world.permissions["eve"] = "release-captain"
    stage.github.world.base_roles["release-captain"] = "write"
    stage.act(stage.comment(actor="eve"))
    _step(stage)


def dispatch_with_more_fields(stage: Stage) -> None:
    stage.act(stage.dispatch(sha=stage.base, function="shop/pricing.py::total", shell="id"))
    assert stage.status == "failed"
    assert "client_payload: shell" in _said(stage), stage.said
    assert stage.github.exchanges == []


def branch_gone_before_the_write(stage: Stage) -> None:
    event = red_of_pull(stage)
    stage.meanwhile = lambda: stage.github.world.git.delete_ref("refs/heads/feature")
    stage.act(event)
    stage.humans.clear()
    assert stage.status == "refused", stage.said
    assert "feature is gone" in _said(stage)
    assert not stage.ours()


def base_gone_before_the_pull_request(stage: Stage) -> None:
    stage.inputs["pull-requests"] = "auto"
    stage.github.world.git.set_ref("refs/heads/release", stage.base)
    event = stage.finished(stage.red("release"))
    stage.github.watch = lambda number, moment: (
        stage.github.world.git.delete_ref("refs/heads/release")
        if stage.github.world.branch(BRANCH) and stage.github.world.branch("release")
        else None
    )
    stage.act(event)
    assert stage.delivery == "branch_only", stage.said
    assert not stage.ours()


def apply_onto_a_protected_branch(stage: Stage) -> None:
    stage.act(red_comment(stage))
    stage.github.world.protected = ("feature",)
    stage.act(stage.comment("/heal apply", pull=stage.github.world.pulls[1]))
    assert stage.delivery == "refused", stage.said
    assert any("Rulesets" in body for body in stage.bodies())


def outside_of_the_paths(stage: Stage) -> None:
    stage.inputs["paths"] = "lib, !shop"
    stage.act(stage.pushed())
    assert (stage.status, stage.delivery) == ("refused", "refused"), stage.said
    assert "shop/pricing.py lies outside" in _said(stage)
    assert not stage.ours()


def green_where_comments_are_not_allowed(stage: Stage) -> None:
    stage.act(stage.finished(stage.red()))
    stage.commit("main", "shop/pricing.py", records.FIXED)
    stage.github.world.denied |= {"issues/create-comment", "git/delete-ref"}
    stage.act(stage.finished(stage.red(conclusion="success")))
    assert not stage.ours(), stage.said


def merge_queue(stage: Stage) -> None:
    stage.github.world.git.set_ref("refs/heads/gh-readonly-queue/main/pr-1-f", stage.base)
    stage.act(stage.finished(stage.red("gh-readonly-queue/main/pr-1-f", event="merge_group")))
    assert (stage.status, stage.healed) == ("nothing_to_do", []), stage.said
    assert "merge queue" in _summary(stage)


def tag_that_is_red(stage: Stage) -> None:
    stage.runner = {"GITHUB_REF_TYPE": "tag", "GITHUB_REF_NAME": "v1.0"}
    stage.act(stage.pushed())
    assert (stage.status, stage.github.exchanges) == ("nothing_to_do", []), stage.said
    stage.inputs["base"] = "main"
    stage.act(stage.pushed())
    _step(stage)


def cancelled_meanwhile(stage: Stage) -> None:
    event = red_comment(stage)

    def cancel() -> None:
        raise KeyboardInterrupt

    stage.meanwhile = cancel
    try:
        stage.act(event)
    except KeyboardInterrupt:
        stage.said.append("cancelled")
    assert any("it was cancelled" in body for body in stage.bodies())


RARE = (
    comments_not_allowed,
    conversation_locked,
    refusal_not_allowed,
    storm_on_checks,
    lines_where_a_check_shows_them,
    storm_on_the_answer,
    storm_on_the_pull_request,
    storm_before_the_branch,
    reviewers_unknown,
    labels_not_allowed,
    branch_differs_in_workflows,
    writes_are_not_found,
    archived,
    limit_used_up,
    reading_is_limited,
    many_comments,
    artifact_expired,
    own_proposal_is_red,
    own_proposal_is_asked_for,
    line_that_was_deleted,
    line_that_moved_on,
    diff_moved_under_a_suggestion,
    invisible_and_carriage_returns,
    edited_comment,
    comment_edited_by_another,
    person_named_like_a_listed_bot,
    bot_that_answers_ours,
    custom_role,
    dispatch_with_more_fields,
    branch_gone_before_the_write,
    base_gone_before_the_pull_request,
    apply_onto_a_protected_branch,
    outside_of_the_paths,
    green_where_comments_are_not_allowed,
    merge_queue,
    tag_that_is_red,
    cancelled_meanwhile,
)
