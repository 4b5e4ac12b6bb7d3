"""Every attack of the table: refused inside, shown to work outside, and stopped by its layers."""

from __future__ import annotations

import os
import sys

import pytest

ATTACKS = sys.modules["attacks"].ATTACKS
LAYERED = [
    pytest.param(attack, layer, id=f"{attack.id}-{layer}")
    for attack in ATTACKS
    for layer in attack.layers
]
# How a kernel built without a feature says no.
ABSENT = ("not implemented", "not supported")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="the bare runs need root's powers")


def by_id(attack) -> str:
    return attack.id


@pytest.mark.parametrize("attack", ATTACKS, ids=by_id)
def test_the_attack_ends_in_the_sandbox_as_the_table_says(attack, sandboxed) -> None:
    outcome = sandboxed[attack.id]
    assert (outcome == "ok") == bool(attack.allowed), outcome


@needs_root
@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS, ids=by_id)
def test_the_attack_works_without_the_sandbox(attack, bare) -> None:
    outcome = bare[attack.id]
    if outcome != "ok" and (attack.absent or any(sign in outcome for sign in ABSENT)):
        pytest.skip(f"nothing to attack here: {attack.absent or outcome}")
    assert outcome == "ok"


@needs_root
@pytest.mark.slow
@pytest.mark.parametrize(("attack", "layer"), LAYERED)
def test_the_layer_stops_the_attack_alone(attack, layer, alone) -> None:
    assert alone[layer][attack.id] != "ok"
