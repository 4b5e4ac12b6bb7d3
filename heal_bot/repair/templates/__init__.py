"""The offline proposer: one family of repair templates per module."""
