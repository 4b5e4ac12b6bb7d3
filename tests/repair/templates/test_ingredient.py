"""What a function may borrow from the functions beside it."""

from __future__ import annotations

from dataclasses import dataclass

from heal_bot.repair.templates import placeholder
from heal_bot.repair.templates.failure_hints import gather
from heal_bot.repair.templates.ingredient import borrowed, siblings
from heal_bot.repair.templates.module_context import explore
from heal_bot.repair.templates.mutation_context import MutationContext, look
from heal_bot.repair.templates.target_ast import survey
from heal_bot.repair.templates.text_edits import applied
from heal_bot.source import functions

CLOSURES = """\
import functools

def plain(cache, function):
    def wrapper(key):
        return function(key)
    def clear():
        cache.clear()
    functools.update_wrapper(wrapper, function)
    return wrapper, clear

def locked(cache, function, lock):
    def wrapper(key):
        with lock:
            return function(key)
    def clear():
        with lock:
            pass
    pass
    return wrapper, clear
"""
PAIR = """\
class Nested:
    def enter(self):
        self.depth += 1
        return self

    def leave(self):
        print(self.depth)
        pass
"""
STORE = """\
class Store:
    def get(self, key):
        return self.data[key]

    def put(self, key, value):
        self.data[key] = value
        self.data.move_to_end(key)
        self.log.append(key)
"""


@dataclass(frozen=True)
class Tree:
    text: str

    def read(self, path: str) -> bytes:
        return self.text.encode()


def _scope(text: str, qualname: str) -> MutationContext:
    (target,) = [t for t in functions.index_targets("m.py", text) if t.qualname == qualname]
    around = explore(Tree(text), target)  # type: ignore[arg-type]
    return look(survey(target, target.source, None), around, gather([]))


def test_names_of_inner_functions_and_of_those_around_may_stand_in_what_is_borrowed() -> None:
    assert "functools.update_wrapper(wrapper, function)" in borrowed(_scope(CLOSURES, "locked"))[1]
    inner = _scope(CLOSURES, "locked.<locals>.clear")
    assert "cache.clear()" in borrowed(inner)[1]


def test_siblings_are_the_functions_beside_the_nearest_first() -> None:
    many = "".join(f"def f{n}():\n    return {n}\n\n" for n in range(60))
    names = [f.name for f in _scope(many, "f50").around.siblings]
    assert names[:4] == ["f49", "f51", "f48", "f52"]
    inner = _scope(CLOSURES, "locked.<locals>.clear").around.siblings
    assert [f.name for f in inner] == ["wrapper", "plain"]


def test_a_pass_becomes_the_step_that_a_sibling_takes_the_other_way() -> None:
    scope = _scope(PAIR, "Nested.leave")
    texts = [applied(scope.site.source, c.cuts).decode() for c in placeholder.passes(scope)]
    assert any("self.depth -= 1" in text for text in texts)


def test_a_statement_about_an_attribute_that_both_methods_use_is_near() -> None:
    scope = _scope(STORE, "Store.get")
    tiers = {change.cuts[0].text.strip(): change.tier for change in siblings(scope)}
    assert tiers["self.data.move_to_end(key)"] < tiers["self.log.append(key)"]
