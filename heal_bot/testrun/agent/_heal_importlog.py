"""Which functions ran while the project was imported."""

from __future__ import annotations

import sys


class NoTool(Exception):
    """Every monitoring tool of this interpreter is taken."""


class CallLog:
    """Which code below `root` ran while it was on: what an import computed, no swap computes anew.

    Holds the code objects, so that their ids stay theirs.
    """

    def __init__(self, root):
        self.root = root + "/"
        self.codes = {}
        self.waits = False

    def __enter__(self):
        if hasattr(sys, "monitoring"):
            monitoring = sys.monitoring
            events = monitoring.events
            self.tool = next((t for t in (4, 3, 2) if monitoring.get_tool(t) is None), None)
            if self.tool is None:
                raise NoTool("no free monitoring tool")
            monitoring.use_tool_id(self.tool, "heal-bot")

            def starts(code, offset):
                self._note(code)
                return monitoring.DISABLE

            monitoring.register_callback(self.tool, events.PY_START, starts)
            monitoring.set_events(self.tool, events.PY_START)
        else:
            # A profile function makes pytest's own start three times as slow; none of the project
            # runs before the first of its modules does.
            self.waits = True
            sys.addaudithook(self._executes)
        return self

    def __exit__(self, *error):
        self.stop()
        if hasattr(sys, "monitoring"):
            sys.monitoring.free_tool_id(self.tool)

    def stop(self):
        """Note no more."""
        if hasattr(sys, "monitoring"):
            sys.monitoring.set_events(self.tool, 0)
        else:
            self.waits = False
            sys.setprofile(None)

    def _executes(self, event, args):
        if event == "exec" and self.waits and args[0].co_filename.startswith(self.root):
            self.waits = False
            sys.setprofile(self._profile)

    def _profile(self, frame, event, arg):
        if event == "call":
            self._note(frame.f_code)

    def _note(self, code):
        if code.co_filename.startswith(self.root):
            self.codes[id(code)] = code
