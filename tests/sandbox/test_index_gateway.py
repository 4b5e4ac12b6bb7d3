"""The gateway of a package tool: the index and what its pages name are asked, and nothing else."""

from __future__ import annotations

import base64
import json
import socket
import sys
import threading
from urllib.parse import urlsplit

import pytest

from heal_bot.sandbox.index_gateway import IndexGateway, IndexSource, list_links, place_of
from heal_bot.sandbox.job_spec import Job, job_from_wire, job_to_wire
from heal_bot.sandbox.sandbox_client import child_env
from tests.environments.warehouse import Warehouse, certificate

world = sys.modules["world"]
SECRET = "ada:pass-0123456789"
GIVEN = f"Basic {base64.b64encode(SECRET.encode()).decode()}"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def elsewhere(tmp_path, authority):
    index = Warehouse(tmp_path / "elsewhere", certificate=authority)
    yield index
    index.close()


@pytest.fixture
def index(tmp_path, authority):
    made = Warehouse(tmp_path / "index", SECRET, authority)
    made.wheel("dep")
    (tmp_path / "index/admin.html").write_text("keys")
    yield made
    made.close()


class Told:
    """A gateway and what it refused; `ask` sends one request and returns its status and body."""

    def __init__(self, url: str, authority, hosts=(), proxy="") -> None:
        self._heard, theirs = socket.socketpair()
        ca_file = str(authority.with_name("ca.pem"))
        self._gateway = IndexGateway(IndexSource(url, ca_file, proxy, hosts), theirs)
        self._kept = theirs

    def ask(self, text: str) -> tuple[int, bytes]:
        client, served = socket.socketpair()
        thread = threading.Thread(target=self._gateway.serve, args=(served,), daemon=True)
        thread.start()
        with client:
            client.sendall(text.encode())
            client.shutdown(socket.SHUT_WR)
            client.settimeout(20)
            data = b""
            while piece := client.recv(1 << 16):
                data += piece
        thread.join(5)
        head, _, body = data.partition(b"\r\n\r\n")
        return int(head.split(b" ")[1]) if head else 0, head + b"\n\n" + body

    def get(self, url: str, more: str = "") -> tuple[int, bytes]:
        return self.ask(f"GET {url} HTTP/1.1\r\nHost: x\r\n{more}Connection: close\r\n\r\n")

    def close(self) -> None:
        for connection in (c for idle in self._gateway._idle.values() for c in idle):
            connection.close()
        self._heard.close()
        self._kept.close()

    def refusals(self) -> list[str]:
        self._heard.setblocking(False)
        try:
            return [json.loads(line)["why"] for line in self._heard.recv(1 << 16).splitlines()]
        except BlockingIOError:
            return []


@pytest.fixture
def gate(authority):
    made: list[Told] = []

    def make(url: str, hosts=()) -> Told:
        made.append(Told(url, authority, hosts))
        return made[-1]

    yield make
    for each in made:
        each.close()


def wheel(index: Warehouse) -> str:
    return f"http://{index.origin}/simple/dep/dep-1.0-py3-none-any.whl"


def test_a_page_and_what_it_names_are_asked_with_the_password(index, gate) -> None:
    gateway = gate(index.url)
    status, page = gateway.get(f"http://{index.origin}/simple/dep/")
    assert (status, b"dep-1.0-py3-none-any.whl" in page) == (200, True)
    status, data = gateway.get(wheel(index), "Authorization: Basic x\r\n")
    assert (status, b"PK" in data) == (200, True)
    assert [given for _, given in index.asked] == [GIVEN, GIVEN]
    assert GIVEN.encode() not in page + data
    assert gateway.refusals() == []


@pytest.mark.parametrize(
    "path",
    [
        "/admin.html",
        "/simple/../admin.html",
        "/simple/%2e%2e/admin.html",
        "/simple/..",
        "/simple/dep/../../admin.html",
        "/simple/dep/?x=1",
        "/simple/dep/dep-1.0-py3-none-any.whl",
        "/",
        "/simple//dep/",
    ],
)
def test_the_index_is_asked_for_its_pages_alone(index, gate, path) -> None:
    gateway = gate(index.url)
    assert gateway.get(f"http://{index.origin}{path}")[0] == 403
    assert (index.asked, gateway.refusals()) == ([], ["foreign"])


@pytest.mark.parametrize(
    "request_line",
    [
        "GET {} HTTP/1.1",
        "CONNECT {} HTTP/1.1",
        "GET https://{}/simple/dep/ HTTP/1.1",
        "GET http://user@{}/x HTTP/1.1",
        "GET ftp://{}/x HTTP/1.1",
        "POST http://{}/simple/dep/ HTTP/1.1",
        "PUT http://{}/simple/dep/ HTTP/1.1",
    ],
)
def test_no_other_host_and_no_other_way_is_open(index, elsewhere, gate, request_line) -> None:
    gateway = gate(index.url)
    asked = request_line.format(elsewhere.origin)
    assert gateway.ask(f"{asked}\r\nHost: {elsewhere.origin}\r\n\r\n")[0] in {403, 501}
    assert elsewhere.asked == index.asked == []


def test_a_file_that_a_page_names_elsewhere_is_asked_without_the_password(
    tmp_path, elsewhere, authority, gate
) -> None:
    leading = Warehouse(tmp_path / "leading", SECRET, authority, elsewhere=elsewhere)
    try:
        leading.wheel("dep")
        gateway = gate(leading.url)
        assert gateway.get(wheel(elsewhere))[0] == 403
        assert b"https" not in gateway.get(f"http://{leading.origin}/simple/dep/")[1]
        assert gateway.get(wheel(elsewhere))[0] == 200
    finally:
        leading.close()
    assert [given for _, given in elsewhere.asked] == [""]


@pytest.mark.parametrize("named", [False, True])
def test_a_redirect_elsewhere_is_followed_only_where_a_person_named_the_host(
    index, elsewhere, gate, named
) -> None:
    elsewhere.wheel("dep", "2.0")
    index.moved["/simple/dep/"] = f"https://localhost:{elsewhere.origin.partition(':')[2]}/x"
    gateway = gate(index.url, ("localhost",) if named else ())
    status, answer = gateway.get(f"http://{index.origin}/simple/dep/")
    assert status == (302 if named else 403)
    assert (b"Location: http://localhost:" in answer) == named
    assert gateway.refusals() == ([] if named else ["foreign"])


def test_a_redirect_within_the_index_is_followed(index, gate) -> None:
    index.moved["/simple/Dep/"] = "/simple/dep/index.html"
    gateway = gate(index.url)
    status, answer = gateway.get(f"http://{index.origin}/simple/Dep/")
    goal = answer.decode().partition("Location: ")[2].splitlines()[0]
    assert (status, goal) == (302, f"http://{index.origin}/simple/dep/index.html")
    assert gateway.get(goal)[0] == 200
    assert gateway.get(wheel(index))[0] == 200


@pytest.mark.parametrize(
    "host", ["127.0.0.2", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "localhost"]
)
def test_what_a_page_names_is_not_asked_where_it_is_not_public(tmp_path, gate, host) -> None:
    index = Warehouse(tmp_path / "index")
    try:
        with socket.create_server(("127.0.0.1", 0)) as trap:
            trap.setblocking(False)
            place = f"{host}:{trap.getsockname()[1]}/x.whl"
            index.page("dep", f'<a href="https://{place}">x.whl</a>')
            gateway = gate(index.url)
            assert gateway.get(f"http://{index.origin}/simple/dep/")[0] == 200
            assert gateway.get(f"http://{place}")[0] == 403
            assert gateway.refusals() == ["foreign"]
            with pytest.raises(BlockingIOError):
                trap.accept()
    finally:
        index.close()


@pytest.mark.parametrize(
    ("host", "why"), [("files.pythonhosted.org", "unreached"), ("files.example.org", "foreign")]
)
def test_a_network_may_have_files_of_pypi_at_an_address_of_its_own(
    tmp_path, gate, monkeypatch, host, why
) -> None:
    asked = socket.getaddrinfo

    def answered(name, *rest, **more):
        return asked("127.0.0.1" if name == host else name, *rest, **more)

    monkeypatch.setattr(socket, "getaddrinfo", answered)
    index = Warehouse(tmp_path / "index")
    try:
        with socket.create_server(("127.0.0.1", 0)) as closed:
            port = closed.getsockname()[1]
        index.page("dep", f'<a href="https://{host}:{port}/x.whl">x.whl</a>')
        gateway = gate(index.url)
        assert gateway.get(f"http://{index.origin}/simple/dep/")[0] == 200
        assert gateway.get(f"http://{host}:{port}/x.whl")[0] in {403, 502}
        assert gateway.refusals() == [why]
    finally:
        index.close()


def test_a_proxy_is_not_asked_for_a_number_that_is_not_public(tmp_path, authority) -> None:
    with socket.create_server(("127.0.0.1", 0)) as trap:
        trap.setblocking(False)
        proxy = f"http://127.0.0.1:{trap.getsockname()[1]}"
        index = Warehouse(tmp_path / "index")
        index.page("dep", '<a href="https://0x7f.1/x.whl">x.whl</a>')
        gateway = Told(index.url, authority, proxy=proxy)
        try:
            assert gateway.get(f"http://{index.origin}/simple/dep/")[0] == 200
            assert gateway.get("http://0x7f.1/x.whl")[0] == 403
            assert gateway.refusals() == ["foreign"]
            with pytest.raises(BlockingIOError):
                trap.accept()
        finally:
            gateway.close()
            index.close()


@pytest.mark.parametrize("asked", ["http://[::1/x", "http://h:abc/x", "http://h:99999/simple/dep/"])
def test_a_request_for_what_is_no_address_is_refused(index, gate, asked) -> None:
    gateway = gate(index.url)
    assert gateway.get(asked)[0] == 403
    assert gateway.refusals() == ["foreign"]


@pytest.mark.parametrize("goal", ["http://[::1/x", "http://h:abc/x", "https://h:99999/x"])
def test_a_redirect_to_what_is_no_address_is_told(index, gate, goal) -> None:
    index.moved["/simple/dep/"] = goal
    gateway = gate(index.url)
    assert gateway.get(f"http://{index.origin}/simple/dep/")[0] == 502
    assert gateway.refusals() == ["unreached"]


def test_a_name_that_no_name_can_be_is_told(tmp_path, gate) -> None:
    index = Warehouse(tmp_path / "index")
    try:
        index.page("dep", f'<a href="https://{"a" * 70}.org/x.whl">x.whl</a>')
        gateway = gate(index.url)
        assert gateway.get(f"http://{index.origin}/simple/dep/")[0] == 200
        assert gateway.get(f"http://{'a' * 70}.org/x.whl")[0] == 502
        assert gateway.refusals() == ["unreached"]
    finally:
        index.close()


def test_who_does_not_answer_or_let_us_in_is_told(index, gate) -> None:
    gateway = gate(index.url.replace(SECRET, "ada:another-word"))
    assert gateway.get(f"http://{index.origin}/simple/dep/")[0] == 401
    index.close()
    assert gateway.get(f"http://{index.origin}/simple/dep/")[0] == 502
    assert gateway.refusals() == ["closed", "unreached"]


@pytest.mark.parametrize(
    ("kind", "body", "names"),
    [
        ("application/json", '{"files": [{"url": "a.whl"}]}', ["/dep/a.whl"]),
        (
            "application/json",
            json.dumps({"files": [{"url": "a", "yanked": '"url": "https://evil/x"'}]}),
            ["/dep/a"],
        ),
        ("text/html", '<a href="a.whl#sha256=0">a</a>', ["/dep/a.whl"]),
        ("text/html", "<base href='/b/'><a href='a.whl'>a</a>", ["/b/a.whl"]),
        ("text/html", "<a data-yanked='href=\"https://evil/x\"' href=a>a</a>", ["/dep/a"]),
        ("text/html", "<!-- <a href='x'> --><script><a href='y'></script>", []),
        ("", "no page at all", []),
    ],
)
def test_what_a_page_names_is_its_links_alone(kind, body, names) -> None:
    found = list_links(body.encode(), kind, "https://host/dep/")
    assert [place_of(link) for link in found] == [("host", 0, name, "") for name in names]


@pytest.mark.parametrize(
    "body",
    [
        "[" * 100_000,
        "{}",
        '{"files": 3}',
        '{"files": [3]}',
        "\xff",
        '{"files": [{"url": "http://h:abc/x.whl"}]}',
        '{"files": [{"url": "http://[::1/x.whl"}]}',
    ],
)
def test_a_page_that_is_none_is_told(tmp_path, gate, body) -> None:
    index = Warehouse(tmp_path / "index")
    try:
        index.page("dep", body, "index.json")
        gateway = gate(index.url)
        assert gateway.get(f"http://{index.origin}/simple/dep/")[0] == 502
        assert gateway.refusals() == ["not_a_page"]
    finally:
        index.close()


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("https://h/a", "http://h/a", True),
        ("https://H:443/a", "http://h/a", True),
        ("https://h/a%2Bb", "http://h/a+b", True),
        ("https://h:444/a", "http://h/a", False),
        ("https://h/a", "http://h/b", False),
        ("https://h/a?x", "http://h/a", False),
    ],
)
def test_a_place_is_the_same_however_it_is_spelled(one, other, same) -> None:
    assert (place_of(urlsplit(one)) == place_of(urlsplit(other))) is same


def test_only_a_set_up_job_may_ask_an_index_and_then_nothing_else() -> None:
    for more in ({"profile": "test"}, {"hosts": ("example.org",)}):
        wire = job_to_wire(Job(("/bin/true",), {}, "/", index=3, **{"profile": "setup", **more}))
        with pytest.raises(ValueError, match=r"network|not both"):
            job_from_wire(wire, (3,))


def test_a_job_meets_its_gateway_at_whatever_address(sandbox, slot, index, authority) -> None:
    code = (
        "import socket, sys\n"
        "for place in (('192.0.2.1', 1), ('127.0.0.1', int(sys.argv[1]))):\n"
        "    s = socket.create_connection(place, 5)\n"
        "    s.sendall(b'GET http://' + sys.argv[2].encode() + b' HTTP/1.1\\r\\nHost: x\\r\\n'\n"
        "              b'Connection: close\\r\\n\\r\\n')\n"
        "    print(s.recv(12).decode())\n"
    )
    ours, theirs = socket.socketpair()
    with ours, socket.create_server(("127.0.0.1", 0)) as trap:
        trap.setblocking(False)
        with theirs:
            page = f"{index.origin}/simple/dep/"
            argv = (world.PYTHON, "-I", "-c", code, str(trap.getsockname()[1]), page)
            job = Job(argv, child_env(slot), slot.repo, profile="setup", index=theirs.fileno())
            running = sandbox.start_job(job, slot)
        ours.sendall(IndexSource(index.url, str(authority.with_name("ca.pem"))).dump())
        ours.shutdown(socket.SHUT_WR)
        ended = running.wait(30)
        with pytest.raises(BlockingIOError):
            trap.accept()
    assert (ended.how, ended.code, ended.survivors) == ("exited", 0, 0), ended
    assert ended.output.split() == [b"HTTP/1.1", b"200"] * 2
