"""The errors heal-bot raises: one root, an exit code each, one line for a person."""

from __future__ import annotations

import errno
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from heal_bot.core.statuses import SuiteEnd

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})


class HealBotError(Exception):
    """Root of all expected errors; the message says what failed, with which value, what to do."""

    exit_code = 1


class UsageError(HealBotError):
    """What was asked cannot be done as asked: a wrong path, option, SHA or report."""

    exit_code = 2


class SandboxError(HealBotError):
    """The sandbox could not be set up as required; nothing was run."""


class BudgetError(HealBotError):
    """The time given ended what was needed."""


class ProvisionError(HealBotError):
    """The target's interpreter, its environment or a folder for it could not be made usable."""


class UncollectedError(ProvisionError):
    """pytest ended before it had collected the tests."""


@contextmanager
def limit_errors(left: Callable[[], float]) -> Iterator[None]:
    """Whatever fails inside when no time is `left` is a BudgetError; what was asked stays wrong."""
    try:
        yield
    except (BudgetError, UsageError):
        raise
    except HealBotError as error:
        if left() > 0:
            raise
        raise BudgetError(f"the time limit was reached: {error}; raise --max-minutes") from error


def explain_uncollected(ended: SuiteEnd, detail: str) -> HealBotError:
    """Why no test is known: a limit, pytest or what it loads, or the sandbox."""
    if ended == SuiteEnd.TIMEOUT:
        return BudgetError(f"the tests were not collected in time: {detail}; raise --max-minutes")
    if ended == SuiteEnd.CRASHED:
        return UncollectedError(
            f"pytest ended before it had collected the tests: {detail}; make `python -m pytest`"
            " run in their environment, or name another pytest with setup, or python-version"
        )
    if ended == SuiteEnd.KILLED:
        return ProvisionError(
            f"the tests reached a limit of the sandbox before pytest had collected them: {detail};"
            " docs/limits.md lists what a run may use"
        )
    return SandboxError(f"the tests cannot be collected: {ended}: {detail}")


def no_room(error: OSError) -> ProvisionError | None:
    """What a full or read-only disk is for a person; None for any other failure."""
    if error.errno not in _NO_ROOM:
        return None
    place = error.filename or "a disk"
    return ProvisionError(
        f"{place} cannot be written ({error.strerror}): free space there, mount it writable, or "
        "name other folders with TMPDIR, HEAL_BOT_SCRATCH and HEAL_BOT_CACHE"
    )


class WorkspaceError(HealBotError):
    """Git objects or files could not be read or written."""


class ForgeError(HealBotError):
    """GitHub refused or failed a request."""


class ForgeForbiddenError(ForgeError):
    """The token, a setting or a branch rule does not allow this; asking again changes nothing."""


class ForgeNoDraftsError(ForgeError):
    """The plan of a private repository has no drafts."""


class LLMError(HealBotError):
    """A model call failed; `kind` says how and `retry_after` (seconds) when to come back.

    Kinds: rate_limit, over_tpm, overloaded, context_overflow, out_of_credit, auth, refusal,
    truncated, transient, bad_gateway, bad_request, gone, timeout, budget. `billed` are the
    (input, output) tokens the failed call was charged for, None where nobody can know.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        retry_after: float | None = None,
        billed: tuple[int, int] | None = (0, 0),
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after
        self.billed = billed
