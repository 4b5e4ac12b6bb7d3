"""Outcome to text for people."""
