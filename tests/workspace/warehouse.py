"""A package index on loopback, made of wheels and source archives written by a test."""

from __future__ import annotations

import functools
import hashlib
import http.server
import io
import tarfile
import threading
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


class Warehouse:
    """Serves `folder` as simple pages; `url` is the index, `asked` what was asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "simple"
        self._folder.mkdir(parents=True)
        handler = functools.partial(_Quiet, directory=str(folder))
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}/simple"

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

    def _put(self, name: str, file: str, data: bytes) -> None:
        folder = self._folder / name.replace("_", "-")
        folder.mkdir(exist_ok=True)
        (folder / file).write_bytes(data)
        links = "".join(
            f'<a href="{path.name}#sha256={hashlib.sha256(path.read_bytes()).hexdigest()}">'
            f"{path.name}</a>\n"
            for path in sorted(folder.iterdir())
            if path.name != "index.html"
        )
        (folder / "index.html").write_text(f"<!DOCTYPE html><html><body>{links}</body></html>")
