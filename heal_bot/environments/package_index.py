"""The package index through uv: versions resolved and wheels unpacked, no package's code run.

uv reads what strangers wrote, so it is treated as they are: it runs in a sandbox slot with an empty
home and its input alone, the index is all that it reaches, and what it leaves is copied.
"""

from __future__ import annotations

import functools
import hashlib
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

from heal_bot.checkout.verified_copy import take_over
from heal_bot.core import process, safe_open
from heal_bot.core.errors import ProvisionError
from heal_bot.core.events import Run
from heal_bot.core.text import Secret, last_line, one_line, redact, short_version
from heal_bot.core.toml import read_toml
from heal_bot.environments.environment_cache import EnvironmentCache
from heal_bot.environments.environment_request import Access
from heal_bot.environments.provision import place_interpreter, place_program
from heal_bot.environments.target_interpreter import MAKE_ONE, Interpreter
from heal_bot.environments.uv_input import Locked, Package, parse_resolution, written
from heal_bot.ports.packages import Builder, IndexAnswer, IndexRefusal, IndexTask

_SECONDS = 600.0
# Each needs a connection of the gateway's own, and greeting by TLS is what takes longest.
_AT_ONCE = "8"
_SDIST_CAP = 128 << 20
_LOCK_CAP = 32 << 20
_PYPROJECT_CAP = 1 << 20
_NO_WHEEL = re.compile(r"[Ww]heels are required for `([A-Za-z0-9][\w.-]*)`")
_DEFAULT = re.compile(r"--index-url (https://[\w.-]+/[\w./-]*)\s*")
_UV = ("/usr/local/bin/uv", "/usr/bin/uv")
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
    """One index; `python` is the target's version, as in 3.12, `program` its interpreter.

    `uv` and all that is below `roots` can be read in the sandbox; `built` is where wheels lie that
    count beside those of the index.
    """

    uv: Path
    python: str
    program: Path
    roots: tuple[Path, ...]
    access: Access
    builder: Builder

    @classmethod
    def at(
        cls, python: Interpreter, source: Path, store: EnvironmentCache, access: Access,
        builder: Builder,
    ) -> PackageIndex:  # fmt: skip
        """Find uv; ProvisionError without it, or for an index that is not reached safely."""
        places = (Path(sys.prefix, "bin/uv"), Path(sys.base_prefix, "bin/uv"), *map(Path, _UV))
        found = next((place for place in places if place.is_file()), None)
        if found is None:
            raise ProvisionError(
                "uv is not installed, so no environment can be made: install it beside heal-bot, "
                f"{MAKE_ONE}"
            )
        _check(access.url)
        base, program = place_interpreter(python, source, store)
        uv = place_program(found, store)
        version = short_version(python.version)
        return cls(uv, version, program, (base, uv), access, builder)

    def resolve(
        self,
        run: Run,
        packages: Iterable[Package],
        bounds: Iterable[Package] = (),
        *,
        built: Mapping[str, bytes] = {},
        deps: bool = True,
    ) -> tuple[Locked, ...]:
        """Exact versions with hashes; wheels in `built` count too.

        NoWheelError for a package that would have to be built, ProvisionError otherwise.
        """
        argv = [
            "compile", "--no-build", "--generate-hashes", "--no-annotate", "--no-header",
            "--python-version", self.python, "--constraints", "bounds.txt", "wanted.txt",
            "--output-file", "lock.txt", *([] if deps else ["--no-deps"]),
        ]  # fmt: skip
        laid = {"wanted.txt": written(packages), "bounds.txt": written(bounds), **built}
        with self._run(run, argv, laid, links=bool(built)) as answer:
            return parse_resolution(_left(answer, "lock.txt", _LOCK_CAP).decode())

    def unpack(
        self, run: Run, lock: Sequence[Locked], target: Path, *, built: Mapping[str, bytes] = {}
    ) -> None:
        """Unpack the wheels of a resolution into the folder `target`, each checked by hash."""
        argv = [
            "install", "--no-deps", "--only-binary", ":all:", "--require-hashes",
            "--link-mode", "hardlink", "--python-version", self.python, "--target", "site",
            "--requirement", "lock.txt",
        ]  # fmt: skip
        with self._run(run, argv, {"lock.txt": written(lock), **built}, links=bool(built)) as left:
            try:
                take_over(left.folder / "site", target)
            except (OSError, RecursionError) as error:
                raise ProvisionError(
                    f"the packages cannot be taken over: {one_line(str(error), 200)}"
                ) from error

    def sdist(self, run: Run, package: Package) -> tuple[str, bytes, Mapping[str, Any]]:
        """File name and bytes of the source archive that fits, checked by hash; its pyproject."""
        argv = [
            "compile", "--no-deps", "--format", "pylock.toml", "--no-header",
            "--python-version", self.python, "wanted.txt", "--output-file", "pylock.toml",
        ]  # fmt: skip
        with self._run(run, argv, {"wanted.txt": written([package])}) as answer:
            text = _left(answer, "pylock.toml", _LOCK_CAP).decode(errors="replace")
        try:
            packages = read_toml(text).get("packages") or [{}]
        except ValueError as error:
            raise ProvisionError(
                f"what uv says of {package} cannot be read: {one_line(str(error), 100)}"
            ) from error
        entry: dict[str, Any] = packages[0].get("sdist") or {}
        url, digest = str(entry.get("url", "")), str(entry.get("hashes", {}).get("sha256", ""))
        if not url or not digest:
            raise ProvisionError(f"{package} has neither a wheel nor a source archive")
        page = f"{self._asked()}/{package.name}/"
        argv = [str(self.program), "-I", "_heal_sdist.py", page, url]
        with self._ask(run, argv, {}, script="_heal_sdist.py") as answer:
            data = _left(answer, "archive.tar.gz", _SDIST_CAP)
            if hashlib.sha256(data).hexdigest() != digest:
                raise ProvisionError(f"the archive of {package} is not what the index says")
            if not answer.ok:
                raise ProvisionError(f"its archive cannot be read: {last_line(answer.output)}")
            try:
                told = safe_open.read(answer.folder, "pyproject.toml", _PYPROJECT_CAP)
                table = read_toml(told.decode(errors="replace"))
            except FileNotFoundError:
                table = {}
            except (OSError, ValueError) as error:
                raise ProvisionError(
                    f"its pyproject.toml cannot be read: {one_line(str(error), 100)}"
                ) from error
        return urlsplit(url).path.rpartition("/")[2], data, table

    @contextmanager
    def _run(
        self, run: Run, argv: Sequence[str], laid: Mapping[str, bytes], *, links: bool = False
    ) -> Iterator[IndexAnswer]:
        """Run `uv pip`; the errors of this module where it fails."""
        whole = [
            str(self.uv), "pip", *argv, "--no-config", "--quiet", "--no-python-downloads",
            "--python", str(self.program), "--cache-dir", "cache",
            "--default-index", self._asked(), *(["--find-links", "."] if links else []),
        ]  # fmt: skip
        with self._ask(run, whole, laid) as answer:
            if not answer.ok:
                self._explain(answer)
            yield answer

    @contextmanager
    def _ask(
        self, run: Run, argv: Sequence[str], laid: Mapping[str, bytes], *, script: str = ""
    ) -> Iterator[IndexAnswer]:
        env = {"UV_CONCURRENT_DOWNLOADS": _AT_ONCE}
        env |= {"UV_EXCLUDE_NEWER": self.access.until} if self.access.until else {}
        task = IndexTask(
            tuple(argv), self._url(), env, laid, script, self.roots, self.access.ca_file,
            self.access.proxy, _SECONDS,
        )  # fmt: skip
        with self.builder.ask_index(run, task) as answer:
            yield answer

    def _explain(self, answer: IndexAnswer) -> None:
        """Raise what became of a failed uv."""
        if b"No space left on device" in answer.output:
            raise ProvisionError(
                "the disk filled while packages were fetched: free space, or name other folders "
                "with TMPDIR and HEAL_BOT_CACHE"
            )
        said = redact(answer.output.decode(errors="replace"), (self._url(),))
        if match := _NO_WHEEL.search(said):
            raise NoWheelError(match[1], f"{match[1]} has no wheel for Python {self.python}")
        if answer.refusals:
            raise ProvisionError(_refused(answer.refusals[-1]))
        raise ResolveError(_reason(answer.ended, said))

    def _url(self) -> Secret:
        return self.access.url or Secret(_default_index(self.uv))

    def _asked(self) -> str:
        """The index as uv asks its gateway: in the clear and without credentials."""
        parts = urlsplit(self._url().reveal())
        host = parts.netloc.rpartition("@")[2]
        return urlunsplit(("http", host, parts.path.rstrip("/"), "", ""))


@functools.cache
def _default_index(uv: Path) -> str:
    """The index that uv asks where none is named."""
    asked = ("pip", "compile", "--emit-index-url", "--offline", "--no-config", "--no-cache")
    more = ("--quiet", "--no-header", "--no-python-downloads", "--python", sys.executable)
    done = process.run([str(uv), *asked, *more, "/dev/null"], env={"HOME": "/nonexistent"})
    found = _DEFAULT.fullmatch(done.stdout.decode(errors="replace"))
    if not done.ok or found is None:
        raise ProvisionError(
            f"uv does not say what it asks for packages ({done.complaint()}): name an index-url"
        )
    return found[1]


def _check(url: Secret) -> None:
    """ProvisionError for an index that is no address or is not reached safely."""
    if not url:
        return
    parts = urlsplit(url.reveal())
    if not parts.scheme or not parts.hostname:
        raise ProvisionError(
            "index-url is not a URL: write it as https://host/simple, with user:password@ "
            "before the host where one is needed"
        )
    if parts.scheme != "https" and parts.hostname not in _LOOPBACK:
        raise ProvisionError(
            f"the index {parts.scheme}://{parts.hostname} is not reached by https: "
            "credentials and packages would travel in the open"
        )


def _left(answer: IndexAnswer, name: str, cap: int) -> bytes:
    """A file that a task left; ProvisionError where it is none."""
    try:
        return safe_open.read(answer.folder, name, cap)
    except OSError as error:
        if answer.refusals:
            raise ProvisionError(_refused(answer.refusals[-1])) from error
        raise ProvisionError(
            f"{name} was not left as a file by what asks the index ({error.strerror}): "
            f"{last_line(answer.output)}"
        ) from error


def _refused(refusal: IndexRefusal) -> str:
    """What a refused request means, and what to do."""
    url, said = one_line(refusal.url), one_line(refusal.said)
    match refusal.why:
        case "closed":
            return (
                f"the index {url} refused the credentials ({said}): check user and password in"
                " index-url"
            )
        case "foreign":
            return (
                f"{url} is none of the index's addresses and was not asked ({said}): leave out "
                "what needs it, or name the host in build-hosts where the index sends us there"
            )
        case "not_a_page":
            return f"{url} is not a page of a package index ({said}): check index-url"
    return (
        f"the index does not answer ({url}: {said}): try again, or check index-url and the "
        "certificates that SSL_CERT_FILE names"
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
