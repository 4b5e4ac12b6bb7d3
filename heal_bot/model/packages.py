"""What changed beneath the code: packages in other versions, and the tests that fail for them."""

from __future__ import annotations

from dataclasses import dataclass


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
    def said(self) -> str:
        """All of it in one sentence, without a full stop."""
        bumps = self.bumps[:1] if self.single else self.bumps
        moved = ", ".join(f"`{b.name} {b.good} → {b.bad or 'not installed'}`" for b in bumps)
        tests, pass_ = "this test", "it passes"
        if len(self.tests) > 1:
            tests, pass_ = f"these {len(self.tests)} tests", "they pass"
        if self.single:
            return f"{moved} broke {tests}; {pass_} with {bumps[0].good}"
        return f"{moved} broke {tests} together; {pass_} with the former versions"
