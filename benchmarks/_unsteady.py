"""Suites that are red now and then, each of one kind, and what a baseline has to call them."""

# ruff: noqa: E501 - a table: one case a line

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unsteady:
    """`right` are the statuses that are true of `test`; `message` is what CI reported."""

    kind: str
    text: str
    right: frozenset[str]
    test: str = "test_it"
    message: str = "AssertionError: assert False"


_FLAKY = frozenset({"flaky"})
_ORDER = frozenset({"order_dependent"})
_HERE = frozenset({"explained"})
_AWAY = frozenset({"not_reproduced"})
_ONE = "def test_it():\n"


def _net(code: str, message: str) -> Unsteady:
    return Unsteady("network", f"{_ONE}{code}", _HERE, message=message)


UNSTEADY: tuple[Unsteady, ...] = (
    Unsteady("random", "import random\n" + _ONE + "    assert random.random() < 0.5\n", _FLAKY),
    Unsteady("random", "import random\n" + _ONE + "    assert random.randrange(10) > 3\n", _FLAKY),
    Unsteady("random", "import uuid\n" + _ONE + "    assert uuid.uuid4().int % 2\n", _FLAKY),
    Unsteady("random", "import secrets\n" + _ONE + "    assert secrets.randbelow(3)\n", _FLAKY),
    Unsteady("random", "import os\n" + _ONE + "    assert os.urandom(1)[0] < 128\n", _FLAKY),
    Unsteady("random", "import random\n" + _ONE + "    v = [1, 2]\n    random.shuffle(v)\n    assert v == [1, 2]\n", _FLAKY),
    Unsteady("time", "import time\n" + _ONE + "    assert time.time_ns() // 1000 % 2\n", _FLAKY),
    Unsteady("time", "from datetime import datetime\n" + _ONE + "    assert datetime.now().microsecond % 2\n", _FLAKY),
    Unsteady("time", "import time\n" + _ONE + "    assert time.perf_counter_ns() % 200 < 100\n", _FLAKY),
    Unsteady("time", "import threading, time, random\n" + _ONE + "    seen = []\n    def say(x):\n        time.sleep(random.random() / 50)\n        seen.append(x)\n    t = [threading.Thread(target=say, args=(i,)) for i in range(2)]\n    [x.start() for x in t]\n    [x.join() for x in t]\n    assert seen == [0, 1]\n", _FLAKY),
    Unsteady("time", "import asyncio, random\n" + _ONE + "    async def main():\n        seen = []\n        async def say(x):\n            await asyncio.sleep(random.random() / 50)\n            seen.append(x)\n        await asyncio.gather(say(0), say(1))\n        return seen\n    assert asyncio.run(main()) == [0, 1]\n", _FLAKY),
    Unsteady("order", "seen = []\ndef test_first():\n    seen.append(1)\n" + _ONE + "    assert not seen\n", _ORDER),
    Unsteady("order", "import os\ndef test_first():\n    os.environ['MODE'] = 'x'\n" + _ONE + "    assert 'MODE' not in os.environ\n", _ORDER),
    Unsteady("order", "class C:\n    n = 0\ndef test_first():\n    C.n = 1\n" + _ONE + "    assert C.n == 0\n", _ORDER),
    Unsteady("order", "seen = []\ndef test_first():\n    seen.append(1)\n" + _ONE + "    assert seen\n", _ORDER),
    Unsteady("order", "import os\ndef test_first():\n    os.environ['READY'] = '1'\n" + _ONE + "    assert os.environ.get('READY')\n", _ORDER),
    Unsteady("order", "import json\ndef test_first():\n    json.loads = lambda s: 0\n" + _ONE + "    assert json.loads('1') == 1\n", _ORDER),
    Unsteady("order", "seen = []\n" + _ONE + "    assert not seen\ndef test_last():\n    seen.append(1)\ndef test_more():\n    seen.append(2)\ndef test_most():\n    seen.append(3)\ndef test_end():\n    seen.append(4)\n", _ORDER | _AWAY),
    Unsteady("files", "from pathlib import Path\ndef test_first():\n    Path('left').write_text('x')\n" + _ONE + "    assert not Path('left').exists()\n", _ORDER),
    Unsteady("files", "from pathlib import Path\ndef test_first():\n    Path('cache').mkdir()\n" + _ONE + "    Path('cache').mkdir()\n", _ORDER, message="FileExistsError: [Errno 17] File exists: 'cache'"),
    Unsteady("files", "import sqlite3\ndef test_first():\n    sqlite3.connect('db').execute('create table t (x)')\n" + _ONE + "    sqlite3.connect('db').execute('create table t (x)')\n", _ORDER, message="sqlite3.OperationalError: table t already exists"),
    Unsteady("files", "from pathlib import Path\n" + _ONE + "    assert not Path('left').exists()\n    Path('left').write_text('x')\n", _AWAY),
    Unsteady("files", "import tempfile, os\n" + _ONE + "    path = os.path.join(tempfile.gettempdir(), 'heal-bot-left')\n    assert not os.path.exists(path)\n    open(path, 'w').close()\n", _AWAY),
    Unsteady("hash seed", _ONE + "    assert list({'ab', 'cd'})[0] == 'ab'\n", _FLAKY),
    Unsteady("hash seed", _ONE + "    assert hash('heal') % 2\n", _FLAKY),
    Unsteady("hash seed", _ONE + "    assert ''.join(set('abc')) < 'b'\n", _FLAKY),
    Unsteady("hash seed", _ONE + "    names = frozenset(['x1', 'y2', 'z3'])\n    assert min(names, key=len) != 'x1'\n", _FLAKY),
    _net("    import socket\n    socket.create_connection(('127.0.0.1', 5432), 1)\n", "ConnectionRefusedError: [Errno 111] Connection refused"),
    _net("    import urllib.request\n    urllib.request.urlopen('http://service.invalid/', timeout=1)\n", "urllib.error.URLError: <urlopen error [Errno -2] Name or service not known>"),
    _net("    import http.client\n    http.client.HTTPConnection('127.0.0.1', 8080, timeout=1).request('GET', '/')\n", "ConnectionRefusedError: [Errno 111] Connection refused"),
    _net("    import socket\n    socket.gethostbyname('database')\n", "socket.gaierror: [Errno -3] Temporary failure in name resolution"),
    _net("    import asyncio\n    async def main():\n        await asyncio.open_connection('127.0.0.1', 6379)\n    asyncio.run(main())\n", "ConnectionRefusedError: [Errno 111] Connect call failed ('127.0.0.1', 6379)"),
    _net("    import smtplib\n    smtplib.SMTP('127.0.0.1', 25, timeout=1)\n", "ConnectionRefusedError: [Errno 111] Connection refused"),
    Unsteady("hash seed", "def test_it():\n    d = {x: 1 for x in {'alpha', 'beta', 'gamma'}}\n    assert list(d)[0] != 'alpha'\n", _FLAKY),
    Unsteady("random", "import os, tempfile\ndef test_it():\n    assert tempfile.mktemp()[-1] < 'm'\n", _FLAKY),
    Unsteady("order", "import decimal\ndef test_first():\n    decimal.getcontext().prec = 3\ndef test_it():\n    assert decimal.Decimal(1) / 3 == decimal.Decimal('0.3333333333333333333333333333')\n", _ORDER),
    Unsteady("order", "import sys\ndef test_first():\n    sys.path.insert(0, '/nowhere')\ndef test_it():\n    assert '/nowhere' not in sys.path\n", _ORDER),
    Unsteady("order", "import pytest\n@pytest.fixture(scope='module')\ndef box():\n    return []\ndef test_first(box):\n    box.append(1)\ndef test_it(box):\n    assert box == []\n", _ORDER),
    Unsteady("process id", "import os\ndef test_it():\n    assert os.getpid() % 3\n", _FLAKY),
)  # fmt: skip
