"""Days in the life of a repository: people push, close, ask, and each run is held to what is due.

Every visible change of a run (pull requests, their text, branches, comments, check runs) is taken
from the world before and after it. What was due and did not come is wrong; what came and was not
due is unwanted. The state ref is no visible change.
"""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from benchmarks import _github_shop as shop
from benchmarks._github_shop import PATH, Healer, render
from benchmarks._github_stage import TOKEN, Event, Stage, staged, zipped
from heal_bot.source import functions
from tests.github_server.world import BOT, Pull, World

STATE = "refs/heal-bot/state"
# Beside what is due: what GitHub shows of the same news.
BESIDE = {
    "opened": {"branch": 1, "check": 1, "comment": 1},
    "updated": {"branch": 1, "check": 1, "comment": 1},
    "closed": {"branch": 1, "comment": 1},
    # Our branch is gone, and the person's pull request has the commit.
    "closed by hand": {"closed": 1, "branch": 1, "comment": 1, "pushed": 1, "updated": 1},
    "check": {},
    "answer": {"comment": 1, "check": 1},
    "nothing": {},
}

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
    ) -> str:
        """A person's commit: these functions are faulty now, the others are not."""
        self.day += days
        self.faults = dict(faults if faults is not None else self.faults)
        return self.stage.commit(branch, path, render(self.faults, remark, wide))

    def touch(self, branch: str = "main", path: str = "NEWS.md") -> str:
        """A person's commit that leaves the module as it is."""
        self.day += 1
        return self.stage.commit(branch, path, f"Day {self.day}\n")

    def fork(self, name: str) -> None:
        """A branch that is made of main."""
        self.world.git.set_ref(f"refs/heads/{name}", self.world.branch("main") or "")

    def branch(self, name: str) -> Pull:
        """A person's pull request into main, with a commit of its own."""
        if self.world.branch(name) is None:
            self.fork(name)
            self.touch(name, f"docs/{name.replace('/', '-')}.md")
        return self.stage.pull(branch=name)

    def close(self, number: int, by: str = "ada") -> None:
        """A person closes a pull request."""
        pull = self.world.pulls[number]
        pull.state, pull.closed_by = "closed", by

    def merge(self, number: int) -> None:
        """A person merges a pull request of ours."""
        pull = self.world.pulls[number]
        head = self.world.branch(pull.head) or pull.head_sha
        tree = self.world.git.commit(head).tree
        text = self.world.git.git("show", f"{head}:{PATH}").decode()
        assert tree
        self.stage.commit(pull.base, PATH, text)
        pull.state, pull.merged, pull.closed_by = "closed", True, "ada"
        self.world.git.delete_ref(f"refs/heads/{pull.head}")

    # -- what runs -------------------------------------------------------------------------------

    def ci(
        self,
        due: str,
        branch: str = "main",
        *,
        workflow: int = 1,
        only: tuple[str, ...] = shop.NAMES,
        pull: Pull | None = None,
        path: str = PATH,
        again: bool = False,
    ) -> None:
        """The workflow of a branch's newest commit ends, and heal-bot runs.

        `only` are the tests that this workflow runs. With `again` the same finished run is served
        once more.
        """
        if not again:
            sha = self.world.branch(branch) or ""
            text = self.read(sha, path)
            red = [name for name in shop.find_red(text) if name in only]
            run = self.stage.red(
                branch, workflow=workflow, event="pull_request" if pull else "push",
                conclusion="failure" if red else "success",
                artifacts={"junit-3.12": zipped(shop.report(red))},
            )  # fmt: skip
            self._event = self.stage.finished(run, pull)
        self.act(due, self._event)
        if again:
            self.count.most_requests = max(self.count.most_requests, self.stage.requests)

    def say(self, due: str, text: str, pull: Pull, actor: str = "ada") -> None:
        """A person comments on a pull request."""
        self.act(due, self.stage.comment(text, actor, pull))

    def act(self, due: str, event: Event) -> None:
        """One run, held to what is due."""
        before, calls = self.look(), len(self.healer.calls)
        self.runs += 1
        self.stage.now = self.day * 86_400.0
        self.stage.act(event, run_id=900 + self.runs)
        found = self._changes(before)
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
        doubled = self.duplicates()
        if doubled:
            self.count.duplicates += doubled
            self.count.wrong.append(f"{place}: {doubled} changes are open twice")

    def expect(self, what: bool, told: str) -> None:
        """Something else that has to hold now."""
        if not what:
            self.count.wrong.append(f"{self.name}, after run {self.runs}: {told}")

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

    @property
    def searches(self) -> int:
        """How often something was searched."""
        return sum(call.searched for call in self.healer.calls)

    def read(self, sha: str, path: str = PATH) -> str:
        """A file of a commit."""
        return _read(self.stage, sha, path)

    def look(self) -> dict[str, Any]:
        """All that people see."""
        world = self.world
        people = {sha for _, sha in self.stage.humans}
        refs = {k: "a person's" if v in people else v
                for k, v in world.git.refs().items() if k != STATE}  # fmt: skip
        pulls = {
            n: (
                p.title,
                p.body,
                p.state,
                p.draft,
                tuple(p.labels),
                refs.get(f"refs/heads/{p.head}") if p.state == "open" else None,
            )
            for n, p in world.pulls.items()
        }
        return {
            "pulls": pulls, "refs": refs,
            "comments": {n: c.body for n, c in world.comments.items()},
            "checks": {n: repr(c) for n, c in world.checks.items()},
            "reviews": len(world.reviews) + len(world.line_comments),
        }  # fmt: skip

    def _changes(self, before: dict[str, Any]) -> Counter[str]:
        """What a run changed of that."""
        after, found = self.look(), Counter[str]()
        ours = {f"refs/heads/{p.head}" for p in self.world.pulls.values()
                if p.user == self.token.login}  # fmt: skip
        for number, pull in after["pulls"].items():
            old = before["pulls"].get(number)
            if old is None:
                found["opened"] += 1
            elif old[2] == "open" and pull[2] == "closed":
                found["closed"] += 1
            elif old != pull and pull[2] == "open":
                found["updated"] += 1
        for name in {*before["refs"], *after["refs"]}:
            if before["refs"].get(name) != after["refs"].get(name):
                found["branch" if name in ours or name.startswith("refs/heads/heal-bot/")
                      else "pushed"] += 1  # fmt: skip
        for kind, key in (("comment", "comments"), ("check", "checks")):
            found[kind] += sum(before[key].get(n) != text for n, text in after[key].items())
        found["review"] += after["reviews"] - before["reviews"]
        return found

    def duplicates(self) -> int:
        """Changes of functions that two of our open pull requests into one branch both make."""
        seen: Counter[tuple[str, str, str]] = Counter()
        for pull in self.ours():
            head, base = self.world.branch(pull.head), self.world.branch(pull.base)
            if head is None or base is None:
                continue
            start = self.world.git.merge_base(head, base) or base
            listed = self.world.git.git("diff", "--name-only", start, head).decode().split()
            for path in (name for name in listed if name.endswith(".py")):
                new = functions.index_targets(path, self.read(head, path))
                old = {t.qualname: t.source for t in
                       functions.index_targets(path, self.read(start, path))}  # fmt: skip
                changed = {t.qualname for t in new if old.get(t.qualname) != t.source}
                seen.update((pull.base, path, name) for name in changed)
        return sum(number - 1 for number in seen.values())


def _read(stage: Stage, sha: str, path: str) -> str:
    return stage.github.world.git.git("show", f"{sha}:{path}").decode()


@contextlib.contextmanager
def living(token: Token, count: Count, name: str, doubt: str = "") -> Iterator[Life]:
    """A fresh repository whose main branch is green."""
    with staged() as stage:
        stage.github.world.tokens[token.value] = token.login
        stage.token = token.value
        if token.name == "app":
            stage.inputs["app"] = "shopfixer"
        healer = Healer(partial(_read, stage), doubt=doubt)
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
