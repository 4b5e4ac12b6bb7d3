"""What the project's modules hold between calls, kept and put back: memos, registries, counters.

Many changes are tried in one process. What one of them left in a memo would answer for the next.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import operator
import sys
import types

_DEPTH = 4
# Items of all containers together that are kept: all of them are looked at after each change.
_MOST = 20_000
# Of a longer container it is known how long it was: a memo grows.
_LONG = 1_000
_BASES = (collections.OrderedDict, collections.deque, dict, list, set)
_MEMO = type(functools.lru_cache(maxsize=1)(len))
_GONE = object()
# After so many that left nothing behind it is not looked for any more: with large tables in the
# tests to look takes longer than most calls.
_CLEAN = 8


class State:
    """What the modules below `repo` reach, as it is now; `restore` puts it back.

    Containers get what they held, memos that were empty are emptied, names of modules, attributes
    of classes and variables of closures are what they were, and modules loaded since are loaded
    anew by whoever wants them.
    """

    def __init__(self, repo):
        self.root = repo + "/"
        self.loaded = set(sys.modules)
        self.kept = []
        self.memos = []
        self.names = []
        self.attributes = []
        self.cells = []
        self._clean = 0
        self._seen = set()
        self._left = _MOST
        own = {n: m for n, m in list(sys.modules.items()) if self._is_own(m)}
        self._own = set(own)
        for module in own.values():
            names = vars(module)
            self.names.append((names, dict(names)))
            for value in list(names.values()):
                with contextlib.suppress(Exception):
                    self._visit(value, _DEPTH)

    def accept(self):
        """Take the names that modules have now for theirs."""
        self.names = [(names, dict(names)) for names, _ in self.names]

    def renew(self):
        """Put back what one of many has changed, while some of them do change something."""
        if self._clean < _CLEAN:
            self._clean = 0 if self.restore() else self._clean + 1

    def restore(self):
        """Put back what has changed; whether anything had."""
        changed = self._unload()
        for memo in self.memos:
            changed |= memo.cache_info().currsize > 0
            memo.cache_clear()
        for names, before in self.names:
            changed |= self._rename(names, before)
        for owner, name, value in self.attributes:
            if vars(owner).get(name, _GONE) is not value:
                type.__setattr__(owner, name, value)
                changed = True
        for cell, value in self.cells:
            if _content(cell) is not value:
                cell.cell_contents = value
                changed = True
        for base, container, mark, content in self.kept:
            if _differs(base, container, mark, content):
                _refill(base, container, mark, content)
                changed = True
        return changed

    def _unload(self):
        """Forget the project's modules that were loaded since."""
        if len(sys.modules) == len(self.loaded):
            return False
        own = [n for n in sys.modules if n not in self.loaded and self._is_own(sys.modules[n])]
        for name in own:
            del sys.modules[name]
        return bool(own)

    def _rename(self, names, before):
        changed = False
        for name, value in before.items():
            if names.get(name, _GONE) is not value:
                names[name] = value
                changed = True
        if len(names) > len(before):
            for name in [n for n in names if n not in before]:
                value = names[name]
                # A module of others that was loaded meanwhile is not loaded again.
                if self._is_own(value) or not issubclass(type(value), types.ModuleType):
                    del names[name]
                    changed = True
        return changed

    def _is_own(self, module):
        # Only plain modules are looked at: others load themselves when they are asked.
        file = vars(module).get("__file__") if type(module) is types.ModuleType else None
        return isinstance(file, str) and file.startswith(self.root)

    def _visit(self, value, depth):
        if depth < 0 or id(value) in self._seen or self._left <= 0:
            return
        # Nothing is asked of an object, its class above all: it may load or connect at that.
        kind = type(value)
        if kind is types.FunctionType:
            if value.__code__.co_filename.startswith(self.root):
                self._function(value, depth)
        elif kind is _MEMO:
            self._memo(value, depth)
        elif kind in (staticmethod, classmethod):
            self._visit(value.__func__, depth)
        elif kind is property:
            self._visit(value.fget, depth)
        elif issubclass(kind, type):
            if value.__module__ in self._own:
                self._class(value, depth)
        elif kind.__module__ in self._own or kind.__module__ in ("builtins", "collections"):
            self._object(value, kind, depth)

    def _memo(self, value, depth):
        self._seen.add(id(value))
        if value.cache_info().currsize == 0:
            self.memos.append(value)
        self._visit(value.__dict__.get("__wrapped__"), depth)

    def _function(self, value, depth):
        self._seen.add(id(value))
        for cell in value.__closure__ or ():
            inside = _content(cell)
            if inside is not _GONE:
                self.cells.append((cell, inside))
                self._visit(inside, depth - 1)
        for default in (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values()):
            self._visit(default, depth - 1)
        self._visit(value.__dict__, depth - 1)

    def _class(self, value, depth):
        self._seen.add(id(value))
        for name, part in list(vars(value).items()):
            if not name.startswith("__") and not hasattr(type(part), "__get__"):
                self.attributes.append((value, name, part))
            self._visit(part, depth - 1)

    def _object(self, value, kind, depth):
        """A container, or an object of the project's own class, which may be one as well."""
        base = next((base for base in _BASES if issubclass(kind, base)), None)
        if base is not None:
            self._seen.add(id(value))
            content = _items(base, value) if base.__len__(value) <= _LONG else None
            mark = base.__len__(value) if content is None else _mark(base, content)
            self.kept.append((base, value, mark, content))
            self._left -= 1 + len(content or ())
            for item in content or ():
                self._visit(item[1] if issubclass(base, dict) else item, depth - 1)
        if kind.__module__ in self._own:
            try:
                held = object.__getattribute__(value, "__dict__")
            except AttributeError:
                return
            self._seen.add(id(value))
            self._visit(held, depth)


def _content(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return _GONE


def _items(base, container):
    return list(base.items(container) if issubclass(base, dict) else base.__iter__(container))


def _mark(base, content):
    """What tells whether a container holds something else; by identity, see `_differs`."""
    if issubclass(base, dict):
        return [key for key, _ in content], [value for _, value in content]
    return sorted(map(id, content)) if base is set else content


def _differs(base, container, mark, content):
    """Whether a container holds something else; comparing its items may run anybody's code."""
    count = base.__len__(container)
    if content is None:
        return count != mark
    if count != len(content):
        return True
    if base is set:
        return sorted(map(id, base.__iter__(container))) != mark
    if issubclass(base, dict):
        keys, values = mark
        same = all(map(operator.is_, base.keys(container), keys))
        return not (same and all(map(operator.is_, base.values(container), values)))
    return not all(map(operator.is_, base.__iter__(container), mark))


def _refill(base, container, mark, content):
    if content is None:
        # The newest go, where it is known which they are.
        while issubclass(base, (dict, list)) and base.__len__(container) > mark:
            dict.popitem(container) if issubclass(base, dict) else list.pop(container)
        return
    base.clear(container)
    if issubclass(base, dict) or base is set:
        base.update(container, content)
    else:
        base.extend(container, content)
