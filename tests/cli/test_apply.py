"""`heal-bot apply` writes what was verified, where nothing changed since, and nowhere else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from heal_bot.cli.apply import command
from heal_bot.core.errors import UsageError
from tests.github_server import records


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return records.write(tmp_path / "tree", records.FILES)


def apply(tmp_path: Path, tree: Path, values: dict[str, Any], *flags: str) -> str:
    """What the command prints; its own error is raised."""
    folder = tmp_path / "bundle"
    folder.mkdir(exist_ok=True)
    (folder / "outcome.json").write_text(json.dumps(values))
    arguments = ["--bundle", str(folder), "--repo", str(tree), *flags]
    result = CliRunner().invoke(command, arguments, standalone_mode=False)
    if result.exception:
        raise result.exception
    return result.output


def test_the_patch_lands_and_landing_twice_is_no_error(tmp_path: Path, tree: Path) -> None:
    path = tree / "shop/pricing.py"
    path.chmod(0o755)
    for came in ("changed", "already applied"):
        said = apply(tmp_path, tree, records.data("1" * 40)).splitlines()
        assert said[0] == f"{came}: shop/pricing.py"
        assert ("next: review it" in "".join(said)) is (came == "changed")
        assert path.read_text() == records.FIXED
    assert path.stat().st_mode & 0o777 == 0o755
    assert sorted(p.name for p in path.parent.iterdir()) == ["__init__.py", "pricing.py"]


def test_an_attempt_is_applied_from_its_diff_once(tmp_path: Path, tree: Path) -> None:
    for came in ("changed", "already applied"):
        said = apply(tmp_path, tree, records.data("1" * 40), "--attempt", "2").splitlines()
        assert said[0] == f"{came}: shop/pricing.py"
        assert (tree / "shop/pricing.py").read_text() == records.FIXED


@pytest.mark.parametrize(
    ("verdict", "warning"),
    [
        ("unconfirmed", "did not hold in the final check: no failing test passes"),
        ("unchanged", "fixes none: no failing test passes"),
        ("regression", "breaks a passing test: no failing test passes"),
    ],
)
def test_an_attempt_that_did_not_hold_is_applied_with_a_warning(
    tmp_path: Path, tree: Path, verdict: str, warning: str
) -> None:
    values = records.data("1" * 40)
    values["attempts"][0]["verdict"] = verdict
    said = apply(tmp_path, tree, values, "--attempt", "1").splitlines()
    assert said[0] == f"warning: attempt 1 {warning}"
    assert said[1] == "changed: shop/pricing.py"
    wanted = records.BROKEN.replace("prices[1:]", "prices[2:]")
    assert (tree / "shop/pricing.py").read_text() == wanted


def test_an_attempt_for_another_file_is_refused_before_anything_is_written(
    tmp_path: Path, tree: Path
) -> None:
    path = tree / "shop/pricing.py"
    path.write_text("MINE = 1\n")
    with pytest.raises(UsageError, match="attempt 1 cannot be applied: shop"):
        apply(tmp_path, tree, records.data("1" * 40), "--attempt", "1")
    assert path.read_text() == "MINE = 1\n"


@pytest.mark.parametrize("path", ["../tree/shop/pricing.py", "tests/test_pricing.py", ".git/x"])
def test_an_attempt_goes_nowhere_that_a_patch_may_not(
    tmp_path: Path, tree: Path, path: str
) -> None:
    values = records.data("1" * 40)
    values["attempts"][0]["diff"] = values["attempts"][0]["diff"].replace("shop/pricing.py", path)
    with pytest.raises(UsageError, match=r"never changed|not a path"):
        apply(tmp_path, tree, values, "--attempt", "1")


@pytest.mark.parametrize(
    ("pick", "wanted", "test"),
    [("A", records.FIXED, ["keep the answer as a test: assert total([]) == 0"]),
     ("b", records.OTHERWISE, [])],
)  # fmt: skip
def test_the_choice_that_is_picked_lands_with_the_test_that_holds_the_answer(
    tmp_path: Path, tree: Path, pick: str, wanted: str, test: list[str]
) -> None:
    said = apply(tmp_path, tree, records.asked("1" * 40), "--pick", pick).splitlines()
    assert said[0] == "changed: shop/pricing.py"
    assert said[2:] == test
    assert (tree / "shop/pricing.py").read_text() == wanted


@pytest.mark.parametrize(
    ("values", "flags", "message"),
    [
        (records.asked("1" * 40), ["--pick", "C"], "the choices of the bundle are A and B"),
        (records.data("1" * 40), ["--pick", "A"], "has no choices, the run ended as partly_healed"),
        (records.asked("1" * 40), ["--pick", "A", "--attempt", "2"], "give one of them"),
    ],
    ids=["no such choice", "no choices", "two changes"],
)  # fmt: skip
def test_a_pick_of_nothing_is_a_usage_error(
    tmp_path: Path, tree: Path, values: dict[str, Any], flags: list[str], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        apply(tmp_path, tree, values, *flags)
    assert (tree / "shop/pricing.py").read_text() == records.BROKEN


def test_a_choice_is_not_written_over_what_changed_since(tmp_path: Path, tree: Path) -> None:
    (tree / "shop/pricing.py").write_text("MINE = 1\n")
    with pytest.raises(UsageError, match="changed since the run"):
        apply(tmp_path, tree, records.asked("1" * 40), "--pick", "B")
    assert (tree / "shop/pricing.py").read_text() == "MINE = 1\n"


def test_without_a_pick_a_question_applies_nothing_and_names_both_commands(
    tmp_path: Path, tree: Path
) -> None:
    said = apply(tmp_path, tree, records.asked("1" * 40))
    take = f"heal-bot apply --bundle {tmp_path / 'bundle'} --pick"
    assert said.splitlines() == [
        "nothing to apply (Two changes pass: one answer decides)",
        f"next: {take} A   or   {take} B   or   change the code, where neither is right",
    ]  # fmt: skip
    assert (tree / "shop/pricing.py").read_text() == records.BROKEN


def test_without_a_patch_the_closest_attempt_is_offered(tmp_path: Path, tree: Path) -> None:
    said = apply(tmp_path, tree, records.suggested("1" * 40))
    assert f"heal-bot apply --bundle {tmp_path / 'bundle'} --attempt 2" in said
    assert (tree / "shop/pricing.py").read_text() == records.BROKEN


def test_a_changed_file_is_kept_unless_forced(tmp_path: Path, tree: Path) -> None:
    path = tree / "shop/pricing.py"
    path.write_text("MINE = 1\n")
    with pytest.raises(UsageError, match="--force"):
        apply(tmp_path, tree, records.data("1" * 40))
    assert path.read_text() == "MINE = 1\n"
    apply(tmp_path, tree, records.data("1" * 40), "--force")
    assert path.read_text() == records.FIXED


def test_nothing_is_written_when_one_of_two_files_changed(tmp_path: Path, tree: Path) -> None:
    values = records.data("1" * 40)
    values["patch"]["files"].append(
        {"path": "shop/__init__.py", "base_blob": "f" * 40, "content": "X = 1\n"}
    )
    with pytest.raises(UsageError):
        apply(tmp_path, tree, values)
    assert (tree / "shop/pricing.py").read_text() == records.BROKEN


@pytest.mark.parametrize("link", ["shop/pricing.py", "shop"])
def test_a_link_is_not_written_through(tmp_path: Path, tree: Path, link: str) -> None:
    real = tmp_path / "real"
    (tree / link).rename(real)
    (tree / link).symlink_to(real)
    with pytest.raises(UsageError, match="link"):
        apply(tmp_path, tree, records.data("1" * 40), "--force")
    kept = real if real.is_file() else real / "pricing.py"
    assert kept.read_text() == records.BROKEN


@pytest.mark.parametrize(
    "path",
    ["../tree/shop/pricing.py", "/etc/passwd.py", ".git/config.py", "tests/test_pricing.py",
     "pyproject.toml", "setup.py", "shop//pricing.py", ""],
)  # fmt: skip
def test_a_path_that_no_patch_has_is_refused(tmp_path: Path, tree: Path, path: str) -> None:
    values = records.data("1" * 40)
    values["patch"]["files"][0]["path"] = path
    with pytest.raises(UsageError):
        apply(tmp_path, tree, values, "--force")


def test_an_outcome_without_a_patch_applies_nothing(tmp_path: Path, tree: Path) -> None:
    values = records.data("1" * 40) | {"patch": None, "status": "flaky"}
    assert "nothing to apply (Flaky" in apply(tmp_path, tree, values)
