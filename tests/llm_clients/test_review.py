"""Second opinions and looks, in the real sandbox, with a scripted critic behind the real SDK."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace

import pytest

from benchmarks._scripts import PATH
from benchmarks.loop import Stage, staged
from heal_bot.core.events import Event, Run
from heal_bot.core.model import Certificate, Confirmed, Edit, Patch, SuiteTotals, Verdict
from heal_bot.ports import Brief
from heal_bot.repair.llm.budget import Budget
from heal_bot.repair.llm.local_variable_trace import SHOWN, make_watcher
from heal_bot.repair.llm.patch_review import ModelCritic
from heal_bot.repair.llm.prompt_context import gather_facts
from heal_bot.source import edit, functions
from heal_bot.verification.snippet_lab import Panel, SandboxLab
from tests.llm_clients.server import says

pytestmark = pytest.mark.slow
OVERFITTED = (
    'def round_cents(value):\n    """Round to cents; halves go up."""\n'
    "    return {1.239: 1.24, 2.346: 2.35, 0.109: 0.11}.get(value, value)\n"
)
CHECKS = [
    {"claim": f"r({call}", "code": f"from shop.money import round_cents as r\nassert r({call})"}
    for call in ("0.125) == (0.13", "2) == (2", "2) == (3")
]
CHECKS.append({"claim": "breaks by itself", "code": "import nowhere"})


@dataclass
class Room:
    """The checked-out project, a lab in it, and what was told."""

    stage: Stage
    lab: SandboxLab
    events: list[Event]
    run: Run

    def heard(self, *answers: str, budget: Budget | None = None) -> Confirmed | Verdict:
        """What becomes of the patch after a critic answered."""
        self.stage.server.plays(*(says("claude", text) for text in answers))
        critic = ModelCritic([self.stage._model("claude", 20.0)], budget or Budget())
        brief = Brief(self.stage._cluster("test_round"), self.stage.tree)
        panel = Panel(self.run, [critic], brief, self.lab)
        return panel.heard(self.confirmed())

    def opinions(self, *answers: str, budget: Budget | None = None) -> tuple[str, ...]:
        """The doubts after a critic answered."""
        found = self.heard(*answers, budget=budget)
        assert isinstance(found, Confirmed)
        assert found.patch == self.confirmed().patch
        return found.certificate.doubts

    def refusal(self, *answers: str) -> str:
        """Why the patch is refused."""
        found = self.heard(*answers)
        assert isinstance(found, Verdict)
        assert found.status == "unconfirmed"
        return found.detail

    def confirmed(self) -> Confirmed:
        stage = self.stage
        targets = functions.index_targets(PATH, edit.text_of(stage.tree, PATH))
        target = next(t for t in targets if t.qualname == "round_cents")
        edits = (Edit(target, OVERFITTED),)
        files = edit.patch_files(stage.tree, edits)
        diff = edit.diff_all(stage.tree, files)
        patch = Patch(stage.tree.sha, files, diff, edits, ("t",), ())
        totals = SuiteTotals(True, 5, 0, 0, 0.1)
        certificate = Certificate(
            stage.tree.sha, stage.tree.tree_sha, "0" * 64, stage.env,
            stage.baseline.suite.isolation, 1, 2, (), totals, True, doubts=("an older doubt",),
        )  # fmt: skip
        return Confirmed(patch, certificate)


@pytest.fixture(scope="module")
def room() -> Iterator[Room]:
    with staged() as stage:
        events: list[Event] = []
        run = Run(events.append)
        yield Room(stage, SandboxLab(stage.context(run)), events, run)


def review(agrees: bool, question: str, checks: list[dict[str, str]]) -> str:
    return json.dumps({"agrees": agrees, "question": question, "checks": checks})


UNSURE = '{"holds": false}'


def test_what_a_critic_asks_and_what_nobody_confirms_become_doubts(room: Room) -> None:
    said = review(False, "Is this a table\nof the tests' values?", CHECKS)
    doubts = room.opinions(said, UNSURE, UNSURE)
    assert doubts[0] == "an older doubt"
    assert doubts[1].endswith("asks: Is this a table of the tests' values?")
    assert [d.partition(" holds ")[2] for d in doubts[2:]] == [
        "neither before nor after the patch: r(0.125) == (0.13",
        "neither before nor after the patch: r(2) == (3",
    ]
    prompt = room.stage.server.bodies[0].decode()
    assert prompt.count("get(value, value)") == 2, "in the diff, and in the function as it is then"
    assert "halves go up" in prompt


def test_a_claim_that_a_second_answer_confirms_blind_refuses_the_patch(room: Room) -> None:
    refusal = room.refusal(review(True, "", CHECKS[:1]), '{"holds": true}')
    assert "holds neither before nor after the patch: r(0.125) == (0.13" in refusal
    assert refusal.endswith("assert r(0.125) == (0.13)")
    blind = room.stage.server.bodies[1].decode()
    assert "r(0.125) == (0.13" in blind
    assert "get(value, value)" not in blind


def test_a_check_that_the_patch_breaks_refuses_it(room: Room) -> None:
    code = "from shop.money import round_cents as r\nassert r(1.004) == 1.0"
    refusal = room.refusal(review(True, "", [{"claim": "drops tenths", "code": code}]))
    assert refusal == (
        f"a check by claude-sonnet-5-5 holds before, but not after, the patch: drops tenths\n{code}"
    )


def test_a_check_that_crashed_before_the_patch_did_not_hold_there(room: Room) -> None:
    code = "from shop.money import round_cents as r\nassert r(float('inf')) == 0"
    checks = [{"claim": "no infinity", "code": code}]
    doubts = room.opinions(review(True, "", checks), UNSURE)
    assert doubts[1].endswith(" holds neither before nor after the patch: no infinity")


def test_agreement_adds_nothing_and_removes_nothing(room: Room) -> None:
    assert room.opinions(review(True, "", CHECKS[1:2])) == ("an older doubt",)


@pytest.mark.parametrize("answer", ["Looks good to me!", '{"agrees": "perhaps"}'])
def test_an_unusable_opinion_is_said_and_is_no_doubt(room: Room, answer: str) -> None:
    room.events.clear()
    assert room.opinions(answer) == ("an older doubt",)
    assert any("no second opinion" in str(event) for event in room.events)


def test_without_budget_no_opinion_is_asked_for(room: Room) -> None:
    assert room.opinions(review(True, "", []), budget=Budget(usd=0.0)) == ("an older doubt",)
    assert room.stage.server.requests == []


def test_a_check_runs_without_network_secrets_or_the_models_key(room: Room) -> None:
    code = (
        "import os, socket\nprint(sorted(k for k in os.environ if 'KEY' in k or 'TOKEN' in k))\n"
        "try:\n    socket.create_connection(('127.0.0.1', 9), 1)\nexcept OSError as error:\n"
        "    print(type(error).__name__)\nopen('left.txt', 'w').write('x')"
    )
    seen = room.lab.snippet(code)
    assert (seen.how, seen.code) == ("exited", 0), seen
    assert seen.output.split() == ["[]", "PermissionError"]
    assert room.lab.snippet("import os; print(os.path.exists('left.txt'))").output == "False\n"


def test_an_endless_or_shouting_snippet_is_cut(room: Room) -> None:
    short = replace(room.run, deadline=room.run.clock() + 1.5)
    lab = SandboxLab(replace(room.lab.context, run=short))
    assert lab.snippet("while True: pass").how == "timeout"
    loud = room.lab.snippet("while True: print('x' * 1000)")
    assert loud.how == "output"
    assert len(loud.output) <= 6_000


def test_code_that_no_argument_can_hold_is_made_one(room: Room) -> None:
    assert room.lab.snippet("print('a\0b\ud800')").output == "ab?\n"
    assert room.lab.snippet("print(1)").output == "1\n"


def test_values_at_a_line_are_those_of_the_failing_test(room: Room) -> None:
    line = (
        edit.text_of(room.stage.tree, PATH)
        .splitlines()
        .index("    return math.floor(value * 100) / 100  # cents")
    )
    program = make_watcher(PATH, line + 1, "tests/test_money.py::test_round[1.239-1.24]")
    seen = room.lab.snippet(program)
    assert seen.output.startswith(f"{SHOWN}\nparameters : ")
    assert "\ntime 1 : value = 1.239\n" in seen.output
    missed = room.lab.snippet(make_watcher(PATH, 1, "tests/test_money.py::test_whole"))
    assert "not reached; pytest ended with 0" in missed.output


def test_a_look_stands_on_the_confirmed_edits(room: Room) -> None:
    code = "from shop.money import round_cents\nprint(round_cents(9.999))"
    assert room.lab.snippet(code).output == "9.99\n"
    assert room.lab.snippet(code, room.confirmed().patch.edits).output == "9.999\n"


def test_the_first_prompt_knows_the_values_where_the_failure_was_raised(room: Room) -> None:
    cluster = room.stage._cluster("test_round")
    values = gather_facts(Brief(cluster, room.stage.tree, lab=room.lab)).values
    where = cluster.failures[0].frames[-1]
    assert values.startswith(f"{where.path}:{where.line} in {where.function}\nparameters : ")
    assert "\ntime 1 : value = " in values
    assert gather_facts(Brief(cluster, room.stage.tree)).values == ""
