"""The search: tiers of proposers, and the ledger that remembers them."""
