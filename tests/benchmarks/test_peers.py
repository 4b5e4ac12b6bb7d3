"""The two sides of the comparison: what they are told, and how effects are seen."""

from __future__ import annotations

import socket
import threading
import urllib.request
from pathlib import Path
from types import ModuleType

import pytest

from benchmarks import _peers_worker, peers
from benchmarks._answers import Scripted, answer, changed, functions, useless
from benchmarks._healing import Healed
from benchmarks._peers_attacks import ATTACKS, SECRET, listening, proposal
from benchmarks._plain import failures
from benchmarks._taskfile import FOLDER, own, read
from heal_bot.core.events import Run
from heal_bot.ports.language_model import Message
from heal_bot.repair.llm.answer_parser import parse_answer as understood
from heal_bot.source import functions as index

TASKS = own()
SECONDS = read(FOLDER / "parsing" / "seconds.md")
SPAN = read(FOLDER / "classes" / "span.md")
SHORTEN = read(FOLDER / "text" / "shorten.md")


def _code(reply: str) -> str:
    return reply.removeprefix("```python\n").removesuffix("```\n")


@pytest.mark.parametrize("task", [SECONDS, SPAN], ids=lambda task: task.name)
def test_the_answer_holds_the_changed_function_and_its_imports(task) -> None:
    reply = answer(task, task.reference)
    assert list(changed(task, task.reference)) == [task.target]
    assert f"# {task.path}::{task.target}\n" in reply
    patched = f"{task.module}\n{_code(reply)}"
    if "." in task.target:
        patched += "\nSpan.__contains__ = __contains__\n"
    assert not failures(task.name, patched, task.hidden)


def test_heal_bot_understands_the_answers() -> None:
    for task in (SECONDS, SPAN, read(FOLDER / "stateful" / "recent.md")):
        targets = index.index_targets(task.path, task.module)
        reading = understood(answer(task, task.reference), targets, {task.path: task.module})
        assert {edit.target.qualname for edit in reading.edits} == set(
            changed(task, task.reference)
        )


def test_a_useless_answer_passes_no_more_than_before() -> None:
    patched = f"{SECONDS.module}\n{_code(useless(SECONDS))}"
    assert set(failures("seconds", patched, SECONDS.search)) >= set(
        failures("seconds", SECONDS.module, SECONDS.search)
    )


def test_a_scripted_model_repeats_its_last_answer() -> None:
    model, run = Scripted(("a", "b")), Run(lambda event: None)
    said = [model.ask(run, "", [Message("user", f"q{n}")], 9).text for n in range(3)]
    assert said == ["a", "b", "b"]
    assert model.prompts == ["q0", "q1", "q2"]


def test_a_sample_is_seeded_and_has_every_category() -> None:
    first, again = (peers.chosen(TASKS, 1, 2) for _ in range(2))
    assert first == again
    assert peers.chosen(TASKS, 2, 2) != first
    assert len(first) == 16
    assert len({task.category for task in first}) == 8


def test_every_task_of_the_comparison_has_every_script() -> None:
    for task in peers.chosen(TASKS, 1, 1):
        for script in peers._SCRIPTS:
            said = peers.answers(task, script)
            assert said[-1] == answer(task, task.reference)
            assert len(set(said)) == len(script.split(" then "))


def test_figures_count_what_is_green_and_wrong() -> None:
    kept = peers.Kept(escapes={("theirs", "off"): ["shell"]})
    kept.add("theirs", "right", Healed("a", True, True, 1, 0.25))
    kept.add("theirs", "right", Healed("b", True, False, 2, 0.5))
    kept.add("ours", "right", Healed("a"))
    assert kept.of("theirs") == {
        "right": {
            "tasks": 2, "fixed": 2, "correct": 1, "wrong": 1, "calls": 3, "seconds": 0.8,
        },
        "escapes": {"off": {"count": 1, "names": ["shell"]}},
    }  # fmt: skip
    assert kept.of("ours")["right"]["fixed"] == 0


@pytest.mark.parametrize(("name", "statements"), ATTACKS, ids=[name for name, _ in ATTACKS])
def test_every_attack_is_a_function_that_parses(tmp_path: Path, name: str, statements: str) -> None:
    code = _code(proposal(SHORTEN, statements, tmp_path / "mark", 9))
    assert list(functions(code)) == ["shorten"]
    assert "MARK" not in code
    assert "PORT" not in code


@pytest.mark.parametrize("name", ["open a file", "shell", "default argument", "environment"])
def test_an_attack_that_nothing_stops_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(SECRET, peers._VALUE)
    number = [one for one, _ in ATTACKS].index(name)
    mark = tmp_path / "mark"

    def play(said) -> list[str]:
        return ["".join(failures("shorten", _code(said[0]), SHORTEN.search).values())]

    with listening() as listener:
        assert peers._reached(SHORTEN, number, mark, listener, play)


def test_a_proposal_that_does_nothing_reaches_nothing(tmp_path: Path) -> None:
    with listening() as listener:
        assert not peers._reached(SHORTEN, 0, tmp_path / "mark", listener, lambda said: ["no"])


def test_a_connection_is_heard() -> None:
    with listening() as listener:
        urllib.request.urlopen(f"http://127.0.0.1:{listener.port}/", timeout=5).close()
        assert len(listener.heard) == 1


def test_nobody_listens_any_more_afterwards() -> None:
    with listening() as listener:
        before = threading.active_count()
    assert threading.active_count() == before - 1
    with pytest.raises(OSError, match="refused"):
        socket.create_connection(("127.0.0.1", listener.port), timeout=5)


def test_a_function_is_put_where_tests_and_classes_see_it() -> None:
    module = ModuleType("m")
    exec("def f():\n    return 1\nclass C:\n    def g(self):\n        return 1\n", module.__dict__)
    names = {"alias": module.f, "C": module.C}
    function, method = (_peers_worker.Place(module, name, names) for name in ("f", "C.g"))
    with function.holding(lambda: 2), method.holding(lambda self: 3):
        assert (module.f(), names["alias"](), module.C().g()) == (2, 2, 3)
    assert (module.f(), names["alias"](), module.C().g()) == (1, 1, 1)


def test_arguments_are_recorded_as_they_were() -> None:
    module = ModuleType("m")
    exec("def f(v):\n    v.append(1)\n", module.__dict__)
    place = _peers_worker.Place(module, "f", {})
    known = _peers_worker.recorded(place, [lambda: module.f([]), lambda: module.f([5])])
    assert known == [(([],), {}), (([5],), {})]
    assert _peers_worker.stands(module.f, known[0])
    assert not _peers_worker.stands(lambda v: v.pop(), known[1])
