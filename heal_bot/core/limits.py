"""What both a checkout and the jobs that get a copy of it are bounded by."""

from __future__ import annotations

# Files and folders of a commit; a job may have as many besides.
MAX_FILES = 100_000
