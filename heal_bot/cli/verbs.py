"""The verbs of the command line, each with its line of help."""

from __future__ import annotations

VERBS = {
    "heal": "Repair the failing tests of a run, and write a bundle.",
    "publish": "Open or update the pull request of a bundle.",
    "apply": "Write the patch of a bundle into a working tree.",
    "verify": "Repeat the verification of a bundle and compare the results.",
    "plan": "Split the failing tests of a report across matrix jobs.",
    "merge": "Merge the bundles of several jobs into one, verified as a whole.",
    "explain": "Explain a bundle in plain English.",
    "action": "Run as a GitHub Action: read the event, heal, publish.",
    "doctor": "Show how well the sandbox isolates on this machine.",
    "completion": "Print the shell completion script for bash, zsh or fish.",
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
            "heal-bot COMMAND --help shows its options; heal-bot doctor checks this machine.",
        )
    )
