"""Where the sandbox is tried as a container action meets it: a real dockerd, or a stand-in.

Docker: the image is an empty root folder; programs, libraries and this checkout are mounted
read-only, and the engine's socket is mounted as a runner does. Nothing else is set: the profile
and the capabilities are the engine's defaults. `python tests/sandbox/engines.py` puts Debian's
dockerd below build/, where it is found.

The stand-in is a pid namespace, the capabilities that Docker leaves, and a filter that refuses
what Docker's refuses. It has this machine's files.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DEBIAN = ROOT / "build" / "docker"
INSIDE = Path(__file__).parent / "contained.py"
SECONDS = 300
# chown, dac_override, fowner, fsetid, kill, setgid, setuid, setpcap, net_bind_service, net_raw,
# sys_chroot, mknod, audit_write, setfcap
DOCKER_CAPABILITIES = 0xA80425FB
# What Docker's profile of 2026 refuses for these capabilities, of what the attacks try.
_REFUSED = (
    *("acct", "add_key", "bpf", "delete_module", "fanotify_init", "finit_module", "init_module"),
    *("kcmp", "kexec_load", "keyctl", "mount", "name_to_handle_at", "open_by_handle_at"),
    *("perf_event_open", "pivot_root", "quotactl", "reboot", "request_key", "setns", "swapoff"),
    *("swapon", "syslog", "umount2", "unshare", "userfaultfd"),
)
_REFUSED_NUMBERS = (*range(425, 434), 438, 442, 467)
_CLONE3, _NEW_NAMESPACES = 435, 0x7E020000
_AF_ALG, _AF_VSOCK = 38, 40


class NoEngineError(Exception):
    """There is no engine, or no base image; the message names the remedy."""


@dataclass(frozen=True)
class Engine:
    """A way to start a program as a container action; `version` names what it is."""

    version: str
    argv: tuple[str, ...]

    def run(self) -> dict[str, Any]:
        """What `contained.py` reports from inside."""
        done = subprocess.run(
            [*self.argv, str(INSIDE)], capture_output=True, text=True, timeout=SECONDS, check=False
        )
        if done.returncode:
            raise RuntimeError(f"{self.version}: {done.stderr[-2000:] or done.returncode}")
        answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
        return answer


def stand_in() -> Engine:
    """The stand-in; needs root."""
    argv = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable, __file__)
    return Engine("stand-in", argv)


@contextlib.contextmanager
def docker() -> Iterator[Engine | None]:
    """A Docker engine: one that runs, or one started by hand for as long as the context lasts."""
    places = [os.environ.get("PATH", ""), str(DEBIAN / "usr/sbin"), str(DEBIAN / "usr/bin")]
    env = {"PATH": ":".join(places), "HOME": "/nonexistent"}
    daemon = shutil.which("dockerd", path=env["PATH"])
    with tempfile.TemporaryDirectory(prefix="heal-bot-engine-") as name:
        folder = Path(name)
        running = Path("/var/run/docker.sock")
        if running.is_socket():
            yield _docker(folder, running, env)
        elif daemon is None or os.geteuid() != 0:
            yield None
        else:
            with started(daemon, folder, env) as own:
                yield _docker(folder, own, env)


@contextlib.contextmanager
def started(
    daemon: str, folder: Path, env: dict[str, str], data: Path | None = None
) -> Iterator[Path]:
    """A dockerd without network; its socket. Its images stay in `data`, where that is given."""
    argv = [daemon, "--data-root", str(data or folder / "data"), "--exec-root", f"{folder}/exec"]
    argv += ["-H", f"unix://{folder}/socket", "-p", f"{folder}/pid", "--storage-driver", "overlay2"]
    argv += ["--iptables=false", "--bridge=none"]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(argv, env=env, stdout=log, stderr=log, start_new_session=True)
    try:
        end = time.monotonic() + 60
        while not (folder / "socket").is_socket():
            if process.poll() is not None or time.monotonic() > end:
                raise NoEngineError(
                    f"dockerd does not start: {(folder / 'log').read_text()[-500:]}"
                )
            time.sleep(0.05)
        yield folder / "socket"
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(30)
        # The network namespace of the daemon is a mount that outlives it.
        subprocess.run(["umount", f"{folder}/exec/netns/default"], capture_output=True)


def _docker(folder: Path, socket: Path, env: dict[str, str]) -> Engine:
    """An image and the command that runs a program in it."""
    client = [str(shutil.which("docker", path=env["PATH"])), "-H", f"unix://{socket}"]
    base = folder / "base"
    for part in ("usr", "tmp", "root", "proc", "sys", "dev", "etc", "var/run"):
        (base / part).mkdir(parents=True)
    (base / "tmp").chmod(0o1777)
    (base / "root").chmod(0o700)
    for link in ("bin", "lib", "lib64", "sbin"):
        (base / link).symlink_to(f"usr/{link}")
    packed = subprocess.run(["tar", "-C", base, "-c", "."], capture_output=True, check=True).stdout
    image = "heal-bot-sandbox-test"
    subprocess.run([*client, "import", "-", image], input=packed, capture_output=True, check=True)
    shown = [*client, "version", "--format", "{{.Server.Version}}"]
    version = subprocess.run(shown, capture_output=True, text=True, check=True).stdout.strip()
    files = ("/etc/ld.so.cache", "/etc/passwd", "/etc/group", "/etc/shadow")
    folders = dict.fromkeys(("/usr", str(ROOT), sys.prefix, sys.base_prefix))
    mounts = [f"{path}:{path}:ro" for path in (*folders, *files)]
    argv = [*client, "run", "--rm", "--network", "none", "-w", "/tmp"]
    argv += [part for mount in mounts for part in ("-v", mount)]
    argv += ["-v", f"{socket}:/var/run/docker.sock", image, sys.executable]
    return Engine(f"docker {version}", tuple(argv))


def fetch() -> None:
    """Debian's dockerd, containerd and runc, unpacked below build/."""
    DEBIAN.mkdir(parents=True, exist_ok=True)
    packages = ["docker.io", "containerd", "runc"]
    subprocess.run(["apt-get", "download", "-qq", *packages], cwd=DEBIAN, check=True)
    for package in DEBIAN.glob("*.deb"):
        subprocess.run(["dpkg", "-x", str(package), str(DEBIAN)], check=True)
        package.unlink()


def _refuse() -> None:
    """Docker's filter, as far as the attacks can tell; before the capabilities go."""
    import pyseccomp as seccomp

    built = seccomp.SyscallFilter(seccomp.ALLOW)
    built.set_attr(seccomp.Attr.CTL_NNP, 0)
    eperm, enosys = seccomp.ERRNO(1), seccomp.ERRNO(38)
    for name in _REFUSED:
        built.add_rule(eperm, name)
    for number in _REFUSED_NUMBERS:
        built.add_rule(eperm, number)
    built.add_rule(enosys, _CLONE3)
    for bit in (1 << n for n in range(32) if _NEW_NAMESPACES >> n & 1):
        built.add_rule(eperm, "clone", seccomp.Arg(0, seccomp.MASKED_EQ, bit, bit))
    for family in (_AF_ALG, _AF_VSOCK):
        built.add_rule(eperm, "socket", seccomp.Arg(0, seccomp.EQ, family))
    built.load()


def _drop() -> None:
    """Keep Docker's capabilities and no other, in every set."""
    libc = ctypes.CDLL(None, use_errno=True)
    for number in range(64):
        if not DOCKER_CAPABILITIES >> number & 1 and libc.prctl(24, number, 0, 0, 0) != 0:
            break
    low, high = DOCKER_CAPABILITIES & 0xFFFFFFFF, DOCKER_CAPABILITIES >> 32
    sets = struct.pack("6I", low, low, 0, high, high, 0)
    if libc.capset(struct.pack("Ii", 0x20080522, 0), sets) != 0:
        raise OSError(ctypes.get_errno(), "capset")


if __name__ == "__main__":
    if sys.argv[1:]:
        _refuse()
        _drop()
        os.execv(sys.executable, [sys.executable, *sys.argv[1:]])
    fetch()
