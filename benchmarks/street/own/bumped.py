"""The last commit raises a dependency to the first version that breaks the tests."""

from __future__ import annotations

from benchmarks.street.own._files import ci, project
from benchmarks.street.recipes import Package
from benchmarks.street.situation import Commit, Situation

_LISTED = ci(before="python -m pip install -r requirements.txt")


def _bumped(name: str, package: Package, code: str, tests: str, *, listed: bool) -> Situation:
    """A package that pins the dependency in requirements.txt if `listed`, else where it declares it."""
    dependency, good, bad = package
    place = name.partition("-")[0]

    def pinned(version: str) -> dict[str, str]:
        pin = f"{dependency}=={version}"
        if listed:
            return {"requirements.txt": f"{pin}\n"}
        return {"pyproject.toml": project(place, pin)["pyproject.toml"]}

    files = project(place, dependency, workflow=_LISTED if listed else "")
    head = f"import pytest\n\nfrom {place}.core import "
    files |= {f"src/{place}/core.py": code, "tests/test_core.py": head + tests, **pinned(good)}
    bump = Commit(f"Bump {dependency} from {good} to {bad}", pinned(bad))
    return Situation(
        name=f"own/{name}", kind="dependency", action="explain", commits=(Commit("Start", files), bump),
        says=(dependency,), package=package, bumped=True,
    )  # fmt: skip


SITUATIONS = (
    _bumped("courier-methods-renamed", ("urllib3", "1.26.20", "2.0.0"), '''\
from urllib3.util import Retry

SAFE = ("GET", "HEAD")


def patient(tries, writes=False):
    methods = SAFE + ("PUT",) if writes else SAFE
    return Retry(tries, backoff_factor=0.5, method_whitelist=methods)


def waits(tries, factor=0.5):
    return [factor * 2**n for n in range(tries)]
''', '''\
patient, waits


@pytest.mark.parametrize("tries", [0, 3])
def test_patient(tries):
    assert patient(tries).total == tries


def test_waits():
    assert waits(3) == [0.5, 1.0, 2.0]
''', listed=True),
    _bumped("trails-info-gone", ("networkx", "2.8.8", "3.0"), '''\
import networkx as nx


def network(trails):
    graph = nx.Graph()
    graph.add_edges_from(trails)
    return graph


def summary(trails):
    return nx.info(network(trails)).lower()


def shortest(trails, start, end):
    return nx.shortest_path(network(trails), start, end)
''', '''\
shortest, summary

TRAILS = [("hut", "lake"), ("lake", "peak"), ("hut", "mill")]


def test_summary():
    assert "4 nodes and 3 edges" in summary(TRAILS)


@pytest.mark.parametrize("end", ["lake", "peak"])
def test_shortest(end):
    assert shortest(TRAILS, "hut", end)[-1] == end
''', listed=False),
    _bumped("almanac-groups-no-dict", ("importlib-metadata", "4.13.0", "5.0.0"), '''\
import importlib_metadata


def plugins(group="almanac.plugins"):
    return [point.name for point in importlib_metadata.entry_points().get(group, [])]


def season(month):
    return ("winter", "spring", "summer", "autumn")[month % 12 // 3]
''', '''\
plugins, season


def test_no_plugins():
    assert plugins() == []


def test_pytest_is_a_script():
    assert "pytest" in plugins("console_scripts")


@pytest.mark.parametrize(("month", "wanted"), [(12, "winter"), (4, "spring"), (8, "summer")])
def test_season(month, wanted):
    assert season(month) == wanted
''', listed=True),
    _bumped("larder-newest-out-first", ("cachetools", "5.5.2", "6.0.0"), '''\
import cachetools


def shelf(room, newest_first=False):
    kind = "MRUCache" if newest_first else "LRUCache"
    return getattr(cachetools, kind)(room)


def stocked(room, jars, newest_first=False):
    held = shelf(room, newest_first)
    for jar in jars:
        held[jar] = True
    return sorted(held)
''', '''\
stocked


@pytest.mark.parametrize("jars", ["abc", "zabc"])
def test_oldest_goes(jars):
    assert stocked(2, jars) == ["b", "c"]


def test_room():
    assert len(stocked(2, "abc", newest_first=True)) == 2
''', listed=False),
    _bumped("guestbook-tags-frozen", ("bleach", "5.0.1", "6.0.0"), '''\
import bleach

TAGS = ["p", "br"]


def cleaned(entry):
    return bleach.clean(entry, tags=bleach.ALLOWED_TAGS + TAGS)


def shortened(entry, most=20):
    return entry if len(entry) <= most else entry[: most - 1] + "…"
''', '''\
cleaned, shortened


@pytest.mark.parametrize("entry", ["<p>Lovely</p>", "a<br>b", "<b>so</b>"])
def test_allowed(entry):
    assert cleaned(entry) == entry


def test_script():
    assert "<script" not in cleaned("<script>x</script>")


def test_shortened():
    assert shortened("x" * 30) == "x" * 19 + "…"
''', listed=True),
    _bumped("lockers-long-phrases", ("bcrypt", "4.3.0", "5.0.0"), '''\
import bcrypt


def sealed(phrase):
    return bcrypt.hashpw(phrase.encode(), bcrypt.gensalt(4))


def opens(phrase, seal):
    return bcrypt.checkpw(phrase.encode(), seal)


def strength(phrase):
    return min(4, len(phrase) // 6)
''', '''\
opens, sealed, strength


@pytest.mark.parametrize("phrase", ["tide", "a long walk along the shore " * 4])
def test_opens(phrase):
    assert opens(phrase, sealed(phrase))


def test_other_phrase():
    assert not opens("ebb", sealed("tide"))


def test_strength():
    assert [strength("x" * n) for n in (3, 12, 80)] == [0, 2, 4]
''', listed=False),
    _bumped("tramway-zone-localizes-not", ("tzlocal", "4.3.1", "5.0"), '''\
import datetime

import tzlocal


def departure(text):
    clock = datetime.datetime.strptime(text, "%Y-%m-%d %H:%M")
    return tzlocal.get_localzone().localize(clock)


def minutes(text):
    hours, _, rest = text.partition(":")
    return int(hours) * 60 + int(rest)
''', '''\
departure, minutes


def test_departure_has_a_zone():
    assert departure("2024-05-06 07:08").tzinfo is not None


def test_departure_keeps_the_clock():
    assert departure("2024-05-06 07:08").hour == 7


@pytest.mark.parametrize(("text", "wanted"), [("00:10", 10), ("02:05", 125)])
def test_minutes(text, wanted):
    assert minutes(text) == wanted
''', listed=True),
    _bumped("shelves-version-is-valid", ("semver", "2.13.0", "3.0.0"), '''\
import semver


def newest(editions):
    valid = [e for e in editions if semver.VersionInfo.isvalid(e)]
    return max(valid, key=semver.VersionInfo.parse, default="")


def label(title, edition):
    return f"{title} ({edition})" if edition else title
''', '''\
label, newest


@pytest.mark.parametrize(
    ("editions", "wanted"), [(["1.9.0", "1.10.0"], "1.10.0"), (["first"], ""), ([], "")]
)
def test_newest(editions, wanted):
    assert newest(editions) == wanted


def test_label():
    assert (label("Birds", "2.0.0"), label("Birds", "")) == ("Birds (2.0.0)", "Birds")
''', listed=False),
    _bumped("ferrymen-errors-in-groups", ("anyio", "3.7.1", "4.0.0"), '''\
import anyio


async def _cross(boat, ashore):
    if boat.startswith("leaky"):
        raise ValueError(boat)
    ashore.append(boat)


async def _all(boats, ashore):
    async with anyio.create_task_group() as group:
        for boat in boats:
            group.start_soon(_cross, boat, ashore)


def crossed(boats):
    ashore = []
    try:
        anyio.run(_all, boats, ashore)
    except ValueError:
        return "sunk"
    return sorted(ashore)
''', '''\
crossed


@pytest.mark.parametrize("boats", [[], ["ann"], ["ann", "bea"]])
def test_crossed(boats):
    assert crossed(boats) == boats


def test_sunk():
    assert crossed(["leaky ann"]) == "sunk"
''', listed=True),
)  # fmt: skip
