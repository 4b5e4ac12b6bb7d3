"""Tables of cases and of options, which lie as data in `cases/`."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import yaml

_TYPES = {"path": Path, "int": int, "float": float}


def read_cases(name: str) -> Any:  # noqa: ANN401 - each table has a form of its own
    """The content of one table."""
    path = Path(__file__).parent / "cases" / f"{name}.yaml"
    return yaml.load(path.read_text(encoding="utf-8"), yaml.CSafeLoader)


def options_of(name: str, said: str | None = None) -> argparse.ArgumentParser:
    """The options of a benchmark, or of a command by its module, and what is said of it."""
    place = f".{name}" if "." in name else f" {name}"
    parser = argparse.ArgumentParser(prog=f"python -m benchmarks{place}", description=said)
    for option, told in read_cases("options")[name].items():
        if isinstance(told, str):
            parser.add_argument(f"--{option}", action="store_true", help=told)
        else:
            kind = {"type": _TYPES[told["type"]]} if "type" in told else {}
            parser.add_argument(f"--{option}", **{**told, **kind})
    return parser
