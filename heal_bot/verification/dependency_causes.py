"""A package that is missing, or has another version than the code was written for."""

from __future__ import annotations

import ast
import difflib
import re
import sys
from functools import cache
from pathlib import Path

from heal_bot.core.model import CaseResult, Environment, Frame, Origin
from heal_bot.core.text import one_line
from heal_bot.ports import Tree
from heal_bot.source import bound_names, module_names
from heal_bot.verification import raise_location

_MISSING = frozenset({"ModuleNotFoundError", "ImportError"})
_FROM_FILE = re.compile(r"cannot import name '\w+' from .{0,300}\(([^)]*)\)")
_OTHER_CALL = re.compile(
    r"^(?:[\w.]+\.)?(\w+)\(\) (?:got an unexpected keyword argument|got multiple values"
    r"|missing \d+ required|takes (?:from )?(?:no|\d+) )"
)
# Bytes where the code was written for text, or text for bytes.
_OTHER_TEXT = re.compile(r"'(?:str' object has no attribute 'decode|bytes' object has no attribute"
                         r" 'encode)'")  # fmt: skip
_GOING = re.compile(r"Deprecat|FutureWarning|RemovedIn|MovedIn|: .*\b(?:deprecated|removal)\b")
_WARNED = re.compile(r"^E\s+(?:[\w.]+\.)?(\w+Warning): (.*)$", re.M)
_PLACE = re.compile(r"^(/\S+\.py):(\d+): ", re.M)
_SITE = re.compile(r"/(?:site|dist)-packages/([\w-]+)")


def explain_dependency(seen: CaseResult, tree: Tree, env: Environment) -> str:
    """Which package it is, and what cures it; '' where the code is to blame."""
    return _absent(seen, tree, env) or _warned(seen, env) or _changed(seen, tree, env)


def _absent(seen: CaseResult, tree: Tree, env: Environment) -> str:
    if seen.kind not in _MISSING and "No module named" not in seen.message:
        return ""
    module, name = module_names.find_missing(seen.message)
    top = module.partition(".")[0]
    if not module or _is_ours(top, tree):
        return ""
    if not name:
        if _is_misspelt(top, tree, env) or module_names.find_removal(seen.message, tree):
            return ""
        return (
            f"the package that holds {module} is missing: declare it, or install it in the test"
            f" environment (setup: {top})"
        )
    found = _FROM_FILE.search(seen.message)
    if found and "site-packages" in found[1] and not _is_close(name, Path(found[1])):
        return _other(found[0], top, env)
    return ""


def _warned(seen: CaseResult, env: Environment) -> str:
    """A warning that is an error, raised by what is not the repository's own code."""
    kind, said, frames = seen.kind.rpartition(".")[2], seen.message, seen.frames
    if (raised := list(_WARNED.finditer(said))) and not kind.endswith("Warning"):
        kind, said = raised[-1][1], raised[-1][2]
    if not frames:
        places = _PLACE.findall(seen.message)
        frames = tuple(Frame(p, int(n), "", Origin.LIBRARY) for p, n in places)
    library = bool(frames) and frames[-1].origin is Origin.LIBRARY
    # Of its own frames pytest shows none.
    own = kind.startswith(("PytestDeprecation", "PytestRemovedIn")) and not frames
    if not says_deprecated(kind, said) or not (library or own):
        return ""
    site = _SITE.search(frames[-1].path) if library else None
    top = "pytest" if own else site[1] if site else ""
    whose = describe_installed(top, env) if top else f"Python {env.version}"
    words = one_line(said.removeprefix(f"{kind}: "), 160)
    start = re.sub(r"[:\\].*", "", words)[:60].strip()
    return (
        f"a {kind} of {whose} is an error here ({words}): pin what warns, or except it in pytest's"
        f" filterwarnings (ignore:{start}:{kind})"
    )


def says_deprecated(kind: str, said: str) -> bool:
    """Whether a warning says that something will go, as against that something is wrong."""
    return kind.endswith("Warning") and _GOING.search(f"{kind}: {said}") is not None


def _changed(seen: CaseResult, tree: Tree, env: Environment) -> str:
    """A package that no longer has, or takes, what the code has used since before the commits."""
    if not seen.frames:
        return ""
    last = seen.frames[-1]
    if last.line in tree.changed_lines().get(last.path, ()):
        return ""
    module, name = module_names.find_missing(seen.message)
    if seen.kind == "AttributeError" and name:
        top, source = module.partition(".")[0], _source(module, env)
        if source is None or _is_ours(top, tree) or _is_close(name, source):
            return ""
        return _other(f"module '{module}' has no attribute '{name}'", top, env)
    top = ""
    if seen.kind == "TypeError" and (found := _OTHER_CALL.match(seen.message)):
        top = _whose(found[1], last, tree)
    elif seen.kind == "AttributeError" and _OTHER_TEXT.match(seen.message):
        top = _returned(last, tree)
    if top and is_installed(top, tree, env):
        return _other(one_line(seen.message, 160), top, env)
    return ""


def is_installed(top: str, tree: Tree, env: Environment) -> bool:
    """Whether a module is of an installed package, and none of the repository's own."""
    return not _is_ours(top, tree) and _source(top, env) is not None


def _other(what: str, top: str, env: Environment) -> str:
    return (
        f"{what}: another version of {top} is installed than the code expects"
        f" ({describe_installed(top, env)}): pin the former one, with setup or where it is declared"
    )


def _whose(callee: str, frame: Frame, tree: Tree) -> str:
    """The package that a called name is imported from in the file of the frame; '' if unknown."""
    line = raise_location.read_line(tree, frame)
    called = re.search(rf"(\w+)(?:\.\w+)*\.{callee}\(|\b({callee})\(", line)
    if called is None and callee.startswith("__"):
        # A class's constructor is called by the name of the class.
        called = re.search(r"(\w+)(?:\.\w+)*\.\w+\(|\b([A-Z]\w*)\(", line)
    return _origin((called[1] or called[2]) if called else "", _parsed(frame, tree))


def _returned(frame: Frame, tree: Tree) -> str:
    """The package whose call returned what the line of the frame makes text or bytes of."""
    module = _parsed(frame, tree)
    for node in ast.walk(module):
        if isinstance(node, ast.Attribute) and node.attr in {"decode", "encode"}:
            last = node.end_lineno or node.lineno
            called = node.value.func if isinstance(node.value, ast.Call) else None
            while isinstance(called, ast.Attribute):
                called = called.value
            if isinstance(called, ast.Name) and node.lineno <= frame.line <= last:
                return _origin(called.id, module)
    return ""


def _parsed(frame: Frame, tree: Tree) -> ast.Module:
    try:
        return ast.parse(tree.read(frame.path))
    except (SyntaxError, ValueError, KeyError):
        return ast.Module([], [])


def _origin(name: str, module: ast.Module) -> str:
    """The package that a file imports a name from; '' for others."""
    for node, alias in bound_names.list_imports(ast.walk(module)).get(name, ()):
        if isinstance(node, ast.Import):
            return alias.name.partition(".")[0]
        if not node.level:
            return (node.module or "").partition(".")[0]
    return ""


def _sites(env: Environment) -> tuple[Path, ...]:
    folders = Path(env.prefix).glob("lib/python3*/*-packages")
    return (*folders, *(Path(root) for root in env.roots if root.endswith("-packages")))


def _source(module: str, env: Environment) -> Path | None:
    """The file of an installed module."""
    below = module.replace(".", "/")
    for site in _sites(env):
        for path in (site / f"{below}.py", site / below / "__init__.py"):
            if path.is_file():
                return path
    return None


def describe_installed(top: str, env: Environment) -> str:
    """The package by its name and version, as far as it is known."""
    plain = top.replace("-", "_").lower()
    for site in _sites(env):
        for info in sorted(site.glob("*.dist-info")):
            name, _, version = info.name.removesuffix(".dist-info").partition("-")
            listed = info / "top_level.txt"
            tops = listed.read_text(errors="replace").split() if listed.is_file() else ()
            if plain == name.lower() or top in tops:
                return f"{name} {version}"
    return top


def _is_close(name: str, path: Path) -> bool:
    """Whether a module holds a name that is written almost so: then the code is wrong."""
    try:
        text = path.read_bytes()[: 1 << 20].decode(errors="replace")
    except OSError:
        return False
    words = set(re.findall(r"\b[A-Za-z_]\w{2,}", text)) - {name}
    return bool(difflib.get_close_matches(name, words, n=1, cutoff=0.85))


def _is_ours(top: str, tree: Tree) -> bool:
    """Whether the repository holds a module or package of that name."""
    names = (f"{top}.py", f"{top}/")
    return any(path.startswith(names) or f"/{top}/" in path or path.endswith(f"/{top}.py")
               for path in tree.paths())  # fmt: skip


def _is_misspelt(top: str, tree: Tree, env: Environment) -> bool:
    """Whether the name is close to one that exists: then the code is wrong, not the machine."""
    paths = frozenset(tree.paths())
    sources = (path for path in paths if path.endswith(".py"))
    known = {module_names.dotted_name(path, paths).partition(".")[0] for path in sources}
    known |= sys.stdlib_module_names | _tops(_sites(env))
    return bool(difflib.get_close_matches(top, known - {top}, n=1, cutoff=0.85))


@cache
def _tops(sites: tuple[Path, ...]) -> frozenset[str]:
    """The modules that are installed."""
    names = (path.name for site in sites for path in site.iterdir())
    return frozenset(name.removesuffix(".py") for name in names if "-" not in name)
