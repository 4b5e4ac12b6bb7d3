"""One recipe the whole way: staged, recorded, healed by the action as it ships, judged."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from benchmarks.street import plain
from benchmarks.street.clones import CloneError, find
from benchmarks.street.compared import Bench, functions_changed
from benchmarks.street.culprit import blamed, honest, hunks
from benchmarks.street.faults import ConflictError
from benchmarks.street.figures import Offered, Row
from benchmarks.street.plain import PlainError
from benchmarks.street.recipes import Recipe
from benchmarks.street.staged import Ended, Engine, Stage, record, staged
from tests.github_server.repository import GitRefused

_BAD = frozenset({"sandbox_error", "none"})
_CONFIRMED = frozenset({"fixed", "still_failing", "stale_test", "collection_error"})


def run(recipe: Recipe, data: Path, engine: Engine) -> Row:
    """The row of a case."""
    blank = Row(id=recipe.id, part=recipe.part, split=recipe.split, engine=engine.version)

    def play(folder: Path) -> Row:
        with staged(recipe, data, folder) as stage:
            return _played(recipe, stage, folder, data, engine)

    return kept(blank, data, play)


def kept(blank: Row, data: Path, play: Callable[[Path], Row]) -> Row:
    """What `play` gives in a folder of its own; a case that cannot be staged says why."""
    (data / "scratch").mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=data / "scratch", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        folder.chmod(0o755)
        try:
            return play(folder)
        except (ConflictError, CloneError, PlainError, OSError, subprocess.SubprocessError) as why:
            return blank.model_copy(update={"unstaged": str(why)[:300]})


def _played(recipe: Recipe, stage: Stage, folder: Path, data: Path, engine: Engine) -> Row:
    venv, workspace = folder / "venv", stage.runner.workspace
    record(stage, recipe, venv, data)
    red = plain.failures(workspace / "junit.xml")
    ended = stage.act(engine)
    right_places = guilty(recipe, stage, data)
    kind, patched = offered(ended, workspace)
    calls, proposals, tokens = asked(ended)
    judged, why = judge(recipe, stage, venv, data, patched)
    return Row(
        id=recipe.id, part=recipe.part, split=recipe.split, engine=engine.version,
        status=status(ended), seconds=ended.seconds, red=len(red),
        drifted=len(red) != len(recipe.red), ended_badly=ended_badly(ended),
        trusted=trusted(ended), exact=confirmed(ended) == set(recipe.red),
        ids_refused=_ids_refused(ended.outcome), rank=_rank(ended.outcome, right_places),
        offered=kind, said=said(ended, why) if recipe.split == "tune" else "",
        calls=calls, proposals=proposals, input_tokens=tokens,
        **judged, **blamed(ended, stage, innocent=recipe.part == "fixes"),
    )  # fmt: skip


def judge(
    recipe: Recipe, stage: Stage, venv: Path, data: Path, patched: Mapping[str, str]
) -> tuple[dict[str, Any], str]:
    """The fields of a row that judge a change, given the files it changes, and why."""
    right, broken = _versions(recipe, stage, data)
    fields: dict[str, Any] = {"hunks": hunks(right, broken)}
    if not patched:
        return fields, ""
    before = {**broken, **texts(stage, patched)}
    workspace = stage.runner.workspace
    shutil.rmtree(workspace / ".heal-bot", ignore_errors=True)
    bench = Bench(workspace, venv, data, frozenset(recipe.red), right, before)
    fields["judgement"], why = bench.judge(patched)
    if recipe.part == "regressions":
        fields["honest"] = honest(recipe, find(data, recipe.repository), before, patched)
    return fields, why


def asked(ended: Ended) -> tuple[int, int, int]:
    """How often a model was asked and proposed, and what it was told, in tokens."""
    proposers = (attempt.get("proposer") for attempt in ended.outcome.get("attempts", ()))
    cost = ended.outcome.get("cost") or {}
    return (
        sum(event.get("kind") == "request" for event in ended.events),
        sum(proposer == "openai" for proposer in proposers),
        int(cost.get("input_tokens") or 0),
    )


def status(ended: Ended) -> str:
    """The status that the action gives as its output."""
    return str(ended.outputs.get("status", "none"))


def ended_badly(ended: Ended) -> bool:
    """Whether the action failed, ended in a traceback or for the sandbox's sake, or hung."""
    return ended.late or ended.code != 0 or status(ended) in _BAD or "Traceback (" in ended.log


def trusted(ended: Ended) -> bool:
    """Whether the whole suite ran to its end before any change, in the environment that counts."""
    runs = [e for e in ended.events if e.get("kind") == "suite" and e.get("purpose") == "baseline"]
    return bool(runs) and runs[-1].get("ended") == "finished"


def confirmed(ended: Ended) -> set[str]:
    """The tests that are said to fail at the commit, whatever became of them."""
    failures = ended.outcome.get("failures", ())
    return {str(item["test"]) for item in failures if item["status"] in _CONFIRMED}


def _ids_refused(outcome: Mapping[str, Any]) -> bool:
    """Whether an attempt was not measured because the names of tests changed."""
    return any(attempt.get("cause") == "ids" for attempt in outcome.get("attempts", ()))


def _rank(outcome: Mapping[str, Any], guilty: set[tuple[str, str]]) -> int:
    """The first place of a guilty function among the suspects of any cluster; 0 for none."""
    places = [
        place
        for cluster in outcome.get("clusters", ())
        for place, suspect in enumerate(cluster["suspects"], 1)
        if (suspect["path"], _outer(suspect["qualname"])) in guilty
    ]
    return min(places, default=0)


def _outer(qualname: str) -> str:
    """The function that holds a nested one."""
    return str(qualname).partition(".<locals>")[0]


def guilty(recipe: Recipe, stage: Stage, data: Path) -> set[tuple[str, str]]:
    """The functions that the right change touches."""
    if recipe.planted is not None:
        return {(recipe.planted.path, recipe.planted.qualname)}
    right, broken = _versions(recipe, stage, data)
    return {
        (path, name)
        for path, text in right.items()
        for name in functions_changed(broken[path], text)
    }


def _versions(recipe: Recipe, stage: Stage, data: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The changed source files as they are right, and as they are in the red run."""
    clone = find(data, recipe.repository)
    right = {path: clone.read(recipe.fix, path) for path in recipe.sources}
    return right, texts(stage, recipe.sources)


def texts(stage: Stage, paths: Iterable[str]) -> dict[str, str]:
    """Files as they are in the red run, '' for one that is not there."""
    git, sha = stage.github.world.git, stage.runner.sha
    found = dict.fromkeys(paths, "")
    for path in found:
        with contextlib.suppress(GitRefused):
            shown = git.git("show", "--end-of-options", f"{sha}:{path}")
            found[path] = shown.decode(errors="replace")
    return found


def offered(ended: Ended, workspace: Path) -> tuple[Offered, dict[str, str]]:
    """What is offered, healed or suggested, and the changed files with it applied.

    What is shown beside the question whether code or test is right is no offer.
    """
    outcome = ended.outcome
    kind: Offered = "healed"
    found = outcome.get("patch")
    if not found:
        kind, found = "suggested", outcome.get("suggestion")
    if not found or (kind == "suggested" and status(ended) == "stale_test"):
        return "", {}
    diff = str(found["diff"])
    if ended.pulls == 0 and kind == "healed" and status(ended) not in {"healed", "partly_healed"}:
        return "", {}
    copy = workspace.parent / "patched"
    shutil.copytree(workspace, copy, ignore=shutil.ignore_patterns(".heal-bot"), symlinks=True)
    argv = ["git", "apply", "--whitespace=nowarn", "--recount"]
    subprocess.run(argv, cwd=copy, input=diff, text=True, check=True, capture_output=True,
                   timeout=60)  # fmt: skip
    argv = ["git", "diff", "--name-only"]
    done = subprocess.run(argv, cwd=copy, text=True, check=True, capture_output=True, timeout=60)
    return kind, {path: (copy / path).read_text() for path in done.stdout.split("\n") if path}


def said(ended: Ended, judged: str) -> str:
    """What helps to look into a case: reasons, the judgement, the change."""
    outcome = ended.outcome
    reasons = dict.fromkeys(
        f"{item['status']}: {item.get('reason') or item.get('message', '')}"[:300]
        for item in outcome.get("failures", ())
    )
    change = outcome.get("suggestion") or outcome.get("patch") or {}
    diff = str(change.get("diff", "")).splitlines()[:60]
    log = "" if outcome else ended.log[-600:]
    first = str(outcome.get("reason", ""))[:600]
    return "\n".join(filter(None, [first, *[*reasons][:4], log, judged, *diff]))
