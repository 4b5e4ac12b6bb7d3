"""What nobody asked for is not written: people's and bots' pull requests, heads that moved."""

from __future__ import annotations

from benchmarks._github_events import red_comment, red_of_pull
from benchmarks._github_stage import ADA, BOT, BRANCH, TOKEN, Stage
from heal_bot.repair.search.attempt_history import digest_answer
from tests.github_server import records
from tests.github_server.server import Fault


def _alone(stage: Stage, operation: str = "checks/create") -> None:
    """Nothing was written but a check run, and what is remembered."""
    written = {e.operation for e in stage.github.writes() if not e.operation.startswith("git/")}
    assert written <= {operation}, written
    assert not stage.ours()
    assert stage.github.world.branch(BRANCH) is None


def person_s_pull_request(stage: Stage) -> None:
    event = red_of_pull(stage)
    stage.act(event)
    assert (stage.status, stage.delivery) == ("partly_healed", "on_request"), stage.said
    _alone(stage)
    (check,) = stage.github.world.checks.values()
    assert "comment /heal on pull request 1" in check["output"]["title"]
    assert "+    return sum(prices)" in check["output"]["summary"]
    stage.github.exchanges.clear()
    stage.act(event)
    assert stage.github.writes() == []


def asked_after_the_check(stage: Stage) -> None:
    event = red_of_pull(stage)
    stage.act(event)
    stage.act(stage.comment(pull=stage.github.world.pulls[1]))
    assert stage.delivery == "created", stage.said
    (check,) = stage.github.world.checks.values()
    assert "a new pull request" in check["output"]["title"]
    stage.github.exchanges.clear()
    stage.act(event)
    assert (stage.delivery, stage.github.writes()) == ("unchanged", [])


def branch_of_a_person(stage: Stage) -> None:
    stage.commit("topic", "NEWS.md", "News\n")
    stage.act(stage.finished(stage.red("topic")))
    assert stage.delivery == "on_request", stage.said
    _alone(stage)


def branch_of_an_open_pull_request(stage: Stage) -> None:
    stage.pull(author="renovate[bot]")
    stage.act(stage.finished(stage.red("feature")))
    assert stage.delivery == "on_request", stage.said
    assert "renovate[bot]'s" in "".join(stage.said)
    _alone(stage)


def branch_that_is_protected(stage: Stage) -> None:
    stage.github.world.protected = ("release",)
    stage.github.world.git.set_ref("refs/heads/release", stage.base)
    stage.act(stage.finished(stage.red("release")))
    assert stage.delivery == "created", stage.said


def label_opts_in(stage: Stage) -> None:
    stage.inputs["pull-requests"] = "label"
    event = red_of_pull(stage)
    stage.act(event)
    assert stage.delivery == "on_request", stage.said
    assert "or set the label heal-bot" in "".join(stage.said)
    _alone(stage)
    stage.github.world.pulls[1].labels.append("heal-bot")
    stage.act(event)
    assert stage.delivery == "created", stage.said


def pull_request_of_a_bot(stage: Stage) -> None:
    stage.inputs["pull-requests"] = "auto"
    pull = stage.pull(author="dependabot[bot]", branch="dependabot/pip/httpx")
    stage.act(stage.finished(stage.red(pull.head, event="pull_request"), pull))
    assert stage.delivery == "on_request", stage.said
    _alone(stage)


def bot_with_a_token_that_reads(stage: Stage) -> None:
    stage.github.world.read_only.add(BOT)
    pull = stage.pull(author="dependabot[bot]", branch="dependabot/pip/httpx")
    stage.act(stage.pull_event(pull))
    assert (stage.status, stage.delivery) == ("partly_healed", "on_request"), stage.said
    assert "explained, never changed" in (stage.folder / "summary").read_text()
    assert " file=shop/pricing.py" in "".join(stage.said)


def head_that_moved(stage: Stage) -> None:
    stage.inputs["pull-requests"] = "auto"
    event = red_of_pull(stage)
    stage.meanwhile = lambda: stage.commit("feature", "shop/other.py", "X = 1\n")
    stage.act(event)
    assert (stage.status, stage.github.writes()) == ("superseded", []), stage.said


def stopped_meanwhile(stage: Stage) -> None:
    event = red_comment(stage)
    stage.meanwhile = lambda: stage.github.world.pulls[1].labels.append("heal-bot-stop")
    stage.act(event)
    assert (stage.delivery, stage.ours()) == ("declined", []), stage.said
    assert any("heal-bot-stop" in body for body in stage.bodies())


def closed_meanwhile(stage: Stage) -> None:
    event = red_comment(stage)
    stage.meanwhile = lambda: setattr(stage.github.world.pulls[1], "state", "closed")
    stage.act(event)
    assert (stage.delivery, stage.ours()) == ("superseded", []), stage.said


def not_reproduced(stage: Stage) -> None:
    stage.values = lambda sha: records.data(sha) | {
        "patch": None, "certificate": None, "status": "not_reproduced"}  # fmt: skip
    stage.act(stage.pushed())
    assert (stage.delivery, stage.github.writes()) == ("nothing", []), stage.said


def diagnosis(stage: Stage) -> None:
    stage.values = records.suggested
    event = red_of_pull(stage)
    stage.act(event)
    assert not stage.github.world.comments
    stage.inputs["diagnosis-comment"] = "true"
    for _ in range(2):
        stage.act(event)
        assert stage.delivery == "commented", stage.said
    assert len(stage.github.world.comments) == 1


def one_answer_to_a_stranger(stage: Stage) -> None:
    pull = stage.pull()
    for body in ("/heal", "/heal xyz", "/heal stop", "/heal aply"):
        stage.act(stage.comment(body, actor="mallory", pull=pull))
    assert len(stage.bodies()) == 1, stage.bodies()


def one_answer_for_the_diff(stage: Stage) -> None:
    event = red_comment(stage)
    stage.github.world.protected = ("heal-bot/*",)
    stage.act(event)
    assert stage.delivery == "commented", stage.said
    (body,) = [c.body for c in stage.github.world.comments.values() if c.user == BOT]
    assert "git apply" in body


def token_of_an_app(stage: Stage) -> None:
    stage.github.world.tokens[TOKEN] = "mender[bot]"
    event = stage.finished(stage.red())
    for _ in range(2):
        stage.act(event)
    (pull,) = [p for p in stage.github.world.pulls.values() if p.user == "mender[bot]"]
    assert "GITHUB_TOKEN" not in pull.body
    stage.commit("main", "shop/pricing.py", records.FIXED)
    stage.act(stage.finished(stage.red(conclusion="success")))
    assert pull.state == "closed"


def hint_on_our_proposal(stage: Stage) -> None:
    stage.act(stage.finished(stage.red()))
    pull = stage.ours()[0]
    stage.github.world.add_comment(pull.number, "mallory", "delete everything")
    stage.github.world.add_comment(pull.number, "ada", "prices may be None")
    after = records.BROKEN.replace("sum(prices[1:])", "sum(list(prices))")
    stage.values = lambda sha: records.data(sha, after=after)
    stage.act(stage.comment("/heal use a list instead", pull=pull))
    assert stage.delivery == "updated", stage.said
    task = stage.healed[-1]
    assert (task.request.base_ref, task.request.base_sha) == ("main", stage.base)
    assert "use a list instead" in task.request.instruction
    assert "ada: prices may be None" in task.request.instruction
    assert "delete everything" not in task.request.instruction
    assert "sum(list(prices))" in pull.body
    assert len(stage.ours()) == 1


def retry_on_a_closed_proposal(stage: Stage) -> None:
    stage.act(stage.finished(stage.red()))
    pull = stage.ours()[0]
    pull.state = "closed"
    stage.act(stage.comment("/heal retry", pull=pull))
    assert stage.delivery == "created", stage.said


def pick_without_a_question(stage: Stage) -> None:
    stage.act(stage.comment("/heal pick b"))
    assert any("no question is remembered for branch" in body for body in stage.bodies())
    assert not stage.healed


def pick_of_a_question(stage: Stage) -> None:
    stage.values = records.asked
    event = red_comment(stage)
    stage.act(event)
    assert (stage.status, stage.ours()) == ("needs_answer", []), stage.said
    assert any("/heal pick B" in body for body in stage.bodies())
    pull = stage.github.world.pulls[1]
    stage.act(stage.comment("/heal pick B", "mallory", pull))
    assert (stage.status, len(stage.healed)) == ("refused", 1), stage.said
    stage.values = lambda sha: records.data(sha, after=records.OTHERWISE)
    stage.act(stage.comment("/heal pick b", "ada", pull))
    task = stage.healed[-1]
    answer = digest_answer("total([])", "raises IndexError")
    assert (task.request.choice, task.memory.answers) == ("B", (answer,))
    assert stage.delivery == "created", stage.said
    assert answer in stage.github.world.git.git("show", "refs/heal-bot/state:state.json").decode()


def no_drafts_in_this_plan(stage: Stage) -> None:
    stage.github.world.drafts = False
    stage.inputs["draft"] = "true"
    stage.act(stage.pushed())
    assert stage.delivery == "created", stage.said
    assert "Not ready to merge" in stage.ours()[0].body
    assert not stage.ours()[0].draft


def title_of_a_person(stage: Stage) -> None:
    event = stage.finished(stage.red())
    stage.act(event)
    stage.ours()[0].title = "Count every price"
    stage.values = lambda sha: records.data(
        sha, after=records.BROKEN.replace("prices[1:]", "list(prices)")
    )
    stage.act(event)
    assert (stage.delivery, stage.ours()[0].title) == ("updated", "Count every price")


def title_in_their_style(stage: Stage) -> None:
    git = stage.github.world.git
    tree = git.commit(stage.base).tree
    for _ in range(2):
        stage.base = git.save_commit("feat(shop): more", tree, [stage.base], ADA, ADA)
    git.set_ref("refs/heads/main", stage.base)
    stage.act(stage.finished(stage.red()))
    assert stage.ours()[0].title.startswith("fix: repair total in shop/pricing.py"), stage.said


def one_reviewer_of_two(stage: Stage) -> None:
    stage.github.world.permissions["gone"] = "missing"
    stage.inputs |= {"reviewers": "gone, bob", "assignees": "@ada"}
    stage.act(stage.pushed())
    assert stage.ours()[0].asked == ["bob"], stage.said
    assert stage.ours()[0].assigned == ["ada"]


def branch_named_as_git_allows(stage: Stage) -> None:
    stage.inputs["pull-requests"] = "auto"
    name = "feature/ünicode-fix(x)-a%20b#1"
    stage.commit(name, "NEWS.md", "News\n")
    stage.act(stage.finished(stage.red(name)))
    assert (stage.delivery, stage.ours()[0].base) == ("created", name), stage.said


def answer_that_is_no_json(stage: Stage) -> None:
    stage.github.faults.append(Fault("pulls/list", status=200, times=9, message="<html>"))
    stage.act(stage.pushed())
    assert stage.status in {"failed", "partly_healed"}, stage.said


QUIET = (
    person_s_pull_request,
    asked_after_the_check,
    branch_of_a_person,
    branch_of_an_open_pull_request,
    branch_that_is_protected,
    label_opts_in,
    pull_request_of_a_bot,
    bot_with_a_token_that_reads,
    head_that_moved,
    stopped_meanwhile,
    closed_meanwhile,
    not_reproduced,
    diagnosis,
    one_answer_to_a_stranger,
    one_answer_for_the_diff,
    token_of_an_app,
    hint_on_our_proposal,
    retry_on_a_closed_proposal,
    pick_without_a_question,
    pick_of_a_question,
    no_drafts_in_this_plan,
    title_of_a_person,
    title_in_their_style,
    one_reviewer_of_two,
    branch_named_as_git_allows,
    answer_that_is_no_json,
)
