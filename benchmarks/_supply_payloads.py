"""Plays the attempts on the way packages come, as they lie in `cases/supply.yaml`."""

from __future__ import annotations

import io
import tarfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from string import Template
from typing import TYPE_CHECKING, Any

from benchmarks._cases import read_cases
from heal_bot.core.events import Run
from heal_bot.core.model import RunHints
from heal_bot.environments.uv_input import Package

if TYPE_CHECKING:
    from benchmarks._supply_chain import World

_TABLE = read_cases("supply")
PRELUDE: str = _TABLE["prelude"]
TEXTS, SERVED, TOOLS, LEFT = (_TABLE[part] for part in ("texts", "served", "tools", "left"))
_INFO = "dep-9.0.dist-info"
_USUAL = {
    f"{_INFO}/METADATA": "Metadata-Version: 2.1\nName: dep\nVersion: 9.0\n",
    f"{_INFO}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    f"{_INFO}/RECORD": "",
}
_KINDS = {"link": tarfile.SYMTYPE, "twin": tarfile.LNKTYPE}


def make_project(
    facts: Mapping[str, str], files: Mapping[str, str], times: int = 1, plugin: str = ""
) -> dict[str, Any]:
    """The files of a project, their text so often, and the plugin that the report names."""
    filled = {
        name: "".join(_filled(text, facts, number=str(n)) for n in range(times))
        for name, text in files.items()
    }
    hints = {"hints": RunHints(plugins=(_filled(plugin, facts),))} if plugin else {}
    return {"files": filled, **hints}


def serve(world: World, row: Mapping[str, Any]) -> object:
    """Put what the row says in the index, and fetch it."""
    ((kind, told),) = row.items()
    return _SERVE[kind](world, told)


def _filled(text: str, facts: Mapping[str, str], **more: str) -> str:
    return Template(text).safe_substitute(facts, **more)


def _require(world: World, line: str) -> object:
    world.index.wheel("asking", requires=[_filled(line, world.facts)])
    return world.fetch("asking")


def _hold(world: World, entry: Mapping[str, Any]) -> object:
    """A wheel of `dep` with a further entry; a file of what runs the tests has to stay."""
    with world.index.holding("dep", "dep-9.0-py3-none-any.whl", _wheel(entry)):
        if entry.get("assembled"):
            return world.assemble({"requirements.txt": "dep\n"})
        return world.fetch("dep")


def _wheel(entry: Mapping[str, Any]) -> bytes:
    path, mode = "d/" * entry.get("below", 0) + entry["path"], int(entry.get("mode", "0o644"), 8)
    raw = io.BytesIO()
    with zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in {path: entry.get("data", ""), **_USUAL}.items():
            info = zipfile.ZipInfo(name)
            info.external_attr = (mode if name == path else 0o644) << 16
            archive.writestr(info, data)
    return raw.getvalue()


def _move(world: World, told: Mapping[str, str]) -> object:
    world.index.moved[told["path"]] = _filled(told["goal"], world.facts)
    try:
        return world.fetch("dep")
    finally:
        world.index.moved.clear()


def _page(world: World, told: Mapping[str, Any]) -> object:
    """A page of a package `odd` as it stands, beside a wheel where it vouches for one."""
    if "wheel" in told:
        world.index.wheel("odd", files=told["wheel"])
    text = _filled(told["text"] * told.get("times", 1), world.facts)
    world.index.page("odd", text, told.get("file", "index.html"))
    return world.fetch("odd")


def _archive(world: World, members: Sequence[Mapping[str, Any]]) -> object:
    """A source archive; what is read of it is told."""
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w:gz") as tar:
        for told in members:
            member = tarfile.TarInfo(told["name"])
            data = (
                bytes(told.get("zeros", 0)) or _filled(told.get("text", ""), world.facts).encode()
            )
            for kind in _KINDS.keys() & told.keys():
                member.type, member.linkname = _KINDS[kind], _filled(told[kind], world.facts)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    world.index._put("src", "src-1.0.tar.gz", raw.getvalue())
    _, _, table = world.packages.sdist(Run(world.hear), Package("src"))
    world.said.append(repr(table))
    return table


_SERVE: dict[str, Callable[[World, Any], object]] = {
    "requires": _require, "wheel": _hold, "moved": _move, "page": _page, "archive": _archive,
}  # fmt: skip
