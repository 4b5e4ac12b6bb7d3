"""Checkouts and environments made by us from verified bytes."""
