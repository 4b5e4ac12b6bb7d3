"""Names of unittest-style writers (xmlrunner, Django, nose2, stestr) brought to (class, test)."""

from __future__ import annotations

import re
from dataclasses import dataclass

from heal_bot.core.model import ReportedCase

_FIXTURE = re.compile(r"(?:setUp|tearDown)(Class|Module) \(([\w.<>]{1,500})\)$")
_SUFFIX = re.compile(r" [(\[]|:\d{1,6}(?:\n|$)")
_SCENARIO = re.compile(r"\([^()]{0,500}\)$")
_IMPORT = (
    "unittest.loader._FailedTest",
    "unittest.loader.ModuleImportFailure",
    "_FailedTest",
    "nose2.loader.LoadTestsFailure",
    "nose2.loader.ModuleImportFailure",
)
_LOADED = re.compile(r"^(?:AssertionError: )?Failed doctest test for (\S{1,500})", re.MULTILINE)
_XDIST = re.compile(r"worker '[^']{1,40}' crashed while running '([^\n]{1,4000})'$")


@dataclass(frozen=True, slots=True)
class Name:
    """What a case names.

    kind: test | doctest | class | module (all tests in it) | file (not importable).
    """

    kind: str
    classname: str
    test: str = ""


def read_names(case: ReportedCase) -> tuple[Name, ...]:
    """What the case may name, the likeliest first; the literal reading of pytest leads."""
    whole = f"{case.classname}.{case.name}" if case.classname else case.name
    fixture = _FIXTURE.match(whole) or _FIXTURE.match(case.name)
    if fixture:
        kind = "class" if fixture[1] == "Class" else "module"
        return (Name(kind, fixture[2]),)
    for loader in _IMPORT:
        if whole.startswith(f"{loader}."):
            return (Name("file", whole[len(loader) + 1 :]),)
    if is_doctest(case):
        return _doctests(case)
    found = [Name("test", case.classname, case.name)]
    cut = _cut(whole)
    scenario = _SCENARIO.sub("", cut)
    for dotted in (cut, scenario):
        classname, _, test = dotted.rpartition(".")
        if test and Name("test", classname, test) not in found:
            found.append(Name("test", classname, test))
    if case.phase == "collect":
        found.insert(0, Name("file", whole))
    return tuple(found)


def is_doctest(case: ReportedCase) -> bool:
    """Whether the case is an example in a docstring or text file."""
    ended = case.text.rstrip().endswith((": DocTestFailure", ": UnexpectedException"))
    return ended or bool(_loaded(case))


def _doctests(case: ReportedCase) -> tuple[Name, ...]:
    """A doctest as pytest calls it, whose module may be any beginning of its dotted name."""
    whole = _loaded(case)
    parts = whole.split(".") if whole else []
    modules = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    names = tuple(Name("doctest", module, whole) for module in modules)
    return (*names, Name("doctest", case.classname, case.name))


def _loaded(case: ReportedCase) -> str:
    """The dotted name of a doctest that unittest loaded, or the name of its file; else ''."""
    found = _LOADED.search(case.message) or _LOADED.search(case.text)
    return found[1] if found else ""


def _cut(whole: str) -> str:
    """Without what subTest and parameter plugins append; brackets of pytest stay as they are."""
    match = _SUFFIX.search(whole)
    return whole[: match.start()] if match else whole


def crashed_test(case: ReportedCase) -> str:
    """The node id that a crashed xdist worker was running, or nothing."""
    match = _XDIST.search(case.message.strip()) or _XDIST.search(case.text.strip())
    return match[1] if match else ""


_BAZEL = re.compile(r"^//|^@[\w.~+-]*//")
_BAZEL_SAYS = re.compile(r"exited with error code \d+$")
_FOREIGN = (
    (
        "a Java test runner",
        re.compile(r"\bat [\w.$]{3,300}\([\w$]{1,120}\.(?:java|kt|scala|groovy):\d"),
    ),
    ("a JavaScript test runner", re.compile(r"\.(?:[cm]?[jt]sx?):\d{1,6}:\d{1,6}\b")),
    ("go test", re.compile(r"_test\.go:\d")),
    (".NET", re.compile(r"\.cs:line \d")),
    ("Rust", re.compile(r"\.rs:\d{1,6}:\d")),
    ("Ruby", re.compile(r"_(?:spec|test)\.rb:\d")),
    ("PHPUnit", re.compile(r"\.php:\d")),
    ("a C++ test runner", re.compile(r"\.(?:cc|cpp|cxx|hpp):\d")),
)


def name_foreign_runner(case: ReportedCase) -> str:
    """The kind of runner that wrote the case, when pytest cannot re-run its tests; else nothing."""
    if _loaded(case):
        return "unittest's load_tests"
    sample = "\n".join((case.message[:2000], case.text[:4000]))
    if _BAZEL.search(case.name) or _BAZEL.search(case.classname):
        return "Bazel"
    if not case.classname and _BAZEL_SAYS.match(case.message):
        return "Bazel"
    if ".py" in sample or ".py" in case.file:
        return ""
    for runner, pattern in _FOREIGN:
        if pattern.search(sample):
            return runner
    return ""
