"""Turns a failed CI run into a pull request with a small, verified repair."""

__version__ = "0.1.0"
