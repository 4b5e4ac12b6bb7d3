from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from heal_bot.core import bundle
from heal_bot.core.errors import UsageError
from heal_bot.core.model import Attempt, Candidate, Failure, HealRequest, Outcome, Report, Verdict
from heal_bot.core.text import Secret
from heal_bot.report import html, pull_request_body, pull_request_memory
from heal_bot.report.outcome_record import flatten
from tests.github_server import records

REQUEST = HealRequest("octo/shop", "1" * 40, base_ref="main")


def _data() -> dict[str, Any]:
    outcome = Outcome(
        REQUEST, "nothing_to_do", "done", "no failure", Report((), flags=("partial",))
    )
    return json.loads(bundle.dump(flatten(outcome)))


def test_a_bundle_reads_back_as_it_was_written(tmp_path: Path) -> None:
    record = flatten(Outcome(REQUEST, "refused", "done", "no", Report(())))
    bundle.write(tmp_path / "out", record, {"patch.diff": "x"})
    assert bundle.read(tmp_path / "out") == record
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == [
        ".gitignore",
        "outcome.json",
        "patch.diff",
    ]


def test_a_bundle_of_the_first_schema_is_read_and_has_no_suggestion() -> None:
    added = ["suggestion", "regression", "proved", "inferred", "not_shown", "choices", "question",
             "limit"]  # fmt: skip
    data = {key: value for key, value in _data().items() if key not in added}
    record = bundle.parse(json.dumps({**data, "schema": 1}).encode(), Path("outcome.json"))
    assert (record.schema_version, record.suggestion, record.proved) == (1, None, ())
    assert list(_data())[-len(added) :] == added


@pytest.mark.parametrize(
    "changed",
    [{"question": None}, {"choices": []}, {"status": "not_healed"}, "one choice", "twice B",
     "three choices", "an answer over lines"],
    ids=str,
)  # fmt: skip
def test_a_question_without_its_two_choices_is_no_outcome(changed: Any) -> None:
    values = records.asked("1" * 40)
    assert records.record(values).choices[1].patch.files[0].content == records.OTHERWISE
    if isinstance(changed, dict):
        values |= changed
    elif changed == "one choice":
        values["choices"].pop()
    elif changed == "twice B":
        values["choices"][0]["id"] = values["question"]["answers"][0]["choice"] = "B"
    elif changed == "three choices":
        values["choices"].append(values["choices"][1])
    else:
        values["question"]["answers"][0]["result"] = "1\n2"
    with pytest.raises(UsageError):
        bundle.parse(json.dumps(values).encode(), Path("outcome.json"))


def test_what_a_test_says_after_an_attempt_begins_with_the_exception() -> None:
    failure = Failure("tests/test_shop.py::test_find", "KeyError", "'mug'")
    verdict = Verdict("regression", newly_failing=(failure,))
    attempt = Attempt(1, "c1", Candidate((), "rules", "method"), verdict, 0.1)
    record = flatten(Outcome(REQUEST, "not_healed", "done", "", Report(()), attempts=(attempt,)))
    assert record.attempts[0].messages == {failure.test: "KeyError: 'mug'"}


@pytest.mark.parametrize("split", ["\u200b", "\u2066", "\x1b[0m", "\x00", "\U000e0041"], ids=ascii)
def test_a_key_in_pieces_is_in_no_file_of_the_bundle(split: str) -> None:
    key = "ghp_" + "Ab1" * 12
    said = f"said {split.join(key)} and {split.join('s3cret-word')}"
    failure = Failure("tests/test_shop.py::test_find", "KeyError", said)
    verdict = Verdict("regression", detail=said, newly_failing=(failure,))
    attempt = Attempt(1, "c1", Candidate((), "rules", "method", said), verdict, 0.1, said)
    outcome = Outcome(REQUEST, "not_healed", "done", said, Report(()), attempts=(attempt,))
    record = flatten(outcome, (Secret(key), Secret("s3cret-word")))
    for text in (
        bundle.dump(record),
        html.render_page(record),
        pull_request_body.pull_request(record)[1],
    ):
        assert "said ***" in text.replace("\\", "")
        assert not re.search(r"A\W*(?:U[\W\d]+)?b|s\W*(?:U[\W\d]+)?3\W", text)


def test_writing_again_replaces_all_of_it_and_leaves_nothing_beside(tmp_path: Path) -> None:
    record = flatten(Outcome(REQUEST, "refused", "done", "no", Report(())))
    bundle.write(tmp_path / "out", record, {"patch.diff": "x"})
    bundle.write(tmp_path / "out", record, {})
    left = sorted(p.name for p in tmp_path.rglob("*"))
    assert left == [".gitignore", "out", "outcome.json"]


def test_a_bundle_that_is_there_is_set_aside_and_one_older_one_goes(tmp_path: Path) -> None:
    folder, kept = tmp_path / "out", tmp_path / "out.previous"
    assert bundle.set_aside(folder) is None
    for reason in ("first", "second"):
        record = bundle.parse(json.dumps(_data() | {"reason": reason}).encode(), folder)
        bundle.write(folder, record, {})
        assert bundle.set_aside(folder) == kept
        assert not folder.exists()
        assert bundle.read(kept).reason == reason


def test_what_is_no_bundle_of_ours_is_not_removed_to_set_one_aside(tmp_path: Path) -> None:
    folder, other = tmp_path / "out", tmp_path / "out.previous"
    other.mkdir()
    (other / "mine").write_text("kept")
    bundle.write(folder, bundle.parse(json.dumps(_data()).encode(), folder), {})
    with pytest.raises(UsageError, match="cannot be renamed"):
        bundle.set_aside(folder)
    assert (other / "mine").read_text() == "kept"
    assert bundle.read(folder)


def test_git_does_not_see_a_bundle_in_a_work_tree(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    record = flatten(Outcome(REQUEST, "refused", "done", "no", Report(())))
    bundle.write(tmp_path / "out", record, {"patch.diff": "x"})
    status = ["git", "-C", str(tmp_path), "status", "--porcelain"]
    assert subprocess.run(status, check=True, capture_output=True, text=True).stdout == ""


@pytest.mark.long
def test_a_run_killed_while_it_writes_leaves_a_whole_outcome(tmp_path: Path) -> None:
    code = (
        "import itertools, sys\n"
        "from pathlib import Path\n"
        "from heal_bot.core import bundle\n"
        "from heal_bot.core.model import HealRequest, Outcome, Report\n"
        "from heal_bot.report.outcome_record import flatten\n"
        "for n in itertools.count():\n"
        "    request = HealRequest('a/b', '1' * 40)\n"
        "    outcome = Outcome(request, 'refused', 'done', 'x' * n, Report(()))\n"
        "    bundle.write(Path(sys.argv[1]), flatten(outcome), {'patch.diff': 'x' * 10_000})\n"
        "    print(n, flush=True)\n"
    )
    for kill_after in (1, 3, 8):
        argv = [sys.executable, "-c", code, str(tmp_path / "out")]
        with subprocess.Popen(argv, stdout=subprocess.PIPE) as writer:
            assert writer.stdout is not None
            for _ in range(kill_after):
                writer.stdout.readline()
            writer.kill()
        assert bundle.read(tmp_path / "out").status == "refused"


def test_a_folder_with_other_things_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("precious")
    with pytest.raises(UsageError, match="no bundle"):
        bundle.check_writable(tmp_path)


def test_an_unwritable_place_is_named_before_any_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="--out"):
        bundle.check_writable(tmp_path / "file" / "out")


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"extra": 1}, "extra"),
        ({"schema": 3}, "schema"),
        ({"status": "great"}, "status"),
        ({"fingerprint": "../../x"}, "fingerprint"),
        ({"reason": "x" * 20_001}, "reason"),
        ({"attempts": "none"}, "attempts"),
        ({"request": {"repo": "a/b"}}, "request"),
        ({"failures": [{}]}, "failures"),
    ],
)
def test_what_the_schema_does_not_know_is_refused(change: dict[str, Any], named: str) -> None:
    data = json.dumps({**_data(), **change}).encode()
    with pytest.raises(UsageError, match=named):
        bundle.parse(data, Path("outcome.json"))


@pytest.mark.parametrize("text", ["", "[]", "{", "\ufeff{}", '{"schema": NaN}'])
def test_what_is_no_json_object_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        bundle.parse(text.encode(), Path("outcome.json"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kind", ["link", "hard link", "pipe", "folder", "absent"])
def test_only_a_plain_file_is_opened(tmp_path: Path, kind: str) -> None:
    folder, other = tmp_path / "out", tmp_path / "other"
    folder.mkdir()
    other.write_text("{}")
    path = folder / "outcome.json"
    if kind == "link":
        path.symlink_to(other)
    elif kind == "hard link":
        path.hardlink_to(other)
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    with pytest.raises(UsageError, match="no bundle"):
        bundle.read(folder)


def test_what_the_first_version_wrote_is_read_as_it_is() -> None:
    folder = Path(__file__).parent / "first_schema"
    record = bundle.read(folder)
    assert (record.schema_version, record.status, len(record.attempts)) == (1, "healed", 6)
    body = (folder / "pull_request.md").read_text()
    remembered = pull_request_memory.read(body)
    assert remembered is not None
    assert record.patch is not None
    assert (remembered.base_sha, remembered.attempts) == (record.patch.base_sha, 6)
    assert len(remembered.memory.tried) == 3
    assert pull_request_body._MARK.search(body) is not None
