"""A few lines of Python in a slot of the sandbox, for what they print."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from heal_bot.core.model import Environment
from heal_bot.core.text import clip
from heal_bot.ports import Observed, Tree
from heal_bot.sandbox.job_spec import Job, Limits, Profile
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.testrun import scratch_dirs

_OUTPUT = 1 << 20
_SHOWN = 6_000


def run_snippet(
    sandbox: Sandbox,
    tree: Tree,
    env: Environment,
    code: str,
    *,
    passes: Mapping[str, str],
    profile: Profile,
    seconds: float,
    left: Callable[[], float],
    below: str = "",
) -> Observed:
    """Run `code` in a folder of a fresh copy of the tree; output beyond the caps is cut."""
    # An argument can hold neither; what a model wrote may.
    code = code.replace("\0", "").encode("utf-8", "replace").decode()
    with sandbox.slot() as slot:
        scratch_dirs.fill_slot(slot, tree.root, left)
        job = Job(
            argv=(env.python, "-c", code),
            env=scratch_dirs.make_environment(slot, env, passes),
            cwd=slot.repo / below,
            read=tuple(map(Path, env.roots)),
            limits=Limits(
                wall=seconds, cpu=int(seconds) + 1, output_bytes=_OUTPUT, kept_bytes=2 * _SHOWN
            ),
            profile=profile,
        )
        ended = sandbox.execute(job, slot)
    return Observed(ended.how, ended.code, clip(ended.output.decode(errors="replace"), _SHOWN))
