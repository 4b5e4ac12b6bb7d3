"""A file behind a redirect: the token goes to the API alone, never to where it points."""

from __future__ import annotations

import ssl
import time
from pathlib import Path
from typing import TYPE_CHECKING

from heal_bot.core.errors import ForgeError
from heal_bot.core.text import Secret, one_line
from heal_bot.github.client import DIRECT, Route, check_url

if TYPE_CHECKING:
    import httpx

_TRIES = 3
_SECONDS = 30.0
_CAP = 256 << 20
_READ = "give the job `actions: read`"
_GONE = "it has expired or was deleted; run the tests again"
_WHY = {401: _READ, 403: _READ, 404: _GONE, 410: _GONE}


def download(what: str, url: str, token: Secret, path: Path, route: Route = DIRECT) -> None:
    """Write what `url` redirects to into `path`; ForgeError when it cannot be had.

    A connection that breaks and an answer of 5xx or 429 are tried three times.
    """
    import httpx

    for attempt in range(1, _TRIES + 1):
        last = attempt == _TRIES
        try:
            # Proxies and CA files of the environment are not for this process to believe.
            with _client(route) as client:
                answer = client.get(url, headers={"Authorization": f"Bearer {token.reveal()}"})
                if answer.has_redirect_location and answer.next_request is not None:
                    answer = _fetch(client, str(answer.next_request.url), path)
        except httpx.TransportError as error:
            if last:
                reason = one_line(str(error)) or type(error).__name__
                raise ForgeError(f"{what}: {reason}") from error
        else:
            if answer.status_code == httpx.codes.OK and path.exists():
                return
            if last or not (answer.status_code == 429 or answer.is_server_error):
                why = _WHY.get(answer.status_code, "run again when GitHub is well")
                raise ForgeError(f"{what}: GitHub answered {answer.status_code}; {why}")
        time.sleep(0.2 * attempt * attempt)


def _client(route: Route) -> httpx.Client:
    import httpx

    trusted = ssl.create_default_context(cafile=route.ca_file) if route.ca_file else True
    proxied = httpx.HTTPTransport(verify=trusted, proxy=route.proxy) if route.proxy else None
    mounts = {"https://": proxied} if proxied else None
    return httpx.Client(timeout=_SECONDS, trust_env=False, verify=trusted, mounts=mounts)


def _fetch(client: httpx.Client, url: str, path: Path) -> httpx.Response:
    """Stream the file at a signed address, without any header of ours."""
    check_url("the artifact's address", url)
    with client.stream("GET", url) as answer:
        size = 0
        with path.open("wb") as file:
            for piece in answer.iter_bytes():
                size += len(piece)
                if size > _CAP:
                    raise ForgeError(f"{path.name} is larger than {_CAP >> 20} MiB")
                file.write(piece)
        if not answer.is_success:
            path.unlink()
    return answer
