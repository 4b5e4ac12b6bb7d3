"""A step of a workflow run as the runner runs a container action: mounts, names, file commands."""

from __future__ import annotations

import json
import os
import subprocess
import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks._engine import Engine
from tests.github_server.runner import FILES, Runner, outputs

# Whoever owns the workspace on a hosted runner; never the root that the action is.
RUNNER_UID = 1001


@dataclass(frozen=True)
class Step:
    """The folders a runner makes for a job, below `folder`."""

    folder: Path
    url: str
    name: str = "octo/shop"

    @property
    def workspace(self) -> Path:
        """Where the job checked out its repository."""
        return self.folder / "work"

    def checkout(self, branch: str = "main") -> str:
        """Clone as actions/checkout does, for the runner's user; the commit."""
        address = f"{self.url}/{self.name}.git"
        clone = ["git", "clone", "--quiet", "--branch", branch, "--depth", "1", address]
        subprocess.run([*clone, str(self.workspace)], check=True)
        return self._git("rev-parse", "HEAD").strip()

    def hand_over(self) -> None:
        """Make the workspace the runner's."""
        for root, folders, files in os.walk(self.folder):
            for name in (".", *folders, *files):
                os.chown(Path(root, name), RUNNER_UID, RUNNER_UID, follow_symlinks=False)

    def run(
        self,
        engine: Engine,
        image: str,
        event: str,
        payload: Mapping[str, Any],
        inputs: Mapping[str, str],
        sha: str,
    ) -> dict[str, Any]:
        """Run the action once: exit code, seconds, outputs, log, and what it left behind."""
        parts = ("_temp", "_home", "_workflow", "_commands")
        for part in parts:
            (self.folder / part).mkdir(exist_ok=True)
        (self.folder / "_workflow/event.json").write_text(json.dumps(payload))
        mark = uuid.uuid4().hex
        for name in FILES.values():
            (self.folder / f"_commands/{name}_{mark}").touch()
        self.hand_over()
        env = self._environment(event, sha, mark, inputs)
        argv = ["run", "--name", f"heal-bot-{mark[:12]}", "--workdir", "/github/workspace", "--rm"]
        argv += [part for key in env for part in ("-e", key)]
        argv += ["--network", "host"]
        if engine.socket is not None:
            argv += ["-v", f"{engine.socket}:/var/run/docker.sock"]
        for part, place in zip(
            parts, ("runner_temp", "home", "workflow", "file_commands"), strict=True
        ):
            argv += ["-v", f"{self.folder / part}:/github/{place}"]
        argv += ["-v", f"{self.workspace}:/github/workspace", image]
        begin = time.monotonic()
        done = subprocess.run(
            [*engine.client, *argv], env={**os.environ, **engine.environ, **env},
            capture_output=True, text=True, timeout=1200,
        )  # fmt: skip
        return {
            "code": done.returncode,
            "seconds": time.monotonic() - begin,
            "log": done.stdout + done.stderr,
            "outputs": outputs((self.folder / f"_commands/output_{mark}").read_text()),
            "summary": (self.folder / f"_commands/summary_{mark}").read_text(),
            "changed": self._git("--no-optional-locks", "status", "--porcelain")
            if (self.workspace / ".git").exists()
            else "",
            "foreign": [
                str(p) for p in self.workspace.rglob("*") if p.lstat().st_uid != RUNNER_UID
            ],
        }

    def _environment(
        self, event: str, sha: str, mark: str, inputs: Mapping[str, str]
    ) -> dict[str, str]:
        """The runner's variables, with the places of files as they are in the container."""
        place = Path("/github/file_commands")
        runner = Runner(self.url, Path("/github/workspace"), place, sha, self.name)
        return runner.environ(event, inputs) | {
            "HOME": "/github/home",
            "GITHUB_EVENT_PATH": "/github/workflow/event.json",
            "RUNNER_TEMP": "/github/runner_temp",
            **{key: f"{place}/{name}_{mark}" for key, name in FILES.items()},
        }

    def _git(self, *arguments: str) -> str:
        safe = ("-c", f"safe.directory={self.workspace}", "-C", str(self.workspace))
        done = subprocess.run(["git", *safe, *arguments], capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else done.stderr
