"""Tests for :mod:`envs.unreadable`."""

import json
from pathlib import Path

import pytest
import yaml

from envs.connection import parse_url
from envs.errors import DatabaseConfigError
from envs.unreadable import unreadable
from synth.core.dataset.texts import parquet_rows
from synth.errors import DatasetError, OperatorError
from synth.ext.exporters.rendering.masks import TokenMasks
from synth.ext.exporters.rendering.presets import Preset, find_preset


def error_of(read) -> Exception:
    with pytest.raises((OSError, ValueError, LookupError, yaml.YAMLError)) as caught:
        read()
    return caught.value


@pytest.mark.parametrize(
    ("read", "words"),
    [
        (lambda: Path("none").read_text(), "file not found; check the path"),
        (lambda: Path().read_bytes(), "it is a folder; name a file"),
        (lambda: b"\xff".decode(), "it is not UTF-8; save it as UTF-8"),
        (lambda: yaml.safe_load("a: 1\nb: ["), "it is not a form, see line 2; mend it or"),
        (lambda: json.loads("{\n\n"), "it is not a form, see line 3; mend it or"),
        (lambda: int("a"), "it is not a form; mend it or bring a whole copy"),
    ],
)
def test_the_reason_says_what_to_do(read, words: str, tmp_path: Path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert unreadable(error_of(read), "a form").startswith(words)


def test_files_that_are_something_else_are_refused_in_plain_words(tmp_path: Path):
    file = tmp_path / "rows.parquet"
    file.write_bytes(b"no rows")
    with pytest.raises(DatasetError, match=r"rows\.parquet cannot be read: it is not a Parquet"):
        list(parquet_rows(file))
    with pytest.raises(OperatorError, match=r"it is not the tokenizer\.json of a model; mend"):
        TokenMasks(Preset("mine", ""), str(file))
    template = tmp_path / "mine.jinja"
    template.write_bytes(b"\xff\xfe")
    with pytest.raises(OperatorError, match=r"mine\.jinja cannot be read: it is not UTF-8"):
        find_preset(str(template))


def test_an_option_that_the_driver_does_not_take_is_named():
    with pytest.raises(DatabaseConfigError, match=r"\(read_timeout=soon\); correct it"):
        parse_url("mysql+pymysql://root@127.0.0.1/test?read_timeout=soon")
