import pytest

from shop.catalog import OutOfStock


class TestCatalog:
    @pytest.mark.parametrize("code", ["MUG", "mug", " mug", "Mug "])
    def test_finds_what_customers_type(self, catalog, code):
        assert catalog.find(code).name == "Blue mug"

    def test_does_not_find_what_is_not_sold(self, catalog):
        assert catalog.find("POT") is None

    def test_codes_of_a_category(self, catalog):
        assert catalog.codes("standard") == ["MUG", "TEA SET"]


class TestStock:
    def test_take_leaves_the_rest(self, stock):
        assert stock.take("MUG", 30) == 70

    def test_take_the_last_piece(self, stock):
        assert stock.take("book", 100) == 0

    def test_take_more_than_there_is(self, stock):
        with pytest.raises(OutOfStock, match="MUG: 101 asked, 100 left"):
            stock.take("MUG", 101)

    def test_a_code_with_a_space_inside(self, stock):
        assert stock.find("tea set").code == "TEA SET"

    def test_a_code_nobody_stored(self, stock):
        with pytest.raises(KeyError):
            stock.find("POT")

    def test_finds_what_a_supplier_typed(self, stock):
        assert stock.find("tea set ").code == "TEA SET"

    def test_store_adds_up(self, stock):
        stock.store("MUG", 5)
        assert stock.find("mug").pieces == 105
