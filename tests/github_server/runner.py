"""The runner's side of the action, derived from `action.yml`: what its process is told.

Everything that starts the action here gets its environment from this module, with every input
that `action.yml` names. As on GitHub, what a step gives wins, also where it is empty; what it does
not give has the default of `action.yml`; what `action.yml` does not name is passed on all the same.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
TOKEN = "token-for-tests"
DEFAULTS: dict[str, str] = {
    name: str(said.get("default", ""))
    for name, said in yaml.safe_load((ROOT / "action.yml").read_text())["inputs"].items()
}
# The entry of the image, with this machine's Python.
COMMAND = (sys.executable, "-I", "-m", "heal_bot", "action")
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
# What a step writes, by the variable that names it.
FILES = {
    "GITHUB_OUTPUT": "output", "GITHUB_STEP_SUMMARY": "summary", "GITHUB_ENV": "env",
    "GITHUB_STATE": "state", "GITHUB_PATH": "path",
}  # fmt: skip


def variable(name: str) -> str:
    """The variable that holds an input: in upper case, blanks replaced and hyphens kept."""
    return f"INPUT_{name.replace(' ', '_').upper()}"


def evaluate(text: str, context: Mapping[str, str]) -> str:
    """A value with its expressions replaced: the first term that is not empty; '' for none."""

    def found(match: re.Match[str]) -> str:
        terms = (term.strip() for term in match[1].split("||"))
        values = (t[1:-1] if t.startswith("'") else context.get(t, "") for t in terms)
        return next((value for value in values if value), "")

    return _EXPRESSION.sub(found, text)


def inputs(given: Mapping[str, str] = {}, token: str = TOKEN) -> dict[str, str]:
    """The variables of all inputs: as a step gives them, else their defaults."""
    context = {"github.token": token}
    return {
        variable(name): evaluate(value, context) for name, value in {**DEFAULTS, **given}.items()
    }


@dataclass(frozen=True)
class Runner:
    """A job on a loopback GitHub: its repository, commit and folders as its steps see them.

    `files` holds the event and what a step writes, `named` further variables of the job.
    """

    url: str
    workspace: Path
    files: Path
    sha: str = ""
    repository: str = "octo/shop"
    branch: str = "main"
    run_id: int = 77
    attempt: int = 1
    job: str = "test"
    token: str = TOKEN
    named: Mapping[str, str] = field(default_factory=dict)

    def environ(self, event: str, given: Mapping[str, str] = {}) -> dict[str, str]:
        """The environment of the action as a step that gives these inputs, for an event."""
        return {
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTOR": "ada",
            "GITHUB_API_URL": self.url,
            "GITHUB_SERVER_URL": self.url,
            "GITHUB_GRAPHQL_URL": f"{self.url}/graphql",
            "GITHUB_REPOSITORY": self.repository,
            "GITHUB_REPOSITORY_OWNER": self.repository.partition("/")[0],
            "GITHUB_EVENT_NAME": event,
            "GITHUB_EVENT_PATH": str(self.files / "event.json"),
            "GITHUB_SHA": self.sha,
            "GITHUB_REF": f"refs/heads/{self.branch}",
            "GITHUB_REF_NAME": self.branch,
            "GITHUB_REF_TYPE": "branch",
            "GITHUB_HEAD_REF": "",
            "GITHUB_BASE_REF": "",
            "GITHUB_RUN_ID": str(self.run_id),
            "GITHUB_RUN_ATTEMPT": str(self.attempt),
            "GITHUB_JOB": self.job,
            "GITHUB_WORKSPACE": str(self.workspace),
            "RUNNER_OS": "Linux",
            "ACTIONS_RUNTIME_TOKEN": "runtime-token-of-the-job",
            "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "identity-token-of-the-job",
            **{key: str(self.files / name) for key, name in FILES.items()},
            **inputs(given, self.token),
            **self.named,
        }

    def start(
        self, event: str, given: Mapping[str, str] = {}, *, seconds: float = 300
    ) -> subprocess.CompletedProcess[str]:
        """The action as a process of this machine, to its end."""
        environ = {"PATH": "/usr/local/bin:/usr/bin:/bin", **self.environ(event, given)}
        return subprocess.run(
            COMMAND, env=environ, cwd=self.workspace, capture_output=True, text=True,
            timeout=seconds,
        )  # fmt: skip


def outputs(text: str) -> dict[str, str]:
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
            name, _, rest = line.partition("=")
            found[name] = rest
    return found
