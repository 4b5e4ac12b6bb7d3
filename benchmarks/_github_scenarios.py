"""The scenarios: who asks for what, how the world stands, and what must come of it."""

from __future__ import annotations

import signal
from collections.abc import Callable
from typing import Any

from benchmarks._github_stage import ADA, BETTER, BOT, JUNIT, TOKEN, Stage, zipped
from heal_bot.source import edit
from tests.github import records
from tests.github.server import Fault
from tests.report.tame import HOSTILE

Scenario = Callable[[Stage], None]
BRANCH = "heal-bot/0123456789ab"
WRITES = ("reactions/create-for-issue-comment", "issues/create-comment", "git/create-tree",
          "git/create-commit", "git/create-ref", "pulls/create", "checks/create",
          "issues/update-comment")  # fmt: skip
FAULTS = {
    "5xx before": {"when": "before", "status": 502},
    "5xx after": {"when": "after", "status": 502},
    "lost answer": {"when": "after", "status": 0},
    "rate limited": {"when": "before", "status": 403, "headers": {"Retry-After": "1"},
                     "message": "You have exceeded a secondary rate limit"},
}  # fmt: skip


def _fork(stage: Stage) -> Any:
    return stage.pull(author="mallory", repo="mallory/shop", branch="patch-1")


TRIGGERS: dict[str, Callable[[Stage], Any]] = {
    "a step after a push": lambda s: s.pushed(),
    "a step of a pull request": lambda s: s.pull_event(s.pull()),
    "a job that needs the tests": lambda s: (s.red(id=900), s.pushed())[1],
    "a red run of a push": lambda s: s.finished(s.red()),
    "a red run of a pull request": lambda s: _red_of_pull(s),
    "a comment": lambda s: _red_comment(s),
    "a comment that names a test": lambda s: s.comment("/heal tests/test_pricing.py::test_total"),
    "a comment that names the commit": lambda s: _named(s),
    "a comment that asks again": lambda s: s.comment("/heal retry sum them all"),
    "a line of a review": lambda s: s.line_comment(s.pull(), "shop/pricing.py", 8),
    "a review": lambda s: s.review(s.pull()),
    "a dispatch with a report": lambda s: s.dispatch(sha=s.base, report=JUNIT, callback="job-7"),
    "a dispatch of a run": lambda s: s.dispatch(run_id=s.red().id),
    "a dispatch of a function": lambda s: s.dispatch(sha=s.base, function="shop/pricing.py::total"),
    "a dispatch by hand": lambda s: ("workflow_dispatch", s.pushed()[1] | {"inputs": {}}),
    "a dispatch by hand of a run": lambda s: _run_input(s),
    "a schedule": lambda s: (s.red(), ("schedule", s.pushed()[1]))[1],
}


def _red_of_pull(stage: Stage) -> Any:
    pull = stage.pull()
    return stage.finished(stage.red("feature", event="pull_request"), pull)


def _red_comment(stage: Stage) -> Any:
    pull = stage.pull()
    stage.red("feature")
    return stage.comment(pull=pull)


def _named(stage: Stage) -> Any:
    pull = stage.pull(author="newcomer")
    return stage.comment(f"/heal @{pull.head_sha}", pull=pull)


def _run_input(stage: Stage) -> Any:
    stage.inputs["run-id"] = str(stage.red().id)
    return "workflow_dispatch", stage.pushed()[1]


def allowed(make: Callable[[Stage], Any]) -> Scenario:
    """It is healed and proposed; a second time without news nothing is written."""

    def play(stage: Stage) -> None:
        event = make(stage)
        stage.act(event)
        assert (stage.status, stage.delivery) == ("partly_healed", "created"), stage.said
        assert len(stage.ours()) == 1
        stage.github.exchanges.clear()
        if "comment" in event[1] or "review" in event[1]:
            # The same event again is the same request: its own comment says the result.
            stage.act(event, attempt=2)
            assert stage.delivery == "unchanged", stage.said
            return
        stage.act(event)
        assert stage.delivery == "unchanged", stage.said
        assert stage.github.writes() == []

    return play


def _refused(reason: str) -> Callable[[Stage], None]:
    def check(stage: Stage) -> None:
        assert stage.status in {"refused", "nothing_to_do"}, (stage.status, stage.said)
        assert not stage.healed
        assert reason in "".join(stage.said), stage.said
        assert not stage.ours()

    return check


REFUSALS: dict[str, tuple[Callable[[Stage], Any], str]] = {
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
    "a dispatch of a commit on no branch": (lambda s: _loose(s), "not on branch"),
    "a dispatch without any failure": (lambda s: s.dispatch(sha=s.base), "names no report"),
    "a comment on another head": (
        lambda s: s.comment("/heal @" + "f" * 40), "the head is"),
    "a comment on a closed pull request": (lambda s: _closed_pull(s), "not open"),
    "a comment after its branch was deleted": (lambda s: _deleted(s), "not open"),
    "words it does not know": (lambda s: s.comment("/heal everything"), "does not know"),
    "a comment on a stopped pull request": (lambda s: _stopped(s), "heal-bot-stop"),
    "a red run of a stopped pull request": (
        lambda s: s.finished(s.red("feature", event="pull_request"), _stop(s)), "heal-bot-stop"),
    "a run that was cancelled": (lambda s: s.finished(s.red(conclusion="cancelled")), "cancelled"),
    "a schedule without a red run": (lambda s: ("schedule", s.pushed()[1]), "no red run"),
}  # fmt: skip


def _loose(stage: Stage) -> Any:
    git = stage.github.world.git
    sha = git.save_commit("Loose", git.commit(stage.base).tree, [stage.base], ADA, ADA)
    return stage.dispatch(sha=sha, report=JUNIT)


def _closed_pull(stage: Stage) -> Any:
    pull = stage.pull()
    pull.state = "closed"
    return stage.comment(pull=pull)


def _deleted(stage: Stage) -> Any:
    event = _closed_pull(stage)
    stage.github.world.git.delete_ref("refs/heads/feature")
    stage.humans.clear()
    return event


def _stop(stage: Stage) -> Any:
    pull = stage.pull()
    pull.labels.append("heal-bot-stop")
    return pull


def _stopped(stage: Stage) -> Any:
    return stage.comment(pull=_stop(stage))


def refused(make: Callable[[Stage], Any], reason: str) -> Scenario:
    """Nothing is healed or proposed; whoever waits is answered once, however often it runs."""

    def play(stage: Stage) -> None:
        event = make(stage)
        for attempt in (1, 2):
            stage.act(event, attempt=attempt)
            _refused(reason)(stage)
        assert sum(c.user == BOT for c in stage.github.world.comments.values()) <= 1

    return play


def faulty(operation: str, fault: dict[str, Any]) -> Scenario:
    """One write is answered by an error; the run, or the next one, ends as if it had not been."""

    def play(stage: Stage) -> None:
        event = _red_comment(stage)
        stage.github.faults.append(Fault(operation, **fault))
        stage.act(event)
        if not stage.ours():
            stage.act(event, attempt=2)
        assert len(stage.ours()) == 1, stage.said

    return play


def interrupted(number: int, when: str) -> Scenario:
    """SIGKILL when a request arrives or has taken effect; the next run ends as if it had not been."""

    def play(stage: Stage) -> None:
        event = _red_comment(stage)
        aim = stage.stop_at(number, when, signal.SIGKILL)
        process = stage.start(event)
        aim(process.pid)
        code = stage.end(process)
        assert code == -signal.SIGKILL, stage.said
        assert stage.end(stage.start(event, attempt=2)) == 0, stage.said
        assert len(stage.ours()) == 1
        assert sum("request" in c.body for c in stage.github.world.comments.values()
                   if c.user == BOT) == 1  # fmt: skip

    return play


def together(number: int, make: Callable[[Stage], Any]) -> Scenario:
    """Two runs at once: the first stands still at a request while the second runs to its end."""

    def play(stage: Stage) -> None:
        event = make(stage)
        aim = stage.stop_at(number, "after", signal.SIGSTOP)
        first = stage.start(event)
        aim(first.pid)
        while len(stage.github.exchanges) <= number and first.poll() is None:
            signal.sigtimedwait([], 0.01)
        second = stage.start(event)
        codes = [stage.end(second)]
        if first.poll() is None:
            first.send_signal(signal.SIGCONT)
        codes.append(stage.end(first))
        assert codes == [0, 0], stage.said
        assert len(stage.ours()) == 1

    return play


# -- how the world stands ---------------------------------------------------------------------


def moved_elsewhere(stage: Stage) -> None:
    event = stage.finished(stage.red())
    stage.commit("main", "README.md", "New\n")
    stage.act(event)
    assert stage.delivery == "created"
    assert "The branch has moved" in stage.ours()[0].body


def moved_in_the_file(stage: Stage) -> None:
    event = stage.finished(stage.red())

    def once() -> None:
        if len(stage.healed) == 1:
            stage.commit("main", "shop/pricing.py", records.BROKEN + "\n# newer\n")
            stage.values = lambda sha: records.data(
                sha, records.BROKEN + "\n# newer\n", records.FIXED + "\n# newer\n"
            )

    stage.meanwhile = once
    stage.act(event)
    assert (stage.delivery, len(stage.healed)) == ("created", 2), stage.said


def moved_under_a_comment(stage: Stage) -> None:
    event = _red_comment(stage)
    stage.meanwhile = lambda: stage.commit("feature", "shop/other.py", "X = 1\n")
    stage.act(event)
    assert (stage.status, len(stage.healed)) == ("stale", 1), stage.said
    assert not stage.ours()
    assert any("moved from" in body for body in stage.bodies())


def branch_deleted_meanwhile(stage: Stage) -> None:
    event = _red_comment(stage)
    stage.meanwhile = lambda: stage.github.world.git.delete_ref("refs/heads/feature")
    stage.act(event)
    stage.humans.clear()
    assert stage.status == "stale"
    assert not stage.ours()


def human_commit(stage: Stage) -> None:
    event = stage.finished(stage.red())
    stage.act(event)
    stage.commit(BRANCH, "shop/pricing.py", records.FIXED + "# mine\n")
    stage.values = lambda sha: records.data(sha, after=BETTER)
    for _ in range(2):
        stage.act(event)
        assert stage.delivery == "commented", stage.said


def human_commit_meanwhile(stage: Stage) -> None:
    event = stage.finished(stage.red())
    stage.act(event)
    stage.values = lambda sha: records.data(sha, after=BETTER)
    stage.meanwhile = lambda: stage.commit(BRANCH, "shop/mine.py", "X = 1\n")
    stage.act(event)
    assert stage.delivery == "commented", stage.said


def closed(stage: Stage) -> None:
    event = stage.finished(stage.red())
    stage.act(event)
    stage.ours()[0].state = "closed"
    stage.act(event)
    assert stage.delivery == "declined", stage.said
    assert not stage.ours()


def reverted(stage: Stage) -> None:
    event = stage.finished(stage.red())
    stage.act(event)
    pull = stage.ours()[0]
    pull.state, pull.merged = "closed", True
    stage.github.world.git.delete_ref(f"refs/heads/{BRANCH}")
    stage.act(event)
    assert stage.delivery == "declined", stage.said
    assert not stage.ours()


def closed_and_asked_again(stage: Stage) -> None:
    event = _red_comment(stage)
    stage.act(event)
    stage.ours()[0].state = "closed"
    pull = stage.github.world.pulls[1]
    stage.act(stage.comment("/heal retry", pull=pull))
    assert stage.delivery == "created", stage.said
    assert stage.healed[-1].memory.tried == ()


def green(stage: Stage) -> None:
    stage.act(stage.finished(stage.red()))
    assert len(stage.ours()) == 1
    stage.commit("main", "shop/pricing.py", records.FIXED)
    for _ in range(2):
        stage.act(stage.finished(stage.red(conclusion="success")))
    assert not stage.ours()
    assert stage.github.world.branch(BRANCH) is None


def green_before(stage: Stage) -> None:
    first = stage.red()
    stage.commit("main", "README.md", "New\n")
    stage.act(stage.finished(stage.red()))
    first.conclusion = "success"
    stage.act(stage.finished(first))
    assert len(stage.ours()) == 1


def green_with_a_human_commit(stage: Stage) -> None:
    stage.act(stage.finished(stage.red()))
    stage.commit(BRANCH, "shop/mine.py", "X = 1\n")
    stage.act(stage.finished(stage.red(conclusion="success")))
    assert len(stage.ours()) == 1


def four_at_once(stage: Stage) -> None:
    for number in range(4):
        stage.values = lambda sha, n=number: records.data(sha) | {"fingerprint": f"{n:012x}"}  # type: ignore[misc]
        stage.act(stage.pushed())
    assert len(stage.ours()) == 3
    assert stage.delivery == "summary"
    assert "3 pull requests of heal-bot are open" in (stage.folder / "summary").read_text()


def apply(stage: Stage) -> None:
    stage.act(_red_comment(stage))
    pull = stage.github.world.pulls[1]
    for _ in range(2):
        stage.act(stage.comment("/heal apply", pull=pull))
    assert stage.github.world.git.git("show", "refs/heads/feature:shop/pricing.py").decode() == (
        records.FIXED
    )
    assert not stage.ours()


def apply_after_a_move(stage: Stage) -> None:
    stage.act(_red_comment(stage))
    stage.commit("feature", "shop/other.py", "X = 1\n")
    stage.act(stage.comment("/heal apply", pull=stage.github.world.pulls[1]))
    assert stage.delivery == "stale", stage.said
    assert len(stage.ours()) == 1


def apply_of_a_stranger(stage: Stage) -> None:
    stage.act(_red_comment(stage))
    event = stage.comment("/heal apply", actor="mallory", pull=stage.github.world.pulls[1])
    stage.act(event)
    assert stage.status == "refused"
    assert len(stage.ours()) == 1


def apply_of_changed_work(stage: Stage) -> None:
    stage.act(_red_comment(stage))
    stage.commit(BRANCH, "shop/mine.py", "X = 1\n")
    stage.act(stage.comment("/heal apply", pull=stage.github.world.pulls[1]))
    assert stage.delivery == "declined", stage.said


def stop(stage: Stage) -> None:
    pull = stage.pull()
    stage.act(stage.comment("/heal stop", pull=pull))
    assert pull.labels == ["heal-bot-stop"]
    stage.act(stage.comment(pull=pull))
    assert stage.status == "refused"


def talk(stage: Stage) -> None:
    stage.act(_red_comment(stage))
    pull = stage.github.world.pulls[1]
    stage.act(stage.comment("/heal explain", pull=pull))
    stage.act(stage.comment("/heal help", pull=pull))
    assert any("2 attempts recorded" in body for body in stage.bodies())
    assert any("/heal retry" in body for body in stage.bodies())


def keyless(stage: Stage) -> None:
    stage.act(stage.comment(pull=stage.pull(author="newcomer")))
    assert [task.request.trust for task in stage.healed] == ["keyless"]


def named_is_trusted(stage: Stage) -> None:
    stage.act(_named(stage))
    assert [task.request.trust for task in stage.healed] == ["trusted"]


def listed_bot(stage: Stage) -> None:
    stage.inputs["bots"] = "other[bot]"
    stage.act(stage.comment(actor="other[bot]"))
    assert stage.delivery == "created"


# -- the ladder and the modes -----------------------------------------------------------------


def no_pull_requests_allowed(stage: Stage) -> None:
    stage.github.world.may_open_pulls = False
    for _ in range(2):
        stage.act(stage.pushed())
        assert (stage.status, stage.delivery) == ("partly_healed", "branch_only")
    told = (stage.folder / "summary").read_text()
    assert "Allow GitHub Actions to create and approve pull" in told
    assert f"/compare/main...{BRANCH}" in told


def protected_branches(stage: Stage) -> None:
    stage.github.world.protected = ("heal-bot/*",)
    for _ in range(2):
        stage.act(_again(stage))
        assert stage.delivery == "commented", stage.said
    assert any("Rulesets" in body for body in stage.bodies())


def _again(stage: Stage) -> Any:
    pull = stage.github.world.pulls.get(1) or stage.pull()
    return stage.finished(stage.red("feature", event="pull_request"), pull)


def read_only(stage: Stage) -> None:
    stage.github.world.read_only.add(BOT)
    stage.act(_red_of_pull(stage))
    assert (stage.status, stage.delivery) == ("partly_healed", "summary"), stage.said
    told = (stage.folder / "summary").read_text()
    assert "contents: write" in told
    assert "git apply" in told


def no_checks(stage: Stage) -> None:
    stage.github.world.denied.add("checks/create")
    stage.act(stage.pushed())
    assert stage.delivery == "created"


def no_artifacts(stage: Stage) -> None:
    stage.github.world.denied.add("actions/list-workflow-run-artifacts")
    stage.act(stage.finished(stage.red()))
    assert stage.delivery == "created"
    assert stage.healed[0].downloaded == ()


def mode(name: str, delivery: str) -> Scenario:
    """A pull request's red run delivered in one of the other ways, twice."""

    def play(stage: Stage) -> None:
        stage.inputs["mode"] = name
        event = _again(stage)
        for _ in range(2):
            stage.act(event)
            assert stage.delivery == delivery, (stage.delivery, stage.said)
        assert not stage.ours()
        assert name != "dry-run" or stage.github.writes() == []

    return play


def pushed_to_the_head(stage: Stage) -> None:
    stage.inputs["mode"] = "push"
    event = _again(stage)
    stage.act(event)
    assert stage.delivery == "pushed", stage.said
    git, tip = stage.github.world.git, stage.github.world.branch("feature") or ""
    assert git.commit(tip).parents == (stage.humans[0][1],)
    # The same red run again: what it was about is repaired, so nothing more is written.
    stage.github.exchanges.clear()
    stage.act(event)
    assert stage.delivery in {"stale", "refused"}, stage.said
    assert stage.github.writes() == []
    assert stage.github.world.branch("feature") == tip


def suggested_on_lines(stage: Stage) -> None:
    stage.commit("main", "README.md", "Other\n")
    sha = stage.commit("feature", "shop/pricing.py", records.BROKEN.replace("RATE = 2", "RATE = 4"))
    before = records.BROKEN.replace("RATE = 2", "RATE = 4")
    after = records.FIXED.replace("RATE = 2", "RATE = 4")
    stage.values = lambda base: records.data(base, before, after)
    stage.inputs["mode"] = "suggest"
    pull = stage.pull()
    assert pull.head_sha == sha
    stage.act(stage.finished(stage.red("feature", event="pull_request"), pull))
    assert stage.delivery == "suggested", stage.said
    reviews = list(stage.github.world.reviews.values())
    assert [r["body"] for r in reviews[0].remarks] == [
        "```suggestion\n    return sum(prices)\n```"
    ] or stage.github.world.line_comments


def inputs(stage: Stage) -> None:
    stage.inputs |= {"labels": "bot, red", "reviewers": "ada,codeowners", "draft": "true",
                     "title": "Repair it", "signoff": "true", "branch-prefix": "fix/"}  # fmt: skip
    stage.commit("main", "CODEOWNERS", "*.py @octo/core\n")
    stage.base = stage.github.world.branch("main") or ""
    stage.act(stage.pushed())
    pull = stage.ours()[0]
    assert (pull.title, pull.draft, pull.head) == ("Repair it", True, "fix/0123456789ab")
    assert (pull.labels, pull.asked) == (["bot", "red"], ["ada", "core"])
    git = stage.github.world.git
    assert "Signed-off-by: github-actions[bot]" in git.commit(pull.head_sha).message


# -- sizes and hostility ----------------------------------------------------------------------


def long_diff(stage: Stage) -> None:
    lines = "".join(f"    x{n} = {n}\n" for n in range(720))
    heads = "".join(f"def part_{n}(prices):\n{lines}    return x1\n\n\n" for n in range(7))
    before = heads + "def total(prices):\n    return sum(prices[1:])\n"
    after = before.replace(" = ", " = 1 + ").replace("prices[1:]", "prices")
    stage.commit("main", "shop/pricing.py", before)
    stage.base = stage.github.world.branch("main") or ""
    assert len(edit.diff("a.py", before, after).splitlines()) > 10_000

    def values(sha: str) -> dict[str, Any]:
        data = records.data(sha, before, after)
        names = [*(f"part_{n}" for n in range(7)), "total"]
        data["patch"]["functions"] = [{"path": "shop/pricing.py", "qualname": n} for n in names]
        return data

    stage.values = values
    stage.act(stage.finished(stage.red()))
    assert stage.delivery == "created", stage.said


def many_failures(stage: Stage) -> None:
    def values(sha: str) -> dict[str, Any]:
        data = records.data(sha)
        first = data["failures"][1]
        data["failures"] += [
            first | {"test": f"tests/test_{n}.py::test_x", "message": "long " * 500,
                     "suspects": data["failures"][0]["suspects"]}
            for n in range(500)
        ]  # fmt: skip
        return data

    stage.values = values
    stage.act(stage.finished(stage.red()))
    assert stage.delivery == "created", stage.said
    assert list(stage.github.world.annotated.values()) == [502]


def hostile_texts(stage: Stage) -> None:
    def values(sha: str) -> dict[str, Any]:
        data = records.data(sha)
        data["reason"] = data["notes"][0] = HOSTILE
        for failure in data["failures"]:
            failure |= {
                "message": HOSTILE,
                "reason": HOSTILE,
                "test": f"{failure['test']}[{HOSTILE}]"[:900],
            }
        for attempt in data["attempts"]:
            attempt |= {"rationale": HOSTILE, "detail": HOSTILE}
        data["certificate"]["doubts"] = [HOSTILE]
        return data

    stage.values = values
    pull = stage.pull()
    stage.act(stage.comment(pull=pull))
    assert stage.delivery == "created", stage.said


def hostile_file(stage: Stage) -> None:
    name = "shop/@octocat #12 <img src=x>.py"
    stage.commit("main", name, records.BROKEN)
    stage.base = stage.github.world.branch("main") or ""

    def values(sha: str) -> dict[str, Any]:
        data = records.data(sha)
        data["patch"]["files"][0]["path"] = data["patch"]["functions"][0]["path"] = name
        return data

    stage.values = values
    stage.act(stage.pushed())
    assert stage.delivery in {"created", "refused"}, stage.said
    assert not any("#" in pull.title for pull in stage.ours())


def forged_memory(stage: Stage) -> None:
    stage.act(stage.finished(stage.red()))
    pull = stage.ours()[0]
    pull.body = pull.body.rpartition("<!-- heal-bot memory ")[0] + (
        "<!-- heal-bot memory eJzLSM3JyVcozy/KSQEAGgsEXQ== -->"
    )
    stage.act(stage.finished(stage.red()))
    assert stage.healed[-1].memory.tried == ()


def memory_of_others(stage: Stage) -> None:
    stage.act(stage.finished(stage.red()))
    body = stage.ours()[0].body
    stage.github.world.git.set_ref("refs/heads/heal-bot/ffffffffffff", stage.base)
    stage.github.world.add_pull(
        title="t", body=body, head="heal-bot/ffffffffffff", base="main", user="mallory",
        head_repo="octo/shop", head_sha=stage.base,
    )  # fmt: skip
    stage.commit("main", "shop/pricing.py", records.FIXED)
    stage.act(stage.finished(stage.red(conclusion="success")))
    assert [p.state for p in stage.github.world.pulls.values()] == ["closed", "open"]


def copied_marker(stage: Stage) -> None:
    event = _red_comment(stage)
    number = event[1]["comment"]["id"]
    stage.github.world.add_comment(1, "mallory", f"<!-- heal-bot request {number} -->\nmine")
    stage.act(event, attempt=2)
    assert [c.body for c in stage.github.world.comments.values() if c.user == "mallory"] == [
        f"<!-- heal-bot request {number} -->\nmine"
    ]
    assert stage.delivery == "created"


def artifact_by_content(stage: Stage) -> None:
    run = stage.red()
    run.artifacts = {"notes": zipped("x", "a.txt"), "results": zipped()}
    stage.act(stage.finished(run))
    assert [path.name[:7] for path in stage.healed[0].downloaded] == ["results"]


def token_stays(stage: Stage) -> None:
    stage.github.faults.append(Fault("pulls/create", "before", 403, message=f"no {TOKEN}"))
    stage.act(stage.pushed())
    assert stage.status == "partly_healed"


WORLDS: tuple[Scenario, ...] = (
    moved_elsewhere, moved_in_the_file, moved_under_a_comment, branch_deleted_meanwhile,
    human_commit, human_commit_meanwhile, closed, reverted, closed_and_asked_again, green,
    green_before, green_with_a_human_commit, four_at_once, apply, apply_after_a_move,
    apply_of_a_stranger, apply_of_changed_work, stop, talk, keyless, named_is_trusted, listed_bot,
    no_pull_requests_allowed, protected_branches, read_only, no_checks, no_artifacts,
    pushed_to_the_head, suggested_on_lines, inputs, long_diff, many_failures, hostile_texts, hostile_file,
    forged_memory, memory_of_others, copied_marker, artifact_by_content, token_stays,
)  # fmt: skip
MODES = {"suggest": "suggested", "comment": "commented", "dry-run": "dry_run"}


def quick() -> dict[str, Scenario]:
    """The scenarios in one process each."""
    found: dict[str, Scenario] = {}
    for name, make in TRIGGERS.items():
        found[f"{name}: allowed"] = allowed(make)
    for name, (make, reason) in REFUSALS.items():
        found[f"{name}: refused"] = refused(make, reason)
    for scenario in WORLDS:
        found[scenario.__name__.replace("_", " ")] = scenario
    for name, delivery in MODES.items():
        found[f"mode {name}"] = mode(name, delivery)
    for operation in WRITES:
        for name, fault in FAULTS.items():
            found[f"{operation}: {name}"] = faulty(operation, fault)
    return found


def killed(requests: int) -> dict[str, Scenario]:
    """SIGKILL at each of the requests of a comment's run, and two runs at once at each."""
    found: dict[str, Scenario] = {}
    for number in range(requests):
        found[f"killed before request {number + 1}"] = interrupted(number, "before")
        found[f"killed after the effect of request {number + 1}"] = interrupted(number, "after")
        found[f"two at once, met at request {number + 1}"] = together(number, _red_comment)
    for number in range(1, requests - 3, 2):
        name = f"two red runs at once, met at request {number + 1}"
        found[name] = together(number, _red_of_pull)
    return found
