"""Plays steps that lie as data in `cases/github.yaml` on a stage.

Each method of `Player` is a verb of these steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from benchmarks._github_events import KNOWN, PATH, TEXTS, Events
from benchmarks._github_stage import BRANCH, Event, Stage
from tests.github_server import records
from tests.github_server.server import Fault
from tests.github_server.world import BOT

Make = Callable[[Stage], Event]
Steps = list[Any]


def tell(who: object, verb: str, told: Any) -> Any:  # noqa: ANN401 - as the table has it
    """Call the method of that name with what it is told: names and values, or one value."""
    method = getattr(who, verb.replace(" ", "_"))
    return method(**told) if isinstance(told, dict) else method(told)


def perform(player: Any, steps: Steps) -> None:  # noqa: ANN401 - whoever knows the verbs
    """Do each step: a verb alone, or with what it is told."""
    for step in steps:
        ((verb, told),) = [(step, {})] if isinstance(step, str) else step.items()
        tell(player, verb, told)


def making(steps: Steps) -> Make:
    """What makes the event that these steps end with."""

    def make(stage: Stage) -> Event:
        player = Player(stage)
        perform(player, steps)
        return player.made[-1]

    return make


def playing(steps: Steps) -> Callable[[Stage], None]:
    """The scenario of these steps."""
    return lambda stage: perform(Player(stage), steps)


def put(data: Any, changes: Mapping[str, object]) -> None:  # noqa: ANN401 - as JSON has it
    """Set values by their dotted paths; a number is a place in a list."""
    for path, value in changes.items():
        *parts, last = path.split(".")
        place = data
        for part in parts:
            place = place[int(part) if part.isdigit() else part]
        place[last] = value


class Player(Events):
    """A scenario while it is played."""

    def fill(self, told: Any) -> Any:  # noqa: ANN401 - as the table has it
        """The same with what is known now in the place of names that begin with $."""
        if isinstance(told, dict):
            return {name: self.fill(value) for name, value in told.items()}
        if isinstance(told, list):
            return [self.fill(value) for value in told]
        for name, give in KNOWN.items():
            if isinstance(told, str) and name in told:
                told = told.replace(name, give(self))
        return told

    # -- what stands -----------------------------------------------------------------------------

    def inputs(self, **values: str) -> None:
        self.stage.inputs |= values

    def runner(self, **values: str) -> None:
        self.stage.runner = values

    def world(self, **values: Any) -> None:  # noqa: ANN401 - of any field
        """Sets and tables of GitHub's world grow, other fields are replaced."""
        for name, value in values.items():
            known = getattr(self.stage.github.world, name)
            grows = isinstance(known, set | dict)
            setattr(self.stage.github.world, name, known | type(known)(value) if grows else value)

    def fault(self, **values: Any) -> None:  # noqa: ANN401 - of any field
        self.stage.github.faults.append(Fault(**self.fill(values)))

    def calm(self) -> None:
        self.stage.github.faults.clear()

    def commit(
        self, text: object, branch: str = "main", path: str = PATH, *, base: bool = False
    ) -> None:
        sha = self.stage.commit(branch, path, _text(text))
        self.stage.base = sha if base else self.stage.base

    def branch(self, name: str) -> None:
        self.stage.github.world.git.set_ref(f"refs/heads/{name}", self.stage.base)

    def delete(self, branch: str) -> None:
        self.stage.github.world.git.delete_ref(f"refs/heads/{branch}")
        self.stage.humans = [(name, sha) for name, sha in self.stage.humans if name != branch]

    def red(self, **run: Any) -> None:  # noqa: ANN401 - of any field
        self.stage.red(**run)

    def pull(self, state: str = "open", labels: tuple[str, ...] = (), **values: str) -> None:
        self._pull = self.stage.pull(**values)
        self._pull.state = state
        self._pull.labels += labels

    def fork(self) -> None:
        self.pull(author="mallory", repo="mallory/shop", branch="patch-1")

    def label(self, name: str) -> None:
        self.opened.labels.append(name)

    def edit(self, place: str = "proposal", **values: object) -> None:
        """A person edits a pull request."""
        for name, value in values.items():
            setattr(self.at(place), name, self.fill(value))

    def remark(self, text: str, actor: str = "ada", place: str = "pull", times: int = 1) -> None:
        for _ in range(times):
            self.stage.github.world.add_comment(self.at(place).number, actor, self.fill(text))

    def heals(
        self, record: str = "data", change: Mapping[str, object] | None = None, **texts: object
    ) -> None:
        """What healing gives from now on: a record of that name, other texts, changed values."""

        def values(sha: str) -> dict[str, Any]:
            data: dict[str, Any] = getattr(records, record)(
                sha, **{name: _text(text) for name, text in texts.items()}
            )
            put(data, change or {})
            return data

        self.stage.values = values

    # -- what runs -------------------------------------------------------------------------------

    def event(self, kind: str = "", **told: object) -> None:
        """Make an event without running it."""
        ((name, given),) = told.items() or [(kind, {})]
        self.made.append(tell(self, name, self.fill(given)))

    def change(self, **values: object) -> None:
        """Change what the event says."""
        put(self.made[-1][1], values)

    def meanwhile(self, steps: Steps) -> None:
        """Do these steps while the next run heals."""
        self.stage.once(lambda: perform(self, steps))

    def run(self, kind: str = "", **told: object) -> None:
        if kind or told:
            self.event(kind, **told)
        self.again()

    def again(self, number: int = -1) -> None:
        self.stage.act(self.made[number])

    def rerun(self) -> None:
        self.stage.act(self.made[-1], attempt=2)

    def again_quietly(self, number: int = -1) -> None:
        """Once more, and nothing may be written."""
        self.stage.github.exchanges.clear()
        self.again(number)
        self.expect(writes=[])

    def twice(self, steps: Steps) -> None:
        perform(self, steps)
        perform(self, steps)

    # -- what is seen ----------------------------------------------------------------------------

    def expect(self, **wanted: Any) -> None:  # noqa: ANN401 - of any kind that is seen
        for name, value in self.fill(wanted).items():
            if name in _TEXTS:
                found: Any = _TEXTS[name](self)
                held = all(part in found for part in _listed(value))
            else:
                found = self._see(name)
                held = found in _listed(value) if isinstance(found, str) else found == value
            assert held, (name, found, value, self.stage.said)

    def lacks(self, **unwanted: object) -> None:
        for name, value in unwanted.items():
            found = _TEXTS[name](self)
            assert not any(part in found for part in _listed(value)), (name, found)

    def _see(self, name: str) -> Any:  # noqa: ANN401 - of any kind
        first, *parts = name.split(".")
        found = _VALUES[first](self)
        for part in parts:
            found = getattr(found, part)
        return list(found) if isinstance(found, tuple) else found

    def proposed(self) -> None:
        """A delivered proposal whose run ended well, whatever failed beside it."""
        self.expect(status="partly_healed", delivery="created", ours=1)
        self.lacks(said="failed:")

    def alone(self) -> None:
        """Nothing was written but a check run, and what is remembered."""
        written = {e for e in self._see("writes") if not e.startswith("git/")}
        assert written <= {"checks/create"}, written
        self.expect(ours=0, branch=None)

    def check(self) -> dict[str, str]:
        """The one check run."""
        (found,) = self.stage.github.world.checks.values()
        shown: dict[str, str] = found["output"]
        return shown

    def show(self, ref: str, path: str) -> str:
        """A file on GitHub."""
        return self.stage.github.world.git.git("show", f"{ref}:{path}").decode()

    def answers(self) -> list[str]:
        """Our comments."""
        return [c.body for c in self.stage.github.world.comments.values() if c.user == BOT]


def _text(told: object) -> str:
    """A text by its name, one with parts replaced, or one of several parts."""
    if isinstance(told, dict):
        ((name, replaced),) = told.items()
        text = TEXTS[name]
        for old, new in replaced.items():
            text = text.replace(old, new)
        return text
    return "".join(TEXTS.get(part, part) for part in _listed(told))


def _named(text: str) -> str:
    return next(name for name, known in TEXTS.items() if known == text)


def _listed(told: Any) -> list[str]:  # noqa: ANN401 - as the table has it
    return told if isinstance(told, list) else [told]


_TEXTS: dict[str, Callable[[Player], str]] = {
    "answer": lambda p: "\n".join(p.answers()),
    "body": lambda p: p.stage.ours()[0].body,
    "check summary": lambda p: p.check()["summary"],
    "check title": lambda p: p.check()["title"],
    "instruction": lambda p: p.stage.healed[-1].request.instruction,
    "message": lambda p: p.stage.github.world.git.commit(p.stage.ours()[0].head_sha).message,
    "said": lambda p: "".join(p.stage.said),
    "shown": lambda p: "\n".join(p.stage.bodies()),
    "state": lambda p: p.show("refs/heal-bot/state", "state.json"),
    "summary": lambda p: (p.stage.folder / "summary").read_text(),
    "titles": lambda p: "\n".join(pull.title for pull in p.stage.ours()),
}
_VALUES: dict[str, Callable[[Player], Any]] = {
    "annotated": lambda p: sum(p.stage.github.world.annotated.values()) > 0,
    "answers": lambda p: len(p.answers()),
    "bodies": lambda p: len(p.stage.bodies()),
    "branch": lambda p: p.stage.github.world.branch(BRANCH),
    "comments": lambda p: len(p.stage.github.world.comments),
    "delivery": lambda p: p.stage.delivery,
    "downloaded": lambda p: [path.name[:7] for path in p.stage.healed[-1].downloaded],
    "downloads": lambda p: len(p.stage.healed[-1].downloaded),
    "feature": lambda p: {text: name for name, text in TEXTS.items()}[
        p.show("refs/heads/feature", PATH)
    ],
    "healed": lambda p: len(p.stage.healed),
    "on top": lambda p: (
        p.stage.github.world.git.commit(p.stage.github.world.branch("feature") or "").parents
        == (p.stage.humans[0][1],)
    ),
    "ours": lambda p: len(p.stage.ours()),
    "proposal": lambda p: p.stage.ours()[0],
    "pull": lambda p: p.opened,
    "remarks": lambda p: len(p.stage.github.world.line_comments),
    "requests": lambda p: len(p.stage.github.exchanges),
    "states": lambda p: [pull.state for pull in p.stage.github.world.pulls.values()],
    "status": lambda p: p.stage.status,
    "task": lambda p: p.stage.healed[-1],
    "theirs": lambda p: [
        c.body for c in p.stage.github.world.comments.values() if c.user == "mallory"
    ],
    "writes": lambda p: [exchange.operation for exchange in p.stage.github.writes()],
}
