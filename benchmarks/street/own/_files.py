"""What the projects of the cases have in common: packaging, a workflow, a report by hand."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

_SETUPTOOLS = (
    '[build-system]\nrequires = ["setuptools>=64"]\nbuild-backend = "setuptools.build_meta"'
)
_HATCH = '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"'
_IGNORED = "*.egg-info/\n__pycache__/\n.venv/\ndist/\nbuild/\njunit.xml\n"


def project(
    name: str, *needs: str, tests: Sequence[str] = (), more: str = "", about: str = "",
    python: str = ">=3.8", version: str = "0.4.0", flat: bool = False, workflow: str = "",
) -> dict[str, str]:  # fmt: skip
    """A package with pyproject.toml; below src unless flat."""
    place = name if flat else f"src/{name}"
    extra = ", ".join(f'"{wanted}"' for wanted in ("pytest", *tests))
    lines = [
        _HATCH if flat else _SETUPTOOLS, "", "[project]", f'name = "{name}"',
        f'version = "{version}"', f'description = "{about or name}"',
        f'requires-python = "{python}"',
        f"dependencies = [{', '.join(chr(34) + n + chr(34) for n in needs)}]", "",
        "[project.optional-dependencies]", f"test = [{extra}]", "", more.strip(),
    ]  # fmt: skip
    return {
        "pyproject.toml": "\n".join(lines).rstrip() + "\n",
        f"{place}/__init__.py": f'"""{(about or name).capitalize()}."""\n',
        "README.md": f"# {name}\n\n{(about or name).capitalize()}.\n",
        ".gitignore": _IGNORED,
        ".github/workflows/ci.yml": workflow or ci(),
    }


def legacy(
    name: str, *needs: str, tests: Sequence[str] = (), more: str = "", workflow: str = ""
) -> dict[str, str]:
    """A flat package with setup.cfg."""
    required = "".join(f"\n    {one}" for one in needs)
    extra = "".join(f"\n    {one}" for one in ("pytest", *tests))
    return {
        "setup.py": "from setuptools import setup\n\nsetup()\n",
        "setup.cfg": (
            f"[metadata]\nname = {name}\nversion = 1.2.0\n\n[options]\npackages = find:\n"
            f"python_requires = >=3.8\ninstall_requires ={required}\n\n"
            f"[options.packages.find]\nexclude = tests\n\n"
            f"[options.extras_require]\ntest ={extra}\n\n{more.strip()}"
        ).rstrip()
        + "\n",
        f"{name}/__init__.py": "",
        "README.rst": f"{name}\n{'=' * len(name)}\n",
        ".github/workflows/ci.yml": workflow or ci(),
    }


def ci(
    *, pythons: Sequence[str] = ("3.11",), systems: Sequence[str] = ("ubuntu-latest",),
    matrix: str = "", job: str = "", setup: str = "", arguments: str = "", env: str = "",
    before: str = "", after: str = "",
) -> str:  # fmt: skip
    """A workflow: its matrix, keys of the job, steps around the tests, heal-bot last."""
    several = len(pythons) > 1 or len(systems) > 1 or matrix
    lines = ["name: CI", "on: [push, pull_request]", "", "jobs:", "  test:"]
    lines += [f"    runs-on: {'${{ matrix.os }}' if len(systems) > 1 else systems[0]}"]
    lines += [f"    {line}" for line in job.strip().splitlines()]
    if several:
        lines += ["    strategy:", "      fail-fast: false", "      matrix:"]
        lines += [f"        python: [{', '.join(chr(34) + p + chr(34) for p in pythons)}]"]
        lines += [f"        os: [{', '.join(systems)}]"] if len(systems) > 1 else []
        lines += [f"        {line}" for line in matrix.strip().splitlines()]
    python = "${{ matrix.python }}" if several else f'"{pythons[0]}"'
    lines += ["    steps:", "      - uses: actions/checkout@v4",
              "      - uses: actions/setup-python@v5", "        with:",
              f"          python-version: {python}"]  # fmt: skip
    lines += [f"      - {line}" for line in setup.strip().splitlines()]
    lines += ["      - run: python -m pip install -e .[test]"]
    lines += [f"      - run: {line}" for line in before.strip().splitlines()]
    lines += [f"      - run: python -m pytest --junitxml=junit.xml {arguments}".rstrip()]
    lines += ["        env:", *(f"          {e}" for e in env.strip().splitlines())] if env else []
    lines += [f"      - run: {line}" for line in after.strip().splitlines()]
    lines += ["      - uses: heal-bot/heal-bot@v1", "        if: failure()", "        with:",
              "          junit: junit.xml"]  # fmt: skip
    return "\n".join(lines) + "\n"


def changed(text: str, *pairs: tuple[str, str]) -> str:
    """A text with each first part, which occurs once, replaced by the second."""
    for old, new in pairs:
        assert text.count(old) == 1, old
        text = text.replace(old, new)
    return text


def junit(
    passed: Sequence[str], failed: Sequence[tuple[str, str, str]], *, host: str = "runnervm7k2wq",
    errors: Sequence[tuple[str, str, str]] = (),
) -> str:  # fmt: skip
    """The report that pytest writes: tests as `class::name`, messages and tracebacks."""
    cases = [f"{_case(test)} />" for test in passed]
    cases += [
        f"{_case(test)}><failure message={_attribute(message)}>{escape(text.strip())}</failure>"
        "</testcase>"
        for test, message, text in failed
    ]
    cases += [
        f"{_case(test)}><error message={_attribute(message)}>{escape(text.strip())}</error>"
        "</testcase>"
        for test, message, text in errors
    ]
    total = len(cases)
    return (
        '<?xml version="1.0" encoding="utf-8"?><testsuites name="pytest tests">'
        f'<testsuite name="pytest" errors="{len(errors)}" failures="{len(failed)}" skipped="0" '
        f'tests="{total}" time="{0.31 + total / 50:.3f}" '
        f'timestamp="2026-10-09T11:02:17.318254+00:00" hostname="{host}">'
        f"{''.join(cases)}</testsuite></testsuites>"
    )


def _case(test: str) -> str:
    group, _, name = test.rpartition("::")
    return f'<testcase classname="{group}" name={_attribute(name)} time="0.002"'


def _attribute(text: str) -> str:
    return quoteattr(text, {"\n": "&#10;", '"': "&quot;"})
