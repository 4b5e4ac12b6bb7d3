"""Values as text that equal values share, whatever their addresses."""

from __future__ import annotations

import hashlib
import re
import types

PLAIN = (int, float, complex, str, bytes, bool, type(None))
TEXT = 100
_NODES = 400
_DEPTH = 8
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_NAMED = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType)


def text(value):
    """A value as a person reads it, without addresses, clipped."""
    try:
        said = _ADDRESS.sub("", repr(value))
    except BaseException:
        said = "<%s>" % type(value).__name__
    return said if len(said) <= TEXT else said[: TEXT - 1] + "\u2026"


def digest(value):
    """A short text that equal values share: type and content, without addresses."""
    return hashlib.sha1(repr(_shape(value, {}, 0)).encode("utf-8", "replace")).hexdigest()[:12]


def parts(value):
    """The attributes of an object by name: of its dictionary and its slots."""
    found = getattr(value, "__dict__", None)
    named = dict(found) if isinstance(found, dict) else {}
    for kind in type(value).__mro__:
        slots = vars(kind).get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__"):
                try:
                    named[name] = getattr(value, name)
                except BaseException:
                    continue
    return named


def _is_cache(kind, name):
    """Whether an attribute is what a lazy property of that name keeps of its result."""
    made = next((vars(one)[name] for one in kind.__mro__ if name in vars(one)), None)
    if isinstance(made, types.FunctionType) or not hasattr(type(made), "__get__"):
        return False
    try:
        if getattr(made, "fset", None) is not None:
            return False
        held = [*vars(made).values(), getattr(made, "fget", None)]
        return any(isinstance(f, types.FunctionType) and f.__name__ == name for f in held)
    except BaseException:
        return False


def _shape(value, seen, depth):
    kind = type(value)
    if kind in PLAIN:
        return kind.__name__, repr(value)
    if id(value) in seen:
        return kind.__name__, seen[id(value)]
    if len(seen) > _NODES or depth > _DEPTH:
        return kind.__name__
    seen[id(value)] = len(seen)
    # A value that is made for the moment must live as long as its id is remembered.
    if kind in (list, tuple):
        return kind.__name__, [_shape(part, seen, depth + 1) for part in value]
    if kind in (set, frozenset):
        return kind.__name__, sorted(repr(_shape(part, {}, depth + 1)) for part in value)
    if isinstance(value, dict):
        rows = [(_shape(k, seen, depth + 1), _shape(v, seen, depth + 1)) for k, v in value.items()]
        return kind.__name__, rows
    if isinstance(value, _NAMED):
        return kind.__name__, getattr(value, "__qualname__", getattr(value, "__name__", ""))
    if isinstance(value, types.MethodType):
        return kind.__name__, value.__func__.__qualname__
    inside = {name: part for name, part in parts(value).items() if not _is_cache(kind, name)}
    if inside:
        rows = [(name, _shape(part, seen, depth + 1)) for name, part in sorted(inside.items())]
        return kind.__name__, rows
    return kind.__name__, text(value)
