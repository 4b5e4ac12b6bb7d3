"""Events as they start a run, made by name for what stands on a stage."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from benchmarks._github_stage import JUNIT, TOKEN, Event, Stage, zipped
from heal_bot.repair.search.attempt_history import digest_answer
from tests.github_server import records
from tests.github_server.world import BOT, Pull

PATH = "shop/pricing.py"
# What stands for something that is known when a scenario runs.
KNOWN: dict[str, Callable[[Events], str]] = {
    "$base": lambda events: events.stage.base,
    "$head": lambda events: events.opened.head_sha,
    "$loose": lambda events: events.stage.loose(),
    "$junit": lambda events: JUNIT,
    "$token": lambda events: TOKEN,
    "$body": lambda events: events.stage.ours()[0].body,
    # Our proposal without what it remembers.
    "$above": lambda events: events.stage.ours()[0].body.rpartition("<!-- heal-bot memory ")[0],
    "$comment": lambda events: str(events.made[-1][1]["comment"]["id"]),
    "$answer": lambda events: digest_answer("total([])", "raises IndexError"),
}
TEXTS = {
    "broken": records.BROKEN,
    "fixed": records.FIXED,
    "better": records.BROKEN.replace("sum(prices[1:])", "sum(list(prices))"),
    "otherwise": records.OTHERWISE,
}


class Events:
    """Makes events; each method but the first is named as the kind of event it makes.

    `made` are those of a scenario so far.
    """

    def __init__(self, stage: Stage) -> None:
        self.stage: Stage = stage
        self.made: list[Event] = []
        self._pull: Pull | None = None

    @property
    def opened(self) -> Pull:
        """The person's pull request."""
        self._pull = self._pull or self.stage.pull()
        return self._pull

    def at(self, place: str) -> Pull:
        """`pull`, or our `proposal`, be it open or not."""
        ours = (p for p in self.stage.github.world.pulls.values() if p.user == BOT)
        return next(ours) if place == "proposal" else self.opened

    def pushed(self) -> Event:
        return self.stage.pushed()

    def by_hand(self) -> Event:
        return "workflow_dispatch", self.stage.pushed()[1] | {"inputs": {}}

    def schedule(self) -> Event:
        return "schedule", self.stage.pushed()[1]

    def dispatch(self, **payload: Any) -> Event:  # noqa: ANN401 - as a person may give it
        return self.stage.dispatch(**payload)

    def red_run(
        self, branch: str = "main", artifacts: dict[str, list[str]] | None = None, **run: object
    ) -> Event:
        """Artifacts are the name and text of their file by their own name."""
        if artifacts:
            run["artifacts"] = {n: zipped({file: text}) for n, (file, text) in artifacts.items()}
        return self.stage.finished(self.stage.red(branch, **run))

    def green_run(self) -> Event:
        return self.red_run(conclusion="success")

    def old_run(self, id: int, conclusion: str) -> Event:
        run = self.stage.github.world.runs[id]
        run.conclusion = conclusion
        return self.stage.finished(run)

    def red_pull(self) -> Event:
        pull = self.opened
        return self.stage.finished(self.stage.red(pull.head, event="pull_request"), pull)

    def pull_step(self, place: str = "pull") -> Event:
        return self.stage.pull_event(self.at(place))

    def pull_target(self) -> Event:
        return "pull_request_target", self.pull_step()[1]

    def comment(self, body: str = "/heal", actor: str = "ada", place: str = "pull") -> Event:
        return self.stage.comment(body, actor, self.at(place))

    def red_comment(self) -> Event:
        pull = self.opened
        self.stage.red(pull.head)
        return self.stage.comment(pull=pull)

    def line_comment(self) -> Event:
        return self.stage.line_comment(self.opened, PATH, 8)

    def review(self) -> Event:
        return self.stage.review(self.opened)
