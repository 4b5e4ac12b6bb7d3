import pytest

from shop.cart import UnknownProduct
from shop.money import Money


def test_an_empty_cart_costs_nothing(cart):
    assert cart.value() == Money(0)


def test_pieces_of_one_product_share_a_line(cart):
    cart.add("TEA", 2)
    cart.add("tea", 3)
    assert len(cart.lines) == 1
    assert cart.pieces() == 5


def test_a_line_keeps_what_was_typed(cart):
    assert cart.add(" mug ").code == " mug "


def test_lines_keep_their_order(cart):
    cart.add("MUG")
    cart.add("BOOK")
    assert [line.product.code for line in cart.lines] == ["MUG", "BOOK"]


@pytest.mark.parametrize("quantity", [0, -1])
def test_at_least_one_piece(cart, quantity):
    with pytest.raises(ValueError, match="at least one piece"):
        cart.add("TEA", quantity)


def test_unknown_product(cart):
    with pytest.raises(UnknownProduct, match="POT"):
        cart.add("POT")


@pytest.mark.parametrize(("quantity", "nth"), [(10, 0), (11, 0), (50, 1), (99, 1)])
def test_the_tier_of_a_line(cart, quantity, nth):
    line = cart.add("TEA", quantity)
    assert line.tier == line.product.tiers[nth]


def test_a_small_line_has_no_tier(cart):
    assert cart.add("TEA", 9).tier is None


@pytest.mark.parametrize(
    ("quantity", "value"),
    [(1, 500), (9, 4500), (10, 4500), (12, 5400), (49, 22050), (50, 20000), (60, 24000)],
)
def test_the_value_of_tea_by_quantity(cart, quantity, value):
    cart.add("TEA", quantity)
    assert cart.value() == Money(value)
