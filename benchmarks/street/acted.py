"""What the action did about a red run that may be no bug of the code, beside what was right."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from benchmarks.street import plain, real, situation
from benchmarks.street.case import ended_badly, kept, offered, said, status
from benchmarks.street.clones import find
from benchmarks.street.compared import Bench, Judgement
from benchmarks.street.culprit import blamed, takes_back
from benchmarks.street.figures import Row
from benchmarks.street.plain import PlainError
from benchmarks.street.planted import Grown
from benchmarks.street.real import Real
from benchmarks.street.recipes import Recipe
from benchmarks.street.situation import Action, Situation
from benchmarks.street.staged import Ended, Engine, Stage, borrow, opened, record, staged
from tests.github_server.repository import GitRepository

# What says that a change was meant and its tests are behind it.
_BEHIND = ("on purpose", "intended", "intentional", "deliberate", "outdated", "out of date",
           "stale", "left this test alone")  # fmt: skip


def run_own(case: Situation, data: Path, engine: Engine) -> Row:
    """The row of a situation of our own."""
    name = f"situations/{case.name}"
    blank = Row(
        id=name, part="situations", split=case.split, engine=engine.version, wanted=case.action
    )

    def red(git: GitRepository) -> Grown:
        before, head = situation.grow(git, case)
        return Grown(before, head, head if case.bumped else "")

    def play(folder: Path) -> Row:
        with opened(folder, f"octo/{case.name.rpartition('/')[2]}", red) as bare:
            job = {"GITHUB_JOB": case.find_job()}
            stage = _given(bare, dict(case.inputs), {**case.variables, **job})
            workspace, venv = stage.runner.workspace, folder / "venv"
            situation.environment(case, workspace, venv, data)
            situation.report(case, workspace, venv, data)
            ended = stage.act(engine)
            kind, patched = offered(ended, workspace)
            judgement = judged_by_hidden(case, workspace, venv, data, patched) if kind else ""
            innocent = case.package is not None and not case.bumped
            found = blamed(ended, stage, case.package, innocent=innocent)
            update = {"offered": kind, "judgement": judgement, **found}
            return _seen(blank, ended, case.says).model_copy(update=update)

    return kept(blank, data, play)


def run_real(recipe: Real, data: Path, engine: Engine) -> Row:
    """The row of a situation of a public project."""
    blank = Row(id=recipe.id, part="situations", split=recipe.split, engine=engine.version,
                wanted=recipe.action)  # fmt: skip

    def red(git: GitRepository) -> Grown:
        borrow(git, find(data, recipe.repository))
        return Grown(git.commit(recipe.commit).parents[0], recipe.commit)

    def play(folder: Path) -> Row:
        with opened(folder, recipe.repository, red) as bare:
            stage = _given(bare, {}, dict(recipe.environment))
            workspace, venv = stage.runner.workspace, folder / "venv"
            real.make(recipe, workspace, venv, data)
            plain.report(workspace, venv, data, workspace / "junit.xml", job=real.job(recipe, venv))
            failing = plain.failures(workspace / "junit.xml")
            ended = stage.act(engine)
            kind, patched = offered(ended, workspace)
            judgement = _as_fixed(recipe, workspace, venv, data, patched) if kind else ""
            drifted = len(failing) != len(recipe.red)
            found = blamed(ended, stage, recipe.package, innocent=recipe.package is not None)
            update = {"offered": kind, "judgement": judgement, "drifted": drifted, **found}
            return _seen(blank, ended, recipe.says).model_copy(update=update)

    return kept(blank, data, play)


# The statuses of a run that knows why the tests are red, and that no code is to be repaired.
_KNOWN = frozenset({"explained", "stale_test", "flaky", "not_reproduced", "nothing_to_do"})


def run_behind(recipe: Recipe, data: Path, engine: Engine) -> Row:
    """The row of a change that was meant, with the tests from before it."""
    blank = Row(id=recipe.id, part=recipe.part, split=recipe.split, engine=engine.version,
                wanted="explain")  # fmt: skip

    def play(folder: Path) -> Row:
        with staged(recipe, data, folder) as stage:
            workspace = stage.runner.workspace
            record(stage, recipe, folder / "venv", data)
            failing = plain.failures(workspace / "junit.xml")
            ended = stage.act(engine)
            kind, _ = offered(ended, workspace)
            back = takes_back(ended)
            update = {
                "offered": kind, "judgement": "wrong" if kind and not back else "",
                "undone": ended.pulls > 0 and not back,
                "drifted": len(failing) != len(recipe.red), **blamed(ended, stage),
            }  # fmt: skip
            return _seen(blank, ended, _BEHIND).model_copy(update=update)

    return kept(blank, data, play)


def action_of(ended: Ended) -> Action:
    """What the action did, by what a person is left with: a repair, a search in vain, or words.

    A cause that is known after a search is an explanation, also where a change is shown beside
    the question whether code or test is right; a search without either is a repair that was tried.
    """
    outcome = ended.outcome
    suggested = outcome.get("suggestion") and status(ended) != "stale_test"
    offers = ended.pulls or outcome.get("patch") or suggested
    searched = outcome.get("searches") or outcome.get("attempts")
    if offers or (searched and status(ended) not in _KNOWN):
        return "repair"
    if status(ended) == "nothing_to_do" and not ended.comments:
        return "silent"
    return "explain"


def _seen(blank: Row, ended: Ended, says: tuple[str, ...]) -> Row:
    text = ended.shown.lower()
    return blank.model_copy(update={
        "status": status(ended), "seconds": ended.seconds, "ended_badly": ended_badly(ended),
        "action": action_of(ended), "named": any(word.lower() in text for word in says),
        "said": said(ended, "") if blank.split == "tune" else "",
    })  # fmt: skip


def _given(stage: Stage, inputs: dict[str, str], variables: dict[str, str]) -> Stage:
    """The stage with further inputs, and with the variables that the job has."""
    runner = dataclasses.replace(stage.runner, named={**stage.runner.named, **variables})
    return dataclasses.replace(stage, runner=runner, given=inputs)


def judged_by_hidden(
    case: Situation, workspace: Path, venv: Path, data: Path, patched: dict[str, str]
) -> Judgement:
    """What the hidden tests say of a change; a change where none was due is wrong."""
    if case.action != "repair":
        return "wrong"
    for path, text in {**patched, **case.hidden}.items():
        target = workspace / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    try:
        ran = plain.run(workspace, venv, data)
    except PlainError:
        return "wrong"
    return "wrong" if ran.red else "right"


def _as_fixed(
    recipe: Real, workspace: Path, venv: Path, data: Path, patched: dict[str, str]
) -> Judgement:
    """Whether a change does what the maintainers' does; where none was due it is wrong."""
    if recipe.action != "repair" or recipe.fix is None:
        return "wrong"
    clone = find(data, recipe.repository)
    right = {path: clone.read(recipe.fix, path) for path in recipe.sources}
    broken = {path: clone.read(recipe.commit, path) for path in {*recipe.sources, *patched}}
    return Bench(workspace, venv, data, frozenset(recipe.red), right, broken).judge(patched)[0]
