"""The few pytest options of a project that a sandboxed run must not follow, switched off."""

from __future__ import annotations

import sys

# (attribute of the parsed options, value that means off, name for the outcome)
_LATE = (
    ("maxfail", 0, "-x/--maxfail"),
    ("numprocesses", None, "-n"),
    ("maxprocesses", None, "-n"),
    ("dist", "no", "--dist"),
    ("distload", False, "--dist"),
    ("tx", [], "--dist"),
    ("lf", False, "--lf"),
    ("failedfirst", False, "--ff"),
    ("reruns", None, "--reruns"),
    ("xmlpath", None, "--junitxml"),
)


def neutralise_early(early_config):
    """Keep pytest-cov from registering itself; names what was found."""
    options = early_config.known_args_namespace
    if getattr(options, "cov_source", None):
        options.cov_source = None
        return ["--cov"]
    return []


def neutralise_late(config):
    """Switch off the rest once all options are parsed, before any plugin is configured."""
    found = []
    for name, off, said in _LATE:
        value = getattr(config.option, name, off)
        if value != off and value is not None:
            found.append(said)
        if hasattr(config.option, name):
            setattr(config.option, name, list(off) if off == [] else off)
    # Beside xdist it counts in a local server, and there is no network in here.
    rerunfailures = sys.modules.get("pytest_rerunfailures")
    if hasattr(rerunfailures, "ServerStatusDB"):
        rerunfailures.ServerStatusDB = rerunfailures.StatusDB
    if config.pluginmanager.hasplugin("rerunfailures") and config.getini("reruns"):
        config._inicache["reruns"] = ""
        found.append("--reruns")
    return found
