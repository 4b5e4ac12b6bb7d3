"""Tests with fixtures, called again and again in one process: pytest's own hooks, no reports."""

from __future__ import annotations

import contextlib


class Spoilt(BaseException):
    """Fixtures of a test that was cut short cannot be taken down."""


class Call:
    """One test as pytest sets it up, calls it and takes it down; what it raises is raised."""

    def __init__(self, item):
        self.item = item

    def __call__(self):
        item, hooks = self.item, self.item.ihook
        # As pytest's own protocol does where an item runs more than once.
        if not item._request:
            item._initrequest()
        try:
            hooks.pytest_runtest_setup(item=item)
            hooks.pytest_runtest_call(item=item)
        finally:
            # How the test ended counts, whatever its fixtures say to that: `tmp_path` wants a
            # report of a test that passed, and there is none.
            with contextlib.suppress(Exception):
                self._down()

    def recover(self):
        """Take down what is still up after a call was cut short; Spoilt where that fails."""
        state = self.item.session._setupstate
        if state.stack:
            with contextlib.suppress(Exception):
                self._down()
        if state.stack:
            raise Spoilt("%s was cut short" % self.item.nodeid)

    def _down(self):
        item = self.item
        try:
            item.ihook.pytest_runtest_teardown(item=item, nextitem=None)
        finally:
            item._request, item.funcargs = False, None
