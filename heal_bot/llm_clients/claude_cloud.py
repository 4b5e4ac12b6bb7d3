"""Claude where a cloud sells it: Bedrock and Vertex, by a bearer token, through the same SDK."""

from __future__ import annotations

import importlib.util
import re
from typing import TYPE_CHECKING, Any, cast

from heal_bot.core.errors import UsageError
from heal_bot.core.text import Secret, one_line
from heal_bot.llm_clients.claude import Claude
from heal_bot.llm_clients.http_timeouts import LONGEST
from heal_bot.llm_clients.retry import Patience

if TYPE_CHECKING:
    import anthropic

VERTEX_MODEL = "claude-sonnet-5-5"
BEDROCK_MODEL = "anthropic.claude-sonnet-5-5"
_PLACE = re.compile(r"[a-z0-9][a-z0-9:.-]{0,60}")


class Vertex(Claude):
    """A Claude model on Vertex; the key is an access token of Google Cloud."""

    provider = "vertex"
    seller = "google"

    def __init__(
        self, key: Secret, project: str, region: str, model: str = "", base_url: str = "",
        timeout: float = LONGEST, *, proxy: str = "", ca_file: str = "",
        patience: Patience | None = None,
    ) -> None:  # fmt: skip
        _check("vertex", "project", project, "ANTHROPIC_VERTEX_PROJECT_ID")
        _check("vertex", "region", region, "CLOUD_ML_REGION")
        host = "aiplatform" if region == "global" else f"{region}-aiplatform"
        url = base_url or f"https://{host}.googleapis.com/v1"
        super().__init__(key, model or VERTEX_MODEL, url, timeout,
                         proxy=proxy, ca_file=ca_file, patience=patience)  # fmt: skip
        self._project, self._region = project, region

    def _version(self) -> dict[str, str]:
        return {}

    def _made(self, key: str, common: dict[str, Any]) -> anthropic.Anthropic:
        import anthropic

        made = anthropic.AnthropicVertex(
            project_id=self._project, region=self._region, access_token=key, **common
        )
        return cast("anthropic.Anthropic", made)


class Bedrock(Claude):
    """A Claude model on Bedrock; the key is an API key of Bedrock, no pair to sign with."""

    provider = "bedrock"
    seller = "aws"
    lined = False

    def __init__(
        self, key: Secret, region: str, model: str = "", base_url: str = "",
        timeout: float = LONGEST, *, proxy: str = "", ca_file: str = "",
        patience: Patience | None = None,
    ) -> None:  # fmt: skip
        _check("bedrock", "region", region, "AWS_REGION")
        if importlib.util.find_spec("botocore") is None:
            # The SDK reads Bedrock's frames with it, and would say so in the middle of a call.
            raise UsageError("proposer bedrock needs botocore: pip install botocore")
        url = base_url or f"https://bedrock-runtime.{region}.amazonaws.com"
        super().__init__(key, model or BEDROCK_MODEL, url, timeout,
                         proxy=proxy, ca_file=ca_file, patience=patience)  # fmt: skip
        self._region = region

    def _version(self) -> dict[str, str]:
        return {}

    def _made(self, key: str, common: dict[str, Any]) -> anthropic.Anthropic:
        import anthropic

        made = anthropic.AnthropicBedrock(api_key=key, aws_region=self._region, **common)
        return cast("anthropic.Anthropic", made)


def _check(who: str, what: str, value: str, variable: str) -> None:
    """UsageError for what cannot be a part of a host name or a path."""
    if not _PLACE.fullmatch(value):
        given = f" (given: {one_line(value, 40)})" if value else ""
        raise UsageError(f"proposer {who} needs a {what}: set {variable}{given}")
