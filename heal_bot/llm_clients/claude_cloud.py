"""Claude where a cloud sells it: Bedrock and Vertex, by a bearer token, through the same SDK."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import replace
from typing import TYPE_CHECKING

from heal_bot.core.errors import UsageError
from heal_bot.core.text import one_line
from heal_bot.llm_clients.claude import CLAUDE, sdk_options
from heal_bot.llm_clients.http_timeouts import Endpoint
from heal_bot.llm_clients.model_client import Dialect

if TYPE_CHECKING:
    import anthropic
    import httpx2

_PLACE = re.compile(r"[a-z0-9][a-z0-9:.-]{0,60}")


def speak_vertex(project: str, region: str) -> Dialect:
    """Claude on Vertex; the key is an access token of Google Cloud."""
    _check("vertex", "project", project, "ANTHROPIC_VERTEX_PROJECT_ID")
    _check("vertex", "region", region, "CLOUD_ML_REGION")
    host = "aiplatform" if region == "global" else f"{region}-aiplatform"

    def connect(key: str, link: Endpoint, http: httpx2.Client) -> anthropic.AnthropicVertex:
        import anthropic

        return anthropic.AnthropicVertex(
            project_id=project, region=region, access_token=key, **sdk_options(link, http)
        )

    return replace(
        CLAUDE, provider="vertex", seller="google", base_url=f"https://{host}.googleapis.com/v1",
        pinned={}, connect=connect,
    )  # fmt: skip


def speak_bedrock(region: str) -> Dialect:
    """Claude on Bedrock; the key is an API key of Bedrock, no pair to sign with."""
    _check("bedrock", "region", region, "AWS_REGION")
    if importlib.util.find_spec("botocore") is None:
        # The SDK reads Bedrock's frames with it, and would say so in the middle of a call.
        raise UsageError("proposer bedrock needs botocore: pip install botocore")

    def connect(key: str, link: Endpoint, http: httpx2.Client) -> anthropic.AnthropicBedrock:
        import anthropic

        return anthropic.AnthropicBedrock(api_key=key, aws_region=region, **sdk_options(link, http))

    return replace(
        CLAUDE, provider="bedrock", seller="aws", model="anthropic.claude-sonnet-5-5",
        base_url=f"https://bedrock-runtime.{region}.amazonaws.com",
        pinned={}, lined=False, connect=connect,
    )  # fmt: skip


def _check(who: str, what: str, value: str, variable: str) -> None:
    """UsageError for what cannot be a part of a host name or a path."""
    if not _PLACE.fullmatch(value):
        given = f" (given: {one_line(value, 40)})" if value else ""
        raise UsageError(f"proposer {who} needs a {what}: set {variable}{given}")
