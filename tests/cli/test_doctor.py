from __future__ import annotations

import pytest

from heal_bot.cli.doctor import describe_layer


@pytest.mark.parametrize(
    ("layer", "said"),
    [
        ("preflight 10/10", "10 of 10 escape attempts blocked"),
        ("preflight 9/10", "9 of 10 escape attempts blocked"),
        ("landlock-abi6", "allows only the scratch folders and the system's own files"),
    ],
)
def test_a_layer_says_what_it_does(layer: str, said: str) -> None:
    assert describe_layer(layer)[1:] == ("yes", said)
