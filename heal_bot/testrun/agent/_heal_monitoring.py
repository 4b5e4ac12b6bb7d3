"""Lines as sys.monitoring tells of them, on 3.12 and later."""

from __future__ import annotations

import sys


class Monitoring:
    """Each line of the project reports once per test; other code reports its first start, once.

    A line that has reported is disabled. To hear of it in the next test the events of its code
    object are taken away and given again: `restart_events` would make the interpreter go through
    all code that runs, the test runner's included.
    """

    def __init__(self, owner):
        self.owner = owner
        self.tool = None
        self.armed = {}
        self.touched = {}

    def start(self):
        monitoring = sys.monitoring
        for tool in (4, 3):
            if monitoring.get_tool(tool) is None:
                monitoring.use_tool_id(tool, "heal-bot")
                self.tool = tool
                break
        else:
            return "no free monitoring tool"
        events = monitoring.events
        disable = monitoring.DISABLE
        owner, armed, touched = self.owner, self.armed, self.touched
        files, relative = owner.files, owner.relative
        line_event, set_local = events.LINE, monitoring.set_local_events

        def starts(code, offset):
            path = code.co_filename
            inside = files.get(path, 0)
            if inside == 0:
                inside = relative(path)
            # Code objects of different files may be equal, so identity tells them apart.
            if inside is not None and id(code) not in armed:
                armed[id(code)] = code
                set_local(tool, code, line_event)
            return disable

        def lines(code, line):
            seen = owner.seen
            if seen is not None:
                path = code.co_filename
                seen.add((path, line))
                seen.add((path, code.co_firstlineno))
            touched[id(code)] = code
            return disable

        monitoring.register_callback(tool, events.PY_START, starts)
        monitoring.register_callback(tool, events.LINE, lines)
        monitoring.set_events(tool, events.PY_START)
        return None

    def begin(self):
        if self.tool is None:
            return
        tool, set_local = self.tool, sys.monitoring.set_local_events
        line_event = sys.monitoring.events.LINE
        again = list(self.touched.values())
        self.touched.clear()
        for code in again:
            set_local(tool, code, 0)
            set_local(tool, code, line_event)

    def resume(self):
        return None

    def pause(self):
        return None

    def end(self):
        if self.tool is not None and sys.monitoring.get_tool(self.tool) != "heal-bot":
            return "foreign monitoring tool"
        return None

    def stop(self):
        if self.tool is not None:
            monitoring = sys.monitoring
            monitoring.set_events(self.tool, 0)
            for code in self.armed.values():
                monitoring.set_local_events(self.tool, code, 0)
            for event in (monitoring.events.PY_START, monitoring.events.LINE):
                monitoring.register_callback(self.tool, event, None)
            monitoring.free_tool_id(self.tool)
            self.tool = None
