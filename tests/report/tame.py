"""Whether a body, as a Markdown reader sees it, holds markup that is not ours."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.token import Token

HOSTILE = (
    "@octocat ![x](https://evil.example/p.png) [a](javascript:alert(1)) <img src=x> <!-- "
    "</details> #12 octo/shop#3 https://evil.example www.evil.example a@b.example "
    "| pipe | `code` ``` \n```\n# Title\n- item\n<script>x</script>\u202e\u200b closes #1 $x$"
)
_TITLE = r"<summary>[A-Z][a-z ]+( \(\d+( of [\d,]+ candidates)?\))?</summary>"
_OURS = re.compile(rf"</?details>|{_TITLE}|<!-- heal-bot .*")


def rendered(body: str) -> list[Token]:
    """The body as a Markdown reader sees it, all inline tokens laid out flat."""
    tokens = MarkdownIt("commonmark", {"html": True}).enable("table").parse(body)
    return [t for token in tokens for t in (token, *(token.children or ()))]


def assert_tame(body: str) -> None:
    """No link, image or HTML but ours; no mention, reference or address in the text around code."""
    tokens = rendered(body)
    kinds = {token.type for token in tokens}
    assert not kinds & {"link_open", "image", "html_inline", "heading_open h1"}
    html = {line for t in tokens if t.type == "html_block" for line in t.content.splitlines()}
    assert all(_OURS.fullmatch(line) for line in html if line), html
    words = " ".join(t.content for t in tokens if t.type == "text")
    for live in ("@octocat", "#12", "#3", "#1", "a@b", "www.evil"):
        assert live not in words, live
    code = {n for t in tokens if t.type == "fence" and t.map for n in range(*t.map)}
    for line in (line for n, line in enumerate(body.split("\n")) if n not in code):
        outside = line.split("`")[::2] if "`" in line else [line]
        assert not any("https://evil" in part for part in outside if "```" not in line)
