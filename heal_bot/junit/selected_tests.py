"""What a request and its reports ask for together: which tests are to be healed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from heal_bot.core.errors import UsageError
from heal_bot.core.events import Run
from heal_bot.core.model import Collection, Failure, HealRequest, Report, stable_test_ids
from heal_bot.junit import reported_tests
from heal_bot.junit.reported_tests import Resolved
from heal_bot.ports import Tree

_NAMED = "named in the request"


def guess_meant(request: HealRequest, report: Report, tree: Tree) -> tuple[Failure, ...]:
    """What the report seems to name, before pytest has said which tests there are."""
    found = reported_tests.guess_failures(report, tree.paths(), tree.read)
    return tuple(one for one in found if not request.only or _is_meant(one.test, request.only))


def select_wanted(
    run: Run,
    request: HealRequest,
    report: Report,
    tree: Tree,
    collection: Collection,
) -> Resolved:
    """The failing tests as runnable ids; without a report those that the request names.

    A report without failures that is not whole is no proof: it counts as none.
    """
    only = tuple(stable_test_ids.here(test, collection.tests) for test in request.only)
    named = tuple(Failure(test, "", "", reason=_NAMED) for test in only)
    if not request.reports:
        return Resolved(named, whole=not named)
    try:
        resolved = reported_tests.resolve(run, report, collection, tree.paths(), tree.read)
    except UsageError as error:
        if not request.other_command:
            raise
        resolved = Resolved((), nothing=str(error))
    if resolved.nothing and request.other_command and reported_tests.is_red(report):
        run.warn("intake", f"{resolved.nothing}; what is red in the test-command here is healed")
        return Resolved(named, whole=not named)
    if resolved.whole:
        doubt = reported_tests.doubt_green(report)
        run.warn("intake", f"the report is {doubt}: the tests are run to see what fails")
        return replace(resolved, failures=named or resolved.failures, whole=not named)
    if not only or resolved.nothing:
        return resolved
    found = tuple(f for f in resolved.failures if _is_meant(f.test, only))
    if not found:
        raise UsageError(
            f"--only {only[0]}: the report has no such failing test;"
            f" it has {resolved.failures[0].test} among others"
        )
    return replace(resolved, failures=found)


def _is_meant(test: str, only: Sequence[str]) -> bool:
    """Whether a node id is, or lies below, one of the names."""
    return any(test == name or test.startswith((f"{name}::", f"{name}[")) for name in only)
