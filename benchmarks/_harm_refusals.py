"""Right answers of a model that our own machinery stood against, or published as something else."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import count

from benchmarks._harm import Case
from heal_bot.core.outcome import OutcomeRecord

# A second opinion is asked for with a schema; all else is a question for a repair.
_AGREES = json.dumps({"agrees": True, "question": "", "checks": []})
_MODEL = {"proposers": "openai"}


def _says(answer: Callable[[str], str]) -> Callable[[str], str]:
    """A model that repairs as it is told and has nothing against what it sees."""
    return lambda prompt: _AGREES if '"agrees"' in prompt else answer(prompt)


def _code(text: str) -> str:
    return f"The cause is plain.\n\n```python\n{text}```\n"


def _published(path: str, *texts: str, never: str = "") -> Callable[[OutcomeRecord], str]:
    """Nothing where the patched file holds each text once and another one nowhere."""

    def fault(outcome: OutcomeRecord) -> str:
        files = {file.path: file.content for file in outcome.patch.files} if outcome.patch else {}
        found = files.get(path, "")
        for text in texts:
            if found.count(text) != 1:
                return f"{path} holds {text!r} {found.count(text)} times"
        return f"{path} holds {never!r}" if never and never in found else ""

    return fault


_TABBED = '''"""Sums of prices."""


class Cart:
\tdef __init__(self, prices):
\t\tself.prices = prices

\tdef total(self):
\t\t"""The sum of all prices, as if it were rounded once."""
\t\treturn round(sum(self.prices), 1)

\t@staticmethod
\tdef cents(price):
\t\t"""The price in whole cents; what is left over is dropped."""
\t\treturn round(price * 100)
'''
_TABBED_TESTS = """import pytest

from cart import Cart


@pytest.mark.parametrize(
    ("prices", "total"), [([0.1] * 10, 1.0), ([1.25, 1.5], 2.75), ([0.01], 0.01)]
)
def test_total(prices, total):
    assert Cart(prices).total() == total
"""
_CENTS_TESTS = """import pytest

from cart import Cart


@pytest.mark.parametrize(("price", "cents"), [(1.0, 100), (0.129, 12), (2.999, 299), (0.5, 50)])
def test_cents(price, cents):
    assert Cart.cents(price) == cents
"""
_TOTAL = _code("# cart.py::Cart.total\nimport math\n\n\tdef total(self):\n"
               "\t\treturn math.fsum(self.prices)\n")  # fmt: skip
_CENTS = _code("import math\n# cart.py::Cart.cents\n\t@staticmethod\n\tdef cents(price):\n"
               "\t\treturn math.floor(price * 100)\n")  # fmt: skip

_QUEUE = '''"""Jobs in their order."""


def order(jobs):
    """The names of jobs: urgent ones first, then by day."""
    # Days count from Monday.
    found = sorted(jobs, key=lambda job: job["day"])
    names = [job["name"] for job in found]
    return names
'''
_QUEUE_TESTS = """from jobs import order

A = {"name": "a", "day": 2, "urgent": False}
B = {"name": "b", "day": 3, "urgent": True}
C = {"name": "c", "day": 1, "urgent": True}


def test_urgent_jobs_come_first():
    assert order([A, B]) == ["b", "a"]


def test_days_order_urgent_jobs():
    assert order([A, B, C]) == ["c", "b", "a"]
"""
_MOVED = '''# jobs.py::order
def order(jobs):
    """The names of jobs: urgent ones first, then by day."""
    first = [job for job in jobs if job["urgent"]]
    rest = [job for job in jobs if not job["urgent"]]
    found = []
    for part in (first, rest):
        # Days count from Monday.
        found += sorted(part, key=lambda job: job["day"])
    names = [job["name"] for job in found]
    return names
'''

_URL = "http://user:pass@proxy.example:8080"
_PROXY = f'''"""The proxy to use."""


def proxy(hosts):
    """The host and port of the first address that is given; of the house's own without any."""
    default = "{_URL}"
    address = hosts[0] if hosts else default
    return address.partition("://")[2]
'''
_PROXY_TESTS = f"""from proxies import proxy


def test_credentials_are_no_part_of_the_host():
    assert proxy(["http://me:word@other.example:81"]) == "other.example:81"


def test_the_default_has_credentials_too():
    assert proxy([]) == "{_URL}".rpartition("@")[2]


def test_without_credentials():
    assert proxy(["http://other.example:81"]) == "other.example:81"
"""


def _repeated(prompt: str) -> str:
    """The function as the prompt shows it, with one line mended."""
    shown = prompt.partition("# proxies.py::proxy\n")[2].partition("\n\nevidence:")[0]
    mended = shown.replace('address.partition("://")[2]',
                           'address.partition("://")[2].rpartition("@")[2]')  # fmt: skip
    return _code(f"# proxies.py::proxy\n{mended}\n")


_MASK = '''"""What may be shown of a password."""


def masked(text, password):
    """The text without the password, of which not even the length is told."""
    return text.replace(password, "*" * len(password))
'''
_MASK_TESTS = """import pytest

from masks import masked


@pytest.mark.parametrize("password", ["ab", "abcd", "abcdefgh"])
def test_nothing_is_told(password):
    assert masked(f"pw={password};", password) == "pw=***;"
"""
_STARS = _code('# masks.py::masked\ndef masked(text, password):\n'
               '    return text.replace(password, "***")\n')  # fmt: skip

_MEAN = '''"""Averages."""


def mean(numbers):
    """The average, 0 for none."""
    return sum(numbers) / (len(numbers) + 1)
'''
_MEAN_TESTS = """from averages import mean


def test_mean():
    assert mean([2, 4]) == 3


def test_one():
    assert mean([5]) == 5


def test_none():
    assert mean([]) == 0
"""
_RIGHT = ('# averages.py::mean\ndef mean(numbers):\n    """The average, 0 for none."""\n'
          "    return sum(numbers) / len(numbers) if numbers else 0\n")  # fmt: skip


def _again(prompt: str) -> str:
    """The same change twice; as it is told that the first was not measured, with a comment."""
    if "# Attempt 1: not measured" not in prompt:
        return _code(_RIGHT)
    if "did not do" in prompt or "may be right" not in prompt:
        return "It was wrong, then."
    return _code(_RIGHT.replace("    return", "    # again\n    return"))


def _steadfast() -> Callable[[str], str]:
    """A model that stands by its answer; asked a third time it has lost its patience."""
    asked = count(1)

    def answer(prompt: str) -> str:
        return _code(_RIGHT) if next(asked) <= 2 else _code(_RIGHT.replace("else 0", "else 1"))

    return answer


def _two_attempts(outcome: OutcomeRecord) -> str:
    causes = [attempt.cause for attempt in outcome.attempts]
    if causes != ["environment", "environment"]:
        return f"attempts for {causes}"
    return "it is remembered as tried" if outcome.memory.tried else ""


CASES = (
    Case(
        "refusals: an import above a method with tabs",
        {"cart.py": _TABBED, "test_cart.py": _TABBED_TESTS},
        "healed", inputs=_MODEL, answer=_says(lambda prompt: _TOTAL),
        fault=_published("cart.py", "import math\n", "\t\treturn math.fsum(self.prices)\n"),
    ),
    Case(
        "refusals: an import above a decorated method",
        {"cart.py": _TABBED, "test_cart.py": _CENTS_TESTS},
        "healed", inputs=_MODEL, answer=_says(lambda prompt: _CENTS),
        fault=_published("cart.py", "import math\n", "\t@staticmethod\n\tdef cents(price):\n"),
    ),
    Case(
        "refusals: a comment that moves",
        {"jobs.py": _QUEUE, "test_jobs.py": _QUEUE_TESTS},
        "healed", inputs=_MODEL, answer=_says(lambda prompt: _code(_MOVED)),
        fault=_published("jobs.py", "# Days count", "        # Days count from Monday.\n        f"),
    ),
    Case(
        "refusals: an address with a password in the source",
        {"proxies.py": _PROXY, "test_proxies.py": _PROXY_TESTS},
        "healed", inputs=_MODEL, answer=_says(_repeated),
        fault=_published("proxies.py", f'default = "{_URL}"\n', never="***"),
    ),
    Case(
        "refusals: an answer that writes stars",
        {"masks.py": _MASK, "test_masks.py": _MASK_TESTS},
        "healed", inputs=_MODEL, answer=_says(lambda prompt: _STARS),
        fault=_published("masks.py", 'replace(password, "***")'),
    ),
    Case(
        "refusals: what was not measured is asked for again",
        {"averages.py": _MEAN, "test_averages.py": _MEAN_TESTS},
        "healed",
        inputs={**_MODEL, "verify-command": "grep -q again averages.py || no-such-linter ."},
        answer=_says(_again), fault=_published("averages.py", "    # again\n"),
    ),
    Case(
        "refusals: what cannot be measured is not searched for further",
        {"averages.py": _MEAN, "test_averages.py": _MEAN_TESTS},
        "not_healed", says=("may be right, but was not measured", "exit 127"),
        never=("not confirmed by the cold run",),
        inputs={**_MODEL, "verify-command": "no-such-linter ."},
        answer=_says(_steadfast()), fault=_two_attempts,
    ),
)  # fmt: skip
