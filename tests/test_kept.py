"""A run that breaks after something was verified keeps it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from heal_bot import api, wiring
from heal_bot.core import bundle, settings
from heal_bot.core.errors import SandboxError
from heal_bot.core.events import Event, Noted, Run
from heal_bot.core.model import Candidate, Cost, Edit
from heal_bot.wiring.proposers import CustomProposers

pytestmark = pytest.mark.long

FILES = {
    "a.py": "def one():\n    return 2\n",
    "b.py": "def two():\n    raise KeyError('two')\n",
    "test_a.py": "from a import one\n\ndef test_one():\n    assert one() == 1\n",
    "test_b.py": "from b import two\n\ndef test_two():\n    assert two() == 2\n",
    "pytest.ini": "[pytest]\npythonpath = .\n",
}


class Breaking:
    """Repairs `one`, and finds the sandbox gone for anything else."""

    name, streams, notes = "own", False, ()

    def propose(self, run: Run, recall: Any) -> Iterator[Candidate]:
        target = recall().cluster.suspects[0].target
        if target.qualname != "one":
            raise SandboxError("no usable sandbox slot is left; start the run again")
        edit = Edit(target, "def one():\n    return 1\n")
        yield Candidate((edit,), self.name, "given")

    def spent(self) -> Cost:
        return Cost(usd=0.0)


def test_what_was_verified_before_the_sandbox_broke_is_the_result(tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    repo.mkdir()
    for name, text in FILES.items():
        (repo / name).write_text(text)
    who = ("-c", "user.name=t", "-c", "user.email=t@example.invalid")
    for command in (("init", "-q", "-b", "main"), ("add", "."), (*who, "commit", "-qm", "all")):
        subprocess.run(["git", *command], cwd=repo, check=True, capture_output=True)
    events: list[Event] = []
    job = wiring.HealJob(repo=repo, out=tmp_path / "out", python=Path(sys.executable))
    chosen = settings.load({}, options={"proposers": ("rules",)})
    own = CustomProposers(proposers=(Breaking(),), alone=True)
    record = api.heal(job, chosen, events.append, own=own)
    assert record.status == "partly_healed"
    assert record.patch is not None
    assert record.patch.fixed == ("test_a.py::test_one",)
    assert bundle.read(tmp_path / "out") == record
    said = [event.message for event in events if isinstance(event, Noted)]
    assert "no usable sandbox slot is left; start the run again" in said
