"""A package index on loopback, made of wheels and source archives written by a test."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
import http.server
import io
import json
import ssl
import subprocess
import tarfile
import threading
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

Asked = tuple[str, str]


def certificate(folder: Path) -> Path:
    """A certificate for this machine (own.pem, own.key) and the authority that signed it: ca.pem.

    What signs itself and is an authority is taken for no server by every client.
    """
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
    signed = ("-CA", "ca.pem", "-CAkey", "ca.key", "-subj", "/CN=127.0.0.1")
    name = ("-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=CA:FALSE")
    for out, more in (("ca", ("-subj", "/CN=authority")), ("own", (*signed, *name))):
        argv = ["openssl", "req", "-x509", *key, *more, "-keyout", f"{out}.key"]
        subprocess.run([*argv, "-out", f"{out}.pem"], cwd=folder, check=True, capture_output=True)
    return folder / "own.pem"


class _Pages(http.server.SimpleHTTPRequestHandler):
    """Serves files; with a password only to whoever gives it. Notes who came with which one."""

    extensions_map: ClassVar[dict[str, str]] = {
        **http.server.SimpleHTTPRequestHandler.extensions_map,
        ".json": "application/vnd.pypi.simple.v1+json",
    }

    def __init__(
        self, *arguments: Any, wanted: str, asked: list[Asked], moved: dict[str, str], **folder: Any
    ) -> None:
        self._wanted, self._asked, self._moved = wanted, asked, moved
        super().__init__(*arguments, **folder)

    def log_message(self, *arguments: object) -> None:
        pass

    def do_GET(self) -> None:
        given = self.headers.get("Authorization", "")
        self._asked.append((self.path, given))
        if (goal := self._moved.get(self.path)) is not None:
            self.send_response(302)
            self.send_header("Location", goal)
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        if Path(self.translate_path(self.path), "index.json").is_file():
            self.path += "index.json"
        if given == self._wanted or not self._wanted:
            super().do_GET()
            return
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="packages"')
        self.send_header("Content-Length", "0")
        self.end_headers()


class Warehouse:
    """Serves `folder` as simple pages; `url` is the index, `asked` path and authorization.

    With `secret` (user:password) it answers nobody else; with a certificate it speaks https.
    `elsewhere` is an index that the links of this one lead to, `moved` says which paths are sent on
    to where. Of a package with a wheel that was
    `uploaded` at a time it tells these wheels, and when.
    """

    def __init__(
        self,
        folder: Path,
        secret: str = "",
        certificate: Path | None = None,
        elsewhere: Warehouse | None = None,
    ) -> None:
        self._folder = folder / "simple"
        self._folder.mkdir(parents=True)
        self._elsewhere = elsewhere
        self.asked: list[Asked] = []
        self.moved: dict[str, str] = {}
        self._times: dict[str, str] = {}
        wanted = f"Basic {base64.b64encode(secret.encode()).decode()}" if secret else ""
        handler = functools.partial(
            _Pages, directory=str(folder), wanted=wanted, asked=self.asked, moved=self.moved
        )
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        if certificate is not None:
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain(certificate, certificate.with_suffix(".key"))
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True)
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        )
        self._thread.start()
        scheme = "http" if certificate is None else "https"
        self.origin = f"127.0.0.1:{self._server.server_address[1]}"
        self.url = f"{scheme}://{secret}{'@' if secret else ''}{self.origin}/simple"
        self.plain = f"{scheme}://{self.origin}"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wheel(
        self,
        name: str,
        version: str = "1.0",
        files: Mapping[str, str] = {},
        requires: Sequence[str] = (),
        tag: str = "py3-none-any",
        uploaded: str = "",
    ) -> None:
        file = name.replace("-", "_")
        info = f"{file}-{version}.dist-info"
        needs = "".join(f"Requires-Dist: {line}\n" for line in requires)
        everything = {
            f"{file}.py": f"version = {version!r}\n",
            **files,
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}",
            f"{info}/WHEEL": f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n",
        }
        if uploaded:
            self._times[f"{file}-{version}-{tag}.whl"] = uploaded
        record = "".join(f"{path},,\n" for path in (*everything, f"{info}/RECORD"))
        raw = io.BytesIO()
        with zipfile.ZipFile(raw, "w") as archive:
            for path, text in {**everything, f"{info}/RECORD": record}.items():
                archive.writestr(path, text)
        self._put(name, f"{file}-{version}-{tag}.whl", raw.getvalue())

    def sdist(self, name: str, version: str = "1.0", files: Mapping[str, str] = {}) -> None:
        raw = io.BytesIO()
        with tarfile.open(fileobj=raw, mode="w:gz") as tar:
            for path, text in files.items():
                member = tarfile.TarInfo(f"{name}-{version}/{path}")
                data = text.encode()
                member.size = len(data)
                tar.addfile(member, io.BytesIO(data))
        self._put(name, f"{name}-{version}.tar.gz", raw.getvalue())

    @contextlib.contextmanager
    def holding(self, name: str, file: str, data: bytes) -> Iterator[None]:
        """A file of any content, for a while."""
        self._put(name, file, data)
        yield
        (self._folder / name / file).unlink()
        self._list(name, self._folder / name, "")

    def page(self, name: str, text: str, file: str = "index.html") -> None:
        """The page of a package as a test wrote it."""
        (self._folder / name).mkdir(exist_ok=True)
        (self._folder / name / file).write_bytes(text.encode("latin-1"))

    def _put(self, name: str, file: str, data: bytes) -> None:
        base = ""
        if self._elsewhere is not None:
            self._elsewhere._put(name, file, data)
            base = f"{self._elsewhere.plain}/simple/{name.replace('_', '-')}/"
        folder = self._folder / name.replace("_", "-")
        folder.mkdir(exist_ok=True)
        (folder / file).write_bytes(data)
        self._list(name, folder, base)

    def _list(self, name: str, folder: Path, base: str) -> None:
        """Write the page of a package as its folder stands."""
        if any(path.name in self._times for path in folder.iterdir()):
            (folder / "index.json").write_text(json.dumps(self._told(name, folder)))
        links = "".join(
            f'<a href="{base}{path.name}#sha256={hashlib.sha256(path.read_bytes()).hexdigest()}">'
            f"{path.name}</a>\n"
            for path in sorted(folder.iterdir())
            if path.suffix not in {".html", ".json"}
        )
        (folder / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")

    def _told(self, name: str, folder: Path) -> dict[str, Any]:
        """The page of a package with the times at which its files came."""
        files = [path for path in sorted(folder.iterdir()) if path.name in self._times]
        return {
            "meta": {"api-version": "1.1"},
            "name": name,
            "versions": [],
            "files": [
                {
                    "filename": path.name,
                    "url": path.name,
                    "size": path.stat().st_size,
                    "hashes": {"sha256": hashlib.sha256(path.read_bytes()).hexdigest()},
                    "upload-time": self._times[path.name],
                }
                for path in files
            ],
        }
