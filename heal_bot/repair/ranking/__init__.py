"""Of patches that pass the same tests, which is right."""
