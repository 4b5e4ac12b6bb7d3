"""Which files are tests, and which are build, configuration or test machinery."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatch
from functools import lru_cache
from pathlib import PurePosixPath

from heal_bot.core.toml import read_toml
from heal_bot.ports import Tree
from heal_bot.source import guard
from heal_bot.source.tree_files import read_bytes, read_text

_TEST_FOLDERS = frozenset({"tests", "test"})
_TEST_FILES = ("test_*.py", "*_test.py", "conftest.py", "tests.py")
_PROTECTED_NAMES = frozenset(
    """
    setup.py noxfile.py conftest.py sitecustomize.py usercustomize.py versioneer.py hatch_build.py
    fabfile.py tasks.py dodo.py conanfile.py
    """.split()  # noqa: SIM905
)
_PROTECTED_FOLDERS = frozenset(
    ["site-packages", "node_modules", "__pycache__", "build", "dist", "venv", "env", "docs"]
)
_CONFIGURATION = ("pyproject.toml", "pytest.toml", "pytest.ini", "tox.ini", "setup.cfg")
_TEST_HELP = re.compile(r"(^|_)(tests?|testing|testutils?|fixtures?|mocks?|fakes?|factories)(_|$)")
_FRAMEWORK = re.compile(rb"^(?:import|from)\s+(?:pytest|_pytest|unittest|hypothesis)\b", re.M)
_IMPORTED = re.compile(rb"^[ \t]*(?:from|import)\s+(?:[^\n(]|\([^)]*\))+", re.M)
_ENTRY_POINTS = re.compile(r"pytest11(.*?)(?:\]|\n\[|\n\S|\Z)", re.DOTALL)
_ENTRY_POINT = re.compile(r"(?:^[ \t]*|[\"'])[\w-]+[ \t]*=[ \t]*([A-Za-z_][\w.]*)", re.M)
_ENVIRONMENT = re.compile(r"PYTEST_PLUGINS\s*=\s*([\w.,]+)")
# Where a project tells its users what is another now.
_TELLS = re.compile(
    r"(?i)(?:^|/)(?:change(?:s|log)|history|news|readme|release)[^/]*\Z"
    r"|^docs?/.*\.(?:md|rst|txt)\Z|(?:^|/)(?:newsfragments|news|change(?:s|log)(?:\.d)?)/[^/]+\Z"
)
_CI = (".github/", ".gitlab-ci", ".circleci/", ".buildkite/", "azure-pipelines", ".travis")
_PROSE = (".md", ".rst", ".txt")
_RUNNERS = frozenset(["Makefile", "justfile", "noxfile.py", "tox.ini", "Jenkinsfile"])
_SCRIPT = re.compile(r"(?<![\w/.-])(?:\./)?[\w-]+(?:/[\w.-]+)*\.py\b")
_HOOKS = frozenset(["path", "script", "setup-script", "custom-hook"])
_PLUGIN_OPTION = re.compile(r"(?<![\w-])-p[\s=,\"']*([A-Za-z_][\w.]*)")
# Commands whose own `-p` is something else, where they begin a line.
_OTHER_COMMAND = re.compile(
    r"^\W*(?:[\w.]+\s*[:=(]\s*)*[\"']?(?:python[\d.]*\s+-m\s+)?"
    r"(?:cp|docker|install|mkdir|mypy|patch|podman|scp|ssh|tar)\b"
)


def is_test(path: str, collected: Iterable[str] = ()) -> bool:
    """Whether a file is a test or test support: by its name, its folder, or collected node ids.

    A module that was collected for its doctests only is none.
    """
    parts = PurePosixPath(path)
    if any(part in _TEST_FOLDERS for part in parts.parts[:-1]):
        return True
    if any(fnmatch(parts.name, pattern) for pattern in _TEST_FILES):
        return True
    return path in test_files(collected)


def tells_users(path: str) -> bool:
    """Whether a file tells the users of a project what is another now."""
    return not path.endswith(".py") and bool(_TELLS.search(path))


def test_files(collected: Iterable[str]) -> frozenset[str]:
    """The files whose node ids pytest collected, without those collected for doctests alone."""
    split = (node.partition("::") for node in collected)
    return frozenset(path for path, _, name in split if not _is_doctest(path, name))


def is_protected(path: str) -> bool:
    """Whether a file is never patched whatever it holds: no source, hidden, built, or packaging."""
    parts = PurePosixPath(path)
    return (
        parts.suffix != ".py"
        or parts.is_absolute()
        or any(part.startswith(".") or part in _PROTECTED_FOLDERS for part in parts.parts[:-1])
        or parts.name.startswith(".")
        or parts.name in _PROTECTED_NAMES
    )


def find_plugins(tree: Tree) -> frozenset[str]:
    """The files of the tree that its configuration has pytest load, or builds it with."""
    return _find_named(tree, _named)


def find_entry_points(tree: Tree) -> frozenset[str]:
    """The files of the tree that are a plugin of pytest for others: the project's own product."""
    return _find_named(tree, _entry_points)


def _find_named(tree: Tree, read: Callable[[str, bytes], frozenset[str]]) -> frozenset[str]:
    paths = tree.paths()
    modules: set[str] = set()
    for path in paths:
        name = PurePosixPath(path).name
        if name in _CONFIGURATION or name in {"conftest.py", "setup.py"}:
            modules.update(read(name, read_bytes(tree, path)))
    return frozenset(path for path in paths if modules and _is_module(path, modules))


def find_machinery(tree: Tree) -> frozenset[str]:
    """The source files that CI, the build or pytest runs or that serve tests alone."""
    helpers = find_helpers(tree) - find_entry_points(tree)
    return find_plugins(tree) | helpers | _declared(tree) | _run_by_ci(tree)


def _declared(tree: Tree) -> frozenset[str]:
    """The modules that any source file declares as pytest plugins: tests may, plugins too."""
    sources = [path for path in tree.paths() if path.endswith(".py")]
    modules = {
        name
        for path in sources
        if b"pytest_plugins" in (data := read_bytes(tree, path))
        for name in _named("conftest.py", data)
    }
    return frozenset(path for path in sources if modules and _is_module(path, modules))


def _run_by_ci(tree: Tree) -> frozenset[str]:
    """The scripts and plugins that CI's own files name, unless tests import the script."""
    texts = [
        read_text(tree, path)[: guard.MAX_BYTES]
        for path in tree.paths()
        if (path.startswith(_CI) and not path.endswith(_PROSE))
        or PurePosixPath(path).name in _RUNNERS
    ]
    if not texts:
        return frozenset()
    named = {script.removeprefix("./") for text in texts for script in _SCRIPT.findall(text)}
    loaded = {name for text in texts for name in _list_loaded(text)}
    tests = b"\n".join(
        read_bytes(tree, p) for p in tree.paths() if p.endswith(".py") and is_test(p)
    )
    words = set(re.findall(rb"\w+", b"\n".join(_IMPORTED.findall(tests))))
    return frozenset(
        path
        for path in tree.paths()
        if (path in named and _module_name(path).encode() not in words)
        or (loaded and _is_module(path, loaded))
    )


def find_helpers(tree: Tree) -> frozenset[str]:
    """Modules outside of test folders that tests import, no source does, and that are for tests.

    The last is told by their name (`testing`, `fixtures`, …) or by their importing a test
    framework: what only tests import may just as well be the code under test.
    """
    sources = [p for p in tree.paths() if p.endswith(".py")]
    likely = [
        path
        for path in sources
        if not is_test(path)
        and (
            _TEST_HELP.search(PurePosixPath(path).stem) or _FRAMEWORK.search(read_bytes(tree, path))
        )
    ]
    if not likely:
        return frozenset()
    used = [p for p in sources if not is_test(p) and p not in likely]
    named = frozenset(_IMPORTED.findall(b"\n".join(read_bytes(tree, path) for path in used)))
    words = {word for line in named for word in re.findall(rb"[\w.]+", line)}
    parts = {part for word in words for part in word.decode(errors="replace").split(".")}
    return frozenset(path for path in likely if _module_name(path) not in parts)


def _module_name(path: str) -> str:
    parts = PurePosixPath(path).with_suffix("").parts
    return parts[-2] if parts[-1] == "__init__" and len(parts) > 1 else parts[-1]


def _list_loaded(text: str) -> Iterator[str]:
    """The modules that pytest is told to load; `-p` of another command is something else."""
    for option in _PLUGIN_OPTION.finditer(text):
        before = text[text.rfind("\n", 0, option.start()) + 1 : option.start()]
        if not _OTHER_COMMAND.match(before) or "test" in before:
            yield option[1]


@lru_cache(maxsize=256)
def _named(name: str, data: bytes) -> frozenset[str]:
    """The modules a configuration file or conftest names."""
    text = data.decode("utf-8", "replace")[: guard.MAX_BYTES]
    if name != "conftest.py":
        found = {*_list_loaded(text)}
        found.update(*(names.split(",") for names in _ENVIRONMENT.findall(text)))
        return frozenset(found | set(_backends(text) if name == "pyproject.toml" else ()))
    try:
        tree = guard.parse(data)
    except guard.SourceRejected:
        return frozenset()
    return frozenset(
        constant.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign | ast.AnnAssign) and "pytest_plugins" in ast.dump(node)
        for constant in ast.walk(node)
        if isinstance(constant, ast.Constant) and isinstance(constant.value, str)
    )


@lru_cache(maxsize=256)
def _entry_points(name: str, data: bytes) -> frozenset[str]:
    """The modules that a project's own metadata gives to pytest as plugins."""
    text = data.decode("utf-8", "replace")[: guard.MAX_BYTES]
    if name == "pyproject.toml":
        table, tools = _toml(text), _table(_toml(text), "tool")
        points = (
            _table(_table(table, "project"), "entry-points"),
            _table(_table(tools, "poetry"), "plugins"),
            _table(_table(tools, "flit"), "entrypoints"),
        )
        values = (value for one in points for value in _table(one, "pytest11").values())
        return frozenset(str(value).partition(":")[0] for value in values)
    blocks = _ENTRY_POINTS.findall(text) if name in {"setup.cfg", "setup.py"} else ()
    return frozenset(module for block in blocks for module in _ENTRY_POINT.findall(block))


def _toml(text: str) -> dict[str, object]:
    try:
        return read_toml(text)
    except ValueError:
        return {}


def _table(table: dict[str, object], name: str) -> dict[str, object]:
    found = table.get(name)
    return found if isinstance(found, dict) else {}


def _backends(text: str) -> Iterator[str]:
    table = _toml(text)
    system, tools = _table(table, "build-system"), _table(table, "tool")
    if system.get("backend-path"):
        yield str(system.get("build-backend", "")).partition(":")[0]
    for name in tools:
        yield from _hooks(_table(tools, name).get("build"))


def _hooks(table: object) -> Iterator[str]:
    """The modules that a build tool's own table runs."""
    if isinstance(table, str):
        table = {"script": table}
    for key, value in table.items() if isinstance(table, dict) else ():
        if key in _HOOKS and isinstance(value, str) and value.endswith(".py"):
            yield value.removesuffix(".py").replace("/", ".")
        else:
            yield from _hooks(value) if isinstance(value, dict) else ()


def _is_module(path: str, modules: set[str]) -> bool:
    dotted = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return path.endswith(".py") and any(
        dotted == module or dotted.endswith(f".{module}") for module in modules
    )


def _is_doctest(path: str, name: str) -> bool:
    """Whether a node's name is the dotted name of its module, as doctests are called."""
    parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
    suffixes = (".".join(parts[number:]) for number in range(len(parts)))
    plain = name.partition("[")[0]
    return any(plain == suffix or plain.startswith(f"{suffix}.") for suffix in suffixes)
