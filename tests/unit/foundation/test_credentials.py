"""What is taken for a secret, and what is not."""

import pytest

from synth.core.foundation.credentials import (
    HIDDEN,
    Redactor,
    is_secret_key,
    is_variable_name,
    known_secrets,
    looks_secret,
    public_url,
    redact,
    shown,
)


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-abcDEF1234567890abcd",
        "x=sk-ant-api03-0123456789abcdef",
        "hf_abcdefghij1234567890",
        "Authorization: Bearer abcdef0123456789abcd",
        "ghp_0123456789abcdefghij",
    ],
)
def test_keys_are_seen_and_hidden(text):
    assert looks_secret(text)
    assert HIDDEN in redact(text)
    assert "0123456789" not in redact(text).replace("1234567890", "0123456789")


@pytest.mark.parametrize(
    "text",
    ["/x/risk-assessment-tool-123456", "sk-learn-experiments-two", "task-12", "gpt-4.1-mini"],
)
def test_ordinary_text_is_left_alone(text):
    assert not looks_secret(text)
    assert redact(text) == text


@pytest.mark.parametrize(
    "key",
    ["model.api_key", "X-Api-Key", "headers.Authorization", "token", "a.password", "hf_token"],
)
def test_places_of_secrets(key):
    assert is_secret_key(key)
    assert shown(key, "hunter2") == HIDDEN


@pytest.mark.parametrize(
    "key", ["model.max_tokens", "stop_token", "eos_token", "model.api_key_env", "keys"]
)
def test_places_that_only_sound_alike(key):
    assert not is_secret_key(key)


@pytest.mark.parametrize("name", ["OPENAI_API_KEY", "my_key_2", "KEY", "VLLM_KEY_FOR_NODE_2026_11"])
def test_names_of_variables(name):
    assert is_variable_name(name)


@pytest.mark.parametrize("name", ["", "sk-a", "a b", "9a", "d41d8cd98f00b204e9800998ecf8427e"])
def test_what_is_no_name_of_a_variable(name):
    assert not is_variable_name(name)


def test_the_environments_secrets_are_known_by_name_and_hidden_by_value(monkeypatch):
    monkeypatch.setenv("MY_SERVICE_TOKEN", "correct horse battery")
    assert known_secrets()["correct horse battery"] == "MY_SERVICE_TOKEN"
    assert redact("said: correct horse battery!") == f"said: {HIDDEN}!"
    assert known_secrets({"OPENAI_API_KEY": "EMPTY", "HOME": "/home/somebody"}) == {}


def test_the_user_of_a_url_is_hidden():
    assert redact("postgresql://me:pw@host/db") == f"postgresql://{HIDDEN}@host/db"


def test_words_are_not_taken_for_keys() -> None:
    """What merely begins like one stays readable."""
    text = "skip the risk-free pk column, see task-list and hf models"
    assert Redactor([""])(text) == text


def test_a_url_is_shown_without_its_secrets() -> None:
    """User, password and query are left out."""
    assert public_url("https://user:pw@host:8443/v1/?api-key=abc#x") == "https://host:8443/v1"
