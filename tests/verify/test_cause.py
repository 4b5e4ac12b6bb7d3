"""What the environment lacks, read off a failure."""

from __future__ import annotations

import pytest

from heal_bot.model import CaseResult, Failure
from heal_bot.verify.cause import environment
from tests.fakes import ENVIRONMENT


class Tree:
    """A tree without files."""

    def paths(self) -> tuple[str, ...]:
        return ()


@pytest.mark.parametrize(
    ("kind", "message", "named"),
    [
        ("ImportError", "libpq.so.5: cannot open shared object file: No such file or directory",
         "libpq.so.5"),
        ("OSError", "libGL.so: cannot open shared object file: No such file or directory",
         "libGL.so"),
        ("E", "OSError: libstdc++.so.6: cannot open shared object file: No such file",
         "libstdc++.so.6"),
        ("OSError", "[Errno 2] No such file or directory: 'prices.so'", ""),
    ],
)  # fmt: skip
def test_a_shared_library_that_is_missing_is_named_with_the_remedy(
    kind: str, message: str, named: str
) -> None:
    seen = CaseResult("tests/test_a.py", "error", kind=kind, message=message)
    said = environment(seen, Failure("tests/test_a.py", kind, message), Tree(), ENVIRONMENT)  # type: ignore[arg-type]
    if named:
        assert f"the shared library {named} is missing here" in said
        assert "system-packages, or run `heal-bot heal` in the test job" in said
    else:
        assert "shared library" not in said
