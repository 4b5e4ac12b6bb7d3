"""What a lock file, a package, an index or a tool can reach: each case of the benchmark alone."""

from __future__ import annotations

import pytest

from benchmarks import _supply_chain

CASES = _supply_chain.list_cases()


@pytest.fixture(scope="module")
def world(sandbox):
    with _supply_chain.open_world(sandbox) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_it_reaches_nothing_outside(world, case) -> None:
    assert _supply_chain.try_case(world, case) == []


@pytest.mark.long
def test_a_trap_that_is_asked_and_a_password_that_is_told_are_seen(world) -> None:
    world.trap.asked.append(("/list", ""))
    world.index.asked.append(("/admin.html", ""))
    world.said.append(f"ada:{_supply_chain.PASSWORD}")
    (world.folder / "outside").write_text("x")
    assert len(world.reached()) == 4
    assert world.reached() == []


def test_there_are_cases_of_every_kind() -> None:
    kinds = {case.id.partition(":")[0] for case in CASES}
    assert len(CASES) >= 70
    assert {"uv.lock", "package", "wheel", "archive", "index", "tool"} <= kinds
