"""The import rules of the design, read from the syntax tree of every module."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "heal_bot"
BASE = {"model", "errors", "text", "events"}
MIDDLE = {"ports", "forge_port", "model_port", "settings", "bundle", "outcome", "source", "process"}
STAGES = {"history", "intake", "locate", "repair", "verify", "report"}
EDGES = {"sandbox", "workspace", "models", "forge"}
TOP = {
    "pipeline",
    "conclusion",
    "publish",
    "recompute",
    "delivery",
    "launch",
    "tiers",
    "wiring",
    "commands",
    "api",
    "cli",
}
ALONE = {"plugin", "capture"}
MAY_IMPORT = {
    **dict.fromkeys(BASE, frozenset()),
    **dict.fromkeys(MIDDLE, BASE | MIDDLE),
    **dict.fromkeys(STAGES | EDGES, BASE | MIDDLE),
    "conclusion": BASE | MIDDLE | STAGES,
    "pipeline": BASE | MIDDLE | STAGES | {"conclusion"},
    "recompute": BASE | MIDDLE | STAGES,
    "delivery": BASE | MIDDLE | STAGES | {"recompute"},
    "publish": BASE | MIDDLE | STAGES | {"recompute", "delivery"},
    "tiers": BASE | MIDDLE | STAGES | EDGES,
    "launch": BASE | MIDDLE | EDGES,
    "wiring": BASE | MIDDLE | STAGES | EDGES | {"launch", "tiers"},
    "commands": BASE | MIDDLE | STAGES | EDGES | TOP,
    "api": BASE | MIDDLE | STAGES | TOP,
    "cli": {"errors", "text", "commands"},
    **dict.fromkeys(ALONE, frozenset()),
    "__init__": {"api"},
    "__main__": {"cli"},
}
ONLY_IN = {
    "subprocess": ("process", "sandbox.", "plugin"),
    "multiprocessing": (),
    "ctypes": ("sandbox.",),
    "landlockpy": ("sandbox.",),
    "pyseccomp": ("sandbox.",),
    "github": ("forge.",),
    "httpx": ("forge.", "models.openai_compatible"),
    "httpx2": ("models.",),
    "anthropic": ("models.claude", "models.cloud"),
    "botocore": (),
    "google": ("models.gemini",),
    "pickle": (),
    "threading": ("models.", "sandbox."),
    "asyncio": ("api",),
}
MODULES = sorted(p for p in ROOT.rglob("*.py") if "inside" not in p.parts)


def _name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts)


def _imports(path: Path) -> set[str]:
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            names.add(node.module or "")
            if node.module == "heal_bot":
                names.update(f"heal_bot.{alias.name}" for alias in node.names)
    return names


def _violations(name: str, imports: set[str]) -> list[str]:
    part = name.partition(".")[0]
    allowed = MAY_IMPORT[part] | {part}
    found = []
    for imported in imports:
        if imported.startswith("heal_bot."):
            other = imported.split(".")[1]
            if other not in allowed and other != "__version__":
                found.append(f"{name} imports {imported}")
        places = ONLY_IN.get(imported.split(".")[0])
        if places is not None and not any(
            name == place or (place.endswith(".") and name.startswith(place)) for place in places
        ):
            found.append(f"{name} imports {imported}, which only {places} may")
    return found


@pytest.mark.parametrize("path", MODULES, ids=_name)
def test_each_module_imports_only_what_its_layer_may(path: Path) -> None:
    assert _violations(_name(path), _imports(path)) == []


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=_name)
def test_each_module_stays_under_400_lines(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= 400


@pytest.mark.parametrize(
    ("name", "imported"),
    [
        ("model", "heal_bot.ports"),
        ("intake.junit", "heal_bot.verify.confirm"),
        ("repair.loop", "heal_bot.sandbox.run"),
        ("sandbox.run", "heal_bot.intake.junit"),
        ("sandbox.run", "heal_bot.workspace.tree"),
        ("pipeline", "heal_bot.forge.pulls"),
        ("repair.loop", "subprocess"),
        ("models.gemini", "anthropic"),
        ("forge.git", "subprocess"),
    ],
)
def test_a_planted_violation_is_found(name: str, imported: str) -> None:
    assert _violations(name, {imported}) != []


def test_code_inside_the_sandbox_uses_the_standard_library_and_pytest_alone() -> None:
    allowed = {"pytest", "_pytest"}
    import sys

    for path in (ROOT / "sandbox" / "inside").rglob("*.py"):
        for name in _imports(path):
            top = name.split(".")[0]
            assert top in allowed | sys.stdlib_module_names or top.startswith("_heal"), (path, name)
