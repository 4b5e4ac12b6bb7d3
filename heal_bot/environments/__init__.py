"""Environments of the target made by us from what a project declares."""
