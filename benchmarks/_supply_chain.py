"""What a lock file, a package, an index or a tool of packages can reach while packages are fetched.

Each case is played against two indexes on the loopback, an own one and a trap: where the trap is
asked, the own one for more than its packages, a password or a file of ours read, or anything
written outside, the case has reached outside. `python -m benchmarks._supply_chain` runs all.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks import _supply_payloads
from benchmarks._repositories import commit_files
from heal_bot.checkout.bare_repository import Repository
from heal_bot.core.errors import HealBotError
from heal_bot.core.events import Run
from heal_bot.core.model import Environment, RunHints
from heal_bot.core.text import Secret
from heal_bot.environments.environment_cache import EnvironmentCache
from heal_bot.environments.environment_request import Access, Wanted
from heal_bot.environments.local_workspace import LocalWorkspace
from heal_bot.environments.package_index import PackageIndex
from heal_bot.environments.target_interpreter import find
from heal_bot.environments.uv_input import Package
from heal_bot.ports.packages import IndexTask
from heal_bot.sandbox.sandbox_client import Sandbox
from heal_bot.sandbox.supervisor_client import Mode
from heal_bot.testrun.wheel_builder import SandboxBuilder
from tests.environments.warehouse import Warehouse, certificate

PASSWORD = "pass-0123456789"
_NO_HINTS = RunHints()


@dataclass(slots=True)
class World:
    """Two indexes, a sandbox, and what must stay where it is; `said` is all that came back."""

    folder: Path
    index: Warehouse
    trap: Warehouse
    hidden: Warehouse
    access: Access
    sandbox: Sandbox
    packages: PackageIndex
    canary: str
    said: list[str] = field(default_factory=list)

    @property
    def facts(self) -> dict[str, Any]:
        """What a payload is told, so that it need not search."""
        return {
            "index": self.index.origin,
            "trap": self.trap.origin,
            "hidden": self.hidden.origin,
            "closed": str(self.folder / "closed/canary"),
            "open": str(self.folder / "open/canary"),
            "outside": str(self.folder / "outside"),
        }

    def hear(self, event: object) -> None:
        """Keep what a run tells."""
        self.said.append(repr(event))

    def reached(self) -> list[str]:
        """What of the outside was reached since the last look."""
        asked = [f"asked for {path}" for path, _ in (*self.trap.asked, *self.hidden.asked)]
        asked += [
            f"asked the index for {p}" for p, _ in self.index.asked if not p.startswith("/simple/")
        ]
        text = "\n".join(self.said)
        told = [word for word in (PASSWORD, self.canary, "REACHED") if word in text]
        outside = self.folder / "outside"
        written = [str(path) for path in (outside, self.folder / "open/new") if path.exists()]
        for seen in (self.trap.asked, self.hidden.asked, self.index.asked, self.said):
            seen.clear()
        outside.unlink(missing_ok=True)
        return [*asked, *(f"told {word}" for word in told), *written]

    def fetch(self, *names: str, index: PackageIndex | None = None) -> Path:
        """Resolve and unpack packages; the folder they lie in."""
        chosen, run = index or self.packages, Run(self.hear)
        lock = chosen.resolve(run, [Package(name) for name in names])
        target = Path(tempfile.mkdtemp(dir=self.folder)) / "site"
        chosen.unpack(run, lock, target)
        self.said += [
            path.read_text(errors="replace") for path in target.rglob("*") if path.is_file()
        ]
        return target

    def play(self, code: str, seconds: float = 20.0) -> None:
        """Run a payload as the tool of packages."""
        program = str(self.packages.program)
        argv = (program, "-I", "-c", _supply_payloads.PRELUDE + code, json.dumps(self.facts))
        task = IndexTask(
            argv, self.access.url, read=self.packages.roots, ca_file=self.access.ca_file,
            seconds=seconds,
        )  # fmt: skip
        with self.packages.builder.ask_index(Run(self.hear), task) as answer:
            self.said.append(answer.output.decode(errors="replace"))

    def impersonate(self, code: str) -> PackageIndex:
        """The index with another program in the place of uv."""
        tool = self.folder / f"open/tool-{secrets.token_hex(4)}"
        facts = json.dumps(self.facts)
        head = f"#!{self.packages.program} -I\nimport sys\nsys.argv[1:] = [{facts!r}]\n"
        tool.write_text(head + _supply_payloads.PRELUDE + code)
        tool.chmod(0o755)
        return replace(self.packages, uv=tool, roots=(*self.packages.roots, tool))

    def assemble(self, files: dict[str, str], hints: RunHints = _NO_HINTS) -> Environment:
        """Make the environment of a project that has these files."""
        source = commit_files(Path(tempfile.mkdtemp(dir=self.folder)), "Files", files)
        run, scratch = Run(self.hear), Path(tempfile.mkdtemp(dir=self.folder))
        workspace = LocalWorkspace(
            Repository.of(run, source, scratch), scratch, self.folder / "cache",
            wanted=Wanted(access=self.access), builder=self.packages.builder,
        )  # fmt: skip
        env = workspace.provision(run, workspace.checkout(run, "HEAD"), hints)
        site = next(Path(env.prefix).glob("lib/*/site-packages"))
        self.said += [f"REACHED {path.name}" for path in site.glob("evil*")]
        self.said.append((site / "pytest.py").read_text())
        return env


@dataclass(frozen=True, slots=True)
class Case:
    """One attempt; `play` may end in an error of ours, which is a refusal."""

    id: str
    play: Callable[[World, Any], object]
    told: object


def try_case(world: World, case: Case) -> list[str]:
    """What it reached; an error that is none of ours counts, too."""
    try:
        case.play(world, case.told)
    except HealBotError as error:
        world.said.append(str(error))
    except Exception as error:  # noqa: BLE001 - the case is to be named, whatever it ended with
        world.said.append(f"REACHED no typed error: {error!r}")
    return world.reached()


@contextlib.contextmanager
def open_world(sandbox: Sandbox) -> Iterator[World]:
    """Indexes and a sandbox for as long as the context lasts."""
    with (
        tempfile.TemporaryDirectory(prefix="heal-bot-supply-") as name,
        contextlib.ExitStack() as closing,
    ):
        folder, canary = Path(name), secrets.token_hex(16)
        folder.chmod(0o755)
        for kind, mode in (("closed", 0o700), ("open", 0o755)):
            (folder / kind).mkdir()
            (folder / kind).chmod(mode)
            (folder / kind / "canary").write_text(canary)
        (folder / "tls").mkdir()
        own = certificate(folder / "tls")
        index = Warehouse(folder / "index", f"ada:{PASSWORD}", own)
        trap, hidden = Warehouse(folder / "trap"), Warehouse(folder / "hidden", certificate=own)
        for each in (index, trap, hidden):
            closing.callback(each.close)
        index.wheel("pytest", "8.0")
        index.wheel("dep")
        for each in (trap, hidden):
            each.wheel("evil", "99")
            each.wheel("dep", "99")
        (folder / "index/admin.html").write_text(canary)
        access = Access(Secret(index.url), str(own.with_name("ca.pem")))
        store = EnvironmentCache.at(folder / "cache")
        python = find(Path(sys.executable).resolve())
        packages = PackageIndex.at(python, folder, store, access, SandboxBuilder(sandbox))
        yield World(folder, index, trap, hidden, access, sandbox, packages, canary)


def measure(cases: Sequence[Case] | None = None) -> dict[str, Any]:
    """`supply_chain` (how many were tried) and `reached_outside` (those that did)."""
    mode: Mode = "strict" if os.geteuid() == 0 else "reduced"
    chosen = list_cases() if cases is None else cases
    with Sandbox.start(mode, 2) as sandbox, open_world(sandbox) as world:
        found = {case.id: try_case(world, case) for case in chosen}
    reached = [f"{name}: {'; '.join(what)}" for name, what in found.items() if what]
    return {"supply_chain": len(found), "reached_outside": reached}


def list_cases() -> list[Case]:
    """All cases: of texts, of what an index serves, and of tools."""

    def assemble(world: World, row: dict[str, Any]) -> object:
        return world.assemble(**_supply_payloads.make_project(world.facts, **row))

    def pose(world: World, code: str) -> object:
        return world.fetch("dep", index=world.impersonate(code))

    parts: tuple[tuple[dict[str, Any], Callable[[World, Any], object]], ...] = (
        (_supply_payloads.TEXTS, assemble),
        (_supply_payloads.SERVED, _supply_payloads.serve),
        (_supply_payloads.TOOLS, World.play),
        (_supply_payloads.LEFT, pose),
    )
    return [Case(name, play, told) for table, play in parts for name, told in table.items()]


def main(argv: list[str]) -> int:
    """Run all cases and print one JSON object as the last line."""
    started = time.monotonic()
    result = measure()
    result |= {"seconds": round(time.monotonic() - started, 1), "complete": True}
    print(json.dumps(result))
    return 1 if result["reached_outside"] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
