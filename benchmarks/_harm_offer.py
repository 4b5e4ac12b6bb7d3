"""What may be called healed: the strength of the evidence, a model's own answer, objections."""

from __future__ import annotations

import json
from collections.abc import Callable

from benchmarks._harm import Case
from heal_bot.core.outcome import OutcomeRecord

_INI = "[pytest]\npythonpath = .\n"


def _project(code: str, tests: str, **more: str) -> dict[str, str]:
    """A module `m` with its tests."""
    return {"pytest.ini": _INI, "m.py": code, "tests/test_m.py": f"import m\n\n\n{tests}", **more}


def _answering(
    proposal: str, *, agrees: bool = True, check: str = "", holds: bool = True
) -> Callable[[str], str]:
    """A model that proposes this function, and reviews whatever it is shown like that."""

    def answer(prompt: str) -> str:
        if '"agrees"' in prompt:
            checks = [{"claim": "what the docstring says", "code": check}] if check else []
            question = "" if agrees else "Is the divisor right?"
            return json.dumps({"agrees": agrees, "question": question, "checks": checks})
        if '"holds"' in prompt:
            return json.dumps({"holds": holds})
        if '"hypotheses"' in prompt or '"confidence"' in prompt:
            return json.dumps({"cause": "unknown", "confidence": 0.1})
        return f"The cause is plain.\n```python\n{proposal}```\n" if proposal else "I do not know."

    return answer


def _suggested(text: str) -> Callable[[OutcomeRecord], str]:
    """That a change is suggested, and why it is no more says this."""

    def fault(record: OutcomeRecord) -> str:
        if record.suggestion is None:
            return f"nothing is suggested: {record.reason}"
        said = "; ".join(record.suggestion.why)
        return "" if text in said else f"suggested because {said}"

    return fault


def _made_by(proposer: str) -> Callable[[OutcomeRecord], str]:
    """That the patch is this proposer's."""

    def fault(record: OutcomeRecord) -> str:
        who = [a.proposer for a in record.attempts if a.verdict == "fixed"][-1:]
        left = "" if record.suggestion is None else "; a suggestion is left"
        return left if who == [proposer] else f"the patch is by {who}"

    return fault


def _nothing(record: OutcomeRecord) -> str:
    """That no change is offered in any way."""
    return "something is suggested" if record.suggestion or record.patch else ""


_MEAN = (
    "def mean_length(words, marks):\n"
    '    """The average length of the words; marks are no words."""\n'
    "    total = sum(len(word) for word in words)\n"
    "    return total / len(marks)\n"
)
_MEAN_TEST = "def test_mean():\n    assert m.mean_length(['a', 'b', 'c'], ['.', '!']) == 1\n"
_MEAN_RIGHT = (
    "# m.py::mean_length\ndef mean_length(words, marks):\n"
    '    """The average length of the words; marks are no words."""\n'
    "    total = sum(len(word) for word in words)\n"
    "    return total / len(words)\n"
)
_MEAN_CHECK = "import m\nassert m.mean_length(['a', 'b', 'c', 'd'], ['.']) == 1\n"
_SHARE = (
    "def share(part, whole):\n"
    '    """Part of the whole in percent."""\n'
    "    return 100 * whole / part\n"
)
_STORE = (
    "import json\n\n\ndef load(path):\n    with open(path) as file:\n"
    "        return json.load(file)\n"
    "\n\ndef price(name):\n"
    '    """The price of a product: three for each letter."""\n'
    "    return 2 * len(name)\n"
)
_LOOKED_UP = (
    "# m.py::price\ndef price(name):\n"
    '    """The price of a product: three for each letter."""\n'
    "    return load('tests/data/prices.json')[name]\n"
)

CASES: tuple[Case, ...] = (
    Case(
        "offer: one failing test alone",
        _project(
            "def total(prices):\n    return sum(prices[1:])\n",
            "def test_total():\n    assert m.total([3, 4]) == 7\n",
        ),
        "not_healed",
        says=("not proposed as the fix", "failing test alone vouches for it"),
        never=("**Fixes",),
        fault=_suggested("one failing test alone"),
    ),
    Case(
        "offer: two tests of different inputs",
        _project(
            "def fits(count, most):\n    return count < most\n",
            "def test_full():\n    assert m.fits(3, 3)\n\n\ndef test_none():\n"
            "    assert m.fits(0, 0)\n\n\ndef test_less():\n    assert m.fits(2, 5)\n\n\n"
            "def test_more():\n    assert not m.fits(6, 5)\n",
        ),
        "healed",
        never=("suggestion",),
    ),
    Case(
        "offer: two tests of one input",
        _project(
            "def fits(count, most):\n    return count < most\n",
            "def test_full():\n    assert m.fits(3, 3)\n\n\ndef test_again():\n"
            "    assert m.fits(3, 3) is True\n\n\ndef test_more():\n    assert not m.fits(6, 5)\n",
        ),
        "not_healed",
        fault=_suggested("different inputs"),
    ),
    Case(
        "offer: another change passes too",
        _project(
            "def latest(versions):\n    return versions[1]\n",
            "def test_one():\n    assert m.latest(['1.0']) == '1.0'\n\n\n"
            "def test_another():\n    assert m.latest(['2.1']) == '2.1'\n",
        ),
        "not_healed",
        says=("behave",),
        fault=_suggested("also passes"),
    ),
    Case(
        "offer: calls change that worked",
        _project(
            "def label(number):\n    return 'no. ' + number\n\n\n"
            "def shown(number):\n    try:\n        return label(number)\n"
            "    except TypeError:\n        return '-'\n",
            "def test_one():\n    assert m.label(1) == 'no. 1'\n\n\n"
            "def test_two():\n    assert m.label(22) == 'no. 22'\n\n\n"
            "def test_shown():\n    assert len(m.shown(5)) > 0\n",
        ),
        "not_healed",
        fault=_suggested("passing tests make"),
    ),
    Case(
        "offer: divided by the wrong name",
        _project(_MEAN, _MEAN_TEST),
        "not_healed",
        says=("not proposed as the fix",),
        never=("**Fixes",),
        fault=_suggested("one failing test alone"),
    ),
    Case(
        "offer: divided by the wrong name, and a model knows better",
        _project(_MEAN, _MEAN_TEST),
        "healed",
        answer=_answering(_MEAN_RIGHT),
        fault=_made_by("openai"),
        hidden="import m\n\n\ndef test_more():\n    assert m.mean_length(['a'], []) == 1\n",
    ),
    Case(
        "offer: a model's check refuses what it cannot better",
        _project(_MEAN, _MEAN_TEST),
        "not_healed",
        answer=_answering("", agrees=False, check=_MEAN_CHECK),
        never=("**Fixes",),
        fault=_nothing,
    ),
    Case(
        "offer: arguments swapped",
        _project(_SHARE, "def test_half():\n    assert m.share(5, 10) == 50\n"),
        "not_healed",
        fault=_suggested("one failing test alone"),
    ),
    Case(
        "offer: a constant that fits by its sign",
        _project(
            "def middle(three):\n    return three[2]\n",
            "def test_some():\n    assert m.middle([5, 6, 7]) == 6\n\n\n"
            "def test_others():\n    assert m.middle([1, 2, 9]) == 2\n",
        ),
        "not_healed",
        fault=_suggested("also pass"),
    ),
    Case(
        "offer: an exception is swallowed",
        _project(
            "def number(text):\n    return int(text)\n",
            "def test_word():\n    assert m.number('x') is None\n\n\n"
            "def test_nothing():\n    assert m.number('') is None\n\n\n"
            "def test_three():\n    assert m.number('3') == 3\n",
        ),
        "not_healed",
        fault=_suggested("swallows an exception"),
    ),
    Case(
        "offer: answers looked up",
        _project(
            _STORE,
            "import json\n\nimport pytest\n\nDATA = json.load(open('tests/data/prices.json'))\n\n\n"
            "@pytest.mark.parametrize('name', DATA)\ndef test_price(name):\n"
            "    assert m.price(name) == DATA[name]\n",
            **{"tests/data/prices.json": '{"ab": 6, "abcd": 12, "tea": 9}'},
        ),
        "not_healed",
        answer=_answering(_LOOKED_UP),
        inputs={"proposers": "openai", "max-attempts": "2"},
        never=("**Fixes",),
        fault=_nothing,
    ),
    Case(
        "offer: a suggestion on a pull request",
        _project(
            "def total(prices):\n    return sum(prices[1:])\n",
            "def test_total():\n    assert m.total([3, 4]) == 7\n",
        ),
        "not_healed",
        report="",
        on="comment",
        says=("not proposed as the fix",),
        fault=_suggested("one failing test alone"),
    ),
)
