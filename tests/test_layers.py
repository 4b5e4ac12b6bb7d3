"""The import rules of the design, read from the syntax tree of every module."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "heal_bot"
BASE = {"core"}
MIDDLE = {"ports", "source"}
STAGES = {"history", "junit", "fault_localization", "repair", "verification", "report"}
EDGES = {"sandbox", "testrun", "checkout", "environments", "llm_clients", "github"}
TOP = {"pipeline", "conclusion", "publish", "wiring", "api", "cli", "action"}
ALONE = {"pytest_plugin"}
MAY_IMPORT = {
    **dict.fromkeys(BASE, frozenset()),
    **dict.fromkeys(MIDDLE, BASE | MIDDLE),
    **dict.fromkeys(STAGES | EDGES, BASE | MIDDLE),
    # Running tests is what the sandbox is for, and an environment is made for a checkout.
    "testrun": BASE | MIDDLE | {"sandbox"},
    "environments": BASE | MIDDLE | {"checkout"},
    "conclusion": BASE | MIDDLE | STAGES,
    "pipeline": BASE | MIDDLE | STAGES | {"conclusion"},
    "publish": BASE | MIDDLE | STAGES,
    "wiring": BASE | MIDDLE | STAGES | EDGES,
    "api": BASE | MIDDLE | STAGES | EDGES | TOP,
    "cli": BASE | MIDDLE | STAGES | EDGES | TOP,
    "action": BASE | MIDDLE | STAGES | EDGES | TOP,
    **dict.fromkeys(ALONE, frozenset()),
    "__init__": {"api", "core"},
    "__main__": {"cli"},
}
ONLY_IN = {
    "subprocess": ("core.process", "sandbox.", "testrun.", "pytest_plugin.plugin"),
    "multiprocessing": (),
    "ctypes": ("sandbox.",),
    "landlockpy": ("sandbox.",),
    "pyseccomp": ("sandbox.",),
    "github": ("github.",),
    "httpx": ("github.",),
    "httpx2": ("llm_clients.",),
    "anthropic": ("llm_clients.claude", "llm_clients.claude_cloud"),
    "botocore": (),
    "google": ("llm_clients.gemini",),
    "pickle": (),
    "threading": ("llm_clients.", "sandbox.", "testrun."),
    "asyncio": ("api",),
}
MODULES = sorted(p for p in ROOT.rglob("*.py") if "agent" not in p.parts)


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
            if other not in allowed:
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


@pytest.mark.parametrize("path", sorted(ROOT.rglob("*.py")), ids=_name)
def test_no_module_is_named_as_tests_are(path: Path) -> None:
    assert not path.name.startswith("test_")


@pytest.mark.parametrize(
    ("name", "imported"),
    [
        ("core.model", "heal_bot.ports"),
        ("junit.reader", "heal_bot.verification.final_check"),
        ("repair.search.scheduler", "heal_bot.sandbox.sandbox_client"),
        ("sandbox.client_pool", "heal_bot.junit.reader"),
        ("sandbox.client_pool", "heal_bot.checkout.checkout_tree"),
        ("pipeline", "heal_bot.github.pulls"),
        ("repair.search.scheduler", "subprocess"),
        ("llm_clients.gemini", "anthropic"),
        ("github.git_data", "subprocess"),
    ],
)
def test_a_planted_violation_is_found(name: str, imported: str) -> None:
    assert _violations(name, {imported}) != []


def test_code_inside_the_sandbox_uses_the_standard_library_and_pytest_alone() -> None:
    allowed = {"pytest", "_pytest"}
    import sys

    for path in (ROOT / "testrun" / "agent").rglob("*.py"):
        for name in _imports(path):
            top = name.split(".")[0]
            assert top in allowed | sys.stdlib_module_names or top.startswith("_heal"), (path, name)
