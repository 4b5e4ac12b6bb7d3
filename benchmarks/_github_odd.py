"""Scenarios that make what no step of `cases/github.yaml` does."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

from benchmarks._github_events import Events
from benchmarks._github_stage import ADA, BRANCH, TOKEN, Stage
from heal_bot.source import edit
from tests.github_server import records
from tests.github_server.server import Fault
from tests.github_server.world import BOT
from tests.report.tame import HOSTILE

_PARTS = "\n\n".join(f"def part_{n}(prices):\n    return sum(prices[{n + 1}:])\n" for n in range(4))


def _of_another_function(sha: str, number: int) -> dict[str, Any]:
    """A repair of one of four functions, for a test of its own."""
    name, test = f"part_{number}", f"tests/test_pricing.py::test_{number}"
    data = records.data(sha, _PARTS, _PARTS.replace(f"prices[{number + 1}:]", "prices"))
    data["patch"] |= {"functions": [{"path": "shop/pricing.py", "qualname": name}], "fixed": [test]}
    return data | {"fingerprint": f"{number:012x}"}


def four_at_once(stage: Stage) -> None:
    stage.base = stage.commit("main", "shop/pricing.py", _PARTS)
    for number in range(4):
        stage.values = partial(_of_another_function, number=number)
        stage.act(stage.pushed())
    assert len(stage.ours()) == 2
    assert stage.delivery == "summary"
    assert "2 pull requests of heal-bot are open" in (stage.folder / "summary").read_text()


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


def limit_used_up(stage: Stage) -> None:
    reset = int(time.time()) + 3600
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
    assert f"used up until {at} UTC" in "".join(stage.said)
    assert sum(e.operation == "git/create-tree" for e in stage.github.exchanges) == 1


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


def cancelled_meanwhile(stage: Stage) -> None:
    event = Events(stage).red_comment()

    def cancel() -> None:
        raise KeyboardInterrupt

    stage.meanwhile = cancel
    try:
        stage.act(event)
    except KeyboardInterrupt:
        stage.said.append("cancelled")
    assert any("it was cancelled" in body for body in stage.bodies())


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


def title_in_their_style(stage: Stage) -> None:
    git = stage.github.world.git
    tree = git.commit(stage.base).tree
    for _ in range(2):
        stage.base = git.save_commit("feat(shop): more", tree, [stage.base], ADA, ADA)
    git.set_ref("refs/heads/main", stage.base)
    stage.act(stage.finished(stage.red()))
    assert stage.ours()[0].title.startswith("fix: repair total in shop/pricing.py"), stage.said


ODD = (
    four_at_once,
    long_diff,
    many_failures,
    hostile_texts,
    limit_used_up,
    bot_that_answers_ours,
    base_gone_before_the_pull_request,
    cancelled_meanwhile,
    token_of_an_app,
    title_in_their_style,
)
