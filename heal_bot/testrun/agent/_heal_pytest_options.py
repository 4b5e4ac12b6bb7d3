"""The few pytest options of a project that a sandboxed run must not follow, switched off."""

from __future__ import annotations

import sys

# Attributes of the parsed options, each with the value that means off.
_LATE = {
    "maxfail": 0,
    "numprocesses": None,
    "maxprocesses": None,
    "dist": "no",
    "distload": False,
    "tx": [],
    "lf": False,
    "failedfirst": False,
    "reruns": None,
    "xmlpath": None,
}


def neutralise_early(early_config):
    """Keep pytest-cov from registering itself."""
    options = early_config.known_args_namespace
    if getattr(options, "cov_source", None):
        options.cov_source = None


def neutralise_late(config):
    """Switch off the rest once all options are parsed, before any plugin is configured."""
    for name, off in _LATE.items():
        if hasattr(config.option, name):
            setattr(config.option, name, list(off) if off == [] else off)
    # Beside xdist it counts in a local server, and there is no network in here.
    rerunfailures = sys.modules.get("pytest_rerunfailures")
    if hasattr(rerunfailures, "ServerStatusDB"):
        rerunfailures.ServerStatusDB = rerunfailures.StatusDB
    if config.pluginmanager.hasplugin("rerunfailures") and config.getini("reruns"):
        config._inicache["reruns"] = ""
