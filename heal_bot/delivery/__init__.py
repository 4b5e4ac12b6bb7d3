"""How a recomputed change reaches people: branch, pull request, review, comment, summary."""
