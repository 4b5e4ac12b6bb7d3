"""Editable installs, read from .pth files and finders: which checkout folders they import from."""

from __future__ import annotations

import ast
import os
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(slots=True)
class Editables:
    """Collects, while an environment is copied, what points into the repository at `source`.

    `paths` are checkout-relative folders for sys.path ("." is the root), `notes` what cannot be
    expressed as such a folder.
    """

    source: Path
    paths: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    _finders: list[str] = field(default_factory=list)

    def change(self, path: str, data: bytes) -> bytes | None:
        """The file as it goes into the copy; finders must come before .pth files.

        A .pth file loses the lines that name the repository or start a finder into it: a finder
        that meets an unreadable folder raises where Python expects "not found".
        """
        name = path.rpartition("/")[2]
        if name.endswith(".pth"):
            return self._pth(data.decode(errors="surrogateescape")).encode(errors="surrogateescape")
        if name.endswith(".egg-link"):
            return None
        if name.endswith(".py") and name.startswith(("__editable__", "_editable_impl_")):
            self._finder(name, data)
        return data

    def add(self, folder: Path) -> bool:
        """Note a folder for sys.path; False when it is not in the repository."""
        real = Path(os.path.realpath(folder))
        if real != self.source and not real.is_relative_to(self.source):
            return False
        relative = real.relative_to(self.source).as_posix()
        if relative not in self.paths:
            self.paths.append(relative)
        return True

    def _pth(self, text: str) -> str:
        kept = []
        for line in text.splitlines():
            bare = line.strip()
            is_path = bare.startswith("/") and self.add(Path(bare))
            is_finder = bare.startswith("import ") and any(f in bare for f in self._finders)
            if not is_path and not is_finder:
                kept.append(line)
        return "".join(f"{line}\n" for line in kept)

    def _finder(self, name: str, data: bytes) -> None:
        """Finders hold pairs of module and place, in a dict or as two arguments of a call."""
        try:
            module = ast.parse(data)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            self.notes.append(f"the editable install {name} cannot be read")
            return
        for node in ast.walk(module):
            pairs: list[tuple[ast.expr | None, ast.expr]] = []
            if isinstance(node, ast.Dict):
                pairs = list(zip(node.keys, node.values, strict=True))
            elif isinstance(node, ast.Call) and len(node.args) == 2:
                pairs = [(node.args[0], node.args[1])]
            for key, value in pairs:
                left, right = _text(key), _text(value)
                if left and right.startswith("/"):
                    self._module(name, left, right)

    def _module(self, name: str, module: str, place: str) -> None:
        """Note the folder from which `module` at `place` is imported by its name."""
        parts = module.split(".")
        path = Path(place.removesuffix("/__init__.py"))
        path = path.with_suffix("") if path.suffix in {".py", ".pyi"} else path
        if not Path(os.path.realpath(place)).is_relative_to(self.source):
            return
        if list(path.parts[-len(parts) :]) != parts:
            self.notes.append(f"{name} maps {module} to {path.name}, which no path can express")
            return
        self.add(path.parents[len(parts) - 1])
        finder = name.removesuffix(".py")
        if finder not in self._finders:
            self._finders.append(finder)


def _text(node: ast.expr | None) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""
