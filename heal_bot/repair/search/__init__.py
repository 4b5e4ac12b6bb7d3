"""The search for a repair: its order, its end, and the log of its attempts."""
