"""What each mode demands, and that nothing about it can be mistyped."""

from __future__ import annotations

import pytest

from heal_bot.sandbox.job_spec import Job, Limits, job_from_wire, job_to_wire
from heal_bot.sandbox.landlock import Layers
from heal_bot.sandbox.seccomp import compile_filter

FULL = {"landlock": 7, "landlock_reason": "", "seccomp_reason": "", "uid_reason": ""}


@pytest.mark.parametrize(
    ("change", "refused"),
    [
        ({}, ""),
        ({"landlock": 1}, ""),
        ({"uid_reason": "not root"}, ""),
        ({"landlock": 5, "uid_reason": "not root"}, "signal scoping"),
        ({"landlock": 0, "landlock_reason": "old kernel"}, "old kernel"),
        ({"seccomp_reason": "no library"}, "no library"),
    ],
)
def test_strict_refuses_what_does_not_hold(change, refused) -> None:
    layers = Layers(**{**FULL, "namespace": False, **change})
    assert refused in layers.refusal()
    assert bool(layers.refusal()) == bool(refused)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"uid_reason": "not root"}, "uid: not root"),
        ({"landlock": 0, "landlock_reason": "off"}, "landlock: off"),
        ({"landlock": 2}, "truncation"),
        ({"landlock": 5}, "signals"),
        ({"seccomp_reason": "gone"}, "seccomp: gone"),
    ],
)
def test_a_missing_layer_is_named_with_what_is_weaker(change, named) -> None:
    layers = Layers(**{**FULL, "namespace": False, **change})
    assert any(named in gap for gap in layers.missing())


def test_a_whole_machine_misses_nothing() -> None:
    assert Layers(**FULL, namespace=True).missing() == ()


def test_an_unknown_profile_raises_instead_of_opening_something() -> None:
    with pytest.raises(ValueError, match="tset"):
        compile_filter("tset")
    wire = job_to_wire(Job(("/bin/true",), {}, "/", limits=Limits()))
    with pytest.raises(ValueError, match="tset"):
        job_from_wire({**wire, "profile": "tset"}, ())


def test_profiles_differ_only_in_sockets() -> None:
    assert compile_filter("test") == compile_filter("setup")
    assert compile_filter("test") != compile_filter("loopback")
