"""The verbs of the command line, each with its line of help."""

from __future__ import annotations

VERBS = {
    "heal": "Repair what a failed test run names, and write a bundle.",
    "publish": "Open or update the pull request of a bundle.",
    "apply": "Write the patch of a bundle into a working tree.",
    "verify": "Repeat the verification of a bundle, and say whether it comes out equal.",
    "plan": "Deal the failing tests of a report to the jobs of a matrix.",
    "merge": "Make one verified bundle of those of several jobs.",
    "explain": "Tell in words what a bundle holds.",
    "action": "Run as a GitHub Action: read the event, heal, publish.",
    "doctor": "Show what the sandbox of this machine holds.",
    "completion": "Print what makes a shell complete verbs and options.",
}


def usage() -> str:
    """What `--help` prints: every verb with its line."""
    width = max(len(verb) for verb in VERBS) + 2
    lines = (f"  {verb:{width}}{line}" for verb, line in VERBS.items())
    return "\n".join(
        (
            "Usage: heal-bot [OPTIONS] COMMAND [ARGS]...",
            "",
            "  A failed test run goes in as JUnit XML; a small, verified change comes out.",
            "",
            "Options:",
            "  --version   Show the version and exit.",
            "  -h, --help  Show this message and exit.",
            "",
            "Commands:",
            *lines,
            "",
            "heal-bot COMMAND --help tells more of one; heal-bot doctor tries this machine.",
        )
    )
