"""What a class shares by mistake becomes a value of each instance; other sharing: test_families."""

from __future__ import annotations

import pytest

LOG = """class Log:
    lines{0} = {1}
    name = "log"

    def __init__(self, owner):
        self.owner = owner

    def put(self, line):
        self.lines.append(line)
"""


@pytest.mark.parametrize(("hint", "value"), [("", "[]"), (": list", "[]"), ("", "deque()")])
def test_a_value_of_the_class_is_made_for_each_instance(bench, hint, value) -> None:
    text = LOG.format(hint, value)
    own = "        self.owner = owner\n"
    fixed = text.replace(own, f"{own}        self.lines = {value}\n")
    assert bench.position(text, fixed, 300, "Log.put", "Log.__init__") is not None


def test_a_value_that_cannot_change_stays_with_the_class(bench) -> None:
    text = LOG.format("", "()")
    own = "        self.owner = owner\n"
    fixed = text.replace(own, f"{own}        self.lines = ()\n")
    assert bench.position(text, fixed, 600, "Log.put", "Log.__init__") is None


KEPT = """class Basket:
    def __init__(self, items, prices=None):
        self.items = items
        self.prices = prices or {}
        self.seen = items if items else []

    def put(self, item, price):
        self.items.append(item)
        self.prices[item] = price

    def has(self, item):
        return item in self.seen
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [("self.items = items", "self.items = list(items)"),
     ("prices or {}", "dict(prices or {})")],
)  # fmt: skip
def test_what_a_caller_passes_and_a_method_changes_is_copied(bench, old, new) -> None:
    fixed = KEPT.replace(old, new, 1)
    assert bench.position(KEPT, fixed, 60, "Basket.__init__") is not None


@pytest.mark.parametrize(
    ("change", "copies"),
    [("self.items[0] = item", {"dict", "list"}), ("self.items.pop()", {"dict", "list"}),
     ("self.items.append(self.items[0])", {"list"}), ("self.items.add(item)", {"set"})],
)  # fmt: skip
def test_how_a_method_changes_what_was_passed_tells_its_copy(bench, change, copies) -> None:
    text = (
        "class Basket:\n    def __init__(self, items):\n        self.items = items\n\n"
        f"    def put(self, item):\n        {change}\n"
    )
    kept = "self.items = items"
    fixed = {c: text.replace(kept, f"self.items = {c}(items)", 1) for c in ("dict", "list", "set")}
    places = {c: bench.position(text, t, 400, "Basket.__init__") for c, t in fixed.items()}
    order = sorted(places, key=lambda copy: 400 if places[copy] is None else places[copy])
    assert set(order[: len(copies)]) == copies


def test_what_no_method_changes_is_kept_as_it_was_passed(bench) -> None:
    fixed = KEPT.replace("items if items else []", "list(items if items else [])")
    position = bench.position(KEPT, fixed, 600, "Basket.__init__")
    assert position is None or position > 60


@pytest.mark.parametrize(
    "text",
    [
        "def f(a):\n    return [lambda *x: x + i for i in a]\n",
        "def f(a):\n    return [lambda i: i for i in a]\n",
        "def f(a, b=()):\n    return [a, b]\n",
        "def f(a):\n    return [0] * a\n",
    ],
    ids=["a lambda that takes everything", "its own name", "an immutable default", "numbers"],
)
def test_what_is_not_shared_stays(bench, text) -> None:
    from heal_bot.repair.templates import late_binding, shared_state
    from heal_bot.repair.templates.failure_hints import gather
    from heal_bot.repair.templates.module_context import ModuleContext
    from heal_bot.repair.templates.mutation_context import look
    from heal_bot.repair.templates.target_ast import survey

    scope = look(survey(bench.target(text), text, None), ModuleContext(), gather([]))
    families = (
        shared_state.defaults,
        shared_state.attributes,
        shared_state.rows,
        late_binding.closures,
    )
    assert [change for family in families for change in family(scope)] == []
