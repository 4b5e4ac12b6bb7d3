"""Publishing against a real git repository behind the loopback GitHub."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from heal_bot.publish.delivery_options import Options
from tests.github_server import records
from tests.github_server.forgeries import FORGERIES
from tests.github_server.server import Fault
from tests.publish.scene import ADA, BETTER, BRANCH, Scene

pytestmark = pytest.mark.long


def test_a_new_fix_becomes_a_branch_and_a_pull_request(scene: Scene, tmp_path: Path) -> None:
    done = scene.publish()
    assert (done.status, done.number, done.branch) == ("created", 1, BRANCH)
    pull = scene.github.world.pulls[1]
    assert (pull.base, pull.head, pull.draft) == ("main", BRANCH, False)
    assert pull.title == "Fix total in shop/pricing.py (some tests still fail)"
    assert "-    return sum(prices[1:])\n+    return sum(prices)\n" in pull.body
    clone = tmp_path / "clone"
    url = f"{scene.github.url}/octo/shop.git"
    subprocess.run(["git", "clone", "-q", "-b", BRANCH, url, str(clone)], check=True, timeout=30)
    assert (clone / "shop/pricing.py").read_text() == records.FIXED
    assert scene.github.world.git.diff("main", BRANCH).count("\n+") == 2


def test_the_commit_leaves_its_author_to_github_and_every_other_file_alone(scene: Scene) -> None:
    scene.publish()
    git = scene.github.world.git
    commit = git.commit(scene.github.world.branch(BRANCH) or "")
    assert commit.author[0] == "github-actions[bot]"
    assert commit.parents == (scene.base,)
    changed = {e for e in git.entries(commit.sha, recursive=True) if e.type == "blob"}
    assert {e.path for e in changed - set(git.entries(scene.base, recursive=True))} == {
        "shop/pricing.py"
    }


def test_the_doubts_of_the_policy_are_those_of_the_change_whatever_the_bundle_says(
    scene: Scene,
) -> None:
    after = records.FIXED.replace("def total(prices):", "def total(prices, start=0):")
    values = records.data(scene.base, after=after)
    assert values["certificate"]["doubts"] == []
    assert scene.publish(values).status == "created"
    pull = scene.github.world.pulls[1]
    assert pull.draft
    assert "otal changes its signature" in pull.body


def test_a_suggestion_is_one_comment_where_there_is_a_pull_request_and_never_a_branch(
    scene: Scene,
) -> None:
    world = scene.github.world
    world.git.set_ref("refs/heads/feature", scene.base)
    pull = world.add_pull(title="t", body="", head="feature", base="main", user="mallory",
                          head_repo=world.name, head_sha=scene.base)  # fmt: skip
    values = records.suggested(scene.base)
    assert scene.publish(values).status == "nothing"
    assert scene.publish(values, pull_number=pull.number).status == "nothing"
    assert not world.comments
    for _ in range(2):
        done = scene.publish(values, Options(diagnosis_comment=True), pull_number=pull.number)
        assert (done.status, done.number, done.branch) == ("commented", pull.number, "")
    (comment,) = world.comments.values()
    assert "One failing test alone vouches for it." in comment.body
    assert "+    return sum(prices)" in comment.body
    assert "**A change passes, but is not proposed as the fix.**" in comment.body
    assert world.branch(BRANCH) is None
    assert list(world.pulls) == [pull.number]


def test_a_question_answers_a_request_and_makes_no_branch(scene: Scene) -> None:
    world = scene.github.world
    world.git.set_ref("refs/heads/feature", scene.base)
    pull = world.add_pull(title="t", body="", head="feature", base="main", user="mallory",
                          head_repo=world.name, head_sha=scene.base)  # fmt: skip
    done = scene.publish(records.asked(scene.base), pull_number=pull.number, reply_to=7)
    assert (done.status, done.reason) == (
        "nothing", "two changes pass, and an answer decides which is proposed",
    )  # fmt: skip
    (comment,) = world.comments.values()
    assert "What should `total([])` give?" in comment.body
    assert world.branch(BRANCH) is None


def test_a_suggestion_answers_a_request_once(scene: Scene) -> None:
    world = scene.github.world
    world.git.set_ref("refs/heads/feature", scene.base)
    pull = world.add_pull(title="t", body="", head="feature", base="main", user="mallory",
                          head_repo=world.name, head_sha=scene.base)  # fmt: skip
    scene.publish(records.suggested(scene.base), pull_number=pull.number, reply_to=7)
    (comment,) = world.comments.values()
    assert comment.body.count("in cold runs, but is not proposed as the fix") == 1


def test_a_suggestion_beside_a_patch_stands_in_its_pull_request(scene: Scene) -> None:
    assert scene.publish(records.suggested(scene.base, beside=True)).status == "created"
    assert "but is not proposed as the fix" in scene.github.world.pulls[1].body


def test_publishing_again_without_news_writes_nothing(scene: Scene) -> None:
    scene.publish()
    scene.github.exchanges.clear()
    assert scene.publish().status == "unchanged"
    assert scene.github.writes() == []


def test_a_better_patch_updates_branch_and_pull_request_in_place(scene: Scene) -> None:
    scene.publish()
    first = scene.github.world.branch(BRANCH)
    done = scene.publish(records.data(scene.base, after=BETTER))
    assert (done.status, done.number) == ("updated", 1)
    git, head = scene.github.world.git, scene.github.world.branch(BRANCH) or ""
    assert git.commit(head).parents == (first,)
    assert scene.shown(BRANCH) == BETTER
    assert "sum(list(prices))" in scene.github.world.pulls[1].body


def test_a_commit_of_a_person_is_never_overwritten(scene: Scene) -> None:
    scene.publish()
    theirs = scene.commit(BRANCH, "shop/pricing.py", records.FIXED + "# mine\n")
    for _ in range(2):
        done = scene.publish(records.data(scene.base, after=BETTER))
        assert (done.status, done.number) == ("commented", 1)
    assert scene.github.world.branch(BRANCH) == theirs
    comments = list(scene.github.world.comments.values())
    assert len(comments) == 1
    assert "sum(list(prices))" in comments[0].body


def test_an_amended_commit_counts_as_a_person_s(scene: Scene) -> None:
    scene.publish()
    git, head = scene.github.world.git, scene.github.world.branch(BRANCH) or ""
    message, text = git.commit(head).message, git.save_blob(b"X = 1\n")
    tree = git.save_tree(head, [("100644", "shop/other.py", text)])
    amended = git.save_commit(message, tree, [scene.base], ADA, ADA)
    git.set_ref(f"refs/heads/{BRANCH}", amended)
    assert scene.publish(records.data(scene.base, after=BETTER)).status == "commented"
    assert scene.github.world.branch(BRANCH) == amended


def test_a_base_that_moved_elsewhere_is_committed_on_the_verified_commit(scene: Scene) -> None:
    moved = scene.commit("main", "README.md", "New\n")
    assert scene.publish().status == "created"
    commit = scene.github.world.git.commit(scene.github.world.branch(BRANCH) or "")
    assert commit.parents == (scene.base,)
    assert f"The branch has moved to `{moved[:12]}`" in scene.github.world.pulls[1].body


def test_a_base_whose_file_changed_makes_the_patch_stale(scene: Scene) -> None:
    scene.commit("main", "shop/pricing.py", records.BROKEN + "\n# newer\n")
    done = scene.publish()
    assert done.status == "superseded"
    assert "shop/pricing.py changed on main" in done.reason
    assert scene.github.writes() == []


def test_an_update_on_a_newer_base_joins_both_histories(scene: Scene) -> None:
    scene.publish()
    first = scene.github.world.branch(BRANCH)
    before, after = records.BROKEN + "\n# newer\n", records.FIXED + "\n# newer\n"
    scene.commit("main", "README.md", "New\n")
    newer = scene.base = scene.commit("main", "shop/pricing.py", before)
    assert scene.publish(records.data(newer, before, after)).status == "updated"
    git = scene.github.world.git
    commit = git.commit(scene.github.world.branch(BRANCH) or "")
    assert commit.parents == (first, newer)
    assert [e.path for e in git.entries(commit.tree) if e.path == "README.md"] == ["README.md"]
    assert git.diff("main", BRANCH).count("diff --git") == 1


def test_a_newer_base_with_the_same_file_is_no_news(scene: Scene) -> None:
    scene.publish()
    scene.base = scene.commit("main", "README.md", "New\n")
    tip = scene.github.world.branch(BRANCH)
    assert scene.publish().status == "unchanged"
    assert scene.github.world.branch(BRANCH) == tip


def test_a_closed_pull_request_is_not_opened_again_unless_asked(scene: Scene) -> None:
    scene.publish()
    scene.github.world.pulls[1].state = "closed"
    done = scene.publish()
    assert (done.status, done.number) == ("declined", 1)
    assert len(scene.github.world.pulls) == 1
    assert scene.publish(verb="retry").status == "created"
    assert len(scene.github.world.pulls) == 2


def test_a_merged_patch_that_was_reverted_is_not_repeated(scene: Scene) -> None:
    scene.publish()
    pull = scene.github.world.pulls[1]
    pull.state, pull.merged = "closed", True
    scene.github.world.git.delete_ref(f"refs/heads/{BRANCH}")
    assert scene.publish().status == "declined"
    assert scene.publish(records.data(scene.base, after=BETTER)).status == "created"


def test_a_token_that_may_not_open_pull_requests_leaves_the_branch(scene: Scene) -> None:
    scene.github.world.may_open_pulls = False
    done = scene.publish()
    assert done.status == "branch_only"
    assert "not permitted to create or approve pull requests" in done.reason
    assert scene.shown(BRANCH) == records.FIXED


def test_a_request_by_comment_is_answered_once(scene: Scene) -> None:
    world = scene.github.world
    pull = world.add_pull(title="t", body="", head="heal-bot/other", base="main", user="ada",
                          head_repo="octo/shop", head_sha=scene.base)  # fmt: skip
    for _ in range(2):
        scene.publish(pull_number=pull.number, reply_to=77)
    assert len(world.comments) == 1
    comment = next(iter(world.comments.values()))
    assert comment.issue == pull.number
    assert "/octo/shop/pull/2" in comment.body


def test_a_doubt_makes_the_pull_request_a_draft(scene: Scene) -> None:
    values = records.data(scene.base)
    values["certificate"]["doubts"] = ["total changes its signature"]
    scene.publish(values)
    assert scene.github.world.pulls[1].draft


@pytest.mark.parametrize(
    ("functions", "undoes", "said"),
    [
        (9, "its", ""),
        (51, "its", "edits; at most"),
        (9, "c" * 40, "is not in the history of base"),
        (9, "a branch's", "is not in the history of base"),
        (9, "another", "shop/pricing.py::f0 is not put back as it was before "),
        (9, "its, but later", "shop/pricing.py::f0 is not put back as it was before "),
    ],
)
def test_what_takes_a_commit_back_may_be_large_and_is_a_draft(
    scene: Scene, functions: int, undoes: str, said: str
) -> None:
    path = "shop/pricing.py"
    after = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(functions))
    before = after.replace("return ", "return 1000 + ")
    scene.commit("main", path, after)
    shas = {"its": scene.commit("main", path, before)}
    if undoes == "its, but later":
        before = before.replace("1000 + ", "2000 + ")
        scene.commit("main", path, before)
    shas["another"] = scene.commit("main", "README", "")
    scene.base = shas["another"]
    scene.github.world.git.set_ref("refs/heads/side", scene.base)
    shas["a branch's"] = scene.commit("side", path, after)
    values = records.data(scene.base, before, after)
    names = [f"f{n}" for n in range(functions)]
    values["patch"]["functions"] = [{"path": path, "qualname": n} for n in names]
    values["certificate"]["undoes"] = shas.get(undoes, shas.get(undoes.partition(",")[0], undoes))
    done = scene.publish(values)
    if said:
        assert (done.status, said in done.reason) == ("refused", True), done.reason
        return
    pull = scene.github.world.pulls[1]
    assert (pull.title, pull.draft) == (f"Take back the code of {shas['its'][:7]}", True)


RUN = "def run(cmd):\n    return subprocess.run(cmd, shell=True)\n"


@pytest.mark.parametrize(
    ("blamed", "status"), [("dropped", "created"), ("earlier", "refused"), ("parent", "refused")]
)
def test_a_function_comes_back_only_from_the_commit_that_broke_the_tests(
    scene: Scene, blamed: str, status: str
) -> None:
    path = "shop/pricing.py"
    without = records.BROKEN.replace("RATE = 2\n", "import subprocess\n\nRATE = 2\n")
    shas = {"parent": scene.commit("main", path, f"{without}\n\n{RUN}")}
    shas["earlier"] = scene.commit("main", "README", "Years ago")
    shas["good"] = scene.commit("main", "README", "Later")
    shas["dropped"] = scene.commit("main", path, without, "Drop run()")
    scene.base = scene.commit("main", "README", "Now")
    values = records.data(scene.base, without, f"{without}\n\n{RUN}")
    line = without.count("\n")
    values["patch"]["functions"] = [{"path": path, "qualname": f"line {line}"}]
    values["certificate"]["undoes"] = ""
    good = {"dropped": "good", "earlier": "parent", "parent": "dropped"}[blamed]
    values["regression"] = {
        "good_sha": shas[good], "bad_sha": shas[blamed], "title": "Anything", "tests": [],
        "confirmed": True,
    }  # fmt: skip
    assert scene.publish(values).status == status
    pulls = list(scene.github.world.pulls.values())
    shown = [(one.draft, "un uses subprocess.run again" in one.body) for one in pulls]
    assert shown == [(True, True)] * (status == "created")


@pytest.mark.parametrize(
    ("places", "reverted", "drafts"),
    [(8, False, [False]), (9, False, [True]), (51, False, []), (9, True, [True]), (16, True, [])],
    ids=["one cause", "several", "too many", "others beside a commit", "too many beside it"],
)
def test_a_patch_of_several_causes_has_the_edits_of_all_and_is_a_draft(
    scene: Scene, places: int, reverted: bool, drafts: list[bool]
) -> None:
    path = "shop/pricing.py"
    after = "".join(f"def f{n}():\n    return {n}\n\n\n" for n in range(places))
    # All but the last function were something else before the commit that is to be taken back.
    scene.commit("main", path, re.sub(rf"return (?!{places - 1}\b)", "return -1 - ", after))
    before = after.replace("return ", "return 1000 + ")
    undoes = scene.commit("main", path, before)
    scene.base = scene.commit("main", "README", "")
    values = records.data(scene.base, before, after)
    names = [f"f{n}" for n in range(places)]
    values["patch"]["functions"] = [{"path": path, "qualname": n} for n in names]
    values["certificate"]["undoes"] = undoes if reverted else ""
    done = scene.publish(values)
    assert [pull.draft for pull in scene.github.world.pulls.values()] == drafts, done.reason


def doubtful(scene: Scene) -> dict[str, Any]:
    values = records.data(scene.base)
    values["certificate"]["doubts"] = ["total changes its signature"]
    return values


def test_a_doubt_that_comes_later_makes_the_open_pull_request_a_draft(scene: Scene) -> None:
    scene.publish()
    assert scene.publish(doubtful(scene)).status == "updated"
    pull = scene.github.world.pulls[1]
    assert pull.draft
    assert "> Total changes its signature." in pull.body
    scene.github.exchanges.clear()
    assert scene.publish(doubtful(scene)).status == "unchanged"
    assert scene.github.writes() == []


def test_a_draft_is_ready_when_its_doubt_is_gone(scene: Scene) -> None:
    scene.publish(doubtful(scene))
    assert scene.publish().status == "updated"
    assert not scene.github.world.pulls[1].draft


def test_a_draft_that_a_person_made_stays_one(scene: Scene) -> None:
    scene.publish()
    pull = scene.github.world.pulls[1]
    pull.draft = True
    assert scene.publish(records.data(scene.base, after=BETTER)).status == "updated"
    assert pull.draft


@pytest.mark.parametrize("when", ["before", "after"])
def test_a_fault_around_the_draft_leaves_a_draft(scene: Scene, when: str) -> None:
    scene.publish()
    scene.github.faults.append(Fault("graphql/convertPullRequestToDraft", when))
    assert scene.publish(doubtful(scene)).status == "updated"
    assert scene.github.world.pulls[1].draft


def test_a_token_that_may_not_draft_is_told_the_setting_and_the_rest_is_done(scene: Scene) -> None:
    scene.publish()
    scene.github.world.denied.add("graphql/convertPullRequestToDraft")
    assert scene.publish(doubtful(scene)).status == "updated"
    assert not scene.github.world.pulls[1].draft
    assert any("pull-requests: write" in getattr(e, "message", "") for e in scene.events)


def test_who_last_wrote_the_changed_lines_is_asked(scene: Scene) -> None:
    world = scene.github.world
    scene.commit("main", "shop/pricing.py", records.BROKEN.replace("prices[1:]", "prices[2:]"))
    scene.base = scene.commit("main", "shop/pricing.py", records.BROKEN)
    assert scene.publish(options=Options(reviewers=("blame", "bob"))).status == "created"
    assert world.pulls[1].asked == ["ada", "bob"]


def test_who_wrote_the_lines_and_left_is_not_asked(scene: Scene) -> None:
    scene.commit("main", "shop/pricing.py", records.BROKEN.replace("prices[1:]", "prices[2:]"))
    scene.base = scene.commit("main", "shop/pricing.py", records.BROKEN)
    scene.github.world.permissions["ada"] = "read"
    assert scene.publish(options=Options(reviewers=("blame",))).status == "created"
    assert scene.github.world.pulls[1].asked == []


def test_a_change_for_a_fork_is_only_said(scene: Scene) -> None:
    world = scene.github.world
    pull = world.add_pull(title="t", body="", head="patch-1", base="main", user="mallory",
                          head_repo="mallory/shop", head_sha=scene.base)  # fmt: skip
    asked = {"head_repo": "mallory/shop", "base_ref": "patch-1", "pull_number": pull.number}
    for _ in range(2):
        done = scene.publish(**asked)
        assert (done.status, done.number) == ("commented", pull.number)
    assert {e.operation for e in scene.github.writes()} == {"issues/create-comment"}
    (comment,) = world.comments.values()
    assert "git apply --index" in comment.body
    assert "+    return sum(prices)" in comment.body
    assert list(world.git.refs()) == ["refs/heads/main"]


@pytest.mark.parametrize("state", ["closed", "moved", "another fork"])
def test_a_fork_must_hold_the_commit_in_an_open_pull_request(scene: Scene, state: str) -> None:
    world = scene.github.world
    pull = world.add_pull(title="t", body="", head="patch-1", base="main", user="mallory",
                          head_repo="mallory/shop", head_sha=scene.base)  # fmt: skip
    pull.state = "closed" if state == "closed" else "open"
    pull.head_sha = scene.commit("main", "x.py", "X = 1\n") if state == "moved" else scene.base
    head_repo = "eve/shop" if state == "another fork" else "mallory/shop"
    done = scene.publish(head_repo=head_repo, base_ref="patch-1", pull_number=pull.number)
    assert done.status == ("superseded" if state == "moved" else "refused")
    assert scene.github.writes() == []


def test_an_outcome_without_a_patch_publishes_nothing(scene: Scene) -> None:
    values = records.data(scene.base) | {"patch": None, "certificate": None, "status": "flaky"}
    for _ in range(2):
        assert scene.publish(values).status == "nothing"
    assert [e.operation for e in scene.github.writes()] == ["checks/create"]
    assert [c["conclusion"] for c in scene.github.world.checks.values()] == ["neutral"]


@pytest.mark.parametrize("values", [records.suggested, records.data])
@pytest.mark.parametrize("claimed", [False, True])
def test_a_check_says_on_whose_authority_it_speaks(
    scene: Scene, values: Callable[[str], dict[str, Any]], claimed: bool
) -> None:
    scene.publish(values(scene.base), claimed=claimed)
    (check,) = scene.github.world.checks.values()
    said = check["output"]["summary"]
    assert ("An unprivileged run claims all of this" in said) is claimed
    assert ("Verified on Linux" in said) is (values is records.data and not claimed)


@pytest.mark.parametrize(("when", "status"), [("before", 502), ("after", 502), ("after", 0)])
@pytest.mark.parametrize("operation", ["git/create-commit", "git/create-ref", "pulls/create"])
def test_a_fault_around_a_write_leaves_one_branch_and_one_pull_request(
    scene: Scene, operation: str, when: str, status: int
) -> None:
    scene.github.faults.append(Fault(operation, when, status))
    assert scene.publish().status == "created"
    assert scene.publish().status == "unchanged"
    assert len(scene.github.world.pulls) == 1
    assert scene.shown(BRANCH) == records.FIXED


def test_a_comment_whose_answer_was_lost_is_not_made_twice(scene: Scene) -> None:
    world = scene.github.world
    pull = world.add_pull(title="t", body="", head="heal-bot/other", base="main", user="ada",
                          head_repo="octo/shop", head_sha=scene.base)  # fmt: skip
    scene.github.faults.append(Fault("issues/create-comment", "after"))
    scene.publish(pull_number=pull.number, reply_to=77)
    assert len(world.comments) == 1


def test_a_rate_limit_on_a_write_is_waited_out(scene: Scene) -> None:
    limit = Fault("pulls/create", status=403, headers={"Retry-After": "1"}, message="rate limit")
    scene.github.faults.append(limit)
    assert scene.publish().status == "created"
    assert any("waiting 1 s" in getattr(event, "message", "") for event in scene.events)


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forged_bundle_is_refused_and_nothing_is_written(scene: Scene, name: str) -> None:
    git = scene.github.world.git
    link = git.save_tree(scene.base, [("120000", "shop/link.py", git.save_blob(b"pricing.py"))])
    scene.base = git.save_commit("Link", link, [scene.base], ADA, ADA)
    git.set_ref("refs/heads/main", scene.base)
    values = records.data(scene.base)
    FORGERIES[name](values)
    done = scene.publish(values)
    assert (done.status, done.url) == ("refused", "")
    assert done.reason
    assert scene.github.writes() == []


@pytest.mark.parametrize("undoes", [None, "", "5" * 40])
def test_a_change_of_a_plugin_of_pytest_is_left_to_a_person(
    scene: Scene, undoes: str | None
) -> None:
    entry = "[project.entry-points.pytest11]\nshop = 'shop.pricing'\n"
    scene.base = scene.commit("main", "pyproject.toml", entry)
    values = records.data(scene.base)
    values["certificate"] |= {} if undoes is None else {"undoes": undoes}
    done = scene.publish(values)
    assert done.status == "refused"
    assert "takes part in the run of the tests" in done.reason
    assert scene.github.writes() == []


@pytest.mark.parametrize(
    "changes",
    [
        {"head_repo": "mallory/shop"},
        {"repo": "octo/other"},
        {"base_ref": "../main"},
        {"base_ref": "no-such-branch"},
        {"base_sha": "f" * 40},
    ],
    ids=str,
)
def test_a_request_that_does_not_fit_the_repository_is_refused(
    scene: Scene, changes: dict[str, str]
) -> None:
    assert scene.publish(None, **changes).status == "refused"
    assert scene.github.writes() == []


def test_a_commit_that_is_on_no_branch_is_refused(scene: Scene) -> None:
    git = scene.github.world.git
    scene.base = git.save_commit("Loose", git.commit(scene.base).tree, [scene.base], ADA, ADA)
    done = scene.publish()
    assert (done.status, "not on branch main" in done.reason) == ("refused", True)


def test_what_the_bundle_says_about_repository_and_diff_is_not_believed(scene: Scene) -> None:
    values = records.data(scene.base)
    values["request"] |= {"repo": "mallory/evil", "base_ref": "evil", "pull_number": 99}
    values["patch"]["diff"] = "+ nothing to see"
    assert scene.publish(values).status == "created"
    pull = scene.github.world.pulls[1]
    assert pull.base == "main"
    assert "nothing to see" not in pull.body
    assert "+    return sum(prices)" in pull.body


def test_what_undoes_a_commit_of_a_pull_request_is_only_ever_a_comment(scene: Scene) -> None:
    pull = scene.github.world.add_pull(
        title="t", body="", head="heal-bot/other", base="main", user="ada", head_repo="octo/shop",
        head_sha=scene.base,
    )  # fmt: skip
    values = records.data(scene.base)
    values["certificate"]["undoes"] = "c" * 40
    done = scene.publish(values, Options(pull_requests="auto"), pull_number=pull.number)
    assert (done.status, "takes commit cccccccccccc back" in done.reason) == ("commented", True)
    (comment,) = scene.github.world.comments.values()
    assert f"takes back the code of commit `{'c' * 40}`" in comment.body
