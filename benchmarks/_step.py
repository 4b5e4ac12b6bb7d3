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

# Whoever owns the workspace on a hosted runner; never the root that the action is.
RUNNER_UID = 1001
TOKEN = "token-for-tests"


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
        for command in ("set_output", "set_env", "save_state", "add_path", "step_summary"):
            (self.folder / f"_commands/{command}_{mark}").touch()
        self.hand_over()
        env = self._environment(event, sha, mark, inputs)
        argv = ["run", "--name", f"heal-bot-{mark[:12]}", "--workdir", "/github/workspace", "--rm"]
        argv += [part for key in env for part in ("-e", key)]
        argv += ["-e", "GITHUB_ACTIONS=true", "-e", "CI=true", "--network", "host"]
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
            "outputs": _outputs((self.folder / f"_commands/set_output_{mark}").read_text()),
            "summary": (self.folder / f"_commands/step_summary_{mark}").read_text(),
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
        commands = "/github/file_commands"
        return {
            "HOME": "/github/home",
            "GITHUB_API_URL": self.url,
            "GITHUB_SERVER_URL": self.url,
            "GITHUB_REPOSITORY": self.name,
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": "/github/workflow/event.json",
            "GITHUB_SHA": sha,
            "GITHUB_REF_NAME": "main",
            "GITHUB_RUN_ID": "77",
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_WORKSPACE": "/github/workspace",
            "GITHUB_OUTPUT": f"{commands}/set_output_{mark}",
            "GITHUB_ENV": f"{commands}/set_env_{mark}",
            "GITHUB_STATE": f"{commands}/save_state_{mark}",
            "GITHUB_PATH": f"{commands}/add_path_{mark}",
            "GITHUB_STEP_SUMMARY": f"{commands}/step_summary_{mark}",
            "RUNNER_TEMP": "/github/runner_temp",
            "ACTIONS_RUNTIME_TOKEN": "runtime-token-of-the-job",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "identity-token-of-the-job",
            "INPUT_GITHUB-TOKEN": TOKEN,
            **{f"INPUT_{key.upper()}": value for key, value in inputs.items()},
        }

    def _git(self, *arguments: str) -> str:
        safe = ("-c", f"safe.directory={self.workspace}", "-C", str(self.workspace))
        done = subprocess.run(["git", *safe, *arguments], capture_output=True, text=True)
        return done.stdout if done.returncode == 0 else done.stderr


def _outputs(text: str) -> dict[str, str]:
    """What a step wrote to its output file: NAME<<MARK blocks and NAME=VALUE lines."""
    found: dict[str, str] = {}
    lines = iter(text.splitlines())
    for line in lines:
        name, _, mark = line.partition("<<")
        if mark:
            value = []
            for inner in lines:
                if inner == mark:
                    break
                value.append(inner)
            found[name] = "\n".join(value)
        elif "=" in line:
            name, _, value_ = line.partition("=")
            found[name] = value_
    return found
