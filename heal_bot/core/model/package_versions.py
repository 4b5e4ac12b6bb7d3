"""What changed beneath the code: packages in other versions, and the tests that fail for them."""

from __future__ import annotations

from dataclasses import dataclass

# How many packages of a set a sentence names.
NAMED = 6


@dataclass(frozen=True, slots=True)
class Bump:
    """A package with its version at the last good state, and today's: '' where it is gone.

    `needs` are those that have to change with it, for the versions that they ask of each other.
    """

    name: str
    good: str
    bad: str
    needs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PackageChange:
    """Tests that fail with today's packages and pass where `bumps` alone are the good ones.

    With `single` the first is to blame, and the others are what it needs; else no package of them
    is enough by itself. `runs` is how many cold runs have shown it.
    """

    bumps: tuple[Bump, ...]
    tests: tuple[str, ...]
    runs: int
    single: bool = True

    @property
    def moved(self) -> str:
        """The packages with both versions, and which of them is to blame."""
        more = f" and {len(self.bumps) - NAMED} more" if len(self.bumps) > NAMED else ""
        first, *others = (
            f"`{b.name} {b.good} → {b.bad or 'not installed'}`" for b in self.bumps[:NAMED]
        )
        if not self.single:
            return ", ".join((first, *others)) + more
        return f"{first} (with {', '.join(others)}{more}, which it needs)" if others else first

    @property
    def said(self) -> str:
        """All of it in one sentence, without a full stop."""
        tests, pass_ = "this test", "it passes"
        if len(self.tests) > 1:
            tests, pass_ = f"these {len(self.tests)} tests", "they pass"
        if self.single:
            return f"{self.moved} broke {tests}; {pass_} with {self.bumps[0].good}"
        return f"{self.moved} broke {tests} together; {pass_} with the former versions"
