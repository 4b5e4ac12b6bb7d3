"""In the test process: named functions are replaced by calls to the process that has the candidate.

This process never executes a line of the candidate; it sees plain data, or refuses.
"""

from __future__ import annotations

import importlib.util
import sys
import types

import pytest

import _heal_canonical_repr
import _heal_input_mutator
import _heal_record_writer
import _heal_tagged_json
from _heal_pristine_stdlib import json, os, select, time

_LINE = 8 << 20
# Calls of the tests that are kept, of so many bytes at most, others that are made like them, and
# the seconds for these.
_KEPT, _LARGEST, _OTHERS, _SECONDS = 200, 1 << 14, 60, 3.0
_MARK = 60


class Refused(BaseException):
    """The oracle cannot tell; no test may take it for an answer, hence no Exception."""


class Oracle:
    """A pytest plugin that puts stubs in the place of `functions`, pairs of (path, name)."""

    def __init__(self, functions, calls, answers, repo, records):
        self.waiting = [tuple(pair) for pair in functions]
        self.calls = calls
        self.answers = answers
        self.repo = repo
        self.records = records
        self.buffer = bytearray()
        self.asked = []
        self.marks = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_finish(self, session):
        self.install()
        # What a test imports itself would run as it was until the next test begins.
        for path, _ in self.waiting:
            self.load(path)
        self.install()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item):
        self.install()

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session):
        """Ask for calls that no test makes, and tell the marks; one without an answer has ''."""
        until, others, silent = time.monotonic() + _SECONDS, [], False
        for call in self.make_others(lambda: time.monotonic() > until):
            try:
                others.append("" if silent else _mark(call, self.exchange(json.dumps(call), until)))
            except Refused:
                silent = True
                others.append("")
        self.records.send("asked", tests=self.marks, others=others)

    def make_others(self, over):
        """Calls two changes away from those of the tests: a search makes those that are near."""
        decode, encode = _heal_tagged_json.decode, _heal_tagged_json.encode
        parts = ("file", "module", "name", "path")
        known = {json.dumps(call) for call in self.asked}
        calls = [
            ([call[part] for part in parts], (decode(call["args"]), decode(call["kwargs"])))
            for call in self.asked
        ]
        near = _heal_input_mutator.others(calls, "oracle", over)
        made = []
        for place, (args, kwargs) in _heal_input_mutator.others(near, "oracle", over):
            call = dict(zip(parts, place))
            try:
                call |= {"args": encode(args), "kwargs": encode(kwargs)}
            except _heal_tagged_json.NotPlain:
                continue
            if json.dumps(call) not in known:
                made.append(call)
            if len(made) == _OTHERS:
                break
        return made

    def install(self):
        """Replace the code of each function as soon as its module is there."""
        for path, name in list(self.waiting):
            file = os.path.realpath(os.path.join(self.repo, path))
            for module in list(sys.modules.values()):
                place = getattr(module, "__file__", None)
                function = getattr(module, "__dict__", {}).get(name)
                if (
                    isinstance(place, str)
                    and os.path.realpath(place) == file
                    and type(function) is types.FunctionType
                    and function.__closure__ is None
                ):
                    self.replace(function, path, name, module.__name__)
                    self.waiting.remove((path, name))
                    break

    def load(self, path):
        """Import the module of a file under a name by which it is found."""
        file = os.path.realpath(os.path.join(self.repo, path))
        parts = path[: -len(".py")].removesuffix("/__init__").split("/")
        first = len(parts) - 1
        while first and os.path.isfile(os.path.join(self.repo, *parts[:first], "__init__.py")):
            first -= 1
        # Above the outermost package with a file of its own only namespaces are left.
        for at in range(first, -1, -1):
            name = ".".join(parts[at:])
            try:
                spec = importlib.util.find_spec(name)
                if spec is not None and os.path.realpath(spec.origin or "") == file:
                    importlib.import_module(name)
                    return
            except (KeyboardInterrupt, GeneratorExit):
                raise
            except BaseException:
                continue

    def replace(self, function, path, name, module):
        """Give the function a body that asks; everyone who holds the function asks from now on."""
        key = "_heal_oracle_%s" % name
        source = "def stub(*args, **kwargs):\n    return %s(args, kwargs)\n" % key
        made = {}
        exec(compile(source, "<heal-bot oracle>", "exec"), made)

        def ask(args, kwargs):
            return self.ask(path, name, module, args, kwargs)

        function.__globals__[key] = ask
        function.__code__ = made["stub"].__code__

    def ask(self, path, name, module, args, kwargs):
        """One call there and back; Refused when anything is no plain data."""
        try:
            sent = _heal_tagged_json.encode(list(args))
            call = {
                "file": path,
                "module": module,
                "name": name,
                "path": self.paths(),
                "args": sent,
                "kwargs": _heal_tagged_json.encode(kwargs),
            }
        except _heal_tagged_json.NotPlain as why:
            raise Refused("%s takes %s" % (name, why)) from None
        line = json.dumps(call)
        answer = self.exchange(line)
        if len(self.asked) < _KEPT and len(line) <= _LARGEST:
            self.asked.append(call)
            self.marks.append(_mark(call, answer))
        if "refused" in answer:
            raise Refused("%s: %s" % (name, answer["refused"]))
        try:
            after = answer["after"]
            if after != sent:
                self.follow(args, sent, after)
            if "error" in answer:
                error = _heal_tagged_json.decode_error(answer["error"])
            else:
                return _heal_tagged_json.decode(answer["value"])
        except (ValueError, KeyError, TypeError, AttributeError) as why:
            raise Refused("%s: %s" % (name, why)) from None
        raise error

    def follow(self, args, sent, after):
        """Make the change the call made to its lists, dicts and sets here as well."""
        if type(after) is not list or len(after) != len(sent):
            raise ValueError("arguments that are none")
        for own, old, new in zip(args, sent, after):
            if old == new:
                continue
            fresh = _heal_tagged_json.decode(new)
            if type(fresh) is not type(own) or type(own) not in (list, dict, set, bytearray):
                raise ValueError("it changes an argument")
            if type(own) in (list, bytearray):
                own[:] = fresh
            else:
                own.clear()
                own.update(fresh)

    def paths(self):
        """Where modules are found, relative to the repository so that they fit another copy."""
        start = self.repo + os.sep
        inside = [p for p in sys.path if p == self.repo or p.startswith(start)]
        return [os.path.relpath(path, self.repo) for path in inside]

    def exchange(self, line, until=None):
        """The answer to a call in JSON; Refused where the other process is gone, late or wrong."""
        data = line.encode("ascii") + b"\n"
        try:
            while data:
                data = data[os.write(self.calls, data) :]
            while b"\n" not in self.buffer:
                left = None if until is None else max(0.0, until - time.monotonic())
                if not select.select([self.answers], [], [], left)[0]:
                    raise Refused("the answering process is late")
                part = os.read(self.answers, 1 << 16)
                self.buffer += part
                if not part or len(self.buffer) > _LINE:
                    raise Refused("the answering process ended")
            answer = _heal_record_writer.read_line(self.answers, self.buffer)
        except (OSError, ValueError, RecursionError) as error:
            raise Refused("the answering process: %s" % type(error).__name__) from None
        if type(answer) is not dict:
            raise Refused("an answer that is none")
        return answer


def _mark(call, answer):
    """What a call gave or made of its arguments, in short; '' for an exception or no plain data.

    Equal values have equal marks; a short one reads as JSON.
    """
    if "refused" in answer or "error" in answer:
        return ""
    after = answer.get("after")
    text = json.dumps([answer.get("value"), None if after == call["args"] else after])
    return text if len(text) <= _MARK else _heal_canonical_repr.digest(text)
