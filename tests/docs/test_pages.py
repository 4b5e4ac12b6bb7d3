"""Links lead somewhere, files that are named exist, and commands are ones the program knows."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
import yaml
from click import Command, Context

from benchmarks.__main__ import names
from heal_bot.action.action_context import INPUTS
from heal_bot.cli.command_group import cli
from heal_bot.cli.verbs import VERBS
from tests.docs.pages import PAGES, ROOT, Block, anchors, blocks, prose

_FILE = re.compile(
    r"`((?:heal_bot|tests|docs|examples|benchmarks|locks|\.github|\.ci)/[\w./-]+|[A-Za-z]+\.md)`"
)
_TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
# Made by a run, or a file of somebody else's repository.
_ELSEWHERE = {"pull_request.md", ".heal-bot.yml", "tests/requirements.txt"}


def _name(page: Path) -> str:
    return str(page.relative_to(ROOT))


def _lines(block: Block) -> list[str]:
    text = re.sub(r"\\\n\s*", " ", block.text)
    return [line.partition("  #")[0].strip() for line in text.splitlines()]


@pytest.mark.parametrize("page", PAGES, ids=_name)
def test_every_link_leads_to_a_file_and_a_heading(page: Path) -> None:
    broken = []
    for given in re.findall(r"\]\(([^)\s]+)\)", prose(page)):
        if given.startswith(("https://", "mailto:")):
            continue
        path, _, anchor = given.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(given)
    assert broken == []


@pytest.mark.parametrize("page", [p for p in PAGES if p.name != "CHANGELOG.md"], ids=_name)
def test_every_file_that_is_named_exists(page: Path) -> None:
    named = set(_FILE.findall(prose(page))) - _ELSEWHERE
    assert [n for n in named if not (ROOT / n).exists() and not (page.parent / n).exists()] == []


def test_every_page_of_docs_is_linked_from_the_readme_or_another_page() -> None:
    linked = {
        (page.parent / given.partition("#")[0]).resolve()
        for page in PAGES
        for given in re.findall(r"\]\(([^)\s]+)\)", page.read_text())
    }
    pages = {*(ROOT / "docs").glob("*.md")} - {ROOT / "docs/index.md"}
    assert [_name(page) for page in pages if page.resolve() not in linked] == []


def _commands() -> list[tuple[str, str]]:
    """Every call of heal-bot in a shell block or between backticks, and where it is."""
    found = [(line, str(b)) for b in blocks("sh", "console") for line in _lines(b)]
    for page in PAGES:
        spans = re.findall(r"`(heal-bot [a-z][^`]*)`", prose(page))
        found += [(span, _name(page)) for span in spans]
    called = [(re.search(r"(?:^|[ ;/])heal-bot ([a-z]+ .*|[a-z]+)$", c), w) for c, w in found]
    return [(match[1].partition("&&")[0], where) for match, where in called if match]


def test_every_call_of_heal_bot_names_a_verb_and_options_it_has() -> None:
    wrong = []
    for call, where in _commands():
        verb, *rest = shlex.split(call.replace("'", ""))
        if verb not in VERBS:
            wrong.append((where, call))
            continue
        command = cli.get_command(Context(cli), verb)
        assert isinstance(command, Command)
        known = {option for parameter in command.params for option in parameter.opts} | {"--help"}
        wrong += [
            (where, call) for w in rest if w.startswith("--") and w.partition("=")[0] not in known
        ]
    assert wrong == []
    assert len(_commands()) > 20


def test_every_make_target_and_benchmark_that_is_named_exists() -> None:
    for page in PAGES:
        text = page.read_text()
        assert set(re.findall(r"`make ([a-z-]+)`", text)) <= _TARGETS, page
        named = set(re.findall(r"python -m benchmarks ([a-z_]+)", text)) - {"the"}
        assert named <= {*names()}, page


@pytest.mark.parametrize("block", blocks("yaml", "yml"), ids=str)
def test_yaml_parses_and_hands_the_action_inputs_it_has(block: Block) -> None:
    data = yaml.safe_load(block.text)
    for job in data.get("jobs", {}).values():
        for step in job.get("steps", ()):
            if str(step.get("uses", "")).startswith("heal-bot/heal-bot@"):
                assert set(step.get("with", {})) <= INPUTS


def test_the_readme_has_at_most_200_lines() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 200


def test_the_way_of_a_failing_test_names_modules_that_exist() -> None:
    text = (ROOT / "docs/architecture.md").read_text()
    named = set(re.findall(r"`([a-z_]+(?:/[a-z_]+)*\.py)`", text))
    assert named
    assert [
        n for n in named if not (ROOT / "heal_bot" / n).exists() and not (ROOT / n).exists()
    ] == []
