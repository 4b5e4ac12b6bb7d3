"""The one fetch of a commit from the forge, into a repository of ours."""

from __future__ import annotations

import base64
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from heal_bot.core import process
from heal_bot.core.errors import ForgeError, ProvisionError
from heal_bot.core.events import Run
from heal_bot.core.text import Secret, one_line, redact
from heal_bot.github.client import DIRECT, Route, check_url

# Enough history for the lines a change touched, and no more than a large repository can bear.
_DEPTH = 51
_DEPTHS = (51, 400, 3_200, 10_000)
_SECONDS = 300.0
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_SHA = re.compile(r"[0-9a-f]{40}\Z")
_PLAIN = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "PATH": _PATH,
    "LC_ALL": "C",
}


@dataclass(frozen=True, slots=True)
class Fetched:
    """A repository whose HEAD is the commit to heal; `config` is the commit of its base branch."""

    folder: Path
    config: str

    def read(self, commit: str, path: str) -> bytes | None:
        """The bytes of a file of a commit; None where there is no such plain file."""
        entry = _git(self.folder, "ls-tree", "-z", "--end-of-options", commit, "--", path)
        mode, _, rest = entry.partition(b" ")
        blob = rest.partition(b" ")[2].partition(b"\t")[0].decode("ascii", "replace")
        if mode not in {b"100644", b"100755"} or not _SHA.match(blob):
            return None
        return _git(self.folder, "cat-file", "blob", blob)


def fetch(
    run: Run,
    token: Secret,
    server_url: str,
    repo: str,
    sha: str,
    folder: Path,
    config_ref: str = "",
    tested_sha: str = "",
    good: str = "",
    route: Route = DIRECT,
) -> Fetched:
    """A new repository in `folder` whose HEAD is the commit, without any file checked out.

    The newest commit of branch `config_ref` comes along, and the commit that CI tested where it is
    another and still there: GitHub drops a merge as soon as the next one is made. The history goes
    back to where `good` and the commit part, where that is not too far. The token is in
    git's environment alone: in no argument, file or remote. Raises ForgeError.
    """
    check_url("GITHUB_SERVER_URL", server_url)
    if not _SHA.match(sha):
        raise ForgeError(f"{one_line(sha, 60)!r} is not a commit that can be fetched")
    folder.mkdir(parents=True)
    url = f"{server_url.rstrip('/')}/{repo}.git"
    get = ("fetch", "--quiet", "--no-tags")
    steps = [
        ("init", "--quiet", "--initial-branch=main"),
        (*get, f"--depth={_DEPTH}", "--end-of-options", url, sha),
        ("update-ref", "--no-deref", "HEAD", sha),
    ]
    if config_ref:
        wanted = f"refs/heads/{config_ref}:refs/heal-bot/config"
        steps.append((*get, "--depth=1", "--end-of-options", url, wanted))
    if tested_sha not in {"", sha} and _SHA.match(tested_sha):
        steps.append((*get, f"--depth={_DEPTH}", "--end-of-options", url, tested_sha))
    env = _environment(token, url, folder, route)
    for step in steps:
        seconds = max(1.0, min(_SECONDS, run.left()))
        done = process.run(["git", *step], env=env, cwd=folder, seconds=seconds)
        if done.full:
            raise ProvisionError(f"the disk of {folder} is full: free space before the step runs")
        if not done.ok:
            said = redact(done.complaint(), (token,))
            if step[-1] == tested_sha:
                run.warn("forge", said)
                continue
            raise ForgeError(f"commit {sha[:12]} of {repo} could not be fetched: {said}")
    if good not in {"", sha} and _SHA.match(good):
        _deepen(run, (*get, "--end-of-options", url), (sha, good), folder, env)
    return Fetched(folder, "refs/heal-bot/config" if config_ref else sha)


def _deepen(
    run: Run, get: Sequence[str], shas: tuple[str, str], folder: Path, env: dict[str, str]
) -> None:
    """Fetch further back, until two commits have one in common; no more than is asked for."""
    for depth in _DEPTHS:
        if _git(folder, "merge-base", *shas):
            return
        fetch, *rest = get
        argv = ["git", fetch, f"--depth={depth}", *rest, *shas]
        seconds = max(1.0, min(_SECONDS / 5, run.left() / 10))
        if not process.run(argv, env=env, cwd=folder, seconds=seconds).ok:
            return


def _git(folder: Path, *args: str) -> bytes:
    """Output of a command on the fetched repository; empty when git says no."""
    env = _PLAIN | {"HOME": str(folder)}
    done = process.run(["git", *args], env=env, cwd=folder, seconds=30.0, cap=8 << 20)
    return done.stdout if done.ok else b""


def _environment(token: Secret, url: str, folder: Path, route: Route) -> dict[str, str]:
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
    config |= {"http.sslCAInfo": route.ca_file} if route.ca_file else {}
    config |= {"http.proxy": route.proxy} if route.proxy and url.startswith("https:") else {}
    pairs = {
        f"GIT_CONFIG_{part}_{number}": value
        for number, item in enumerate(config.items())
        for part, value in zip(("KEY", "VALUE"), item, strict=True)
    }
    return _PLAIN | pairs | {"GIT_CONFIG_COUNT": str(len(config)), "HOME": str(folder)}
