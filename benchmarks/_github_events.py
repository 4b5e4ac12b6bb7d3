"""Events as they start a run, and those that must start none."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks._github_stage import ADA, JUNIT, Event, Stage
from tests.github_server.world import Pull

Make = Callable[[Stage], Event]


def _fork(stage: Stage) -> Pull:
    return stage.pull(author="mallory", repo="mallory/shop", branch="patch-1")


def red_of_pull(stage: Stage) -> Event:
    pull = stage.pull()
    return stage.finished(stage.red("feature", event="pull_request"), pull)


def red_comment(stage: Stage) -> Event:
    pull = stage.pull()
    stage.red("feature")
    return stage.comment(pull=pull)


def named(stage: Stage) -> Event:
    pull = stage.pull(author="newcomer")
    return stage.comment(f"/heal @{pull.head_sha}", pull=pull)


def _run_input(stage: Stage) -> Event:
    stage.inputs["run-id"] = str(stage.red().id)
    return "workflow_dispatch", stage.pushed()[1]


def _loose(stage: Stage) -> Event:
    git = stage.github.world.git
    sha = git.save_commit("Loose", git.commit(stage.base).tree, [stage.base], ADA, ADA)
    return stage.dispatch(sha=sha, report=JUNIT)


def _closed_pull(stage: Stage) -> Event:
    pull = stage.pull()
    pull.state = "closed"
    return stage.comment(pull=pull)


def _deleted(stage: Stage) -> Event:
    event = _closed_pull(stage)
    stage.github.world.git.delete_ref("refs/heads/feature")
    stage.humans.clear()
    return event


def _stop(stage: Stage) -> Pull:
    pull = stage.pull()
    pull.labels.append("heal-bot-stop")
    return pull


def _stopped(stage: Stage) -> Event:
    return stage.comment(pull=_stop(stage))


TRIGGERS: dict[str, Make] = {
    "a step after a push": Stage.pushed,
    "a step of a pull request": lambda s: s.pull_event(s.pull()),
    "a job that needs the tests": lambda s: (s.red(id=900), s.pushed())[1],
    "a red run of a push": lambda s: s.finished(s.red()),
    "a red run of a pull request": red_of_pull,
    "a comment": red_comment,
    "a comment that names a test": lambda s: s.comment("/heal tests/test_pricing.py::test_total"),
    "a comment that names the commit": named,
    "a comment that asks again": lambda s: s.comment("/heal retry sum them all"),
    "a line of a review": lambda s: s.line_comment(s.pull(), "shop/pricing.py", 8),
    "a review": lambda s: s.review(s.pull()),
    "a dispatch with a report": lambda s: s.dispatch(sha=s.base, report=JUNIT, callback="job-7"),
    "a dispatch of a run": lambda s: s.dispatch(run_id=s.red().id),
    "a dispatch of a function": lambda s: s.dispatch(sha=s.base, function="shop/pricing.py::total"),
    "a dispatch by hand": lambda s: ("workflow_dispatch", s.pushed()[1] | {"inputs": {}}),
    "a dispatch by hand of a run": _run_input,
    "a schedule": lambda s: (s.red(), ("schedule", s.pushed()[1]))[1],
}


REFUSALS: dict[str, tuple[Make, str]] = {
    "a stranger's comment": (lambda s: s.comment(actor="mallory"), "needs write permission"),
    "a comment by a bot that is not listed": (
        lambda s: s.comment(actor="other[bot]"), "not listed"),
    "a comment on a fork": (lambda s: s.comment(pull=_fork(s)), "from a fork"),
    "a line of a review on a fork": (
        lambda s: s.line_comment(_fork(s), "shop/pricing.py", 8), "does not run"),
    "a review on a fork": (lambda s: s.review(_fork(s)), "does not run"),
    "a step of a fork's pull request": (lambda s: s.pull_event(_fork(s)), "does not run"),
    "a red run of a fork": (
        lambda s: s.finished(s.red(repo="mallory/shop", event="pull_request")), "mallory/shop"),
    "pull_request_target": (
        lambda s: ("pull_request_target", s.pull_event(_fork(s))[1]), "write rights"),
    "a dispatch of a fork's run": (
        lambda s: s.dispatch(run_id=s.red(repo="mallory/shop").id), "mallory/shop"),
    "a dispatch of a commit on no branch": (_loose, "not on branch"),
    "a dispatch without any failure": (lambda s: s.dispatch(sha=s.base), "names no report"),
    "a comment on another head": (
        lambda s: s.comment("/heal @" + "f" * 40), "the head is"),
    "a comment on a closed pull request": (_closed_pull, "not open"),
    "a comment after its branch was deleted": (_deleted, "not open"),
    "words it does not know": (lambda s: s.comment("/heal aply"), "does not know"),
    "a comment on a stopped pull request": (_stopped, "heal-bot-stop"),
    "a red run of a stopped pull request": (
        lambda s: s.finished(s.red("feature", event="pull_request"), _stop(s)), "heal-bot-stop"),
    "a run that was cancelled": (lambda s: s.finished(s.red(conclusion="cancelled")), "cancelled"),
    "a schedule without a red run": (lambda s: ("schedule", s.pushed()[1]), "no red run"),
}  # fmt: skip
