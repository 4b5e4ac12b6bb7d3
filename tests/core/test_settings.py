from __future__ import annotations

from pathlib import Path

import pytest

from heal_bot.core.errors import UsageError
from heal_bot.core.settings import from_process, load


def test_without_any_key_the_rules_are_the_only_tier() -> None:
    assert load({}).tiers() == ("rules",)


@pytest.mark.parametrize(
    ("environ", "tiers"),
    [
        ({"ANTHROPIC_API_KEY": "k"}, ("rules", "claude")),
        ({"GOOGLE_API_KEY": "k"}, ("rules", "gemini")),
        ({"GEMINI_API_KEY": "k", "OPENAI_API_KEY": "k"}, ("rules", "gemini", "openai")),
        ({"OPENAI_BASE_URL": "http://127.0.0.1:11434/v1"}, ("rules", "openai")),
        ({"ANTHROPIC_API_KEY": ""}, ("rules",)),
    ],
)
def test_every_model_whose_key_is_there_is_a_tier(
    environ: dict[str, str], tiers: tuple[str, ...]
) -> None:
    assert load(environ).tiers() == tiers


def test_options_win_over_the_file_and_the_file_over_the_defaults() -> None:
    config = b"max-usd: 2\nmax-minutes: 5\n"
    chosen = load({}, config, {"max_usd": 3.0, "max_minutes": None})
    assert (chosen.max_usd, chosen.max_minutes, chosen.max_attempts) == (3.0, 5.0, 10)


@pytest.mark.parametrize(
    ("config", "named"),
    [
        (b"openai-base-url: http://evil", "openai_base_url"),
        (b"sandbox: reduced", "sandbox"),
        (b"github_token: x", "github_token"),
        (b"- a", "mapping"),
        (b"max-usd: many", "max-usd"),
        (b"proposers: [magic]", "proposers"),
        (b"{", "YAML"),
        (b"a: &a [x]\n" + b"b" * 70_000, "bytes"),
    ],
)
def test_a_repository_cannot_set_what_is_not_its_own(config: bytes, named: str) -> None:
    with pytest.raises(UsageError, match=named):
        load({}, config)


@pytest.mark.parametrize(
    ("given", "folder"), [("services/api/", "services/api"), ("./a", "a"), (".", ""), ("", "")]
)
def test_the_working_directory_is_a_folder_below_the_top(given: str, folder: str) -> None:
    assert load({}, None, {"working_directory": given}).working_directory == folder


def test_hosts_for_builds_are_named_by_a_person_and_by_name() -> None:
    listed = load({"HEAL_BOT_BUILD_HOSTS": "github.com, files.example.org"}).build_hosts
    assert listed == ("github.com", "files.example.org")
    with pytest.raises(UsageError, match="build-hosts"):
        load({"HEAL_BOT_BUILD_HOSTS": "https://github.com"})
    with pytest.raises(UsageError, match="build_hosts"):
        load({}, b"build-hosts: [github.com]")


@pytest.mark.parametrize("given", ["/srv", "..", "a/../../b", "a\nb"])
def test_a_working_directory_elsewhere_is_refused(given: str) -> None:
    with pytest.raises(UsageError, match=r"working-directory: .*relative to the top"):
        load({}, None, {"working_directory": given})


def test_no_key_is_in_an_error_or_a_print() -> None:
    chosen = load({"ANTHROPIC_API_KEY": "sk-very-secret"})
    assert "very-secret" not in repr(chosen)
    assert [secret.reveal() for secret in chosen.secrets] == ["sk-very-secret"]


def test_variables_that_hold_a_secret_by_their_name_are_hidden() -> None:
    environ = {
        "DB_PASSWORD": "correct horse",
        "AWS_SECRET_ACCESS_KEY": "wJalrXUtnFEMI",
        "STRIPE_API_KEY_TEST": "rk_live_1234",
        "SENTRY_DSN": "https://a@b.example/1",
        "GOOGLE_APPLICATION_CREDENTIALS": "/home/me/key.json",
        "PASSWORD": "short",
        "TOKENIZERS_PARALLELISM": "false-false",
        "HOME": "/home/someone",
    }
    hidden = {secret.reveal() for secret in load(environ).secrets}
    assert hidden == set(list(environ.values())[:4])


def test_a_model_is_named_for_its_tier() -> None:
    both = {"ANTHROPIC_API_KEY": "k", "GEMINI_API_KEY": "k"}
    assert load({"ANTHROPIC_API_KEY": "k"}, options={"model": "m-1"}).model_of("claude") == "m-1"
    named = load(both, options={"model": "claude=m-1"})
    assert (named.model_of("claude"), named.model_of("gemini")) == ("m-1", "")
    with pytest.raises(UsageError, match="claude=m-1"):
        load(both, options={"model": "m-1"}).model_of("claude")


def test_paths_of_the_environment_are_separated_as_in_the_input() -> None:
    told = {"HEAL_BOT_PATHS": "src/**, !src/api\nlib", "HEAL_BOT_VERIFY_COMMAND": "make check"}
    chosen = load(told)
    assert (chosen.paths, chosen.verify_command) == (("src/**", "!src/api", "lib"), "make check")
    assert load(told, options={"paths": ("other",)}).paths == ("other",)


def test_the_file_of_a_process_is_the_one_that_is_given_else_that_of_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, minutes in (("given.yml", 7), ("told.yml", 8)):
        (tmp_path / name).write_text(f"max-minutes: {minutes}")
    monkeypatch.setenv("HEAL_BOT_CONFIG", str(tmp_path / "told.yml"))
    assert from_process(tmp_path / "given.yml", {}).max_minutes == 7
    assert from_process(None, {}).max_minutes == 8
    monkeypatch.setenv("HEAL_BOT_CONFIG", str(tmp_path / "gone.yml"))
    with pytest.raises(UsageError, match=r"gone\.yml: No such file"):
        from_process(None, {})
    monkeypatch.setenv("HEAL_BOT_CONFIG", "")
    assert from_process(None, {}).max_minutes == 20
