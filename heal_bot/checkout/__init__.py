"""Checkouts made by us from verified git objects."""
