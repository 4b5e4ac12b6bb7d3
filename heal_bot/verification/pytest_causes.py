"""What pytest itself does or lacks that makes a test red: a plugin, a former name, an assertion."""

from __future__ import annotations

import re

from heal_bot.core.model import CaseResult, Environment
from heal_bot.ports import Tree
from heal_bot.verification import dependency_causes, missing_plugins, raise_location

# What a class of tests says where the methods that nose called did not run.
_UNSET = re.compile(r"'(\w+)' object has no attribute '(\w+)'")
_NO_NOSE = 8


def explain_pytest(seen: CaseResult, tree: Tree, env: Environment) -> str:
    """What of pytest it is, with the remedy; '' for other causes."""
    return _plugin(seen, tree, env) or _own_assertion(seen, env) or _nose(seen, tree, env)


def _plugin(seen: CaseResult, tree: Tree, env: Environment) -> str:
    """A plugin of pytest that gives what the test asks for."""
    lacking = missing_plugins.find_complained(seen, tree, env)
    if not lacking:
        return ""
    return (
        f"pytest's plugin {lacking[0]}, which the test asks for, is missing: install it in the test"
        " environment"
    )


def _own_assertion(seen: CaseResult, env: Environment) -> str:
    """An assertion of pytest's own: it has neither words nor a line of the project."""
    if (seen.phase, seen.kind) != ("setup", "AssertionError") or seen.message or seen.frames:
        return ""
    return (
        f"{dependency_causes.describe_installed('pytest', env)} itself fails in the setup of it, as"
        " it does after an error of a fixture: cure the first one, or pin the pytest it ran with"
    )


def _nose(seen: CaseResult, tree: Tree, env: Environment) -> str:
    """A class whose `setup` is nose's, which pytest called until its version 8."""
    owner, path = seen.test.split("::")[-2:][0], seen.test.partition("::")[0]
    found = _UNSET.search(seen.message)
    if seen.kind != "AttributeError" or found is None or found[1] != owner:
        return ""
    setup = raise_location.read_test(tree, f"{path}::{owner}::setup")
    package = dependency_causes.describe_installed("pytest", env)
    version = re.search(r" (\d+)\.", package)
    if not re.search(rf"\bself\.{found[2]}\b", setup) or not version:
        return ""
    if int(version[1]) < _NO_NOSE:
        return ""
    return (
        f"{package} does not call {owner}.setup, a name of nose's that versions before"
        f" {_NO_NOSE} called: name it setup_method, or pin pytest<{_NO_NOSE}"
    )
