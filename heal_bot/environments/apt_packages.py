"""System packages that tests need, installed in the action's own container by Debian's apt."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from heal_bot.core import process
from heal_bot.core.errors import ProvisionError, UsageError
from heal_bot.core.events import Noted, Run
from heal_bot.core.text import one_line

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_NAME = re.compile(r"[a-z0-9][a-z0-9+.-]{1,100}(?:=[A-Za-z0-9.+:~-]{1,100})?")
_MOST = 50
_SECONDS = 600.0


def parse_names(text: str) -> tuple[str, ...]:
    """The packages in a text, separated by blanks, commas or lines; UsageError for no name."""
    names = tuple(dict.fromkeys(text.replace(",", " ").split()))
    if wrong := next((name for name in names if not _NAME.fullmatch(name)), ""):
        raise UsageError(
            f"system-packages: {one_line(wrong, 60)!r} is not the name of a Debian package"
        )
    if len(names) > _MOST:
        raise UsageError(f"system-packages names {len(names)} packages; at most {_MOST} are taken")
    return names


def install(run: Run, names: Sequence[str], path: str, environ: Mapping[str, str]) -> None:
    """Install packages; ProvisionError with what apt said.

    `environ` is the runner's: nothing is installed on a machine that is no runner's container.
    `path` is where apt-get is looked for.
    """
    if not names:
        return
    if environ.get("GITHUB_ACTIONS") != "true":
        raise UsageError("system-packages is for the action's container; install them yourself")
    env = {"PATH": path, "DEBIAN_FRONTEND": "noninteractive", "LC_ALL": "C.UTF-8"}
    install = ("install", "--yes", "--no-install-recommends", "--", *names)
    for step in (("update",), install):
        seconds = max(1.0, min(_SECONDS, run.left()))
        done = process.run(["apt-get", "--quiet", *step], env=env, seconds=seconds)
        if not done.ok:
            raise ProvisionError(f"system-packages {', '.join(names)}: {done.complaint()}")
    run.emit(Noted(stage="workspace", message=f"installed: {', '.join(names)}"))
