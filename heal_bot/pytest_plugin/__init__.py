"""What runs in the user's own process: a pytest plugin and a decorator, standard library alone."""
