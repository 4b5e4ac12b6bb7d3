"""The pytest plugin of the driver: collects, tells what it collected, reports every phase."""

from __future__ import annotations

import contextlib
from collections import abc

import pytest

import _heal_canary
import _heal_failure
import _heal_ids
import _heal_pytest_options
from _heal_pristine_stdlib import os, random

_CHUNK = 200


class Loop:
    """Stands before pytest's own run loop: `instead` returns None to let that one run."""

    def __init__(self, instead):
        self.instead = instead

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session):
        return self.instead(session)


class Observer:
    """Has a spectrum observe the phases of tests: innermost, as little else as possible."""

    def __init__(self, spectrum):
        self.spectrum = spectrum

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_setup(self):
        self.spectrum.resume()
        yield
        self.spectrum.pause()

    pytest_runtest_call = pytest_runtest_teardown = pytest_runtest_setup


class Plugin:
    """Runs what `order` asks for and tells `records`; `serve` (or None) replaces the run loop.

    order: repo (where the tests lie), tests (node ids, files, or None for all), known (the node ids
    of an earlier collection), doctests (files whose examples are collected too; none where the
    project's options decide), shuffle (seed or None), canaries (triples of numbers), mode (run or
    collect).
    `watch(number, report)` sees every report besides.
    """

    def __init__(self, order, records, spectrum=None, serve=None):
        self.order = order
        self.records = records
        self.repo = order["repo"]
        self.spectrum = spectrum
        self.serve = serve
        self.items = []
        self.names = {}
        self.numbers = {}
        self.by_name = {}
        self.errors = []
        self.unknown = []
        self.current = None
        self.since = 0.0
        self.watch = None
        self.above = ""

    def all(self):
        """Itself, the loop and who observes, for pytest.main."""
        observers = [] if self.spectrum is None else [Observer(self.spectrum)]
        return [self, Loop(self._instead), *observers]

    def _instead(self, session):
        if self.order["mode"] == "collect":
            return True
        return self.serve(self, session) if self.serve is not None else None

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_load_initial_conftests(self, early_config):
        _heal_pytest_options.neutralise_early(early_config)
        yield

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_cmdline_main(self, config):
        _heal_pytest_options.neutralise_late(config)
        if self.order.get("doctests"):
            config.option.doctestmodules = config.option.doctest_ignore_import_errors = True
            texts = [name for name in self.order["doctests"] if not name.endswith(".py")]
            known = getattr(config.option, "doctestglob", None) or ["test*.txt"]
            config.option.doctestglob = [*known, *texts]
        yield

    @pytest.hookimpl(optionalhook=True)
    def pytest_warning_recorded(self, warning_message, when):
        if when == "config":
            key = str(warning_message.message).partition("Unknown config option: ")[2]
            self.unknown += [_heal_failure.clip(word) for word in key.split()[:1]]

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection(self, session):
        # Options, root folder and conftests are those of a run without arguments, so that node ids
        # do not depend on which tests were asked for; only the collection is narrowed.
        # pytest's ids begin at its root folder, ours at the repository's.
        root = os.path.relpath(str(getattr(session.config, "rootpath", self.repo)), self.repo)
        if root != "." and not root.startswith(".."):
            self.above = root.replace(os.sep, "/") + "/"
        if self.order["tests"] is not None:
            files = dict.fromkeys(test.split("::")[0] for test in self.order["tests"])
            paths = [os.path.join(self.repo, name) for name in files]
            session.config.args = [path for path in paths if os.path.exists(path)]
        else:
            whole = [os.path.abspath(path.split("::")[0]) for path in session.config.args]
            session.config.args += [
                path
                for path in (
                    os.path.join(self.repo, name) for name in self.order.get("doctests", ())
                )
                if not any(path == top or path.startswith(top + os.sep) for top in whole)
            ]

    def name(self, node):
        """The id of an item or a report, with its path from the top of the repository.

        That of an item is the one it had at first, where ids change from run to run.
        """
        own = self.above + node.nodeid if node.nodeid else node.nodeid
        return self.names.get(id(node), own)

    def pytest_collectreport(self, report):
        if report.failed:
            text = _heal_failure.local(str(report.longrepr), self.repo)
            self.errors.append([self.name(report), _heal_failure.clip(text)])

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_collection_modifyitems(self, session, items):
        # Plugins put tests in another order, by chance some of them.
        places = {id(item): at for at, item in enumerate(items)}
        yield
        in_order = sorted(items, key=lambda item: places.get(id(item), len(places)))
        names = [_heal_failure.clip(self.name(item)) for item in in_order]
        names, unsteady = _heal_ids.aligned(names, self.order.get("known", ()))
        self.names = dict(zip(map(id, in_order), names))
        missing = []
        if self.order["tests"] is not None:
            items[:], missing = _select(items, self.order["tests"], self.errors, self.name)
        if self.order["shuffle"] is not None:
            random.Random(self.order["shuffle"]).shuffle(items)
        kept = set(map(id, items))
        self.items = [item for item in in_order if id(item) in kept]
        self.numbers = {id(item): number for number, item in enumerate(self.items)}
        self.by_name = {self.name(item): item for item in self.items}
        for at in range(0, len(self.items), _CHUNK):
            self.records.send("tests", v=[self.name(i) for i in self.items[at : at + _CHUNK]])
        for at in range(0, len(self.errors), 10):
            self.records.send("errors", v=self.errors[at : at + 10])
        for at in range(0, len(missing), _CHUNK):
            self.records.send("missing", v=missing[at : at + _CHUNK])
        for at in range(0, len(unsteady), _CHUNK):
            self.records.send("unsteady", v=unsteady[at : at + _CHUNK])
        self.records.send("collected", c=len(items))

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtestloop(self, session):
        # Nobody reads pytest's own rendering of a failure here, and it takes most of the time: for
        # every frame the whole file is parsed.
        session.config.option.tbstyle, session.config.option.fulltrace = "no", False
        # pytest looks for keys that it does not know when all is collected.
        if self.unknown and not self.serve:
            self.records.send("unknown", v=sorted(set(self.unknown)))
        canaries = [] if self.serve else self.order["canaries"]
        self.canaries(session, canaries[: len(canaries) // 3], 0)
        yield
        self.canaries(session, canaries[len(canaries) // 3 :], len(canaries) // 3)

    def settle(self, session):
        """Do once what a fork for each candidate would do again, and leave out what nobody reads.

        A fork copies what it touches, so what it does not do saves most of its time.
        """
        for item in self.items:
            if getattr(type(item), "reportinfo", None) is pytest.Function.reportinfo:
                # The project's objects may raise anything when they are looked at.
                with contextlib.suppress(Exception):
                    item.location  # noqa: B018
        # Words for a failed comparison ask this; for each type the first answer is the dear one.
        for value in (None, True, 0, 0.0, 0j, "", b"", (), [], {}, set(), frozenset()):
            for kind in (abc.Sequence, abc.Set, abc.Mapping):
                isinstance(value, kind)
        terminal = session.config.pluginmanager.getplugin("terminalreporter")
        for name in ("logstart", "logreport", "logfinish"):
            with contextlib.suppress(AttributeError, ValueError):
                getattr(session.config.hook, "pytest_runtest_" + name)._remove_plugin(terminal)

    def canaries(self, session, triples, first):
        for number, numbers in enumerate(triples, len(self.items) + first):
            self._begin(number)
            for report in _heal_canary.run(_heal_canary.make(session, numbers)):
                self._tell(number, report)
            self.records.send("end", i=number)

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item):
        number = self.numbers.get(id(item))
        if number is None:
            yield
            return
        self.current = number
        self._begin(number)
        if self.spectrum is not None:
            self.spectrum.begin(self.name(item))
        yield
        if self.spectrum is not None:
            self.spectrum.end(number)
            self.spectrum.send(self.records)
        self.records.send("end", i=number)
        self.current = None

    @pytest.hookimpl(hookwrapper=True, tryfirst=True)
    def pytest_runtest_makereport(self, item, call):
        made = yield
        if call.excinfo is not None:
            report = made.get_result()
            if not report.passed and not report.skipped:
                report._heal_detail = _heal_failure.describe(call.excinfo.value, self.repo)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logreport(self, report):
        if self.current is not None:
            self._tell(self.current, report)
            if self.watch is not None:
                self.watch(self.current, report)

    def _begin(self, number):
        self.records.send("start", i=number)
        self.since = self.records.clock()

    def _tell(self, number, report):
        """Tell of a phase; its time is ours, the suite's own clock may stand still or go back."""
        detail, now = getattr(report, "_heal_detail", None), self.records.clock()
        fields = _heal_failure.fields(report, detail, now - self.since)
        self.records.send("phase", i=number, **fields)
        if "sub" not in fields:
            self.since = now


def _select(items, tests, errors, name):
    """The items asked for in the order collected, and which requests met none of them."""
    exact = set(tests)
    met = {name(item) for item in items if name(item) in exact}
    broken = {path for path, _ in errors}
    kept = []
    wide = tuple((test, (test + "::", test + "[")) for test in exact - met)
    for item in items:
        keep = name(item) in exact
        for test, starts in wide:
            if name(item).startswith(starts):
                keep = True
                met.add(test)
        if keep:
            kept.append(item)
    lost = [t for t in tests if t not in met and t not in broken and t.split("::")[0] not in broken]
    return kept, lost
