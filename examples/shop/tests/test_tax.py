import pytest

from shop.money import Money
from shop.tax import UnknownCategory, gross, tax_on


@pytest.mark.parametrize(
    ("category", "tax"), [("standard", 200), ("food", 100), ("book", 50)]
)
def test_rates(category, tax):
    assert tax_on(Money(1000), category) == Money(tax)


def test_gross():
    assert gross(Money(1999), "book") == Money(2099)


def test_unknown_category():
    with pytest.raises(UnknownCategory, match="toys"):
        tax_on(Money(1), "toys")
