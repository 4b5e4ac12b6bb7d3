"""How the world stands: branches that move, people who commit, close, revert and command."""

from __future__ import annotations

from typing import Any

from benchmarks._github_events import named, red_comment
from benchmarks._github_stage import BETTER, BRANCH, Stage
from tests.github_server import records

_PARTS = "\n\n".join(f"def part_{n}(prices):\n    return sum(prices[{n + 1}:])\n" for n in range(4))


def moved_elsewhere(stage: Stage) -> None:
    event = stage.finished(stage.red())
    stage.commit("main", "README.md", "New\n")
    stage.act(event)
    assert stage.delivery == "created"
    assert "The branch has moved" in stage.ours()[0].body


def moved_in_the_file(stage: Stage) -> None:
    event = stage.finished(stage.red())

    def once() -> None:
        if len(stage.healed) == 1:
            stage.commit("main", "shop/pricing.py", records.BROKEN + "\n# newer\n")
            stage.values = lambda sha: records.data(
                sha, records.BROKEN + "\n# newer\n", records.FIXED + "\n# newer\n"
            )

    stage.meanwhile = once
    stage.act(event)
    assert (stage.delivery, len(stage.healed)) == ("created", 2), stage.said


def moved_under_a_comment(stage: Stage) -> None:
    event = red_comment(stage)
    stage.meanwhile = lambda: stage.commit("feature", "shop/other.py", "X = 1\n")
    stage.act(event)
    assert (stage.status, len(stage.healed)) == ("superseded", 1), stage.said
    assert not stage.ours()
    assert any("moved from" in body for body in stage.bodies())


def branch_deleted_meanwhile(stage: Stage) -> None:
    event = red_comment(stage)
    stage.meanwhile = lambda: stage.github.world.git.delete_ref("refs/heads/feature")
    stage.act(event)
    stage.humans.clear()
    assert stage.status == "superseded"
    assert not stage.ours()


def human_commit(stage: Stage) -> None:
    event = stage.finished(stage.red())
    stage.act(event)
    stage.commit(BRANCH, "shop/pricing.py", records.FIXED + "# mine\n")
    stage.values = lambda sha: records.data(sha, after=BETTER)
    for _ in range(2):
        stage.act(event)
        assert stage.delivery == "commented", stage.said


def human_commit_meanwhile(stage: Stage) -> None:
    event = stage.finished(stage.red())
    stage.act(event)
    stage.values = lambda sha: records.data(sha, after=BETTER)
    stage.meanwhile = lambda: stage.commit(BRANCH, "shop/mine.py", "X = 1\n")
    stage.act(event)
    assert stage.delivery == "commented", stage.said


def closed(stage: Stage) -> None:
    event = stage.finished(stage.red())
    stage.act(event)
    stage.ours()[0].state = "closed"
    stage.act(event)
    assert stage.delivery == "declined", stage.said
    stage.github.exchanges.clear()
    stage.act(event)
    assert stage.github.writes() == []
    assert not stage.ours()


def reverted(stage: Stage) -> None:
    event = stage.finished(stage.red())
    stage.act(event)
    pull = stage.ours()[0]
    pull.state, pull.merged = "closed", True
    stage.github.world.git.delete_ref(f"refs/heads/{BRANCH}")
    stage.act(event)
    assert stage.delivery == "declined", stage.said
    stage.github.exchanges.clear()
    stage.act(event)
    assert stage.github.writes() == []
    assert not stage.ours()


def closed_and_asked_again(stage: Stage) -> None:
    event = red_comment(stage)
    stage.act(event)
    stage.ours()[0].state = "closed"
    pull = stage.github.world.pulls[1]
    stage.act(stage.comment("/heal retry", pull=pull))
    assert stage.delivery == "created", stage.said
    assert stage.healed[-1].memory.tried == ()


def green(stage: Stage) -> None:
    stage.act(stage.finished(stage.red()))
    assert len(stage.ours()) == 1
    stage.commit("main", "shop/pricing.py", records.FIXED)
    for _ in range(2):
        stage.act(stage.finished(stage.red(conclusion="success")))
    assert not stage.ours()
    assert stage.github.world.branch(BRANCH) is None


def green_before(stage: Stage) -> None:
    first = stage.red()
    stage.commit("main", "README.md", "New\n")
    stage.act(stage.finished(stage.red()))
    first.conclusion = "success"
    stage.act(stage.finished(first))
    assert len(stage.ours()) == 1


def green_with_a_human_commit(stage: Stage) -> None:
    stage.act(stage.finished(stage.red()))
    stage.commit(BRANCH, "shop/mine.py", "X = 1\n")
    stage.act(stage.finished(stage.red(conclusion="success")))
    assert len(stage.ours()) == 1


def _of_another_function(sha: str, number: int) -> dict[str, Any]:
    """A repair of one of four functions, for a test of its own."""
    name, test = f"part_{number}", f"tests/test_pricing.py::test_{number}"
    data = records.data(sha, _PARTS, _PARTS.replace(f"prices[{number + 1}:]", "prices"))
    data["patch"] |= {"functions": [{"path": "shop/pricing.py", "qualname": name}], "fixed": [test]}
    return data | {"fingerprint": f"{number:012x}"}


def four_at_once(stage: Stage) -> None:
    stage.base = stage.commit("main", "shop/pricing.py", _PARTS)
    for number in range(4):
        stage.values = lambda sha, n=number: _of_another_function(sha, n)  # type: ignore[misc]
        stage.act(stage.pushed())
    assert len(stage.ours()) == 2
    assert stage.delivery == "summary"
    assert "2 pull requests of heal-bot are open" in (stage.folder / "summary").read_text()


def apply(stage: Stage) -> None:
    stage.act(red_comment(stage))
    pull = stage.github.world.pulls[1]
    for _ in range(2):
        stage.act(stage.comment("/heal apply", pull=pull))
    assert stage.github.world.git.git("show", "refs/heads/feature:shop/pricing.py").decode() == (
        records.FIXED
    )
    assert not stage.ours()


def apply_after_a_move(stage: Stage) -> None:
    stage.act(red_comment(stage))
    stage.commit("feature", "shop/other.py", "X = 1\n")
    stage.act(stage.comment("/heal apply", pull=stage.github.world.pulls[1]))
    assert stage.delivery == "superseded", stage.said
    assert len(stage.ours()) == 1


def apply_of_a_stranger(stage: Stage) -> None:
    stage.act(red_comment(stage))
    event = stage.comment("/heal apply", actor="mallory", pull=stage.github.world.pulls[1])
    stage.act(event)
    assert stage.status == "refused"
    assert len(stage.ours()) == 1


def apply_of_changed_work(stage: Stage) -> None:
    stage.act(red_comment(stage))
    stage.commit(BRANCH, "shop/mine.py", "X = 1\n")
    stage.act(stage.comment("/heal apply", pull=stage.github.world.pulls[1]))
    assert stage.delivery == "declined", stage.said


def stop(stage: Stage) -> None:
    pull = stage.pull()
    stage.act(stage.comment("/heal stop", pull=pull))
    assert pull.labels == ["heal-bot-stop"]
    stage.act(stage.comment(pull=pull))
    assert stage.status == "refused"


def talk(stage: Stage) -> None:
    stage.act(red_comment(stage))
    pull = stage.github.world.pulls[1]
    stage.act(stage.comment("/heal explain", pull=pull))
    stage.act(stage.comment("/heal help", pull=pull))
    assert any("2 attempts recorded" in body for body in stage.bodies())
    assert any("/heal retry" in body for body in stage.bodies())


def keyless(stage: Stage) -> None:
    stage.act(stage.comment(pull=stage.pull(author="newcomer")))
    assert [task.request.trust for task in stage.healed] == ["keyless"]


def named_is_trusted(stage: Stage) -> None:
    stage.act(named(stage))
    assert [task.request.trust for task in stage.healed] == ["trusted"]


def listed_bot(stage: Stage) -> None:
    stage.inputs["bots"] = "other[bot]"
    stage.act(stage.comment(actor="other[bot]"))
    assert stage.delivery == "created"


WORLDS = (
    moved_elsewhere,
    moved_in_the_file,
    moved_under_a_comment,
    branch_deleted_meanwhile,
    human_commit,
    human_commit_meanwhile,
    closed,
    reverted,
    closed_and_asked_again,
    green,
    green_before,
    green_with_a_human_commit,
    four_at_once,
    apply,
    apply_after_a_move,
    apply_of_a_stranger,
    apply_of_changed_work,
    stop,
    talk,
    keyless,
    named_is_trusted,
    listed_bot,
)
