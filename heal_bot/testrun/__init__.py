"""Running the target's tests and judging candidates by them, inside the sandbox."""
