"""Plugins of pytest that a run shows to be missing, read off what pytest says without them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from heal_bot.core.model import COMMAND, CaseResult, Environment, Report, SuiteRun
from heal_bot.core.statuses import RunResult, SuiteEnd
from heal_bot.ports import Tree
from heal_bot.source.tree_files import read_text

_IMPORTS = frozenset({"ModuleNotFoundError", "ImportError"})


@dataclass(frozen=True, slots=True)
class _Plugin:
    """What pytest has from this package alone, as words: options (`*` ends a stem), fixtures, …

    `keys` are those of pytest's configuration, `module` is its name where it is not the package's
    with underscores.
    """

    package: str
    options: str = ""
    fixtures: str = ""
    keys: str = ""
    marks: str = ""
    module: str = ""


_PLUGINS = (
    _Plugin("pytest-cov", "--cov --cov-* --no-cov --no-cov-*", "cov no_cover", marks="no_cover"),
    _Plugin("pytest-xdist", "-n* --numprocesses --maxprocesses --dist --tx --looponfail",
            "worker_id testrun_uid", "looponfailroots", "xdist_group", "xdist"),
    _Plugin("pytest-rerunfailures", "--reruns --reruns-delay --only-rerun --rerun-except",
            keys="reruns reruns_delay"),
    _Plugin("pytest-timeout", "--timeout --timeout-* --session-timeout",
            keys="timeout timeout_method timeout_func_only session_timeout", marks="timeout"),
    _Plugin("pytest-mock",
            fixtures="mocker class_mocker module_mocker package_mocker session_mocker",
            keys="mock_traceback_monkeypatch mock_use_standalone_module"),
    _Plugin("pytest-benchmark", "--benchmark-*", "benchmark benchmark_weave", marks="benchmark"),
    _Plugin("pytest-asyncio", "--asyncio-mode --asyncio-debug",
            "event_loop event_loop_policy unused_tcp_port unused_tcp_port_factory unused_udp_port",
            "asyncio_mode asyncio_debug asyncio_default_fixture_loop_scope"
            " asyncio_default_test_loop_scope", "asyncio"),
    _Plugin("anyio", fixtures="anyio_backend anyio_backend_name anyio_backend_options",
            keys="anyio_mode", marks="anyio"),
    _Plugin("pytest-trio", fixtures="nursery autojump_clock", keys="trio_mode", marks="trio"),
    _Plugin("pytest-aiohttp", "--aiohttp-*", "aiohttp_client aiohttp_server aiohttp_raw_server"),
    _Plugin("pytest-django", "--ds --dc --reuse-db --create-db --nomigrations --no-migrations",
            "transactional_db django_db_setup django_db_blocker django_user_model admin_client"
            " admin_user django_assert_num_queries django_capture_on_commit_callbacks",
            "DJANGO_SETTINGS_MODULE DJANGO_CONFIGURATION django_find_project", "django_db"),
    _Plugin("pytest-env", keys="env"),
    _Plugin("pytest-randomly", "--randomly-*", module="randomly"),
    _Plugin("pytest-random-order", "--random-order --random-order-*"),
    _Plugin("pytest-order", "--order-*", marks="order"),
    _Plugin("pytest-dependency", keys="automark_dependency", marks="dependency"),
    _Plugin("pytest-repeat", "--count --repeat-scope", marks="repeat"),
    _Plugin("pytest-socket", "--disable-socket --allow-hosts --allow-unix-socket",
            "socket_enabled socket_disabled", marks="enable_socket disable_socket allow_hosts"),
    _Plugin("pytest-httpx", fixtures="httpx_mock", marks="httpx_mock"),
    _Plugin("pytest-httpserver", fixtures="httpserver make_httpserver httpserver_listen_address"),
    _Plugin("requests-mock", fixtures="requests_mock", keys="requests_mock_case_sensitive"),
    _Plugin("respx", fixtures="respx_mock", marks="respx"),
    _Plugin("pytest-freezer", fixtures="freezer"),
    _Plugin("pyfakefs", fixtures="fs fs_module fs_session"),
    _Plugin("pytest-datadir", fixtures="datadir shared_datadir original_datadir"),
    _Plugin("pytest-regressions", "--force-regen --regen-all",
            "data_regression file_regression num_regression dataframe_regression"),
    _Plugin("pytest-subtests", fixtures="subtests"),
    _Plugin("pytest-qt", fixtures="qtbot qapp", keys="qt_api qt_log_format"),
    _Plugin("pytest-sugar", "--force-sugar --old-summary"),
    _Plugin("pytest-html", "--html --self-contained-html"),
    _Plugin("pytest-json-report", "--json-report --json-report-*"),
    _Plugin("pytest-split", "--splits --group --splitting-algorithm --durations-path"),
    _Plugin("pytest-ruff", "--ruff --ruff-*"),
    _Plugin("pytest-mypy", "--mypy --mypy-*"),
    _Plugin("pytest-flake8", "--flake8"),
    _Plugin("pytest-clarity", "--diff-symbols"),
    _Plugin("pytest-picked", "--picked"),
    _Plugin("pytest-testmon", "--testmon --testmon-*", module="testmon"),
)  # fmt: skip
_FIXTURES = {word: p.package for p in _PLUGINS for word in p.fixtures.split()}
_KEYS = {word: p.package for p in _PLUGINS for word in p.keys.split()}
_MARKS = {word: p.package for p in _PLUGINS for word in p.marks.split()}
_MODULES = {p.module or p.package.replace("-", "_"): p.package for p in _PLUGINS}
_PACKAGES = {p.package: p.package for p in _PLUGINS}
_OPTIONS = [(word, p.package) for p in _PLUGINS for word in p.options.split()]
# What pytest says, and whose words stand where it varies.
_SAID = (
    (re.compile(r"fixture '(\w+)' not found"), _FIXTURES),
    (re.compile(r"Unknown config option: (\w+)"), _KEYS),
    (re.compile(r"'(\w+)' not found in `markers` configuration option"), _MARKS),
    (re.compile(r"No module named '(\w+)'"), _MODULES),
)
_ARGUMENTS = re.compile(r"unrecognized arguments: (.+)")
_REQUIRED = re.compile(r"Missing required plugins: (.+)")
_LOADED = re.compile(r"Error importing plugin \"[^\"]*\": No module named '(\w+)'")
_NAME = re.compile(r"[A-Za-z][\w.-]*")
_ASYNC = re.compile(r"async def functions? (?:are not natively supported|and no async plugin)")
_RUNNERS = (
    ("mark.asyncio", "pytest-asyncio"),
    ("mark.anyio", "anyio"),
    ("mark.trio", "pytest-trio"),
)


def find_missing(report: Report, suite: SuiteRun, tree: Tree, env: Environment) -> tuple[str, ...]:
    """The packages that the suite lacks here and that the failing run had, as its report tells.

    What the report complains about as well was missing there too. Without a case that tells,
    only what pytest does not start without was there for sure. A key of the configuration that
    pytest does not know counts only where more tests fail than the report names.
    """
    crashed = suite.ended == SuiteEnd.CRASHED
    if not report.cases:
        return find_stopping(report, suite.detail, tree, env) if crashed else ()
    here: dict[str, None] = {}
    for result in suite.results:
        # Older versions of pytest skip a test that no plugin can await.
        if result.red or _ASYNC.search(result.message):
            here.update(dict.fromkeys(find_complained(result, tree, env)))
    said = [message for _, message in suite.errors]
    if crashed:
        said.append(suite.detail)
    here.update((name, None) for text in said for name in find_named(text))
    if len(suite.red) > sum(case.red for case in report.cases):
        here.update((_KEYS[key], None) for key in suite.unknown if key in _KEYS)
    if not here:
        return ()
    there = {name for case in report.cases for name in find_named(f"{case.message}\n{case.text}")}
    return tuple(name for name in here if name not in there and _lacks(name, tree, env))


def find_stopping(report: Report, text: str, tree: Tree, env: Environment) -> tuple[str, ...]:
    """The packages without which pytest does not start, as it says in `text`."""
    found = find_named(text) if report.cases else dict.fromkeys(_unstarted(text))
    return tuple(name for name in found if _lacks(name, tree, env))


def select_known(names: Iterable[str]) -> tuple[str, ...]:
    """Of the names those of the packages known here, which is a closed list."""
    return tuple(dict.fromkeys(name for name in names if name in _PACKAGES))


def find_complained(result: CaseResult, tree: Tree, env: Environment) -> tuple[str, ...]:
    """The packages that a result complains about; not what the test itself quotes of pytest."""
    awaits = _ASYNC.match(result.message.removeprefix("Skipped: "))
    own = result.outcome == RunResult.FAILED and result.test != COMMAND
    if own and not awaits and result.kind not in _IMPORTS:
        return ()
    source = read_text(tree, result.test.partition("::")[0]) if awaits else ""
    return tuple(n for n in find_named(result.message, source) if _lacks(n, tree, env))


def find_named(text: str, source: str = "") -> tuple[str, ...]:
    """The packages whose absence a message of pytest shows; `source` is that of the test."""
    found = [known[word] for said, known in _SAID for word in said.findall(text) if word in known]
    found += _unstarted(text)
    if _ASYNC.search(text):
        found.append(next((p for mark, p in _RUNNERS if mark in source), _RUNNERS[0][1]))
    return tuple(dict.fromkeys(found))


def _lacks(package: str, tree: Tree, env: Environment) -> bool:
    """Whether the package is neither installed nor the repository's own."""
    module = next(module for module, name in _MODULES.items() if name == package)
    own = re.compile(rf"(?:.*/)?src/{module}(?:/|\.py)|{module}(?:/|\.py)")
    record = f"lib/python3*/site-packages/{package.replace('-', '_')}-*-info"
    return not any(map(own.match, tree.paths())) and not any(Path(env.prefix).glob(record))


def _unstarted(text: str) -> Iterator[str]:
    """The packages that the command line and `required_plugins` ask for, which ends pytest."""
    for words in _ARGUMENTS.findall(text):
        yield from (package for word in words.split() for package in _of_option(word))
    for words in _REQUIRED.findall(text):
        yield from select_known(_NAME.findall(words.lower()))
    yield from (_MODULES[name] for name in _LOADED.findall(text) if name in _MODULES)


def _of_option(word: str) -> list[str]:
    name = word.partition("=")[0]
    return [
        package
        for option, package in _OPTIONS
        if name == option or (option.endswith("*") and name.startswith(option[:-1]))
    ]
