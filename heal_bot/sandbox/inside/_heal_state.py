"""What the project's modules hold between calls, kept and put back: memos, registries, counters.

Many changes are tried in one process. What one of them left in a memo would answer for the next.
"""

from __future__ import annotations

import collections
import functools
import sys
import types

_MOST = 4_000
_DEPTH = 4
# Longer ones are told apart by their length alone: a memo grows.
_LONG = 1_000
_CONTAINERS = (dict, list, set, collections.deque, collections.OrderedDict,
               collections.defaultdict, collections.Counter)  # fmt: skip
_PLAIN = (bool, int, float, str, bytes, tuple, type(None))
_MEMO = type(functools.lru_cache(maxsize=1)(len))


class State:
    """The containers and memos that the modules below `repo` reach, as they are now.

    `restore` puts them back: containers get what they held, memos are emptied, names of modules
    and attributes of objects are what they were. Only what was there already is known.
    """

    def __init__(self, repo):
        self.root = repo + "/"
        self.kept = []
        self.memos = []
        self.names = []
        self.attributes = []
        self._seen = set()
        modules = [m for m in list(sys.modules.values()) if self._is_own(m)]
        for module in modules:
            names = vars(module)
            self.names.append((names, dict(names)))
            for value in list(names.values()):
                self._visit(value, _DEPTH)

    def restore(self):
        """Put back what has changed."""
        for memo in self.memos:
            memo.cache_clear()
        for names, before in self.names:
            for name, value in before.items():
                if names.get(name, names) is not value:
                    names[name] = value
            if len(names) > len(before):
                for name in [n for n in names if n not in before]:
                    # What was imported meanwhile is not imported again.
                    if not isinstance(names[name], types.ModuleType):
                        del names[name]
        for owner, name, value in self.attributes:
            if vars(owner).get(name, self) is not value:
                type.__setattr__(owner, name, value)
        for container, mark, content in self.kept:
            if _mark(container) != mark:
                _refill(container, content)

    def _is_own(self, module):
        file = getattr(module, "__file__", None)
        return isinstance(file, str) and file.startswith(self.root)

    def _visit(self, value, depth):
        if depth < 0 or id(value) in self._seen or len(self.kept) >= _MOST:
            return
        kind = type(value)
        if kind in _CONTAINERS:
            self._seen.add(id(value))
            self._keep(value)
            if len(value) <= _LONG:
                for item in list(value.values() if isinstance(value, dict) else value):
                    self._visit(item, depth - 1)
        elif kind is _MEMO:
            self._seen.add(id(value))
            self.memos.append(value)
            self._visit(getattr(value, "__wrapped__", None), depth)
        else:
            self._inside(value, kind, depth)

    def _inside(self, value, kind, depth):
        """What functions, classes and objects of the project hold."""
        if kind in (staticmethod, classmethod):
            self._visit(value.__func__, depth)
        elif kind is property:
            self._visit(value.fget, depth)
        elif kind is types.FunctionType and value.__code__.co_filename.startswith(self.root):
            self._seen.add(id(value))
            for cell in value.__closure__ or ():
                try:
                    self._visit(cell.cell_contents, depth - 1)
                except ValueError:
                    pass
            for given in (value.__defaults__ or (), (value.__kwdefaults__ or {}).values()):
                for default in given:
                    self._visit(default, depth - 1)
            if value.__dict__:
                self._visit(value.__dict__, depth - 1)
        elif isinstance(value, type):
            if self._is_own(sys.modules.get(value.__module__)):
                self._seen.add(id(value))
                for name, part in list(vars(value).items()):
                    if type(part) in _PLAIN and not name.startswith("__"):
                        self.attributes.append((value, name, part))
                    self._visit(part, depth - 1)
        elif self._is_own(sys.modules.get(kind.__module__)):
            # The object itself is not asked: its class may answer for attributes.
            try:
                held = object.__getattribute__(value, "__dict__")
            except AttributeError:
                return
            self._seen.add(id(value))
            self._visit(held, depth)

    def _keep(self, container):
        content = container.copy()
        self.kept.append((container, _mark(container), content))


def _mark(container):
    """Changes with the container; by identity, since comparing may run anybody's code."""
    if len(container) > _LONG:
        return len(container)
    if isinstance(container, dict):
        return [(id(key), id(value)) for key, value in container.items()]
    if isinstance(container, set):
        return sorted(map(id, container))
    return list(map(id, container))


def _refill(container, content):
    container.clear()
    if isinstance(container, (dict, set)):
        container.update(content)
    else:
        container.extend(content)
