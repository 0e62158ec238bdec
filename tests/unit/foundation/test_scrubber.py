"""What a run knows of secrets is nowhere in what it writes."""

from __future__ import annotations

import base64
import json

import pytest

from synth.core.foundation.credentials import HIDDEN
from synth.core.foundation.scrubber import Scrubber

KEY = 'own"key\\of-the/run é'
DSN = "postgresql://app:pa%2Fss-w0rd@db.internal:5432/shop"


@pytest.fixture
def scrubber() -> Scrubber:
    return Scrubber([KEY, DSN, "short"])


def test_secrets_are_found_in_every_form(scrubber: Scrubber):
    for text in (KEY, json.dumps(KEY), json.dumps(KEY, ensure_ascii=False), DSN, "pa/ss-w0rd"):
        assert scrubber.in_bytes(f"x {text} y".encode())
        assert HIDDEN in scrubber.text(f"x {text} y")
    assert "pa%2Fss-w0rd" not in scrubber.text(DSN)
    assert scrubber.text("a short word") == "a short word"


def test_encoded_secrets_are_found_wherever_they_begin(scrubber: Scrubber):
    for before in ("", "u", "us", "user:", "user:x"):
        for text in (f"{before}{KEY}", f"{before}{KEY}\n"):
            data = text.encode()
            for encoded in (
                base64.b64encode(data),
                base64.urlsafe_b64encode(data),
                data.hex().encode(),
            ):
                assert scrubber.in_bytes(b"Basic " + encoded), (before, encoded)
    assert scrubber.in_bytes(json.dumps(json.dumps({"key": KEY})).encode())


def test_a_short_secret_is_hidden_where_it_is_no_word():
    scrubber = Scrubber(["hunter2", "postgresql://app:s3cret@db/shop", "123456", "secret"])
    assert scrubber.text("hunter2, s3cret") == f"{HIDDEN}, {HIDDEN}"
    assert scrubber.text("123456 secret words") == "123456 secret words"


def test_values_keep_their_shape(scrubber: Scrubber):
    value = {"content": f"the key is {KEY}", "n": [1, None, {KEY: True}], "t": ("a", DSN)}
    assert scrubber.value(value) == {
        "content": f"the key is {HIDDEN}",
        "n": [1, None, {HIDDEN: True}],
        "t": ["a", HIDDEN],
    }


def test_a_message_hides_what_looks_like_a_key_as_well(scrubber: Scrubber):
    text = scrubber.message(f"{KEY} and sk-proj-0123456789abcdefXYZ at {DSN}")
    assert KEY not in text
    assert "0123456789abcdef" not in text
    assert "w0rd" not in text


def test_a_password_that_is_the_name_of_its_user_is_a_word():
    scrubber = Scrubber(["postgresql://postgres:postgres@127.0.0.1/test"])
    assert scrubber.text("an engine called postgres") == "an engine called postgres"
