"""What earlier runs decided: refused by a person, proposed elsewhere, tried before."""

from __future__ import annotations

from typing import Any

import pytest

from heal_bot.publish.prior_decision import Situation
from heal_bot.repair.search.attempt_history import digest_answer
from tests.github_server import records
from tests.github_server.server import Fault
from tests.github_server.world import BOT
from tests.publish.scene import BETTER, BRANCH, Scene

pytestmark = pytest.mark.long

RED = ("1" * 16, "2" * 16)
ONE = RED[:1]
DAY = 20_000
LATER = records.BROKEN.replace("price - percent", "price - percent / 2")


def seen(reported: tuple[str, ...] = RED, **changes: Any) -> Situation:
    return Situation(reported, **({"today": DAY} | changes))


def two(scene: Scene, sha: str, fingerprint: str = "1" * 12) -> dict[str, Any]:
    """A run with one more red test, whose patch repairs both functions."""
    after = records.FIXED.replace("return price - percent", "return price * (1 - percent / 100)")
    values = records.data(sha, after=after)
    test = "tests/test_pricing.py::test_discount"
    values["patch"]["functions"].append({"path": "shop/pricing.py", "qualname": "discount"})
    values["patch"] |= {"fixed": [*values["patch"]["fixed"], test], "still_failing": []}
    return values | {"fingerprint": fingerprint, "status": "healed"}


def test_what_a_person_closed_is_neither_searched_nor_proposed_again(scene: Scene) -> None:
    scene.publish(situation=seen())
    scene.close(1)
    moved = scene.base = scene.commit("main", "README.md", "New\n")
    prior = scene.decide(situation=seen(ONE))
    assert prior.done is not None
    assert (prior.done.status, prior.done.number) == ("declined", 1)
    assert "/heal retry" in prior.done.reason
    assert scene.publish(records.data(moved), situation=seen()).status == "declined"
    assert '"by":"ada"' in scene.remembered()


@pytest.mark.parametrize("closer", [BOT, "dependabot[bot]"])
def test_what_a_bot_closed_is_proposed_again(scene: Scene, closer: str) -> None:
    scene.publish(situation=seen())
    scene.close(1, closer)
    assert scene.decide(situation=seen()).done is None
    assert scene.publish(situation=seen()).status == "created"


def test_what_we_took_back_with_the_token_of_a_person_is_proposed_again(scene: Scene) -> None:
    scene.github.world.tokens["token-for-tests"] = "ada"
    scene.publish(situation=seen())
    pull = scene.github.world.pulls[1]
    scene.close(1)
    pull.body += "\n\n<!-- heal-bot withdrawn -->"
    assert scene.decide(situation=seen()).done is None
    assert scene.publish(situation=seen()).status == "created"


def test_another_change_for_the_same_tests_is_proposed(scene: Scene) -> None:
    scene.publish(situation=seen())
    scene.close(1)
    assert scene.publish(records.data(scene.base, after=BETTER)).status == "created"


def test_another_fault_behind_the_same_tests_is_searched_and_the_refused_change_left_out(
    scene: Scene,
) -> None:
    scene.publish(situation=seen())
    scene.close(1)
    scene.base = scene.commit("main", "shop/pricing.py", LATER)
    prior = scene.decide(situation=seen(("3" * 16,)))
    assert prior.done is None
    assert [verdict for _, verdict in prior.memory.tried] == ["rejected"]


def test_the_same_repair_of_other_code_is_not_what_was_refused(scene: Scene) -> None:
    scene.publish(situation=seen())
    scene.close(1)
    other = records.BROKEN.replace("prices[1:]", "prices[2:]")
    scene.base = scene.commit("main", "shop/pricing.py", other)
    prior = scene.decide(situation=seen())
    assert (prior.done, prior.memory.tried) == (None, ())
    assert scene.publish(records.data(scene.base, before=other)).status == "created"


def test_layout_and_comments_do_not_make_a_refused_change_new(scene: Scene) -> None:
    scene.publish(situation=seen(()))
    scene.close(1)
    moved = records.BROKEN.replace("sum(prices[1:])", "sum(\n        prices[1:]\n    )  # all")
    scene.base = scene.commit("main", "shop/pricing.py", moved)
    done = scene.decide(situation=seen(())).done
    assert done is not None
    assert done.status == "declined"
    scene.base = scene.commit("main", "shop/pricing.py", LATER)
    assert scene.decide(situation=seen(())).done is None


def test_a_person_who_asks_again_lifts_what_was_refused(scene: Scene) -> None:
    scene.publish(situation=seen())
    scene.close(1)
    assert scene.decide(situation=seen()).done is not None
    prior = scene.decide(situation=seen(), verb="retry")
    assert (prior.done, prior.memory.tried) == (None, ())
    assert scene.publish(verb="retry", situation=seen()).status == "created"
    scene.close(2, BOT)
    assert scene.decide(situation=seen()).done is None


def test_a_closed_pull_request_of_an_older_version_counts_for_its_failures(scene: Scene) -> None:
    scene.publish()
    pull = scene.github.world.pulls[1]
    pull.body = pull.body.rpartition("<!-- heal-bot memory ")[0]
    scene.github.world.git.delete_ref("refs/heal-bot/state")
    scene.close(1)
    assert scene.publish(records.data(scene.base, after=BETTER)).status == "declined"


def test_without_the_state_the_marker_says_what_was_refused(scene: Scene) -> None:
    scene.publish()
    scene.github.world.git.delete_ref("refs/heal-bot/state")
    scene.close(1)
    assert scene.publish().status == "declined"
    assert scene.publish(records.data(scene.base, after=BETTER)).status == "created"


def test_who_stopped_an_open_proposal_is_asked_before_the_search(scene: Scene) -> None:
    scene.publish(situation=seen())
    scene.github.world.pulls[1].labels.append("heal-bot-stop")
    done = scene.decide(situation=seen()).done
    assert done is not None
    assert (done.status, done.number) == ("declined", 1)


def test_a_run_without_a_patch_leaves_its_memory(scene: Scene) -> None:
    digest = "d" * 64
    values = records.data(scene.base) | {"status": "not_healed", "patch": None, "certificate": None}
    values["memory"] = {
        "tried": [{"digest": digest, "verdict": "unchanged"}, {"digest": "e" * 64,
                                                              "verdict": "timeout"}],
        "lessons": ["unchanged:total"],
    }  # fmt: skip
    assert scene.publish(values, situation=seen()).status == "nothing"
    memory = scene.decide(situation=seen()).memory
    assert memory.tried == ((digest, "unchanged"),)
    assert memory.lessons == ("unchanged:total",)


A, B = digest_answer("total([])", "0"), digest_answer("total([])", "raises IndexError")


def test_what_is_picked_of_a_question_goes_to_the_next_search_and_stays(scene: Scene) -> None:
    assert scene.publish(records.asked(scene.base), situation=seen()).status == "nothing"
    prior = scene.decide(situation=seen(), verb="pick", choice="B")
    assert (prior.done, prior.memory.answers) == (None, (B,))
    scene.publish(situation=seen(), verb="pick", choice="B")
    assert scene.decide(situation=seen(ONE)).memory.answers == (B,)


def test_of_two_people_who_pick_otherwise_the_later_one_counts(scene: Scene) -> None:
    for picked in "BA":
        scene.publish(records.asked(scene.base), situation=seen(), verb="pick", choice=picked)
    assert scene.decide(situation=seen(), verb="pick", choice="B").memory.answers == (A, B)


@pytest.mark.parametrize(
    ("asked", "choice", "reason"),
    [
        (False, "A", "no question is remembered for branch main; ask with /heal"),
        (True, "C", "/heal pick C: the choices are A and B"),
    ],
)
def test_a_pick_of_nothing_that_was_asked_is_declined(
    scene: Scene, asked: bool, choice: str, reason: str
) -> None:
    scene.publish(records.asked(scene.base) if asked else None, situation=seen())
    prior = scene.decide(situation=seen(), verb="pick", choice=choice)
    assert prior.done is not None
    assert (prior.done.status, prior.done.reason) == ("declined", reason)


def test_a_question_is_no_longer_open_once_a_change_is_proposed(scene: Scene) -> None:
    scene.publish(records.asked(scene.base), situation=seen())
    scene.publish(situation=seen())
    assert scene.decide(situation=seen(), verb="pick", choice="A").done is not None


def test_the_open_proposal_is_verified_first_on_a_newer_commit(scene: Scene) -> None:
    scene.publish(situation=seen())
    before = records.BROKEN.replace("RATE = 2", "RATE = 4  # doubled")
    sha = scene.base = scene.commit("main", "shop/pricing.py", before)
    resumed = scene.decide(situation=seen()).resumed
    assert resumed is not None
    assert resumed.patch is not None
    assert resumed.patch.base_sha == sha
    assert [file.content for file in resumed.patch.files] == [
        before.replace("prices[1:]", "prices")
    ]


def test_a_proposal_for_code_that_changed_is_not_carried(scene: Scene) -> None:
    scene.publish(situation=seen())
    other = records.BROKEN.replace("prices[1:]", "prices[2:]")
    scene.base = scene.commit("main", "shop/pricing.py", other)
    assert scene.decide(situation=seen()).resumed is None


def test_a_second_workflow_with_the_same_change_opens_nothing(scene: Scene) -> None:
    scene.publish(situation=seen())
    for _ in range(2):
        again = records.data(scene.base) | {"fingerprint": "f" * 12}
        done = scene.publish(again, situation=seen(("4" * 16,)))
        assert (done.status, done.number) == ("unchanged", 1)
    assert len(scene.github.world.pulls) == 1
    # What a person then closes is refused for both.
    scene.close(1)
    for reported in (RED, ("4" * 16,)):
        assert scene.decide(situation=seen(reported)).done is not None


def test_a_growing_set_updates_the_open_pull_request_and_a_shrinking_one_leaves_it(
    scene: Scene,
) -> None:
    scene.publish(situation=seen(ONE))
    done = scene.publish(two(scene, scene.base), situation=seen())
    assert (done.status, done.number, done.branch) == ("updated", 1, BRANCH)
    assert "price * (1 - percent / 100)" in scene.shown(BRANCH)
    title = scene.github.world.pulls[1].title
    done = scene.publish(situation=seen(ONE))
    assert (done.status, done.number) == ("unchanged", 1)
    assert "price * (1 - percent / 100)" in scene.shown(BRANCH)
    assert scene.github.world.pulls[1].title == title
    assert len(scene.github.world.pulls) == 1


def test_a_change_that_is_open_on_the_base_is_pointed_to(scene: Scene) -> None:
    world = scene.github.world
    world.git.set_ref("refs/heads/feature", scene.base)
    pull = world.add_pull(title="t", body="", head="feature", base="main", user="mallory",
                          head_repo=world.name, head_sha=scene.base)  # fmt: skip
    scene.publish(situation=seen())
    asked = {"base_ref": "feature", "pull_number": pull.number}
    sha = scene.commit("feature", "README.md", "New\n")
    situation = seen(into="main")
    done = scene.decide(situation=situation, base_sha=sha, **asked).done
    assert done is not None
    assert (done.status, done.number, done.elsewhere) == ("unchanged", 2, True)
    values = records.data(sha) | {"fingerprint": "e" * 12}
    blind = seen((), into="main")
    done = scene.publish(values, situation=blind, base_sha=sha, **asked)
    assert (done.status, done.number, done.elsewhere) == ("unchanged", 2, True)
    assert len(world.pulls) == 2
    scene.close(2)
    done = scene.decide(situation=situation, base_sha=sha, **asked).done
    assert done is not None
    assert done.status == "declined"


def test_projects_with_tests_of_one_name_are_apart(scene: Scene) -> None:
    from heal_bot.publish.delivery_options import Options

    scene.commit("main", "other/pricing.py", records.BROKEN)
    scene.base = scene.github.world.branch("main") or ""
    scene.publish(options=Options(project="shop"), situation=seen())
    values = records.data(scene.base) | {"fingerprint": "f" * 12}
    values["patch"]["files"][0]["path"] = "other/pricing.py"
    values["patch"]["functions"][0]["path"] = "other/pricing.py"
    done = scene.publish(values, Options(project="other"), situation=seen(("4" * 16,)))
    assert (done.status, done.number) == ("created", 2)


def test_two_runs_at_once_lose_nothing_of_what_each_learned(scene: Scene) -> None:
    scene.publish(situation=seen())
    world = scene.github.world
    others = records.data(scene.base, after=BETTER) | {
        "fingerprint": "f" * 12, "status": "not_healed", "patch": None, "certificate": None,
        "memory": {"tried": [{"digest": "d" * 64, "verdict": "unchanged"}], "lessons": []},
    }  # fmt: skip
    met = []

    def meanwhile(number: int, when: str) -> None:
        if (
            when == "before"
            and not met
            and scene.github.exchanges[-1:]
            and (scene.github.exchanges[-1].operation == "git/create-commit")
        ):
            met.append(number)
            git = world.git
            tip = git.refs()["refs/heal-bot/state"]
            text = git.save_blob(scene.remembered().encode())
            tree = git.save_tree(None, [("100644", "state.json", text)])
            who = ("Ada", "ada@example.invalid", "2026-01-03T00:00:00+00:00")
            git.set_ref("refs/heal-bot/state", git.save_commit("x", tree, [tip], who, who))

    scene.github.watch = meanwhile
    scene.publish(others, situation=seen(("5" * 16,)))
    assert met
    assert "d" * 64 in scene.remembered()
    assert '"pull":1' in scene.remembered()


@pytest.mark.parametrize("text", ["{}", '{"schema": 9}', "x" * 300_000, '{"schema": 1, "a": 2}'])
def test_a_state_of_somebody_else_is_left_alone(scene: Scene, text: str) -> None:
    git = scene.github.world.git
    tree = git.save_tree(None, [("100644", "state.json", git.save_blob(text.encode()))])
    who = ("Ada", "ada@example.invalid", "2026-01-03T00:00:00+00:00")
    sha = git.save_commit("x", tree, [], who, who)
    git.set_ref("refs/heal-bot/state", sha)
    assert scene.publish(situation=seen()).status == "created"
    assert git.refs()["refs/heal-bot/state"] == sha
    assert any("left as it is" in getattr(event, "message", "") for event in scene.events)
    scene.close(1)
    assert scene.publish(situation=seen()).status == "declined"


def test_a_token_that_may_not_write_the_ref_still_publishes(scene: Scene) -> None:
    scene.github.faults.append(
        Fault("git/get-ref", status=403, times=9, message="Resource not accessible")
    )
    assert scene.publish(situation=seen()).status == "created"


def test_a_run_without_news_writes_nothing_at_all(scene: Scene) -> None:
    scene.publish(situation=seen())
    scene.github.exchanges.clear()
    assert scene.publish(situation=seen()).status == "unchanged"
    assert scene.github.writes() == []


def test_what_a_claimed_run_says_is_not_remembered(scene: Scene) -> None:
    scene.publish(claimed=True, situation=seen())
    assert "refs/heal-bot/state" not in scene.github.world.git.refs()


def test_no_source_text_is_remembered(scene: Scene) -> None:
    scene.publish(situation=seen())
    scene.publish(records.asked(scene.base) | {"fingerprint": "2" * 12}, situation=seen())
    for word in ("return", "prices", "assert", "test_total"):
        assert word not in scene.remembered()
