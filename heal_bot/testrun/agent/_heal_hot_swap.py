"""New function bodies in place of old ones, in live function objects, where that is sound."""

from __future__ import annotations
import __future__

import ast
import gc
import types
from importlib.machinery import SourceFileLoader

import _heal_code_pairs
from _heal_pristine_stdlib import io, os

_FUTURE = 0
for _name in __future__.all_feature_names:
    _FUTURE |= getattr(__future__, _name).compiler_flag
_PLAIN = {"staticmethod", "classmethod", "property"}


class Unsound(Exception):
    """A swap would not show what an import of the changed file shows."""


class Rejected(Exception):
    """The new source does not compile."""


class Swapper:
    """Index of the live functions below `repo`, built once; `apply` changes them in a fork."""

    def __init__(self, repo, called):
        self.repo = repo
        self.called = called
        self.functions = {}
        self.running = set()
        self.files = {}
        self.places = {}
        prefix = repo + "/"
        for thing in gc.get_objects():
            kind = type(thing)
            if kind is types.FunctionType:
                code = thing.__code__
                if code.co_filename.startswith(prefix):
                    by_id = self.functions.setdefault(code.co_filename, {})
                    by_id.setdefault(id(code), []).append(thing)
            # By identity: to hash or compare a class runs what its metaclass defines.
            elif kind is types.GeneratorType:
                self.running.add(id(thing.gi_code))
            elif kind is types.CoroutineType:
                self.running.add(id(thing.cr_code))
            elif kind is types.AsyncGeneratorType:
                self.running.add(id(thing.ag_code))

    def prepare(self, edit):
        """Do what depends on the target alone, once, in the process all forks come from."""
        key = (edit["path"], edit["first"], edit["last"])
        if key not in self.places:
            try:
                self.places[key] = _Place(self, edit)
            except Unsound as reason:
                self.places[key] = reason
        return self.places[key]

    def apply(self, edits):
        """Swap all edits in, or none: raises Unsound or Rejected before anything is changed.

        Returns what was there: (function, code, defaults, keyword defaults), each once.
        """
        changes = []
        outer = set()
        for edit in edits:
            place = self.prepare(edit)
            if isinstance(place, Unsound):
                raise place
            if (place.filename, place.outer_first) in outer:
                raise Unsound("two edits in one function")
            outer.add((place.filename, place.outer_first))
            changes.append((edit, place, place.compile(edit["source"])))
        planned = []
        for edit, place, (new, tree) in changes:
            planned.append((edit, place, place.plan(self, new, tree)))
        touched = {
            id(f): (f, f.__code__, f.__defaults__, f.__kwdefaults__)
            for _, _, (codes, defaults) in planned
            for f, _ in (*codes, *defaults)
        }
        for edit, place, (codes, defaults) in planned:
            _import(edit["imports"], place.globals)
            for function, code in codes:
                function.__code__ = code
            for function, (plain, keyword) in defaults:
                function.__defaults__ = plain
                function.__kwdefaults__ = keyword
        return list(touched.values())

    def tree(self, path):
        """The parsed file of the checkout and its lines."""
        if path not in self.files:
            try:
                with io.open(os.path.join(self.repo, path), "rb") as file:
                    data = file.read()
                parsed = ast.parse(data)
                text = data.decode("utf-8-sig")
            except (OSError, SyntaxError, ValueError) as error:
                raise Unsound("%s cannot be parsed: %s" % (path, error)) from error
            self.files[path] = parsed, text.splitlines(True)
        return self.files[path]


def put_back(touched):
    """Undo what `apply` did, by what it returned."""
    for function, code, defaults, keyed in touched:
        function.__code__, function.__defaults__ = code, defaults
        function.__kwdefaults__ = keyed


def _import(statements, scopes):
    for scope in scopes:
        for statement in statements:
            try:
                exec(compile(statement, "<import>", "exec"), scope)
            except Exception as error:
                raise Unsound("import failed: %r" % error) from error


class _Place:
    """A target in its file: its outermost function, the classes around that, its live objects."""

    def __init__(self, swapper, edit):
        if edit["kind"] != "function":
            raise Unsound("the target is no function")
        tree, self.lines = swapper.tree(edit["path"])
        self.first, self.last = edit["first"], edit["last"]
        chain = _heal_code_pairs.chain_to(tree, edit["first"], edit["name"])
        if chain is None:
            raise Unsound("no such function at line %d" % edit["first"])
        self.node = chain[-1]
        at = next(n for n, node in enumerate(chain) if isinstance(node, _heal_code_pairs.DEF))
        self.head = self._head()
        self.outer = chain[at]
        self.classes = [node.name for node in chain[:at] if isinstance(node, ast.ClassDef)]
        self.nested = self.outer is not self.node
        self.outer_first = _heal_code_pairs.first_line(self.outer)
        self.filename = os.path.join(swapper.repo, edit["path"])
        live = swapper.functions.get(self.filename, {})
        self.roots = [
            functions
            for functions in live.values()
            if functions[0].__code__.co_firstlineno == self.outer_first
            and functions[0].__code__.co_name == self.outer.name
        ]
        self.live = live
        if not self.roots:
            raise Unsound("no live function object")
        self.globals = [functions[0].__globals__ for functions in self.roots]
        for scope in self.globals:
            if type(scope.get("__loader__")) is not SourceFileLoader:
                raise Unsound("the module was not imported from its file")

    def _head(self):
        """The lines of the function before its first statement, which begins a line of its own."""
        body = self.node.body[0]
        start = self.lines[body.lineno - 1].encode()[: body.col_offset]
        decorated = [first.lineno for first in getattr(body, "decorator_list", ())]
        at = min([body.lineno, *decorated])
        # Nothing begins with what is no text.
        return () if start.strip() else "".join(self.lines[self.first - 1 : at - 1])

    def compile(self, source):
        """The code of the new outermost function, at its lines, and the tree of the skeleton.

        There is no tree where the text before the function's first statement is the old one.
        """
        if not source.endswith("\n"):
            source += "\n"
        end = self.outer.end_lineno
        body = "".join(self.lines[self.outer_first - 1 : self.first - 1])
        body += source + "".join(self.lines[self.last : end])
        start = self.lines[self.outer_first - 1]
        indent = start[: len(start) - len(start.lstrip())]
        headers = ["class %s:" % name for name in self.classes]
        if indent and not headers:
            headers = ["if 1:"]
        padding = self.outer_first - 1 - len(headers)
        if padding < 0 or len(indent) < len(headers):
            raise Unsound("the enclosing class leaves no room")
        text = "\n" * padding
        for depth, header in enumerate(headers):
            text += indent[:depth] + header + "\n"
        text += body
        flags = self.roots[0][0].__code__.co_flags & _FUTURE
        try:
            tree = None if source.startswith(self.head) else ast.parse(text)
            code = compile(text, self.filename, "exec", flags=flags, dont_inherit=True)
        except (SyntaxError, ValueError, OverflowError, RecursionError, MemoryError) as error:
            raise Rejected("%s: %s" % (type(error).__name__, error)) from error
        found = _heal_code_pairs.find_code(code, self.outer.name, self.outer_first)
        if found is None:
            raise Unsound("the new source defines another name")
        return found, tree

    def plan(self, swapper, new, tree):
        """[(function, new code)] and [(function, (defaults, keyword defaults))]."""
        fresh_defaults = False
        if tree is not None:
            # Lines before the change's end agree, so the new node is found by its first line.
            chain = _heal_code_pairs.chain_to(tree, self.first, self.node.name)
            if chain is None:
                raise Unsound("the new source defines another name")
            node = chain[-1]
            fresh_defaults = self._compare(node)
        codes, defaults = [], []
        for functions in self.roots:
            codes += self._plan_codes(swapper, functions[0].__code__, new)
            if fresh_defaults:
                if self.nested:
                    raise Unsound("defaults of an inner function change")
                values = self._defaults(tree, node, functions[0].__globals__)
                defaults += [(function, values) for function in functions]
        return codes, defaults

    def _plan_codes(self, swapper, code, new):
        """[(function, new code)] for all functions that run a part of `code`."""
        codes, mapping = [], {}
        _heal_code_pairs.pair(code, new, mapping)
        for old, fresh in mapping.values():
            users = self.live.get(id(old), [])
            if old.co_freevars != fresh.co_freevars and users:
                raise Unsound("the closure changes")
            if _heal_code_pairs.own(old) != _heal_code_pairs.own(fresh):
                if id(old) in swapper.called:
                    raise Unsound("it ran while the modules were imported")
                if id(old) in swapper.running:
                    raise Unsound("a generator of it is running")
            codes += [(function, fresh) for function in users]
        for old in _heal_code_pairs.descendants(code):
            if id(old) not in mapping and self.live.get(id(old)):
                raise Unsound("an inner function has no counterpart")
        return codes

    def _compare(self, new):
        """Whether defaults differ; Unsound where decorators, annotations or the kind do."""
        old = self.node
        if type(old) is not type(new):
            raise Unsound("async and plain functions are exchanged")
        if _heal_code_pairs.dumps(old.decorator_list) != _heal_code_pairs.dumps(new.decorator_list):
            raise Unsound("decorators change")
        if _heal_code_pairs.annotations(old) != _heal_code_pairs.annotations(new):
            raise Unsound("annotations change")
        plain = all(getattr(d, "id", None) in _PLAIN for d in old.decorator_list)
        if not plain and _heal_code_pairs.parameters(old) != _heal_code_pairs.parameters(new):
            raise Unsound("parameters of a decorated function change")
        same = _heal_code_pairs.defaults(old) == _heal_code_pairs.defaults(new)
        return not same or _heal_code_pairs.parameters(old) != _heal_code_pairs.parameters(new)

    def _defaults(self, tree, node, scope):
        """The defaults of the new function, evaluated in its module."""
        node.decorator_list = []
        space = dict(scope)
        try:
            exec(compile(tree, self.filename, "exec", dont_inherit=True), space)
        except Exception as error:
            raise Unsound("defaults cannot be evaluated: %r" % error) from error
        found = space
        for name in self.classes:
            found = vars(found[name])
        function = found.get(self.node.name, found.get("_%s" % self.node.name))
        if type(function) is not types.FunctionType:
            raise Unsound("defaults cannot be evaluated")
        return function.__defaults__, function.__kwdefaults__
