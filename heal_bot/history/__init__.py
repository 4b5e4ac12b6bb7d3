"""What changed: the commit after which tests fail, proved by running them before and after it."""
