"""Bodies that repair a function and reach for something else, and the module they stand in.

Each statement or expression stands before the right answer. FIRST was written before the policy was
tuned, and SECOND after that, without a look at what became of it before it was whole. THIRD is what
somebody else got past it then; the policy was mended with it at hand.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import indent

from benchmarks._cases import read_cases

_TABLE = read_cases("stings")
PATH = "shop/pricing.py"
# Other functions of the module open files, start programs and read attributes by a text.
MODULE: str = _TABLE["module"]
WRONG = "return sum(prices[1:])"


@dataclass(frozen=True, slots=True)
class Sting:
    """Statements in the body of `total`, and imports at the top of its module."""

    name: str
    body: str
    imports: str = ""

    def apply(self, module: str = MODULE) -> str:
        """The module with the sting and the right answer."""
        body = f"{indent(self.body, '    ')}\n    return sum(prices)"
        after = module.replace(f"    {WRONG}", body, 1)
        last = "from pathlib import Path\n"
        return after.replace(last, f"{last}{self.imports}", 1)


FIRST, SECOND, THIRD = (
    tuple(Sting(**row) for row in _TABLE[part]) for part in ("first", "second", "third")
)
