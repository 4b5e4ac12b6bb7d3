"""The text behind a ref of our own, on a real git repository behind the loopback GitHub."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from heal_bot.core.errors import ForgeError, ForgeForbiddenError
from heal_bot.core.events import Run
from heal_bot.core.text import Secret
from heal_bot.github.pulls import GitHub
from heal_bot.github.state_ref import StateRef
from tests.github_server.server import Fault, LoopbackGitHub, serving
from tests.github_server.world import BOT

REF = "refs/heal-bot/state"
RUN = Run(lambda event: None)


@pytest.fixture
def github(tmp_path: Path) -> Iterator[LoopbackGitHub]:
    with serving(tmp_path / "github") as served:
        (tmp_path / "source").mkdir()
        (tmp_path / "source" / "a.py").write_text("A = 1\n")
        served.world.git.import_folder(tmp_path / "source", "First")
        yield served
        assert served.violations == []


def client(github: LoopbackGitHub) -> StateRef:
    return GitHub.open(Secret("token-for-tests"), github.url, "octo/shop").state


def test_nothing_is_there_at_first(github: LoopbackGitHub) -> None:
    assert client(github).read(RUN) is None


def test_a_text_is_read_back_by_the_next_run_and_no_clone_has_it(
    github: LoopbackGitHub, tmp_path: Path
) -> None:
    assert client(github).write(RUN, "one\n", "")
    stored = client(github).read(RUN)
    assert stored is not None
    assert stored.text == "one\n"
    assert client(github).write(RUN, "two\n", stored.commit)
    assert github.world.git.git("show", f"{REF}:state.json") == b"two\n"
    url, clone = f"{github.url}/octo/shop.git", tmp_path / "clone"
    subprocess.run(["git", "clone", "-q", url, str(clone)], check=True, timeout=30)
    refs = subprocess.run(
        ["git", "for-each-ref"], cwd=clone, check=True, capture_output=True, timeout=30
    )
    assert b"heal-bot" not in refs.stdout


def test_of_two_that_write_at_once_the_second_has_to_read_again(github: LoopbackGitHub) -> None:
    first, second = client(github), client(github)
    assert first.write(RUN, "one\n", "")
    assert not second.write(RUN, "other\n", "")
    stored = second.read(RUN, fresh=True)
    assert stored is not None
    assert first.write(RUN, "two\n", stored.commit)
    assert not second.write(RUN, "other\n", stored.commit)
    assert github.world.git.git("show", f"{REF}:state.json") == b"two\n"
    assert all(not (isinstance(e.body, dict) and e.body.get("force")) for e in github.exchanges)


def test_a_ref_that_is_gone_meanwhile_is_not_written_blindly(github: LoopbackGitHub) -> None:
    ref = client(github)
    assert ref.write(RUN, "one\n", "")
    stored = ref.read(RUN)
    assert stored is not None
    github.world.git.delete_ref(REF)
    assert not ref.write(RUN, "two\n", stored.commit)
    assert ref.read(RUN, fresh=True) is None


def test_a_lost_answer_to_the_first_write_is_looked_up(github: LoopbackGitHub) -> None:
    github.faults.append(Fault("git/create-ref", "after", 0))
    assert client(github).write(RUN, "one\n", "")
    assert github.world.git.git("show", f"{REF}:state.json") == b"one\n"


@pytest.mark.parametrize("kind", ["no such file", "a folder", "a blob", "too large", "no text"])
def test_what_is_not_ours_has_no_text(github: LoopbackGitHub, kind: str) -> None:
    git = github.world.git
    data = {"too large": b"x" * 300_000, "no text": b"\xff\xfe"}.get(kind, b"x")
    blob = git.save_blob(data)
    name = {"no such file": "other.json", "a folder": "state.json/x"}.get(kind, "state.json")
    tree = git.save_tree(None, [("100644", name, blob)])
    who = ("Ada", "ada@example.invalid", "2026-01-03T00:00:00+00:00")
    sha = blob if kind == "a blob" else git.save_commit("x", tree, [], who, who)
    git.set_ref(REF, sha)
    stored = client(github).read(RUN)
    assert stored is not None
    assert stored.text is None


def test_without_permission_the_write_says_so(github: LoopbackGitHub) -> None:
    github.world.read_only.add(BOT)
    with pytest.raises(ForgeForbiddenError, match="contents: write"):
        client(github).write(RUN, "one\n", "")


def test_an_answer_that_is_no_answer_is_an_error_of_the_forge(github: LoopbackGitHub) -> None:
    github.faults.append(Fault("git/get-ref", "before", 418, message="teapot"))
    with pytest.raises(ForgeError, match="418"):
        client(github).read(RUN)
