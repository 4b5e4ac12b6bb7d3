"""Clients of language models, behind one port."""
