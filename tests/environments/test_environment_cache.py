from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from heal_bot.core.errors import ProvisionError
from heal_bot.environments.environment_cache import (
    KEPT,
    EnvironmentCache,
    _size,
    _stands,
    choose_superfluous,
)


@pytest.fixture
def folder(reachable, request):
    stores = reachable / "stores"
    stores.mkdir(mode=0o755, exist_ok=True)
    return stores / f"{len(list(stores.iterdir()))}-{request.node.originalname[:40]}"


def fill(work: Path, final: Path) -> dict[str, object]:
    (work / "data").write_text(str(final))
    return {"made": 1}


def test_an_installation_is_built_once(folder):
    store = EnvironmentCache.at(folder)
    assert store.get("one", fill) == {"made": 1}
    assert store.get("one", lambda work, final: {"made": 2}) == {"made": 1}
    assert (folder / "one/data").read_text() == str(folder / "one")


def test_a_build_that_fails_leaves_nothing(folder):
    store = EnvironmentCache.at(folder)

    def fail(work: Path, final: Path) -> dict[str, object]:
        (work / "data").write_text("half")
        raise OSError(28, "No space left on device")

    with pytest.raises(ProvisionError, match="No space left on device"):
        store.get("one", fail)
    assert list(folder.iterdir()) == []


def test_the_first_of_two_builders_wins(folder):
    store = EnvironmentCache.at(folder)

    def slow(work: Path, final: Path) -> dict[str, object]:
        store.get("one", fill)
        (work / "data").write_text("late")
        return {"made": 2}

    assert store.get("one", slow) == {"made": 1}
    assert (folder / "one/data").read_text() != "late"
    assert [path.name for path in folder.iterdir()] == ["one"]


def test_a_folder_others_can_write_is_refused(folder):
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(ProvisionError, match="can be written by one"):
        EnvironmentCache.at(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give folders away")
def test_a_folder_of_another_user_is_refused(folder):
    folder.mkdir()
    os.chown(folder, 64001, 64001)
    with pytest.raises(ProvisionError, match="belongs to another user"):
        EnvironmentCache.at(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="tests run as another user only under root")
def test_a_folder_that_others_cannot_reach_is_refused(folder):
    folder.mkdir(mode=0o700)
    with pytest.raises(ProvisionError, match="cannot be reached by the user that tests run as"):
        EnvironmentCache.at(folder / "inner")


def test_a_link_is_refused(folder, tmp_path):
    folder.symlink_to(tmp_path)
    with pytest.raises(ProvisionError, match="is a link"):
        EnvironmentCache.at(folder)


def test_an_installation_that_was_planted_is_refused(folder):
    store = EnvironmentCache.at(folder)
    (folder / "one").mkdir()
    (folder / "one").chmod(0o777)
    with pytest.raises(ProvisionError, match="can be written by one"):
        store.get("one", fill)


GB = 1 << 30


@pytest.mark.parametrize(
    ("ages", "size", "free", "gone"),
    [
        ([0] * 30, 1, 1000, 0),
        ([0] * 30 + [2] * 5, 1, 1000, 5),
        ([0] * 3 + [2] * 20, 1, 1000, 11),
        ([0] * 30, 1, 10, 20),
        ([0, 0, 0], 9, 1, 3 - 1),
    ],
    ids=["all of this hour", "some older", "mostly older", "a small disk", "hardly any room"],
)
def test_what_is_old_or_takes_too_much_of_the_disk_may_go(ages, size, free, gone):
    used = {Path(f"{n:02}"): 1e9 - age * 3600 - n for n, age in enumerate(ages)}
    found = choose_superfluous(used, dict.fromkeys(used, size * GB), free * GB)
    assert len(found) == gone
    assert found == sorted(used)[len(used) - gone :]


def age(folder: Path, hours: float) -> None:
    """As if everything had been used that long ago, in the order of the names."""
    for number, record in enumerate(sorted(folder.glob("*/heal-bot.json"))):
        then = record.stat().st_mtime - hours * 3600 + number
        os.utime(record, (then, then))


@pytest.mark.long
def test_the_ones_used_longest_ago_go_when_a_new_one_comes(folder):
    _in_a_process_of_its_own(folder, *(f"old{n:02}" for n in range(KEPT + 1)))
    assert len(list(folder.iterdir())) == KEPT + 1
    age(folder, 2)
    _in_a_process_of_its_own(folder, "old00", "new")
    assert (folder / "old00/data").exists()
    assert not (folder / "old01").exists()
    assert not (folder / "old02").exists()
    assert len(list(folder.iterdir())) == KEPT


@pytest.mark.long
def test_what_a_living_process_uses_stays(folder):
    EnvironmentCache.at(folder).get("aged", fill)
    _in_a_process_of_its_own(folder, *(f"other{n:02}" for n in range(KEPT + 1)))
    age(folder, 2)
    _in_a_process_of_its_own(folder, "new")
    assert (folder / "aged/data").exists()
    assert not (folder / "other00").exists()


def test_what_a_killed_process_left_goes_after_a_while(folder):
    store = EnvironmentCache.at(folder)
    for name, hours in ((".new-dead", 7), (".old-dead", 7), (".new-living", 0.5)):
        (folder / name / "site-packages").mkdir(parents=True)
        then = (folder / name).stat().st_mtime - hours * 3600
        os.utime(folder / name, (then, then))
    store.get("one", fill)
    assert sorted(path.name for path in folder.iterdir()) == [".new-living", "one"]


def test_one_that_was_removed_meanwhile_is_built_again(folder):
    store = EnvironmentCache.at(folder)
    gone = []

    def build(work: Path, final: Path) -> dict[str, object]:
        (work / "data").write_text(str(final))
        gone.append(final)
        return {"made": len(gone)}

    _in_a_process_of_its_own(folder, "one")
    shutil.rmtree(folder / "one")
    assert store.get("one", build) == {"made": 1}


@pytest.mark.parametrize("record", ["", "[]", '{"bytes": "many"}', "\udcff"])
def test_a_damaged_record_of_another_installation_ends_no_run(folder, record):
    store = EnvironmentCache.at(folder)
    (folder / "other/data").mkdir(parents=True)
    (folder / "other/heal-bot.json").write_bytes(record.encode(errors="surrogateescape"))
    assert store.get("one", fill) == {"made": 1}
    assert (folder / "other").exists()


@pytest.mark.parametrize("record", ["", "[]"])
def test_a_damaged_record_of_its_own_is_named(folder, record):
    store = EnvironmentCache.at(folder)
    (folder / "one").mkdir()
    (folder / "one/heal-bot.json").write_text(record)
    with pytest.raises(ProvisionError, match=r"no sound heal-bot\.json: remove that folder"):
        store.get("one", fill)


def test_what_is_removed_while_it_is_counted_has_no_bytes(folder):
    assert _size(folder / "gone") == 0


def test_a_record_that_was_made_anew_is_another(folder):
    EnvironmentCache.at(folder).get("one", fill)
    record = folder / "one/heal-bot.json"
    with record.open("rb") as old:
        assert _stands(old.fileno(), record)
        shutil.rmtree(folder / "one")
        assert not _stands(old.fileno(), record)
        EnvironmentCache.at(folder).get("one", fill)
        assert not _stands(old.fileno(), record)


def _in_a_process_of_its_own(folder: Path, *names: str) -> None:
    code = f"""
import sys
from pathlib import Path
from heal_bot.environments.environment_cache import EnvironmentCache

def fill(work, final):
    (work / "data").write_text(str(final))
    return {{"made": 1}}

store = EnvironmentCache.at(Path({str(folder)!r}))
"""
    for name in names:
        subprocess.run([sys.executable, "-c", f"{code}\nstore.get({name!r}, fill)"], check=True)
