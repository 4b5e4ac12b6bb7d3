"""The examples in the docstrings of changed functions: which of them come out as they are written.

Nobody may have run them for years, so what one shows counts only against what others show: it held
before a change and fails after it, or the other way round.
"""

from __future__ import annotations

import _heal_time_limit
from _heal_pristine_stdlib import random, time

# Seconds of processor time and of the clock for all examples of a docstring.
_WORK, _WAIT = 0.3, 1.0
_MOST = 40
_CLIP = 100


def of(roots):
    """(docstring as a test, the numbers of the examples that show a result) where there are any."""
    # It loads a debugger, and few processes come here.
    import doctest

    found = []
    for root in roots:
        try:
            test = doctest.DocTestParser().get_doctest(
                root.__doc__ or "", root.__globals__, root.__name__, None, 0
            )
        except Exception:
            continue
        test.examples = test.examples[:_MOST]
        shown = [n for n, one in enumerate(test.examples) if one.want or one.exc_msg]
        if shown:
            found.append((test, shown))
    return found


def described(tests):
    """The examples as they are written, each in one line."""
    return [" ".join(test.examples[n].source.split()) for test, shown in tests for n in shown]


def held(tests, ends):
    """As a call per example, which is `held`, `broken`, or `skipped` without an answer."""
    told = []
    for test, shown in tests:
        came = _run(test) if time.monotonic() < ends else {}
        for number in shown:
            how, text = came.get(number, ("skipped", ""))
            told.append([how, "", text, how if how != "skipped" else "", "", False])
    return told


def _run(test):
    """What came of each example, by its number."""
    came = {}
    runner = _runner(test, came)
    _heal_time_limit.arm()
    random.seed(0)
    _heal_time_limit.ring_after(_WORK, _WAIT)
    try:
        runner.run(_fresh(test), out=lambda text: None)
    except (KeyboardInterrupt, GeneratorExit):
        raise
    except BaseException:
        # What is left unanswered says nothing.
        pass
    finally:
        _heal_time_limit.silence()
    return came


def _runner(test, came):
    """A runner that notes in `came` how each example came out, and prints nothing."""
    import doctest

    lenient = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE | doctest.IGNORE_EXCEPTION_DETAIL
    numbers = {id(one): number for number, one in enumerate(test.examples)}

    def note(example, how, text):
        came[numbers[id(example)]] = how, " ".join(text.split())[:_CLIP]

    def raised(out, test, example, info):
        if info[0] is _heal_time_limit.Late:
            raise _heal_time_limit.Late
        note(example, "broken", "raises " + info[0].__name__)

    runner = doctest.DocTestRunner(verbose=False, optionflags=lenient)
    runner.report_start = lambda out, test, example: None
    runner.report_success = lambda out, test, example, got: note(example, "held", "")
    runner.report_failure = lambda out, test, example, got: note(example, "broken", got)
    runner.report_unexpected_exception = raised
    return runner


def _fresh(test):
    """The same examples in a namespace of their own: doctest empties it at the end."""
    return type(test)(test.examples, test.globs, test.name, None, 0, test.docstring)
