"""What happens to a repository over days, and what of heal-bot is due each time."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable

from benchmarks._github_life import STATE, TOKENS, Count, Life, living
from benchmarks._github_shop import PATH

Story = Callable[[Life], None]


def live_all(only: str = "") -> Count:
    """Every story with each kind of token; what they showed together."""
    count = Count()
    for token in TOKENS:
        for story in STORIES:
            name = story.__name__.replace("_", " ")
            if only not in name:
                continue
            started, before = time.monotonic(), len(count.wrong)
            try:
                with living(token, count, name) as life:
                    story(life)
            except Exception:  # noqa: BLE001 - whatever a story raises is its result
                count.wrong.append(f"{name} ({token.name}): {traceback.format_exc(limit=-2)}")
            for told in count.wrong[before:]:
                print(f"WRONG {told}", flush=True)
            print(f"{time.monotonic() - started:5.1f} s  life: {name} ({token.name})", flush=True)
    for told in count.unwanted:
        print(f"UNWANTED {told}", flush=True)
    return count


def repaired_by_a_person(life: Life) -> None:
    life.push({"total": 1})
    life.ci("opened")
    life.ci("nothing", again=True)
    life.touch()
    life.ci("nothing")
    life.expect(life.searches == 1, "the open proposal was not verified first")
    life.push({})
    life.ci("closed")
    life.ci("nothing", again=True)
    # Weeks later the same is red again, and what we took back ourselves bars nothing.
    life.push({"total": 1}, days=21)
    life.ci("opened")


def closed_by_a_person(life: Life) -> None:
    life.push({"total": 1})
    life.ci("opened")
    life.close(life.ours()[0].number)
    life.ci("nothing", again=True)
    for _ in range(3):
        life.touch()
        life.ci("nothing")
    life.expect(life.searches == 1, "what people refused was searched")
    life.push(remark="# Rounded later.\n")
    life.ci("nothing")


def refused_and_another_fault(life: Life) -> None:
    life.push({"total": 1})
    life.ci("opened")
    life.close(life.ours()[0].number)
    life.touch()
    life.ci("nothing")
    life.push({})
    life.ci("nothing")
    life.push({"total": 2})
    life.ci("opened")
    life.push({"total": 2, "tax": 1})
    life.ci("updated")


def asked_again_by_dispatch(life: Life) -> None:
    life.push({"total": 1})
    life.ci("opened")
    life.close(life.ours()[0].number)
    life.touch()
    life.ci("nothing")
    run = life.stage.red("main")
    life.act("opened", life.stage.dispatch(run_id=run.id, retry=True))
    life.touch()
    life.ci("nothing")
    life.close(life.ours()[0].number)
    life.touch()
    life.ci("nothing")


def one_more_red_test_each_day(life: Life) -> None:
    life.push({"total": 1})
    life.ci("opened")
    life.push({"total": 1, "tax": 1})
    life.ci("updated")
    life.push({"total": 1, "tax": 1, "count": 1})
    life.ci("updated")
    life.ci("nothing", again=True)
    life.touch()
    life.ci("nothing")
    life.expect(len(life.ours()) == 1, "more than one is open")
    life.merge(life.ours()[0].number)
    life.push({})
    life.ci("nothing")


def two_workflows(life: Life) -> None:
    life.push({"total": 1, "tax": 1})
    life.ci("opened", workflow=1, only=("total",))
    life.ci("updated", workflow=2)
    life.ci("nothing", workflow=1, only=("total",))
    life.ci("nothing", workflow=2)
    life.touch()
    life.ci("nothing", workflow=1, only=("total",))
    life.ci("nothing", workflow=2)
    life.close(life.ours()[0].number)
    life.touch()
    life.ci("nothing", workflow=2)
    life.ci("nothing", workflow=1, only=("total",))


def two_workflows_the_larger_first(life: Life) -> None:
    life.push({"total": 1, "tax": 1})
    life.ci("opened", workflow=2)
    for _ in range(2):
        life.ci("nothing", workflow=1, only=("total",))
        life.touch()
        life.ci("nothing", workflow=2)
    life.push({})
    life.ci("closed", workflow=1, only=("total",))
    life.ci("nothing", workflow=2)


def two_workflows_with_faults_apart(life: Life) -> None:
    life.push({"total": 1, "tax": 1, "count": 1})
    life.ci("opened", workflow=1, only=("total",))
    life.ci("opened", workflow=2, only=("tax",))
    # Two are open: a third waits.
    life.ci("check", workflow=3, only=("count",))
    life.merge(life.ours()[0].number)
    life.ci("opened", workflow=3, only=("count",))


def main_and_ten_branches(life: Life) -> None:
    life.push({"total": 1})
    life.ci("opened")
    for number in range(10):
        name = f"topic/{number}"
        life.ci("check", name, pull=life.branch(name))
    life.expect(len(life.ours()) == 1, "a branch has a proposal of its own")
    life.expect(life.searches == 1, "a branch was searched")
    life.close(life.ours()[0].number)
    for number in range(3):
        life.touch(f"topic/{number}", "docs/more.md")
        life.ci("nothing", f"topic/{number}", pull=life.branch(f"topic/{number}"))


def merged_and_reverted(life: Life) -> None:
    life.push({"total": 1})
    life.ci("opened")
    life.merge(life.ours()[0].number)
    life.ci("nothing")
    life.push({"total": 1})
    life.ci("nothing")
    life.touch()
    life.ci("nothing")
    life.expect(life.searches == 1, "what was reverted was searched")
    life.push({"total": 2})
    life.ci("opened")


def nothing_found_for_days(life: Life) -> None:
    life.healer.hard.add("total")
    life.push({"total": 1})
    life.ci("check")
    for _ in range(3):
        life.touch()
        life.ci("check")
    life.healer.hard.clear()
    life.push({"total": 1, "tax": 1})
    life.ci("opened")


def memory_of_a_month(life: Life) -> None:
    life.healer.hard.add("total")
    life.push({"total": 1})
    life.ci("check")
    life.day += 40
    life.touch()
    life.healer.hard.clear()
    life.ci("opened")


def formatted_by_pre_commit(life: Life) -> None:
    life.push({"total": 1})
    life.ci("opened")
    life.close(life.ours()[0].number)
    life.push(wide=True)
    life.ci("nothing")
    life.push(wide=True, remark="# fmt: on\n")
    life.ci("nothing")
    life.expect(life.searches == 1, "layout alone was searched")
    life.push({"total": 2}, wide=True)
    life.ci("opened")


def formatted_while_open(life: Life) -> None:
    life.push({"total": 1})
    life.ci("opened")
    life.push(wide=True)
    # The file is another one now: the branch follows, and nothing is searched.
    life.ci("updated")
    life.expect(life.searches == 1, "the open proposal was not verified first")
    life.ci("nothing", again=True)


def merge_queue(life: Life) -> None:
    queue = "gh-readonly-queue/main/pr-7-0123456789"
    life.push({"total": 1})
    life.fork(queue)
    life.ci("nothing", queue)
    life.ci("opened")
    life.ci("nothing", queue)


def state_deleted(life: Life) -> None:
    life.push({"total": 1})
    life.ci("opened")
    life.world.git.delete_ref(STATE)
    life.touch()
    life.ci("nothing")
    life.close(life.ours()[0].number)
    life.world.git.delete_ref(STATE)
    life.tried.clear()
    life.ci("nothing", again=True)
    life.touch()
    life.ci("nothing")


def state_of_another_schema(life: Life) -> None:
    _live_beside(life, b'{"schema": 77}')


def state_that_is_huge(life: Life) -> None:
    _live_beside(life, b'{"schema": 1, "entries": {}' + b" " * 2_000_000 + b"}")


def _live_beside(life: Life, theirs: bytes) -> None:
    """Somebody else keeps something under the name of our ref; it stays, and nothing is lost."""
    git = life.world.git
    tree = git.save_tree(None, [("100644", "state.json", git.save_blob(theirs))])
    who = ("Eve", "eve@example.invalid", "2026-01-03T00:00:00+00:00")
    git.set_ref(STATE, git.save_commit("Mine", tree, [], who, who))
    kept = git.refs()[STATE]
    life.push({"total": 1})
    life.ci("opened")
    life.ci("nothing", again=True)
    life.close(life.ours()[0].number)
    life.push({"total": 2})
    life.ci("opened")
    life.expect(git.refs()[STATE] == kept, "somebody else's ref was written")


def a_person_on_our_branch(life: Life) -> None:
    life.push({"total": 1})
    life.ci("opened")
    pull = life.ours()[0]
    life.touch(pull.head)
    tip = life.world.branch(pull.head)
    life.touch()
    life.ci("nothing")
    life.expect(life.world.branch(pull.head) == tip, "a person's branch was written")
    life.push({})
    life.ci("nothing")


def stopped(life: Life) -> None:
    life.push({"total": 1})
    life.ci("opened")
    life.ours()[0].labels.append("heal-bot-stop")
    for _ in range(2):
        life.touch()
        life.ci("nothing")
    life.expect(life.searches == 1, "what is stopped was searched")


def a_release_branch(life: Life) -> None:
    life.world.protected = ("release/*",)
    life.push({"total": 1})
    life.fork("release/1")
    life.ci("opened")
    life.ci("opened", "release/1")
    life.close(life.ours("release/1")[0].number)
    life.touch("release/1", "docs/a.md")
    life.ci("nothing", "release/1")
    life.touch()
    life.ci("nothing")
    life.expect(len(life.ours("main")) == 1, "main lost its proposal")


def two_projects(life: Life) -> None:
    other = "other/pricing.py"
    life.push({"total": 1})
    life.push({"total": 1}, path=other)
    life.stage.inputs["working-directory"] = "shop"
    life.ci("opened")
    life.stage.inputs["working-directory"] = "other"
    life.healer.path = other
    life.ci("opened", path=other)
    life.ci("nothing", path=other, again=True)
    life.close(life.ours()[0].number)
    life.touch()
    life.stage.inputs["working-directory"], life.healer.path = "shop", PATH
    life.ci("nothing")
    life.stage.inputs["working-directory"], life.healer.path = "other", other
    life.ci("nothing", path=other)
    life.expect(len(life.ours()) == 1, "the other project's proposal is gone")


def asked_on_a_pull_request(life: Life) -> None:
    pull = life.branch("feature")
    life.push({"total": 1}, "feature")
    life.stage.red("feature")
    life.say("opened", "/heal", pull)
    life.close(life.ours()[0].number)
    life.say("answer", "/heal", pull)
    life.say("opened", "/heal retry", pull)
    life.say("answer", "/heal explain", pull)
    life.say("closed by hand", "/heal apply", pull)
    life.stage.red("feature", conclusion="success")
    life.expect(not life.ours(), "the applied proposal is open")


def hinted(life: Life) -> None:
    pull = life.branch("feature")
    life.push({"total": 1}, "feature")
    life.stage.red("feature")
    life.say("opened", "/heal", pull)
    life.say("answer", "/heal retry sum them all", pull)
    told = life.healer.calls[-1].task.request.instruction
    life.expect(told.startswith("sum them all"), f"the hint is {told!r}")
    life.say("nothing", "What does this do?", pull)
    life.say("nothing", "/heal retry", pull, "renovate[bot]")
    life.expect(len(life.ours()) == 1, "a hint opened another one")


def pull_requests_of_people(life: Life) -> None:
    pull = life.branch("feature")
    life.push({"total": 1}, "feature")
    life.ci("check", "feature", pull=pull)
    life.ci("nothing", "feature", pull=pull, again=True)
    life.say("opened", "/heal", pull)
    life.touch("feature", "docs/more.md")
    life.ci("nothing", "feature", pull=pull)
    life.expect(len(life.ours("feature")) == 1, "the proposal is gone")
    pull.labels.append("heal-bot-stop")
    life.touch("feature", "docs/most.md")
    life.ci("nothing", "feature", pull=pull)


def dependabot(life: Life) -> None:
    pull = life.branch("dependabot/pip/requests-3")
    pull.user = "dependabot[bot]"
    life.push({"total": 1}, pull.head)
    life.ci("check", pull.head, pull=pull)
    life.ci("nothing", pull.head, pull=pull, again=True)
    life.touch(pull.head, "docs/more.md")
    life.ci("check", pull.head, pull=pull)
    life.expect(not life.ours(), "a bot's pull request got a proposal")


def a_private_repository_of_a_free_plan(life: Life) -> None:
    life.world.drafts = False
    life.healer.doubt = "total changes its signature"
    life.push({"total": 1})
    life.ci("opened")
    life.expect(not life.ours()[0].draft, "a draft where there are none")
    life.ci("nothing", again=True)
    life.touch()
    life.ci("nothing")


def asked_on_our_own_proposal(life: Life) -> None:
    life.push({"total": 1})
    life.stage.red("main")
    life.ci("opened")
    proposal = life.ours()[0]
    life.say("answer", "/heal retry use a loop", proposal)
    told = life.healer.calls[-1].task.request
    life.expect((told.base_ref, told.instruction[:10]) == ("main", "use a loop"), "another base")
    life.close(proposal.number)
    life.touch()
    life.ci("nothing")
    life.say("opened", "/heal retry", proposal)


def asked_again_on_the_commit(life: Life) -> None:
    life.push({"total": 1})
    life.stage.red("main")
    life.ci("opened")
    life.close(life.ours()[0].number)
    life.touch()
    life.ci("nothing")
    life.act("nothing", life.stage.commit_comment("/heal retry", "mallory"))
    life.act("opened", life.stage.commit_comment("/heal retry"))


def formatted_while_it_healed(life: Life) -> None:
    pull = life.branch("feature")
    life.push({"total": 1}, "feature")
    life.stage.red("feature")

    def once() -> None:
        life.stage.meanwhile = lambda: None
        life.push({"total": 1}, "feature", wide=True)

    life.stage.meanwhile = once
    life.say("opened", "/heal", pull)
    life.expect(life.searches == 1, "the patch was not verified first on the new layout")


def closed_by_another_bot(life: Life) -> None:
    life.push({"total": 1})
    life.ci("opened")
    life.close(life.ours()[0].number, "stale-bot[bot]")
    life.touch()
    life.ci("opened")


STORIES: tuple[Story, ...] = (
    repaired_by_a_person,
    closed_by_a_person,
    refused_and_another_fault,
    asked_again_by_dispatch,
    one_more_red_test_each_day,
    two_workflows,
    two_workflows_the_larger_first,
    two_workflows_with_faults_apart,
    main_and_ten_branches,
    merged_and_reverted,
    nothing_found_for_days,
    memory_of_a_month,
    formatted_by_pre_commit,
    formatted_while_open,
    merge_queue,
    state_deleted,
    state_of_another_schema,
    state_that_is_huge,
    a_person_on_our_branch,
    stopped,
    a_release_branch,
    two_projects,
    asked_on_a_pull_request,
    closed_by_another_bot,
    hinted,
    asked_again_on_the_commit,
    formatted_while_it_healed,
    pull_requests_of_people,
    dependabot,
    a_private_repository_of_a_free_plan,
    asked_on_our_own_proposal,
)
