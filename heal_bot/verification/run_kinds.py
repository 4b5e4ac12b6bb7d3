"""The runs of one test by their kind, and what tells them apart where they came out differently."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Trial:
    """Whether a test was red: in the suite, by itself, shuffled under other hash seeds.

    Runs that did not come to the test are left out. `again` is another run of the whole suite, in
    the same order or (`reordered`) in a random one. `lost` tells that no later run collected it.
    The suite and the first run alone observe lines, no other run does. When the runs were `apart`,
    those after the first alone and the first shuffled had none of our own beside them.
    """

    suite: bool
    alone: tuple[bool, ...]
    shuffled: tuple[bool, ...]
    again: bool | None = None
    reordered: bool = False
    lost: bool = False
    apart: bool = False

    @property
    def all(self) -> tuple[bool, ...]:
        """Every run there was."""
        more = () if self.again is None else (self.again,)
        return (self.suite, *self.alone, *self.shuffled, *more)

    @property
    def rate(self) -> float:
        """The share of red runs."""
        return sum(self.all) / len(self.all)

    @property
    def quiet(self) -> tuple[bool, ...]:
        """The runs that had none of our own beside them."""
        return (*self.alone[1:], *self.shuffled[1:]) if self.apart else ()


def explain_by_order(trial: Trial) -> str:
    """Why the order of tests decides; '' when chance does."""
    apart = set(trial.alone + trial.shuffled)
    if trial.reordered:
        return "it passes in the given order and fails in a random one: another test disturbs it"
    if apart == {not trial.suite} and trial.again in {None, trial.suite}:
        return (
            "it fails in the suite and passes by itself: another test disturbs it"
            if trial.suite
            else "it passes in the suite and fails by itself: it needs another test"
        )
    return ""


def explain_by_observation(trial: Trial) -> str:
    """Why observing lines decides; '' when it does not."""
    again = () if trial.again is None else (trial.again,)
    others = {*trial.alone[1:], *trial.shuffled, *again}
    if len(trial.alone) < 2 or {trial.suite, trial.alone[0]} != {trial.suite}:
        return ""
    if others != {not trial.suite}:
        return ""
    return (
        "it fails only while the lines it executes are observed"
        if trial.suite
        else "it passes only while the lines it executes are observed"
    )


def explain_by_load(trial: Trial) -> str:
    """Why our own other runs decide; '' when they do not."""
    beside = (trial.suite, *trial.alone[:1])
    # What is red in the first random order alone may be so for that order, or its hash seed.
    if not trial.quiet or any((*trial.quiet, *trial.shuffled)):
        return ""
    return (
        f"it failed in {sum(beside)} of {len(beside)} runs with others beside it, and in none of"
        f" {len(trial.quiet)} that had the machine for themselves: it depends on load or chance"
    )


def explain_by_chance(trial: Trial) -> str:
    """What is known where nothing but chance, or the seed of string hashes, decides."""
    kinds = "suite, by itself, in random order"
    shown = f"it failed in {sum(trial.all)} of {len(trial.all)} runs ({kinds})"
    if len({trial.suite, *trial.alone}) == 1 and trial.suite not in trial.shuffled:
        return (
            f"{shown}: in every one with one hash seed, in none with others"
            if trial.suite
            else (f"{shown}: in none with one hash seed, in every one with others")
        )
    return shown
