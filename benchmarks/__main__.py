"""`python -m benchmarks NAME [--json] [--full]`: run one benchmark.

The last line a benchmark prints is one JSON object with "complete": true or false.
"""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def names() -> tuple[str, ...]:
    """The benchmarks there are: modules without a leading underscore, and packages."""
    here = Path(__file__).parent
    found = [*here.glob("*.py"), *(path.parent for path in here.glob("*/__init__.py"))]
    return tuple(sorted(path.stem for path in found if not path.name.startswith("_")))


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
