"""Python source as data: the index of targets, edits, and the rails of a patch."""
