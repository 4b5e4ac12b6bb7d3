"""The attacks on what comes back from a run: report files and records.

Each has `naive`, the reader such a file or record is made for, and `ours`, what reads it here.
The attack succeeded when the reader hangs, gives away a secret, spends the memory or runs code;
`naive` shows that it can.
"""

from __future__ import annotations

import io
import os
import pickle
import select
import socket
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from heal_bot.core.errors import UsageError
from heal_bot.core.events import Run
from heal_bot.core.text import for_log
from heal_bot.junit import reader
from heal_bot.testrun import driver_protocol
from heal_bot.testrun.pipe_ipc import Channel, Flooded

SECRET = "the-secret-of-another-file"
_CAP = 1 << 20


@dataclass(frozen=True, slots=True)
class Attack:
    """One payload; both readers get an empty folder and say whether the attack succeeded."""

    number: int
    name: str
    naive: Callable[[Path], bool]
    ours: Callable[[Path], bool]

    @property
    def id(self) -> str:
        return f"{self.number}-{self.name.replace(' ', '-')}"


def _report(folder: Path) -> str:
    """What the intake gives for the report in a folder: a complaint, or the text of its cases."""
    try:
        report = reader.read_reports(Run(sink=lambda event: None), folder, ["report.xml"])
    except UsageError as error:
        return str(error)
    return "".join(case.text + case.message for case in report.cases)


def _fifo(folder: Path) -> Path:
    os.mkfifo(folder / "report.xml")
    return folder / "report.xml"


def _hangs(path: Path) -> bool:
    """Whether a plain open of the path would wait: nobody writes to it."""
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    try:
        poll = select.poll()
        poll.register(reader, select.POLLIN)
        return not poll.poll(0)
    finally:
        os.close(reader)


def _secret(folder: Path) -> Path:
    path = folder / "secret"
    path.write_text(
        f"<testsuite><testcase name='a'><failure>{SECRET}</failure></testcase></testsuite>"
    )
    return path


def _symlinked(folder: Path) -> Path:
    (folder / "report.xml").symlink_to(_secret(folder))
    return folder / "report.xml"


def _linked(folder: Path) -> Path:
    os.link(_secret(folder), folder / "report.xml")
    return folder / "report.xml"


def _sparse(folder: Path) -> Path:
    with (folder / "report.xml").open("wb") as file:
        file.truncate(8 << 30)
    return folder / "report.xml"


_LAUGHS = (
    "<!DOCTYPE x [<!ENTITY a0 'ha'>"
    + "".join(f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 9))
    + "]><testsuite><testcase name='a'><failure>&a8;</failure></testcase></testsuite>"
)


def _laughs(folder: Path) -> bool:
    """The intake: the text must not have been expanded."""
    (folder / "report.xml").write_text(_LAUGHS)
    return "haha" in _report(folder)


def _expanded(folder: Path) -> bool:
    """An expander without a bound, stopped at the cap."""
    text = "&a4;"
    for level in range(4, 0, -1):
        text = text.replace(f"&a{level};", f"&a{level - 1};" * 10)
    return len(text) * 10**4 > _CAP  # the other four levels


COMMANDS = (
    "::set-env name=PATH::/tmp",
    "  ::add-path::/tmp",
    "fine ##[add-path]/tmp",
    "fine\r::error::planted",
    "fine\u2028::error::planted",
    "\x1b[0m::stop-commands::x",
    "\u202e::set-output name=a::b",
)


def _obeyed(lines: str) -> bool:
    """Whether a runner would find a command in these lines (it trims; `##[` counts anywhere)."""
    return any(
        line.replace("\x1b[0m", "").strip("\u202e \t").startswith("::") or "##[" in line
        for line in lines.splitlines()
    )


class _Planted:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, tuple[str, ...]]:
        return (os.mkdir, (str(self.path),))


def _pickled(folder: Path) -> bytes:
    return pickle.dumps(_Planted(folder / "planted"))


def _unpickled(folder: Path) -> bool:
    pickle.loads(_pickled(folder))
    return (folder / "planted").exists()


def _read_record(data: bytes) -> bool:
    """Whether the protocol takes the bytes for a record."""
    try:
        driver_protocol.parse(data, "nonce")
    except driver_protocol.Untrusted:
        return False
    return True


def _taken_for_a_record(folder: Path) -> bool:
    return _read_record(_pickled(folder)) or (folder / "planted").exists()


def _zipped(folder: Path) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("../planted", bytes(_CAP))
    return buffer.getvalue()


def _flooded(folder: Path) -> bool:
    """A reader without a cap keeps all that a flood sends."""
    kept = bytearray()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        while len(kept) <= _CAP:
            theirs.send(b"x" * 4096)
            kept += ours.recv(4096)
    return len(kept) > _CAP


def _flood_kept(folder: Path) -> bool:
    channel = Channel(cap=_CAP // 4)
    try:
        for _ in range(_CAP // 4096):
            os.write(channel.theirs[0], b"x" * 4095 + b"\n")
            channel.pump(1.0)
    except Flooded:
        return False
    finally:
        channel.close()
    return True


_DEEP = b"[" * 100_000 + b"]" * 100_000


def _recursive(folder: Path) -> bool:
    """A reader that follows the nesting by calling itself runs out of stack."""

    def depth(at: int = 0) -> int:
        return 1 + depth(at + 1) if _DEEP[at : at + 1] == b"[" else 0

    try:
        depth()
    except RecursionError:
        return True
    return False


def _refused(folder: Path, make: Callable[[Path], Path]) -> bool:
    make(folder)
    said = _report(folder)
    return "report.xml" in said and SECRET not in said


def _nested_taken(folder: Path) -> bool:
    return _read_record(b'{"n": "nonce", "t": ' + _DEEP + b"}")


ATTACKS = (
    Attack(117, "flood of records", _flooded, _flood_kept),
    Attack(118, "report is a pipe", lambda f: _hangs(_fifo(f)), lambda f: not _refused(f, _fifo)),
    Attack(
        118,
        "report is a symbolic link",
        lambda f: SECRET in _symlinked(f).read_text(),
        lambda f: not _refused(f, _symlinked),
    ),
    Attack(
        118,
        "report is a hard link",
        lambda f: SECRET in _linked(f).read_text(),
        lambda f: not _refused(f, _linked),
    ),
    Attack(
        118,
        "report of eight gibibytes",
        lambda f: _sparse(f).stat().st_size > 1 << 32,
        lambda f: not _refused(f, _sparse),
    ),
    Attack(119, "billion laughs", _expanded, _laughs),
    Attack(
        120,
        "commands to the runner",
        lambda f: all(map(_obeyed, COMMANDS)),
        lambda f: any(_obeyed(for_log(line)) for line in COMMANDS),
    ),
    Attack(121, "pickle as a record", _unpickled, _taken_for_a_record),
    Attack(
        121,
        "archive as a record",
        lambda f: "../planted" in zipfile.ZipFile(io.BytesIO(_zipped(f))).namelist(),
        lambda f: _read_record(_zipped(f)),
    ),
    Attack(147, "record nested without end", _recursive, _nested_taken),
    Attack(
        148,
        "record of another run",
        lambda f: b'"t"' in b'{"n": "other", "t": "finish", "rc": 0}',
        lambda f: _read_record(b'{"n": "other", "t": "finish", "rc": 0}'),
    ),
)
