"""Tables of cases, which lie as data in `cases/`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


def read_cases(name: str) -> Any:  # noqa: ANN401 - each table has a form of its own
    """The content of one table."""
    path = Path(__file__).parent / "cases" / f"{name}.yaml"
    return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)
