"""A program that runs one test and prints its parameters and the local variables at a line.

Of many times that it is reached the first and the last few are shown, of each what changed since
the one before. Behind them stands what the test failed with, whose values pytest and unittest
shorten otherwise.
"""

from __future__ import annotations

# What stands before the values.
SHOWN = "--- parameters and local variables ---"
# What stands before the message.
WHOLE = "--- the message in full ---"
# A plugin of pytest for programs that run it: what needs a server is without one.
OFFLINE = """
import sys
import pytest


class Offline:
    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self):
        # Beside xdist it counts in a local server, and there is no network in here.
        counting = sys.modules.get("pytest_rerunfailures")
        if hasattr(counting, "ServerStatusDB"):
            counting.ServerStatusDB = counting.StatusDB
"""
_PROGRAM = """
import collections, contextlib, importlib.util, io, os, reprlib, unittest.util

PATH, LINE, TEST = {path!r}, {line!r}, {test!r}
OPTIONS = ["-vv", "-s", "-p", "no:cacheprovider", "-p", "no:heal-bot"]
OPTIONS += ["-n0"] if importlib.util.find_spec("xdist") else []
WANTED = os.path.realpath(PATH)
show = reprlib.Repr()
show.maxstring = show.maxother = 300
ROOM = 5000
unittest.util._MAX_LENGTH = ROOM
unittest.TestCase.maxDiff = None
given = []
seen = []
newest = collections.deque(maxlen=4)
times = 0
raised = []


def write(values):
    # What the rewriting of assertions keeps its values in begins with an @, the iterator of a
    # generator with a dot.
    for name, value in [item for item in values.items() if item[0][:1] not in "@."][:20]:
        try:
            yield name + " = " + show.repr(value)
        except Exception as error:
            yield name + ": " + type(error).__name__ + " in its repr"


def at_line(frame, event, argument):
    global times
    if event == "line" and frame.f_lineno == LINE and times < 1000:
        times += 1
        rows = list(write(frame.f_locals))
        if rows and rows not in (known for _, known in (*seen, *newest)):
            seen.append((times, rows)) if len(seen) < 4 else newest.append((times, rows))
    return at_line


def at_call(frame, event, argument):
    return at_line if os.path.realpath(frame.f_code.co_filename) == WANTED else None


class Watch(Offline):
    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self, item):
        given.extend(write(getattr(getattr(item, "callspec", None), "params", {{}})))
        sys.settrace(at_call)
        yield
        sys.settrace(None)

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_makereport(self, call):
        yield
        if call.excinfo and not raised:
            try:
                raised.append(str(call.excinfo.value))
            except Exception as error:
                raised.append(type(error).__name__ + " in its message")


with contextlib.redirect_stdout(io.StringIO()) as said:
    code = pytest.main([*OPTIONS, TEST], plugins=[Watch()])
lines = ["parameters : " + "; ".join(given)] if given else []
before = []
for number, rows in (*seen, *newest):
    changed = "; ".join(row for row in rows if row not in before)
    lines.append("time " + str(number) + " : " + changed)
    before = rows
if not times:
    print("the line was not reached; pytest ended with", int(code))
    print(said.getvalue()[-600:])
elif lines:
    print({shown!r}, *lines, sep="\\n")
else:
    print("there are no local variables")
if times and raised:
    print({whole!r})
    room = max(1000, ROOM - sum(map(len, lines)))
    print(raised[0][:room] + (" [cut here]" if raised[0][room:] else ""))
"""


def make_watcher(path: str, line: int, test: str) -> str:
    """The program for a line of a file (relative to the root) and a node id."""
    return OFFLINE + _PROGRAM.format(path=path, line=line, test=test, shown=SHOWN, whole=WHOLE)
