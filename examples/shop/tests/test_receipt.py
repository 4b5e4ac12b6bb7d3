from shop.orders import place
from shop.receipt import render, row


def test_row_fills_the_width():
    assert row("tax", "1.00", 12) == "tax     1.00"


def test_row_cuts_what_does_not_fit():
    assert row("a very long name", "1.00", 12) == "a very  1.00"


def test_receipt(cart, stock):
    cart.add("TEA", 11)
    cart.add("BOOK")
    assert render(place(cart, stock)).splitlines() == [
        "11 x Green tea             49.50",
        "1 x Tea for two            19.99",
        "-" * 32,
        "tax                         5.95",
        "total                      75.44",
    ]
