"""Plain data as tagged JSON: exact types only, nothing that could run code where it is read."""

from __future__ import annotations

import datetime
import decimal
import fractions
import sys

_DEPTH = 60
_NODES = 200_000
_EXACT = (decimal.Decimal, fractions.Fraction)
_TIMES = (datetime.date, datetime.datetime, datetime.time)
_READ = {
    "decimal": decimal.Decimal,
    "fraction": fractions.Fraction,
    "date": datetime.date.fromisoformat,
    "datetime": datetime.datetime.fromisoformat,
    "time": datetime.time.fromisoformat,
    "float": float.fromhex,
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
}
_MANY = {"tuple": tuple, "set": set, "frozenset": frozenset}


class NotPlain(Exception):
    """A value that is no plain data; the message names its type."""


def encode(value):
    """The value as JSON can hold it; NotPlain for any type but the listed ones."""
    return _encode(value, _DEPTH, [_NODES])


def _encode(value, depth, left):
    kind = type(value)
    left[0] -= 1
    if depth < 0 or left[0] < 0:
        raise NotPlain("too large or too deep")
    if kind is list:
        return [_encode(item, depth - 1, left) for item in value]
    if kind in _MANY.values():
        return {kind.__name__: [_encode(item, depth - 1, left) for item in value]}
    if kind is dict:
        pairs = [
            [_encode(k, depth - 1, left), _encode(v, depth - 1, left)] for k, v in value.items()
        ]
        return {"dict": pairs}
    return _encode_atom(value, kind)


def _encode_atom(value, kind):
    if value is None or kind in (bool, str):
        return value
    if kind is int:
        if value.bit_length() > 12_000:
            raise NotPlain("an int of more than 12,000 bits")
        return value
    if kind is float:
        return {"float": value.hex()}
    if kind in (bytes, bytearray):
        return {kind.__name__: value.hex()}
    if kind is complex:
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if kind is range:
        return {"range": [value.start, value.stop, value.step]}
    if kind is datetime.timedelta:
        return {"timedelta": [value.days, value.seconds, value.microseconds]}
    if kind in _EXACT:
        return {kind.__name__.lower(): str(value)}
    if kind in _TIMES and getattr(value, "tzinfo", None) is None:
        return {kind.__name__: value.isoformat()}
    raise NotPlain("a %s" % kind.__name__[:80])


def decode(data):
    """The value of what `encode` made; ValueError for anything else."""
    if data is None or type(data) in (bool, str, int):
        return data
    if type(data) is list:
        return [decode(item) for item in data]
    if type(data) is not dict or len(data) != 1:
        raise ValueError("no tagged value")
    ((tag, body),) = data.items()
    try:
        if tag in _READ and type(body) is str:
            return _READ[tag](body)
        if type(body) is list:
            return _decode_list(tag, body)
    except (TypeError, KeyError, IndexError, ArithmeticError) as error:
        raise ValueError("no tagged value: %s" % type(error).__name__) from None
    raise ValueError("no tagged value")


def _decode_list(tag, body):
    if tag in _MANY:
        return _MANY[tag](decode(item) for item in body)
    if tag == "dict":
        return {decode(key): decode(item) for key, item in body}
    if tag == "complex":
        return complex(float.fromhex(body[0]), float.fromhex(body[1]))
    if tag == "range":
        return range(*map(int, body))
    if tag == "timedelta":
        return datetime.timedelta(*map(int, body))
    raise ValueError("the tag %.40r" % tag)


def encode_error(error):
    """An exception as the place of its class, its arguments and its plain attributes."""
    kind = type(error)
    return {
        "module": str(kind.__module__),
        "name": str(kind.__qualname__),
        "args": encode(list(error.args)),
        "state": encode(dict(error.__dict__)),
    }


def decode_error(data):
    """A new exception of the class as this process knows it; ValueError when it knows none."""
    found = sys.modules.get(data["module"])
    for part in data["name"].split("."):
        found = getattr(found, part, None)
    allowed = (Exception, SystemExit)
    if not (isinstance(found, type) and issubclass(found, allowed)):
        raise ValueError("no exception %.80s" % data["name"])
    error = found.__new__(found)
    error.args = tuple(decode(data["args"]))
    error.__dict__.update(decode(data["state"]))
    return error
