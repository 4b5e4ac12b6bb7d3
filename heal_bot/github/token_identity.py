"""Who the token writes as: asked once, or read off the first thing it wrote."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from heal_bot.core.errors import ForgeError
from heal_bot.github.client import translate_errors
from heal_bot.ports.code_host import ACTIONS

if TYPE_CHECKING:
    from github import Github

_VIEWER = "query Viewer { viewer { login } }"


@dataclass(frozen=True, slots=True)
class Identity:
    """The login behind a token.

    `app` is the slug of its App, where the workflow names one; `installed` says that it is the
    token of an App's installation, to which only GitHub's other API says who it is.
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
        """The login; where GitHub does not say it the token is taken for Actions' own."""
        if self.app:
            return f"{self.app}[bot]"
        if not self._known:
            self._known.append(self._viewer() if self.installed else self._user())
        return self._known[0]

    def _viewer(self) -> str:
        try:
            with translate_errors("who the token is"):
                _, said = self.client.requester.graphql_query(_VIEWER, {})
                return str(said["data"]["viewer"]["login"])
        except ForgeError:
            return ACTIONS

    def _user(self) -> str:
        from github import GithubException

        with translate_errors("who the token is"):
            try:
                return str(self.client.get_user().login)
            except GithubException as error:
                if error.status in {403, 404}:
                    return self._viewer()
                raise
