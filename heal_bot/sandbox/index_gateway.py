"""The one way from a confined package tool to its index: a proxy that asks for it, and says so.

The tool asks in the clear (`GET http://host/path`). What goes on is a request of our own making, by
https and, where it is for the index itself, with the credentials, which the tool never sees. It
goes to the pages of the index and to the files that these name, nowhere else.
"""

from __future__ import annotations

import base64
import contextlib
import http.client
import http.server
import json
import re
import socket
import ssl
import threading
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from html.parser import HTMLParser
from typing import Any
from urllib.parse import SplitResult, unquote, urljoin, urlsplit

from heal_bot.sandbox.egress_proxy import is_public

_WAIT = 60.0
_PAGE_CAP = 64 << 20
_CHUNK = 1 << 18
_REMARKS = 20
_PORTS = {"https": 443, "http": 80}
# Where PyPI's files are: a network may answer for it by itself, at an address of its own.
_FILES = ("files.pythonhosted.org", "test-files.pythonhosted.org")
_PROJECT = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}/?")
# A page names files by https; the tool has to ask for them in the clear as well.
_ENCRYPTED = re.compile(rb"https(?=:\\?/)")
_ASKED = ("Accept", "Range", "If-Range", "If-None-Match", "If-Modified-Since")
_TOLD = ("Content-Type", "Content-Range", "Accept-Ranges", "ETag", "Last-Modified")
# Host, port where it is no usual one, path and query: what two spellings of an address share.
Place = tuple[str, int, str, str]
Origin = tuple[str, str, int]


@dataclass(frozen=True, slots=True)
class IndexSource:
    """Where packages come from: `url` may hold credentials, `hosts` may be redirected to."""

    url: str
    ca_file: str = ""
    proxy: str = ""
    hosts: tuple[str, ...] = ()

    def dump(self) -> bytes:
        """The source as the gateway reads it."""
        return json.dumps(asdict(self)).encode()


def place_of(parts: SplitResult) -> Place:
    """What names a resource, whatever its scheme and however its path is quoted."""
    port = parts.port or 0
    usual = port in _PORTS.values()
    return (parts.hostname or "").lower(), 0 if usual else port, unquote(parts.path), parts.query


class IndexGateway:
    """Serves the connections of one job; `told` is where refusals are reported."""

    def __init__(self, source: IndexSource, told: socket.socket) -> None:
        index = urlsplit(source.url)
        self._source, self._told, self._remarks = source, told, 0
        self._index = index
        self._pages = f"{index.path.rstrip('/')}/"
        self._trust = ssl.create_default_context(cafile=source.ca_file or None)
        # Pages of the index beside the usual ones, and files: as pages and redirects name them.
        self._named: dict[Place, bool] = {}
        self._idle: dict[Origin, list[http.client.HTTPConnection]] = {}
        self._lock = threading.Lock()

    def serve(self, client: socket.socket) -> None:
        """One connection of the tool, until it ends."""
        with client, contextlib.suppress(OSError):
            _Requests(client, self)

    def answer(self, request: _Requests) -> None:
        """One request: refused, or asked in our name and answered with what came."""
        page = None
        with contextlib.suppress(ValueError):
            asked = urlsplit(request.path)
            page = self._is_page(asked) if asked.scheme == "http" else None
        if page is None:
            self._refuse(request, 403, "foreign", request.path[:300], "it names another")
            return
        real = self._real(asked)
        try:
            with self._ask(request, real, page=page) as found:
                self._hand_on(request, real, found, page=page)
        except _InnerError as error:
            self._refuse(request, 403, "foreign", real.geturl()[:300], str(error))
        except (OSError, ValueError, http.client.HTTPException, zlib.error) as error:
            said = getattr(error, "strerror", None) or str(error) or type(error).__name__
            if not request.begun:
                self._refuse(request, 502, "unreached", real.geturl(), str(said))
            request.close_connection = True

    def _is_page(self, asked: SplitResult) -> bool | None:
        """Whether it is a page of the index; None for what neither it nor its pages name."""
        place = place_of(asked)
        if "@" in asked.netloc:
            return None
        if place in self._named:
            return self._named[place]
        host, port, path, query = place
        own = (host, port) == place_of(self._index)[:2] and path.startswith(self._pages)
        if own and not query and _PROJECT.fullmatch(path.removeprefix(self._pages)):
            return True
        whole = (host, port, path.removesuffix(".metadata"), query)
        return False if whole in self._named else None

    def _real(self, asked: SplitResult) -> SplitResult:
        """The address that is meant: of the index's own scheme, or https."""
        own = place_of(asked)[:2] == place_of(self._index)[:2]
        netloc = self._index.netloc.rpartition("@")[2] if own else asked.netloc
        scheme = self._index.scheme if own else "https"
        return asked._replace(scheme=scheme, netloc=netloc.rpartition("@")[2], fragment="")

    @contextlib.contextmanager
    def _ask(
        self, request: _Requests, real: SplitResult, *, page: bool
    ) -> Iterator[http.client.HTTPResponse]:
        """The answer to a request; its connection is used again where it was read to its end."""
        origin = _origin(real)
        path = f"{real.path}?{real.query}" if real.query else real.path
        headers = {name: request.headers[name] for name in _ASKED if request.headers[name]}
        headers |= {"User-Agent": "heal-bot", "Accept-Encoding": "gzip" if page else "identity"}
        if origin == _origin(self._index) and (self._index.username or self._index.password):
            headers["Authorization"] = _basic(self._index)
        with self._lock:
            idle = self._idle.get(origin, [])
            kept = idle.pop() if idle else None
        trusted = real.hostname in {self._index.hostname, *_FILES, *self._source.hosts}
        fresh = _Connection(origin, self._trust, self._source.proxy, trusted=trusted)
        for connection in filter(None, (kept, fresh)):
            try:
                connection.request(request.command, path, headers=headers)
                found = connection.getresponse()
            except (http.client.RemoteDisconnected, BrokenPipeError, ConnectionResetError):
                connection.close()
                if connection is kept:  # it was closed while nobody asked
                    continue
                raise
            try:
                yield found
            finally:
                if found.isclosed() and not found.will_close:
                    with self._lock:
                        self._idle.setdefault(origin, []).append(connection)
                else:
                    connection.close()
            return

    def _hand_on(
        self, request: _Requests, real: SplitResult, found: http.client.HTTPResponse, *, page: bool
    ) -> None:
        """Answer with what came: a page after its links are known, a file as it comes."""
        if found.status in {401, 403, 407} and _origin(real) == _origin(self._index):
            self._report("closed", real.geturl(), f"{found.status} {found.reason}")
        if found.status in {301, 302, 303, 307, 308}:
            self._redirect(request, real, found, page=page)
            return
        headers = {name: value for name in _TOLD if (value := found.getheader(name))}
        if not page or found.status != 200:
            self._stream(request, found, headers)
            return
        try:
            body = _read_page(found)
            links = list_links(body, headers.get("Content-Type", ""), real.geturl())
            self._named.update([(place_of(link), False) for link in links])
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            self._refuse(request, 502, "not_a_page", real.geturl(), str(error)[:200])
            return
        body = _ENCRYPTED.sub(b"http", body)
        kind = {"Content-Type": headers.get("Content-Type", "text/html")}
        request.begin(200, kind, len(body))
        request.wfile.write(body)

    def _stream(
        self, request: _Requests, found: http.client.HTTPResponse, headers: Mapping[str, str]
    ) -> None:
        told = found.getheader("Content-Length", "")
        length = int(told) if request.command == "HEAD" and told.isdecimal() else found.length
        request.begin(found.status, headers, length)
        while data := found.read(_CHUNK):
            request.wfile.write(data)

    def _redirect(
        self, request: _Requests, real: SplitResult, found: http.client.HTTPResponse, *, page: bool
    ) -> None:
        """Let the tool follow within the same origin, and to hosts that a person named."""
        found.read(_CHUNK)
        goal = urlsplit(urljoin(real.geturl(), found.getheader("Location", "")))
        same = _origin(goal) == _origin(real)
        named = goal.scheme == "https" and goal.hostname in self._source.hosts
        if not (same or named):
            self._refuse(request, 403, "foreign", goal.geturl()[:300], real.geturl())
            return
        self._named[place_of(goal)] = page
        request.begin(found.status, {"Location": goal._replace(scheme="http").geturl()}, 0)

    def _refuse(self, request: _Requests, status: int, why: str, url: str, said: str) -> None:
        self._report(why, url, said)
        request.begin(status, {}, 0)

    def _report(self, why: str, url: str, said: str) -> None:
        """Tell whoever started the job, as the fields of an IndexRefusal; nobody waits for them."""
        line = json.dumps({"why": why, "url": url, "said": said}).encode() + b"\n"
        with self._lock, contextlib.suppress(OSError):
            if self._remarks < _REMARKS:
                self._remarks += 1
                self._told.send(line, socket.MSG_DONTWAIT)


class _Requests(http.server.BaseHTTPRequestHandler):
    """The tool's side: requests read under the standard library's limits, no more than needed."""

    protocol_version = "HTTP/1.1"
    timeout = _WAIT
    begun = False

    def __init__(self, client: socket.socket, gateway: IndexGateway) -> None:
        self._gateway = gateway
        super().__init__(client, ("", 0), gateway)  # type: ignore[arg-type]

    def log_message(self, format: str, *args: object) -> None:
        """Nobody reads it."""

    def do_GET(self) -> None:
        """Also HEAD, whose answer has no body."""
        self.begun = False
        self._gateway.answer(self)

    do_HEAD = do_GET
    # A tunnel is asked for where an address is not of the index: it is refused as such.
    do_CONNECT = do_GET

    def begin(self, status: int, headers: Mapping[str, str], length: int | None) -> None:
        """The head of an answer; one of unknown length ends with the connection."""
        self.begun = True
        self.send_response_only(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Cache-Control", "no-store")
        if length is None:
            self.send_header("Connection", "close")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()


class _InnerError(Exception):
    """A host that a page named has an address that is not public."""


class _Connection(http.client.HTTPConnection):
    """A connection whose other end has shown a certificate for its name, where it is by https.

    A host is reached at a public address, unless it is `trusted`: that of the index, or one that a
    person named. Names are left to a proxy, which alone may know them.
    """

    def __init__(self, origin: Origin, trust: ssl.SSLContext, proxy: str, *, trusted: bool) -> None:
        scheme, host, port = origin
        super().__init__(host, port, timeout=_WAIT)
        self._trust, self._proxy, self._encrypted = trust, proxy, scheme == "https"
        self._trusted = trusted

    def connect(self) -> None:
        """Connect, and greet by TLS where the origin is https."""
        if self._proxy and self._encrypted:
            with contextlib.suppress(socket.gaierror):  # it is a name
                self._addresses(socket.AI_NUMERICHOST)
            self.sock = self._through_proxy()
        else:
            self.sock = _connect(self._addresses(), self.port)
        if self._encrypted:
            self.sock = self._trust.wrap_socket(self.sock, server_hostname=self.host)

    def _addresses(self, flags: int = 0) -> list[str]:
        """Where the host is, checked; _InnerError where that is not public."""
        if self._trusted:
            return [self.host]
        found = socket.getaddrinfo(self.host, self.port, type=socket.SOCK_STREAM, flags=flags)
        addresses = [str(entry[4][0]) for entry in found]
        if not all(map(is_public, addresses)):
            raise _InnerError("its address is not public")
        return addresses

    def _through_proxy(self) -> socket.socket:
        proxy = urlsplit(self._proxy)
        way = socket.create_connection(
            (proxy.hostname or "", proxy.port or _PORTS.get(proxy.scheme, 80)), _WAIT
        )
        if proxy.scheme == "https":
            way = self._trust.wrap_socket(way, server_hostname=proxy.hostname)
        more = f"Proxy-Authorization: {_basic(proxy)}\r\n" if proxy.username else ""
        host = f"[{self.host}]" if ":" in self.host else self.host
        way.sendall(f"CONNECT {host}:{self.port} HTTP/1.1\r\nHost: {host}\r\n{more}\r\n".encode())
        answer = http.client.HTTPResponse(way, method="CONNECT")
        answer.begin()
        if answer.status != 200:
            way.close()
            raise OSError(13, f"the proxy says {answer.status} {answer.reason}")
        return way


def _connect(addresses: list[str], port: int) -> socket.socket:
    """A connection to the first that answers."""
    for address in addresses[:-1]:
        with contextlib.suppress(OSError):
            return socket.create_connection((address, port), _WAIT)
    return socket.create_connection((addresses[-1], port), _WAIT)


def _read_page(found: http.client.HTTPResponse) -> bytes:
    """The whole of a page; ValueError for one that is too long, packed or not."""
    body = found.read(_PAGE_CAP + 1)
    if found.getheader("Content-Encoding", "") == "gzip":
        unpacking = zlib.decompressobj(31)
        body = unpacking.decompress(body, _PAGE_CAP + 1)
    if len(body) > _PAGE_CAP:
        raise ValueError(f"it has more than {_PAGE_CAP >> 20} MiB")
    return body


def list_links(body: bytes, kind: str, url: str) -> list[SplitResult]:
    """The files that a page of an index names, as JSON or HTML; ValueError when it is neither."""
    if "json" in kind:
        files = json.loads(body)["files"]
        links = [file["url"] for file in files]
    else:
        page = _Anchors()
        page.feed(body.decode(errors="replace"))
        page.close()
        url, links = urljoin(url, page.base), page.links
    whole = ("https://", "http://")  # most are, and joining is what takes longest
    return [urlsplit(link if link.startswith(whole) else urljoin(url, link)) for link in links]


class _Anchors(HTMLParser):
    """The links of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.base = ""
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take the address of a link, or that which all are meant from."""
        target = dict(attrs).get("href")
        if target and tag == "a":
            self.links.append(target)
        elif target and tag == "base":
            self.base = self.base or target


def _origin(parts: SplitResult) -> Origin:
    host = (parts.hostname or "").lower()
    return parts.scheme, host, parts.port or _PORTS.get(parts.scheme, 0)


def _basic(parts: SplitResult) -> str:
    given = f"{unquote(parts.username or '')}:{unquote(parts.password or '')}"
    return f"Basic {base64.b64encode(given.encode()).decode()}"


def open_gateway(config: socket.socket) -> IndexGateway:
    """The gateway whose source the other end of `config` has sent, which then hears refusals."""
    config.settimeout(_WAIT)
    data = b""
    while piece := config.recv(1 << 16):
        data += piece
    told: dict[str, Any] = json.loads(data)
    source = IndexSource(**{**told, "hosts": tuple(told["hosts"])})
    return IndexGateway(source, config)
