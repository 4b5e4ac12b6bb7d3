"""The tiers that settings name, made: the rules, models with their keys, what a program brings."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, field
from importlib.metadata import entry_points
from pathlib import Path
from typing import TYPE_CHECKING

from heal_bot.core.errors import UsageError
from heal_bot.core.model import Memory
from heal_bot.core.settings import ENTRY, Settings
from heal_bot.core.text import Secret
from heal_bot.ports import Critic, Proposer
from heal_bot.ports.language_model import Model
from heal_bot.repair.templates.template_proposer import TemplateProposer

if TYPE_CHECKING:
    from heal_bot.llm_clients.model_client import Dialect

GROUP = "heal_bot.llm_clients"


@dataclass(frozen=True, slots=True)
class CustomProposers:
    """What a program brings: models that lead the chain, proposers between rules and models.

    `first` are proposers before all others, `before` is what an earlier run remembers. With
    `alone` its proposers are the only ones.
    """

    models: tuple[Model, ...] = ()
    proposers: tuple[Proposer, ...] = ()
    alone: bool = False
    first: tuple[Proposer, ...] = ()
    before: Memory = field(default_factory=Memory)


NOTHING = CustomProposers()


@dataclass(frozen=True, slots=True)
class Tiers:
    """The proposers in their order, and who gives a second opinion."""

    proposers: tuple[Proposer, ...]
    critics: tuple[Critic, ...] = ()


def make_tiers(settings: Settings, repo: Path, replies: Path | None, own: CustomProposers) -> Tiers:
    """The tiers for a repository; models that follow each other are one chain with one budget.

    Raises UsageError for a missing key, or an installed model that cannot be had.
    """
    if own.alone:
        return Tiers(own.proposers)
    names = settings.tiers()
    named = tuple(_model(name, settings, repo) for name in names if name != "rules")
    models = (*own.models, *named)
    rules = (*own.first, *((TemplateProposer(),) if "rules" in names else ()))
    if not models:
        return Tiers((*rules, *own.proposers))
    from heal_bot.llm_clients.answer_cache import open_replies
    from heal_bot.repair.llm.budget import Budget
    from heal_bot.repair.llm.model_proposer import ModelProposer
    from heal_bot.repair.llm.patch_review import ModelCritic

    budget, secrets = Budget(usd=settings.max_usd), settings.secrets
    kept = open_replies(replies) if replies is not None else None
    chain = ModelProposer(
        models, budget, secrets=secrets, replies=kept, candidates=settings.candidates
    )
    return Tiers((*rules, *own.proposers, chain), (ModelCritic(models, budget, secrets),))


def _model(name: str, settings: Settings, repo: Path) -> Model:
    """The client of one provider; UsageError when its key is missing."""
    if name.startswith(ENTRY):
        return _installed(name.removeprefix(ENTRY), repo)
    from heal_bot.llm_clients.model_client import Client

    model = settings.model_of(name)
    key, url, dialect = _address(name, settings)
    # The proxy is for encrypted connections alone.
    proxy = settings.proxy if (url or dialect.base_url).startswith("https:") else ""
    return Client(dialect, key, model, url, proxy=proxy, ca_file=settings.ca_file)


def _address(name: str, settings: Settings) -> tuple[Secret, str, Dialect]:
    """The key and the address of a provider, and how it is spoken to."""
    if name == "claude":
        from heal_bot.llm_clients.claude import CLAUDE

        key = _key(name, settings.anthropic_api_key, "ANTHROPIC_API_KEY")
        return key, settings.anthropic_base_url, CLAUDE
    if name == "gemini":
        from heal_bot.llm_clients.gemini import GEMINI

        key = _key(name, settings.gemini_api_key, "GEMINI_API_KEY")
        return key, settings.gemini_base_url, GEMINI
    if name == "bedrock":
        from heal_bot.llm_clients.claude_cloud import speak_bedrock

        key = _key(name, settings.bedrock_token, "AWS_BEARER_TOKEN_BEDROCK")
        return key, settings.bedrock_base_url, speak_bedrock(settings.aws_region)
    if name == "vertex":
        from heal_bot.llm_clients.claude_cloud import speak_vertex

        key = _key(name, settings.vertex_token, "CLOUDSDK_AUTH_ACCESS_TOKEN")
        dialect = speak_vertex(settings.vertex_project, settings.vertex_region)
        return key, settings.vertex_base_url, dialect
    from heal_bot.llm_clients.openai_compatible import OPENAI_COMPATIBLE

    key, url = settings.openai_api_key, settings.openai_base_url
    return key if url else _key(name, key, "OPENAI_API_KEY"), url, OPENAI_COMPATIBLE


def _key(name: str, key: Secret, variable: str) -> Secret:
    if not key:
        raise UsageError(f"proposer {name} needs a key: set {variable}, or leave {name} out")
    return key


def _installed(name: str, repo: Path) -> Model:
    """The model that an installed package offers; never one that lies in the repository."""
    found = {point.name: point for point in entry_points(group=GROUP)}
    if name not in found:
        known = ", ".join(sorted(found)) or "none"
        raise UsageError(f"proposers: no model {name!r} is installed as {GROUP}; known: {known}")
    package = found[name].module.partition(".")[0]
    spec = importlib.util.find_spec(package)
    places = [spec.origin, *(spec.submodule_search_locations or ())] if spec else []
    home = repo.resolve()
    for place in places:
        if place is not None and Path(place).resolve().is_relative_to(home):
            raise UsageError(
                f"proposers: {ENTRY}{name} lies in {home}, whose code is never trusted;"
                " install it elsewhere, not editable"
            )
    model: Model = found[name].load()()
    return model
