"""A pytest plugin: which functions of a project its tests execute, as `executed.json` in the venv.

It stands alone, beside the project's own packages: standard library, Python 3.9 and newer.
"""

import json
import sys
import threading
from pathlib import Path
from types import CodeType, FrameType

_CODES: set[CodeType] = set()


def _note(frame: FrameType, event: str, _: object) -> None:
    _CODES.add(frame.f_code)


def pytest_runtestloop() -> None:
    """Watch from the first test on, not while modules are imported."""
    threading.settrace(_note)
    sys.settrace(_note)


def pytest_sessionfinish() -> None:
    """Write file, name and first line of each function."""
    sys.settrace(None)
    rows = sorted({(c.co_filename, c.co_name, c.co_firstlineno) for c in list(_CODES)})
    Path(sys.prefix, "executed.json").write_text(json.dumps(rows))
