"""What the program's errors can say, read from its source: literals, with … for what varies."""

from __future__ import annotations

import ast
import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "heal_bot"
# Their text is what a program or a record reads, never the last line of a command.
RECORDED = {
    "EditError", "Flooded", "LLMError", "NoWheelError", "RecheckError", "ReplyError",
    "ResolveError", "SourceRejected", "Untrusted",
}  # fmt: skip

# Where a failing test gets the reason for which it is not repaired.
_CAUSES = (
    "history/package_bisection", "verification/non_code_causes",
    "verification/dependency_causes", "verification/stored_expectations",
    "verification/certificate_expiry", "verification/older_python", "verification/unfinished_code",
)  # fmt: skip


@dataclass(frozen=True)
class Message:
    """One message of one error class, and where it is raised."""

    error: str
    place: str
    text: str


@functools.cache
def error_classes() -> set[str]:
    """The names of all subclasses of HealBotError, its own, and what a report is told by."""
    pairs = [
        p for text in _texts().values() for p in re.findall(r"^class (\w+)\((\w+)\)", text, re.M)
    ]
    found = {"HealBotError", "ArchiveRefused"}
    while more := {name for name, base in pairs if base in found} - found:
        found |= more
    return found


@functools.cache
def messages() -> tuple[Message, ...]:
    """Every message with a literal part that ends a command or a delivery."""
    return tuple(_messages())


def _messages() -> Iterator[Message]:
    shown = error_classes() - RECORDED
    calls = re.compile(rf"\b(?:{'|'.join(shown)})\(")
    for path, text in _texts().items():
        if not calls.search(text):
            continue
        tree = ast.parse(text)
        known = _constants(tree)
        functions = {n.name: n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
        for node in ast.walk(tree):
            if not (isinstance(node, ast.Call) and node.args and _name(node.func) in shown):
                continue
            place = f"{path.relative_to(PACKAGE.parent)}:{node.lineno}"
            made = functions.get(_name(node.args[0].func)) if _is_call(node.args[0]) else None
            texts = [node.args[0]] if made is None else _returned(made)
            for part in texts:
                said = re.sub("…+", "…", _literal(part, known))
                if re.search(r"[a-z]{3}", said):
                    yield Message(_name(node.func), place, said)


@functools.cache
def warnings() -> tuple[str, ...]:
    """Every warning with a literal part that a run may print and go on."""
    trees = (ast.parse(text) for text in _texts().values() if "Noted(" in text)
    return tuple(dict.fromkeys(said for tree in trees for said in _warned(tree)))


def _warned(tree: ast.Module) -> Iterator[str]:
    for function in (n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)):
        named: dict[str, list[ast.expr]] = {}
        for node in ast.walk(function):
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
                named.setdefault(node.targets[0].id, []).append(node.value)
        for node in ast.walk(function):
            if not (isinstance(node, ast.Call) and _name(node.func) == "Noted"):
                continue
            given = {k.arg: k.value for k in node.keywords}
            level, message = given.get("level"), given["message"]
            if not (isinstance(level, ast.Constant) and level.value == "warning"):
                continue
            texts = named.get(message.id, []) if isinstance(message, ast.Name) else [message]
            yield from _worded(texts, _constants(tree))


@functools.cache
def reasons() -> tuple[str, ...]:
    """What an outcome or a test may give as the reason for no repair."""
    found: list[str] = []
    for name in ("conclusion.py", *(f"{name}.py" for name in _CAUSES)):
        tree = ast.parse((PACKAGE / name).read_text())
        known = _constants(tree)
        parts = [e for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) for e in _returned(n)]
        parts = [p.elts[2] if isinstance(p, ast.Tuple) and len(p.elts) == 3 else p for p in parts]
        found += [said for said in _worded(parts, known) if " " in said]
    return tuple(dict.fromkeys(found))


def _worded(texts: list[ast.expr], known: dict[str, str]) -> Iterator[str]:
    for text in texts:
        if re.search(r"[a-z]{3}", said := re.sub("…+", "…", _literal(text, known)).strip()):
            yield said


@functools.cache
def _texts() -> dict[Path, str]:
    found = sorted(p for p in PACKAGE.rglob("*.py") if "agent" not in p.parts)
    return {path: path.read_text() for path in found}


def _constants(tree: ast.Module) -> dict[str, str]:
    """The texts that a module gives names."""
    return {
        node.targets[0].id: node.value.value
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    }


def _is_call(node: ast.expr) -> bool:
    return isinstance(node, ast.Call)


def _name(node: ast.expr) -> str:
    return node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")


def _returned(function: ast.FunctionDef) -> list[ast.expr]:
    return [n.value for n in ast.walk(function) if isinstance(n, ast.Return) and n.value]


def _literal(node: ast.expr, known: dict[str, str]) -> str:
    match node:
        case ast.Constant(value=str(text)):
            return text
        case ast.JoinedStr(values=parts):
            return "".join(_literal(part, known) for part in parts)
        case ast.FormattedValue(value=ast.Name(id=name)) | ast.Name(id=name):
            return known.get(name, "…")
        case ast.BinOp(left=left, right=right):
            return _literal(left, known) + _literal(right, known)
    return "…"
