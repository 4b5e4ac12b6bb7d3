"""Every attack on the way back: it works on a naive reader and fails on ours."""

from __future__ import annotations

import sys

import pytest

ATTACKS = sys.modules["channels"].ATTACKS


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.id)
def test_the_attack_works_on_a_naive_reader_and_not_on_ours(attack, tmp_path) -> None:
    for name in ("naive", "ours"):
        (tmp_path / name).mkdir()
    assert attack.naive(tmp_path / "naive")
    assert not attack.ours(tmp_path / "ours")
