"""self-heal-llm from the package index and heal-bot, side by side on our own tasks.

Both get the same scripted answers in the place of a model, and both run without one. Each of three
scripts is played to each side: the right answer; a useless one, then the right one; and one that
passes the tests that are seen and is wrong, then the right one. What comes out is judged alike: the
patched module is run against the tests that were seen (fixed) and those that never were (correct).

What to know of the numbers: the answers are ours, so this compares what is done with an answer and
says nothing of models. self-heal-llm repairs one function that its caller names; here it gets all
it needs by hand (the function, arguments it can be called with, each test as a callable), and as
its `command line` what its README says. heal-bot gets a repository, finds the failing tests and the
function itself, and repeats the suite cold before it offers a patch: its seconds are of all that,
those of self-heal-llm of its loop alone. Both have their default number of attempts; without a
model heal-bot has a minute.

With `--data` and `--model` it is another comparison: mini-swe-agent, a general agent, on the cases
of the street with a live model, beside what heal-bot made of them with the same model.
"""

from __future__ import annotations

import json
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks import _peers_agent, _peers_attacks, _releases
from benchmarks._answers import Scripted, answer, changed, useless
from benchmarks._cases import options_of
from benchmarks._healing import Healed, ours, suite_python
from benchmarks._peers_attacks import ATTACKS, SECRET, Listener, listening
from benchmarks._peers_side import VERSION, loads, theirs
from benchmarks._taskfile import own
from benchmarks._tasks import Task
from heal_bot import __version__
from heal_bot.repair.llm.model_proposer import ModelProposer

_LONGEST = 18 * 60.0
_PER_CATEGORY = 1
# Of the street, for each part.
_CASES = 4
# Of heal-bot without a model, which else searches on for as long as it is given.
_OFFLINE_MINUTES = 1.0
_SCRIPTS = ("right", "useless then right", "wrong then right")
_SAFETY = ("off", "moderate", "strict", "subprocess")
_SANDBOX = "strict sandbox"
_HOST = "shorten"
_VALUE = "leaked-by-the-benchmark"
_WANTED = (f"self-heal-llm=={VERSION}", "pytest==9.2.0")


@dataclass(slots=True)
class Kept:
    """All repairs by side and way, and the attacks that succeeded by side and setting."""

    repairs: dict[tuple[str, str], list[Healed]] = field(default_factory=dict)
    escapes: dict[tuple[str, str], list[str]] = field(default_factory=dict)

    def add(self, side: str, way: str, result: Healed) -> Healed:
        """Keep one repair."""
        self.repairs.setdefault((side, way), []).append(result)
        return result

    def of(self, side: str) -> dict[str, Any]:
        """The figures of one side."""
        ways = {way: _sum(found) for (one, way), found in self.repairs.items() if one == side}
        escapes = {
            setting: {"count": len(names), "names": names}
            for (one, setting), names in self.escapes.items()
            if one == side
        }
        return {**ways, "escapes": escapes}


def _sum(results: Sequence[Healed]) -> dict[str, Any]:
    return {
        "tasks": len(results),
        "fixed": sum(r.fixed for r in results),
        "correct": sum(r.correct for r in results),
        "wrong": sum(r.fixed and not r.correct for r in results),
        "calls": sum(r.calls for r in results),
        "seconds": round(sum(r.seconds for r in results), 1),
    }


def chosen(tasks: Sequence[Task], seed: int, per_category: int) -> tuple[Task, ...]:
    """Some tasks of each category whose reference changes the one function that it names."""
    usable = [task for task in tasks if list(changed(task, task.reference)) == [task.target]]
    rng = random.Random(seed)
    found: list[Task] = []
    for category in sorted({task.category for task in usable}):
        names = [task for task in usable if task.category == category]
        found += sorted(rng.sample(names, min(per_category, len(names))), key=lambda t: t.name)
    return tuple(found)


def answers(task: Task, script: str) -> tuple[str, ...]:
    """What the scripted model says, in order."""
    right = answer(task, task.reference)
    if script == "right":
        return (right,)
    if script == "useless then right":
        return (useless(task), right)
    wrong = next(w for w in task.wrong if list(changed(task, w.source)) == [task.target])
    return (answer(task, wrong.source), right)


def scripted(task: Task, python: Path, said: Sequence[str]) -> tuple[Healed, list[str]]:
    """heal-bot with a model that says this, and the prompts it got."""
    model = Scripted(said)
    result = ours(task, python, (ModelProposer([model]),))
    return replace(result, calls=len(model.prompts)), model.prompts


def repaired(kept: Kept, task: Task, peer: Path, python: Path, say: Callable[[str], None]) -> None:
    """One task in every way on both sides, by turns."""

    def tell(side: str, way: str, result: Healed) -> None:
        say(json.dumps({"side": side, "way": way, **asdict(kept.add(side, way, result))}))

    tell("self_heal", "offline", theirs(task, peer, None)[0])
    tell("heal_bot", "offline", ours(task, python, minutes=_OFFLINE_MINUTES))
    right = answers(task, "right")
    tell("self_heal", "command line", theirs(task, peer, right, "command line")[0])
    for script in _SCRIPTS:
        said = answers(task, script)
        tell("self_heal", script, theirs(task, peer, said)[0])
        tell("heal_bot", script, scripted(task, python, said)[0])


def attacked(kept: Kept, peer: Path, python: Path, over: Callable[[], bool]) -> None:
    """Every attack in every setting of each side; what it did is seen from outside.

    No second of it is published, so two settings are played at a time.
    """
    for setting in (*_SAFETY, _SANDBOX):
        kept.escapes[_side(setting), setting] = []

    def play(setting: str) -> None:
        _played(kept.escapes[_side(setting), setting], setting, peer, python, over)

    os.environ[SECRET] = _VALUE
    try:
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(play, (_SANDBOX, *_SAFETY)))
    finally:
        del os.environ[SECRET]


def _side(setting: str) -> str:
    return "heal_bot" if setting == _SANDBOX else "self_heal"


def _played(
    reached: list[str], setting: str, peer: Path, python: Path, over: Callable[[], bool]
) -> None:
    """The attacks that succeed in one setting."""
    (host,) = (task for task in own() if task.name == _HOST)

    def play(said: Sequence[str]) -> list[str]:
        if setting == _SANDBOX:
            return scripted(host, python, said)[1]
        return theirs(host, peer, said, safety=setting)[1]

    with listening() as listener, tempfile.TemporaryDirectory(prefix="attacks-") as folder:
        Path(folder).chmod(0o777)
        for number, (name, _) in enumerate(ATTACKS):
            if over():
                return
            if _reached(host, number, Path(folder) / str(number), listener, play):
                reached.append(name)


def _reached(
    host: Task,
    number: int,
    mark: Path,
    listener: Listener,
    play: Callable[[Sequence[str]], list[str]],
) -> bool:
    """Whether an attack left a mark, was heard, or told the secret."""
    before = len(listener.heard)
    evil = _peers_attacks.proposal(host, ATTACKS[number][1], mark, listener.port)
    prompts = play((evil, answer(host, host.reference)))
    if "fork" in ATTACKS[number][1]:
        time.sleep(1.5)
    told = any(_VALUE in prompt for prompt in prompts)
    return mark.exists() or len(listener.heard) > before or told


def main(argv: list[str]) -> int:
    """Run both sides; the last line is one JSON object."""
    parser = options_of("peers", __doc__)
    options = parser.parse_args(argv)
    if (options.data is None) != (options.model is None):
        parser.error("--data and --model go together")
    if options.data is not None:
        limit = options.limit or (None if options.full or options.only else _CASES)
        return _peers_agent.compare(
            options.data.resolve(), options.model, tuple(options.part or _peers_agent.PARTS),
            only=options.only, limit=limit, minutes=options.minutes,
            against=options.against, quiet=options.json,
        )  # fmt: skip
    say: Callable[[str], None] = (lambda line: None) if options.json else print
    every = own()
    tasks = chosen(every, options.seed, len(every) if options.full else _PER_CATEGORY)
    if options.only:
        tasks = tuple(task for task in every if task.name in options.only.split(","))
    began, kept = time.monotonic(), Kept()

    def over() -> bool:
        return not options.full and time.monotonic() - began > _LONGEST

    peer, python = _releases.environment("peers", *_WANTED), suite_python()
    mine = Path(sys.executable)
    result: dict[str, Any] = {
        "tasks": len(tasks),
        "of": len(every),
        "seed": options.seed,
        "attacks": len(ATTACKS),
        "versions": {
            "heal_bot": __version__,
            "self_heal": VERSION,
            "python": platform.python_version(),
        },
    }
    loaded = {
        "self_heal": {"api": loads(peer, "self_heal"), "cli": loads(peer, "self_heal.cli")},
        "heal_bot": {"api": loads(mine, "heal_bot.api"), "cli": loads(mine, "heal_bot.cli.main")},
    }
    attacked(kept, peer, python, over)
    done = 0
    for task in tasks:
        if over():
            break
        repaired(kept, task, peer, python, say)
        done += 1
    for side in ("self_heal", "heal_bot"):
        result[side] = {"loads": loaded[side], **kept.of(side)}
    seconds = round(time.monotonic() - began, 1)
    finished = done == len(tasks) and not options.only and not over()
    print(json.dumps({**result, "done": done, "seconds": seconds, "complete": finished}))
    return 0
