"""GitHub: who may ask, and everything that is read from or written to it."""
