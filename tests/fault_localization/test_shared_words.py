"""Functions are matched with failing tests by the words they share."""

from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.core.model import Failure
from heal_bot.fault_localization import shared_words
from heal_bot.fault_localization.target_index import Places
from heal_bot.source.functions import find_target, index_targets
from tests.fakes import FolderTree

SHOP = """\
def price(cart):
    \"\"\"What a cart costs, with the discount of its coupon.\"\"\"
    return sum(cart.lines) - coupon_discount(cart)


def weigh(cart):
    return sum(line.grams for line in cart.lines)


def parse_coupon(text):
    return text.split("-")
"""
TEST = """\
from shop import price


def test_a_coupon_is_taken_off():
    assert price(cart_of("SAVE-10")) == 90
"""


def _match(
    tmp_path: Path, message: str = "", common: frozenset[str] = frozenset()
) -> dict[str, shared_words.Match]:
    tree = FolderTree.of(tmp_path, {"shop.py": SHOP, "tests/test_shop.py": TEST})
    failure = Failure("tests/test_shop.py::test_a_coupon_is_taken_off", "AssertionError", message)
    targets = index_targets("shop.py", SHOP)
    query = shared_words.collect_words([failure], Places(tree))
    found = shared_words.score_words(targets, query, common)
    return {target.qualname: match for target, match in found.items()}


def test_rare_words_of_the_test_tell_functions_apart(tmp_path: Path) -> None:
    found = _match(tmp_path)
    assert found["weigh"].body == 0 < found["price"].body
    assert "coupon" in found["price"].shared
    assert found["parse_coupon"].name == 1


def test_words_that_most_test_files_have_are_not_shown(tmp_path: Path) -> None:
    others = {f"tests/test_{n}.py": "# A price should be what coupons give." for n in range(3)}
    tree = FolderTree.of(tmp_path, {"shop.py": SHOP, "tests/test_shop.py": TEST, **others})
    common = shared_words.find_common(Places(tree))
    assert common == {"price", "should", "coupons", "give"}
    assert "price" in _match(tmp_path)["price"].shared
    assert _match(tmp_path, common=common)["price"].shared == ("cart", "coupon")
    alone = FolderTree.of(tmp_path / "alone", {"tests/test_shop.py": TEST})
    assert shared_words.find_common(Places(alone)) == frozenset()
    assert _match(tmp_path, common=common)["price"].body == _match(tmp_path)["price"].body


def test_a_test_file_that_is_a_link_has_no_words(tmp_path: Path) -> None:
    class Linked(FolderTree):
        def read(self, path: str) -> bytes:
            if path == "tests/test_link.py":
                raise KeyError(path)
            return super().read(path)

    Linked.of(tmp_path, {f"tests/test_{n}.py": "price" for n in ("a", "link")})
    assert shared_words.find_common(Places(Linked(tmp_path))) == frozenset()


def test_the_message_counts_as_well(tmp_path: Path) -> None:
    assert "grams" in _match(tmp_path, "assert 3 grams == 4 grams")["weigh"].shared


def test_a_function_alone_is_no_likelier_than_any_other(tmp_path: Path) -> None:
    tree = FolderTree.of(tmp_path, {"shop.py": SHOP})
    target = find_target(index_targets("shop.py", SHOP), "price")
    assert target is not None
    asked = shared_words.collect_words(
        [Failure("tests/test_gone.py::test_price", "", "")], Places(tree)
    )
    assert shared_words.score_words([target], asked, frozenset())[target].body == 0


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("parse_couponCode", {"parse", "coupon", "code"}),
        ("HTMLParser2", {"html", "parser"}),
        ("self.assert_x", set()),
        ("", set()),
    ],
)
def test_names_are_split_into_words(text: str, found: set[str]) -> None:
    assert shared_words.split_words(text) == found
