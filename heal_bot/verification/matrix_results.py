"""The legs of a matrix a failure was reported in, and what a run on one machine says of them."""

from __future__ import annotations

from dataclasses import replace

from heal_bot.core.model import ELSEWHERE, Baseline, Environment, Failure, Leg, Reproduced
from heal_bot.core.statuses import FailureStatus
from heal_bot.core.text import short_version

_SHOWN = {FailureStatus.CONFIRMED: "failing too", FailureStatus.FLAKY: "failing sometimes",
          FailureStatus.ENVIRONMENT: "failing too"}  # fmt: skip


def mark_legs(failure: Failure, found: Reproduced, env: Environment) -> Reproduced:
    """The same in the light of the legs the failure was reported in.

    What failed on other systems alone is not reproduced, even if it is red here: no run here
    could confirm a repair where it failed.
    """
    seen = replace(found.failure, legs=failure.legs)
    if failure.legs and all(leg.system in ELSEWHERE for leg in failure.legs):
        here = f"Linux shows it {_SHOWN.get(found.status, 'passing')}"
        reason = f"{failure.reason}; {here}, but a repair could not be confirmed there"
        passes = found.status == FailureStatus.NOT_REPRODUCED
        places = _differences(failure, env) if passes else ()
        return Reproduced(replace(seen, reason=reason, failed_on=places), FailureStatus.EXPLAINED)
    # A leg without a Python may have run the one that is here.
    pythons, own = {leg.python for leg in failure.legs}, {"", short_version(env.version)}
    if found.status == FailureStatus.NOT_REPRODUCED and pythons and not pythons & own:
        told = f"Python {' and '.join(sorted(pythons))}, here is {env.version}"
        reason = f"{seen.reason}; it was reported on {told}: python-version, where it is there"
        places = _differences(failure, env)
        return Reproduced(replace(seen, reason=reason, failed_on=places), FailureStatus.EXPLAINED)
    return replace(found, failure=seen)


def _differences(failure: Failure, env: Environment) -> tuple[str, ...]:
    """The systems and Pythons of its legs that are not those here."""
    return tuple(sorted({leg.differs(env.version) for leg in failure.legs} - {""}))


def list_unconfirmed(baseline: Baseline, env: Environment) -> tuple[str, ...]:
    """What could not be confirmed for want of another Python: one remark per Linux leg."""
    missing: dict[Leg, list[str]] = {}
    own = {"", short_version(env.version)}
    for failure in baseline.confirmed:
        for leg in failure.legs:
            if leg.system not in ELSEWHERE and leg.python not in own:
                missing.setdefault(leg, []).append(failure.test)
    return tuple(
        f"not confirmed on Python {leg.python} ({leg.name}), where"
        f" {tests[0] if len(tests) == 1 else f'{len(tests)} of the tests'} failed:"
        f" only Python {env.version} is provisioned here"
        for leg, tests in missing.items()
    )
