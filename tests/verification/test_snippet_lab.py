"""Second opinions, with a critic of our own behind the port."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from heal_bot.core.events import Run
from heal_bot.core.model import Certificate, Cluster, Confirmed, Edit, Opinion, Patch, SuiteTotals
from heal_bot.ports import Brief, Lab, Observed
from heal_bot.verification.snippet_lab import Panel
from tests.fakes import ENVIRONMENT, ISOLATION, SHA, FolderTree, quiet_run


class NoLab:
    """A lab that is not used."""

    def snippet(self, code: str, edits: Sequence[Edit] = ()) -> Observed:
        raise AssertionError(code)


@dataclass
class Asking:
    """A critic with the same question about every patch."""

    read: list[Patch] = field(default_factory=list)

    def opinion(self, run: Run, confirmed: Confirmed, brief: Brief, lab: Lab) -> Opinion:
        self.read.append(confirmed.patch)
        return Opinion(questions=("why?",))


def test_what_was_heard_is_not_reviewed_and_paid_for_again(tmp_path: Path) -> None:
    totals = SuiteTotals(True, 1, 0, 0, 0.1)
    certificate = Certificate(SHA, "", "", ENVIRONMENT, ISOLATION, 2, 2, (), totals, True)
    unheard = Confirmed(Patch(SHA, (), "", (), ("t",), ()), certificate)
    critic, run = Asking(), quiet_run()[0]
    panel = Panel(run, (critic,), Brief(Cluster("c", (), ()), FolderTree(tmp_path)), NoLab())
    heard = panel.heard(unheard)
    assert isinstance(heard, Confirmed)
    assert heard.objections == ("why?",)
    assert (panel.refusal(heard), len(critic.read)) == ("", 1)
    assert (panel.refusal(unheard), len(critic.read)) == ("", 2)
