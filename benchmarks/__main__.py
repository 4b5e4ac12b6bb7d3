"""`python -m benchmarks NAME [--json] [--full]`: run one benchmark.

The last line a benchmark prints is one JSON object with "complete": true or false.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def names() -> tuple[str, ...]:
    """The benchmarks there are: the modules of this folder that have no leading underscore."""
    here = Path(__file__).parent
    return tuple(sorted(p.stem for p in here.glob("*.py") if not p.name.startswith("_")))


def main(argv: list[str]) -> int:
    """Hand the remaining arguments to the benchmark; 2 when there is none of that name."""
    if not argv or argv[0] not in names():
        asked = f"no benchmark {argv[0]!r}; " if argv else ""
        print(f"{asked}usage: python -m benchmarks NAME [--json] [--full]", file=sys.stderr)
        print(f"benchmarks: {', '.join(names())}", file=sys.stderr)
        return 2
    module = import_module(f"benchmarks.{argv[0]}")
    code: int = module.main(argv[1:])
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
