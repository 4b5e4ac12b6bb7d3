"""What a failed test says, as data: exception type, message and frames, root cause innermost."""

from __future__ import annotations

import opcode

from _heal_pristine_stdlib import os

_RAISE = bytes([opcode.opmap["RAISE_VARARGS"]])
MAX_MESSAGE = 8000
MAX_FRAMES = 120
_MACHINERY = ("/_pytest/", "/pluggy/", "/_heal_", "/pytest/__")


def describe(error, root):
    """Fields k (type name), m (message) and f (frames as [path, line, function]) of an exception.

    The frames of what was seen last come first, those of its root cause last; paths below `root`
    are relative to it.
    """
    frames = []
    for part in _chain(error):
        frames += _frames(part.__traceback__, root)
    if len(frames) > MAX_FRAMES:
        frames = frames[: MAX_FRAMES // 2] + frames[-MAX_FRAMES // 2 :]
    return {"k": type(error).__name__[:200], "m": clip(local(_text(error), root)), "f": frames}


def clip(text):
    """Head and tail of a long text, without lone surrogates."""
    if len(text) > MAX_MESSAGE:
        text = text[: MAX_MESSAGE * 2 // 3] + "\n[...]\n" + text[-MAX_MESSAGE // 3 :]
    return text.encode("utf-8", "replace").decode("utf-8")


def local(text, root):
    """The text with paths below `root` made relative: where the copy lies is nobody's matter."""
    return text.replace(root + "/", "")


def relative(path, root):
    """The path below `root` with forward slashes, or the path as it is."""
    if not path.startswith("/") and not path.startswith("<"):
        path = os.path.join(root, path)
    if path.startswith(root + "/"):
        return path[len(root) + 1 :]
    return path


def _text(error):
    """The message with its notes: hypothesis writes the smallest failing example there."""
    # Code under test wrote __str__: it may raise anything.
    try:
        if type(error).__name__ == "FixtureLookupError" and hasattr(error, "argname"):
            said = getattr(error, "msg", None) or "fixture '" + str(error.argname) + "' not found"
            return str(said)
        if type(error).__name__ == "MultipleDoctestFailures":
            error = error.failures[0]
        if type(error).__name__ == "DocTestFailure":
            return "Expected:\n" + _indented(error.example.want) + "Got:\n" + _indented(error.got)
        notes = getattr(error, "__notes__", None) or ()
        return "\n".join([str(error), *(note for note in notes if isinstance(note, str))])
    except Exception as broken:
        return "<str() of it raised " + type(broken).__name__ + ">"


def _indented(text):
    return "".join("    " + line + "\n" for line in str(text).splitlines())


def _chain(error):
    """The exception, then what it came from, down to the root cause (first of a group).

    What handles one exception and meets another without raising it is at fault itself.
    """
    seen = set()
    while error is not None and id(error) not in seen and len(seen) < 20:
        seen.add(id(error))
        yield error
        inner = getattr(error, "exceptions", None)
        if error.__cause__ is not None:
            error = error.__cause__
        elif (
            error.__context__ is not None
            and not error.__suppress_context__
            and (isinstance(error, SystemExit) or _is_raised(error.__traceback__))
        ):
            error = error.__context__
        elif isinstance(inner, tuple) and inner and isinstance(inner[0], BaseException):
            error = inner[0]
        else:
            error = None


def _is_raised(trace):
    """Whether a `raise` or `assert` statement, or no code of Python, is where a traceback ends."""
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    at = -1 if trace is None else trace.tb_lasti
    return at < 0 or trace.tb_frame.f_code.co_code[at : at + 1] in (_RAISE, b"")


def _frames(trace, root):
    """[path, line, function] per frame, without what pytest put above the first one of the repo."""
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        path = code.co_filename
        machinery = "__unittest" in trace.tb_frame.f_globals
        if not machinery and not any(part in path for part in _MACHINERY):
            found.append([relative(path, root), trace.tb_lineno or 1, code.co_name])
        trace = trace.tb_next
    first = next((n for n, frame in enumerate(found) if not frame[0].startswith(("/", "<"))), 0)
    return found[first:]


def outcome(report):
    """How a phase ended, in the words of the records."""
    if hasattr(report, "wasxfail"):
        if report.skipped:
            return "xfailed"
        if report.passed:
            return "xpassed"
    return report.outcome


def is_subtest(report):
    """Whether a report is of a part of a test, unittest's or pytest's."""
    return type(report).__name__.lower() == "subtestreport"


def fields(report, detail, seconds):
    """The record of one phase report; `detail` is what `describe` said of an exception."""
    told = {
        "w": report.when,
        "o": outcome(report),
        "s": round(seconds, 6),
    }
    if is_subtest(report):
        told["sub"] = True
    if told["o"] not in ("passed", "xfailed", "xpassed"):
        told.update(detail or {"k": "", "m": _plain(report), "f": []})
    return told


def _plain(report):
    """The message of a report without an exception: a skip's reason or a strict xpass."""
    text = report.longrepr
    if isinstance(text, tuple) and len(text) == 3:
        text = text[2]
    return clip(str(text or ""))
