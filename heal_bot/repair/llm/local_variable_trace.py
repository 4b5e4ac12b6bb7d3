"""A program that runs one test and prints the local variables, if any, where a line is reached.

Of many times it shows the first and the last few. Behind them it prints what the test failed with,
whose values pytest and unittest shorten otherwise.
"""

from __future__ import annotations

# How each row begins that shows variables.
REACHED = "time "
# What stands before the message.
WHOLE = "--- the message in full ---"
_PROGRAM = """
import collections, contextlib, importlib.util, io, os, reprlib, sys, unittest.util
import pytest

PATH, LINE, TEST = {path!r}, {line!r}, {test!r}
OPTIONS = ["-vv", "-s", "-p", "no:cacheprovider", "-p", "no:heal-bot"]
OPTIONS += ["-n0"] if importlib.util.find_spec("xdist") else []
WANTED = os.path.realpath(PATH)
show = reprlib.Repr()
show.maxstring = show.maxother = 300
ROOM = 5000
unittest.util._MAX_LENGTH = ROOM
unittest.TestCase.maxDiff = None
seen = []
newest = collections.deque(maxlen=4)
times = 0
raised = []


def at_line(frame, event, argument):
    global times
    if event == "line" and frame.f_lineno == LINE and times < 1000:
        times += 1
        rows = []
        # What the rewriting of assertions keeps its values in begins with an @, the iterator of
        # a generator with a dot.
        named = [item for item in frame.f_locals.items() if item[0][:1] not in "@."]
        for name, value in named[:20]:
            try:
                rows.append(name + " = " + show.repr(value))
            except Exception as error:
                rows.append(name + ": " + type(error).__name__ + " in its repr")
        said = (times, "; ".join(rows))
        if rows and said[1] not in (row for _, row in (*seen, *newest)):
            seen.append(said) if len(seen) < 4 else newest.append(said)
    return at_line


def at_call(frame, event, argument):
    return at_line if os.path.realpath(frame.f_code.co_filename) == WANTED else None


class Watch:
    @pytest.hookimpl(tryfirst=True)
    def pytest_cmdline_main(self):
        # Beside xdist it counts in a local server, and there is no network in here.
        counting = sys.modules.get("pytest_rerunfailures")
        if hasattr(counting, "ServerStatusDB"):
            counting.ServerStatusDB = counting.StatusDB

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_call(self):
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
rows = ["time " + str(number) + " : " + row for number, row in (*seen, *newest)]
for row in rows:
    print(row)
if not times:
    print("the line was not reached; pytest ended with", int(code))
    print(said.getvalue()[-600:])
elif not rows:
    print("there are no local variables")
if times and raised:
    print({whole!r})
    room = max(1000, ROOM - sum(map(len, rows)))
    print(raised[0][:room] + (" [cut here]" if raised[0][room:] else ""))
"""


def make_watcher(path: str, line: int, test: str) -> str:
    """The program for a line of a file (relative to the root) and a node id."""
    return _PROGRAM.format(path=path, line=line, test=test, whole=WHOLE)
