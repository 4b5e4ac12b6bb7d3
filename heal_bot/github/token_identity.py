"""Who the token writes as: asked once, or read off the first thing it wrote."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from heal_bot.github.client import translate_errors
from heal_bot.ports.code_host import ACTIONS

if TYPE_CHECKING:
    from github import Github


@dataclass(frozen=True, slots=True)
class Identity:
    """The login behind a token.

    `app` is the slug of its App, where the workflow names one; `installed` says that it is the
    token of an App's installation, which may not ask who it is.
    """

    client: Github
    app: str = ""
    installed: bool = False
    _known: list[str] = field(default_factory=list)

    def learn(self, login: str) -> None:
        """Remember who wrote what this token has just written."""
        if not self._known:
            self._known.append(login)

    def login(self) -> str:
        """The login; without a slug an installation's token is taken for Actions' own."""
        from github import GithubException

        if self.app:
            return f"{self.app}[bot]"
        if not self._known and self.installed:
            self._known.append(ACTIONS)
        if not self._known:
            with translate_errors("who the token is"):
                try:
                    self._known.append(self.client.get_user().login)
                except GithubException as error:
                    if error.status not in {403, 404}:
                        raise
                    self._known.append(ACTIONS)
        return self._known[0]
