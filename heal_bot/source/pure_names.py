"""The names that compute and do nothing else: what a patch may use although its code did not.

This is an allow list. Whatever is not on it (files, processes, network, evaluation, imports by
text, attributes by text) a patch may use only where the function that it changes did before.
"""

from __future__ import annotations

import builtins
import sys
from functools import lru_cache
from importlib import import_module
from io import BytesIO, StringIO
from pathlib import PurePath
from types import ModuleType

BUILTINS = frozenset(
    """
    abs all any ascii bin bool bytearray bytes callable chr classmethod complex dict divmod
    enumerate filter float format frozenset hasattr hash hex id int isinstance issubclass iter len
    list map max memoryview min next object oct ord pow property range repr reversed round set slice
    sorted staticmethod str sum super tuple zip
    True False None NotImplemented Ellipsis __name__ __debug__ __class__
    """.split()  # noqa: SIM905
) | {
    name
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
}
# What takes attributes or evaluates by a text in further arguments.
WITH_ONE = frozenset({"functools.wraps", "inspect.signature"})
_MODULES = frozenset(
    """
    abc ast base64 binascii bisect calendar cmath collections collections.abc colorsys copy
    dataclasses datetime decimal difflib enum errno fractions functools graphlib hashlib heapq
    hmac html html.entities ipaddress itertools json keyword math numbers operator queue random
    re stat statistics string struct textwrap typing unicodedata urllib.parse weakref zlib
    """.split()  # noqa: SIM905
)
# What pure modules have beside that: attributes by text, texts that are evaluated, classes made by
# a call, names put into modules.
_IMPURE = frozenset(
    """
    abc.ABCMeta abc.abstractproperty calendar.setfirstweekday dataclasses.fields
    dataclasses.make_dataclass decimal.getcontext decimal.setcontext enum.Enum enum.EnumMeta
    enum.EnumType enum.Flag enum.IntEnum enum.IntFlag enum.ReprEnum enum.StrEnum enum.global_enum
    functools.singledispatch functools.singledispatchmethod functools.update_wrapper
    functools.wraps operator.attrgetter operator.methodcaller random.SystemRandom random.seed
    random.setstate string.Formatter typing.ForwardRef typing.get_type_hints
    typing.no_type_check_decorator weakref.finalize
    """.split()  # noqa: SIM905
)
_PARTS = frozenset(
    """
    asyncio.Condition asyncio.Event asyncio.Future asyncio.Lock asyncio.Queue asyncio.Semaphore
    asyncio.gather asyncio.iscoroutinefunction asyncio.shield asyncio.sleep asyncio.wait_for
    contextlib.ExitStack contextlib.asynccontextmanager contextlib.closing
    contextlib.contextmanager contextlib.nullcontext contextlib.suppress contextvars.ContextVar
    email.utils.format_datetime email.utils.formataddr email.utils.parseaddr
    email.utils.parsedate email.utils.parsedate_to_datetime email.utils.quote
    email.utils.unquote http.HTTPStatus inspect.Parameter inspect.Signature inspect.cleandoc
    inspect.getdoc inspect.isabstract inspect.isasyncgenfunction inspect.isawaitable
    inspect.isbuiltin inspect.isclass inspect.iscoroutine inspect.iscoroutinefunction
    inspect.isdatadescriptor inspect.isfunction inspect.isgenerator inspect.isgeneratorfunction
    inspect.ismethod inspect.ismethoddescriptor inspect.ismodule inspect.isroutine io.BytesIO
    io.StringIO logging.LoggerAdapter logging.getLogger os.PathLike os.fspath os.path.abspath
    os.path.basename os.path.commonpath os.path.commonprefix os.path.dirname os.path.expanduser
    os.path.isabs os.path.join os.path.normpath os.path.relpath os.path.split os.path.splitext
    pathlib.PurePath pathlib.PurePosixPath pathlib.PureWindowsPath pprint.pformat shlex.join
    shlex.quote shlex.split sys.exc_info sys.float_info sys.getdefaultencoding
    sys.getfilesystemencoding sys.getrecursionlimit sys.getsizeof sys.intern sys.version_info
    threading.Condition threading.Event threading.Lock threading.RLock
    threading.local time.asctime time.ctime time.get_clock_info time.gmtime time.localtime
    time.mktime time.monotonic time.monotonic_ns time.perf_counter time.perf_counter_ns
    time.process_time time.process_time_ns time.sleep time.strftime time.strptime time.struct_time
    time.thread_time time.time time.time_ns time.timezone time.tzname
    types.GeneratorType types.MappingProxyType types.MethodType uuid.UUID
    uuid.uuid3 uuid.uuid4 uuid.uuid5 warnings.warn
    """.split()  # noqa: SIM905
)
# Modules whose constants and exceptions are pure, whatever else they have.
_VALUED = frozenset(
    """
    argparse asyncio codecs concurrent.futures configparser csv dis getopt gzip http.client
    locale logging mmap os pickle select selectors shutil signal socket ssl subprocess
    sys tarfile threading token tokenize tomllib urllib.error xml.etree.ElementTree zipfile
    zoneinfo
    """.split()  # noqa: SIM905
)
_TYPES = (
    object, str, bytes, bytearray, list, tuple, dict, set, frozenset, int, float, complex, range,
    property, OSError, UnicodeDecodeError, StopIteration, PurePath, StringIO, BytesIO,
)  # fmt: skip
# What these have that leads elsewhere: to attributes by a text, to the classes behind an object.
_UNPLAIN = frozenset(
    """
    format format_map __delattr__ __dir__ __getattribute__ __getstate__ __init_subclass__
    __dict__ __reduce__ __reduce_ex__ __setattr__ __subclasshook__ __class_getitem__ __setstate__
    """.split()  # noqa: SIM905
)
_PROTOCOLS = frozenset(
    """
    __aenter__ __aexit__ __aiter__ __anext__ __await__ __call__ __cause__ __context__ __copy__
    __deepcopy__ __delete__ __enter__ __exit__ __get__ __missing__ __module__ __name__ __next__
    __qualname__ __set__ __traceback__
    """.split()  # noqa: SIM905
)
_CHANGEABLE = (ModuleType, dict, list, set, bytearray)
_EFFECTFUL = ("builtins", "importlib", "os", "shutil", "socket", "subprocess", "tempfile")
_EFFECTFUL_TYPES = (
    "cProfile.Profile", "io.FileIO", "io.TextIOWrapper", "pathlib.Path", "socket.socket",
    "subprocess.Popen", "types.CodeType", "types.FrameType", "types.FunctionType",
    "types.GeneratorType", "types.CoroutineType", "types.ModuleType", "types.TracebackType",
    "types.BuiltinFunctionType", "types.MethodType", "builtins.type",
    "string.Formatter",
)  # fmt: skip


def split_pure(dotted: str) -> tuple[str, tuple[str, ...]] | None:
    """A dotted name as what is pure of it and the attributes behind that; None where nothing is."""
    parts = dotted.split(".")
    for count in range(len(parts), 0, -1):
        name, module = ".".join(parts[:count]), ".".join(parts[: count - 1])
        listed = module in _MODULES and parts[count - 1] in list_exports(module)
        listed |= module in _VALUED and _is_value(module, parts[count - 1])
        if name in _PARTS or (listed and name not in _IMPURE):
            return name, tuple(parts[count:])
    return None


def leads_to_pure(module: str) -> bool:
    """Whether a module is pure or has parts that are, so that to import it is nothing by itself."""
    return any(f"{name}.".startswith(f"{module}.") for name in _MODULES | _PARTS)


@lru_cache(maxsize=1)
def list_methods() -> frozenset[str]:
    """The attributes of plain values: of built-in types and of the classes of pure modules."""
    found = {name for kind in _TYPES for name in dir(kind)} | _PROTOCOLS
    for module in _MODULES - {"typing", "collections.abc"}:
        loaded = import_module(module)
        kinds = (getattr(loaded, n) for n in list_exports(module) if f"{module}.{n}" not in _IMPURE)
        found |= {n for k in kinds if isinstance(k, type) for n in dir(k) if n[0] != "_"}
    # Of members of an enumeration, whose classes a call may make.
    found |= {"name", "value"}
    return frozenset(n for n in found if n[0] != "_" or n[-2:] == "__") - _UNPLAIN


@lru_cache(maxsize=1)
def list_stream_methods() -> frozenset[str]:
    """The attributes of texts in memory that files have as well, and plain values have not."""
    plain = {name for kind in _TYPES if kind not in {StringIO, BytesIO} for name in dir(kind)}
    return frozenset({*dir(StringIO), *dir(BytesIO)} - plain)


@lru_cache(maxsize=1)
def list_effects() -> frozenset[str]:
    """The attributes of what reaches files, programs, the network, frames and code.

    A name of the project that is one of them may as well be the other.
    """
    modules = {module: dir(import_module(module)) for module in _EFFECTFUL}
    found = {n for module, names in modules.items() for n in names if not _is_value(module, n)}
    found |= {name for name in dir(sys) if name[0] == "_"}
    for kind in _EFFECTFUL_TYPES:
        module, _, name = kind.partition(".")
        found.update(dir(getattr(import_module(module), name)))
    return (frozenset(found) | _UNPLAIN) - list_methods() - (BUILTINS - _UNPLAIN)


def _is_value(module: str, name: str) -> bool:
    """Whether a name of a module is a constant or an exception, which reach nothing.

    In capitals it is a constant of some Python, if not of this one.
    """
    what = getattr(import_module(module), name, None)
    raised = isinstance(what, type) and issubclass(what, BaseException)
    return raised or isinstance(what, int | str | bytes) or (what is None and name.isupper())


@lru_cache(maxsize=64)
def list_exports(module: str) -> frozenset[str]:
    """The public names of a module, without modules that it imports and tables it shares."""
    loaded = import_module(module)
    names = getattr(loaded, "__all__", None) or [n for n in vars(loaded) if not n.startswith("_")]
    return frozenset(n for n in names if not isinstance(getattr(loaded, n, None), _CHANGEABLE))
