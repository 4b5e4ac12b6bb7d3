"""The offline proposer: one family of edits per module."""
