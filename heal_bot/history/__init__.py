"""What changed since the tests passed: commits and packages, each proved by runs."""
