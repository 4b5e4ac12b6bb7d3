"""What a piece of code reaches for beyond its own logic: the facts that rails compare."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from heal_bot.source import guard

# Modules that reach the process, the file system, the network, other people's objects or the test
# machinery. No repair of a function's logic needs to start using one.
MODULES = frozenset(
    """
    os sys subprocess socket ctypes _ctypes gc inspect importlib imp pytest _pytest unittest doctest
    hypothesis nose builtins posix nt signal threading _thread multiprocessing shutil atexit
    faulthandler pty resource runpy pkgutil zipimport marshal pickle shelve pdb bdb code codeop http
    urllib ssl ftplib smtplib telnetlib webbrowser socketserver xmlrpc mmap fcntl tempfile
    tracemalloc site sysconfig trace traceback linecache tokenize fileinput
    cffi requests httpx aiohttp paramiko
    """.split()  # noqa: SIM905
)
HARMLESS = frozenset(
    """
    os.path.join os.path.basename os.path.dirname os.path.splitext os.path.split os.path.normpath
    os.path.isabs os.path.commonprefix os.path.commonpath os.sep os.linesep os.fspath os.PathLike
    sys.maxsize sys.maxunicode sys.float_info sys.byteorder sys.version_info urllib.parse
    http.HTTPStatus
    """.split()  # noqa: SIM905
)
NAMES = frozenset(
    """
    eval exec compile __import__ open input breakpoint globals locals vars exit quit help
    BaseException SystemExit KeyboardInterrupt GeneratorExit __builtins__ __loader__ __spec__
    """.split()  # noqa: SIM905
)
_BY_NAME = frozenset({"getattr", "setattr", "delattr", "hasattr", "attrgetter", "methodcaller"})
_FRAMES = re.compile(
    r"(?:f|tb|gi|cr|ag|co)_(?:back|globals|locals|builtins|code|consts|frame|lineno|next|trace)\Z"
)
_DUNDER = re.compile(r"__\w+__")
_TESTING = re.compile(r"pytest|unittest|sys\.modules", re.IGNORECASE)


def facts(body: ast.AST, aliases: Mapping[str, str]) -> frozenset[str]:
    """What the code reaches for, in words, one fact each; empty for plain logic.

    `aliases` maps the names that imports bind in the file to what they stand for.
    """
    own = {**aliases, **imported(body)}
    inner = {
        id(node.value)
        for node in ast.walk(body)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute | ast.Name)
    }
    found: set[str] = set()
    for node in ast.walk(body):
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update(_imports(node))
        elif isinstance(node, ast.Attribute | ast.Name):
            found.update(_attribute(node))
            if id(node) not in inner:
                found.update(_chain(node, own))
        else:
            found.update(_other(node, own))
    return frozenset(found)


@lru_cache(maxsize=256)
def aliases(text: str) -> Mapping[str, str]:
    """The names that imports bind anywhere in a file, and what they stand for."""
    return imported(guard.parse(text))


def imported(tree: ast.AST) -> dict[str, str]:
    """The same for a syntax tree."""
    bound: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                first = alias.name.partition(".")[0]
                bound[alias.asname or first] = alias.name if alias.asname else first
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                prefix = "." * node.level + (node.module or "")
                bound[alias.asname or alias.name] = f"{prefix}.{alias.name}"
    return bound


def _imports(node: ast.Import | ast.ImportFrom) -> Iterator[str]:
    module = f"{node.module or ''}." if isinstance(node, ast.ImportFrom) else ""
    for alias in node.names:
        if _is_risky(f"{module}{alias.name}"):
            yield f"imports {module}{alias.name}"


def _is_risky(dotted: str) -> bool:
    """Whether a dotted name leads to a listed module, directly or through another one."""
    parts = dotted.split(".")
    for count in range(2, min(len(parts), 3) + 1):
        if ".".join(parts[:count]) in HARMLESS:
            return not MODULES.isdisjoint(parts[count:])
    return not MODULES.isdisjoint(parts)


def _attribute(node: ast.Attribute | ast.Name) -> Iterator[str]:
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    if isinstance(node, ast.Name):
        if name in NAMES:
            yield f"uses {name}"
    elif _DUNDER.fullmatch(name) or _FRAMES.match(name):
        yield f"uses .{name}"


def _chain(node: ast.Attribute | ast.Name, own: Mapping[str, str]) -> Iterator[str]:
    """A use of a risky module, however the import named it or whatever module leads to it."""
    dotted = _dotted(node, own)
    if dotted and _is_risky(dotted):
        yield f"uses {dotted}"
    if dotted and not isinstance(node.ctx, ast.Load) and isinstance(node, ast.Attribute):
        yield f"changes {dotted}"


def _dotted(node: ast.expr, own: Mapping[str, str]) -> str:
    """The dotted name a chain of attributes stands for, when it starts at an import."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name) or node.id not in own:
        return ""
    return ".".join([own[node.id], *reversed(parts)])


def _other(node: ast.AST, own: Mapping[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Call):
        name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        name = node.func.id if isinstance(node.func, ast.Name) else name
        if name in _BY_NAME and not _literal_name(node, name):
            yield f"calls {name} with a computed name"
    elif isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        dotted = _dotted(node.value, own)
        if dotted:
            yield f"changes {dotted}"
    elif isinstance(node, ast.ExceptHandler) and node.type is None:
        yield "has a bare except"
    elif isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        text = node.value if isinstance(node.value, str) else node.value.decode("latin-1")
        if _DUNDER.search(text) or _TESTING.search(text):
            yield f"holds the text {text[:40]!r}"
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        if _DUNDER.fullmatch(node.name):
            yield f"defines {node.name}"
    elif isinstance(node, ast.Global):
        yield from (f"declares global {name}" for name in node.names)


def _literal_name(node: ast.Call, name: str) -> bool:
    names = node.args if name in {"attrgetter", "methodcaller"} else node.args[1:2]
    return bool(names) and all(isinstance(n, ast.Constant) for n in names[:1])
