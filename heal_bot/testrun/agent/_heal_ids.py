"""Tests by the ids that an earlier collection gave them, where ids change from run to run.

Such ids hold clocks, addresses, paths of the scratch folder or the order of a set. A test is then
told by its function, and by its position among the parameter sets of this one, if their number is
the same.
"""

from __future__ import annotations


def aligned(ids, known):
    """These ids (in the order of the collection) as `known` has them; which functions' differ."""
    before = _sets(known)
    found, moved = list(ids), []
    for function, places in _sets(ids).items():
        now = [ids[at] for at in places.values()]
        then = [known[at] for at in before.get(function, {}).values()]
        if len(now) == len(then) and set(now) != set(then):
            moved.append(function)
            for at, name in zip(places.values(), _paired(now, then)):
                found[at] = name
    return found, moved


def _sets(ids):
    """Where the parameter sets of each function are, by function."""
    found = {}
    for at, name in enumerate(ids):
        path, separator, test = name.partition("::")
        function, bracket, _ = test.partition("[")
        if bracket:
            places = found.setdefault(path + separator + function, {})
            places.setdefault(name, at)
    return found


def _paired(now, then):
    """The earlier ids in the order of those of now.

    Ids that both have are the same tests where they stand in another order, as those of a set do;
    in the same order they may be a clock or a counter that went on.
    """
    both = set(now) & set(then)
    if [name for name in now if name in both] == [name for name in then if name in both]:
        return then
    rest = iter([name for name in then if name not in both])
    return [name if name in both else next(rest) for name in now]
