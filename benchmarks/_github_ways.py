"""How the result is delivered, and what foreign or large about it must do no harm."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks._github_events import red_comment, red_of_pull
from benchmarks._github_stage import BOT, BRANCH, TOKEN, Event, Stage, zipped
from heal_bot.source import edit
from tests.github_server import records
from tests.github_server.server import Fault
from tests.report.tame import HOSTILE


def no_pull_requests_allowed(stage: Stage) -> None:
    stage.github.world.may_open_pulls = False
    for _ in range(2):
        stage.act(stage.pushed())
        assert (stage.status, stage.delivery) == ("partly_healed", "branch_only")
    told = (stage.folder / "summary").read_text()
    assert "Allow GitHub Actions to create and approve pull" in told
    assert f"/compare/main...{BRANCH}" in told


def protected_branches(stage: Stage) -> None:
    stage.inputs["pull-requests"] = "auto"
    stage.github.world.protected = ("heal-bot/*",)
    for _ in range(2):
        stage.act(_again(stage))
        assert stage.delivery == "commented", stage.said
    assert any("Rulesets" in body for body in stage.bodies())


def _again(stage: Stage) -> Event:
    pull = stage.github.world.pulls.get(1) or stage.pull()
    return stage.finished(stage.red("feature", event="pull_request"), pull)


def read_only(stage: Stage) -> None:
    stage.inputs["pull-requests"] = "auto"
    stage.github.world.read_only.add(BOT)
    stage.act(red_of_pull(stage))
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


def mode(name: str, delivery: str) -> Callable[[Stage], None]:
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
    assert stage.delivery in {"superseded", "refused"}, stage.said
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


def another_base(stage: Stage) -> None:
    stage.github.world.git.set_ref("refs/heads/release", stage.base)
    stage.inputs["base"] = "release"
    stage.act(stage.pushed())
    assert [pull.base for pull in stage.ours()] == ["release"], stage.said


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
    event = red_comment(stage)
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


def doubt_that_comes_later(stage: Stage) -> None:
    event = stage.finished(stage.red())
    stage.act(event)
    assert not stage.ours()[0].draft

    def values(sha: str) -> dict[str, Any]:
        data = records.data(sha)
        data["certificate"]["doubts"] = ["total changes its signature"]
        return data

    stage.values = values
    stage.github.faults.append(Fault("graphql/convertPullRequestToDraft", "after"))
    stage.act(event)
    assert (stage.delivery, stage.ours()[0].draft) == ("updated", True), stage.said
    stage.github.exchanges.clear()
    stage.act(event)
    assert stage.delivery == "unchanged", stage.said
    assert stage.github.writes() == []
    stage.values = records.data
    stage.act(event)
    assert (stage.delivery, stage.ours()[0].draft) == ("updated", False), stage.said


def author_of_the_lines(stage: Stage) -> None:
    stage.inputs["reviewers"] = "blame"
    stage.commit("main", "shop/pricing.py", records.BROKEN.replace("prices[1:]", "prices[2:]"))
    stage.base = stage.commit("main", "shop/pricing.py", records.BROKEN)
    stage.act(stage.pushed())
    assert stage.ours()[0].asked == ["ada"], stage.said


WAYS = (
    doubt_that_comes_later,
    author_of_the_lines,
    no_pull_requests_allowed,
    protected_branches,
    read_only,
    no_checks,
    no_artifacts,
    pushed_to_the_head,
    suggested_on_lines,
    another_base,
    inputs,
    long_diff,
    many_failures,
    hostile_texts,
    hostile_file,
    forged_memory,
    memory_of_others,
    copied_marker,
    artifact_by_content,
    token_stays,
)
