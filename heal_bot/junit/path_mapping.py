"""Where the paths of a foreign machine lie in the checkout: longest suffix, one common prefix."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from heal_bot.core.model import Origin

_STDLIB = re.compile(
    r"(?i)(?:^|/)(?:lib(?:64|32)?/python3\.\d{1,2}t?/(?!(?:site|dist)-packages/)|Python3\d{1,2}/lib/(?!site-packages/))"
)
_PACKAGES = re.compile(r"(?:^|/)(?:site|dist)-packages/")
_TEST = re.compile(r"(?:^|/)(?:test_[^/]*|[^/]*_test|tests?|conftest)\.py$|(?:^|/)tests?/")


class Layout:
    """The files of a checkout, indexed by their last components."""

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = frozenset(paths)
        self._by_name: dict[str, list[str]] = {}
        for path in paths:
            self._by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def locate(self, printed: Sequence[str]) -> list[tuple[str, Origin]]:
        """(path, origin) for each printed path of one traceback.

        All absolute paths of a traceback share the checkout's folder: the prefix that explains
        most of them decides. Relative ones may be relative to a subfolder; they map if only one
        file ends with them. What is not in the checkout keeps its printed path, from its
        `site-packages` on, as a library.
        """
        cleaned = [_clean(path) for path in printed]
        prefixes = Counter(
            prefix for path in cleaned if _is_absolute(path) for prefix in self._prefixes(path)
        )
        best = max(prefixes, key=lambda p: (prefixes[p], -len(p)), default=None)
        return [self._one(path, best) for path in cleaned]

    def find(self, printed: str) -> str:
        """The one file a printed path means, or nothing."""
        (path, origin), *_ = self.locate([printed])
        return "" if origin is Origin.LIBRARY else path

    def endings(self, suffix: str) -> tuple[str, ...]:
        """The files whose path ends with these components."""
        named = self._by_name.get(suffix.rpartition("/")[2], ())
        return tuple(p for p in named if p == suffix or p.endswith(f"/{suffix}"))

    def _prefixes(self, path: str) -> list[str]:
        """The folders that would make this absolute path a file of the checkout."""
        if _STDLIB.search(path) or _PACKAGES.search(path):
            return []
        return [
            path[: len(path) - len(ours)]
            for ours in self._by_name.get(path.rpartition("/")[2], ())
            if path.endswith(f"/{ours}")
        ]

    def _one(self, path: str, prefix: str | None) -> tuple[str, Origin]:
        ours = self._installed(path)
        if not ours and not _STDLIB.search(path) and not _PACKAGES.search(path):
            ours = self._checked_out(path, prefix)
        if ours:
            return ours, Origin.TEST if _TEST.search(ours) else Origin.PROJECT
        return _PACKAGES.split(path)[-1], Origin.LIBRARY

    def _checked_out(self, path: str, prefix: str | None) -> str:
        if _is_absolute(path):
            rest = path[len(prefix) :] if prefix and path.startswith(prefix) else ""
            return rest if rest in self._paths else self._only(self._prefixed(path))
        if path in self._paths:
            return path
        while path.startswith("../"):
            path = path[3:]
        return self._only(self.endings(path)) or self._only(self._prefixed(f"/{path}"))

    def _prefixed(self, path: str) -> tuple[str, ...]:
        """The longest of our paths that this one ends with; one-component paths do not count."""
        ours = [p for p in self._by_name.get(path.rpartition("/")[2], ()) if path.endswith(f"/{p}")]
        return tuple(sorted((p for p in ours if "/" in p), key=len, reverse=True)[:1])

    def _installed(self, path: str) -> str:
        """The project file of an installed copy: `site-packages/pkg/a.py` is `src/pkg/a.py`."""
        if not _PACKAGES.search(path):
            return ""
        inner = _PACKAGES.split(path)[-1]
        if inner in self._paths and ("/" in inner or len(inner) > len("setup.py")):
            return inner
        for folder in ("src", "lib", "python"):
            if f"{folder}/{inner}" in self._paths:
                return f"{folder}/{inner}"
        return self._only(self.endings(inner)) if "/" in inner else ""

    @staticmethod
    def _only(found: Sequence[str]) -> str:
        return found[0] if len(found) == 1 else ""


def _clean(path: str) -> str:
    """Forward slashes, no `./`, no doubled separators."""
    slashed = re.sub(r"/{2,}", "/", path.replace("\\", "/"))
    while slashed.startswith("./"):
        slashed = slashed[2:]
    return re.sub(r"/(?:\./)+", "/", slashed)


def _is_absolute(path: str) -> bool:
    return path.startswith("/") or (len(path) > 2 and path[1:3] == ":/")
