"""An index of one's own: https, a certificate of its own, and a password only it may see."""

from __future__ import annotations

import base64
from types import SimpleNamespace

import pytest

from heal_bot import wiring
from heal_bot.core.errors import ProvisionError
from heal_bot.core.events import Event, Run
from heal_bot.core.model import Trust
from heal_bot.core.settings import Settings
from heal_bot.core.text import Secret
from heal_bot.environments.environment_request import Access
from tests.environments.test_environment_builder import BACKEND, SYSTEM
from tests.environments.warehouse import Warehouse, certificate

SECRET = "ada:pass-0123456789"
GIVEN = f"Basic {base64.b64encode(SECRET.encode()).decode()}"


@pytest.fixture(scope="module")
def authority(tmp_path_factory):
    return certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def public(tmp_path, authority):
    index = Warehouse(tmp_path / "public", certificate=authority)
    yield index
    index.close()


@pytest.fixture
def private(tmp_path, authority):
    index = Warehouse(tmp_path / "private-index", SECRET, authority)
    index.wheel("pytest", "8.0")
    yield index
    index.close()


@pytest.mark.long
def test_a_private_index_is_reached_with_its_certificate_and_its_password(
    assembled, private, authority, holds, events
):
    private.wheel("dep")
    access = Access(Secret(private.url), str(authority.with_name("ca.pem")))
    env = assembled({"requirements.txt": "dep\n"}, access=access)
    assert holds(env) == {"dep": "1.0", "pytest": "8.0"}
    assert {given for path, given in private.asked if path.endswith(".whl")} == {GIVEN}
    assert "pass-0123456789" not in repr((events, env))


@pytest.mark.long
def test_a_source_archive_comes_from_a_private_index_too(assembled, private, authority, holds):
    files = {"pyproject.toml": SYSTEM, "own.py": BACKEND.format(name="raw", before="")}
    private.sdist("raw", files=files)
    access = Access(Secret(private.url), str(authority.with_name("ca.pem")))
    env = assembled({"requirements.txt": "raw\n"}, access=access)
    assert holds(env) == {"raw": "1.0", "pytest": "8.0"}


@pytest.mark.long
def test_the_password_stays_with_its_origin(assembled, public, tmp_path, authority, holds):
    leading = Warehouse(tmp_path / "leading", SECRET, authority, elsewhere=public)
    try:
        leading.wheel("pytest", "8.0")
        leading.sdist(
            "raw",
            files={"pyproject.toml": SYSTEM, "own.py": BACKEND.format(name="raw", before="")},
        )
        access = Access(Secret(leading.url), str(authority.with_name("ca.pem")))
        env = assembled({"requirements.txt": "raw\n"}, access=access)
    finally:
        leading.close()
    assert holds(env) == {"raw": "1.0", "pytest": "8.0"}
    assert any(path.endswith("/raw-1.0.tar.gz") for path, _ in public.asked)
    assert {given for _, given in public.asked} == {""}


@pytest.mark.long
@pytest.mark.parametrize(
    ("secret", "trusted", "said"),
    [
        ("ada:wrong-password", True, "401 Unauthorized): check user and password in index-url"),
        (SECRET, False, "certificate verify failed"),
    ],
    ids=["another password", "a certificate nobody knows"],
)
def test_an_index_that_does_not_let_us_in_is_one_line_without_the_password(
    assembled, private, authority, secret, trusted, said
):
    url = Secret(private.url.replace(SECRET, secret))
    with pytest.raises(ProvisionError) as caught:
        assembled({}, access=Access(url, str(authority.with_name("ca.pem")) if trusted else ""))
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
    assert secret.partition(":")[2] not in str(caught.value)


@pytest.mark.long
def test_what_the_repository_says_of_indexes_and_passwords_is_not_believed(
    assembled, private, public, authority, holds
):
    public.wheel("dep", "9.9")
    private.wheel("dep")
    evil = f"{public.plain}/simple"
    access = Access(Secret(private.url), str(authority.with_name("ca.pem")))
    env = assembled(
        {
            "requirements.txt": f"--index-url {evil}\n--extra-index-url {evil}\ndep\n",
            "uv.toml": f'[[index]]\nurl = "{evil}"\ndefault = true\n',
            "pip.conf": f"[global]\nindex-url = {evil}\n",
            ".netrc": "machine 127.0.0.1 login eve password hers\n",
            "pyproject.toml": '[project]\nname = "mine"\nversion = "1"\n'
            f'[[tool.uv.index]]\nname = "evil"\nurl = "{evil}"\ndefault = true\n'
            f'[tool.uv.sources]\ndep = {{index = "evil"}}\n'
            f'[[tool.poetry.source]]\nname = "evil"\nurl = "{evil}"\npriority = "primary"\n',
        },
        access=access,
    )
    assert holds(env) == {"dep": "1.0", "pytest": "8.0", "mine": "1"}
    assert public.asked == []


@pytest.mark.parametrize(("trust", "given"), [(Trust.TRUSTED, True), (Trust.KEYLESS, False)])
def test_the_code_of_an_untrusted_head_meets_neither_the_index_nor_a_host(tmp_path, trust, given):
    url = Secret(f"https://{SECRET}@index.invalid/simple")
    settings = Settings(index_url=url, build_hosts=("files.invalid",))
    said: list[Event] = []
    places = SimpleNamespace(source=tmp_path), tmp_path, None
    made = wiring._workspace(Run(said.append), settings, trust, None, *places)
    assert bool(made.wanted.access.url) == bool(made.builder.hosts) == given
    names = [event.message.partition(" is not used: ")[0] for event in said]
    assert names == ([] if given else ["index-url", "build-hosts"])
    assert SECRET not in repr(said)
