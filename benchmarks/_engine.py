"""A container engine for the action: one that runs, a dockerd started by hand, or podman.

Order and settings follow what works on machines without a service manager. `heal_bot`'s image is
built from `python:3.12-slim`: the real one where a registry answers, else a stand-in of Debian's
packages and this machine's CPython 3.12.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks._cases import read_cases
from tests.sandbox.engines import NoEngineError, started

ROOT = Path(__file__).resolve().parent.parent
UNPACKED = ROOT / "build" / "docker"
CACHE = ROOT / "build" / "action"
BASE = "python:3.12-slim"
# What a stand-in is called: one of another name was made in another way and is made anew.
_STAND_IN = "Debian 12 with the CPython 3.12 of this machine and its headers"
_SOCKET = Path("/var/run/docker.sock")
_LIBRARIES = (
    "ca-certificates,netbase,tzdata,libssl3,libsqlite3-0,libffi8,libbz2-1.0,liblzma5,"
    "libreadline8,libncursesw6,libtirpc3,libuuid1,libexpat1,zlib1g"
)
# Root without CAP_SYS_RESOURCE cannot raise limits; the capabilities are Docker's own.
_PODMAN: str = read_cases("texts")["podman"]


@dataclass(frozen=True)
class Engine:
    """A client command with its environment; `socket` is what a runner mounts as docker.sock."""

    name: str
    client: tuple[str, ...]
    socket: Path | None = None
    environ: dict[str, str] = field(default_factory=dict)

    def __call__(self, *arguments: str, seconds: float = 1800, check: bool = True) -> str:
        """What the client prints."""
        done = self.start(*arguments, seconds=seconds)
        if check and done.returncode != 0:
            raise RuntimeError(f"{self.name} {arguments[0]}: {done.stderr[-1500:]}")
        return done.stdout

    def start(self, *arguments: str, seconds: float = 1800) -> subprocess.CompletedProcess[str]:
        """The client's end."""
        return subprocess.run(
            [*self.client, *arguments], env={**os.environ, **self.environ, "DOCKER_BUILDKIT": "0"},
            capture_output=True, text=True, timeout=seconds,
        )  # fmt: skip

    def megabytes(self, image: str) -> float:
        """The size of an image, unpacked."""
        return int(self("image", "inspect", "--format", "{{.Size}}", image)) / 1e6


@contextlib.contextmanager
def engine() -> Iterator[Engine]:
    """The first engine that works; NoEngineError when none does."""
    path = f"{UNPACKED}/usr/bin:{UNPACKED}/usr/sbin:{os.environ.get('PATH', os.defpath)}"
    docker, daemon = (shutil.which(name, path=path) for name in ("docker", "dockerd"))
    podman = shutil.which("podman", path=path)
    if docker and (version := _answers(docker, _SOCKET)):
        yield Engine(f"docker {version}", (docker, "-H", f"unix://{_SOCKET}"), _SOCKET)
    elif docker and daemon and os.geteuid() == 0:
        with (
            tempfile.TemporaryDirectory(prefix="heal-bot-docker-") as name,
            started(daemon, Path(name), {"PATH": path, "HOME": name}, CACHE / "images") as socket,
        ):
            version = _answers(docker, socket)
            yield Engine(f"docker {version} (started by hand)", (docker, "-H", f"unix://{socket}"),
                         socket)  # fmt: skip
    elif podman:
        CACHE.mkdir(parents=True, exist_ok=True)
        (CACHE / "containers.conf").write_text(_PODMAN)
        found = Engine(
            "podman", (podman,), None, {"CONTAINERS_CONF": str(CACHE / "containers.conf")}
        )
        yield Engine(found("--version").strip(), found.client, None, found.environ)
    else:
        raise NoEngineError(
            "no container engine works here: start Docker, or as root run "
            "`python tests/sandbox/engines.py` (it unpacks Debian's dockerd below build/), "
            "or `apt-get install podman runc`"
        )


def _answers(docker: str, socket: Path) -> str:
    if not socket.is_socket():
        return ""
    shown = [docker, "-H", f"unix://{socket}", "version", "--format", "{{.Server.Version}}"]
    done = subprocess.run(shown, capture_output=True, text=True, timeout=30)
    return done.stdout.strip() if done.returncode == 0 else ""


def base_image(run: Engine) -> str:
    """Make sure that the base image is there; returns what it is: the real one or a stand-in."""
    if run.start("image", "inspect", BASE).returncode == 0:
        label = '{{index .Config.Labels "stand-in"}}'
        said = run("image", "inspect", "--format", label, BASE).strip()
        if said in {"", "<no value>", _STAND_IN}:
            return _STAND_IN if said == _STAND_IN else "pulled"
        run("rmi", "--force", BASE)
    if run.start("pull", "--quiet", BASE, seconds=300).returncode == 0:
        return "pulled"
    root = CACHE / f"{_STAND_IN.replace(' ', '-')}.tar"
    if not root.exists():
        _stand_in(root)
    name = BASE if run.socket else f"localhost/{BASE}"
    changes = (
        'CMD ["python3"]',
        f'LABEL stand-in="{_STAND_IN}"',
        "ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin",
    )
    named = [part for change in changes for part in ("--change", change)]
    run("import", *named, str(root), name)
    return _STAND_IN


def _stand_in(root: Path) -> None:
    """Pack a root folder; needs mmdebstrap, the archive it asks, and a CPython 3.12."""
    from heal_bot.environments.interpreters import list_installed

    python = next((p for p in list_installed() if p.version.startswith("3.12.")), None)
    if shutil.which("mmdebstrap") is None or python is None:
        raise NoEngineError(
            f"no registry gives {BASE}, and a stand-in needs mmdebstrap and a CPython 3.12 here"
        )
    with tempfile.TemporaryDirectory(prefix="heal-bot-base-") as name:
        add = Path(name, "add")
        _python(python.base, add / "usr/local")
        hooks = [
            f"cp -a {add}/. $1/",
            "chroot $1 ldconfig",
            "chroot $1 python3 -m ensurepip >/dev/null",
            "ln -sf pip3 $1/usr/local/bin/pip",
        ]
        trusted = os.environ.get("SSL_CERT_FILE") or "/etc/ssl/certs/ca-certificates.crt"
        if Path(trusted).is_file():
            # The build reaches an index through whatever this machine trusts.
            (add / "etc").mkdir()
            (add / "etc/pip.conf").write_text(
                "[global]\ncert = /etc/ssl/certs/ca-certificates.crt\n"
            )
            hooks.append(f"cp -L {trusted} $1/etc/ssl/certs/ca-certificates.crt")
        argv = ["mmdebstrap", "--quiet", "--variant=minbase", f"--include={_LIBRARIES}"]
        argv += [f"--customize-hook={hook}" for hook in hooks]
        part = root.with_suffix(".part.tar")
        done = subprocess.run([*argv, "bookworm", str(part)], capture_output=True, text=True)
        if done.returncode != 0:
            raise NoEngineError(f"the stand-in cannot be made: {done.stderr[-400:]}")
        part.rename(root)


def _python(prefix: Path, target: Path) -> None:
    """Copy a CPython 3.12 without its tests, packages and static library."""
    left = shutil.ignore_patterns("test", "idlelib", "site-packages", "__pycache__", "config-3*")
    shutil.copytree(
        prefix / "lib/python3.12", target / "lib/python3.12", ignore=left, symlinks=True
    )
    (target / "lib/python3.12/site-packages").mkdir()
    (target / "bin").mkdir()
    shutil.copy2((prefix / "bin/python3.12").resolve(), target / "bin/python3.12")
    for library in prefix.glob("lib/libpython3*.so*"):
        shutil.copy2(library, target / "lib" / library.name, follow_symlinks=False)
    # As in the real image: a build with a shared library tells its version in its headers alone.
    shutil.copytree(prefix / "include/python3.12", target / "include/python3.12")
    (target / "bin/python3").symlink_to("python3.12")
    (target / "bin/python").symlink_to("python3")


def build(run: Engine, tag: str, context: Sequence[str] = (str(ROOT),)) -> float:
    """Build the Dockerfile as it stands; the seconds it took."""
    begin = time.monotonic()
    network = ["--network", "host"] if run.socket else ["--pull=never"]
    run("build", *network, "-t", tag, "-f", str(ROOT / "Dockerfile"), *context)
    return time.monotonic() - begin
