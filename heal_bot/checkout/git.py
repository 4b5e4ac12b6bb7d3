"""Git as heal-bot runs it: our own configuration alone, a built environment, bounded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heal_bot.core import process
from heal_bot.core.errors import HealBotError, ProvisionError, UsageError, WorkspaceError
from heal_bot.core.events import Run
from heal_bot.core.text import one_line

PATH = "/usr/local/bin:/usr/bin:/bin"
# Defects that old, honest histories hold and that cannot lead anywhere: they are passed over.
# Names of paths (.., .git, absolute) stay errors.
_HARMLESS = (
    "badDate",
    "badDateOverflow",
    "badEmail",
    "badName",
    "badTimezone",
    "missingAuthor",
    "missingEmail",
    "missingNameBeforeEmail",
    "missingSpaceBeforeDate",
    "missingSpaceBeforeEmail",
    "missingTaggerEntry",
    "multipleAuthors",
    "nulInCommit",
    "zeroPaddedDate",
    "zeroPaddedFilemode",
)
_CONFIG = """\
[safe]
    directory = *
[core]
    hooksPath = /dev/null
    fsmonitor = false
    commitGraph = false
    attributesFile = /dev/null
    excludesFile = /dev/null
    quotePath = false
    alternateRefsCommand = true
[gc]
    auto = 0
[maintenance]
    auto = false
[protocol]
    allow = never
[protocol "file"]
    allow = always
[transfer]
    fsckObjects = true
[fetch]
    recurseSubmodules = false
    writeCommitGraph = false
    showForcedUpdates = false
[uploadpack]
    allowAnySHA1InWant = true
[init]
    defaultBranch = main
    templateDir =
[advice]
    detachedHead = false
"""


@dataclass(frozen=True, slots=True)
class Git:
    """Runs git in the bare repository `folder`; `home` holds our configuration and nothing else."""

    folder: Path
    home: Path

    def run(
        self,
        run: Run,
        *arguments: str,
        stdin: bytes = b"",
        cap: int = 64 << 20,
        seconds: float = 120.0,
    ) -> bytes:
        """The output of git; WorkspaceError when it fails."""
        completed = self.attempt(run, *arguments, stdin=stdin, cap=cap, seconds=seconds)
        self.refuse_full(completed)
        if not completed.ok:
            said = one_line(completed.stderr.decode(errors="replace"))
            raise WorkspaceError(f"git {arguments[0]} failed ({completed.ended}): {said}")
        return completed.stdout

    def read(self, run: Run, *arguments: str) -> bytes:
        """The output of git; nothing where it fails."""
        completed = self.attempt(run, *arguments)
        return completed.stdout if completed.ok else b""

    def attempt(
        self,
        run: Run,
        *arguments: str,
        stdin: bytes = b"",
        cap: int = 64 << 20,
        seconds: float = 120.0,
    ) -> process.Completed:
        """As `run`, with failure as a value; UsageError when git is not installed."""
        argv = ("git", f"--git-dir={self.folder}", "--no-replace-objects", *arguments)
        limit = max(1.0, min(seconds, run.left()))
        try:
            return process.run(
                argv, env=self._environment(), cwd=self.home, seconds=limit, cap=cap, stdin=stdin
            )
        except HealBotError as error:
            raise UsageError("git cannot be started: install it (apt-get install git)") from error

    def refuse_full(self, completed: process.Completed) -> None:
        """ProvisionError where git found no room for what it was to write."""
        if completed.full:
            raise ProvisionError(
                f"the disk of {self.folder.parent} is full: free space there, or name another "
                "folder with TMPDIR"
            )

    def _environment(self) -> dict[str, str]:
        return {
            "PATH": PATH,
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home),
            "LC_ALL": "C.UTF-8",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_SYSTEM": "/dev/null",
            "GIT_CONFIG_GLOBAL": str(self.home / "gitconfig"),
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_OPTIONAL_LOCKS": "0",
        }


def write_configuration(home: Path) -> None:
    """Write our configuration to a new private folder."""
    home.mkdir(mode=0o700)
    harmless = "".join(f"    {name} = ignore\n" for name in _HARMLESS)
    (home / "gitconfig").write_text(f'{_CONFIG}[fetch "fsck"]\n{harmless}')
