"""Suites that make a verification hard, healed for real: each ends with a status and a reason."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from heal_bot import api, wiring
from heal_bot.core import settings
from heal_bot.core.outcome import OutcomeRecord

CODE = "def total(net, tax):\n    return net - tax\n"
RED = (
    "from prices import total\n\n\ndef test_one():\n    assert total(2, 3) == 5\n\n\n"
    "def test_other():\n    assert total(7, 1) == 8\n\n\n"
    "def test_third():\n    assert total(9, 4) == 13\n"
)
REWRITES = (
    "\n\ndef test_none():\n    import pathlib\n"
    "    pathlib.Path(__file__).write_text('def test_one(): pass\\n')\n"
    "    assert total(4, 0) == 4\n"
)
MOVES = (
    "import random, pytest\n\n\n@pytest.mark.parametrize('n', [random.randrange(10**9)])\n"
    "def test_moving(n):\n    assert n {}\n"
)
SERVICE = (
    "import socket\n\n\ndef test_it():\n    socket.create_connection(('localhost', 5432), 1)\n"
)


def _healed(folder: Path, tests: str) -> OutcomeRecord:
    """What a heal without a report says of a repository with these tests."""
    repo = folder / "repo"
    repo.mkdir()
    (repo / "prices.py").write_text(CODE)
    (repo / "test_prices.py").write_text(tests)
    who = ("-c", "user.name=t", "-c", "user.email=t@localhost")
    for words in (("init", "-q"), ("add", "-A"), ("commit", "-qm", "First")):
        subprocess.run(["git", *who, *words], cwd=repo, check=True)
    job = wiring.HealJob(repo=repo, out=folder / "out", python=Path(sys.executable))
    return api.heal(job, settings.from_process(None, {"proposers": "rules"}))


@pytest.mark.long
@pytest.mark.parametrize(
    ("tests", "status", "reason"),
    [
        pytest.param(RED, "healed", "3 of 3", id="red everywhere"),
        pytest.param(RED + REWRITES, "healed", "3 of 3", id="rewrites its own file"),
        pytest.param("# None yet.\n", "nothing_to_do", "pytest collects no test", id="no test"),
        pytest.param(SERVICE, "explained", "needs a service or the network", id="needs a service"),
        pytest.param(MOVES.format("< 0"), "stale_test", "nothing that a patch", id="moves, red"),
        pytest.param(RED + MOVES.format(">= 0"), "healed", "3 of 3", id="moves beside the red"),
    ],
)
def test_a_suite_that_is_hard_to_verify_ends_with_a_reason_to_act_on(
    tmp_path: Path, tests: str, status: str, reason: str
) -> None:
    record = _healed(tmp_path, tests)
    assert record.status == status
    assert reason in record.reason
    assert (tmp_path / "repo" / "test_prices.py").read_text() == tests
    if record.certificate is not None:
        assert record.certificate.tests_unchanged
        assert record.certificate.full_suite.complete
