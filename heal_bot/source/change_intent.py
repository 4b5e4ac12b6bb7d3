"""Slip or intention: what a commit and its smallest reversal tell of what its author meant."""

from __future__ import annotations

import ast
import difflib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set

from heal_bot.core.model import ChangedFile, Edit, Failure, Origin, Regression, Target
from heal_bot.core.statuses import CLAIMS
from heal_bot.ports import Tree
from heal_bot.source import functions, guard, line_targets, paths
from heal_bot.source.reversal import brought_tests
from heal_bot.source.tree_files import read_text

_WORD = re.compile(r"\w+")
# What gitmoji puts in front of the title of a refactoring.
_EMOJI = r"(?:(?:[♻🎨🚚]\ufe0f?|:(?:recycle|art|truck):)\s*)?"
# Titles of changes that nobody who calls the code should see: Conventional Commits, and as people
# write them, in a scope or without. What is faster may be told to users, what is written otherwise
# is not.
_START = rf"{_EMOJI}(?!\w+(?:\([^)]*\))?!)(?:(?!feat|fix)[\w./()-]+: )?"
_SAME = re.compile(
    rf"{_START}(?:(?:MAINT|refactor|style)(?:\([^)]*\))?:"
    r"|clean(?:ed)? up|refactor|reformat|reorgani[sz]|restructur|simplif|tid(?:y|ied))"
    r"|.*\bno (?:functional|behaviou?r(?:al)?) change",
    re.IGNORECASE,
)
# These as well, where the commit shows it: a function came, or went.
_REGROUPED = re.compile(
    rf"{_START}(?:(?:extract(?:ed)?|inlined?|factor(?:ed)? out|de-?duplicated?|moved?|split"
    r"|consolidated?|hoist(?:ed)?|unif(?:y|ied))\b(?! to\b)|(?:pull|break|broke)\b.* (?:out|up)\b)",
    re.IGNORECASE,
)
_FASTER = re.compile(rf"{_START}(?:perf(?:\([^)]*\))?:|speed up)", re.IGNORECASE)
_IN_WORDS = {
    2: "two", 3: "three", 4: "four", 5: "five", 6: "six", 7: "seven", 8: "eight", 9: "nine",
    10: "ten", 12: "twelve",
}  # fmt: skip
# What is said of a commit whose title matches none of these.
UNCALLED = "the commit's message does not call it a refactoring"
_LOST_NAMES = frozenset({
    "ImportError", "IndentationError", "ModuleNotFoundError", "NameError", "SyntaxError",
    "UnboundLocalError",
})  # fmt: skip


def explain_meant(
    edits: Sequence[Edit], regression: Regression, kinds: Set[str], *, unused: bool, tested: bool,
    whole: bool, single: bool,
) -> str:  # fmt: skip
    """Why a part of a commit that edits take back looks meant; '' for what looks like a slip.

    A slip is a lost name, by the `kinds` of the failures, or one statement; `single` says that it
    is one although an `if` stands around it. Nobody writes another text, raises another exception,
    or adds a statement and nothing else (`whole`) by a slip; what the commit brought for that
    statement alone would be `unused` without it; or the commit tells somebody of the change. Two
    things count more: a title which says that nothing changes, and, unless a docstring tells of it,
    a test of the commit that executes the part and passes with and without it (`tested`), so that
    it is not what the commit means.
    """
    code = [one for one in edits if one.target.kind != line_targets.KIND]
    files, title = regression.files, regression.title
    same = says_nothing_changes(regression)
    if kinds <= _LOST_NAMES or _FASTER.match(title):
        return ""
    if not same and (said := _find_described(code, files)):
        return said
    if tested:
        return ""
    if said := _find_named(code, files):
        return said
    if same:
        return ""
    if not single and not is_one_statement(code):
        return f"more than one statement goes back, and {UNCALLED}"
    if unused:
        return "something that the commit brought for it would be left unused"
    if any(one.imports for one in code):
        return "the commit took an import away with it"
    if whole and code and all(_is_addition(one) for one in code):
        return "it is all that the commit added"
    if _is_reworded(code, texts=kinds <= CLAIMS):
        return "the commit wrote another text or exception"
    return _find_value(code, files, title)


def find_told(edits: Sequence[Edit], regression: Regression) -> str:
    """What a commit tells of what edits take back: to users, in its title, a docstring; or ''."""
    code = [one for one in edits if one.target.kind != line_targets.KIND]
    files = regression.files
    return (
        _find_named(code, files)
        or _find_value(code, files, regression.title)
        or _find_described(code, files)
    )


def explain_unsure(regression: Regression, why: str) -> str:
    """That a person decides whether what a commit changed was meant, and why nobody else can."""
    return (
        f"{regression.said}. The suggested change is right if that was an accident; if it was"
        f" meant, the tests are out of date. Undecided, because {why}"
    )


def doubt_intention(regression: Regression) -> str:
    """What a reviewer should know of a change that keeps a commit which may have meant it."""
    return (
        f"`{regression.bad_sha[:7]}` ({regression.title}) may have meant what it broke, and then"
        " the tests are out of date: this change keeps the rest of it"
    )


def is_claimed(failure: Failure, regression: Regression, tree: Tree) -> bool:
    """Whether a test fails for what it asserts, or for a `raise` or warning that a commit wrote.

    Any other exception is an accident: nobody means it.
    """
    frames = [frame for frame in failure.frames if frame.origin is Origin.PROJECT]
    if failure.kind in CLAIMS or not frames:
        return failure.kind in CLAIMS
    text = read_text(tree, frames[-1].path).splitlines()
    at = frames[-1].line - 1
    line = text[at] if 0 <= at < len(text) else ""
    files = [file for file in regression.files if file.path == frames[-1].path]
    new = any(line in list_added_lines(file) and at in _find_new(file, text) for file in files)
    return new and line.strip().startswith(("raise ", "warnings.warn(", "warn("))


def _find_new(file: ChangedFile, now: Sequence[str]) -> set[int]:
    """The lines, counted from 0, that were not there before a change: a text may stand twice."""
    before = file.before.decode(errors="replace").splitlines()
    blocks = difflib.SequenceMatcher(None, before, now, autojunk=False).get_matching_blocks()
    kept = {at for block in blocks for at in range(block.b, block.b + block.size)}
    return set(range(len(now))) - kept


def may_be_slip(regression: Regression) -> bool:
    """Whether a commit says that it changes nothing, or shows by its tests what it means."""
    return bool(
        says_nothing_changes(regression)
        or _FASTER.match(regression.title)
        or brought_tests(regression.files)
    )


def says_nothing_changes(regression: Regression) -> bool:
    """Whether the title of a commit says that nobody who calls the code should see it."""
    title = regression.title
    return bool(_SAME.match(title) or (_REGROUPED.match(title) and _regroups(regression.files)))


def _regroups(files: Sequence[ChangedFile]) -> bool:
    """Whether a function came, went or moved to another file."""
    before, after = (
        {(t.path, t.qualname) for f, text in texts for t in functions.read(f.path, text)
         if t.kind == "function" and not paths.is_test(f.path)}
        for texts in ([(f, f.before) for f in files], [(f, f.after) for f in files])
    )  # fmt: skip
    return before != after


def has_new_parameters(one: Edit) -> bool:
    """Whether a function gets other parameters by an edit; False for what is no function."""
    return one.target.kind == "function" and (
        _list_parameters(one.target.source) != _list_parameters(one.new_source)
    )


def list_added_lines(file: ChangedFile) -> Iterator[str]:
    """The lines that a change brought."""
    known = Counter(file.before.decode(errors="replace").splitlines())
    yield from Counter(file.after.decode(errors="replace").splitlines()) - known


def is_one_statement(edits: Sequence[Edit]) -> bool:
    """Whether edits change, add or drop one statement and no more, or none at all."""
    code = [one for one in edits if one.target.kind != line_targets.KIND]
    changed = [
        (b - a, d - c)
        for one in code
        for tag, a, b, c, d in _compare_statements(one.target.source, one.new_source)
        if tag != "equal"
    ]
    return not code or (len(changed) == 1 and max(changed[0]) == 1)


def only_adds(edits: Sequence[Edit]) -> bool:
    """Whether edits take nothing away of what stands in code; False where they leave no code."""
    code = [one for one in edits if one.target.kind != line_targets.KIND]
    try:
        found = [_compare_statements(one.target.source, one.new_source) for one in code]
    except guard.SourceRejected:
        return False
    return {tag for codes in found for tag, *_ in codes} <= {"equal", "insert"}


def _is_addition(one: Edit) -> bool:
    """Whether what an edit takes back was added, and nothing went for it."""
    tags = {tag for tag, *_ in _compare_statements(one.target.source, one.new_source)}
    return tags <= {"equal", "delete"}


def _compare_statements(old: str, new: str) -> Sequence[tuple[str, int, int, int, int]]:
    """What differs between sources, statement by statement, whatever the layout."""
    before, after = (ast.unparse(guard.parse_part(text)).splitlines() for text in (old, new))
    return difflib.SequenceMatcher(None, before, after, autojunk=False).get_opcodes()


def _is_reworded(code: Sequence[Edit], *, texts: bool) -> bool:
    """Whether edits change nothing but which exceptions are raised, and with `texts` literals."""
    return bool(code) and all(
        _without_words(one.target.source, texts) == _without_words(one.new_source, texts)
        for one in code
    )


def _without_words(source: str, texts: bool) -> str:
    """The tree of a source without the exceptions that it raises, and without texts for people.

    A literal without a blank is a key or a name, which slips as easily as any other.
    """
    tree = guard.parse_part(source)
    nodes = list(ast.walk(tree))
    specs = [n.format_spec for n in nodes if isinstance(n, ast.FormattedValue) and n.format_spec]
    formats = {part for spec in specs for part in ast.walk(spec)}
    for node in nodes:
        if isinstance(node, ast.Raise):
            called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(called, ast.Name):
                called.id = ""
        elif not texts or node in formats:
            continue
        elif isinstance(node, ast.JoinedStr):
            node.values = [one for one in node.values if not isinstance(one, ast.Constant)]
        elif isinstance(node, ast.Constant) and " " in str(node.value):
            node.value = ""
    return ast.dump(tree)


def _find_named(code: Sequence[Edit], files: Sequence[ChangedFile]) -> str:
    """Where a commit tells users of a function by its name; '' for nowhere."""
    names = {one.target.qualname.rpartition(".")[2] for one in code}
    for path, words in _list_told(files).items():
        if found := sorted(name for name in names if name.strip("_").lower() in words):
            return f"the commit tells of `{found[0]}` in {path}"
    return ""


def _find_value(code: Sequence[Edit], files: Sequence[ChangedFile], title: str) -> str:
    """Where a commit tells of a value that it brought or took away; '' for nowhere.

    A value counts in the title too, which names what it changes whether or not it means to.
    """
    told = _list_told(files)
    for one in code:
        before, after = _count_values(one.target.source), _count_values(one.new_source)
        values = {*(before - after), *(after - before)}
        for path, words in told.items():
            if found := sorted(value for value in values & words if len(value) > 1):
                return f"the commit tells of `{found[0]}` in {path}"
        # A letter by itself is a word of any title.
        named = values & _list_words([title])
        if found := sorted(value for value in named if len(value) > 1 or value.isdigit()):
            return f"the commit's title names `{found[0]}`"
    return ""


def _list_told(files: Sequence[ChangedFile]) -> dict[str, set[str]]:
    """The words that a commit brought to each file that tells users."""
    shown = (file for file in files if paths.tells_users(file.path))
    return {file.path: _list_words(list_added_lines(file)) for file in shown}


def _list_words(lines: Iterable[str]) -> set[str]:
    return {word for line in lines for word in _WORD.findall(line.lower())}


def _count_values(source: str) -> Counter[str]:
    """The numbers and words that a source has as literals, and the constants by name."""
    found: list[str] = []
    for node in ast.walk(guard.parse_part(source)):
        match node:
            case ast.Constant(value=int() | float() as number) if type(number) is not bool:
                if number == number // 1:
                    found += [str(int(number)), _IN_WORDS.get(int(number), "")]
            case ast.Constant(value=str(word)):
                found.append(word.lower())
            case ast.Name(id=name) | ast.Attribute(attr=name) if name.isupper():
                found.append(name.lower())
    return Counter(value for value in found if _WORD.fullmatch(value))


def _find_described(code: Sequence[Edit], files: Sequence[ChangedFile]) -> str:
    """Where a function has a new docstring that edits change, itself or a value it names; or ''.

    A function with other parameters needs another docstring whatever else was changed in it.
    """
    for file in files:
        known = functions.read(file.path, file.before)
        for now in functions.read(file.path, file.after):
            was = functions.find_same(now, known)
            if was is not None and _is_described_anew(was, now) and any(
                one.target.qualname == now.qualname
                or (one.target.kind != now.kind
                    and one.target.qualname.rpartition(".")[2] in _WORD.findall(now.source))
                for one in code if one.target.path == file.path
            ):  # fmt: skip
                return f"the commit describes `{now.qualname}` anew"
    return ""


def _is_described_anew(was: Target, now: Target) -> bool:
    """Whether a function with the same parameters has another docstring than it had."""
    said = functions.read_docstring(was.source)
    return bool(said) and functions.read_docstring(now.source) != said and (
        _list_parameters(was.source) == _list_parameters(now.source)
    )  # fmt: skip


def _list_parameters(source: str) -> list[str]:
    nodes = ast.walk(guard.parse_part(source))
    arguments = next(node for node in nodes if isinstance(node, ast.arguments))
    return [node.arg for node in ast.walk(arguments) if isinstance(node, ast.arg)]
