"""The words of a `/heal` comment."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass

from heal_bot.core.text import INVISIBLE, one_line

_COMMAND = re.compile(r"/heal(?:[ \t]+(?P<rest>[^\n]*))?(?:\n(?P<more>.*))?\Z", re.DOTALL)
_SHA = re.compile(r"@[0-9a-f]{40}\Z")
_SHA_LIKE = re.compile(r"@[0-9a-fA-F]{6,}\Z")
_CHOICE = re.compile(r"[A-Za-z]\Z")
_HINT = 2_000
_NAME = 1_000
# Verbs that write nothing to a branch: what else is said beside them does no harm.
_SPOKEN = frozenset({"explain", "stop", "help"})
_VERBS = (*sorted(_SPOKEN), "apply", "pick", "retry")
# One word this near to a verb is that verb mistyped, and no hint.
_NEAR = 0.75


@dataclass(frozen=True, slots=True)
class Command:
    """What a comment asks; verb: heal | retry | pick | apply | explain | stop | help."""

    verb: str
    only: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    sha: str = ""
    hint: str = ""
    choice: str = ""


@dataclass(frozen=True, slots=True)
class Unknown:
    """A `/heal` that is not understood; `word` is where that begins."""

    word: str


def parse(text: str) -> Command | Unknown | None:
    """The command of a comment; None for a comment that is none.

    Tests, functions and a commit are named first; whatever follows them is a hint in words.
    """
    found = _COMMAND.match(
        INVISIBLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n")).strip()
    )
    if found is None:
        return None
    words, more = (found["rest"] or "").split(), found["more"] or ""
    if not words:
        return Command("heal", hint=one_line(more, _HINT))
    verb = words[0].lower()
    if verb in _SPOKEN or (verb == "apply" and len(words) == 1):
        return Command(verb)
    if verb == "retry":
        return Command("retry", hint=one_line(" ".join([*words[1:], more]), _HINT))
    if verb == "pick" and len(words) == 2 and _CHOICE.match(words[1]):
        return Command("pick", choice=words[1].upper())
    if verb in _VERBS or (len(words) == 1 and difflib.get_close_matches(verb, _VERBS, 1, _NEAR)):
        return Unknown(one_line(words[0], 60))
    return _named(words, more)


def hint_of(text: str) -> str:
    """What a comment says in words, be it a command or not; '' for a command alone."""
    said = parse(text)
    return one_line(text, _HINT) if said is None else said.hint if isinstance(said, Command) else ""


def _named(words: list[str], more: str) -> Command | Unknown:
    """The tests, functions and the commit that the first words name, the rest as a hint."""
    only: list[str] = []
    targets: list[str] = []
    sha = ""
    while words:
        if _SHA.match(words[0]):
            sha = words[0][1:]
        elif _SHA_LIKE.match(words[0]):
            return Unknown(one_line(words[0], 60))
        elif "::" in words[0] and len(words[0]) <= _NAME:
            (only if _is_test(words[0]) else targets).append(words[0])
        else:
            break
        words = words[1:]
    hint = one_line(" ".join([*words, more]), _HINT)
    return Command("heal", tuple(only), tuple(targets), sha, hint)


def _is_test(word: str) -> bool:
    """Whether `path::name` is a test, by the name pytest would collect, or else a function."""
    name = word.rpartition("::")[2].rpartition(".")[2]
    return name.startswith("test") or "[" in word
