"""The words of a `/heal` comment."""

from __future__ import annotations

import re
from dataclasses import dataclass

from heal_bot.core.text import one_line, printable

_COMMAND = re.compile(r"/heal(?:[ \t]+(?P<rest>[^\n]*))?(?:\n(?P<more>.*))?\Z", re.DOTALL)
_SHA = re.compile(r"@[0-9a-f]{40}\Z")
_HINT = 2_000
_NAME = 1_000
_ALONE = frozenset({"apply", "explain", "stop", "help"})


@dataclass(frozen=True, slots=True)
class Command:
    """What a comment asks; verb: heal | retry | apply | explain | stop | help."""

    verb: str
    only: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    sha: str = ""
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A `/heal` whose words are not known; `word` is the first such."""

    word: str


def parse(text: str, *, free: bool = False) -> Command | Unknown | None:
    """The command of a comment; None for a comment that is none.

    With `free` (on a line of a review) whatever follows `/heal` is a hint in words.
    """
    found = _COMMAND.match(printable(text).strip())
    if found is None:
        return None
    words, more = (found["rest"] or "").split(), found["more"] or ""
    if words and words[0] in _ALONE and len(words) == 1:
        return Command(words[0])
    if words and words[0] == "retry":
        return Command("retry", hint=one_line(" ".join([*words[1:], more]), _HINT))
    only: list[str] = []
    targets: list[str] = []
    sha = ""
    for word in words:
        if _SHA.match(word):
            sha = word[1:]
        elif "::" in word and len(word) <= _NAME:
            (only if _is_test(word) else targets).append(word)
        elif free:
            return Command("heal", hint=one_line(" ".join([*words, more]), _HINT))
        else:
            return Unknown(one_line(word, 60))
    hint = one_line(more, _HINT) if free else ""
    return Command("heal", tuple(only), tuple(targets), sha, hint)


def _is_test(word: str) -> bool:
    """Whether `path::name` is a test, by the name pytest would collect, or else a function."""
    name = word.rpartition("::")[2].rpartition(".")[2]
    return name.startswith("test") or "[" in word
