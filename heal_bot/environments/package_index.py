"""The package index through uv: versions resolved and wheels unpacked, no package's code run.

uv runs outside of the sandbox because it needs the network, so it gets only what cannot start
foreign code: our own interpreter, no configuration of the repository, wheels alone.
"""

from __future__ import annotations

import base64
import hashlib
import re
import ssl
import sys
import tomllib
import urllib.error
import urllib.request
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from heal_bot.core import process
from heal_bot.core.errors import ProvisionError
from heal_bot.core.events import Run
from heal_bot.core.text import one_line, redact
from heal_bot.environments.environment_request import Access
from heal_bot.environments.target_interpreter import MAKE_ONE
from heal_bot.environments.uv_input import (
    Locked,
    Package,
    parse_resolution,
    write,
    write_configuration,
)

_SECONDS = 600.0
# A resolution of a few hundred packages takes 0.2 GiB.
_MEMORY = 2 << 30
_SDIST_CAP = 128 << 20
_LOCKED_OUT = re.compile(r"index URL \((\S+)\) could not be queried .*\((40\d [\w ]+)\)")
_UNREACHED = re.compile(r"Failed to fetch: `?(\S+?)`?\n")
_NO_WHEEL = re.compile(r"[Ww]heels are required for `([A-Za-z0-9][\w.-]*)`")
_UV = ("/usr/local/bin/uv", "/usr/bin/uv")
_PORTS = {"https": 443, "http": 80}
_LOOPBACK = {"127.0.0.1", "localhost", "::1"}


class ResolveError(ProvisionError):
    """The index has no set of versions that fits, or could not be asked."""


class NoWheelError(ProvisionError):
    """A package that is needed has no wheel for this Python; `name` says which."""

    def __init__(self, name: str, message: str) -> None:
        super().__init__(message)
        self.name = name


@dataclass(frozen=True, slots=True)
class PackageIndex:
    """One index and where uv may write; `python` is the target's version, as in 3.12."""

    uv: Path
    folder: Path
    python: str
    access: Access

    @classmethod
    def at(cls, folder: Path, python: str, access: Access) -> PackageIndex:
        """Find uv; ProvisionError without it, or for an index that is not reached safely."""
        places = (Path(sys.prefix, "bin/uv"), Path(sys.base_prefix, "bin/uv"), *map(Path, _UV))
        uv = next((place for place in places if place.is_file()), None)
        if uv is None:
            raise ProvisionError(
                "uv is not installed, so no environment can be made: install it beside heal-bot, "
                f"{MAKE_ONE}"
            )
        if access.url:
            parts = urlsplit(access.url.reveal())
            if not parts.scheme or not parts.hostname:
                raise ProvisionError(
                    "index-url is no address: write it as https://host/simple, with user:password@ "
                    "before the host where one is needed"
                )
            if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
                raise ProvisionError(
                    f"the index {parts.scheme}://{parts.hostname} is not reached by https: "
                    "credentials and packages would travel in the open"
                )
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return cls(uv, folder, python, access)

    def resolve(
        self,
        run: Run,
        packages: Iterable[Package],
        bounds: Iterable[Package] = (),
        *,
        built: Path | None = None,
        deps: bool = True,
    ) -> tuple[Locked, ...]:
        """Exact versions with hashes; wheels in `built` count too.

        NoWheelError for a package that would have to be built, ProvisionError otherwise.
        """
        wanted = write(self.folder / "wanted.txt", packages)
        bounded = write(self.folder / "bounds.txt", bounds)
        argv = [
            "pip", "compile", "--no-build", "--generate-hashes", "--no-annotate", "--no-header",
            "--python-version", self.python, "--constraints", str(bounded), str(wanted),
        ]  # fmt: skip
        argv += ["--find-links", str(built)] if built else []
        argv += [] if deps else ["--no-deps"]
        return parse_resolution(self._run(run, argv).decode())

    def unpack(
        self, run: Run, lock: Sequence[Locked], target: Path, *, built: Path | None = None
    ) -> None:
        """Unpack the wheels of a resolution into the folder `target`, each checked by hash."""
        argv = [
            "pip", "install", "--no-deps", "--only-binary", ":all:", "--require-hashes",
            "--link-mode", "copy", "--python-version", self.python, "--target", str(target),
            "--requirement", str(write(self.folder / "lock.txt", lock)),
        ]  # fmt: skip
        argv += ["--find-links", str(built)] if built else []
        self._run(run, argv)

    def sdist(self, run: Run, package: Package) -> tuple[str, bytes]:
        """File name and bytes of the source archive that fits, checked by hash."""
        wanted = write(self.folder / "sdist.txt", [package])
        text = self._run(
            run,
            ["pip", "compile", "--no-deps", "--format", "pylock.toml", "--no-header",
             "--python-version", self.python, str(wanted)],
        )  # fmt: skip
        packages = tomllib.loads(text.decode()).get("packages") or [{}]
        entry: dict[str, Any] = packages[0].get("sdist") or {}
        url, digest = str(entry.get("url", "")), str(entry.get("hashes", {}).get("sha256", ""))
        if not url or not digest:
            raise ProvisionError(f"{package} has neither a wheel nor a source archive")
        data = self._download(url)
        if hashlib.sha256(data).hexdigest() != digest:
            raise ProvisionError(f"the archive of {package} is not what the index says")
        return urlsplit(url).path.rpartition("/")[2], data

    def _download(self, url: str) -> bytes:
        ours = urlsplit(self.access.url.reveal()) if self.access.url else None
        there = urlsplit(url)
        if there.scheme != "https" and (ours is None or there.netloc != ours.netloc.split("@")[-1]):
            raise ProvisionError(f"{one_line(url)} is not reached by https")
        trust = ssl.create_default_context(cafile=self.access.ca_file or None)
        opener = urllib.request.build_opener(
            urllib.request.HTTPSHandler(context=trust),
            urllib.request.ProxyHandler({"https": self.access.proxy} if self.access.proxy else {}),
        )
        request = urllib.request.Request(url)  # noqa: S310 - https, or our own index: see above
        if (
            ours is not None
            and (ours.username or ours.password)
            and _origin(ours) == _origin(there)
        ):
            # Unredirected: where the index sends us on to is another origin.
            request.add_unredirected_header("Authorization", _basic(ours))
        try:
            with opener.open(request, timeout=60) as answer:
                data: bytes = answer.read(_SDIST_CAP + 1)
        except (urllib.error.URLError, TimeoutError, OSError) as error:
            raise ProvisionError(f"{one_line(url)} cannot be read: {error}") from error
        if len(data) > _SDIST_CAP:
            raise ProvisionError(f"{one_line(url)} has more than {_SDIST_CAP >> 20} MiB")
        return data

    def _run(self, run: Run, argv: Sequence[str]) -> bytes:
        done = process.run(
            [str(self.uv), *argv, "--config-file", "/dev/stdin", "--quiet",
             "--no-python-downloads", "--python", sys.executable],
            env=self._environment(),
            cwd=self.folder,
            seconds=max(1.0, min(_SECONDS, run.left())),
            stdin=write_configuration(self.access) or b"\n",
            memory=_MEMORY,
        )  # fmt: skip
        if done.ok:
            return done.stdout
        if done.full:
            raise ProvisionError(
                "the disk filled while packages were fetched: free space, or name other folders "
                "with TMPDIR and HEAL_BOT_CACHE"
            )
        said = redact(
            done.stderr.decode(errors="replace"), (self.access.url,) if self.access.url else ()
        )
        if match := _NO_WHEEL.search(said):
            raise NoWheelError(match[1], f"{match[1]} has no wheel for Python {self.python}")
        _refuse_closed(said)
        raise ResolveError(_reason(done.ended, said))

    def _environment(self) -> dict[str, str]:
        """No secret: uv expands variables in what packages say of themselves."""
        known = {
            "PATH": "/usr/bin:/bin",
            "HOME": str(self.folder),
            "UV_CACHE_DIR": str(self.folder / "cache"),
            "UV_SYSTEM_CERTS": "1",
            "SSL_CERT_FILE": self.access.ca_file,
            "UV_EXCLUDE_NEWER": self.access.until,
        }
        return {name: value for name, value in known.items() if value}


def _origin(parts: SplitResult) -> tuple[str, str | None, int | None]:
    return parts.scheme, parts.hostname, parts.port or _PORTS.get(parts.scheme)


def _basic(parts: SplitResult) -> str:
    given = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return f"Basic {base64.b64encode(given.encode()).decode()}"


def _refuse_closed(said: str) -> None:
    """ProvisionError where the index did not answer, or did not let us in."""
    if match := _LOCKED_OUT.search(said):
        raise ProvisionError(
            f"the index {one_line(match[1])} does not let us in ({match[2]}): check user and "
            "password in index-url"
        )
    if match := _UNREACHED.search(said):
        cause = said.strip().rpartition("cause: ")[2]
        raise ProvisionError(
            f"the index does not answer ({one_line(match[1])}: {one_line(cause, 200)}): try again, "
            "or check index-url and the certificates that SSL_CERT_FILE names"
        )


def _reason(ended: str, said: str) -> str:
    """uv's explanation in one line: its cause, without the chain of conclusions."""
    if ended != "exited":
        return f"the package index was not done in time ({ended}): raise max-minutes or try again"
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    cause = next((line for line in lines if "cause:" in line or line.startswith("Because")), "")
    text = cause.partition("cause:")[2].strip() or cause or (lines[-1] if lines else "no message")
    return one_line(
        text.replace(", we can conclude that your requirements are unsatisfiable.", ""), 400
    )
