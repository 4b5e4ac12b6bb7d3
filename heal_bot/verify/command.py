"""The command that people want to see succeed with the patch: it can veto and nothing else."""

from __future__ import annotations

from dataclasses import replace

from heal_bot.events import Run
from heal_bot.model import Confirmed, Environment, Verdict
from heal_bot.ports import Runner, Tree, Workspace
from heal_bot.text import one_line

GATE = "verify-command"
_SECONDS = 600.0
_PROGRAM = "import subprocess, sys; sys.exit(subprocess.run(['/bin/sh', '-c', {0!r}]).returncode)"


def held(
    run: Run,
    found: Confirmed | Verdict,
    command: str,
    tree: Tree,
    workspace: Workspace,
    env: Environment,
    runner: Runner,
) -> Confirmed | Verdict:
    """The confirmation with a gate for the command, or the `unconfirmed` verdict.

    It runs in the sandbox, at the root of a fresh copy of the patched tree. What it prints is
    foreign; that it succeeds proves nothing, since the code under test may decide that.
    """
    if isinstance(found, Verdict) or not command:
        return found
    fresh = workspace.patched(run, tree, found.patch.files)
    code = _PROGRAM.format(command)
    seen = runner.snippet(run, fresh, env, code, seconds=max(1.0, min(_SECONDS, run.left())))
    if (seen.how, seen.code) != ("exited", 0):
        how = f"exit {seen.code}" if seen.how == "exited" else seen.how
        last = one_line((seen.output.strip().splitlines() or ["it printed nothing"])[-1])
        return Verdict("unconfirmed", detail=f"{GATE} {one_line(command, 80)}: {how}: {last}")
    gates = (*found.certificate.gates, (GATE, f"{one_line(command, 80)}: exit 0"))
    return replace(found, certificate=replace(found.certificate, gates=gates))
