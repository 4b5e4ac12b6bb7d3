"""One sandbox for all tests, and what became of the attacks in it and outside."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from heal_bot.sandbox.job_spec import Job, JobResult, Limits
from heal_bot.sandbox.sandbox_client import Sandbox, Slot, child_env

_SPEC = importlib.util.spec_from_file_location("world", Path(__file__).parent / "world.py")
assert _SPEC is not None
assert _SPEC.loader is not None
attacked = importlib.util.module_from_spec(_SPEC)
sys.modules["world"] = attacked
_SPEC.loader.exec_module(attacked)
attacked.load("bombs")
attacked.load("channels")
attacked.load("engines")
attacked.load("whispers")


@pytest.fixture
def slot(sandbox: Sandbox) -> Iterator[Slot]:
    with sandbox.slot() as taken:
        yield taken


@pytest.fixture
def run_code(sandbox: Sandbox, slot: Slot) -> Callable[..., JobResult]:
    """Run Python text in a slot."""

    def run(code: str, limits: Limits | None = None) -> JobResult:
        argv = (attacked.PYTHON, "-I", "-c", code)
        return sandbox.execute(
            Job(argv, child_env(slot), slot.repo, limits=limits or Limits(wall=20)), slot
        )

    return run


@pytest.fixture(scope="session")
def world() -> Iterator[dict[str, object]]:
    """Things to attack, for tests that build their own sandbox."""
    with attacked.facts() as described:
        yield described


@pytest.fixture(scope="session")
def table_of() -> Callable[[dict[str, object]], str]:
    """The harness's input for a world."""
    return attacked.given


@pytest.fixture(scope="session")
def sandboxed(sandbox: Sandbox) -> dict[str, str]:
    return attacked.run_inside(sandbox)


@pytest.fixture(scope="session")
def bare() -> dict[str, str]:
    return attacked.unsandboxed()


@pytest.fixture(scope="session")
def alone() -> dict[str, dict[str, str]]:
    return attacked.behind_one_layer()
