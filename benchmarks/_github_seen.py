"""What people see of a repository on the loopback GitHub, and what a run changed of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from benchmarks._github_stage import Stage
from heal_bot.source import functions
from tests.github_server.world import Pull, World

STATE = "refs/heal-bot/state"
Seen = dict[str, Any]


def read(world: World, sha: str, path: str) -> str:
    """A file of a commit."""
    return world.git.git("show", f"{sha}:{path}").decode()


def look(stage: Stage) -> Seen:
    """All that people see."""
    world = stage.github.world
    people = {sha for _, sha in stage.humans}
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


def find_changes(stage: Stage, login: str, before: Seen) -> Counter[str]:
    """What a run changed of that, with the token of somebody."""
    after, found = look(stage), Counter[str]()
    pulls = stage.github.world.pulls.values()
    ours = {f"refs/heads/{p.head}" for p in pulls if p.user == login}
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


def count_duplicates(world: World, pulls: Sequence[Pull]) -> int:
    """Changes of functions that two open pull requests into one branch both make."""
    seen: Counter[tuple[str, str, str]] = Counter()
    for pull in pulls:
        head, base = world.branch(pull.head), world.branch(pull.base)
        if head is None or base is None:
            continue
        start = world.git.merge_base(head, base) or base
        listed = world.git.git("diff", "--name-only", start, head).decode().split()
        for path in (name for name in listed if name.endswith(".py")):
            new = functions.index_targets(path, read(world, head, path))
            old = {t.qualname: t.source for t in
                   functions.index_targets(path, read(world, start, path))}  # fmt: skip
            changed = {t.qualname for t in new if old.get(t.qualname) != t.source}
            seen.update((pull.base, path, name) for name in changed)
    return sum(number - 1 for number in seen.values())
