"""The commands of people: one that runs the tests, and one that can veto and nothing else."""

from __future__ import annotations

from heal_bot.core.events import Run
from heal_bot.core.model import Cause, Confirmed, HealRequest, Verdict
from heal_bot.core.statuses import VerdictStatus
from heal_bot.core.text import one_line
from heal_bot.ports import Observed, RunContext

GATE = "verify-command"
TESTS = "test-command"
_SECONDS = 600.0
_PROGRAM = "import subprocess, sys; sys.exit(subprocess.run(['/bin/sh', '-c', {0!r}]).returncode)"


def run_commands(
    context: RunContext, found: Confirmed, *, request: HealRequest
) -> Confirmed | Verdict:
    """The confirmation with a gate for each command, or the `unconfirmed` verdict.

    The one that verifies runs in the sandbox, in a fresh copy of the patched tree. What it prints
    is foreign; that it succeeds proves nothing, since the code under test may decide that.
    """
    if request.other_command:
        found = _told(found, one_line(request.other_command, 80))
    command = request.verify_command
    if not command:
        return found
    run, fresh = context.run, context.patched(found.patch.files)
    code, seconds = _PROGRAM.format(command), max(1.0, min(_SECONDS, run.left()))
    seen = context.runner.snippet(run, fresh, context.env, code, seconds=seconds)
    if (seen.how, seen.code) != ("exited", 0):
        how = f"exit {seen.code}" if seen.how == "exited" else seen.how
        last = one_line((seen.output.strip().splitlines() or ["it printed nothing"])[-1])
        detail = f"{GATE} {one_line(command, 80)}: {how}: {last}"
        return Verdict(VerdictStatus.UNCONFIRMED, detail=detail, cause=_cause(run, seen))
    return found.with_gate(GATE, f"{one_line(command, 80)}: exit 0")


def _cause(run: Run, seen: Observed) -> Cause:
    """Why the command did not succeed: a shell ends with 126 or 127 where it does not start."""
    if seen.how == "exited":
        return Cause.ENVIRONMENT if seen.code in {126, 127} else Cause.CHANGE
    return Cause.BUDGET if run.over() else Cause.CHANGE


def _told(found: Confirmed, command: str) -> Confirmed:
    """The confirmation with the command that ran the tests, and what follows from that."""
    return found.with_gate(TESTS, f"{command}: ran the tests before and after").with_doubt(
        f"the tests ran by `{command}`: which of them passed is what its report or exit code says,"
        " and the code under test may decide that"
    )
