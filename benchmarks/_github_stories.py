"""What happens to a repository over days, and what of heal-bot is due each time."""

from __future__ import annotations

import time
import traceback

from benchmarks._cases import read_cases
from benchmarks._github_life import TOKENS, Count, living
from benchmarks._github_player import perform


def live_all(only: str = "") -> Count:
    """Every story with each kind of token; what they showed together."""
    count = Count()
    stories = {name: told for name, told in read_cases("lives").items() if only in name}
    for token in TOKENS:
        for name, steps in stories.items():
            started, before = time.monotonic(), len(count.wrong)
            try:
                with living(token, count, name) as life:
                    perform(life, steps)
            except Exception:  # noqa: BLE001 - whatever a story raises is its result
                count.wrong.append(f"{name} ({token.name}): {traceback.format_exc(limit=-2)}")
            for told in count.wrong[before:]:
                print(f"WRONG {told}", flush=True)
            print(f"{time.monotonic() - started:5.1f} s  life: {name} ({token.name})", flush=True)
    for told in count.unwanted:
        print(f"UNWANTED {told}", flush=True)
    return count
