"""What a change of a family costs: fitted numbers, read as data.

`template_costs.json` is made by `python -m benchmarks fit` from the fixes in public histories, and
says from how many. Costs are natural logarithms: a change that costs 1 more is e times less likely.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

from pydantic import BaseModel, ConfigDict

from heal_bot.repair.templates.change_tiers import Tier


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Provenance(_Data):
    """Fixes, those that a change equals, searches, projects."""

    date: str
    fixes: int
    equalled: int
    searches: int
    projects: int


class TemplateCosts(_Data):
    """The cost of each family's usual changes, and what each tier adds."""

    families: dict[str, float]
    steps: tuple[float, float, float]
    provenance: Provenance

    def compute_cost(self, family: str, tier: Tier) -> float:
        """The cost of a change; a family that was never fitted comes with the dearest one."""
        known = self.families.get(family)
        return (max(self.families.values()) if known is None else known) + self.steps[tier]


@lru_cache(maxsize=1)
def load_costs() -> TemplateCosts:
    """The costs that ship."""
    text = resources.files(__package__).joinpath("template_costs.json").read_text("utf-8")
    return TemplateCosts.model_validate_json(text)
