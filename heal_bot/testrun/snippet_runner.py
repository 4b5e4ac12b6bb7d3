"""A few lines of Python in a slot of the sandbox, for what they print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from heal_bot.core.model import Environment
from heal_bot.core.text import clip
from heal_bot.ports import Observed, Tree
from heal_bot.sandbox.job_spec import Limits
from heal_bot.testrun import scratch_dirs
from heal_bot.testrun.agent_process import Workbench

_OUTPUT = 1 << 20
_SHOWN = 6_000


def run_snippet(
    bench: Workbench,
    tree: Tree,
    env: Environment,
    code: str,
    seconds: float,
    left: Callable[[], float],
) -> Observed:
    """Run `code` in a folder of a fresh copy of the tree; output beyond the caps is cut."""
    # An argument can hold neither; what a model wrote may.
    code = code.replace("\0", "").encode("utf-8", "replace").decode()
    limits = Limits(wall=seconds, output_bytes=_OUTPUT, kept_bytes=2 * _SHOWN)
    with bench.sandbox.slot() as slot:
        scratch_dirs.fill_slot(slot, tree.root, left)
        job = bench.job(slot, env, (env.python, "-c", code), limits)
        ended = bench.sandbox.execute(replace(job, terminals=False), slot)
    return Observed(ended.how, ended.code, clip(ended.output.decode(errors="replace"), _SHOWN))
