"""What a piece of code reaches for beyond its own logic: the facts that rails compare."""

from __future__ import annotations

import ast
import re
import sys
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
    tracemalloc site sysconfig trace traceback linecache tokenize fileinput timeit cProfile
    cffi requests httpx aiohttp paramiko
    """.split()  # noqa: SIM905
)
# The same for words that are modules only where a name begins with them.
FIRST = frozenset("test idlelib lib2to3 ensurepip venv pip setuptools distutils".split())  # noqa: SIM905
HARMLESS = frozenset(
    """
    os.path.join os.path.basename os.path.dirname os.path.splitext os.path.split os.path.normpath
    os.path.isabs os.path.commonprefix os.path.commonpath os.sep os.linesep os.fspath os.PathLike
    sys.maxsize sys.maxunicode sys.float_info sys.byteorder sys.version_info urllib.parse
    http.HTTPStatus
    inspect.isclass inspect.isfunction inspect.ismethod inspect.isroutine inspect.isbuiltin
    inspect.isabstract inspect.isawaitable inspect.iscoroutine inspect.iscoroutinefunction
    inspect.isgenerator inspect.isgeneratorfunction inspect.isasyncgenfunction
    inspect.isdatadescriptor inspect.ismethoddescriptor inspect.cleandoc inspect.getdoc
    inspect.signature inspect.Parameter inspect.Signature
    """.split()  # noqa: SIM905
)
# Parts of ordinary modules that open files, start programs, evaluate text or make code and classes.
PARTS = frozenset(
    """
    io.open io.open_code io.FileIO codecs.open types.FunctionType types.CodeType types.new_class
    dataclasses.make_dataclass typing.get_type_hints weakref.finalize contextvars.copy_context
    asyncio.create_subprocess_exec asyncio.create_subprocess_shell
    concurrent.futures.ProcessPoolExecutor
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
    r"|(?:_getframe|_current_frames|_exit|settrace|setprofile)\Z"
)
_FILES = frozenset(
    """
    read_text read_bytes write_text write_bytes iterdir rglob unlink touch symlink_to hardlink_to
    """.split()  # noqa: SIM905
)
_BASE = frozenset(
    """
    __init__ __post_init__ __init_subclass__ __enter__ __exit__ __aenter__ __aexit__
    """.split()  # noqa: SIM905
)
_DUNDER = re.compile(r"__\w+__")
_TESTING = re.compile(
    r"pytest|unittest|sys\.modules|conftest|\btests?[/\\]\w|\btest_\w+\.py"
    r"|\b(?:tb|gi|cr|ag)_frame\b|\bf_(?:back|locals|globals)\b",
    re.IGNORECASE,
)


def list_capabilities(body: ast.AST, aliases: Mapping[str, str]) -> frozenset[str]:
    """What the code reaches for, in words, one fact each; empty for plain logic.

    `aliases` maps the names that imports bind in the file to what they stand for.
    """
    hidden = _parameters(body)
    own = {name: full for name, full in {**aliases, **find_imported(body)}.items()
           if name not in hidden}  # fmt: skip
    inner = {
        id(node.value)
        for node in ast.walk(body)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Attribute | ast.Name)
    }
    above = {id(node) for node in ast.walk(body) if _is_of_base(node)}
    called = {id(node.func) for node in ast.walk(body) if isinstance(node, ast.Call)}
    found: set[str] = set()
    for node in _without_hasattr_names(body):
        if isinstance(node, ast.Name) and node.id in _BY_NAME and id(node) not in called:
            found.add(f"passes {node.id} on")
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.update(_imports(node))
        elif isinstance(node, ast.Attribute | ast.Name):
            if id(node) not in above:
                found.update(_attribute(node))
            if id(node) not in inner:
                found.update(_chain(node, own))
        else:
            found.update(_other(node, own))
    return frozenset(found)


def _without_hasattr_names(body: ast.AST) -> Iterator[ast.AST]:
    """All nodes but the names that `hasattr` is asked for: it tells no more than yes or no."""
    nodes = [*ast.walk(body)]
    asked = {
        id(node.args[1])
        for node in nodes
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "hasattr"
        and len(node.args) == 2
    }
    return (node for node in nodes if id(node) not in asked or not isinstance(node, ast.Constant))


def _is_of_base(node: ast.AST) -> bool:
    """Whether it is `super().__init__` or the like, which leads to the base class alone."""
    match node:
        case ast.Attribute(
            value=ast.Call(func=ast.Name(id="super"), args=[], keywords=[]), attr=name
        ):
            return name in _BASE
    return False


def _parameters(body: ast.AST) -> set[str]:
    """The parameters of the function that is all of the code: they hide imports of their name."""
    for node in getattr(body, "body", ())[:1]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            return {child.arg for child in ast.walk(node.args) if isinstance(child, ast.arg)}
    return set()


@lru_cache(maxsize=256)
def find_aliases(text: str) -> Mapping[str, str]:
    """The names that imports bind anywhere in a file, and what they stand for."""
    return find_imported(guard.parse(text))


def find_imported(tree: ast.AST) -> dict[str, str]:
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
    # What the standard library keeps to itself leads to everything: random._os, collections._sys.
    private = parts[0] in sys.stdlib_module_names and any(p.startswith("_") for p in parts)
    return dotted in PARTS or private or parts[0] in FIRST or not MODULES.isdisjoint(parts)


def _attribute(node: ast.Attribute | ast.Name) -> Iterator[str]:
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    if isinstance(node, ast.Name):
        if name in NAMES:
            yield f"uses {name}"
        if not isinstance(node.ctx, ast.Load) and _DUNDER.fullmatch(name):
            yield f"defines {name}"
    elif _DUNDER.fullmatch(name) or _FRAMES.match(name):
        yield f"uses .{name}"
    if (name == "open" and isinstance(node, ast.Name)) or name in _FILES:
        yield "opens files"


def _chain(node: ast.Attribute | ast.Name, own: Mapping[str, str]) -> Iterator[str]:
    """A use of a risky module, however the import named it or whatever module leads to it."""
    dotted = _dotted(node, own)
    if dotted and (_is_risky(dotted) or dotted in sys.stdlib_module_names):
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
        yield from _call(node, own)
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
    elif isinstance(node, ast.Global):
        yield from (f"declares global {name}" for name in node.names)
    for field in ("name", "asname", "arg", "rest"):
        bound = getattr(node, field, None)
        if isinstance(bound, str) and _DUNDER.fullmatch(bound):
            yield f"defines {bound}"


def _call(node: ast.Call, own: Mapping[str, str]) -> Iterator[str]:
    """Attributes by their name, and classes made by a call."""
    name = node.func.attr if isinstance(node.func, ast.Attribute) else ""
    name = node.func.id if isinstance(node.func, ast.Name) else name
    if name == "type" and len(node.args) > 1:
        yield "calls type with three arguments"
    if name not in _BY_NAME:
        return
    away = name in {"attrgetter", "methodcaller"}
    names = node.args[:1] if away else node.args[1:2]
    if not names or not isinstance(names[0], ast.Constant):
        yield f"calls {name} with a computed name"
        return
    asked = str(names[0].value)
    dotted = "" if away else _dotted(node.args[0], own)
    if dotted and _is_risky(f"{dotted}.{asked}"):
        yield f"uses {dotted}.{asked}"
    if any(_FRAMES.match(part) for part in asked.split(".")):
        yield f"calls {name} for {asked}"
