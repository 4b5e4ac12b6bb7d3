"""A small shop: catalogue, carts, orders."""
