"""Everything that can be configured, in one place: what it means, wherever it comes from."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from heal_bot.core.errors import UsageError
from heal_bot.core.pytest_options import find_options
from heal_bot.core.statuses import LIKELY, SURE
from heal_bot.core.text import Secret, one_line

CONFIG = ".heal-bot.yml"
_CONFIG_BYTES = 64 << 10
# What a person names and a repository may not: a model of an installed package.
ENTRY = "entry:"
# A token of a cloud lies in many environments for other reasons.
_CLOUDS = frozenset({"bedrock", "vertex"})
_PROPOSER = r"^(?:rules|claude|gemini|openai|bedrock|vertex|entry:[A-Za-z0-9_.-]{1,60})$"
_HOST = r"^[A-Za-z0-9][A-Za-z0-9.-]{0,250}$"


def _beneath(given: str) -> str:
    """A folder below the top, without dots and a slash at its end; '' for the top itself."""
    parts = PurePosixPath(given).parts
    if ".." in parts or given.startswith("/") or not given.isprintable():
        raise ValueError("give a folder relative to the top of the repository, without ..")
    return "/".join(parts)


class Settings(BaseModel):
    """The settings of a run; each field is also an option, an input and a key of the file.

    Base URLs, proxies and CA files for models and GitHub come from here alone, never from an
    SDK's defaults or a repository.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    proposers: tuple[Annotated[str, Field(pattern=_PROPOSER)], ...] = ()
    model: str = ""
    max_minutes: Annotated[float, Field(gt=0, le=360)] = 20.0
    max_usd: Annotated[float, Field(ge=0, le=1000)] = 1.0
    max_usd_per_day: Annotated[float, Field(ge=0, le=100_000)] = 5.0
    max_attempts: Annotated[int, Field(ge=1, le=1000)] = 10
    min_confidence: Annotated[float, Field(ge=LIKELY, le=1)] = SURE
    candidates: Annotated[int, Field(ge=1, le=3)] = 1
    sandbox: Literal["strict", "reduced"] = "strict"
    loopback: bool = False
    instruction: Annotated[str, Field(max_length=10_000)] = ""
    python_version: Annotated[str, Field(max_length=20)] = ""
    paths: Annotated[
        tuple[Annotated[str, Field(min_length=1, max_length=300)], ...], Field(max_length=100)
    ] = ()
    setup: Annotated[str, Field(max_length=20_000)] = ""
    freeze: str = ""
    test_command: Annotated[str, Field(max_length=1_000)] = ""
    verify_command: Annotated[str, Field(max_length=1_000)] = ""
    system_packages: Annotated[str, Field(max_length=10_000)] = ""
    build_hosts: Annotated[
        tuple[Annotated[str, Field(pattern=_HOST)], ...], Field(max_length=20)
    ] = ()
    working_directory: Annotated[str, Field(max_length=300), AfterValidator(_beneath)] = ""
    index_url: Secret = Secret("")
    ca_file: str = ""
    workspace: str = ""
    anthropic_api_key: Secret = Secret("")
    gemini_api_key: Secret = Secret("")
    openai_api_key: Secret = Secret("")
    openai_base_url: str = ""
    proxy: str = ""
    anthropic_base_url: str = "https://api.anthropic.com"
    gemini_base_url: str = "https://generativelanguage.googleapis.com"
    bedrock_token: Secret = Secret("")
    bedrock_base_url: str = ""
    aws_region: str = ""
    vertex_token: Secret = Secret("")
    vertex_base_url: str = ""
    vertex_project: str = ""
    vertex_region: str = "global"
    github_token: Secret = Secret("")
    hidden: tuple[Secret, ...] = ()
    github_api_url: str = "https://api.github.com"
    github_server_url: str = "https://github.com"
    github_repository: str = ""
    github_run_id: str = ""
    github_ref_name: str = ""
    virtual_env: str = ""
    cache_dir: str = ""
    scratch_dir: str = ""

    @property
    def secrets(self) -> tuple[Secret, ...]:
        """The values that may appear in no prompt, log or bundle."""
        keys = (
            self.anthropic_api_key, self.gemini_api_key, self.openai_api_key, self.github_token,
            self.index_url, self.bedrock_token, self.vertex_token, *self.hidden,
        )  # fmt: skip
        return tuple(dict.fromkeys(key for key in keys if key))

    @property
    def other_command(self) -> str:
        """The test command, where it is not pytest itself."""
        return self.test_command if find_options(self.test_command) is None else ""

    def environ(self, *names: str) -> dict[str, str]:
        """The variables that another process reads these settings from; without what is empty."""
        told = {_FROM_ENVIRONMENT[name][0]: getattr(self, name) for name in names}
        return {k: v.reveal() if isinstance(v, Secret) else v for k, v in told.items() if v}

    def tiers(self) -> tuple[str, ...]:
        """The proposers in the order they are asked: as given, else rules and every keyed model."""
        if self.proposers:
            return tuple(dict.fromkeys(self.proposers))
        keyed = {
            "claude": bool(self.anthropic_api_key),
            "gemini": bool(self.gemini_api_key),
            "openai": bool(self.openai_api_key or self.openai_base_url),
        }
        return ("rules", *(name for name, there in keyed.items() if there))

    def model_of(self, tier: str) -> str:
        """The model of a tier; '' for its default.

        `model` is one name, or with several model tiers `claude=NAME,gemini=NAME`. UsageError for
        a bare name that several tiers would have to share.
        """
        named = dict(part.split("=", 1) for part in self.model.split(",") if "=" in part)
        if not self.model or named:
            return named.get(tier, "").strip()
        models = [name for name in self.tiers() if name != "rules"]
        if len(models) > 1:
            raise UsageError(
                f"model {one_line(self.model)}: which of {', '.join(models)} is meant?"
                f" write {models[0]}={one_line(self.model)}"
            )
        return self.model


_FROM_ENVIRONMENT = {
    "anthropic_api_key": ("ANTHROPIC_API_KEY",),
    "gemini_api_key": ("GEMINI_API_KEY", "GOOGLE_API_KEY"),
    "openai_api_key": ("OPENAI_API_KEY",),
    "openai_base_url": ("OPENAI_BASE_URL",),
    "anthropic_base_url": ("ANTHROPIC_BASE_URL",),
    "gemini_base_url": ("GEMINI_BASE_URL",),
    "bedrock_token": ("AWS_BEARER_TOKEN_BEDROCK",),
    "bedrock_base_url": ("ANTHROPIC_BEDROCK_BASE_URL",),
    "aws_region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
    "vertex_token": ("CLOUDSDK_AUTH_ACCESS_TOKEN", "GOOGLE_OAUTH_ACCESS_TOKEN"),
    "vertex_base_url": ("ANTHROPIC_VERTEX_BASE_URL",),
    "vertex_project": ("ANTHROPIC_VERTEX_PROJECT_ID", "GOOGLE_CLOUD_PROJECT"),
    "vertex_region": ("CLOUD_ML_REGION",),
    "proxy": ("HTTPS_PROXY", "https_proxy"),
    "github_token": ("GITHUB_TOKEN", "GH_TOKEN"),
    "github_api_url": ("GITHUB_API_URL",),
    "github_server_url": ("GITHUB_SERVER_URL",),
    "github_repository": ("GITHUB_REPOSITORY",),
    "github_run_id": ("GITHUB_RUN_ID",),
    "github_ref_name": ("GITHUB_HEAD_REF", "GITHUB_REF_NAME"),
    "virtual_env": ("VIRTUAL_ENV",),
    "model": ("HEAL_BOT_MODEL",),
    "index_url": ("HEAL_BOT_INDEX_URL",),
    "ca_file": ("SSL_CERT_FILE",),
    "workspace": ("HEAL_BOT_WORKSPACE", "GITHUB_WORKSPACE"),
    "cache_dir": ("HEAL_BOT_CACHE",),
    "scratch_dir": ("HEAL_BOT_SCRATCH",),
    "sandbox": ("HEAL_BOT_SANDBOX",),
    "python_version": ("HEAL_BOT_PYTHON_VERSION",),
    "setup": ("HEAL_BOT_SETUP",),
    "freeze": ("HEAL_BOT_FREEZE",),
    "test_command": ("HEAL_BOT_TEST_COMMAND",),
    "verify_command": ("HEAL_BOT_VERIFY_COMMAND",),
    "system_packages": ("HEAL_BOT_SYSTEM_PACKAGES",),
    "paths": ("HEAL_BOT_PATHS",),
    "build_hosts": ("HEAL_BOT_BUILD_HOSTS",),
    "working_directory": ("HEAL_BOT_WORKING_DIRECTORY",),
}
_LISTS = frozenset({"paths", "build_hosts"})
_SECRET = ("_key", "_token", "index_url")
# Variables whose values are secrets by their name; what is a path or too short is none.
_HIDDEN = re.compile(
    r"(?:TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|(?:API|ACCESS|PRIVATE|SIGNING)_?KEY"
    r"|_PAT|_DSN)(?:_|$)",
    re.IGNORECASE,
)
_LEAST_HIDDEN = 8
# What a file of the repository may say: nothing about addresses, keys, folders or isolation.
_FROM_FILE = frozenset(
    {
        "proposers",
        "model",
        "max_minutes",
        "max_usd",
        "max_usd_per_day",
        "max_attempts",
        "min_confidence",
        "candidates",
        "instruction",
        "python_version",
        "setup",
        "test_command",
        "working_directory",
        "paths",
    }
)


def load(
    environ: Mapping[str, str], config: bytes | None = None, options: Mapping[str, object] = {}
) -> Settings:
    """Settings from the environment, then the repository's file, then options that were given.

    `config` is the text of `.heal-bot.yml` at a commit the base branch holds. Empty options and
    empty variables count as not given. Raises UsageError naming the key and its value.
    """
    values: dict[str, Any] = {}
    for name, variables in _FROM_ENVIRONMENT.items():
        found = next((environ[v] for v in variables if environ.get(v)), None)
        if found is not None:
            values[name] = Secret(found) if name.endswith(_SECRET) else found
    for name in _LISTS & values.keys():
        values[name] = split_list(values[name])
    values["hidden"] = _hidden(environ)
    values.update(_from_file(config))
    values.update({k: v for k, v in options.items() if v not in (None, "", ())})
    try:
        return Settings(**values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        name = str(first["loc"][0]).replace("_", "-") if first["loc"] else "settings"
        given = (
            ""
            if name.replace("-", "_").endswith(_SECRET)
            else one_line(f"(given: {first['input']!r})")
        )
        said = str(first["msg"]).removeprefix("Value error, ")
        raise UsageError(f"{name}: {said} {given}".rstrip()) from error


def split_list(text: str) -> tuple[str, ...]:
    """What stands between commas or on lines of one text."""
    return tuple(part.strip() for part in re.split(r"[,\n]", text) if part.strip())


def _hidden(environ: Mapping[str, str]) -> tuple[Secret, ...]:
    """The values of all variables that hold a secret by their name."""
    return tuple(
        Secret(value)
        for name, value in environ.items()
        if _HIDDEN.search(name) and len(value) >= _LEAST_HIDDEN and not value.startswith(("/", "."))
    )


def from_process(
    config: Path | None, options: Mapping[str, object], secrets: Mapping[str, str] = {}
) -> Settings:
    """Settings of this process: its environment, the file a person names, the options given.

    HEAL_BOT_CONFIG names the file where `config` does not; `secrets` are variables that came over
    a pipe instead.
    """
    if config is None and (named := os.environ.get("HEAL_BOT_CONFIG")):
        config = Path(named)
    try:
        data = config.read_bytes() if config is not None else None
    except OSError as error:
        raise UsageError(f"--config {config}: {error.strerror}") from error
    given = dict(options)
    for name in ("proposers", "build_hosts"):
        if isinstance(text := given.get(name), str):
            given[name] = split_list(text)
    return load({**os.environ, **secrets}, data, given)


def close_untrusted(settings: Settings) -> tuple[Settings, tuple[str, ...]]:
    """The settings without what code of an untrusted head never meets, and the names of that."""
    lost = tuple(name for name in ("index_url", "build_hosts") if getattr(settings, name))
    kept = settings.model_copy(update={"index_url": Secret(""), "build_hosts": ()})
    return kept, tuple(name.replace("_", "-") for name in lost)


def _from_file(config: bytes | None) -> dict[str, Any]:
    """The keys of `.heal-bot.yml`; only those a repository may decide."""
    if not config:
        return {}
    if len(config) > _CONFIG_BYTES:
        raise UsageError(f"{CONFIG} has {len(config)} bytes; at most {_CONFIG_BYTES} are read")
    import yaml

    try:
        data = yaml.safe_load(config.decode("utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise UsageError(f"{CONFIG} is not YAML: {one_line(str(error))}") from error
    if data is None:
        return {}
    if not isinstance(data, dict):
        raise UsageError(f"{CONFIG} must be a mapping of settings, not {type(data).__name__}")
    values = {str(key).replace("-", "_"): value for key, value in data.items()}
    if unknown := sorted(set(values) - _FROM_FILE):
        known = ", ".join(sorted(key.replace("_", "-") for key in _FROM_FILE))
        raise UsageError(f"{CONFIG}: {unknown[0]!r} cannot be set there; it may hold: {known}")
    listed = values.get("proposers")
    named = listed if isinstance(listed, list) else []
    if own := [n for n in named if str(n) in _CLOUDS or str(n).startswith(ENTRY)]:
        raise UsageError(f"{CONFIG}: proposers: {own[0]!r} cannot be named there, only by a person")
    return {key: tuple(v) if isinstance(v, list) else v for key, v in values.items()}
