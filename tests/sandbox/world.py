"""A world to attack, and the ways to run the attacks on it: inside, bare, behind one layer."""

from __future__ import annotations

import contextlib
import fcntl
import importlib.util
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

from heal_bot.sandbox import child_setup
from heal_bot.sandbox.job_spec import Job, Limits, Profile
from heal_bot.sandbox.landlock import make_ruleset
from heal_bot.sandbox.prctl import prctl
from heal_bot.sandbox.sandbox_client import Sandbox, Slot, child_env
from heal_bot.sandbox.seccomp import compile_filter

PYTHON = shutil.which("python3", path="/usr/bin:/usr/local/bin") or "/usr/bin/python3"
LONE_UID = 64_900
_PR_CAPBSET_DROP, _CAP_SYS_RESOURCE = 24, 24


def load(name: str) -> ModuleType:
    """A module of this folder, once, under its own name."""
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, Path(__file__).parent / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


attacks = load("attacks")


@contextlib.contextmanager
def facts() -> Iterator[dict[str, object]]:
    """A world to attack, open to everyone by mode, so that only the layers guard it."""
    os.environ["HEAL_TEST_SECRET"] = "secret"
    root = Path(tempfile.mkdtemp(dir="/tmp"))
    root.chmod(0o777)
    work, home = root / "work", root / "home"
    for folder in (work, home, work / ".git/hooks", work / ".git/objects/info", work / "venv"):
        folder.mkdir(parents=True)
    (work / "swap").mkdir()
    for name in ("module.py", "moved50", "gone54", "event.json", ".git/config", "secret"):
        (work / name).write_text("secret\n")
    (home / ".netrc").write_text("secret\n")
    for folder, _, files in os.walk(root):
        Path(folder).chmod(0o777)
        for name in files:
            Path(folder, name).chmod(0o666 if name != "secret" else 0o644)
    with contextlib.ExitStack() as stack:
        stack.callback(shutil.rmtree, root)
        stack.callback(Path(f"/dev/shm/heal-bot-{root.name}").unlink, missing_ok=True)
        described = {
            "work": str(work),
            "home": str(home),
            "secret": str(work / "secret"),
            "cgroup": _cgroup_file(),
            "shm": f"/dev/shm/heal-bot-{root.name}",
            **_sockets(stack, root),
            **_victim(stack),
            "terminal": _terminal(stack),
        }
        leak = os.open(work / "secret", os.O_RDONLY)
        # A high number that is free, also to be inherited: one that is in use would be lost.
        high = fcntl.fcntl(leak, fcntl.F_DUPFD, 77)
        os.close(leak)
        stack.callback(os.close, high)
        yield {**described, "leak": high}


def _terminal(stack: contextlib.ExitStack) -> str:
    """A terminal of ours, as somebody may sit at."""
    ends = os.openpty()
    for end in ends:
        stack.callback(os.close, end)
    return os.ttyname(ends[1])


def _cgroup_file() -> str:
    for path in sorted(Path("/sys/fs/cgroup").glob("**/cgroup.procs")):
        return str(path)
    return "/sys/fs/cgroup/none"


def _sockets(stack: contextlib.ExitStack, root: Path) -> dict[str, object]:
    """Listeners of every kind; the socket files are open to all, as docker.sock is to root."""
    tag = root.name
    names: dict[str, object] = {"abstract": f"s-{tag}", "abstract_dgram": f"d-{tag}"}
    stream, dgram = socket.SOCK_STREAM, socket.SOCK_DGRAM
    for key, family, kind, address in (
        ("tcp", socket.AF_INET, stream, ("127.0.0.1", 0)),
        ("udp", socket.AF_INET, dgram, ("127.0.0.1", 0)),
        ("docker", socket.AF_UNIX, stream, str(root / "docker.sock")),
        ("dgram", socket.AF_UNIX, dgram, str(root / "dgram.sock")),
        ("", socket.AF_UNIX, stream, f"\0s-{tag}"),
        ("", socket.AF_UNIX, dgram, f"\0d-{tag}"),
    ):
        opened = stack.enter_context(socket.socket(family, kind))
        opened.bind(address)
        if kind == stream:
            opened.listen()
        if key and family == socket.AF_INET:
            names[key] = opened.getsockname()[1]
        elif key:
            Path(str(address)).chmod(0o777)
            names[key] = str(address)
    return names


def _victim(stack: contextlib.ExitStack) -> dict[str, object]:
    """A process of ours with a secret in its memory and environment."""
    code = (
        "import ctypes,time; b=ctypes.create_string_buffer(b'secret12');"
        "print(ctypes.addressof(b),flush=True); time.sleep(600)"
    )
    process = subprocess.Popen(
        [PYTHON, "-I", "-c", code],
        env={"TOKEN": "secret"},
        stdout=subprocess.PIPE,
        stdin=subprocess.DEVNULL,
    )
    assert process.stdout is not None
    stack.callback(process.stdout.close)
    stack.callback(process.wait, 10)
    stack.callback(process.kill)
    return {"victim": process.pid, "address": int(process.stdout.readline())}


def given(described: dict[str, object]) -> str:
    """What the harness of the attacks reads."""
    codes = [(attack.id, attack.code) for attack in attacks.ATTACKS]
    return json.dumps({"prelude": attacks.PRELUDE, "facts": described, "codes": codes})


def run_inside(
    sandbox: Sandbox, hosts: tuple[str, ...] = (), *, alone: bool = False
) -> dict[str, str]:
    """What became of every attack inside the sandbox; with `hosts` in a proxied set-up job."""
    profile: Profile = "setup" if hosts else "test"
    with facts() as described, sandbox.slot() as slot, sandbox.slot() as other:
        path = slot.repo / "given.json"
        path.write_text(given({**described, "other_slot": str(other.repo)}))
        path.chmod(0o644)
        reader, writer = os.pipe()
        argv = (PYTHON, "-I", "-c", attacks.HARNESS, str(path), "3")
        running = sandbox.start_job(
            Job(
                argv, child_env(slot), slot.repo, channels=(writer,), limits=Limits(wall=60),
                profile=profile, hosts=hosts, terminals=not hosts, alone=alone,
            ),
            slot,
        )  # fmt: skip
        os.close(writer)
        with os.fdopen(reader, "rb") as stream:
            data = stream.read()
        ended = running.wait()
        assert (ended.how, ended.code) == ("exited", 0), ended
        slot.renew()
        assert slot.uid is None or not Path(str(described["shm"])).exists()
        return json.loads(data)


def unsandboxed(
    prepare: Callable[[], None] | None = None,
    env: dict[str, str] | None = None,
    *,
    leaks: bool = True,
) -> dict[str, str]:
    """The same attacks in a plain child, after `prepare` ran in it; by default it inherits all."""
    with facts() as described:
        work = Path(tempfile.mkdtemp(dir="/tmp"))
        (work / "other").mkdir(mode=0o700)
        (work / "cwd").mkdir()
        for folder in (work, work / "cwd"):
            folder.chmod(0o777)
        path = work / "given.json"
        path.write_text(given({**described, "other_slot": str(work / "other")}))
        path.chmod(0o644)
        leaked = (int(str(described["leak"])),) if leaks else ()
        with path.with_name("results").open("wb") as results:
            subprocess.run(
                [PYTHON, "-I", "-c", attacks.HARNESS, str(path), str(results.fileno())],
                cwd=work / "cwd",
                pass_fds=(results.fileno(), *leaked),
                env=env,
                preexec_fn=prepare,
                stdin=subprocess.DEVNULL,
                timeout=60,
                check=True,
            )
        data = path.with_name("results").read_bytes()
        shutil.rmtree(work)
        return json.loads(data)


def _only_landlock() -> None:
    rules = make_ruleset((), (Path.cwd(),), ports=False)
    rules.allow_path(Path.cwd().parent / "given.json", 4)
    rules.restrict()


def _only_limits() -> None:
    # A hard limit may be raised with CAP_SYS_RESOURCE, which sandboxed code never has.
    child_setup.limit_resources(Limits(), 0)
    prctl(_PR_CAPBSET_DROP, _CAP_SYS_RESOURCE)


def behind_one_layer() -> dict[str, dict[str, str]]:
    """What became of every attack behind one layer and nothing else."""
    blob = compile_filter("test")
    built = child_env(Slot(0, None, Path("/nowhere")))
    return {
        "environment": unsandboxed(env=built),
        "descriptors": unsandboxed(leaks=False),
        "limits": unsandboxed(_only_limits),
        "uid": unsandboxed(lambda: child_setup.drop_to_uid(LONE_UID)),
        "landlock": unsandboxed(_only_landlock),
        "seccomp": unsandboxed(lambda: child_setup.load_filter(blob)),
    }
