"""TOML that takes the standard library long is refused before it is read."""

from __future__ import annotations

import time
import tomllib

import pytest

from heal_bot.core.toml import read_toml

LONG = 20_000


@pytest.mark.parametrize("part", ["a", '"a"', "'a'", '"\\""', '"a.b"', "a-1_"])
@pytest.mark.parametrize("dot", [".", " . ", "\t."])
@pytest.mark.parametrize(
    "line", ["{} = 1", "[{}]", "[[ {} ]]", "x = {{{} = 1}}", "x = {{b = 1,{} = 1}}"]
)
def test_a_key_of_many_parts_is_refused_at_once(line, dot, part) -> None:
    began = time.process_time()
    with pytest.raises(ValueError, match="a key has more than 10 parts"):
        read_toml(f"b = 1\n{line.format(dot.join([part] * LONG))}\n")
    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a = 1\n" * 1_000_000, "longer than 4 MiB"),
        (f"a = {'[' * 5_000}{']' * 5_000}", "nested too deep"),
        ("a = ", "Invalid value"),
    ],
)
def test_what_cannot_be_read_is_a_value_error(text, why) -> None:
    with pytest.raises(ValueError, match=why):
        read_toml(text)


@pytest.mark.parametrize(
    "text",
    [
        "[tool.hatch.envs.default.overrides.platform.windows.scripts]\na = 1\n",
        f"a = [{', '.join(['1.5'] * 200)}]",
        f'a = "{".".join("a" * 200)}"',
        f'[a]\nurl = "https://files.example/{".".join("a" * 200)}/x-1.0.0.tar.gz"',
        "a = '" + "\\" * 200 + "'",
    ],
)
def test_other_tables_are_those_of_the_standard_library(text) -> None:
    assert read_toml(text) == tomllib.loads(text)


@pytest.mark.parametrize("line", ['"\\', ' "\\', "a.", '"a".', "'\"", "a ", "a"])
def test_looking_for_long_keys_takes_no_time_itself(line) -> None:
    began = time.process_time()
    with pytest.raises(ValueError, match=r"line 1|end of document|more than"):
        read_toml(line * (1_000_000 // len(line)))
    assert time.process_time() - began < 2
