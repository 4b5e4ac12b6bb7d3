from __future__ import annotations

import pytest

TEXT = 'def {name}(values):\n    """{doc}"""\n    return {old}(values, key=len)\n'


def _prior(bench, name: str, doc: str, old: str, new: str) -> float:
    text = TEXT.format(name=name, doc=doc, old=old)
    wanted = TEXT.format(name=name, doc=doc, old=new)
    return next(c.prior for c in bench.candidates(text) if c.edits[0].new_source == wanted)


@pytest.mark.parametrize(
    ("name", "doc", "old", "new", "against"),
    [
        ("longest", "One of the values.", "max", "min", True),
        ("best", "The highest of some values.", "max", "min", True),
        ("best", "The shortest of some values.", "min", "max", True),
        ("best", "The highest of some values.", "min", "max", False),
        ("best", "The highest or the lowest.", "max", "min", False),
        ("best", "One of the values.", "max", "min", False),
    ],
)
def test_a_function_that_says_what_it_wants_speaks_against_the_opposite(
    bench, name: str, doc: str, old: str, new: str, against: bool
) -> None:
    plain = _prior(bench, "f", "One of the values.", old, new)
    assert _prior(bench, name, doc, old, new) == plain + (2.0 if against else 0.0)
