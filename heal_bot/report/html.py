"""The report as one self-contained page: no network, no markup from data."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources

from heal_bot.outcome import OutcomeRecord

# What could end the script element or a line of JavaScript; inside JSON strings all are escapes.
_ESCAPES = {
    "<": "\\u003c",
    ">": "\\u003e",
    "&": "\\u0026",
    "\u2028": "\\u2028",
    "\u2029": "\\u2029",
}
# What a page for people needs of an outcome; the rest is in the bundle.
_MESSAGE = 1_000
_DIFF = 20_000
_MESSAGES = 10


def page(record: OutcomeRecord) -> str:
    """The HTML of an outcome.

    The outcome is JSON in a data block that the script reads and inserts as text alone; a content
    security policy allows this script and this style by their hash and nothing else.
    """
    style, script = _part("report.css"), _part("report.js")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}';"
        " base-uri 'none'; form-action 'none'"
    )
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>heal-bot: {record.status.replace('_', ' ')}</title>\n"
        f"<style>{style}</style>\n</head>\n<body>\n<main></main>\n"
        "<noscript>This page shows outcome.json, which lies beside it, with a script.</noscript>\n"
        f'<script type="application/json" id="data">{_data(record)}</script>\n'
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _part(name: str) -> str:
    return resources.files("heal_bot.report").joinpath("templates", name).read_text("utf-8")


def _hash(text: str) -> str:
    digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return f"sha256-{digest}"


def _data(record: OutcomeRecord) -> str:
    """The outcome as JSON that is safe inside a script element, long texts cut."""
    short = record.model_copy(
        update={
            "failures": tuple(
                f.model_copy(update={"message": f.message[:_MESSAGE], "suspects": ()})
                for f in record.failures
            ),
            "attempts": tuple(
                a.model_copy(
                    update={
                        "diff": a.diff[:_DIFF],
                        "messages": {
                            test: text[:_MESSAGE]
                            for test, text in list(a.messages.items())[:_MESSAGES]
                        },
                    }
                )
                for a in record.attempts
            ),
            "patch": record.patch and record.patch.model_copy(update={"files": ()}),
        }
    )
    text = short.model_dump_json(by_alias=True, exclude={"memory": {"tried"}})
    for plain, escaped in _ESCAPES.items():
        text = text.replace(plain, escaped)
    return text
