import pytest

from shop.catalog import OutOfStock
from shop.discounts import Voucher
from shop.money import Money
from shop.orders import EmptyCart, place


def test_nothing_to_order(cart, stock):
    with pytest.raises(EmptyCart):
        place(cart, stock)


def test_totals(cart, stock):
    cart.add("TEA", 2)
    cart.add("MUG")
    order = place(cart, stock)
    assert order.net == Money(1899)
    assert order.tax == Money(280)
    assert order.gross == Money(2179)


def test_stock_is_taken(cart, stock):
    cart.add("MUG", 4)
    place(cart, stock)
    assert stock.find("MUG").pieces == 96


@pytest.mark.parametrize("code", [" mug", "mug ", "\tMUG\n"], ids=["before", "after", "around"])
def test_stock_is_taken_whatever_the_customer_typed(cart, stock, code):
    cart.add(code, 3)
    place(cart, stock)
    assert stock.find("MUG").pieces == 97


def test_more_than_there_is(cart, stock):
    cart.add("BOOK", 101)
    with pytest.raises(OutOfStock):
        place(cart, stock)


def test_a_voucher_lowers_the_tax_too(cart, stock):
    cart.add("MUG", 10)
    order = place(cart, stock, Voucher("TEN", 10))
    assert order.net == Money(8091)
    assert order.tax == Money(1618)


def test_a_voucher_spreads_by_price(cart, stock):
    for code in ("TEA", "MUG"):
        cart.add(code, 10 if code == "MUG" else 3)
    order = place(cart, stock, Voucher("TEN", 10))
    assert [line.discount for line in order.lines] == [Money(150), Money(899)]
