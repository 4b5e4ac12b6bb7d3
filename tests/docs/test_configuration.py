"""docs/configuration.md names every setting, option, input, file key and variable as they are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from click import Command, Context

from heal_bot.action.action_context import INPUTS
from heal_bot.cli.command_group import cli
from heal_bot.cli.verbs import VERBS
from heal_bot.core import settings
from heal_bot.core.settings import Settings
from heal_bot.core.text import Secret

TEXT = (Path(__file__).parents[2] / "docs/configuration.md").read_text()
ROWS = {
    name: [cell.strip() for cell in rest.split("|")]
    for name, rest in re.findall(r"^\| `([a-z-]+)` \|(.*)\|$", TEXT, re.MULTILINE)
}
SETTINGS = {name.replace("_", "-"): name for name in Settings.model_fields}


def _options(verb: str) -> set[str]:
    command = cli.get_command(Context(cli), verb)
    assert isinstance(command, Command)
    return {
        option
        for p in command.params
        for option in p.opts
        if option.startswith("--") and not getattr(p, "hidden", False)
    }


def _section(title: str) -> str:
    return re.split(r"^## ", TEXT.partition(f"## {title}\n")[2], flags=re.MULTILINE)[0]


def test_the_table_has_a_row_for_each_setting_and_no_other() -> None:
    assert list(ROWS) == list(SETTINGS)


@pytest.mark.parametrize(("name", "field"), SETTINGS.items())
def test_a_row_says_where_its_setting_can_be_given(name: str, field: str) -> None:
    default, option, given, file, variables, meaning = ROWS[name]
    assert meaning
    assert (option == "yes") == (f"--{name}" in _options("heal"))
    assert (given == "yes") == (name in INPUTS)
    assert (file == "yes") == (field in settings._FROM_FILE)
    assert tuple(re.findall(r"`(\w+)`", variables)) == settings._FROM_ENVIRONMENT.get(field, ())
    real = Settings.model_fields[field].default
    if real and not isinstance(real, Secret):
        assert default == (f"{real:g}" if isinstance(real, int | float) else str(real))


def test_what_is_no_setting_is_listed_as_an_option_or_an_input() -> None:
    options = set(re.findall(r"`--([a-z-]+)`", _section("Only on the command line")))
    assert options - {"help"} == {o[2:] for o in _options("heal")} - set(SETTINGS)
    inputs = re.findall(r"`([a-z-]+)`", _section("Only as an input"))
    assert set(inputs) == set(INPUTS) - set(SETTINGS)


def test_the_example_of_the_file_is_accepted() -> None:
    example = re.search(r"```yaml\n(.*?)```", _section("`.heal-bot.yml`"), re.DOTALL)
    assert example is not None
    chosen = settings.load({}, example[1].encode())
    assert chosen.proposers == ("rules", "claude")
    assert chosen.max_usd == 0.5


def test_every_verb_is_in_the_readme() -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text()
    table = re.findall(r"^\| (`[a-z`, ]+) \| ", readme, re.MULTILINE)
    assert set(re.findall(r"`([a-z]+)`", " ".join(table))) >= set(VERBS)
