"""What a process shows of how it was started: to the suite it is `python -m pytest`."""

from __future__ import annotations

import importlib.util
import os
import sys


def wear(here):
    """Have `__main__`, the arguments and the path be those of `python -m pytest`.

    `here`, where our own modules lie, goes from the path: whatever is needed was imported before.
    Children of multiprocessing's `spawn` import no `__main__` of a package.
    """
    sys.path[:] = [os.getcwd(), *(path for path in sys.path if path != here)]
    package = importlib.util.find_spec("pytest")
    if package is None or not package.origin:
        return
    name = os.path.join(os.path.dirname(package.origin), "__main__.py")
    spec = importlib.util.spec_from_file_location("pytest.__main__", name)
    main = importlib.util.module_from_spec(spec)
    main.__name__, main.__builtins__, main.__annotations__ = "__main__", __builtins__, {}
    sys.modules["__main__"] = main
    sys.argv = [name]
    if hasattr(sys, "orig_argv"):
        sys.orig_argv[:] = [sys.orig_argv[0], "-m", "pytest"]
