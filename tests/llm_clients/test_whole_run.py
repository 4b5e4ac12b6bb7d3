"""The model tier in whole runs: killed, over an event loop, with a program's own model."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from heal_bot import api, wiring
from heal_bot.core import bundle, settings
from heal_bot.core.errors import SandboxError, UsageError
from heal_bot.core.events import Event, Run, Underway
from heal_bot.core.model import Candidate, Cost
from heal_bot.core.outcome import OutcomeRecord
from heal_bot.ports import Brief, Recall
from heal_bot.ports.language_model import Message, Reply
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.wiring.proposers import CustomProposers, make_tiers
from tests.llm_clients.server import Scripted, fails, says, served

pytestmark = pytest.mark.slow
KEY = "sk-ant-loopback-0123456789abcdef"
BROKEN = 'def {name}(text):\n    """{said}"""\n    return text\n'
RIGHT = (
    '```python\n# {path}::{name}\ndef {name}(text):\n    """{said}"""\n    return {value}\n```\n'
)
PARTS = {
    "initials": ("The first letters of the words, in capitals.",
                 '"".join(word[0].upper() for word in text.split())'),
    "vowels": ("How often each vowel occurs, as a dict without zeros.",
               "{v: text.count(v) for v in 'aeiou' if v in text}"),
}  # fmt: skip
TESTS = {
    "initials": "assert initials('ada lovelace') == 'AL'\n    assert initials('x y z') == 'XYZ'",
    "vowels": "assert vowels('banana bread') == {'a': 4, 'e': 1}\n    assert vowels('') == {}",
}
ANSWERS = {
    f"words/{name}.py": RIGHT.format(path=f"words/{name}.py", name=name, said=said, value=value)
    for name, (said, value) in PARTS.items()
}


@pytest.fixture(scope="module")
def mode() -> str:
    try:
        with Sandbox.start("strict", slots=1):
            return "strict"
    except SandboxError:
        return "reduced"


@pytest.fixture
def server() -> Iterator[Scripted]:
    with served() as scripted:
        yield scripted


def _committed(folder: Path, files: Mapping[str, str]) -> Path:
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    for command in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-q", "-m", "x")):
        subprocess.run(["git", *command], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A project with two functions that are not there yet, each with its failing test."""
    files = {"pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
             "words/__init__.py": ""}  # fmt: skip
    for name, (said, _) in PARTS.items():
        files[f"words/{name}.py"] = BROKEN.format(name=name, said=said)
        files[f"tests/test_{name}.py"] = (
            f"from words.{name} import {name}\n\n\ndef test_{name}():\n    {TESTS[name]}\n"
        )
    return _committed(tmp_path / "repo", files)


def _command(repo: Path, out: Path, mode: str, *more: str) -> list[str]:
    return [sys.executable, "-I", "-m", "heal_bot", "heal", "--repo", str(repo), "--out", str(out),
            "--python", sys.executable, "--sandbox", mode, *more]  # fmt: skip


def _job(repo: Path, out: Path) -> wiring.HealJob:
    return wiring.HealJob(repo, out, python=Path(sys.executable))


def _environ(server: Scripted) -> dict[str, str]:
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "ANTHROPIC_API_KEY": KEY,
            "ANTHROPIC_BASE_URL": server.url}  # fmt: skip


@pytest.fixture
def left_behind() -> Iterator[dict[str, str]]:
    """Variables for a run that is killed and cannot clean up: a folder every user can reach."""
    cache = Path(tempfile.gettempdir()) / f"heal-bot-cache-{os.getuid()}"
    with tempfile.TemporaryDirectory(prefix="heal-bot-killed-") as folder:
        Path(folder).chmod(0o711)
        yield {"TMPDIR": folder, "HEAL_BOT_CACHE": str(cache)}


def test_a_killed_run_leaves_what_was_verified(
    repo: Path, server: Scripted, mode: str, tmp_path: Path, left_behind: dict[str, str]
) -> None:
    review = says("claude", '{"agrees": true}')
    server.plays(
        says("claude", ANSWERS["words/initials.py"]),
        review,
        says("claude", "word " * 20_000, drip=0.02),
    )
    out = tmp_path / "out"
    heal = subprocess.Popen(
        _command(repo, out, mode, "--proposers", "claude", "--quiet"),
        env={**_environ(server), **left_behind},
    )
    try:
        end = time.monotonic() + 240
        while not ((out / bundle.OUTCOME).exists() and len(server.requests) > 2):
            assert heal.poll() is None, "the run ended by itself"
            assert time.monotonic() < end, "nothing was verified in time"
            time.sleep(0.05)
    finally:
        os.kill(heal.pid, signal.SIGKILL)
        heal.wait(30)
    record = bundle.read(out)
    assert record.status == "partly_healed"
    assert record.patch is not None
    assert record.certificate is not None
    assert len(record.patch.fixed) == 1
    assert KEY not in "".join(p.read_text() for p in out.iterdir())
    applied = [sys.executable, "-I", "-m", "heal_bot", "apply", "--bundle", str(out)]
    subprocess.run(applied, cwd=repo, check=True, capture_output=True, timeout=120)
    passes = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *record.patch.fixed]
    subprocess.run(passes, cwd=repo, check=True, capture_output=True, timeout=120)
    kinds = [json.loads(line)["kind"] for line in (out / "events.jsonl").read_text().splitlines()]
    assert {"request", "usage", "candidate", "attempt", "confirmed"} <= set(kinds)


class Canned:
    """A program's own model: it answers what it was made with, else by the files it is shown."""

    provider, name, window, max_output = "own", "canned", 100_000, 8_000

    def __init__(self, *answers: str) -> None:
        self.answers, self.asked = list(answers), 0

    def price(self, input_tokens: int, output_tokens: int) -> float | None:
        return 0.0

    def ask(
        self,
        run: Run,
        system: str,
        messages: Sequence[Message],
        max_tokens: int,
        schema: Mapping[str, Any] | None = None,
    ) -> Reply:
        self.asked += 1
        text = '{"agrees": false, "question": "Why?"}'
        if not schema:
            told = "".join(message.text for message in messages)
            known = [answer for path, answer in ANSWERS.items() if f"{path}::" in told]
            text = self.answers.pop(0) if self.answers else "".join(known)
        return Reply(text, Cost(0.0, 10, 10), self.name)


def test_a_programs_own_model_heals_and_tells_events_to_a_loop(
    repo: Path, mode: str, tmp_path: Path
) -> None:
    model = Canned()
    chosen = settings.load({}, options={"sandbox": mode})

    async def collect() -> list[Event | OutcomeRecord]:
        job = _job(repo, tmp_path / "out")
        return [item async for item in api.events(job, chosen, CustomProposers(models=(model,)))]

    *told, record = asyncio.run(collect())
    assert isinstance(record, OutcomeRecord)
    assert record.status == "healed"
    assert "own" in {attempt.proposer for attempt in record.attempts}
    assert record.certificate is not None
    assert record.certificate.doubts[-1] == "canned read the patch and asks: Why?"
    # What is under way is told once a second at most, under the number of the event before it.
    sequence = [event.seq for event in told if not isinstance(event, Underway)]
    assert sequence == list(range(1, len(sequence) + 1))
    written = (tmp_path / "out" / "events.jsonl").read_text().splitlines()
    assert [json.loads(line)["seq"] for line in written] == sequence


class Curious:
    """A proposer that has nothing to say and remembers what it was told."""

    name, streams, notes = "curious", False, ()

    def __init__(self) -> None:
        self.briefs: list[Brief] = []

    def propose(self, run: Run, recall: Recall) -> Iterator[Candidate]:
        self.briefs.append(recall())
        yield from ()

    def spent(self) -> Cost:
        return Cost()


def test_what_a_model_looked_at_is_in_the_log_of_attempts(
    repo: Path, mode: str, tmp_path: Path
) -> None:
    asked = {"looks": [{"tool": "tests"}, {"tool": "search", "text": "def vowels"}]}
    chosen = settings.load({}, options={"sandbox": mode, "proposers": ()})
    curious = Curious()
    own = CustomProposers(models=(Canned(json.dumps(asked)),), proposers=(curious,))
    record = api.heal(_job(repo, tmp_path / "out"), chosen, own=own)
    assert record.status == "healed"
    (found,) = (one for one in record.attempts if "look: " in one.rationale)
    told = found.rationale
    assert found.reason == ""
    assert "look: tests tests/test_" in told
    assert "FAILURES" in told
    assert "words/vowels.py:1:> def vowels(text):\n" in told
    assert "1 lines match" in told
    assert all(brief.spectrum is not None for brief in curious.briefs)


CIRCLE = {
    "pyproject.toml": '[tool.pytest.ini_options]\npythonpath = ["."]\n',
    "shop/__init__.py": "",
    "shop/stock.py": "from shop.money import price\n\nLIMIT = 3\n\n\n"
    "def show(value):\n    return price(value)\n",
    "shop/money.py": "from shop.stock import LIMIT\n\n\n"
    "def price(value):\n    return min(value, LIMIT)\n",
    "tests/test_shop.py": "from shop.stock import show\n\n\n"
    "def test_show():\n    assert (show(2), show(5)) == (2, 3)\n",
}
MOVED = """```python
# shop/money.py::lines 1-5
def price(value):
    from shop.stock import LIMIT

    return min(value, LIMIT)
```
"""
TWICE = """```python
# shop/stock.py::lines 1-7
from shop.money import price

LIMIT = 3


def show(value):
    return price(value)
```
"""


@pytest.mark.parametrize(
    ("changed", "answer"),
    [
        pytest.param({}, MOVED, id="a circle"),
        pytest.param(
            {
                "shop/money.py": "def price(value):\n    return min(value, 3)\n",
                "shop/stock.py": CIRCLE["shop/stock.py"]
                .replace("LIMIT = 3", "LIMIT = = [(3")
                .replace("show(value):", "show(value"),
            },
            TWICE,
            id="errors in two lines",
        ),
    ],
)
def test_a_model_mends_source_that_the_rules_cannot(
    changed: dict[str, str], answer: str, mode: str, tmp_path: Path
) -> None:
    project = _committed(tmp_path / "repo", {**CIRCLE, **changed})
    chosen = settings.load({}, options={"sandbox": mode})
    model = Canned("I do not know.", answer)
    record = api.heal(_job(project, tmp_path / "out"), chosen, own=CustomProposers(models=(model,)))
    assert record.status == "healed", record.model_dump_json(indent=1)
    assert record.patch is not None
    assert record.patch.fixed == ("tests/test_shop.py",)
    told = [attempt.detail for attempt in record.attempts if attempt.proposer == "own"]
    assert "no block begins with # shop/" in told[0]


def test_a_cancelled_run_ends_with_a_bundle(repo: Path, mode: str, tmp_path: Path) -> None:
    chosen = settings.load({}, options={"sandbox": mode})
    out = tmp_path / "out"

    async def cancel() -> None:
        begun = asyncio.Event()
        work = asyncio.ensure_future(api.aheal(_job(repo, out), chosen, lambda event: begun.set()))
        await begun.wait()
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(cancel())
    assert bundle.read(out).patch is None


def test_a_key_that_a_server_echoes_appears_nowhere(
    repo: Path, server: Scripted, mode: str, tmp_path: Path
) -> None:
    server.plays(fails("claude", 401, "authentication_error", f"bad key {KEY} in {KEY[:20]}"))
    out = tmp_path / "out"
    done = subprocess.run(
        _command(repo, out, mode, "--proposers", "claude", "--json"),
        env=_environ(server), capture_output=True, text=True, timeout=240, check=True,
    )  # fmt: skip
    assert server.requests[0][1]["authorization"] == f"Bearer {KEY}"
    said = done.stdout + done.stderr + "".join(p.read_text() for p in out.iterdir())
    assert KEY not in said
    assert "check the key" in said


PACKAGE = {
    "ownmodel.py": "class Made:\n    provider, name = 'own', 'installed'\n",
    "ownmodel-1.dist-info/METADATA": "Metadata-Version: 2.1\nName: ownmodel\nVersion: 1\n",
    "ownmodel-1.dist-info/entry_points.txt": "[heal_bot.llm_clients]\nmine = ownmodel:Made\n",
}


def _installed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "ownmodel", raising=False)
    for name, text in PACKAGE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(str(folder))


def test_an_installed_model_is_used_when_a_person_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _installed(tmp_path / "site", monkeypatch)
    chosen = settings.load({}, options={"proposers": ("rules", "entry:mine")})
    made = make_tiers(chosen, tmp_path / "repo", None, CustomProposers())
    assert [proposer.name for proposer in made.proposers] == ["rules", "own"]
    with pytest.raises(UsageError, match="known: mine"):
        make_tiers(
            settings.load({}, options={"proposers": ("entry:other",)}),
            tmp_path,
            None,
            CustomProposers(),
        )


def test_a_model_that_lies_in_the_repository_is_never_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PACKAGE, "ownmodel.py", "raise SystemExit('imported')")
    _installed(tmp_path / "repo" / "src", monkeypatch)
    chosen = settings.load({}, options={"proposers": ("entry:mine",)})
    with pytest.raises(UsageError, match="never trusted"):
        make_tiers(chosen, tmp_path / "repo", None, CustomProposers())


def test_the_repositorys_file_can_name_no_installed_model() -> None:
    with pytest.raises(UsageError, match="only by a person"):
        settings.load({}, b"proposers: [rules, 'entry:mine']")


def test_the_benchmark_of_models_sets_a_single_shot_beside_the_whole(
    server: Scripted, mode: str
) -> None:
    wrong = "```python\ndef initials(name):\n    return name[:2]\n```"
    right = (
        "```python\n# tool/initials.py::initials\ndef initials(name):\n"
        '    """First letters of words as capitals; hyphens part words."""\n'
        "    return ''.join(w[0].upper() for w in name.replace('-', ' ').split())\n```"
    )
    review = '{"agrees": true}'
    server.plays(*(says("claude", text) for text in (wrong, wrong, right, review)))
    argv = [sys.executable, "-m", "benchmarks", "llm", "--only", "initials", "--json",
            "--sandbox", mode, "--base-url", server.url]  # fmt: skip
    done = subprocess.run(argv, env=_environ(server), capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["complete"]
    ways = {way: (found[way]["plausible"], found[way]["right"], found[way]["calls"])
            for way in ("naive", "heal_bot")}  # fmt: skip
    assert ways == {"naive": (0, 0, 1), "heal_bot": (1, 1, 3)}
    assert found["heal_bot"]["usd"] > 0
