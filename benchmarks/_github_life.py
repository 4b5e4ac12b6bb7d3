"""Days in the life of a repository: people push, close, ask, and each run is held to what is due.

Every visible change of a run (pull requests, their text, branches, comments, check runs) is taken
from the world before and after it. What was due and did not come is wrong; what came and was not
due is unwanted. The state ref is no visible change.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from benchmarks import _github_shop as shop
from benchmarks._cases import read_cases
from benchmarks._github_player import Steps, perform
from benchmarks._github_seen import STATE, count_duplicates, find_changes, look, read
from benchmarks._github_shop import PATH, Healer, render
from benchmarks._github_stage import TOKEN, Event, Stage, staged, zipped
from tests.github_server.world import BOT, Pull, World

# Beside what is due: what GitHub shows of the same news.
BESIDE: dict[str, dict[str, int]] = read_cases("shop")["beside"]

_SHOWN_AS = {"answer": "comment", "closed by hand": "closed"}


@dataclass(frozen=True)
class Token:
    """Whose token the workflow gives, and how it begins."""

    name: str
    login: str
    value: str


TOKENS = (
    Token("actions", BOT, TOKEN),
    Token("app", "shopfixer[bot]", "ghs_" + "LoopbackTokenOfAnApp0000000000000001"),
    Token("pat", "ada-ci", "ghp_" + "LoopbackTokenOfAPerson000000000001"),
)


@dataclass
class Count:
    """What all lives showed."""

    scenarios: int = 0
    wrong: list[str] = field(default_factory=list)
    unwanted: list[str] = field(default_factory=list)
    duplicates: int = 0
    searched_though_declined: int = 0
    lost_memory: int = 0
    red_runs: int = 0
    most_requests: int = 0

    def figures(self) -> dict[str, float]:
        """As the command prints them."""
        return {
            "scenarios": self.scenarios,
            "red_runs": self.red_runs,
            "wrong": len(self.wrong),
            "duplicate_changes": self.duplicates,
            "searched_though_declined": self.searched_though_declined,
            "lost_memory": self.lost_memory,
            "unwanted_writes_per_100_red_runs": round(
                100 * len(self.unwanted) / max(1, self.red_runs), 1
            ),
            "requests_again": self.most_requests,
        }


@dataclass
class Life:
    """One repository over some days."""

    stage: Stage
    token: Token
    count: Count
    name: str
    healer: Healer
    faults: dict[str, int] = field(default_factory=dict)
    day: int = 20_000
    tried: dict[str, dict[str, int]] = field(default_factory=dict)
    runs: int = 0
    pull: Pull | None = None
    theirs: str = ""
    _event: Event = ("", {})

    # -- what people do --------------------------------------------------------------------------

    def push(
        self,
        faults: Mapping[str, int] | None = None,
        branch: str = "main",
        remark: str = "",
        *,
        wide: bool = False,
        days: int = 1,
        path: str = PATH,
    ) -> None:
        """A person's commit: these functions are faulty now, the others are not."""
        self.day += days
        self.faults = dict(faults if faults is not None else self.faults)
        self.stage.commit(branch, path, render(self.faults, remark, wide))

    def touch(self, branch: str = "main", path: str = "NEWS.md") -> None:
        """A person's commit that leaves the module as it is."""
        self.day += 1
        branch = self.ours()[0].head if branch == "$proposal" else branch
        self.stage.commit(branch, path, f"Day {self.day}\n")

    def later(self, days: int) -> None:
        """Time goes by."""
        self.day += days

    def fork(self, name: str) -> None:
        """A branch that is made of main."""
        self.world.git.set_ref(f"refs/heads/{name}", self.world.branch("main") or "")

    def open(self, name: str, author: str = "ada") -> None:
        """A person's pull request into main, with a commit of its own."""
        if self.world.branch(name) is None:
            self.fork(name)
            self.touch(name, f"docs/{name.replace('/', '-')}.md")
        self.pull = self.stage.pull(author, branch=name)

    def close(self, by: str = "ada", base: str = "") -> None:
        """A person closes our first pull request."""
        pull = self.ours(base)[0]
        pull.state, pull.closed_by = "closed", by

    def merge(self) -> None:
        """A person merges our first pull request."""
        pull = self.ours()[0]
        self.stage.commit(pull.base, PATH, self.read(self.world.branch(pull.head) or ""))
        pull.state, pull.merged, pull.closed_by = "closed", True, "ada"
        self.world.git.delete_ref(f"refs/heads/{pull.head}")

    def label(self, name: str, place: str) -> None:
        """A person labels a pull request."""
        self.at(place).labels.append(name)

    def world_is(self, **values: object) -> None:
        """The repository on GitHub is of another kind."""
        for name, value in values.items():
            setattr(self.world, name, value)

    def project(self, folder: str) -> None:
        """heal-bot works for one of the projects of the repository."""
        self.stage.inputs["working-directory"] = folder
        self.healer.path = f"{folder}/pricing.py"

    def hard(self, names: list[str]) -> None:
        """For these functions no repair is found."""
        self.healer.hard = set(names)

    def doubt(self, told: str) -> None:
        """Every certificate has this doubt."""
        self.healer.doubt = told

    def lose_state(self, *, excused: bool = False) -> None:
        """Somebody deletes our ref; what was tried may then be forgotten where it is excused."""
        self.world.git.delete_ref(STATE)
        if excused:
            self.tried.clear()

    def keep_beside(self, text: str, spaces: int = 0) -> None:
        """Somebody else keeps a text under the name of our ref, so many spaces in it."""
        git, who = self.world.git, ("Eve", "eve@example.invalid", "2026-01-03T00:00:00+00:00")
        blob = git.save_blob(f"{text[:-1]}{' ' * spaces}{text[-1]}".encode())
        tree = git.save_tree(None, [("100644", "state.json", blob)])
        self.theirs = git.save_commit("Mine", tree, [], who, who)
        git.set_ref(STATE, self.theirs)

    # -- what runs -------------------------------------------------------------------------------

    def red(self, branch: str, conclusion: str = "failure") -> None:
        """A workflow ends that heal-bot does not hear of."""
        self.stage.red(branch, conclusion=conclusion)

    def ci(
        self,
        due: str,
        branch: str = "main",
        *,
        workflow: int = 1,
        only: Sequence[str] = shop.NAMES,
        pull: Pull | None = None,
        path: str = PATH,
    ) -> None:
        """The workflow of a branch's newest commit ends, and heal-bot runs.

        `only` are the tests that this workflow runs.
        """
        text = self.read(self.world.branch(branch) or "", path)
        red = [name for name in shop.find_red(text) if name in only]
        run = self.stage.red(
            branch, workflow=workflow, event="pull_request" if pull else "push",
            conclusion="failure" if red else "success",
            artifacts={"junit-3.12": zipped({"junit.xml": shop.report(red)})},
        )  # fmt: skip
        self._event = self.stage.finished(run, pull)
        self.act(due, self._event)

    def ci_of_pull(self, due: str) -> None:
        """The same for the person's pull request."""
        assert self.pull is not None
        self.ci(due, self.pull.head, pull=self.pull)

    def again(self, due: str) -> None:
        """The same finished run is served once more."""
        self.act(due, self._event)
        self.count.most_requests = max(self.count.most_requests, self.stage.requests)

    def say(self, due: str, text: str, actor: str = "ada", place: str = "pull") -> None:
        """A person comments on a pull request."""
        self.act(due, self.stage.comment(text, actor, self.at(place)))

    def say_on_commit(self, due: str, text: str, actor: str = "ada") -> None:
        """A person comments on the newest commit of main."""
        self.act(due, self.stage.commit_comment(text, actor))

    def dispatch(self, due: str) -> None:
        """A person asks for a red run of main again."""
        self.act(due, self.stage.dispatch(run_id=self.stage.red("main").id, retry=True))

    def meanwhile(self, steps: Steps) -> None:
        """These steps are done while the next run heals."""
        self.stage.once(lambda: perform(self, steps))

    def act(self, due: str, event: Event) -> None:
        """One run, held to what is due."""
        before, calls = look(self.stage), len(self.healer.calls)
        self.runs += 1
        self.stage.now = self.day * 86_400.0
        self.stage.act(event, run_id=900 + self.runs)
        found = find_changes(self.stage, self.token.login, before)
        place = f"{self.name}, run {self.runs}: due {due}, {self.stage.delivery or '-'}"
        if due != "nothing" and not found[_SHOWN_AS.get(due, due)]:
            self.count.wrong.append(f"{place}: nothing came; {self.stage.said[-1].strip()[-300:]}")
        allowed = Counter(BESIDE[due])
        allowed[due] += 1
        for kind, number in found.items():
            extra = number - allowed[kind]
            self.count.unwanted += [f"{place}: {kind}"] * max(0, extra)
        red = event[0] != "workflow_run" or event[1]["workflow_run"]["conclusion"] == "failure"
        self.count.red_runs += red
        self._account(self.healer.calls[calls:], place)

    def _account(self, calls: list[shop.Healed], place: str) -> None:
        """Count searches for nothing, memory that was lost, and changes that are open twice."""
        if self.stage.delivery == "declined" and any(call.searched for call in calls):
            self.count.searched_though_declined += 1
            self.count.wrong.append(f"{place}: searched and declined")
        for call in calls:
            request = call.task.request
            known = self.tried.setdefault(request.base_ref, {})
            told = dict(call.task.memory.tried)
            lost = [key for key, day in known.items() if self.day - day <= 30 and key not in told]
            if lost and request.verb != "retry":
                self.count.lost_memory += 1
                self.count.wrong.append(f"{place}: {len(lost)} changes are forgotten")
            known.update(dict.fromkeys(call.tried, self.day))
        doubled = count_duplicates(self.world, self.ours())
        if doubled:
            self.count.duplicates += doubled
            self.count.wrong.append(f"{place}: {doubled} changes are open twice")

    def expect(self, **wanted: object) -> None:
        """Something else that has to hold now."""
        for name, value in wanted.items():
            if (found := self._see(name)) != value:
                told = f"{name} is {found!r}, not {value!r}"
                self.count.wrong.append(f"{self.name}, after run {self.runs}: {told}")

    def _see(self, name: str) -> object:
        if name.startswith("open"):
            return len(self.ours(name.removeprefix("open").removeprefix(" on ")))
        if name == "searches":
            return sum(call.searched for call in self.healer.calls)
        if name == "draft":
            return self.ours()[0].draft
        if name == "theirs stays":
            return self.world.git.refs()[STATE] == self.theirs
        if name == "as people left it":
            left = dict(self.stage.humans)
            return all(self.world.branch(branch) == sha for branch, sha in left.items())
        request = self.healer.calls[-1].task.request
        return request.base_ref if name == "base" else request.instruction.partition("\n")[0]

    # -- what is seen ----------------------------------------------------------------------------

    @property
    def world(self) -> World:
        """The repository on GitHub."""
        return self.stage.github.world

    def ours(self, base: str = "") -> list[Pull]:
        """Our open pull requests."""
        return [
            p for p in self.world.pulls.values()
            if p.user == self.token.login and p.state == "open" and base in {"", p.base}
        ]  # fmt: skip

    def at(self, place: str) -> Pull:
        """The person's pull request, or our newest one."""
        if place == "proposal":
            return [p for p in self.world.pulls.values() if p.user == self.token.login][-1]
        assert self.pull is not None
        return self.pull

    def read(self, sha: str, path: str = PATH) -> str:
        """A file of a commit."""
        return read(self.world, sha, path)


@contextlib.contextmanager
def living(token: Token, count: Count, name: str) -> Iterator[Life]:
    """A fresh repository whose main branch is green."""
    with staged() as stage:
        stage.github.world.tokens[token.value] = token.login
        stage.token = token.value
        if token.name == "app":
            stage.inputs["app"] = "shopfixer"
        healer = Healer(partial(read, stage.github.world))
        life = Life(stage, token, count, f"{name} ({token.name})", healer)
        stage.healer = healer.heal
        stage.base = stage.commit("main", PATH, render({}))
        stage.github.world.permissions |= {token.login: "write"}
        count.scenarios += 1
        try:
            yield life
        finally:
            violations = stage.github.violations
            count.wrong += [f"{life.name}: {said}" for said in violations[:2]]
            if lost := stage.lost():
                count.wrong.append(f"{life.name}: {lost} commits of people are lost")
