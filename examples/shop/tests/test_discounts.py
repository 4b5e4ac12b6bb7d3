import pytest

from shop.discounts import Voucher, VoucherRefused, discount, spread
from shop.money import NOTHING, Money


def shares(cents, weights):
    return [share.cents for share in spread(Money(cents), weights)]


class TestDiscount:
    def test_no_voucher(self):
        assert discount(None, Money(1000)) == NOTHING

    def test_percent(self):
        assert discount(Voucher("TEN", 10), Money(2550)) == Money(255)

    def test_limit(self):
        assert discount(Voucher("HALF", 50, limit=Money(500)), Money(2000)) == Money(500)

    def test_below_the_minimum(self):
        with pytest.raises(VoucherRefused, match="BIG needs an order of 50.00"):
            discount(Voucher("BIG", 5, minimum=Money(5000)), Money(4999))

    def test_at_the_minimum(self):
        assert discount(Voucher("BIG", 5, minimum=Money(5000)), Money(5000)) == Money(250)


class TestSpread:
    @pytest.mark.parametrize(
        ("cents", "weights", "expected"),
        [
            (100, [1, 1], [50, 50]),
            (90, [1, 2, 6], [10, 20, 60]),
            (0, [3, 4], [0, 0]),
            (70, [0, 7], [0, 70]),
        ],
    )
    def test_even_shares(self, cents, weights, expected):
        assert shares(cents, weights) == expected

    def test_nothing_to_spread_over(self):
        with pytest.raises(ValueError, match="nothing to spread over"):
            spread(Money(10), [0, 0])

    def test_odd_cents_go_to_the_largest_remainders_and_of_equals_to_the_first(self):
        assert shares(100, [1, 1, 1]) == [34, 33, 33]
        assert shares(5, [3, 7]) == [2, 3]
        assert shares(7, [1, 2, 2]) == [1, 3, 3]
        assert shares(1000, [1, 1, 4]) == [167, 167, 666]
