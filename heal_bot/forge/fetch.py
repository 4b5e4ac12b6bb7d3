"""The one fetch of a commit from the forge, into a repository of ours."""

from __future__ import annotations

import base64
import re
from pathlib import Path

from heal_bot import process
from heal_bot.errors import ForgeError
from heal_bot.events import Run
from heal_bot.forge.client import check_url
from heal_bot.text import Secret, one_line, redact

# Enough history for the lines a change touched, and no more than a large repository can bear.
_DEPTH = 51
_SECONDS = 300.0
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SHA = re.compile(r"[0-9a-f]{40}\Z")


def fetch(run: Run, token: Secret, server_url: str, repo: str, sha: str, folder: Path) -> Path:
    """A new repository in `folder` whose HEAD is the commit, without any file checked out.

    The token is in git's environment alone: in no argument, file or remote. Raises ForgeError.
    """
    check_url("GITHUB_SERVER_URL", server_url)
    if not _SHA.match(sha):
        raise ForgeError(f"{one_line(sha, 60)!r} is no commit to fetch")
    folder.mkdir(parents=True)
    url = f"{server_url.rstrip('/')}/{repo}.git"
    env = _environment(token, url, folder)
    steps = (
        ("init", "--quiet", "--initial-branch=main"),
        ("fetch", "--quiet", "--no-tags", f"--depth={_DEPTH}", "--end-of-options", url, sha),
        ("update-ref", "--no-deref", "HEAD", sha),
    )
    for step in steps:
        seconds = max(1.0, min(_SECONDS, run.left()))
        done = process.run(["git", *step], env=env, cwd=folder, seconds=seconds)
        if not done.ok:
            said = redact(done.complaint(), (token,))
            raise ForgeError(f"commit {sha[:12]} of {repo} could not be fetched: {said}")
    return folder


def _environment(token: Secret, url: str, folder: Path) -> dict[str, str]:
    basic = base64.b64encode(f"x-access-token:{token.reveal()}".encode()).decode()
    config = {
        f"http.{url}.extraHeader": f"Authorization: Basic {basic}",
        "transfer.fsckObjects": "true",
        "protocol.allow": "never",
        f"protocol.{url.partition(':')[0]}.allow": "always",
        "http.followRedirects": "false",
        "core.hooksPath": "/dev/null",
        "gc.auto": "0",
    }
    pairs = {
        f"GIT_CONFIG_{part}_{number}": value
        for number, item in enumerate(config.items())
        for part, value in zip(("KEY", "VALUE"), item, strict=True)
    }
    return pairs | {
        "GIT_CONFIG_COUNT": str(len(config)),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": "/dev/null",
        "GIT_TERMINAL_PROMPT": "0",
        "HOME": str(folder),
        "PATH": _PATH,
        "LC_ALL": "C",
    }
